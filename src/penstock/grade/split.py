"""Rows into chunks: by tokens, by rows, or into a given number.

Chunks are ranges of rows in order. By limits, each takes as many rows as it may, so the same rows
always give the same chunks, and a longer file those of the shorter one but for the last. Into a
given number, the largest is as small as it can be and the others near to each other; one that is
over a limit is then cut by it. A row over the token limit by itself is either an error that names
it, or left out of all chunks and listed; a chunk never reaches across it.

Memory grows with the chunks. Only a given number of chunks costs eight bytes a row: how to share
evenly is not known before the last row.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from penstock.errors import InputError
from penstock.grade.carry import Staged, write_part
from penstock.grade.files import mark
from penstock.tables.files import FORMATS

__all__ = ["OverLimit", "Oversized", "Parts", "Piece", "Plan", "split", "write_parts"]

OverLimit = Literal["abort", "skip"]
_NAMED = 10


class Piece(NamedTuple):
    """The rows from `start` to before `stop`, counted from 0."""

    start: int
    stop: int
    tokens: int


class Oversized(NamedTuple):
    """A row, counted from 0, that is over the token limit by itself."""

    row: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All rows of a file in pieces, but for the oversized ones."""

    pieces: tuple[Piece, ...]
    oversized: tuple[Oversized, ...]
    rows: int
    tokens: int


def split(
    counts: Iterable[int],
    *,
    token_limit: int | None = None,
    row_limit: int | None = None,
    chunks: int | None = None,
    on_over_limit: OverLimit = "abort",
) -> Plan:
    """Rows, as the tokens of each in order, into chunks.

    `chunks`: at least so many, where there are as many rows. `on_over_limit`: what a row over the
    token limit does: "abort" is an InputError, "skip" leaves it out.
    """
    limits = {"token_limit": token_limit, "row_limit": row_limit, "chunks": chunks}
    for name, value in limits.items():
        if value is not None and value < 1:
            raise InputError(f"{name}={value}; it is 1 or more")
    if on_over_limit not in ("abort", "skip"):
        raise InputError(f"on_over_limit={on_over_limit!r}; it is 'abort' or 'skip'")
    read = _Reading(counts, token_limit)
    cuts: Iterable[int] = ()
    kept: Iterable[tuple[int, int]] = read
    if chunks is not None:
        held = _Held(read)
        cuts, kept = held.cuts(chunks), held
    pieces = tuple(_greedy(kept, cuts, token_limit, row_limit))
    if read.oversized and on_over_limit == "abort":
        raise _over(read.oversized, token_limit)
    return Plan(pieces, tuple(read.oversized), read.rows, read.tokens)


class _Reading:
    """The rows that a chunk can hold, with their numbers; the others are set apart."""

    def __init__(self, counts: Iterable[int], limit: int | None) -> None:
        self._counts = counts
        self._limit = limit
        self.oversized: list[Oversized] = []
        self.rows = 0
        self.tokens = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for row, tokens in enumerate(self._counts):
            if tokens < 0:
                raise InputError(f"row {row + 1} has {tokens} tokens; it is 0 or more")
            self.rows += 1
            self.tokens += tokens
            if self._limit is not None and tokens > self._limit:
                self.oversized.append(Oversized(row, tokens))
            else:
                yield row, tokens


def _greedy(
    kept: Iterable[tuple[int, int]], cuts: Iterable[int], most_tokens: int | None, most: int | None
) -> Iterator[Piece]:
    """As many rows a piece as the limits allow; a new one at each cut and after each gap."""
    ends = iter(cuts)
    cut = next(ends, None)
    start = stop = tokens = 0
    for row, count in kept:
        full = most is not None and stop - start >= most
        heavy = most_tokens is not None and tokens + count > most_tokens
        if row != stop or row == cut or full or heavy:
            if stop > start:
                yield Piece(start, stop, tokens)
            start, tokens = row, 0
            if row == cut:
                cut = next(ends, None)
        stop = row + 1
        tokens += count
    if stop > start:
        yield Piece(start, stop, tokens)


