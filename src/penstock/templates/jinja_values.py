"""What values may do in a Jinja template, and how much of it.

Every operation names the types it works on; nothing is ever asked of an object but to be text.
Work is metered: what costs time or memory in proportion to something spends as much before it is
done, so a template ends soon whatever it says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import orjson

from penstock.templates.bare import LARGEST

__all__ = ["BINARY", "MISSING", "FillError", "Frame", "compare", "field", "item", "items_of"]
__all__ += ["plain", "scalar", "text_of", "weigh"]

STEPS = 1_000_000
_A_STEP = 32  # characters
_MOST_BITS = 4096
_MOST_POWER = 64
_SCALARS = (str, int, float, type(None))
_ORDERED = (date, time, timedelta, Decimal)
_COMPARED = (*_SCALARS, *_ORDERED, bytes, list, tuple, dict)


class _Missing:
    __slots__ = ()


MISSING = _Missing()


class FillError(Exception):
    """What is wrong, before the line is known."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class Frame:
    """One filling: the row, the variables, what is written so far, what may still be spent."""

    __slots__ = ("left", "line", "out", "row", "size", "variables")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.variables: dict[str, Any] = {}
        self.out: list[str] = []
        self.size = 0
        self.left = STEPS
        self.line = 1

    def spend(self, steps: int) -> None:
        """Pay before the work is done."""
        self.left -= steps
        if self.left < 0:
            raise FillError(
                "it does more work than a template may", "Shorten its loops or the values."
            )

    def made(self, length: int) -> None:
        """Pay for a text of this length."""
        if length > LARGEST:
            raise FillError(f"a text is larger than {LARGEST:,} characters")
        self.spend(1 + length // _A_STEP)

    def write(self, text: str) -> None:
        self.size += len(text)
        if self.size > LARGEST:
            raise FillError(f"a filled template is larger than {LARGEST:,} characters")
        self.out.append(text)


def plain(value: Any) -> Any:
    """A row's value as the template sees it: a model or dataclass is a dict."""
    if isinstance(value, _COMPARED):
        return value
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value


def said(value: Any) -> str:
    """What a value is, in words."""
    names = {str: "text", dict: "a dict", list: "a list", tuple: "a list", type(None): "nothing"}
    return names.get(type(value), f"a {type(value).__name__}")


def weigh(frame: Frame, value: Any) -> None:
    """Pay for looking at all of a value: what contains itself twice counts twice."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            frame.spend(1 + len(found) // _A_STEP)
        elif isinstance(found, dict):
            frame.spend(1 + len(found))
            waiting += found
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            frame.spend(1 + len(found))
            waiting += found
        else:
            frame.spend(1)


def text_of(frame: Frame, value: Any) -> str:
    """A value as text: the same as in a bare template."""
    if isinstance(value, str):
        frame.made(len(value))
        return value
    if value is None:
        return ""
    if isinstance(value, (dict, list, tuple)):
        weigh(frame, value)
        text = json_of(value)
    else:
        text = str(value)
    frame.made(len(text))
    return text


def json_of(value: Any, indent: int | None = None) -> str:
    """JSON; of what orjson refuses (large numbers, half characters) by the slower way."""
    try:
        if indent is None:
            return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        pass
    separators = (",", ":") if indent is None else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, default=str)


def scalar(value: Any) -> Any:
    """The value, which must be fit to be a key: text, a number, true, false or none."""
    if not isinstance(value, _SCALARS):
        raise FillError(f"{said(value)} cannot be a key")
    return value


def field(value: Any, name: str) -> Any:
    """`value.name`: an item of a dict, never an attribute."""
    return item(value, int(name) if name.isdecimal() and isinstance(value, (list, tuple)) else name)


def item(value: Any, key: Any) -> Any:
    """`value[key]`: an item of a dict or list, a character of a text, or MISSING."""
    if isinstance(value, dict):
        return value[key] if scalar(key) in value else MISSING
    if isinstance(value, (list, tuple, str)) and type(key) is int:
        return value[key] if -len(value) <= key < len(value) else MISSING
    return MISSING


def absent(value: Any, key: Any) -> FillError:
    """Why `item` found nothing."""
    if isinstance(value, dict):
        names = [str(name) for name in value]
        close = get_close_matches(str(key), names, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        return FillError(f"there is no {key!r}", f"{hint}There are: {', '.join(names[:20])}.")
    if isinstance(value, (list, tuple, str)) and type(key) is int:
        return FillError(f"there is no item {key} in {said(value)} of {len(value)}")
    return FillError(f"{said(value)} has no {key!r}", "Only dicts have fields, only lists numbers.")


def items_of(frame: Frame, value: Any) -> list[Any]:
    """What a loop goes through."""
    if isinstance(value, (list, tuple, dict, str)):
        frame.spend(1 + len(value))
        return list(value)
    raise FillError(f"{said(value)} cannot be looped over")


def _numbers(left: Any, right: Any, sign: str) -> None:
    for each in (left, right):
        if not isinstance(each, (int, float)):
            raise FillError(f"{sign} is for numbers, not for {said(each)}")


def _bounded(number: Any) -> Any:
    if isinstance(number, int) and number.bit_length() > _MOST_BITS:
        raise FillError("a number is too large")
    return number


def _add(frame: Frame, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        frame.made(len(left) + len(right))
        return left + right
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        frame.spend(1 + len(left) + len(right))
        return [*left, *right]
    if isinstance(left, str) or isinstance(right, str):
        raise FillError(f"+ cannot add {said(left)} and {said(right)}", "Join texts with ~.")
    _numbers(left, right, "+")
    return _bounded(left + right)


def _subtract(frame: Frame, left: Any, right: Any) -> Any:
    _numbers(left, right, "-")
    return _bounded(left - right)


def _multiply(frame: Frame, left: Any, right: Any) -> Any:
    if isinstance(right, (str, list, tuple)):
        left, right = right, left
    if isinstance(left, (str, list, tuple)) and isinstance(right, int):
        length = len(left) * max(0, right)
        if isinstance(left, str):
            frame.made(length)
            return left * right
        frame.spend(1 + length)
        return list(left) * right
    _numbers(left, right, "*")
    whole = isinstance(left, int) and isinstance(right, int)
    if whole and left.bit_length() + right.bit_length() > _MOST_BITS:
        raise FillError("a number is too large")
    return left * right


def _power(frame: Frame, left: Any, right: Any) -> Any:
    _numbers(left, right, "**")
    large = isinstance(left, int) and left.bit_length() * abs(right) > _MOST_BITS
    if large or abs(right) > _MOST_POWER:
        raise FillError("a power is too large")
    made = left**right
    if isinstance(made, complex):
        raise FillError("a root of a negative number")
    return made


def _of_numbers(sign: str, work: Callable[[Any, Any], Any]) -> Callable[[Frame, Any, Any], Any]:
    def calculate(frame: Frame, left: Any, right: Any) -> Any:
        _numbers(left, right, sign)
        if not right:
            raise FillError(f"{sign} by zero")
        return _bounded(work(left, right))

    return calculate


BINARY: dict[str, Callable[[Frame, Any, Any], Any]] = {
    "Add": _add,
    "Sub": _subtract,
    "Mul": _multiply,
    "Pow": _power,
    "Div": _of_numbers("/", lambda left, right: left / right),
    "FloorDiv": _of_numbers("//", lambda left, right: left // right),
    "Mod": _of_numbers("%", lambda left, right: left % right),
}


def compare(frame: Frame, sign: str, left: Any, right: Any) -> bool:
    """`left sign right`, where sign is eq, ne, lt, lteq, gt, gteq, in or notin."""
    if sign in ("in", "notin"):
        return _contains(frame, right, left) == (sign == "in")
    if sign in ("eq", "ne"):
        for each in (left, right):
            if not isinstance(each, _COMPARED):
                raise FillError(f"{said(each)} cannot be compared")
            weigh(frame, each)
        return bool(left == right) == (sign == "eq")
    both_text = isinstance(left, str) and isinstance(right, str)
    numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
    if not (both_text or numbers or (type(left) is type(right) and isinstance(left, _ORDERED))):
        raise FillError(f"{said(left)} is neither more nor less than {said(right)}")
    frame.spend(1 + (min(len(left), len(right)) // _A_STEP if both_text else 0))
    if sign in ("gt", "gteq"):
        left, right = right, left
    return bool(left <= right if sign in ("gteq", "lteq") else left < right)


def _contains(frame: Frame, whole: Any, part: Any) -> bool:
    if isinstance(whole, str) and isinstance(part, str):
        frame.spend(1 + (len(whole) + len(part)) // _A_STEP)
        return part in whole
    if isinstance(whole, dict):
        return scalar(part) in whole
    if isinstance(whole, (list, tuple)):
        weigh(frame, whole)
        weigh(frame, part)
        return part in whole
    raise FillError(f"{said(part)} cannot be in {said(whole)}")
