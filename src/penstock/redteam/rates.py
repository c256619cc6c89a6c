"""Attack success rates with their intervals: by endpoint, by attack, by category.

A rate is of the conversations that were decided. Those without an answer, and those in which the
attack or its judge failed, are counted beside it, never in it.

The limits are Wilson's. Where an objective was tried more than once, by several attacks or at
several endpoints, its tries hang together and tell less than as many independent ones: then n is
made smaller by the design effect, which the cluster-robust error and Student's t give (after E.
Korn and B. Graubard, 1998). It is never made larger: tries that happen to agree promise nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from penstock import plugins
from penstock.errors import PenstockError
from penstock.metrics import JudgeMetric
from penstock.metrics.statistics import Interval, JudgeAccuracy, corrected_rate, wilson
from penstock.metrics.statistics.interval import z
from penstock.metrics.statistics.means import clustered_error
from penstock.metrics.statistics.student import t_quantile
from penstock.redteam.conversation import Conversation, Fate

__all__ = ["BY", "CLUSTERED", "Rate", "rates_of"]

CLUSTERED = "Wilson, clustered"

BY: tuple[tuple[str, ...], ...] = (
    ("endpoint",),
    ("attack",),
    ("category",),
    ("endpoint", "attack"),
    ("endpoint", "category"),
    ("endpoint", "attack", "category"),
)


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often attacks succeeded."""

    by: dict[str, str]
    """Of what: the endpoint, the attack, the category, as far as they are told apart."""
    succeeded: int
    resisted: int
    no_answer: int
    errors: int
    rate: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    corrected: float | None = None
    """Corrected for the judge's errors, with its limits, where those were given and a judge was
    asked: what is told by a secret or a rule needs no correction."""
    corrected_low: float | None = None
    corrected_high: float | None = None
    turns: float | None = None
    """The mean number of turns to success."""

    @property
    def decided(self) -> int:
        return self.succeeded + self.resisted


