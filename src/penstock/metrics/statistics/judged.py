"""The rate behind a judge that errs: attack success corrected for sensitivity and specificity.

    judge = JudgeAccuracy.from_counts(hits=88, misses=12, alarms=5, rejections=95)
    corrected_rate(130, 400, judge)

A judge that misses some successes and calls some failures a success shifts every rate it measures.
The estimator of W. Rogan and B. Gladen (1978) turns that shift back:

    (rate + specificity - 1) / (sensitivity + specificity - 1)

Where the judge's own rates are taken as known, the limits are Wilson's, turned back the same way
(J. Reiczigel, J. Földi and L. Ózsvári, 2010). Where they come from a labelled sample its size is
carried into the limits by the delta method with the added counts of Z. Lang and J. Reiczigel
(2014), which keeps the level with samples of 30 and more, and with rates at 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.errors import InputError
from penstock.metrics.statistics.interval import Interval, check_count, joined, z
from penstock.metrics.statistics.proportions import wilson

__all__ = ["JudgeAccuracy", "corrected_rate"]


@dataclass(frozen=True)
class JudgeAccuracy:
    """How often a judge is right, on what is a success and on what is not.

    `positives` and `negatives` are the numbers of labelled cases behind the two rates; without
    them the rates are taken as known exactly.
    """

    sensitivity: float
    """The share of true successes that it calls a success."""
    specificity: float
    """The share of true failures that it calls a failure."""
    positives: int | None = None
    negatives: int | None = None

    def __post_init__(self) -> None:
        for name in ("sensitivity", "specificity"):
            rate = getattr(self, name)
            if not isinstance(rate, int | float) or not 0 <= rate <= 1:
                raise InputError(f"{name} is {rate!r}", remedy="Give a share from 0 to 1.")
        for name in ("positives", "negatives"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1)
        if self.worth <= 0:
            raise InputError(
                f"a judge with sensitivity {self.sensitivity:g} and specificity "
                f"{self.specificity:g} tells no more than chance: nothing can be corrected by it",
                remedy="Their sum must exceed 1. Choose another judge, or check its labels.",
            )

    @property
    def worth(self) -> float:
        """Youden's J: 1 for a judge that never errs, 0 for a coin."""
        return self.sensitivity + self.specificity - 1

    @classmethod
    def from_counts(cls, *, hits: int, misses: int, alarms: int, rejections: int) -> JudgeAccuracy:
        """From a labelled sample: successes found and missed, failures called wrong and right."""
        given = {"hits": hits, "misses": misses, "alarms": alarms, "rejections": rejections}
        for name, count in given.items():
            check_count(name, count)
        positives, negatives = hits + misses, alarms + rejections
        if not positives or not negatives:
            missing = "successes" if not positives else "failures"
            raise InputError(
                f"the labelled sample has no {missing}",
                remedy="Label some of both: each tells one of the two rates.",
            )
        return cls(hits / positives, rejections / negatives, positives, negatives)

    @classmethod
    def from_labels(
        cls, judged: Iterable[bool | None], labels: Iterable[bool | None]
    ) -> JudgeAccuracy:
        """From the judge's verdicts and people's labels, case by case; None is a missing one."""
        counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
        try:
            for said, true in zip(judged, labels, strict=True):
                if said is not None and true is not None:
                    counts[bool(said), bool(true)] += 1
        except ValueError:
            raise InputError("there are not as many verdicts as labels") from None
        hits, misses, alarms, rejections = counts.values()
        return cls.from_counts(hits=hits, misses=misses, alarms=alarms, rejections=rejections)


def corrected_rate(
    successes: int, n: int, judge: JudgeAccuracy, *, level: float = 0.95
) -> Interval:
    """The true rate of success, where the judge called that many of n a success.

    Cut to the range from 0 to 1, with a note, where the judge called fewer a success than it would
    if there were none, or more than if there were nothing else.
    """
    plain = wilson(successes, n, level=level)
    known = judge.positives is None and judge.negatives is None
    method = "Rogan-Gladen, Wilson" if known else "Rogan-Gladen, Lang-Reiczigel"
    if plain.value is None or plain.low is None or plain.high is None:
        return replace(plain, method=method)
    value, low, high = (
        (rate - (1 - judge.specificity)) / judge.worth
        for rate in (plain.value, plain.low, plain.high)
    )
    if known:
        return Interval(value, low, high, level, method, n).clipped(0.0, 1.0)
    low, high = _limits(successes, n, judge, z(level))
    found = Interval(value, low, high, level, method, n).clipped(0.0, 1.0)
    return _holding(found)


def _limits(successes: int, n: int, judge: JudgeAccuracy, width: float) -> tuple[float, float]:
    """By the delta method, after adding cases that pull each rate a little towards a half."""
    square = width * width
    size = n + square
    rate = (successes + square / 2) / size
    sensitivity, of_sensitivity = _pulled(judge.sensitivity, judge.positives)
    specificity, of_specificity = _pulled(judge.specificity, judge.negatives)
    worth = sensitivity + specificity - 1
    if worth <= 0:
        return -math.inf, math.inf
    middle = (rate + specificity - 1) / worth
    shift = 2 * square * (middle * of_sensitivity - (1 - middle) * of_specificity)
    variance = (
        rate * (1 - rate) / size + middle**2 * of_sensitivity + (1 - middle) ** 2 * of_specificity
    )
    half = width * math.sqrt(variance) / worth
    return middle + shift - half, middle + shift + half


def _pulled(rate: float, size: int | None) -> tuple[float, float]:
    """The rate with one right and one wrong case added, and its variance."""
    if size is None:
        return rate, 0.0
    pulled = (size * rate + 1) / (size + 2)
    return pulled, pulled * (1 - pulled) / (size + 2)


def _holding(found: Interval) -> Interval:
    """The pull can leave the estimate outside the limits: then the nearer one is moved to it."""
    assert found.value is not None and found.low is not None and found.high is not None
    if found.value in found:
        return found
    low, high = min(found.low, found.value), max(found.high, found.value)
    return replace(found, low=low, high=high, note=joined(found.note, "widened to the estimate"))
