"""Shares of yes and no: one, and the difference of two over the same items.

Definitions: E. B. Wilson (1927); R. G. Newcombe, Statistics in Medicine 17 (1998), 857 for one
share (methods 3 and 4) and 2635 for the paired difference (method 10). They keep within their
range and keep their level at 0, at 1 and with few items, where the textbook's normal limits do not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from penstock.errors import InputError
from penstock.metrics.statistics.interval import Interval, check_count, check_level, z

__all__ = ["Pairs", "odds_ratio", "risk_difference", "wilson"]


class Pairs(NamedTuple):
    """How many items passed on both sides, on one only, on neither."""

    both: int
    only_a: int
    only_b: int
    neither: int


def wilson(successes: int, n: int, *, level: float = 0.95, correction: bool = False) -> Interval:
    """The share of successes with Wilson's score limits.

    `correction` for continuity makes them wider, so that they hold the truth at least as often as
    `level` says nearly everywhere, and not only on average.
    """
    check_count("successes", successes)
    if successes > check_count("n", n):
        raise InputError(f"there are {successes} successes among {n}")
    method = "Wilson, corrected" if correction else "Wilson"
    check_level(level)
    if not n:
        return Interval(None, 0.0, 1.0, level, method, 0, "there are no values")
    share, width = successes / n, z(level)
    if correction:
        low, high = _corrected(successes, n, width)
    else:
        square = width * width
        middle = (successes + square / 2) / (n + square)
        half = width / (n + square) * math.sqrt(successes * (n - successes) / n + square / 4)
        low, high = middle - half, middle + half
    low = 0.0 if successes == 0 else min(max(low, 0.0), share)
    high = 1.0 if successes == n else max(min(high, 1.0), share)
    return Interval(share, low, high, level, method, n)


def _corrected(successes: int, n: int, width: float) -> tuple[float, float]:
    square, share, below = width * width, successes / n, 2 * (n + width * width)

    def half(p: float) -> float:
        """For the lower limit of p; the upper one is the lower one of 1 - p."""
        return 1 + width * math.sqrt(square - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))

    low = (2 * successes + square - half(share)) / below if successes else 0.0
    high = (2 * successes + square + half(1 - share)) / below if successes < n else 1.0
    return low, high


def risk_difference(pairs: Pairs, *, level: float = 0.95) -> Interval:
    """By how much the share of b exceeds that of a, with Newcombe's limits for paired items."""
    for name, count in zip(Pairs._fields, pairs, strict=True):
        check_count(name, count)
    n, method = sum(pairs), "Newcombe, paired"
    check_level(level)
    if not n:
        return Interval(None, -1.0, 1.0, level, method, 0, "there are no pairs")
    a = wilson(pairs.both + pairs.only_a, n, level=level)
    b = wilson(pairs.both + pairs.only_b, n, level=level)
    assert a.low is not None and a.high is not None and a.value is not None
    assert b.low is not None and b.high is not None and b.value is not None
    related = _related(pairs)
    difference = (pairs.only_b - pairs.only_a) / n
    below = _apart(b.value - b.low, a.high - a.value, related)
    above = _apart(b.high - b.value, a.value - a.low, related)
    limits = max(difference - below, -1.0), min(difference + above, 1.0)
    return Interval(difference, *limits, level, method, n)


def _apart(one: float, other: float, related: float) -> float:
    return math.sqrt(max(one * one - 2 * related * one * other + other * other, 0.0))


def _related(pairs: Pairs) -> float:
    """The correlation of the two sides, a positive one corrected for continuity."""
    both, only_a, only_b, neither = pairs
    product = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if not product:
        return 0.0
    excess: float = both * neither - only_a * only_b
    if excess > 0:
        excess = max(excess - sum(pairs) / 2, 0.0)
    return excess / math.sqrt(product)


def odds_ratio(better: int, worse: int, *, level: float = 0.95) -> Interval:
    """The odds that an item which changed became better: better / worse.

    That is the conditional odds ratio of paired data; its limits are Wilson's for the share of the
    better ones, turned into odds. None where no item went the other way.
    """
    n = check_count("better", better) + check_count("worse", worse)
    share = wilson(better, n, level=level)
    assert share.low is not None and share.high is not None
    value = better / worse if worse else None
    low = share.low / (1 - share.low) if n else None
    high = share.high / (1 - share.high) if n and share.high < 1 else None
    note = "" if worse else ("no item became worse" if n else "no item changed")
    return Interval(value, low, high, level, "Wilson, as odds", n, note)
