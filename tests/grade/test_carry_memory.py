"""Memory does not grow with the rows: children that stage, read and write files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tables.values import PEAK

_CHILD = """
import sys
from pathlib import Path
from penstock.grade.carry import Staged, stage, write

path, other = Path(sys.argv[1]), sys.argv[2]
staged = stage(path, path.parent / f"stage-{path.name}")
assert isinstance(staged, Staged), staged
assert sum(1 for _ in staged.rows()) == len(staged)
added = ({"score": n % 5, "reason": f"the reason of row {n} " * 4} for n in range(len(staged)))
out = path.with_name(f"out-{path.stem}.{other}")
write(staged, added, ["score", "reason"], out, overwrite=True)
print(peak())
"""


def _written(path: Path, count: int) -> None:
    """A file of so many rows, made without tables."""
    lines = (
        {"id": f"{n:07d}", "text": f"the text of row {n} " * 8, "x": n / 7} for n in range(count)
    )
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write("id,text,x\r\n")
            file.writelines(f'{each["id"]},"{each["text"]}",{each["x"]}\r\n' for each in lines)
        elif path.suffix == ".jsonl":
            file.writelines(json.dumps(each) + "\n" for each in lines)
        else:
            file.write("[")
            for number, each in enumerate(lines):
                file.write((",\n" if number else "") + json.dumps(each, indent=1))
            file.write("]")


def _as_arrow(path: Path, count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = range(count)
    table = pa.table(
        {
            "id": [f"{n:07d}" for n in numbers],
            "text": [f"the text of row {n} " * 8 for n in numbers],
            "x": [n / 7 for n in numbers],
        }
    )
    pq.write_table(table, path, row_group_size=20_000)


def _peak(path: Path, other: str) -> int:
    command = [sys.executable, "-c", PEAK + _CHILD, str(path), other]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
def test_ten_times_the_rows_take_no_more_memory(tmp_path: Path, form: str) -> None:
    peaks = []
    for count in (20_000, 200_000):
        path = tmp_path / f"{count}.{form}"
        (_as_arrow if form == "parquet" else _written)(path, count)
        peaks.append(_peak(path, form))
    small, large = peaks
    assert large < small * 1.1 + 16, f"{small} MiB, then {large} MiB"


def test_another_format_takes_no_more_memory_either(tmp_path: Path) -> None:
    peaks = []
    for count in (10_000, 100_000):
        path = tmp_path / f"{count}.csv"
        _written(path, count)
        peaks.append(_peak(path, "parquet"))
    small, large = peaks
    assert large < small * 1.1 + 16, f"{small} MiB, then {large} MiB"
