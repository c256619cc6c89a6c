"""A grading scale: grades, best first, each with its band of per cent.

Bands are written in whole numbers that tile 0 to 100, as Moonshot does: `{A: [80, 100], B: [60,
79], ...}`. A value between two bands, such as 79.5, belongs to the one whose lower bound it
reaches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from penstock.errors import InputError
from penstock.metrics.metric import Metric

__all__ = ["Band", "Scale", "percent"]

Direction = Literal["higher", "lower"]


@dataclass(frozen=True)
class Band:
    """One grade."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Scale:
    """Bands in the order in which they were written: the best first."""

    bands: tuple[Band, ...]

    @classmethod
    def of(cls, bands: Mapping[str, Sequence[float]]) -> Scale:
        """From what a recipe says; bands that overlap or leave a gap are an error."""
        made = []
        for label, band in bands.items():
            if len(band) != 2 or not all(map(math.isfinite, band)) or band[0] > band[1]:
                raise InputError(f"the band of {label} is {list(band)}; [low, high] is wanted")
            made.append(Band(label, float(band[0]), float(band[1])))
        if len(made) < 2:
            raise InputError("a grading has two grades or more")
        _check_tiles(made)
        return cls(tuple(made))

    @property
    def direction(self) -> Direction:
        """Which values its best grade stands for."""
        return "higher" if self.bands[0].low > self.bands[-1].low else "lower"

    def contradicts(self, direction: Direction) -> bool:
        """Whether it would call the worst the best."""
        return self.direction != direction

    def grade(self, value: float) -> str:
        """The grade of a value in per cent."""
        if not 0 <= value <= 100:
            raise InputError(f"{value:g} is no value from 0 to 100 per cent")
        reached = [band for band in self.bands if band.low <= value]
        return max(reached, key=lambda band: band.low).label

    def rank(self, label: str) -> int:
        """How far a grade is from the best, which is 0."""
        return [band.label for band in self.bands].index(label)

    def turned(self) -> Scale:
        """The same bands with their grades the other way round."""
        labels = [band.label for band in reversed(self.bands)]
        bands = zip(labels, self.bands, strict=True)
        turned = [Band(label, band.low, band.high) for label, band in bands]
        return Scale(tuple(reversed(turned)))

    def to_dict(self) -> dict[str, list[float]]:
        return {band.label: [_plain(band.low), _plain(band.high)] for band in self.bands}


def percent(metric: Metric, value: float) -> float:
    """A value of a metric as the part of its range that it has reached, in per cent."""
    if not (math.isfinite(metric.low) and math.isfinite(metric.high)):
        raise InputError(
            f"{metric.name} has no bounds, so its values cannot be graded",
            remedy="Put a metric with a range first, or leave the grading out.",
        )
    return 100 * (value - metric.low) / (metric.high - metric.low)


def _check_tiles(bands: Sequence[Band]) -> None:
    """Whole numbers: each band begins one after the last ends; or at its very end."""
    ordered = sorted(bands, key=lambda band: band.low)
    if ordered[0].low != 0 or ordered[-1].high != 100:
        raise InputError(
            f"the bands go from {ordered[0].low:g} to {ordered[-1].high:g}",
            remedy="Let them cover 0 to 100.",
        )
    for lower, upper in pairwise(ordered):
        if not 0 <= upper.low - lower.high <= 1 or upper.low <= lower.low:
            raise InputError(
                f"the bands of {lower.label} (to {lower.high:g}) and {upper.label} "
                f"(from {upper.low:g}) overlap or leave a gap"
            )
    positions = [band.low for band in bands]
    if positions not in (sorted(positions), sorted(positions, reverse=True)):
        raise InputError(
            "the grades stand in no order", remedy="Write them from the best to the worst."
        )


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number
