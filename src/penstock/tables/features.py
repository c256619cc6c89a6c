"""Columns as the cards of the Hugging Face hub describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["features"]

# Where Arrow's own name of a type is not theirs.
_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}
_NAMES |= {"date32[day]": "date32", "date64[ms]": "date64"}


class _UnknownError(Exception):
    """A type that a card has no word for."""


def features(schema: pa.Schema) -> list[dict[str, Any]] | None:
    """The columns; None where one is of a type that a card has no word for."""
    try:
        return _fields(schema)
    except _UnknownError:
        return None


def _fields(fields: Any) -> list[dict[str, Any]]:
    return [{"name": field.name, **_feature(field.type)} for field in fields]


def _feature(of: pa.DataType) -> dict[str, Any]:
    from pyarrow import types

    if types.is_struct(of):
        return {"struct": _fields(of.fields)}
    if types.is_list(of):
        return {"list": _inside(of.value_type)}
    if types.is_large_list(of):
        return {"large_list": _inside(of.value_type)}
    return {"dtype": _dtype(of)}


def _inside(of: pa.DataType) -> Any:
    """What a list holds: a bare word, or the fields of a struct, or another list."""
    feature = _feature(of)
    return feature.get("dtype") or feature.get("struct") or feature


def _dtype(of: pa.DataType) -> str:
    from pyarrow import types

    if types.is_dictionary(of):
        return _dtype(of.value_type)
    if types.is_nested(of) or hasattr(of, "storage_type"):
        raise _UnknownError
    name = str(of)
    return _NAMES.get(name, name)
