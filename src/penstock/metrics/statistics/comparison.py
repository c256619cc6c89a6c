"""Two runs, models or prompts over the same items: which is better, by how much, and is it chance?

    print(compare({"q1": 1, "q2": 0, "q3": None}, {"q1": 1, "q2": 1, "q3": 1}))

Items are paired by their id, which takes away what makes items differ among themselves: far smaller
differences show than between two means. What is missing on a side is counted, never replaced.

Where all values are 0 or 1 the test is McNemar's and the limits are Newcombe's. For other numbers
it is the permutation test of the mean difference, with Wilcoxon's beside it, and limits by the
bootstrap (by t below 20 pairs, where the bootstrap is too narrow). With clusters it is the
permutation test over clusters and cluster-robust limits, for either kind.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from penstock.errors import InputError
from penstock.metrics.statistics.bootstrap import bootstrap
from penstock.metrics.statistics.interval import Interval, check_level, number, percent
from penstock.metrics.statistics.means import (
    clustered_error,
    clustered_interval,
    cohens_d,
    mean_interval,
)
from penstock.metrics.statistics.power import smallest_difference
from penstock.metrics.statistics.proportions import Pairs, odds_ratio, risk_difference, wilson
from penstock.metrics.statistics.significance import (
    Evidence,
    holm,
    mcnemar,
    permutation_test,
    wilcoxon,
)

__all__ = ["Comparison", "compare", "holm_corrected"]

Direction = Literal["higher", "lower"]
Item = TypeVar("Item", bound=Hashable)
_FEW = 20


@dataclass(frozen=True)
class Comparison:
    """b against a over the items that have a value on both sides; `str()` says it in words."""

    names: tuple[str, str]
    kind: Literal["binary", "numeric"]
    direction: Direction
    a: Interval
    """The mean of a, over the paired items only; so is that of b."""
    b: Interval
    difference: Interval
    """b - a; for yes and no that is the risk difference."""
    tests: tuple[Evidence, ...]
    """The one that decides comes first."""
    better: tuple[Hashable, ...]
    """Items that are better in b, those that changed most first; so with worse."""
    worse: tuple[Hashable, ...]
    pairs: int
    missing_a: int
    """Items with a value in b only."""
    missing_b: int
    missing_both: int
    cohens_d: float | None
    odds_ratio: Interval | None
    """better / worse, of yes and no."""
    smallest: float | None
    """The true difference that this many items would show four times in five."""
    adjusted: float | None = None
    """p after Holm's correction, where this is one of several comparisons."""
    family: int = 1
    """How many were tested together."""

    @property
    def same(self) -> int:
        """Items that did not change."""
        return self.pairs - len(self.better) - len(self.worse)

    @property
    def p(self) -> float | None:
        """Of the test that decides, not corrected."""
        return self.tests[0].p

    @property
    def significant(self) -> bool:
        """Whether p, corrected where it has been, is below 1 - level."""
        p = self.p if self.adjusted is None else self.adjusted
        return p is not None and p < 1 - self.difference.level

    @property
    def verdict(self) -> Literal["better", "worse", "unclear"]:
        """What is shown of b."""
        change = self.difference.value
        if not change or not self.significant:
            return "unclear"
        return "better" if (change > 0) == (self.direction == "higher") else "worse"

    def __str__(self) -> str:
        if not self.pairs:
            return "There is nothing to compare: no item has a value on both sides."
        said = [self._means(), self._changes(), self._meaning(), self._missing()]
        return " ".join(part for part in said if part)

    def _means(self) -> str:
        first, second = self.names
        a, b, change = self.a.value, self.b.value, self.difference
        items = "1 item" if self.pairs == 1 else f"{self.pairs:,} items"
        said = f"{second} {b:.4g} against {first} {a:.4g} on {items}: {change.value:+.4g}"
        if change.low is not None and change.high is not None:
            limits = f"{change.low:+.4g} to {change.high:+.4g}"
            said = f"{said} ({percent(change.level)} interval {limits})"
        return f"{said}; {self.direction} is better."

    def _changes(self) -> str:
        return (
            f"{len(self.better):,} became better, {len(self.worse):,} worse, "
            f"{self.same:,} stayed the same."
        )

    def _meaning(self) -> str:
        if self.p is None:
            return ""
        p = f"p = {self.p:.3g}, {self.tests[0].test}"
        if self.adjusted is not None:
            p = f"{p}; {self.adjusted:.3g} corrected for {self.family:,} comparisons"
        first, second = self.names
        if self.verdict != "unclear":
            return f"{second} is {self.verdict} than {first} beyond what chance explains ({p})."
        said = f"Chance alone can explain this ({p}), which does not show that they are equal"
        if self.smallest:
            return (
                f"{said}: with so many items a true difference of {self.smallest:.2g} shows four "
                "times in five, a smaller one less often."
            )
        return f"{said}."

    def _missing(self) -> str:
        first, second = self.names
        missing = ((self.missing_a, first), (self.missing_b, second), (self.missing_both, "either"))
        said = [f"{count:,} without a value in {name}" for count, name in missing if count]
        return f"Left out: {', '.join(said)}." if said else ""


class _Paired(NamedTuple):
    items: list[Hashable]
    a: list[float]
    b: list[float]
    missing_a: int
    missing_b: int
    missing_both: int


