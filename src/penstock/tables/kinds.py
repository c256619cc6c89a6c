"""What a column holds, and how it widens when a value comes that does not fit.

    null ── bool ────────────────────────────────┐
         ├─ int ─── long ────────────────────────┤      int: a float holds it exactly (2**53)
         │       └─ float ───────────────────────┤      long: up to 64 bits
         ├─ decimal (38 digits) ─────────────────┼─ text
         ├─ date, moment, utc, time, span ───────┤      moment: without zone; utc: with one
         ├─ bytes ───────────────────────────────┘
         ├─ list of a kind ──┐
         └─ dict of kinds ───┴─ json                    json: any value, as JSON text

Two kinds meet in the lowest one above both; text and lists or dicts meet in json. The result does
not depend on the order in which values come. Inside lists and dicts there is no mixing into text:
a list of numbers and words keeps both, as JSON. So does a dict with more than 100 different keys,
or nesting beyond 16 levels: an Arrow type is no place for data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FLOAT", "JSON", "NULL", "TEXT", "Kind", "NotPlain", "arrow_type", "kind_of", "merged"]

_MOST_FIELDS = 100
_DEEPEST = 16
_MOST_DIGITS = 38
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `inside` names the fields of a dict, or has one nameless entry for a list."""

    name: str
    inside: tuple[tuple[str, Kind], ...] = ()
    digits: int = 0
    scale: int = 0


NULL, BOOL, INT, LONG, FLOAT = map(Kind, ("null", "bool", "int", "long", "float"))
TEXT, BYTES, JSON = map(Kind, ("text", "bytes", "json"))
DATE, MOMENT, UTC, TIME, SPAN = map(Kind, ("date", "moment", "utc", "time", "span"))

_NUMBERS = {
    frozenset({INT, LONG}): LONG,
    frozenset({INT, FLOAT}): FLOAT,
}
_NESTED = {"list", "dict", "json"}


class NotPlain(Exception):  # noqa: N818
    """A value is of no plain type: make it plain and look again."""


class _Mixed(Exception):  # noqa: N818
    """Inside a list or dict, kinds meet that have nothing in common but JSON."""


def merged(one: Kind, other: Kind) -> Kind:
    """The narrowest kind of column that holds both."""
    try:
        return _merged(one, other, 0)
    except _Mixed:
        return JSON


def kind_of(values: list[Any]) -> Kind:
    """The narrowest kind of column that holds all these values. Raises NotPlain."""
    try:
        return _kind_of(values, 0)
    except _Mixed:
        return JSON


def _merged(one: Kind, other: Kind, depth: int) -> Kind:
    if one == other or other is NULL:
        return one
    if one is NULL:
        return other
    if (number := _NUMBERS.get(frozenset({one, other}))) is not None:
        return number
    if one.name == other.name == "list":
        inside = _merged(one.inside[0][1], other.inside[0][1], depth + 1)
        return Kind("list", (("", inside),))
    if one.name == other.name == "dict":
        return _merged_dicts(one, other, depth)
    if one.name == other.name == "decimal":
        scale = max(one.scale, other.scale)
        whole = max(one.digits - one.scale, other.digits - other.scale)
        if whole + scale <= _MOST_DIGITS:
            return Kind("decimal", digits=whole + scale, scale=scale)
    if depth or one.name in _NESTED or other.name in _NESTED:
        raise _Mixed
    return TEXT


def _merged_dicts(one: Kind, other: Kind, depth: int) -> Kind:
    fields = dict(one.inside)
    for name, kind in other.inside:
        fields[name] = _merged(fields.get(name, NULL), kind, depth + 1)
    if len(fields) > _MOST_FIELDS:
        raise _Mixed
    return Kind("dict", tuple(fields.items()))


def _kind_of(values: list[Any], depth: int) -> Kind:
    types = set(map(type, values))
    nothing = type(None) in types
    types.discard(type(None))
    kind = NULL
    for of in types:
        if (found := _SIMPLE.get(of)) is None:
            if (look := _BY_LOOKING.get(of)) is None:
                raise NotPlain
            alone = not nothing and len(types) == 1
            found = look(values if alone else [v for v in values if type(v) is of], depth)
        kind = _merged(kind, found, depth)
    return kind


