"""Rows of existing data as the values of a schema, kept together.

Columns of one source are drawn as one: the question and the answer of a row always stem from the
same row. They share a group, a name made of what the source is (its kind, columns and length, and
the `name=` it was given), so that a program started again draws the same.

The data is read once, when it is first needed, and stays in Arrow: a mapped file stays on disk.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, said, suggestion
from penstock.generate.samplers.draw import Draw, permuted

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.tables import Table
    from penstock.tables.source import RowSource

__all__ = ["FromDataset", "Source"]

# One for all: a source may be a generator that itself draws from another.
_reading = threading.RLock()


class Source:
    """Data that is read when it is first needed."""

    def __init__(self, data: Any, split: str | None, name: str) -> None:
        from penstock.tables import rows

        chosen = _one_split(data, split)
        found = rows(chosen)
        self._table: Callable[[], Table] | None = _reader(chosen, found)
        self.given = data
        self.split = split
        self.name = name
        self.columns = found.column_names
        self._batches: list[pa.RecordBatch] | None = None
        self._ends: list[int] = []
        self.group = self._group(found.name, found.count)

    def _group(self, called: str, count: int | None) -> str:
        kind = Path(self.given).name if isinstance(self.given, (str, Path)) else called
        columns = self.columns or _first_columns(self.given)
        parts = [kind, self.split or "", "" if count is None else f"{count} rows", *columns]
        called = f"from_dataset {self.name!r}" if self.name else "from_dataset"
        return f"{called}: {', '.join(part for part in parts if part)}"

    def __getstate__(self) -> dict[str, Any]:
        self.read()  # how to read does not travel to another process, the rows do
        return self.__dict__

    def __len__(self) -> int:
        self.read()
        return self._ends[-1] if self._ends else 0

    def read(self) -> list[pa.RecordBatch]:
        """The rows; read at the first call."""
        if self._batches is None:
            with _reading:
                if self._batches is None and self._table is not None:
                    table = self._table()
                    batches = [each for each in table.to_arrow().to_batches() if each.num_rows]
                    self.columns = table.column_names
                    self._ends = list(accumulate(each.num_rows for each in batches))
                    self._batches, self._table = batches, None
        return self._batches or []

    def at(self, place: int, column: str | None) -> Any:
        """A row as a dict, or one value of it."""
        from penstock.tables.columns import from_arrow, rows_of

        batches = self.read()
        which = bisect_right(self._ends, place)
        batch = batches[which]
        inside = place - (self._ends[which] - batch.num_rows)
        if column is None:
            return rows_of(batch.slice(inside, 1))[0]
        at = batch.schema.get_field_index(column)
        if at < 0:
            self.check(column)
        return from_arrow(batch.column(at).slice(inside, 1), batch.schema.field(at))[0]

    def check(self, column: str | None) -> None:
        """Raise InputError for a column that is known not to be there."""
        if column is not None and self.columns is not None and column not in self.columns:
            raise InputError(
                f"the data has no column {column!r}", remedy=suggestion(column, self.columns)
            )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FromDataset(Sampler):
    """A row of a source, or one column of it: `source["question"]`."""

    source: Source
    column: str | None
    replace: bool

    @classmethod
    def of(cls, source: Source, column: Any, replace: bool) -> FromDataset:
        if column is not None and not isinstance(column, str):
            raise InputError(f"column={column!r} must be the name of a column")
        source.check(column)
        return cls(source, column, replace)

    @property
    def group(self) -> str:
        return self.source.group if self.replace else f"{self.source.group}, each once"

    @property
    def origin(self) -> object:
        given = self.source.given
        return str(Path(given).resolve()) if isinstance(given, (str, Path)) else given

    def needs(self, n: int) -> None:
        length = len(self.source)
        if n and not length:
            raise InputError("the data to draw from has no rows")
        self.source.check(self.column)
        if n > length and not self.replace:
            raise InputError(
                f"{n:,} rows were asked for, but the data has {length:,} and replace=False "
                "takes each at most once",
                remedy="Ask for fewer rows, or leave out replace=False.",
            )

    @property
    def end(self) -> int | None:
        return None if self.replace else len(self.source)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        length = len(self.source)
        if not length or (row_number >= length and not self.replace):
            self.needs(row_number + 1)
        place = draw.below(length) if self.replace else permuted(draw.key, length, row_number)
        return self.source.at(place, self.column)

    def __getitem__(self, column: str) -> FromDataset:
        if self.column is not None:
            raise InputError(
                f"this is the column {self.column!r} already; {column!r} is of the row"
            )
        return FromDataset.of(self.source, column, self.replace)

    __iter__ = None  # or Python would look for rows 0, 1, 2, ...

    def said(self) -> str:
        replace = None if self.replace else False
        kind = _Named(type(self.source.given).__name__)
        given = self.source.given if isinstance(self.source.given, (str, Path)) else kind
        options = {"column": self.column, "replace": replace, "split": self.source.split}
        return said("from_dataset", given, **options, name=self.source.name or None)


class _Named(str):
    """Shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self}>"


def _one_split(data: Any, split: str | None) -> Any:
    """The split that is asked for, where the data has several."""
    kinds = {(of.__module__.split(".")[0], of.__name__) for of in type(data).__mro__}
    if not kinds & {("datasets", "DatasetDict"), ("datasets", "IterableDatasetDict")}:
        if split is not None:
            raise InputError(f"split={split!r}: a {type(data).__name__} has no splits")
        return data
    if split is None:
        names = ", ".join(map(str, data))
        raise InputError(
            f"the data has several splits: {names}",
            remedy=f"Say which: from_dataset(data, split={next(iter(data), 'train')!r}).",
        )
    if split not in data:
        raise InputError(f"the data has no split {split!r}", remedy=suggestion(split, list(data)))
    return data[split]


def _first_columns(data: Any) -> list[str]:
    """The names in the first row of a list: enough to tell two lists apart."""
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return [str(name) for name in data[0]]
    return []


def _reader(data: Any, found: RowSource) -> Callable[[], Table]:
    """How the rows come into Arrow: as they are where they are in it already."""
    from penstock.tables import Table

    if isinstance(data, Table):
        return lambda: data
    if isinstance(data, (str, Path)):
        return lambda: Table.open(data)
    kinds = {(of.__module__.split(".")[0], of.__name__) for of in type(data).__mro__}
    if ("pyarrow", "Table") in kinds:
        return lambda: Table(data)
    if ("datasets", "Dataset") in kinds:
        return lambda: Table(data.with_format("arrow")[:])
    return lambda: Table.from_rows(found)
