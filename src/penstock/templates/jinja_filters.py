"""The filters and tests of Jinja templates: ours, in the place of Jinja's own.

They have the names and arguments of Jinja's, take plain values and give plain values, and pay for
what they do. Left out is what draws by chance, formats by `%`, or makes HTML.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.templates.jinja_values import (
    MISSING,
    FillError,
    Frame,
    absent,
    compare,
    field,
    items_of,
    json_of,
    said,
    scalar,
    text_of,
    weigh,
)

__all__ = ["FILTERS", "TESTS"]

Filter = Callable[..., Any]

_WIDEST = 200


def _whole(value: Any, what: str, most: int = 1_000_000) -> int:
    if not isinstance(value, int) or abs(value) > most:
        raise FillError(f"{what} must be a whole number of at most {most:,}")
    return value


def _number(value: Any) -> int | float:
    if not isinstance(value, (int, float)):
        raise FillError(f"{said(value)} is no number")
    return value


def _made(frame: Frame, text: str) -> str:
    frame.made(len(text))
    return text


def _on_text(work: Callable[[str], str]) -> Filter:
    def apply(frame: Frame, value: Any) -> str:
        return _made(frame, work(text_of(frame, value)))

    return apply


def _trim(frame: Frame, value: Any, chars: str | None = None) -> str:
    return text_of(frame, value).strip(chars)


def _replace(frame: Frame, value: Any, old: str, new: str, count: int | None = None) -> str:
    text, old, new = text_of(frame, value), text_of(frame, old), text_of(frame, new)
    most = -1 if count is None else _whole(count, "count")
    found = text.count(old)
    times = found if most < 0 else min(most, found)
    frame.made(len(text) + times * max(0, len(new) - len(old)))
    return text.replace(old, new, most)


def _truncate(
    frame: Frame, value: Any, length: int = 255, killwords: bool = False, end: str = "...",
    leeway: int = 5,
) -> str:  # fmt: skip
    text, end = text_of(frame, value), text_of(frame, end)
    _whole(length, "length", 10_000_000)
    if len(text) <= length + _whole(leeway, "leeway"):
        return text
    cut = text[: max(0, length - len(end))]
    return (cut if killwords else cut.rsplit(" ", 1)[0]) + end


def _indent(
    frame: Frame, value: Any, width: Any = 4, first: bool = False, blank: bool = False
) -> str:
    text = text_of(frame, value)
    lead = width if isinstance(width, str) else " " * _whole(width, "width", _WIDEST)
    frame.made(len(text) + (text.count("\n") + 1) * len(lead))
    lines = text.split("\n")
    return "\n".join(
        lead + line if (number or first) and (line or blank) else line
        for number, line in enumerate(lines)
    )


def _split(frame: Frame, value: Any, sep: str | None = None, maxsplit: int = -1) -> list[str]:
    text = text_of(frame, value)
    if sep is not None and (not isinstance(sep, str) or not sep):
        raise FillError("a text is split at a text that is not empty")
    frame.spend(1 + (len(text) if sep is None else text.count(sep)))
    return text.split(sep, _whole(maxsplit, "maxsplit"))


def _length(frame: Frame, value: Any) -> int:
    if not isinstance(value, (str, list, tuple, dict)):
        raise FillError(f"{said(value)} has no length")
    return len(value)


def _end(place: int) -> Filter:
    def take(frame: Frame, value: Any) -> Any:
        items = items_of(frame, value)
        if not items:
            raise FillError("it is empty: there is no first or last")
        return items[place]

    return take


def _reverse(frame: Frame, value: Any) -> Any:
    items = items_of(frame, value)
    return "".join(reversed(items)) if isinstance(value, str) else items[::-1]


def _path(frame: Frame, value: Any, attribute: Any) -> Any:
    if attribute is None:
        return value
    for name in str(scalar(attribute)).split("."):
        frame.spend(1)
        if (found := field(value, name)) is MISSING:
            raise absent(value, name)
        value = found
    return value


def _join(frame: Frame, value: Any, d: Any = "", attribute: Any = None) -> str:
    between = text_of(frame, d)
    parts = [text_of(frame, _path(frame, each, attribute)) for each in items_of(frame, value)]
    frame.made(sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


def _folded(value: Any, case_sensitive: bool) -> Any:
    return value.lower() if isinstance(value, str) and not case_sensitive else value


def _sort(
    frame: Frame, value: Any, reverse: bool = False, case_sensitive: bool = False,
    attribute: Any = None,
) -> list[Any]:  # fmt: skip
    items = items_of(frame, value)
    keys = [_folded(_path(frame, each, attribute), case_sensitive) for each in items]
    before = frame.left
    weigh(frame, keys)
    frame.spend((before - frame.left) * len(items).bit_length())
    try:
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    except TypeError:
        raise FillError("these values have no order among each other") from None
    return [items[place] for place in order]


def _dictsort(
    frame: Frame, value: Any, case_sensitive: bool = False, by: str = "key", reverse: bool = False
) -> list[Any]:
    if by not in ("key", "value"):
        raise FillError("a dict is sorted by 'key' or by 'value'")
    pairs = _items(frame, value)
    return _sort(frame, pairs, reverse, case_sensitive, 0 if by == "key" else 1)


def _items(frame: Frame, value: Any) -> list[list[Any]]:
    if not isinstance(value, dict):
        raise FillError(f"{said(value)} has no items; a dict has")
    frame.spend(1 + len(value))
    return [[key, each] for key, each in value.items()]


def _values(frame: Frame, value: Any) -> list[Any]:
    return [each for _, each in _items(frame, value)]


def _unique(
    frame: Frame, value: Any, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    seen: set[Any] = set()
    kept = []
    for each in items_of(frame, value):
        key = _folded(_path(frame, each, attribute), case_sensitive)
        if isinstance(key, (dict, list, tuple)):
            key = ("", text_of(frame, key))
        frame.spend(1 + (len(key) // 32 if isinstance(key, str) else 0))
        if key not in seen:
            seen.add(key)
            kept.append(each)
    return kept


def _extreme(name: str, reverse: bool) -> Filter:
    def take(frame: Frame, value: Any, case_sensitive: bool = False, attribute: Any = None) -> Any:
        found = _sort(frame, value, reverse, case_sensitive, attribute)
        if not found:
            raise FillError(f"it is empty: there is no {name}")
        return found[0]

    return take


def _sum(frame: Frame, value: Any, attribute: Any = None, start: Any = 0) -> int | float:
    total = _number(start)
    for each in items_of(frame, value):
        total += _number(_path(frame, each, attribute))
    return total


def _round(frame: Frame, value: Any, precision: int = 0, method: str = "common") -> int | float:
    number, places = _number(value), _whole(precision, "precision", 20)
    if method == "common":
        return round(float(number), places)
    work = {"ceil": math.ceil, "floor": math.floor}.get(method)
    if work is None:
        raise FillError("the method is 'common', 'ceil' or 'floor'")
    return float(work(float(number) * 10**places) / 10**places)


def _int(frame: Frame, value: Any, default: Any = 0) -> Any:
    try:
        return int(value if isinstance(value, (int, float)) else text_of(frame, value))
    except (ValueError, OverflowError):
        return default


def _float(frame: Frame, value: Any, default: Any = 0.0) -> Any:
    try:
        return float(value if isinstance(value, (int, float)) else text_of(frame, value))
    except (ValueError, OverflowError):
        return default


def _tojson(frame: Frame, value: Any, indent: int | None = None) -> str:
    weigh(frame, value)
    if indent is not None and not 0 <= _whole(indent, "indent") <= 8:
        raise FillError("indent must be from 0 to 8")
    return _made(frame, json_of(value, indent))


def _default(frame: Frame, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    return default_value if value is MISSING or (boolean and not value) else value


def _batch(frame: Frame, value: Any, linecount: int, fill_with: Any = None) -> list[list[Any]]:
    size = _whole(linecount, "the size of a batch")
    if size < 1:
        raise FillError("a batch has 1 item or more")
    items = items_of(frame, value)
    parts = [items[at : at + size] for at in range(0, len(items), size)]
    if parts and fill_with is not None:
        frame.spend(size)
        parts[-1] += [fill_with] * (size - len(parts[-1]))
    return parts


def _map(
    frame: Frame, value: Any, name: str | None = None, *given: Any, attribute: Any = None
) -> list[Any]:
    items = items_of(frame, value)
    if attribute is not None:
        return [_path(frame, each, attribute) for each in items]
    work = _named(FILTERS, name, "filter")
    return [work(frame, each, *given) for each in items]


def _kept(wanted: bool, by_attribute: bool) -> Filter:
    def select(frame: Frame, value: Any, *given: Any) -> list[Any]:
        attribute, rest = (given[0], given[1:]) if by_attribute and given else (None, given)
        if by_attribute and attribute is None:
            raise FillError("name the field to look at")
        test = _named(TESTS, rest[0], "test") if rest else None
        kept = []
        for each in items_of(frame, value):
            found = _path(frame, each, attribute)
            holds = bool(found) if test is None else test(frame, found, *rest[1:])
            if holds == wanted:
                kept.append(each)
        return kept

    return select


def _named(table: dict[str, Filter], name: Any, kind: str) -> Filter:
    if not isinstance(name, str) or name not in table:
        raise FillError(f"there is no {kind} {name!r}", f"There are: {', '.join(table)}.")
    return table[name]


FILTERS: dict[str, Filter] = {
    "abs": lambda frame, value: abs(_number(value)),
    "batch": _batch,
    "capitalize": _on_text(str.capitalize),
    "count": _length,
    "d": _default,
    "default": _default,
    "dictsort": _dictsort,
    "first": _end(0),
    "float": _float,
    "indent": _indent,
    "int": _int,
    "items": _items,
    "join": _join,
    "keys": lambda frame, value: [key for key, _ in _items(frame, value)],
    "last": _end(-1),
    "length": _length,
    "list": items_of,
    "lower": _on_text(str.lower),
    "map": _map,
    "max": _extreme("max", True),
    "min": _extreme("min", False),
    "reject": _kept(False, False),
    "rejectattr": _kept(False, True),
    "replace": _replace,
    "reverse": _reverse,
    "round": _round,
    "select": _kept(True, False),
    "selectattr": _kept(True, True),
    "sort": _sort,
    "split": _split,
    "string": text_of,
    "sum": _sum,
    "title": _on_text(str.title),
    "tojson": _tojson,
    "trim": _trim,
    "truncate": _truncate,
    "unique": _unique,
    "upper": _on_text(str.upper),
    "values": _values,
    "wordcount": lambda frame, value: len(_split(frame, value)),
}


def _is(*types: type) -> Filter:
    return lambda frame, value: isinstance(value, types)


def _by(sign: str) -> Filter:
    return lambda frame, value, other: compare(frame, sign, value, other)


def _divides(frame: Frame, value: Any, num: Any) -> bool:
    if not _number(num):
        raise FillError("nothing is divisible by zero")
    return _number(value) % _number(num) == 0


TESTS: dict[str, Filter] = {
    "boolean": _is(bool),
    "defined": lambda frame, value: value is not MISSING,
    "divisibleby": _divides,
    "eq": _by("eq"),
    "equalto": _by("eq"),
    "even": lambda frame, value: _number(value) % 2 == 0,
    "false": lambda frame, value: value is False,
    "float": _is(float),
    "ge": _by("gteq"),
    "greaterthan": _by("gt"),
    "gt": _by("gt"),
    "in": _by("in"),
    "integer": lambda frame, value: isinstance(value, int) and not isinstance(value, bool),
    "iterable": _is(str, list, tuple, dict),
    "le": _by("lteq"),
    "lessthan": _by("lt"),
    "lower": lambda frame, value: text_of(frame, value).islower(),
    "lt": _by("lt"),
    "mapping": _is(dict),
    "ne": _by("ne"),
    "none": _is(type(None)),
    "number": lambda frame, value: isinstance(value, (int, float)),
    "odd": lambda frame, value: _number(value) % 2 == 1,
    "sequence": _is(str, list, tuple),
    "string": _is(str),
    "true": lambda frame, value: value is True,
    "undefined": lambda frame, value: value is MISSING,
    "upper": lambda frame, value: text_of(frame, value).isupper(),
}
