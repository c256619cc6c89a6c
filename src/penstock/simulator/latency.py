"""How long an answer takes: a number, a range, or a distribution, in milliseconds."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from penstock.errors import InputError
from penstock.simulator.dice import unit

__all__ = ["Latency"]

FORMS = "Allowed: 50, 50-200, normal:MEAN:SPREAD, lognormal:MEDIAN:SIGMA (milliseconds)."
_SALT = 2


class Latency(NamedTuple):
    """One way of taking time; `seconds` says how long for the nth arrival."""

    kind: str
    first: float
    second: float

    @classmethod
    def read(cls, text: str) -> Latency:
        """Understand one of the forms, or say which there are."""
        try:
            latency = cls._parse(text.strip())
        except ValueError:
            raise InputError(f"latency {text!r} is not understood", remedy=FORMS) from None
        values = (latency.first, latency.second)
        if not all(math.isfinite(value) and value >= 0 for value in values):
            raise InputError(f"latency {text!r} is negative or endless", remedy=FORMS)
        return latency

    @classmethod
    def _parse(cls, text: str) -> Latency:
        if ":" in text:
            kind, first, second = text.split(":")
            if kind not in ("normal", "lognormal"):
                raise ValueError(kind)
            return cls(kind, float(first), float(second))
        low, dash, high = text.partition("-")
        if not dash:
            return cls("constant", float(low), 0.0)
        if float(high) < float(low):
            raise ValueError(text)
        return cls("uniform", float(low), float(high))

    @property
    def none(self) -> bool:
        """True when every answer is immediate."""
        return self.kind == "constant" and self.first == 0

    def seconds(self, seed: int, number: int) -> float:
        """The delay of the nth arrival; the same seed and number give the same delay."""
        if self.kind == "constant":
            return self.first / 1000
        share = unit(seed, number, _SALT)
        if self.kind == "uniform":
            return (self.first + share * (self.second - self.first)) / 1000
        normal = NormalDist().inv_cdf(min(max(share, 1e-9), 1 - 1e-9))
        if self.kind == "normal":
            return max(0.0, self.first + normal * self.second) / 1000
        return self.first * math.exp(normal * self.second) / 1000