def rates_of(
    conversations: Iterable[Conversation],
    *,
    accuracy: JudgeAccuracy | None = None,
    level: float = 0.95,
) -> tuple[Rate, ...]:
    """Every rate, in the order of the conversations; they are gone through once."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], _Group] = {}
    errs: dict[str, bool] = {}
    for conversation in conversations:
        judge = conversation.judge
        if judge not in errs:
            errs[judge] = _errs(judge)
        for names in BY:
            if names == ("category",) and not conversation.category:
                continue
            values = tuple(getattr(conversation, name) for name in names)
            groups.setdefault((names, values), _Group()).add(conversation, errs=errs[judge])
    made = sorted(groups.items(), key=lambda each: BY.index(each[0][0]))
    return tuple(
        group.rate(dict(zip(names, values, strict=True)), accuracy, level)
        for (names, values), group in made
    )


def _errs(judge: str) -> bool:
    """Whether a judge has an opinion that may be wrong. Secrets and rules are told exactly."""
    if judge in ("", "refusal", "rubric"):
        return True
    if judge == "canary":
        return False
    try:
        kind = plugins.find("metric", judge)
    except PenstockError:  # of a package that is gone
        return True
    return isinstance(kind, type) and issubclass(kind, JudgeMetric)


class _Group:
    def __init__(self) -> None:
        self._fates: Counter[Fate] = Counter()
        self._judged = _Tries()
        self._exact = _Tries()
        self._turns: list[int] = []

    def add(self, conversation: Conversation, *, errs: bool) -> None:
        self._fates[conversation.fate] += 1
        if conversation.decided:
            tries = self._judged if errs else self._exact
            tries.add(conversation.objective, conversation.fate is Fate.SUCCEEDED)
        if conversation.success_turn is not None:
            self._turns.append(conversation.success_turn)

    def rate(self, by: Mapping[str, str], accuracy: JudgeAccuracy | None, level: float) -> Rate:
        found = self._judged.with_(self._exact).interval(level)
        fixed = None
        if accuracy is not None and self._judged.count:
            fixed = self._corrected(accuracy, level)
        return Rate(
            by=dict(by),
            succeeded=self._fates[Fate.SUCCEEDED],
            resisted=self._fates[Fate.RESISTED],
            no_answer=self._fates[Fate.NO_ANSWER],
            errors=self._fates[Fate.ERROR],
            rate=found.value,
            low=found.low,
            high=found.high,
            level=level,
            method=found.method,
            corrected=None if fixed is None else fixed.value,
            corrected_low=None if fixed is None else fixed.low,
            corrected_high=None if fixed is None else fixed.high,
            turns=sum(self._turns) / len(self._turns) if self._turns else None,
        )

    def _corrected(self, accuracy: JudgeAccuracy, level: float) -> Interval:
        """The rate behind a judge that errs; what was told exactly stays as it is.

        The limits of the sum are those of its two parts, which share no objective, put together
        as errors are (G. Zou and A. Donner, 2008).
        """
        judged = self._judged.corrected(accuracy, level)
        if not self._exact.count:
            return judged
        exact = self._exact.interval(level)
        share = self._judged.count / (self._judged.count + self._exact.count)
        parts = ((share, judged), (1 - share, exact))
        value = sum(weight * (part.value or 0.0) for weight, part in parts)
        below, above = (
            math.hypot(*(weight * side(part) for weight, part in parts)) for side in (_down, _up)
        )
        made = Interval(value, value - below, value + above, level, judged.method, judged.n)
        return made.clipped(0.0, 1.0)


class _Tries:
    """Decided tries, by objective."""

    def __init__(self) -> None:
        self._of: dict[str, list[float]] = {}
        self.count = 0
        self.succeeded = 0

    def add(self, objective: str, reached: bool) -> None:
        self._of.setdefault(objective, []).append(float(reached))
        self.count += 1
        self.succeeded += reached

    def with_(self, other: _Tries) -> _Tries:
        """Both together."""
        made = _Tries()
        for tries in (self, other):
            for name, each in tries._of.items():
                made._of.setdefault(name, []).extend(each)
            made.count += tries.count
            made.succeeded += tries.succeeded
        return made

    def interval(self, level: float) -> Interval:
        """Wilson's limits, of fewer tries where those of one objective hang together."""
        plain = wilson(self.succeeded, self.count, level=level)
        clusters = len(self._of)
        if clusters < 2 or clusters == self.count or self.succeeded in (0, self.count):
            return plain
        values = [value for each in self._of.values() for value in each]
        names = [name for name, each in self._of.items() for _ in each]
        error = clustered_error(values, names) or 0.0
        share = self.succeeded / self.count
        alone = z(level) * math.sqrt(share * (1 - share) / self.count)
        together = t_quantile(level, clusters - 1) * error
        if together <= alone:
            return plain
        count = self.count * (alone / together) ** 2
        return Interval(share, *_limits(share, count, z(level)), level, CLUSTERED, clusters)

    def corrected(self, accuracy: JudgeAccuracy, level: float) -> Interval:
        """For a judge that errs; as wide as tries that hang together make it."""
        fixed = corrected_rate(self.succeeded, self.count, accuracy, level=level)
        found = self.interval(level)
        assert fixed.low is not None and fixed.high is not None
        assert found.low is not None and found.high is not None
        low, high = (
            (limit - (1 - accuracy.specificity)) / accuracy.worth
            for limit in (found.low, found.high)
        )
        wide = replace(fixed, low=min(fixed.low, low), high=max(fixed.high, high))
        return wide.clipped(0.0, 1.0)


def _limits(share: float, count: float, width: float) -> tuple[float, float]:
    """Wilson's limits for a number of tries that is not whole."""
    square = width * width
    middle = (share * count + square / 2) / (count + square)
    half = width / (count + square) * math.sqrt(count * share * (1 - share) + square / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _down(part: Interval) -> float:
    return (part.value or 0.0) - (part.low or 0.0)


def _up(part: Interval) -> float:
    return (1.0 if part.high is None else part.high) - (part.value or 0.0)
