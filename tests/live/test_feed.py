"""The feed and its reader: what goes in comes out, in pages, whatever it is."""

from __future__ import annotations

import json
import math
import os
import threading
import time
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import StorageFullError
from penstock.live import Feed, FeedReader

_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Half characters are another test.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)
_ROWS = st.lists(
    st.tuples(
        st.integers(0, 2**63),
        st.dictionaries(_NAMES, _VALUES, max_size=4),
        st.sampled_from([[], [{"kind": "timeout", "message": "late"}]]),
    ),
    max_size=40,
)


def _filled(folder: Path, rows: list[Any]) -> FeedReader:
    with Feed(folder) as feed:
        for number, row, failures in rows:
            feed.add(number, row, "failed" if failures else "ok", failures)
    return FeedReader(folder)


@given(_ROWS, st.integers(0, 45), st.integers(0, 45))
def test_any_rows_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], start: int, count: int
) -> None:
    reader = _filled(tmp_path_factory.mktemp("feed"), rows)
    expected = [
        {"number": n, "status": "failed" if f else "ok", "row": row, "failures": f}
        for n, row, f in rows
    ]
    failed = [each for each in expected if each["failures"]]
    assert reader.count() == len(rows)
    assert reader.failed_count() == len(failed)
    assert reader.page(0, 1000) == expected
    assert reader.page(start, count) == expected[start : start + count]
    assert reader.page(start, count, failed_only=True) == failed[start : start + count]
    assert set(reader.columns()) == {name for _, row, _ in rows for name in row}


@given(_ROWS, st.data())
def test_a_feed_cut_off_anywhere_still_gives_its_whole_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("feed")
    whole = _filled(folder, rows).page(0, 1000)
    for name in ("live.rows", "live.index", "live.columns"):
        size = (folder / name).stat().st_size
        os.truncate(folder / name, data.draw(st.integers(0, size), label=name))
    reader = FeedReader(folder)
    found = reader.page(0, 1000)
    assert found == whole[: len(found)]
    assert reader.count() == len(found)
    failed = [each for each in found if each["failures"]]
    assert reader.failed_count() == len(failed)
    assert reader.page(0, 1000, failed_only=True) == failed


def test_values_of_any_kind_become_json(tmp_path: Path) -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    row = {
        "half": "a\ud800b",
        "half \udfff": 1,
        "large": 2**70,
        "nan": math.nan,
        "endless": math.inf,
        "money": Decimal("0.10"),
        "when": datetime(2026, 3, 1, tzinfo=UTC),
        "bytes": b"\x00\xff",
        "set": {1},
        "odd": Odd(),
        3: "three",
    }
    reader = _filled(tmp_path, [(0, row, []), (1, {"odd": Odd(), "tuple": (1, "x")}, [])])
    assert reader.page(0, 1)[0]["row"] == {
        "half": "a\ufffdb",
        "half \ufffd": 1,
        "large": 2**70,
        "nan": None,
        "endless": None,
        "money": "0.10",
        "when": "2026-03-01T00:00:00+00:00",
        "bytes": "AP8=",
        "set": [1],
        "odd": "odd",
        "3": "three",
    }
    assert reader.page(1, 1)[0]["row"] == {"odd": "odd", "tuple": [1, "x"]}
    assert reader.columns() == [*reader.page(0, 1)[0]["row"], "tuple"]


def test_rows_are_seen_after_a_flush_and_not_before(tmp_path: Path) -> None:
    reader = FeedReader(tmp_path)
    with Feed(tmp_path) as feed:
        feed.add(5, {"a": 1}, "ok")
        assert reader.count() == 0
        feed.flush()
        assert reader.page(0, 10) == [
            {"number": 5, "status": "ok", "row": {"a": 1}, "failures": []}
        ]


def test_many_rows_are_written_without_a_flush_so_that_memory_stays_small(tmp_path: Path) -> None:
    with Feed(tmp_path) as feed:
        for number in range(600):
            feed.add(number, {"text": "x" * 1000}, "ok")
        assert FeedReader(tmp_path).count() >= 200


