"""A column of Python values as Arrow, and back.

A column that can only be kept as JSON text carries a mark in its field's metadata; read back
here, it gives the values again. Other programs see the text.

Values come back plain whatever the Arrow type: nanoseconds are cut to microseconds (Python knows
no finer), maps become dicts, dictionaries their values.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.tables.kinds import JSON, NULL, TEXT, Kind, NotPlain, arrow_type, kind_of
from penstock.tables.plain import clean, json_text, plain, text_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "batch_of",
    "field_of",
    "from_arrow",
    "kind_of_field",
    "rows_of",
    "settled",
    "to_arrow",
    "unique",
]

_MARK = {b"penstock": b"json"}


def field_of(name: str, kind: Kind) -> pa.Field:
    """The Arrow field of a column."""
    import pyarrow as pa

    of = arrow_type(kind)
    return pa.field(name, pa.string(), metadata=_MARK) if of is None else pa.field(name, of)


def to_arrow(values: list[Any], kind: Kind) -> pa.Array:
    """The values, which the kind holds, as an Arrow array."""
    import pyarrow as pa

    of = arrow_type(kind)
    if of is None:
        return pa.array([None if v is None else json_text(v) for v in values], pa.string())
    if kind == TEXT:
        try:
            # Fails at once on anything but text that UTF-8 can hold.
            return pa.array(values, of) if set(map(type, values)) <= _TEXTS else _texts(values)
        except UnicodeEncodeError:
            return _texts(values)
    try:
        return pa.array(values, of)
    except UnicodeEncodeError:
        return pa.array([plain(value) for value in values], of)


_TEXTS = {str, type(None)}


def _texts(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    texts = map(text_of, map(plain, values))
    return pa.array([text if text is None else clean(text) for text in texts], pa.string())


def from_arrow(array: pa.Array | pa.ChunkedArray, field: pa.Field) -> list[Any]:
    """The values of an Arrow array, plain."""
    of = array.type
    if (wanted := _plain_type(of)) != of:
        if hasattr(of, "storage_type"):
            array = _storage(array)
        array = array.cast(wanted, safe=False)
    values: list[Any] = array.to_pylist(maps_as_pydicts="lossy")
    if _is_json(field):
        return [None if value is None else _loaded(value) for value in values]
    return values


def _is_json(field: pa.Field) -> bool:
    return bool(field.metadata) and field.metadata.get(b"penstock") == b"json"


def _storage(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        storage = array.type.storage_type
        return pa.chunked_array([chunk.storage for chunk in array.chunks], storage)
    return array.storage


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@lru_cache(maxsize=1024)
def _plain_type(of: pa.DataType) -> pa.DataType:
    """The nearest type whose values come back as plain Python."""
    import pyarrow as pa
    from pyarrow import types

    if hasattr(of, "storage_type"):
        return _plain_type(of.storage_type)
    if types.is_dictionary(of):
        return _plain_type(of.value_type)
    if types.is_timestamp(of) and of.unit == "ns":
        return pa.timestamp("us", of.tz)
    if types.is_duration(of) and of.unit == "ns":
        return pa.duration("us")
    if types.is_time64(of) and of.unit == "ns":
        return pa.time64("us")
    if types.is_struct(of):
        return pa.struct([field.with_type(_plain_type(field.type)) for field in of.fields])
    if types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        inside = _plain_type(of.value_type)
        return of if inside == of.value_type else pa.list_(inside)
    return of


def kind_of_field(field: pa.Field) -> Kind:
    """The kind whose values an Arrow field takes; JSON for a type that no kind stands for."""
    return JSON if _is_json(field) else _kind_of_type(field.type)


def _kind_of_type(of: pa.DataType) -> Kind:
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(of):
        return Kind("dict", tuple((f.name, _kind_of_type(f.type)) for f in of.fields))
    if types.is_list(of) or types.is_large_list(of):
        return Kind("list", (("", _kind_of_type(of.value_type)),))
    if types.is_decimal(of):
        return Kind("decimal", digits=of.precision, scale=of.scale)
    if types.is_timestamp(of):
        return Kind("moment" if of.tz is None else "utc")
    if types.is_integer(of):
        return Kind("int")
    for name, tests in _FAMILIES.items():
        if any(getattr(types, f"is_{test}")(of) for test in tests):
            return Kind(name)
    return NULL if of == pa.null() else JSON


_FAMILIES = {
    "text": ("string", "large_string", "string_view"),
    "bool": ("boolean",),
    "float": ("floating",),
    "bytes": ("binary", "large_binary"),
    "date": ("date",),
    "time": ("time",),
    "span": ("duration",),
}


def batch_of(arrays: list[pa.Array], schema: pa.Schema, length: int) -> pa.RecordBatch:
    """A record batch, which has its length also where there are no columns."""
    import pyarrow as pa

    if arrays:
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
    return pa.RecordBatch.from_struct_array(pa.array([{}] * length, pa.struct([])))


def rows_of(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """The rows of a batch as dicts of plain values."""
    fields = list(batch.schema)
    if not fields:
        return [{} for _ in range(batch.num_rows)]
    names = unique([field.name for field in fields])
    columns = map(from_arrow, batch.columns, fields)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def unique(names: list[str]) -> list[str]:
    """The names, a repeated one with its count: a, a_2, a_3."""
    if len(set(names)) == len(names):
        return names
    taken, result = set(names), []
    seen: set[str] = set()
    for name in names:
        new, count = name, 1
        while new in seen or (count > 1 and new in taken):
            count += 1
            new = f"{name}_{count}"
        seen.add(new)
        result.append(new)
    return result


def settled(values: list[Any]) -> tuple[list[Any], Kind]:
    """The values made plain where they are not, and their kind."""
    try:
        return values, kind_of(values)
    except NotPlain:
        values = [plain(value) for value in values]
        return values, kind_of(values)
