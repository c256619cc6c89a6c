"""A long table takes no more memory than a short one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def peaks(home: Path, rows: int, early: int) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.generate.schema_memory", str(rows), str(early)],
        env={**os.environ, "PENSTOCK_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, at_early, at_end = map(int, done.stdout.split())
    assert count == rows
    return at_early, at_end


@pytest.mark.timeout(120)
def test_100_000_rows_of_a_schema_take_no_more_memory_than_20_000(tmp_path: Path) -> None:
    at_early, at_end = peaks(tmp_path / "home", 100_000, 20_000)
    assert at_end < 1.15 * at_early


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_million_rows_of_a_schema_take_hardly_more_than_100_000(tmp_path: Path) -> None:
    at_early, at_end = peaks(tmp_path / "home", 1_000_000, 100_000)
    assert at_end < 1.15 * at_early
