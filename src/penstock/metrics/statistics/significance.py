"""Could chance alone make two sides differ that much? Tests of paired items, and Holm's correction.

All tests are two-sided. What is exact is said to be: `Evidence.test` names the way taken.

* McNemar, for yes and no: only items that changed count, and each is a fair coin's toss.
* Permutation, for the mean difference: under the hypothesis each item's difference might as well
  have the other sign. All sign patterns are tried where at most 16 items differ; else 9,999 of
  them by chance, and the observed one is counted among them, so that p is never 0 (B. Phipson and
  G. Smyth, 2010). Above 2,000 items signs change in 2,000 batches dealt by chance: fewer patterns,
  as valid a test. 100,000 items take a second or two.
* Wilcoxon's signed ranks, which no single wild value can sway; exact to 50 items, ties included.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from statistics import NormalDist

from penstock.errors import InputError
from penstock.metrics.statistics.bootstrap import MOST_UNITS
from penstock.metrics.statistics.interval import check_count, present
from penstock.metrics.statistics.means import gather

__all__ = ["Evidence", "holm", "mcnemar", "permutation_test", "wilcoxon"]

_MOST_FLIPPED = 16
_MOST_RANKED = 50
_EXACT_TOSSES = 20_000
_BIT = bytes(value & 1 for value in range(256))


@dataclass(frozen=True)
class Evidence:
    """What a test says: how often chance alone would make at least this difference."""

    p: float | None
    """None where there was nothing to test."""
    test: str
    n: int
    """How many items or clusters told something: those that differ."""

    def __str__(self) -> str:
        said = "nothing to test" if self.p is None else f"p = {self.p:.3g}"
        return f"{self.test}: {said} (n = {self.n:,})"


def mcnemar(better: int, worse: int) -> Evidence:
    """McNemar's exact test of items that changed for the better and for the worse."""
    n = check_count("better", better) + check_count("worse", worse)
    few = min(better, worse)
    # From the largest term down, until nothing is added any more.
    term = summed = _tosses(n, few)
    for heads in range(few, 0, -1):
        term *= heads / (n - heads + 1)
        if summed + term == summed:
            break
        summed += term
    return Evidence(min(1.0, 2 * summed), "exact McNemar", n)


def _tosses(n: int, heads: int) -> float:
    """The chance of that many heads in n tosses of a fair coin."""
    if n <= _EXACT_TOSSES:
        return math.comb(n, heads) / (1 << n)
    ways = math.lgamma(n + 1) - math.lgamma(heads + 1) - math.lgamma(n - heads + 1)
    return math.exp(ways - n * math.log(2))


def permutation_test(
    differences: Iterable[float | None],
    *,
    clusters: Iterable[Hashable] | None = None,
    resamples: int = 9_999,
    seed: int = 0,
) -> Evidence:
    """Whether paired differences have a mean other than 0, by changing their signs.

    With `clusters` the items of a cluster change their signs together, and n counts clusters.
    """
    check_count("resamples", resamples, 1)
    given = list(differences)
    if clusters is None:
        units = sorted(present(given))
    else:
        units = [cluster.total for cluster in gather(given, clusters)]
    parts = [unit for unit in units if unit]
    n = len(parts)
    if not units:
        return Evidence(None, "permutation", 0)
    if n <= _MOST_FLIPPED:
        return Evidence(_exact(parts), "exact permutation", n)
    if [-part for part in reversed(parts)] < parts:  # a and b may be exchanged
        parts = [-part for part in reversed(parts)]
    chance = random.Random(seed)  # noqa: S311
    if n > MOST_UNITS:
        chance.shuffle(parts)
        parts = [math.fsum(parts[at::MOST_UNITS]) for at in range(MOST_UNITS)]
    return Evidence(_sampled(parts, resamples, chance), "permutation", n)


def _exact(parts: Sequence[float]) -> float:
    sums = [0.0]
    for part in parts:
        sums = [sum_ + part for sum_ in sums] + [sum_ - part for sum_ in sums]
    far = _far(parts)
    return sum(abs(sum_) >= far for sum_ in sums) / len(sums)


def _sampled(parts: Sequence[float], resamples: int, chance: random.Random) -> float:
    far, total, size = _far(parts), math.fsum(parts), len(parts)
    reached = 1
    for _ in range(resamples):
        kept = math.fsum(compress(parts, chance.randbytes(size).translate(_BIT)))
        reached += abs(2 * kept - total) >= far
    return reached / (resamples + 1)


def _far(parts: Sequence[float]) -> float:
    """The observed distance, less what rounding can take from an equal one."""
    return abs(math.fsum(parts)) - 1e-12 * math.fsum(map(abs, parts))


def wilcoxon(differences: Iterable[float | None]) -> Evidence:
    """Wilcoxon's signed-rank test of paired differences; those of 0 are left out."""
    given = present(differences)
    # Twelve digits: 0.3 - 0.2 and 0.2 - 0.1 are meant to be equal.
    parts = sorted((float(f"{part:.12g}") for part in given if part), key=abs)
    n = len(parts)
    if not given:
        return Evidence(None, "Wilcoxon", 0)
    ranks: list[int] = []  # doubled, so that the middle rank of ties is whole too
    ties = 0
    for _, group in groupby(parts, key=abs):
        size = sum(1 for _ in group)
        ties += size**3 - size
        ranks += [2 * len(ranks) + size + 1] * size
    upper = sum(rank for rank, part in zip(ranks, parts, strict=True) if part > 0)
    lower = min(upper, sum(ranks) - upper)
    if n <= _MOST_RANKED:
        ways = _ways(ranks)
        return Evidence(min(1.0, 2 * sum(ways[: lower + 1]) / 2**n), "exact Wilcoxon", n)
    variance = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24
    far = (n * (n + 1) / 4 - lower / 2) / math.sqrt(variance)
    return Evidence(min(1.0, 2 * NormalDist().cdf(-far)), "Wilcoxon", n)


def _ways(ranks: Sequence[int]) -> list[int]:
    """In how many ways some of the ranks have each sum."""
    ways = [1] + [0] * sum(ranks)
    reach = 0
    for rank in ranks:
        reach += rank
        for sum_ in range(reach, rank - 1, -1):
            ways[sum_] += ways[sum_ - rank]
    return ways


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p values corrected for there being several (S. Holm, 1979), in the same order.

    Held against 0.05 they keep the chance of even one false alarm among all at 5 %. None, a test
    that was not made, stays None and does not count.
    """
    tested = [at for at, p in enumerate(p_values) if p is not None]
    tested.sort(key=lambda at: p_values[at] or 0.0)
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for place, at in enumerate(tested):
        p = p_values[at]
        if p is None or not 0 <= p <= 1:
            raise InputError(f"p value {at} is {p!r}", remedy="A p value lies between 0 and 1.")
        least = max(least, min(1.0, p * (len(tested) - place)))
        corrected[at] = least
    return corrected
