"""A long file takes no more memory than a short one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
DIFFERENT = 1000  # texts: the others find the answers of these, which spares the test its time


def peaks(place: Path, rows: int, early: int) -> tuple[int, int]:
    path = place / "in.parquet"
    place.mkdir(exist_ok=True)
    with pq.ParquetWriter(path, pa.schema({"id": pa.int64(), "text": pa.string()})) as writer:
        for start in range(0, rows, 10_000):
            numbers = range(start, min(rows, start + 10_000))
            texts = [f"essay number {n % DIFFERENT}, neither long nor short" for n in numbers]
            writer.write_table(pa.table({"id": list(numbers), "text": texts}))
    done = subprocess.run(
        [sys.executable, "-m", "tests.grade.grade_memory", path, place / "out", str(early)],
        env={
            **os.environ,
            "PENSTOCK_HOME": str(place / "home"),
            "PENSTOCK_STORAGE_DURABILITY": "fast",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, at_early, at_end = map(int, done.stdout.split())
    assert count == rows
    graded = pq.ParquetFile(place / "out" / "in.parquet")
    assert graded.metadata.num_rows == rows
    last = graded.read_row_group(graded.num_row_groups - 1, ["id", "status"]).to_pylist()[-1]
    assert last == {"id": rows - 1, "status": "ok"}
    return at_early, at_end


@pytest.mark.timeout(180)
def test_50_000_rows_take_hardly_more_memory_than_the_first_10_000(tmp_path: Path) -> None:
    at_early, at_end = peaks(tmp_path, 50_000, 10_000)
    assert at_end < 1.25 * at_early


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_200_000_rows_take_hardly_more_memory_than_50_000(tmp_path: Path) -> None:
    _, short = peaks(tmp_path / "short", 50_000, 50_000)
    at_early, long = peaks(tmp_path / "long", 200_000, 50_000)
    assert long < 1.15 * short, "written output and report included"
    assert long < 1.25 * at_early
