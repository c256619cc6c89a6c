"""Memory does not grow with the rows (S2): children that read and write 300,000 of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.tables import Table
from tests.tables.values import PEAK

_CHILD = """
import sys
from pathlib import Path
from penstock.tables import Table, TableWriter, rows

folder, what, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def made(number):
    return {"id": number, "text": f"the text of row {number} " * 8, "score": number / 7}

def write(path, late):
    writer = TableWriter(path)
    for number in range(count):
        if not late or number % 1000:
            writer.add(number, [made(number)])
    if late:
        for number in range(0, count, 1000):
            writer.add(number, [made(number)])
    return writer.close(expected=count)

table = None
if what == "write in order":
    table = write(folder / "t.arrow", late=False)
elif what == "write late rows":
    table = write(folder / "t.arrow", late=True)
elif what == "write and widen at the end":
    writer = TableWriter(folder / "t.arrow")
    for number in range(count):
        writer.add(number, [made(number)])
    writer.add(count, [{"id": 0.5, "more": 1}])
    table = writer.close(expected=count + 1)
else:
    source = rows(folder / f"t.{what}") if what != "generator" else rows(map(made, range(count)))
    assert sum(len(block) for block in source.blocks()) == count
if table is not None:
    assert sum(1 for _ in table) >= count
print(peak())
"""

_SMALL, _LARGE = 30_000, 300_000


def _peak(folder: Path, what: str, count: int) -> int:
    command = [sys.executable, "-c", PEAK + _CHILD, str(folder), what, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize(
    "what", ["write in order", "write late rows", "write and widen at the end", "generator"]
)
def test_ten_times_the_rows_take_no_more_memory(tmp_path: Path, what: str) -> None:
    small, large = _peak(tmp_path, what, _SMALL), _peak(tmp_path, what, _LARGE)
    assert large < small * 1.1 + 8, f"{small} MiB, then {large} MiB"


def test_reading_any_streamed_format_takes_no_more_memory_for_more_rows(tmp_path: Path) -> None:
    forms = ("csv", "jsonl", "json", "parquet", "arrow")
    peaks: dict[str, list[int]] = {form: [] for form in forms}
    for count in (_SMALL // 3, _LARGE // 3):
        rows = ({"id": n, "text": f"the text of row {n} " * 8, "x": n / 7} for n in range(count))
        table = Table.from_rows(rows)
        for form in forms:
            table.save(tmp_path / f"t.{form}")
            peaks[form].append(_peak(tmp_path, form, count))
    for form, (small, large) in peaks.items():
        assert large < small * 1.1 + 12, f"{form}: {small} MiB, then {large} MiB"
