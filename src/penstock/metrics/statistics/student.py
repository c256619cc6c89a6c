"""Quantiles of Student's t, for whole degrees of freedom, to about twelve digits.

Below 1,000 degrees the finite series of the distribution is inverted by bisection; above, the
expansion around the normal quantile is as exact and needs no search. Both are in M. Abramowitz and
I. Stegun, Handbook of Mathematical Functions, 26.7.3 to 26.7.5.
"""

from __future__ import annotations

import math
from functools import lru_cache

from penstock.metrics.statistics.interval import check_count, z

__all__ = ["t_quantile"]

_MANY = 1000


@lru_cache(maxsize=256)
def t_quantile(level: float, degrees: int) -> float:
    """The t between whose negative and itself that share of the distribution lies."""
    normal = z(level)
    if check_count("degrees", degrees, 1) >= _MANY:
        return _expanded(normal, degrees)
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _share(middle, degrees) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan(high)


def _share(angle: float, degrees: int) -> float:
    """What lies between -t and t, where tan(angle) is t over the root of the degrees."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    terms = []
    for step in range(1 + odd, degrees, 2):
        terms.append(term)
        term *= square * step / (step + 1)
    summed = sine * math.fsum(terms)
    return 2 / math.pi * (angle + summed) if odd else summed


def _expanded(normal: float, degrees: int) -> float:
    x, square = normal, normal * normal
    terms = (
        x,
        x * (square + 1) / 4,
        x * ((5 * square + 16) * square + 3) / 96,
        x * (((3 * square + 19) * square + 17) * square - 15) / 384,
        x * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))