def _integers(values: list[int], depth: int) -> Kind:
    lowest, highest = min(values), max(values)
    if lowest >= -_EXACT and highest <= _EXACT:
        return INT
    if lowest >= -(2**63) and highest < 2**63:
        return LONG
    return _as_text(depth)


def _decimals(values: list[Decimal], depth: int) -> Kind:
    whole = scale = 0
    for value in values:
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):  # NaN and infinities
            return _as_text(depth)
        scale = max(scale, -exponent)
        whole = max(whole, len(digits) + exponent)
    if whole + scale > _MOST_DIGITS:
        return _as_text(depth)
    return Kind("decimal", digits=max(1, whole + scale), scale=scale)


def _moments(values: list[datetime], depth: int) -> Kind:
    zoned = {value.utcoffset() is not None for value in values}
    if len(zoned) == 2:
        return _as_text(depth)
    if zoned == {False}:
        return MOMENT
    for value in values:
        # In UTC these would leave the years that datetime knows.
        if not 1 < value.year < 9999:
            return _as_text(depth)
    return UTC


def _times(values: list[time], depth: int) -> Kind:
    return TIME if all(value.tzinfo is None for value in values) else _as_text(depth)


def _spans(values: list[timedelta], depth: int) -> Kind:
    fit = all(abs(value.days) < 100_000_000 for value in values)
    return SPAN if fit else _as_text(depth)


def _lists(values: list[list[Any]], depth: int) -> Kind:
    if depth == _DEEPEST:
        raise _Mixed
    return Kind("list", (("", _kind_of(list(chain.from_iterable(values)), depth + 1)),))


def _dicts(values: list[dict[str, Any]], depth: int) -> Kind:
    names = dict.fromkeys(chain.from_iterable(values))
    if any(type(name) is not str or not name.isprintable() for name in names):
        raise NotPlain if any(type(name) is not str for name in names) else _Mixed
    if depth == _DEEPEST or len(names) > _MOST_FIELDS:
        raise _Mixed
    fields = ((n, _kind_of([value.get(n) for value in values], depth + 1)) for n in names)
    return Kind("dict", tuple(fields))


def _as_text(depth: int) -> Kind:
    if depth:
        raise _Mixed
    return TEXT


_SIMPLE: dict[type, Kind] = {str: TEXT, bool: BOOL, float: FLOAT, bytes: BYTES, date: DATE}
_BY_LOOKING: dict[type, Callable[[list[Any], int], Kind]] = {
    int: _integers,
    Decimal: _decimals,
    datetime: _moments,
    time: _times,
    timedelta: _spans,
    list: _lists,
    dict: _dicts,
}


@lru_cache(maxsize=1024)
def arrow_type(kind: Kind) -> pa.DataType | None:
    """The Arrow type of a kind; None where it can only be kept as JSON text."""
    import pyarrow as pa

    if kind.name == "json":
        return None
    if kind.name == "decimal":
        return pa.decimal128(_MOST_DIGITS, kind.scale)
    if kind.name in ("list", "dict"):
        inside = [(name, arrow_type(of)) for name, of in kind.inside]
        # Files other than Arrow's own cannot hold a dict without keys.
        if not inside or any(of is None for _, of in inside):
            return None
        return pa.struct(inside) if kind.name == "dict" else pa.list_(inside[0][1])
    return _arrow_types()[kind.name]


@lru_cache(maxsize=1)
def _arrow_types() -> dict[str, pa.DataType]:
    import pyarrow as pa

    return {
        "null": pa.null(),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "long": pa.int64(),
        "float": pa.float64(),
        "text": pa.string(),
        "bytes": pa.binary(),
        "date": pa.date32(),
        "moment": pa.timestamp("us"),
        "utc": pa.timestamp("us", "UTC"),
        "time": pa.time64("us"),
        "span": pa.duration("us"),
    }