def compare(
    a: Mapping[Item, float | None],
    b: Mapping[Item, float | None],
    *,
    names: tuple[str, str] = ("a", "b"),
    direction: Direction = "higher",
    clusters: Mapping[Item, Hashable] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """b against a, item by item. An item that one side lacks, or has as None, is a missing one.

    `clusters` says of each item which cluster it belongs to, such as the question of which it is a
    paraphrase. 100,000 items take some three seconds.
    """
    if direction not in get_args(Direction):
        raise InputError(f"direction is {direction!r}", remedy="Allowed are higher and lower.")
    check_level(level)
    paired = _paired(a, b)
    changes = [_change(*pair) for pair in zip(paired.a, paired.b, strict=True)]
    groups = None if clusters is None else _groups(paired.items, clusters)
    binary = set(paired.a) | set(paired.b) <= {0.0, 1.0}
    for_the_better = changes if direction == "higher" else [-change for change in changes]
    better = _largest(paired.items, for_the_better)
    worse = _largest(paired.items, [-change for change in for_the_better])
    return Comparison(
        names=names,
        kind="binary" if binary else "numeric",
        direction=direction,
        a=_mean(paired.a, groups, binary, level),
        b=_mean(paired.b, groups, binary, level),
        difference=_difference(paired, changes, groups, binary, level, seed),
        tests=_tests(changes, groups, binary, seed),
        better=better,
        worse=worse,
        pairs=len(paired.items),
        missing_a=paired.missing_a,
        missing_b=paired.missing_b,
        missing_both=paired.missing_both,
        cohens_d=cohens_d(changes),
        odds_ratio=odds_ratio(len(better), len(worse), level=level) if binary else None,
        smallest=_smallest(changes, groups, binary, level),
    )


def holm_corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons, their p values corrected for there being several (Holm)."""
    adjusted = holm([comparison.p for comparison in comparisons])
    family = sum(p is not None for p in adjusted)
    return [
        replace(comparison, adjusted=p, family=family)
        for comparison, p in zip(comparisons, adjusted, strict=True)
    ]


def _paired(a: Mapping[Item, float | None], b: Mapping[Item, float | None]) -> _Paired:
    items: list[Hashable] = []
    ones: list[float] = []
    others: list[float] = []
    missing = [0, 0, 0]
    for item in dict.fromkeys([*a, *b]):
        one, other = a.get(item), b.get(item)
        if one is None or other is None:
            missing[2 if one is other else 0 if one is None else 1] += 1
            continue
        items.append(item)
        ones.append(number(one, repr(item)))
        others.append(number(other, repr(item)))
    return _Paired(items, ones, others, *missing)


def _change(a: float, b: float) -> float:
    """0 where they differ by rounding only."""
    return 0.0 if math.isclose(a, b, rel_tol=1e-12) else b - a


def _groups(items: Sequence[Hashable], clusters: Mapping[Any, Hashable]) -> list[Hashable]:
    for item in items:
        if item not in clusters:
            raise InputError(
                f"item {item!r} has no cluster", remedy="Give one for each item, if need be its id."
            )
    return [clusters[item] for item in items]


def _largest(items: Sequence[Hashable], changes: Sequence[float]) -> tuple[Hashable, ...]:
    """Items that changed for the better, those that changed most first."""
    found = [(change, item) for change, item in zip(changes, items, strict=True) if change > 0]
    found.sort(key=lambda each: -each[0])
    return tuple(item for _, item in found)


def _mean(
    values: Sequence[float], groups: Sequence[Hashable] | None, binary: bool, level: float
) -> Interval:
    if groups is not None:
        within = (0.0, 1.0) if binary else None
        return clustered_interval(values, groups, level=level, within=within)
    if binary:
        return wilson(int(sum(values)), len(values), level=level)
    return mean_interval(values, level=level)


def _difference(
    paired: _Paired,
    changes: Sequence[float],
    groups: Sequence[Hashable] | None,
    binary: bool,
    level: float,
    seed: int,
) -> Interval:
    if groups is not None:
        within = (-1.0, 1.0) if binary else None
        return clustered_interval(changes, groups, level=level, within=within)
    if binary:
        counts = Counter(zip(paired.a, paired.b, strict=True))
        kinds = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
        return risk_difference(Pairs(*(counts[kind] for kind in kinds)), level=level)
    if len(changes) < _FEW:
        return mean_interval(changes, level=level)
    return bootstrap(changes, level=level, seed=seed)


def _tests(
    changes: Sequence[float], groups: Sequence[Hashable] | None, binary: bool, seed: int
) -> tuple[Evidence, ...]:
    if groups is not None:
        return (permutation_test(changes, clusters=groups, seed=seed),)
    if not changes:
        return (Evidence(None, "exact McNemar", 0),)
    if binary:
        up = sum(change > 0 for change in changes)
        down = sum(change < 0 for change in changes)
        return (mcnemar(up, down),)
    return (permutation_test(changes, seed=seed), wilcoxon(changes))


def _smallest(
    changes: Sequence[float], groups: Sequence[Hashable] | None, binary: bool, level: float
) -> float | None:
    """From the error of the difference as it was measured; None where that can tell nothing."""
    error = clustered_error(changes, range(len(changes)) if groups is None else groups)
    found = smallest_difference(1, error, level=level) if error else None
    return None if found is None or (binary and found > 1) else found
