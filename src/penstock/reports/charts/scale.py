"""From numbers to places: scales that bear every float, and round numbers to mark them with."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Limits", "Scale"]

Limits = tuple[float, float]
_MOST = sys.float_info.max
_ROUND = (1, 2, 2.5, 5, 10)


class Scale(NamedTuple):
    """A stretch of numbers, and where in it a number lies."""

    low: float
    high: float

    @classmethod
    def over(
        cls, values: Iterable[float], *, zero: bool = False, limits: Limits | None = None
    ) -> Scale:
        """A scale that holds all values that are numbers, and perhaps zero."""
        if limits is not None and limits[0] < limits[1] and all(map(math.isfinite, limits)):
            return cls(*limits)
        found = [float(value) for value in values if math.isfinite(value)]
        found += [0.0] if zero or not found else []
        low, high = min(found), max(found)
        if low == high:
            spread = abs(low) / 2 or 0.5
            low, high = max(-_MOST, low - spread), min(_MOST, high + spread)
            low = 0.0 if zero and found == [0.0] else low
        return cls(low, high)

    def at(self, value: float) -> float:
        """Where a number lies, from 0 to 1; what lies outside is at the nearer end."""
        span = self.high - self.low
        if math.isinf(span):
            share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        else:
            share = (value - self.low) / span if span else 0.5
        return min(1.0, max(0.0, share))

    def ticks(self, about: int = 4) -> list[float]:
        """Round numbers inside; the two ends where there are none."""
        raw = self.high / about - self.low / about
        if not (math.isfinite(raw) and raw > sys.float_info.min):
            return [self.low, self.high]
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((size * power for size in _ROUND if size * power >= raw), raw)
        first = math.ceil(self.low / step)
        marks = [_tidy((first + place) * step, step) for place in range(about * 3)]
        inside = sorted({mark for mark in marks if self.low <= mark <= self.high})
        return inside if len(inside) > 1 else [self.low, self.high]


def _tidy(value: float, step: float) -> float:
    """0.3 and not 0.30000000000000004."""
    places = 1 - math.floor(math.log10(step))
    return round(value, places) if 0 < places < 300 else value
