"""Samplers of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, number, said, whole
from penstock.generate.samplers.draw import Draw

__all__ = ["Bernoulli", "Normal", "Poisson", "Rounded", "Steps", "Uniform"]

_MOST_DECIMALS = 15
_HIGHEST_RATE = 1e9
_FAR = 1e100
_NEGLIGIBLE = 80.0  # beyond sqrt(a² + this) the density is e^-40 of that at a


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Steps(Sampler):
    """low, low + step, ... never above high: whole numbers, or the floats nearest to them."""

    given: tuple[int | float, ...]
    first: int
    step: int
    parts: int  # the numbers are counted in this fraction, so that 0.1 added thrice is 0.3
    count: int

    @classmethod
    def over(cls, low: Any, high: Any, step: Any) -> Steps:
        low, high, step = number(low, "low"), number(high, "high"), number(step, "step")
        _check_order(low, high)
        if step <= 0:
            raise InputError(f"step is {step}; it must be above 0")
        given = (low, high, step)
        if all(isinstance(each, int) for each in given):
            return cls(given, int(low), int(step), 0, int(high - low) // int(step) + 1)
        exact = [Fraction(repr(each)) for each in given]
        parts = math.lcm(*[each.denominator for each in exact])
        first, last, one = [int(each * parts) for each in exact]
        return cls(given, first, one, parts, (last - first) // one + 1)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> int | float:
        found = self.first + self.step * draw.below(self.count)
        return found / self.parts if self.parts else found

    def said(self) -> str:
        low, high, step = self.given
        return said("range", low, high, step=None if step == 1 and not self.parts else step)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rounded:
    """What becomes of a drawn number: its decimals, and the limits they must keep."""

    decimals: int | None
    least: int | float
    most: int | float

    @classmethod
    def to(cls, decimals: Any, low: float, high: float) -> Rounded:
        if decimals is None:
            return cls(None, low, high)
        decimals = whole(decimals, "decimals")
        if not 0 <= decimals <= _MOST_DECIMALS:
            raise InputError(f"decimals is {decimals}; it must be from 0 to {_MOST_DECIMALS}")
        scale = 10**decimals
        least = low if math.isinf(low) else math.ceil(Fraction(repr(low)) * scale) / scale
        most = high if math.isinf(high) else math.floor(Fraction(repr(high)) * scale) / scale
        if least > most:
            raise InputError(
                f"there is no number with {decimals} decimals from {low} to {high}",
                remedy="Give more decimals or wider limits.",
            )
        return cls(decimals, least, most)

    def __call__(self, value: float) -> int | float:
        if self.decimals is not None:
            value = round(value, self.decimals)
        value = min(max(value, self.least), self.most)
        return int(value) if self.decimals == 0 else value


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Uniform(Sampler):
    """Any number from low to high, all equally likely."""

    low: float
    high: float
    rounded: Rounded

    @classmethod
    def over(cls, low: Any, high: Any, decimals: Any) -> Uniform:
        low, high = _float(low, "low"), _float(high, "high")
        _check_order(low, high)
        if math.isinf(high - low):
            raise InputError(f"from {low} to {high} is too wide for a float")
        return cls(low, high, Rounded.to(decimals, low, high))

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> int | float:
        return self.rounded(self.low + (self.high - self.low) * draw.random())

    def said(self) -> str:
        return said("uniform", self.low, self.high, decimals=self.rounded.decimals)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Normal(Sampler):
    """A number of the normal distribution; drawn anew where it falls outside its limits."""

    mean: float
    std: float
    limits: tuple[float, float]
    rounded: Rounded
    _window: tuple[float, float] | None  # in standard deviations; where drawing anew would be slow

    @classmethod
    def of(cls, mean: Any, std: Any, low: Any, high: Any, decimals: Any) -> Normal:
        mean, std = _float(mean, "mean"), _float(std, "std")
        if std < 0:
            raise InputError(f"std is {std}; it must be 0 or more")
        least = -math.inf if low is None else _float(low, "low")
        most = math.inf if high is None else _float(high, "high")
        _check_order(least, most)
        if std == 0 and not least <= mean <= most:
            raise InputError(f"mean is {mean}, outside {least} to {most}, and std is 0")
        if math.isinf(mean + 40 * std) or math.isinf(mean - 40 * std):
            raise InputError(f"mean {mean} and std {std} are too large for a float")
        rounded = Rounded.to(decimals, least, most)
        window = _narrow(least, most, mean, std) if std else None
        return cls(mean, std, (least, most), rounded, window)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> int | float:
        if self._window is not None:
            found = _inside(draw, *self._window)
            return self.rounded(self.mean + self.std * found)
        low, high = self.limits
        while not low <= (found := self.mean + self.std * draw.normal()) <= high:
            pass
        return self.rounded(found)

    def said(self) -> str:
        low, high = (None if math.isinf(each) else each for each in self.limits)
        decimals = self.rounded.decimals
        return said("normal", self.mean, self.std, low=low, high=high, decimals=decimals)


def _narrow(low: float, high: float, mean: float, std: float) -> tuple[float, float] | None:
    """The limits in standard deviations, if few numbers of the distribution keep them."""
    a, b = [min(max((each - mean) / std, -_FAR), _FAR) for each in (low, high)]
    if (math.erf(b / math.sqrt(2)) - math.erf(a / math.sqrt(2))) / 2 > 0.1:
        return None
    if a > 0:
        b = min(b, math.sqrt(a * a + _NEGLIGIBLE))
    elif b < 0:
        a = max(a, -math.sqrt(b * b + _NEGLIGIBLE))
    return a, b


def _inside(draw: Draw, a: float, b: float) -> float:
    """A normal number between a and b: any one between them, taken as its density says."""
    peak = a if a > 0 else b if b < 0 else 0.0
    while True:
        found = a + (b - a) * draw.random()
        if draw.random() < math.exp((peak - found) * (peak + found) / 2):
            return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Poisson(Sampler):
    """How often something happens that happens `rate` times on average."""

    rate: float

    @classmethod
    def of(cls, rate: Any) -> Poisson:
        rate = _float(rate, "rate")
        if not 0 <= rate <= _HIGHEST_RATE:
            raise InputError(f"rate is {rate}; it must be from 0 to {_HIGHEST_RATE:,.0f}")
        return cls(rate)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> int:
        return draw.poisson(self.rate)

    def said(self) -> str:
        return said("poisson", self.rate)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bernoulli(Sampler):
    """True in this share of rows."""

    p: float

    @classmethod
    def of(cls, p: Any) -> Bernoulli:
        p = _float(p, "p")
        if not 0 <= p <= 1:
            raise InputError(f"p is {p}; it must be from 0 to 1")
        return cls(p)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> bool:
        return draw.random() < self.p

    def said(self) -> str:
        return said("bernoulli", self.p)


def _float(value: Any, what: str) -> float:
    try:
        return float(number(value, what))
    except OverflowError:
        raise InputError(f"{what} is too large for a float") from None


def _check_order(low: float, high: float) -> None:
    if low > high:
        raise InputError(f"low is {low}, above high, which is {high}")
