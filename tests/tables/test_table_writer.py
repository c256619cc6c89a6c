"""The writer restores the order of the rows in bounded memory, and the file appears whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InputError, PenstockError, StorageFullError
from penstock.tables import Table, TableWriter
from penstock.tables import writer as writer_module
from tests.tables.values import listing


@st.composite
def _arrivals(draw: st.DrawFn) -> list[tuple[int, list[dict[str, Any]]]]:
    numbers = draw(st.lists(st.integers(0, 400), unique=True, max_size=120))
    kinds = st.sampled_from([0, 0.5, "text", None, [1], {"k": 1}])
    result = []
    for number in numbers:
        count = draw(st.sampled_from([1, 1, 1, 0, 3]))
        rows = [{"n": number, "i": i, "v": draw(kinds)} for i in range(count)]
        result.append((number, rows))
    return result


@settings(deadline=None, max_examples=120)
@given(_arrivals(), st.integers(1, 40))
def test_any_order_with_gaps_comes_out_in_the_order_of_the_numbers(
    tmp_path_factory: pytest.TempPathFactory,
    arrivals: list[tuple[int, list[dict[str, Any]]]],
    block: int,
) -> None:
    folder = tmp_path_factory.mktemp("order")
    with TableWriter(folder / "t.arrow", block=block) as writer:
        for number, rows in arrivals:
            writer.add(number, rows)
    back = [(row["n"], row["i"]) for row in Table.open(folder / "t.arrow")] if arrivals else []
    wanted = [(row["n"], row["i"]) for _, rows in sorted(arrivals) for row in rows]
    assert back == wanted
    assert listing(folder) == ["t.arrow"]


@pytest.mark.parametrize("order", ["straight", "backwards", "one late", "evens first"])
def test_thousands_of_rows_in_a_hard_order(tmp_path: Path, order: str) -> None:
    numbers = list(range(5000))
    if order == "backwards":
        numbers.reverse()
    elif order == "one late":
        numbers.append(numbers.pop(3))
    elif order == "evens first":
        numbers = numbers[::2] + numbers[1::2]
    writer = TableWriter(tmp_path / "t.arrow", block=16)
    for number in numbers:
        writer.add(number, [{"n": number}])
    assert writer.close(expected=5000)["n"] == list(range(5000))


def test_many_stretches_are_made_one_before_they_cost_too_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_MOST_STRETCHES", 4)
    writer = TableWriter(tmp_path / "t.arrow", block=2)
    for number in reversed(range(500)):
        writer.add(number, [{"n": number}])
        assert len(writer._lates) <= 4
    assert writer.close()["n"] == list(range(500))


def test_a_slow_row_is_leapt_over_and_merged_in(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t.arrow", block=8)
    for number in range(1, 300):
        writer.add(number, [{"n": number}])
    assert len(writer._early.rows) < 40, "the rows behind it are on disk, not in memory"
    writer.add(0, [{"n": 0}])
    assert writer.close()["n"] == list(range(300))


def test_columns_stand_in_the_order_of_the_rows_whichever_came_first(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 2}, {"c": 3, "a": 1}, {"d": 4, "e": 5}]
    for place, order in enumerate([(0, 1, 2), (2, 1, 0), (1, 2, 0)]):
        writer = TableWriter(tmp_path / f"{place}.arrow", block=1)
        for number in order:
            writer.add(number, [rows[number]])
        assert writer.close().column_names == ["a", "b", "c", "d", "e"]


def test_a_type_that_widens_late_rewrites_what_was_written(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t.arrow", block=10)
    for number in range(100):
        writer.add(number, [{"x": number, "y": number / 2}])
    writer.add(100, [{"x": "many", "z": True}])
    table = writer.close(expected=101)
    assert table["x"] == [*map(str, range(100)), "many"]
    assert table["y"] == [number / 2 for number in range(100)] + [None]
    assert table["z"] == [None] * 100 + [True]


def test_the_same_number_twice_is_a_fault_that_is_named(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t.arrow", block=1)
    writer.add(0, [{"n": 0}])
    with pytest.raises(PenstockError, match="number 0 were given twice"):
        writer.add(0, [{"n": 0}])
    for number in range(2, 20):
        writer.add(number, [{"n": number}])
    writer.add(3, [{"n": 3}])
    with pytest.raises(PenstockError, match="number 3 were given twice"):
        writer.close()
    assert listing(tmp_path) == []


def test_a_count_that_is_not_the_expected_one_puts_nothing_in_place(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t.arrow")
    writer.add(0, [{"n": 0}])
    with pytest.raises(PenstockError, match="1 rows instead of 2"):
        writer.close(expected=2)
    assert listing(tmp_path) == []


def test_nothing_appears_before_the_end_and_abort_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    with pytest.raises(RuntimeError), TableWriter(path, block=2) as writer:
        for number in range(10):
            writer.add(number, [{"n": number}])
        assert not path.exists()
        raise RuntimeError
    assert listing(tmp_path) == []
    writer.abort()
    with pytest.raises(PenstockError, match="closed already"):
        writer.add(11, [{"n": 1}])


def test_an_older_table_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    with TableWriter(path) as writer:
        writer.add(0, [{"n": "old"}])
    old = Table.open(path)
    again = TableWriter(path)
    again.add(0, [{"n": "new"}])
    assert Table.open(path)["n"] == ["old"]
    assert again.close()["n"] == ["new"]
    assert old["n"] == ["old"], "a table that is open keeps what it had"


def test_files_are_for_the_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        writer = TableWriter(tmp_path / "t.arrow", block=1)
        writer.add(1, [{"n": 1}])
        writer.add(0, [{"n": "a"}])
        for path in writer._folder.iterdir():
            assert path.stat().st_mode & 0o777 == 0o600, path
        assert writer._folder.stat().st_mode & 0o777 == 0o700
        writer.close()
    finally:
        os.umask(before)
    assert (tmp_path / "t.arrow").stat().st_mode & 0o777 == 0o600


_KILLED = """
import os, sys
from penstock.tables import TableWriter
writer = TableWriter(sys.argv[1], block=2)
for number in range(100):
    writer.add(number, [{"n": number}])
os._exit(9)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    child = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert child.returncode == 9
    assert len(listing(tmp_path)) == 1
    living = TableWriter(path)
    living.add(0, [{"n": 0}])
    other = TableWriter(path)
    assert len(listing(tmp_path)) == 2, "that of the living writer stays"
    other.abort()
    assert living.close()["n"] == [0]
    assert listing(tmp_path) == ["t.arrow"]


def test_large_rows_make_small_blocks(tmp_path: Path) -> None:
    writer = TableWriter(tmp_path / "t.arrow")
    for number in range(600):
        writer.add(number, [{"text": "x" * 100_000}])
    assert writer._size < 100
    table = writer.close()
    assert max(batch.num_rows for batch in table.batches()) <= 256


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = TableWriter(tmp_path / "t.arrow", block=1)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer._main, "write", full)
    with pytest.raises(StorageFullError, match="No space left"):
        writer.add(0, [{"n": 0}])
    writer.abort()
    assert listing(tmp_path) == []


def test_a_block_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too small"):
        TableWriter(tmp_path / "t.arrow", block=0)