def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Feed(tmp_path).close()
    finally:
        os.umask(before)
    files = sorted(tmp_path.glob("live.*"))
    assert [file.name for file in files] == ["live.columns", "live.index", "live.rows"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_folder_without_a_feed_reads_as_empty(tmp_path: Path) -> None:
    reader = FeedReader(tmp_path / "nowhere")
    assert (reader.count(), reader.failed_count()) == (0, 0)
    assert reader.page(0, 10) == []
    assert reader.columns() == []


def test_a_file_that_is_no_feed_reads_as_empty(tmp_path: Path) -> None:
    for name in ("live.rows", "live.index"):
        (tmp_path / name).write_bytes(b"something else entirely, and long enough for an entry")
    assert FeedReader(tmp_path).page(0, 10) == []


def test_a_new_feed_takes_the_place_of_the_one_before_and_says_so(tmp_path: Path) -> None:
    reader = _filled(tmp_path, [(0, {"old": 1}, [])] * 3)
    before = reader.size()
    with Feed(tmp_path) as feed:
        assert reader.count() == 0
        feed.add(7, {"new": 1}, "ok")
    assert reader.size().mark != before.mark
    assert reader.columns() == ["new"]
    assert [each["number"] for each in reader.page(0, 10)] == [7]


def test_a_damaged_row_keeps_its_place(tmp_path: Path) -> None:
    reader = _filled(tmp_path, [(n, {"text": f"row {n}"}, []) for n in range(3)])
    rows = bytearray((tmp_path / "live.rows").read_bytes())
    middle = rows.index(b'"row 1"')
    rows[middle : middle + 7] = b"\x00" * 7
    (tmp_path / "live.rows").write_bytes(rows)
    found = reader.page(0, 3)
    assert [each["number"] for each in found] == [0, 1, 2]
    assert [each["status"] for each in found] == ["ok", "unreadable", "ok"]


def test_a_write_that_fails_half_way_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.pwrite
    with Feed(tmp_path) as feed:
        feed.add(0, {"text": "kept " * 100}, "ok")

        def full(handle: int, content: Any, place: int) -> int:
            if len(content) > 10:
                return real(handle, content[: len(content) // 2], place)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(StorageFullError, match="No space left"):
            feed.flush()
        monkeypatch.setattr(os, "pwrite", real)
        feed.add(1, {"text": "more"}, "ok")
    found = FeedReader(tmp_path).page(0, 10)
    assert [each["row"]["text"] for each in found] == ["kept " * 100, "more"]


def test_a_page_of_huge_rows_ends_early_and_the_rest_comes_next(tmp_path: Path) -> None:
    reader = _filled(tmp_path, [(n, {"text": "x" * 10_000}, []) for n in range(5)])
    assert len(reader.page(0, 5, most_bytes=25_000)) == 2
    assert [each["number"] for each in reader.page(2, 5, most_bytes=25_000)] == [2, 3]
    assert len(reader.page(4, 5, most_bytes=1)) == 1


def test_a_reader_beside_the_writer_never_sees_half_a_row(tmp_path: Path) -> None:
    rows = 3000
    feed = Feed(tmp_path)

    def write() -> None:
        for number in range(rows):
            feed.add(number, {"n": number, "text": "y" * (number % 200)}, "ok")
            if number % 7 == 0:
                feed.flush()
        feed.close()

    writer = threading.Thread(target=write)
    writer.start()
    reader, seen = FeedReader(tmp_path), 0
    while seen < rows:
        page = reader.page(seen, 500)
        assert [each["row"]["n"] for each in page] == list(range(seen, seen + len(page)))
        seen += len(page)
    writer.join()


def test_a_hundred_thousand_rows_are_paged_in_milliseconds_and_flat_memory(tmp_path: Path) -> None:
    count = 100_000
    with Feed(tmp_path) as feed:
        failure = [{"kind": "timeout", "message": "late"}]
        for number in range(count):
            failed = number % 1000 == 999
            feed.add(number, {"question": "why", "n": number}, "ok", failure if failed else ())
    reader = FeedReader(tmp_path)
    tracemalloc.start()
    began = time.perf_counter()
    for start in range(0, count, 5000):
        assert [each["number"] for each in reader.page(start, 100)] == list(
            range(start, start + 100)
        )
    assert [each["number"] for each in reader.page(50, 50, failed_only=True)] == list(
        range(50_999, count, 1000)
    )
    spent = time.perf_counter() - began
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (reader.count(), reader.failed_count()) == (count, 100)
    assert spent < 2.0  # 21 pages under tracemalloc; a scan of the file would take far longer
    assert most < 2_000_000


def test_lines_are_json_that_anybody_reads(tmp_path: Path) -> None:
    _filled(tmp_path, [(0, {"text": "two\nlines"}, []), (1, {"n": 2**80}, [])])
    lines = (tmp_path / "live.rows").read_text("utf-8").splitlines()
    assert [json.loads(line)["row"] for line in lines] == [{"text": "two\nlines"}, {"n": 2**80}]
