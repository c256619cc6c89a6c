"""How small a difference so many items can show, and how many items a difference needs.

The formula of paired means (Cohen, 1988; for evaluations Miller, 2024), by the normal distribution,
so a little hopeful below about 30 items. `spread` is the standard deviation of the differences of
the items; for yes and no at most the root of the share of items that change: 0.45 if a fifth does.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from penstock.errors import InputError
from penstock.metrics.statistics.interval import check_count, z

__all__ = ["items_needed", "smallest_difference"]


def smallest_difference(n: int, spread: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """The smallest true difference of means that n items show with that power."""
    check_count("n", n, 1)
    return _reach(level, power) * _checked(spread) / math.sqrt(n)


def items_needed(
    difference: float, spread: float, *, level: float = 0.95, power: float = 0.8
) -> int:
    """How many items show a true difference of means with that power."""
    if not math.isfinite(difference) or not difference:
        raise InputError(f"the difference is {difference!r}", remedy="No number of items shows it.")
    return max(1, math.ceil((_reach(level, power) * _checked(spread) / difference) ** 2))


def _reach(level: float, power: float) -> float:
    if not 0 < power < 1:
        raise InputError(f"power is {power!r}", remedy="Give a share such as 0.8 for 80 %.")
    return max(0.0, z(level) + NormalDist().inv_cdf(power))


def _checked(spread: float) -> float:
    if not math.isfinite(spread) or spread < 0:
        raise InputError(f"spread is {spread!r}", remedy="A standard deviation is 0 or more.")
    return spread
