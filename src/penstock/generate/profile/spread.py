"""How numbers are spread: sums over all of them, quantiles and a histogram over a sample."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right

from penstock.generate.profile.results import Bin, Numbers

__all__ = ["Spread", "quantile"]

_BINS = 16
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)


class Spread:
    """Numbers as they come; memory is that of the sample."""

    def __init__(self) -> None:
        self._count = self._not_finite = 0
        self._mean = self._squares = 0.0
        self._min, self._max = math.inf, -math.inf
        self._whole = True
        self._sample = array("d")

    def add(self, value: float, picked: bool) -> None:
        """Count a number; `picked`: it belongs to the sample."""
        if not math.isfinite(value):
            self._not_finite += 1
            return
        self._count += 1
        step = value - self._mean
        self._mean += value / self._count - self._mean / self._count  # never larger than any value
        self._squares += step * (value - self._mean)
        self._min = min(self._min, value)
        self._max = max(self._max, value)
        self._whole = self._whole and value.is_integer()
        if picked:
            self._sample.append(value)

    def numbers(self, *, tidy: bool = True) -> Numbers | None:
        """What there is to say; None where there was no number. `tidy`: bins have round edges."""
        if not self._count:
            return None
        # A column may have its few values only in rows outside the sample.
        values = sorted(self._sample) or [self._mean]
        edges = _edges(values, self._min, self._max, self._whole) if tidy else []
        variance = self._squares / (self._count - 1) if self._count > 1 else None
        return Numbers(
            count=self._count,
            min=self._min,
            mean=self._mean,
            median=quantile(values, 0.5),
            p95=quantile(values, 0.95),
            max=self._max,
            std=None if variance is None or not math.isfinite(variance) else math.sqrt(variance),
            histogram=_bins(values, edges or _even(self._min, self._max), self._count),
            estimated=len(self._sample) < self._count,
            not_finite=self._not_finite,
        )


def quantile(values: list[float], share: float) -> float:
    """Of sorted values, between the two nearest ones."""
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    part = place - low
    return values[low] * (1 - part) + values[high] * part


def _bins(values: list[float], edges: list[float], count: int) -> tuple[Bin, ...]:
    """The values between edges, counted up from the sample to all."""
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(len(counts) - 1, max(0, bisect_right(edges, value) - 1))] += 1
    share = count / len(values)
    return tuple(
        Bin(low, high, round(each * share))
        for low, high, each in zip(edges, edges[1:], counts, strict=False)
    )


def _even(low: float, high: float) -> list[float]:
    if low == high:
        return [low, high]
    return [low * (1 - place / _BINS) + high * (place / _BINS) for place in range(_BINS + 1)]


def _edges(values: list[float], lowest: float, highest: float, whole: bool) -> list[float]:
    """Round edges over all values; a few far away share the first or the last bin."""
    low, high = quantile(values, 0.01), quantile(values, 0.99)
    width = high / 2 - low / 2
    low = lowest if low / 2 - lowest / 2 <= width else low
    high = highest if highest / 2 - high / 2 <= width else high
    step = _step(high / _BINS - low / _BINS, whole)
    if step is None:
        return _even(lowest, highest)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges = [round(place * step, 12) for place in range(first, last + 1)]
    if lowest < edges[0]:
        edges.insert(0, lowest)
    if highest > edges[-1]:
        edges.append(highest)
    return edges


def _step(raw: float, whole: bool) -> float | None:
    """The next round width of a bin; None where the numbers are too small or too large for it."""
    if whole and raw < 1:
        return 1.0
    if not 1e-9 < raw < 1e15:
        return None
    power = 10.0 ** math.floor(math.log10(raw))
    found = next(size * power for size in _ROUND if size * power >= raw * 0.999)
    return float(math.ceil(found)) if whole else found