class _Held:
    """The tokens of all rows up to each, and where the gaps are, to share them evenly."""

    def __init__(self, kept: Iterable[tuple[int, int]]) -> None:
        self._sums = array("Q", [0])
        self._gaps: list[tuple[int, int]] = []  # (how many are kept before it, rows left out)
        left_out = 0
        for row, tokens in kept:
            if row - len(self) != left_out:
                left_out = row - len(self)
                self._gaps.append((len(self), left_out))
            self._sums.append(self._sums[-1] + tokens)

    def __len__(self) -> int:
        return len(self._sums) - 1

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for place in range(len(self)):
            yield self._row(place), self._sums[place + 1] - self._sums[place]

    def cuts(self, chunks: int) -> Iterator[int]:
        """The rows at which all chunks but the first begin."""
        sums: array[int] | range = self._sums if self._sums[-1] else range(len(self._sums))
        return map(self._row, _shared(sums, min(chunks, len(self))))

    def _row(self, place: int) -> int:
        found = bisect_right(self._gaps, place, key=lambda gap: gap[0])
        return place + (self._gaps[found - 1][1] if found else 0)


def _shared(sums: array[int] | range, chunks: int) -> list[int]:
    """Where to cut so that the largest chunk is smallest, and the others near the mean."""
    last = len(sums) - 1
    if chunks < 2:
        return []
    most = _smallest_most(sums, chunks)
    # The first row from which so many chunks are enough for all that follow.
    enough = [last]
    for _ in range(chunks - 1):
        enough.append(bisect_left(sums, sums[enough[-1]] - most))
    cuts, at = [], 0
    for left in range(chunks - 1, 0, -1):
        low = max(at + 1, enough[left])
        high = min(bisect_right(sums, sums[at] + most, at) - 1, last - left)
        mean = sums[at] + (sums[last] - sums[at]) / (left + 1)
        at = min(bisect_left(sums, mean, low, high), high)
        if at > low and mean - sums[at - 1] < sums[at] - mean:
            at -= 1
        cuts.append(at)
    return cuts


def _smallest_most(sums: array[int] | range, chunks: int) -> int:
    last = len(sums) - 1
    low = max(sums[place + 1] - sums[place] for place in range(last))
    high = sums[last]
    while low < high:
        middle = (low + high) // 2
        at = used = 0
        while at < last and used <= chunks:
            at = bisect_right(sums, sums[at] + middle, at) - 1
            used += 1
        if used <= chunks:
            high = middle
        else:
            low = middle + 1
    return low


def _over(rows: list[Oversized], limit: int | None) -> InputError:
    named = ", ".join(f"{each.row + 1} ({each.tokens:,})" for each in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    return InputError(
        f"{len(rows):,} rows are over the limit of {limit:,} tokens by themselves: {named}{more}",
        remedy="Shorten them, raise the limit, or leave them out with on_over_limit='skip'.",
    )


class Parts(NamedTuple):
    """The files of a split. `left_out`: that of the rows over the token limit, if there are."""

    files: list[Path]
    left_out: Path | None


def write_parts(
    staged: Staged,
    plan: Plan,
    folder: Path | str,
    format: str | None = None,  # noqa: A002
    *,
    overwrite: bool = False,
) -> Parts:
    """Each piece as a file of its own, header and all, in a folder that is not the input's.

    The names sort in the order of the rows. Rows that the plan leaves out go to one file more.
    """
    folder = Path(folder).expanduser()
    source = Path(staged.path)
    if folder.resolve() == source.resolve().parent:
        raise InputError(
            f"{folder} is where {source.name} lies; parts beside it would be taken for inputs",
            remedy="Name a folder of their own.",
        )
    if plan.rows != len(staged):
        raise InputError(f"the plan is for {plan.rows:,} rows, {source} has {len(staged):,}")
    form = format or staged.format
    if form not in FORMATS:
        raise InputError(f"there is no format {form!r}", remedy=f"Known: {', '.join(FORMATS)}.")
    stem = _stem(source)
    width = max(3, len(str(len(plan.pieces))))
    files = []
    for number, piece in enumerate(plan.pieces, start=1):
        path = folder / f"{stem}-part-{number:0{width}d}-of-{len(plan.pieces):0{width}d}.{form}"
        write_part(staged, [range(piece.start, piece.stop)], path, form, overwrite=overwrite)
        mark(path, "part")
        files.append(path)
    if not plan.oversized:
        return Parts(files, None)
    rest = folder / f"{stem}-over-limit.{form}"
    alone = [range(each.row, each.row + 1) for each in plan.oversized]
    write_part(staged, alone, rest, form, overwrite=overwrite)
    mark(rest, "part")
    return Parts(files, rest)


def _stem(source: Path) -> str:
    name = source.with_suffix("") if source.suffix.lower() == ".gz" else source
    return name.stem
