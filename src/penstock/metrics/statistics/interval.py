"""A number and how far it can be trusted; what the other files of this room share.

Nothing stands in for what the data cannot tell: `value` is None where there is none, `low` and
`high` are None where nothing bounds it, as with the mean of a single value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from reprlib import repr as short
from statistics import NormalDist

from penstock.errors import InputError

__all__ = [
    "Interval",
    "Moments",
    "check_count",
    "check_level",
    "joined",
    "moments",
    "number",
    "percent",
    "present",
    "z",
]

_FARTHEST = 1e100
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """An estimate with its limits: `0.71 (95 % interval 0.643 to 0.768, Wilson, n = 200)`."""

    value: float | None
    low: float | None
    high: float | None
    level: float
    """How often limits made this way hold the truth, such as 0.95."""
    method: str
    n: int
    """How many values, pairs or clusters it stands on."""
    note: str = ""
    """What a reader must know besides: cut to a range, no spread, too few."""

    def __contains__(self, value: float) -> bool:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low <= value <= high

    @property
    def width(self) -> float | None:
        """None where a side is open."""
        return None if self.low is None or self.high is None else self.high - self.low

    def clipped(self, low: float, high: float) -> Interval:
        """The same within a range; where that changes something the note says so."""
        value, least, most = (
            None if each is None else min(max(each, low), high)
            for each in (self.value, self.low, self.high)
        )
        if (value, least, most) == (self.value, self.low, self.high):
            return self
        said = f"cut to the range from {low:g} to {high:g}"
        if value != self.value:
            said = f"{said}; the estimate was {self.value:.4g}"
        return replace(self, value=value, low=least, high=most, note=joined(self.note, said))

    def __str__(self) -> str:
        value = "no value" if self.value is None else f"{self.value:.4g}"
        if self.low is None and self.high is None:
            limits = "no interval"
        else:
            low = "anything" if self.low is None else f"{self.low:.4g}"
            high = "anything" if self.high is None else f"{self.high:.4g}"
            limits = f"{percent(self.level)} interval {low} to {high}"
        said = f"{value} ({limits}, {self.method}, n = {self.n:,})"
        return f"{said}; {self.note}" if self.note else said


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation (of the sample, n - 1), None where there are too few values."""

    n: int
    mean: float | None
    deviation: float | None

    @property
    def error(self) -> float | None:
        """The standard error of the mean."""
        return None if self.deviation is None else self.deviation / math.sqrt(self.n)


def moments(values: Sequence[float]) -> Moments:
    """The same whatever the order of the values; equal values have no spread at all."""
    count = len(values)
    if not count:
        return Moments(0, None, None)
    least, most = min(values), max(values)
    if least == most:
        return Moments(count, least, 0.0 if count > 1 else None)
    mean = min(max(math.fsum(values) / count, least), most)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Moments(count, mean, math.sqrt(squares / (count - 1)))


def present(values: Iterable[float | None]) -> list[float]:
    """The values that are there, as numbers; None is a missing one and is left out."""
    return [number(value, at) for at, value in enumerate(values) if value is not None]


def number(value: object, at: object) -> float:
    """A bool or a finite number as float; anything else is an InputError that says where."""
    try:
        if isinstance(value, int | float | Real) and abs(made := float(value)) <= _FARTHEST:
            return made
    except OverflowError:
        pass
    raise InputError(
        f"the value {short(value)} of item {at} is no finite number",
        remedy="Give numbers, or None where there is no value.",
    )


def check_level(level: float) -> float:
    """A level of confidence, between 0 and 1."""
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level is {level!r}", remedy="Give a share such as 0.95 for 95 %.")
    return float(level)


def check_count(name: str, value: int, least: int = 0) -> int:
    """A whole number, not below the least."""
    if not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}", remedy=f"Give a whole number, {least} or more.")
    return value


def z(level: float) -> float:
    """How many standard deviations hold that share of a normal distribution."""
    return _NORMAL.inv_cdf(0.5 + check_level(level) / 2)


def percent(share: float) -> str:
    """0.95 as `95 %`."""
    return f"{100 * share:.6g} %"


def joined(*notes: str) -> str:
    """Several notes as one."""
    return "; ".join(note for note in notes if note)
