"""Any Python value as a plain one, and any plain one as text.

Plain are str, int, float, bool, None, bytes, Decimal, date, datetime, time, timedelta, and lists
and dicts of them: what every table, file and library here can hold. What is not plain becomes
the nearest that is: a tuple or set a list, an enum its value, a model or dataclass a dict, a
numpy or pandas scalar its Python twin, everything else its `str`.

Traded away: half a character (a lone surrogate) becomes U+FFFD, because no file can hold it; what
lies deeper than 200 levels, or contains itself, becomes `…`.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

__all__ = ["ATOMS", "DEEPEST", "clean", "json_text", "plain", "seconds", "text_of"]

DEEPEST = 200
ATOMS = frozenset(
    {type(None), bool, int, float, bytes, Decimal, date, datetime, time, timedelta},
)
_MOST_BITS = 14_000  # Python refuses to spell out integers of more than 4,300 digits
_LARGEST_WHOLE = 2**53
_HALVES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with half characters replaced, so that UTF-8 can hold it."""
    return text if text.isascii() else _HALVES.sub("�", text)


def plain(value: Any, _path: tuple[int, ...] = ()) -> Any:
    """The nearest plain value; never raises."""
    kind = type(value)
    if kind is int:
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    if kind in ATOMS:
        return value
    if kind is str:
        return clean(value)
    if kind is dict or kind is list:
        return _inside(value, _path)
    try:
        return _converted(value, _path)
    except Exception:
        # A foreign object may do anything when it is looked at; a row is not lost for it.
        return f"<{kind.__name__}>"


def _inside(value: Any, path: tuple[int, ...]) -> Any:
    if len(path) == DEEPEST or id(value) in path:
        return "…"
    path = (*path, id(value))
    if isinstance(value, dict):
        return {_key(key): plain(item, path) for key, item in value.items()}
    return [plain(item, path) for item in value]


def _key(key: Any) -> str:
    return clean(key) if type(key) is str else str(text_of(plain(key)))


def _converted(value: Any, path: tuple[int, ...]) -> Any:
    for base, convert in _BASES:
        if isinstance(value, base):
            return plain(convert(value), path)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(), path)
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return plain({field.name: getattr(value, field.name) for field in fields}, path)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    if type(value).__name__ == "NAType":
        return None
    return clean(str(value))


def _moment(value: datetime) -> datetime | None:
    if value != value:  # pandas' NaT
        return None
    day = (value.year, value.month, value.day)
    clock = (value.hour, value.minute, value.second, value.microsecond)
    return datetime(*day, *clock, value.tzinfo, fold=value.fold)


_BASES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.value),
    (str, str.__str__),
    (int, int),
    (float, float),
    (datetime, _moment),
    (date, lambda value: date(value.year, value.month, value.day)),
    (timedelta, lambda value: timedelta(value.days, value.seconds, value.microseconds)),
    (Decimal, Decimal),
    ((bytearray, memoryview), bytes),
    (Mapping, dict),
    ((list, tuple, deque), list),
    ((set, frozenset), lambda value: sorted(map(plain, value), key=lambda one: str(text_of(one)))),
)


def json_text(value: Any) -> str:
    """The value as JSON. NaN and infinities are spelled as Python's json reads them."""
    return json.dumps(plain(value), ensure_ascii=False, default=text_of)


def seconds(span: timedelta) -> str:
    """A time span as ISO 8601 writes it, in seconds and exact: PT90.5S."""
    micros = (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
    whole, rest = divmod(abs(micros), 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}PT{whole}{fraction}S"


def text_of(value: Any) -> str | None:
    """A plain value as text that says the same: what a column of mixed types holds.

    A whole number is written without decimals, so that 1 and 1.0 give one text whichever way
    they came into the column.
    """
    if value is None or type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        whole = abs(value) <= _LARGEST_WHOLE and value == int(value) and not _minus_zero(value)
        return str(int(value)) if whole else repr(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MOST_BITS else hex(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return _in_utc(value).isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return seconds(value)
    if isinstance(value, (dict, list)):
        return json_text(value)
    return clean(str(value))


def _in_utc(moment: datetime) -> datetime:
    # As Arrow keeps it: one text whichever way it came into the column.
    try:
        return moment if moment.utcoffset() is None else moment.astimezone(UTC)
    except OverflowError:
        return moment


def _minus_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) < 0
