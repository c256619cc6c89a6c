"""Rows in, record batches out, in a schema that grows as the rows demand.

A batch is in the schema known so far; what came earlier in a narrower one is brought to the last
by `fit`, column by column, unchanged columns without copying. Nothing that a row can hold is
fatal: a value that does not fit widens its column (see `kinds`).

Columns stand in the order in which the rows first name them, whichever row came in first. Where
rows name more than 1,000 columns (a model invented keys), the further ones stand together, as
JSON, in one column `more_columns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.tables.columns import (
    batch_of,
    field_of,
    from_arrow,
    kind_of_field,
    settled,
    to_arrow,
)
from penstock.tables.kinds import JSON, NULL, TEXT, Kind, merged
from penstock.tables.plain import clean

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MORE", "MOST_COLUMNS", "TooMuchText", "Widening"]

MORE = "more_columns"
MOST_COLUMNS = 1000
Row = dict[str, Any]
_NESTED = {"list", "dict", "json"}


class TooMuchText(Exception):  # noqa: N818
    """More than 2 GiB in one column: give fewer rows at once."""


class _Column:
    """What is known of a column: its kind, its given type, and the row that named it first."""

    __slots__ = ("field", "first", "kind", "name")

    def __init__(self, field: pa.Field, first: tuple[int, int]) -> None:
        self.name: str = field.name
        self.kind = kind_of_field(field)
        self.field = field.with_nullable(True)
        self.first = first

    def encoded(self, values: list[Any]) -> pa.Array:
        """The values as Arrow; afterwards the column is as wide as they need."""
        values, found = settled(values)
        kind = merged(self.kind, found)
        if kind != self.kind:
            self._widen(kind)
        try:
            return self._tried(values)
        except (ValueError, TypeError, ArithmeticError, NotImplementedError):
            # Arrow's own errors are ValueErrors. A given type was too narrow, or a value is one
            # that the kinds have not thought of: text and JSON hold everything.
            nested = self.kind.name in _NESTED or found.name in _NESTED
            self._widen(JSON if nested else TEXT)
            return self._tried(values)

    def _tried(self, values: list[Any]) -> pa.Array:
        import pyarrow as pa

        if self.field == field_of(self.name, self.kind):
            return to_arrow(values, self.kind)
        return pa.array(values, self.field.type)

    def _widen(self, kind: Kind) -> None:
        self.kind = kind
        self.field = field_of(self.name, kind)


class Widening:
    """The columns seen so far."""

    def __init__(self, schema: pa.Schema | None = None) -> None:
        self._columns: dict[str, _Column] = {}
        for place, field in enumerate(schema or ()):
            self._columns[field.name] = _Column(field, (-1, place))

    @property
    def schema(self) -> pa.Schema:
        """The schema so far, in the order of the rows that named its columns."""
        import pyarrow as pa

        return pa.schema([c.field for c in sorted(self._columns.values(), key=lambda c: c.first)])

    def batch(self, rows: list[Row], numbers: Sequence[int]) -> pa.RecordBatch:
        """The rows as one batch; `numbers` are those of the rows, ascending."""
        import pyarrow as pa

        keys = self._columns.keys()
        if not all(row.keys() == keys for row in rows):
            rows = [self._admitted(row, number) for row, number in zip(rows, numbers, strict=True)]
        elif rows:
            self._note_first(rows[0], numbers[0])
        columns = list(self._columns.values())
        arrays = [column.encoded([row.get(column.name) for row in rows]) for column in columns]
        if any(isinstance(array, pa.ChunkedArray) for array in arrays):
            raise TooMuchText
        return batch_of(arrays, pa.schema([column.field for column in columns]), len(rows))

    def fit(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """A batch made earlier, in the schema known now."""
        if batch.schema.equals(schema, check_metadata=True):
            return batch
        arrays = [self._fitted(batch, field) for field in schema]
        return batch_of(arrays, schema, batch.num_rows)

    def _fitted(self, batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
        import pyarrow as pa

        place = batch.schema.get_field_index(field.name)
        if place < 0:
            return pa.nulls(batch.num_rows, field.type)
        old = batch.schema.field(place)
        if old.equals(field, check_metadata=True):
            return batch.column(place)
        return to_arrow(from_arrow(batch.column(place), old), self._columns[field.name].kind)

    def _note_first(self, row: Row, number: int) -> None:
        for place, name in enumerate(row):
            column = self._columns[name]
            if (number, place) < column.first:
                column.first = (number, place)

    def _admitted(self, row: Row, number: int) -> Row:
        """The row, its columns known; as it is, or a copy where names had to be put right."""
        if not all(type(name) is str for name in row) or any(map(_broken, row)):
            row = {clean(str(name)): value for name, value in row.items()}
        known, surplus = self._columns, []
        for place, name in enumerate(row):
            column = known.get(name)
            if column is None:
                if len(known) >= MOST_COLUMNS:
                    surplus.append(name)
                else:
                    known[name] = _Column(field_of(name, NULL), (number, place))
            elif (number, place) < column.first:
                column.first = (number, place)
        return self._gathered(row, surplus, number) if surplus else row

    def _gathered(self, row: Row, surplus: list[str], number: int) -> Row:
        """The row with what has no column of its own in one."""
        if MORE not in self._columns:
            self._columns[MORE] = _Column(field_of(MORE, JSON), (number, len(row)))
        gathered = {name: value for name, value in row.items() if name not in surplus}
        extra = {name: row[name] for name in surplus if name != MORE}
        if MORE in row:
            extra[MORE] = row[MORE]
        gathered[MORE] = extra
        return gathered


def _broken(name: str) -> bool:
    return not name.isascii() and clean(name) != name
