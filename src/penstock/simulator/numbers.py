"""Numbers within their bounds, on their steps, and of a likely size for their name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from penstock.simulator.dice import Dice
from penstock.simulator.strings import words_of

__all__ = ["NumberMaker"]

_LIKELY: dict[str, tuple[int, int]] = {
    "age": (18, 90),
    "year": (1950, 2030),
    "month": (1, 12),
    "day": (1, 28),
    "hour": (0, 23),
    "minute": (0, 59),
    "score": (1, 10),
    "rating": (1, 5),
    "stars": (1, 5),
    "grade": (1, 10),
    "rank": (1, 20),
    "percent": (0, 100),
    "percentage": (0, 100),
    "confidence": (0, 1),
    "probability": (0, 1),
    "likelihood": (0, 1),
    "latitude": (-90, 90),
    "longitude": (-180, 180),
    "price": (1, 500),
    "cost": (1, 500),
    "amount": (1, 1000),
    "salary": (20000, 150000),
    "population": (1000, 9000000),
    "quantity": (1, 20),
    "count": (1, 50),
    "weight": (1, 120),
    "height": (1, 200),
    "temperature": (-10, 35),
}
_OPEN = 100
_STEPS = 20
_FINEST = 12


class NumberMaker:
    """Whole or broken numbers between two bounds."""

    __slots__ = ("_first", "_last", "_step", "_whole", "possible")

    def __init__(self, schema: Mapping[str, Any], whole: bool, name: str = "") -> None:
        self._whole = whole
        words = reversed(words_of(name))
        likely = next((_LIKELY[word] for word in words if word in _LIKELY), None)
        first, last, step = _range(schema, whole, likely)
        if first > last and likely is not None:
            first, last, step = _range(schema, whole, None)
        self._first, self._last, self._step = first, last, step
        self.possible = first <= last

    def make(self, dice: Dice) -> int | float:
        """A number."""
        return self._at(dice.between(self._first, self._last))

    def all(self, most: int) -> list[int | float] | None:
        """Every number there is, if there are not more than `most`."""
        if self._last - self._first + 1 > most:
            return None
        return [self._at(index) for index in range(self._first, self._last + 1)]

    def _at(self, index: int) -> int | float:
        value = self._step * index
        return int(value) if self._whole else float(value)


class _Bound:
    __slots__ = ("at", "open")

    def __init__(self, at: Any, is_open: bool) -> None:
        self.at = Fraction(str(at))
        self.open = is_open


def _range(
    schema: Mapping[str, Any], whole: bool, likely: tuple[int, int] | None
) -> tuple[int, int, Fraction]:
    """The numbers as multiples of a step: the first, the last, the step."""
    low = _tightest(schema, "minimum", "exclusiveMinimum", 1)
    high = _tightest(schema, "maximum", "exclusiveMaximum", -1)
    step = _step(schema, whole)
    start, end = _window(low, high, likely, step or Fraction(1))
    if step is None:
        step = _fineness(start, end)
    first, last = math.ceil(start / step), math.floor(end / step)
    if low is not None and low.open and first * step <= low.at:
        first += 1
    if high is not None and high.open and last * step >= high.at:
        last -= 1
    return first, last, step


def _tightest(schema: Mapping[str, Any], closed: str, opened: str, sign: int) -> _Bound | None:
    found = [
        _Bound(schema[key], key == opened)
        for key in (closed, opened)
        if isinstance(schema.get(key), int | float) and not isinstance(schema[key], bool)
    ]
    return max(found, key=lambda bound: (bound.at * sign, bound.open), default=None)


def _step(schema: Mapping[str, Any], whole: bool) -> Fraction | None:
    multiple = schema.get("multipleOf")
    if not multiple:
        return Fraction(1) if whole else None
    step = abs(Fraction(str(multiple)))
    return Fraction(step.numerator) if whole else step


def _window(
    low: _Bound | None, high: _Bound | None, likely: tuple[int, int] | None, step: Fraction
) -> tuple[Fraction, Fraction]:
    """The bounds, or a likely range within them."""
    if likely is not None:
        start, end = Fraction(likely[0]), Fraction(likely[1])
        start = max(start, low.at) if low is not None else start
        end = min(end, high.at) if high is not None else end
        if start <= end:
            return start, end
    if low is not None and high is not None:
        return low.at, high.at
    room = max(Fraction(_OPEN), step * _STEPS)
    if low is not None:
        return low.at, low.at + max(room, abs(low.at))
    if high is not None:
        return min(Fraction(0), high.at - room), high.at
    return Fraction(0), room


def _fineness(start: Fraction, end: Fraction) -> Fraction:
    """Hundredths, or finer where the range is narrow."""
    for digits in range(2, _FINEST):
        step = Fraction(1, 10**digits)
        if (end - start) / step >= 20:
            return step
    if start == end and start:
        return abs(start)
    return max((end - start) / 16, Fraction(1, 10**_FINEST))
