"""How values are spread: numbers and labels as they stream by, in memory that does not grow.

Different numbers are counted exactly up to a few thousand of them; beyond that, as with the means
of several graders on a fine scale, they are counted on a grid of as many places. Means and
deviations are always those of the numbers themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.grade.scale import LISTED, LabelScale, NumberScale, Scale

__all__ = ["TOTAL", "Bin", "Labels", "Numbers", "Spread", "Tally", "spread_of"]

_MOST = 4096
_MOST_BINS = 20
_WIDTHS = [n * ten for ten in (1, 10, 100, 1_000, 10_000, 100_000) for n in (1, 2, 5)]
_ROUNDING = 1e-9

TOTAL = NumberScale(0, 100, 5)
"""Totals run from 0 to 100, and are shown five by five."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` to before `high`; equal bounds: the value itself."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Numbers:
    """Numbers, summed up."""

    count: int
    mean: float | None
    median: float | None
    std: float | None
    """Of a sample; None of fewer than two."""
    low: float | None
    high: float | None
    bins: tuple[Bin, ...]
    squares: float
    """The sum of squared differences from the mean."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "mean": _rounded(self.mean),
            "median": _rounded(self.median),
            "standard_deviation": _rounded(self.std),
            "lowest": self.low,
            "highest": self.high,
            "bins": [{"from": b.low, "to": b.high, "count": b.count} for b in self.bins],
        }


@dataclass(frozen=True)
class Labels:
    """Labels in the rubric's order, and how often each was given."""

    count: int
    labels: tuple[tuple[str, int], ...]

    @property
    def most(self) -> tuple[str, int]:
        """The label given most often."""
        return max(self.labels, key=lambda each: each[1])

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "labels": dict(self.labels)}


class Spread:
    """Numbers of a scale, fed in lists."""

    def __init__(self, scale: NumberScale, *, grouped: bool = False) -> None:
        self._scale = scale
        self._grouped = grouped or scale.size > LISTED
        self._counts: Counter[float] = Counter()
        self._on_grid = False
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0
        self._low = math.inf
        self._high = -math.inf

    def add(self, values: Iterable[Any]) -> None:
        """Take in a column; what is no number is left out."""
        found = [value for value in values if _is_number(value)]
        if not found:
            return
        mean = math.fsum(found) / len(found)
        squares = math.fsum((value - mean) ** 2 for value in found)
        self._join(len(found), mean, squares, min(found), max(found))
        self._note(Counter(found))

    def merge(self, other: Spread | Tally) -> None:
        """Take in what another one saw."""
        if isinstance(other, Spread) and other._count:
            self._join(other._count, other._mean, other._squares, other._low, other._high)
            self._note(other._counts)

    def summed(self) -> Numbers:
        count = self._count
        if not count:
            return Numbers(0, None, None, None, None, None, self._bins(), 0.0)
        std = math.sqrt(self._squares / (count - 1)) if count > 1 else None
        bins, squares = self._bins(), self._squares
        return Numbers(count, self._mean, self._median(), std, self._low, self._high, bins, squares)

    def _join(self, count: int, mean: float, squares: float, low: float, high: float) -> None:
        together = self._count + count
        apart = mean - self._mean
        self._squares += squares + apart**2 * self._count * count / together
        self._mean += apart * count / together
        self._count = together
        self._low, self._high = min(self._low, low), max(self._high, high)

    def _note(self, counts: Counter[float]) -> None:
        self._counts.update(self._gridded(counts) if self._on_grid else counts)
        if len(self._counts) > _MOST and not self._on_grid:
            self._on_grid = True
            self._counts = self._gridded(self._counts)

    def _gridded(self, counts: Counter[float]) -> Counter[float]:
        low, high = float(self._scale.low), float(self._scale.high)
        cell = (high - low) / (_MOST - 1)
        found: Counter[float] = Counter()
        for value, count in counts.items():
            found[low + round((min(high, max(low, value)) - low) / cell) * cell] += count
        return found

    def _median(self) -> float:
        middle = [(self._count - 1) // 2, self._count // 2]
        found, seen = [], 0
        for value in sorted(self._counts):
            seen += self._counts[value]
            while middle and seen > middle[0]:
                found.append(value)
                del middle[0]
        return math.fsum(found) / 2

    def _bins(self) -> tuple[Bin, ...]:
        scale = self._scale
        width = _width(scale.size - 1) if self._grouped else 1
        size = math.ceil((scale.size - 1) / width) if self._grouped else scale.size
        step, counts = scale.step * width, [0] * size
        nudge = _ROUNDING if self._grouped else 0.5
        for value, count in self._counts.items():
            place = math.floor((value - scale.low) / step + nudge)
            counts[min(size - 1, max(0, place))] += count
        edges = [_tidy(scale.low + place * step) for place in range(size + 1)]
        if not self._grouped:
            return tuple(Bin(edge, edge, each) for edge, each in zip(edges, counts, strict=False))
        edges[-1] = float(scale.high)
        ends = zip(edges, edges[1:], counts, strict=False)
        return tuple(Bin(low, high, each) for low, high, each in ends)


class Tally:
    """Labels of a scale, fed in lists; what is none of them is left out."""

    def __init__(self, scale: LabelScale) -> None:
        self._counts = dict.fromkeys(scale.labels, 0)

    def add(self, values: Iterable[Any]) -> None:
        for label, count in Counter(each for each in values if isinstance(each, str)).items():
            if label in self._counts:
                self._counts[label] += count

    def merge(self, other: Spread | Tally) -> None:
        if isinstance(other, Tally):
            for label, count in other._counts.items():
                self._counts[label] += count

    def summed(self) -> Labels:
        return Labels(sum(self._counts.values()), tuple(self._counts.items()))


def spread_of(scale: Scale) -> Spread | Tally:
    """What takes in the grades of a scale."""
    return Spread(scale) if isinstance(scale, NumberScale) else Tally(scale)


def _width(steps: int) -> int:
    """Steps in a bin, so that there are not too many bins, and their bounds are round."""
    return next(width for width in _WIDTHS if steps / width <= _MOST_BINS)


def _is_number(value: Any) -> bool:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return known and math.isfinite(value)


def _tidy(value: float) -> float:
    """0.3 and not 0.30000000000000004."""
    return float(round(value, 9))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
