"""Rows into chunks, and chunks into files."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.grade.carry import Staged, stage
from penstock.grade.files import found
from penstock.grade.split import Plan, split, write_parts
from penstock.tables import Table, rows

_quick = settings(deadline=None, max_examples=300)
_counts = st.lists(st.integers(0, 20), max_size=30)
_limits = st.none() | st.integers(1, 25)
_numbers = st.none() | st.integers(1, 12)


def _ranges(plan: Plan) -> list[tuple[int, int]]:
    return [(piece.start, piece.stop) for piece in plan.pieces]


@_quick
@given(_counts, _limits, _limits, _numbers)
def test_every_row_is_in_one_chunk_or_in_the_list_and_the_limits_hold(
    counts: list[int], tokens: int | None, most: int | None, chunks: int | None
) -> None:
    plan = split(
        iter(counts), token_limit=tokens, row_limit=most, chunks=chunks, on_over_limit="skip"
    )
    over = [each.row for each in plan.oversized]
    assert over == [row for row, n in enumerate(counts) if tokens is not None and n > tokens]
    inside = [row for start, stop in _ranges(plan) for row in range(start, stop)]
    assert inside == [row for row in range(len(counts)) if row not in over]
    assert (plan.rows, plan.tokens) == (len(counts), sum(counts))
    for start, stop, weight in plan.pieces:
        assert start < stop
        assert weight == sum(counts[start:stop])
        assert tokens is None or weight <= tokens
        assert most is None or stop - start <= most
    if chunks is not None:
        assert len(plan.pieces) >= min(chunks, len(inside))
        if not over and tokens is None and most is None:
            assert len(plan.pieces) == min(chunks, len(inside))


@_quick
@given(_counts, _limits, _limits)
def test_no_two_neighbours_could_be_one(
    counts: list[int], tokens: int | None, most: int | None
) -> None:
    plan = split(counts, token_limit=tokens, row_limit=most, on_over_limit="skip")
    for one, other in pairwise(plan.pieces):
        apart = one.stop != other.start
        heavy = tokens is not None and one.tokens + other.tokens > tokens
        # Greedy: the first could not have taken even the first row of the next.
        next_row = tokens is not None and one.tokens + counts[other.start] > tokens
        full = most is not None and one.stop - one.start == most
        assert apart or full or (heavy and next_row)


@_quick
@given(_counts, _counts, _limits, _limits)
def test_a_longer_file_has_the_chunks_of_the_shorter_one_but_for_the_last(
    counts: list[int], more: list[int], tokens: int | None, most: int | None
) -> None:
    limits: dict[str, Any] = {"token_limit": tokens, "row_limit": most, "on_over_limit": "skip"}
    short = split(counts, **limits).pieces
    long = split(counts + more, **limits).pieces
    assert long[: max(0, len(short) - 1)] == short[:-1]


@_quick
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(1, 5))
@example([5, 1, 1], 3)
@example([0, 0, 0, 0], 2)
def test_a_given_number_is_shared_as_evenly_as_can_be(counts: list[int], chunks: int) -> None:
    plan = split(counts, chunks=chunks)
    wanted = min(chunks, len(counts))
    assert len(plan.pieces) == wanted
    assert max(piece.tokens for piece in plan.pieces) == _best(tuple(counts), wanted)


def _best(counts: tuple[int, ...], chunks: int) -> int:
    """The smallest largest chunk there can be, by trying everything."""
    if chunks == 1:
        return sum(counts)
    return min(
        max(sum(counts[:cut]), _best(counts[cut:], chunks - 1))
        for cut in range(1, len(counts) - chunks + 2)
    )


def test_rows_without_tokens_are_shared_by_number() -> None:
    assert _ranges(split([0] * 10, chunks=5)) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]


def test_equal_rows_are_shared_equally() -> None:
    plan = split([7] * 1000, chunks=3)
    assert sorted(stop - start for start, stop in _ranges(plan)) == [333, 333, 334]


def test_a_shared_chunk_over_a_limit_is_cut_again() -> None:
    assert _ranges(split([4, 4, 4, 4], chunks=2, token_limit=5)) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert _ranges(split([1] * 10, chunks=2, row_limit=4)) == [(0, 4), (4, 5), (5, 9), (9, 10)]


def test_rows_over_the_limit_are_named() -> None:
    with pytest.raises(InputError, match=r"2 rows .* limit of 10 tokens.*: 2 \(11\), 4 \(1,000\)"):
        split([1, 11, 2, 1000], token_limit=10)
    with pytest.raises(InputError, match=r"12 rows.* and 2 more"):
        split([11] * 12, token_limit=10, chunks=2)
    plan = split([1, 11, 2], token_limit=10, on_over_limit="skip")
    assert _ranges(plan) == [(0, 1), (2, 3)]
    assert plan.oversized == ((1, 11),)


@pytest.mark.parametrize(
    "wrong",
    [{"token_limit": 0}, {"row_limit": -1}, {"chunks": 0}, {"on_over_limit": "maybe"}],
)
def test_wrong_limits_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        split([1], **wrong)
    with pytest.raises(InputError, match="row 2 has -1 tokens"):
        split([1, -1])


def test_no_limit_gives_one_chunk_and_no_rows_give_none() -> None:
    assert split([1, 2]).pieces == ((0, 2, 3),)
    assert split([]).pieces == split([], chunks=3).pieces == ()


def test_memory_grows_with_the_chunks_and_not_with_the_rows() -> None:
    def peak(rows_: int) -> int:
        tracemalloc.start()
        plan = split((10 for _ in range(rows_)), token_limit=rows_)
        grown = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(plan.pieces) == 10
        return grown

    peak(100)
    assert peak(100_000) < peak(1000) + 4096


def _staged(path: Path, folder: Path) -> Staged:
    staged = stage(path, folder)
    assert isinstance(staged, Staged), staged
    return staged


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "parquet", "arrow", "xlsx"])
def test_parts_hold_all_rows_once_and_sort_in_their_order(tmp_path: Path, form: str) -> None:
    table = Table.from_rows([{"id": f"{n:03d}", "t": f'a "b"\n{n}', "n": n} for n in range(95)])
    path = table.save(tmp_path / f"data.v1.{form}")
    staged = _staged(path, tmp_path / "stage")
    plan = split([1] * 94 + [50], token_limit=8, on_over_limit="skip")
    parts = write_parts(staged, plan, tmp_path / "parts")
    assert [part.name for part in parts.files][:2] == [
        f"data.v1-part-001-of-012.{form}",
        f"data.v1-part-002-of-012.{form}",
    ]
    assert sorted(parts.files) == parts.files
    assert parts.left_out is not None
    assert parts.left_out.name == f"data.v1-over-limit.{form}"
    read = [row for part in [*parts.files, parts.left_out] for row in rows(part)]
    assert read == list(rows(path))
    assert len(found([tmp_path / "parts"])) == 13
    assert [file.name for file in found([tmp_path], out=tmp_path / "stage")] == [path.name]


def test_parts_of_text_keep_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    body = 'Größe;b\r\n007;=1\r\n\r\n1.00;"x\r\ny"\r\nbad\r\n9;9'
    path.write_bytes(body.encode("latin-1"))
    parts = write_parts(_staged(path, tmp_path / "s"), split([1] * 4, row_limit=3), tmp_path / "p")
    assert [part.read_bytes().decode("latin-1") for part in parts.files] == [
        'Größe;b\r\n007;=1\r\n1.00;"x\r\ny"\r\nbad\r\n',
        "Größe;b\r\n9;9\r\n",
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1.00}\nbroken\n{"b": 2}')
    parts = write_parts(_staged(path, tmp_path / "s"), split([1] * 3, row_limit=2), tmp_path / "q")
    assert [part.read_bytes() for part in parts.files] == [
        b'{"a": 1.00}\nbroken\n',
        b'{"b": 2}\n',
    ]


def test_parts_of_columns_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes('{"a": [1, 2, 3], "b": ["ö", null, "x"]}'.encode("utf-16"))
    staged = _staged(path, tmp_path / "s")
    parts = write_parts(staged, split([1] * 3, row_limit=2), tmp_path / "p")
    assert [list(rows(part)) for part in parts.files] == [
        [{"a": 1, "b": "ö"}, {"a": 2, "b": None}],
        [{"a": 3, "b": "x"}],
    ]


def test_parts_can_be_in_another_format(tmp_path: Path) -> None:
    path = Table.from_rows([{"a": n, "b": "x"} for n in range(5)]).save(tmp_path / "a.parquet")
    staged = _staged(path, tmp_path / "s")
    parts = write_parts(staged, split([1] * 5, row_limit=3), tmp_path / "p", "jsonl")
    assert [row["a"] for part in parts.files for row in rows(part)] == list(range(5))
    with pytest.raises(InputError, match="no format 'docx'"):
        write_parts(staged, split([1] * 5), tmp_path / "q", "docx")


def test_parts_are_never_beside_the_input_and_never_replace(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n")
    staged = _staged(path, tmp_path / "s")
    plan = split([1, 1])
    with pytest.raises(InputError, match="taken for inputs"):
        write_parts(staged, plan, tmp_path / "sub" / "..")
    write_parts(staged, plan, tmp_path / "p")
    with pytest.raises(InputError, match="already there"):
        write_parts(staged, plan, tmp_path / "p")
    write_parts(staged, plan, tmp_path / "p", overwrite=True)
    with pytest.raises(InputError, match="plan is for 3 rows"):
        write_parts(staged, split([1] * 3), tmp_path / "r")


def _endless() -> Iterator[int]:
    while True:
        yield 1


def test_a_plan_is_made_as_the_counts_come() -> None:
    with pytest.raises(InputError, match="row 3 has -5"):
        split(value for value in [1, 1, -5, *range(3)])
    limited = (value for value, _ in zip(_endless(), range(10), strict=False))
    assert split(limited, row_limit=4).rows == 10
