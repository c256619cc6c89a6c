"""Rows from anywhere, one at a time or in blocks, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from penstock.errors import InputError, PenstockError

__all__ = ["BLOCK", "Block", "Problem", "Problems", "Row", "RowSource", "check_columns"]
__all__ += ["from_iterable", "in_blocks"]

Row: TypeAlias = dict[str, Any]
Block: TypeAlias = list[Row]

BLOCK = 1024
_MOST_PROBLEMS = 1000


class Problem(NamedTuple):
    """Something in a file that was left out or put right."""

    line: int
    reason: str


class Problems(list[Problem]):
    """The first 1,000 problems; `total` counts them all."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def note(self, line: int, reason: str) -> None:
        self.total += 1
        if len(self) < _MOST_PROBLEMS:
            self.append(Problem(line, reason))

    def forget(self) -> None:
        self.clear()
        self.total = 0


class RowSource:
    """Rows that can be iterated, as dicts of plain values; made by `rows`.

    `repeatable`: whether it can be iterated again. `count` and `column_names` are None where
    they are not known without reading everything. `problems` fills while it is read. The rows
    of a list are handed on as they are, not copied.
    """

    def __init__(
        self,
        read: Callable[[int], Iterator[Block]],
        *,
        name: str,
        count: int | None = None,
        column_names: list[str] | None = None,
        repeatable: bool = True,
        prompt: bool = False,
        problems: Problems | None = None,
    ) -> None:
        self.name = name
        self.count = count
        self.column_names = column_names
        self.repeatable = repeatable
        self.problems = problems if problems is not None else Problems()
        self._read = read
        self._prompt = prompt
        self._used = False

    def __iter__(self) -> Iterator[Row]:
        # A generator may be slow: each of its rows is passed on when it comes.
        for block in self.blocks(1 if self._prompt else BLOCK):
            yield from block

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """The rows in lists of at most `size`."""
        if size < 1:
            raise InputError(f"a block of {size} rows is too small; it has 1 or more")
        if self._used and not self.repeatable:
            raise InputError(
                f"{self.name} was read already and cannot be read again",
                remedy="Give a list, a file or a function that makes it anew.",
            )
        self._used = True
        return self._blocks(size)

    def _blocks(self, size: int) -> Iterator[Block]:
        for block in self._read(size):
            if len(block) <= size:
                if block:
                    yield block
            else:
                for start in range(0, len(block), size):
                    yield block[start : start + size]

    def select(self, columns: list[str]) -> RowSource:
        """The same rows with only these columns, in this order."""
        if self.column_names is not None:
            check_columns(columns, self.column_names, self.name)

        def read(size: int) -> Iterator[Block]:
            for block in self._read(size):
                yield [{name: row.get(name) for name in columns} for row in block]

        return RowSource(
            read,
            name=self.name,
            count=self.count,
            column_names=list(columns),
            repeatable=self.repeatable,
            prompt=self._prompt,
            problems=self.problems,
        )


def in_blocks(rows: Iterator[Row], size: int) -> Iterator[Block]:
    """Rows in lists; those before an error are delivered before it is raised."""
    while True:
        block: Block = []
        try:
            block.extend(islice(rows, size))
        except Exception:
            if block:
                yield block
            raise
        if not block:
            return
        yield block


def check_columns(wanted: list[str], there: list[str], name: str) -> None:
    """Raise InputError for the first column that is not there."""
    missing = [column for column in wanted if column not in there]
    if missing:
        raise InputError(
            f"{name} has no column {missing[0]!r}", remedy=f"It has: {', '.join(there)}."
        )


def from_iterable(rows: Iterable[Any], name: str, key: str | None) -> RowSource:
    """Rows of a list, a generator, or anything else that can be iterated."""
    if key is not None:
        rows = ({key: value} for value in rows) if iter(rows) is rows else _Keyed(rows, key)
    repeatable = iter(rows) is not rows

    def read(size: int) -> Iterator[Block]:
        iterator, number = iter(rows), 0
        while True:
            block, error = _some(iterator, size, number, name)
            if block:
                yield block
            if error is not None:
                raise error
            if len(block) < size:
                return
            number += len(block)

    count = len(rows) if isinstance(rows, (list, tuple)) else None
    return RowSource(read, name=name, count=count, repeatable=repeatable, prompt=count is None)


class _Keyed:
    def __init__(self, values: Iterable[Any], key: str) -> None:
        self._values, self._key = values, key

    def __iter__(self) -> Iterator[Row]:
        return ({self._key: value} for value in self._values)


def _some(
    iterator: Iterator[Any], size: int, number: int, name: str
) -> tuple[Block, Exception | None]:
    """Up to `size` rows, and the error that ended them: those before it are not lost."""
    block: Block = []
    try:
        for row in iterator:
            block.append(row if type(row) is dict else _as_row(row, number + len(block), name))
            if len(block) == size:
                break
    except PenstockError as error:
        return block, error
    except Exception as error:
        wrapped = InputError(
            f"{name}: row {number + len(block) + 1} could not be made: "
            f"{type(error).__name__}: {error}"
        )
        wrapped.__cause__ = error
        return block, wrapped
    return block, None


def _as_row(row: Any, number: int, name: str) -> Row:
    if isinstance(row, Mapping):
        return dict(row)
    if hasattr(row, "model_dump"):
        return dict(row.model_dump())
    raise InputError(
        f"{name}: row {number + 1} is a {type(row).__name__}, not a dict",
        remedy="Give dicts; penstock.tables.rows(values, key='name') makes one of each value.",
    )
