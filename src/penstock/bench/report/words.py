"""Words for the report of a benchmark: money, times, numbers of things, what became of items."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.result import Measured, RecipeResult
from penstock.metrics.score import ScoreStatus
from penstock.reports import number
from penstock.reports.parts import Tone

__all__ = [
    "VERDICTS",
    "all_costs",
    "bounds",
    "first_metric",
    "grade_place",
    "grade_tone",
    "interval",
    "score_of",
    "shortened",
    "tone_at",
    "tone_of",
    "value_of",
    "verdict",
]

VERDICTS: dict[str, str] = {
    "failed": "failed",
    "unscored": "not scored",
    "refused": "refused",
    "wrong": "wrong or low",
    "right": "right or high",
    "other": "no bounds",
}
"""What an item came to by the first metric of its recipe, the worst first, and how people say it.
"""
_HALF = 0.5


def all_costs(costs: Iterable[str | None]) -> Decimal | None:
    """The sum, exactly; None where any is unknown."""
    found = list(costs)
    return None if None in found else sum((Decimal(cost) for cost in found if cost), Decimal(0))


def interval(measured: Measured) -> str | None:
    """0.77 to 0.85; None where there is none."""
    if measured.low is None or measured.high is None:
        return None
    return f"{number(measured.low)} to {number(measured.high)}"


def shortened(text: str, most: int) -> str:
    """The text, cut with a word about what is missing."""
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… and {more:,} more characters"


def bounds(about: Mapping[str, Any]) -> tuple[float, float] | None:
    """The range that a metric declares, where it has one."""
    low, high = about.get("low"), about.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else None


def first_metric(recipe: RecipeResult) -> tuple[str, Mapping[str, Any]]:
    """The label of the metric that is graded, and what it is."""
    for endpoint in recipe.endpoints:
        for metric in endpoint.metrics:
            return metric.metric, metric.about
    return "", {}


def score_of(scores: tuple[ItemScore, ...], label: str) -> ItemScore | None:
    """What the metric of this label says."""
    return next((score for score in scores if score.metric == label), None)


def value_of(score: ItemScore | None) -> float | None:
    """The value, where it was scored."""
    return score.value if score is not None and score.status is ScoreStatus.SCORED else None


def verdict(status: ItemStatus, score: ItemScore | None, about: Mapping[str, Any]) -> str:
    """What an item came to: one of VERDICTS. A refusal that is scored counts by its score: there
    are metrics for which to refuse is right."""
    if status is ItemStatus.FAILED:
        return "failed"
    value = value_of(score)
    if value is None:
        refused = status is ItemStatus.REFUSED
        refused |= score is not None and score.status is ScoreStatus.REFUSED
        return "refused" if refused else "unscored"
    limits = bounds(about)
    if limits is None:
        return "other"
    share = (value - limits[0]) / (limits[1] - limits[0])
    good = 1 - share if about.get("direction") == "lower" else share
    return "right" if good >= _HALF else "wrong"


def tone_of(item: Item, score: ItemScore | None, about: Mapping[str, Any]) -> Tone:
    """The colour of what an item came to."""
    tones: dict[str, Tone] = {"right": "good", "wrong": "bad", "failed": "bad", "other": "plain"}
    return tones.get(verdict(item.status, score, about), "warn")


def grade_place(recipe: RecipeResult, grade: str | None) -> float | None:
    """How far a grade is from the best: 0 for that, 1 for the worst."""
    labels = list(recipe.grading)
    if grade not in labels or len(labels) < 2:
        return None
    return labels.index(grade) / (len(labels) - 1)


def grade_tone(recipe: RecipeResult, grade: str | None) -> Tone:
    """The colour of a grade."""
    return tone_at(grade_place(recipe, grade))


def tone_at(place: float | None) -> Tone:
    """The colour of a place between the best and the worst."""
    if place is None:
        return "plain"
    return "good" if place <= 1 / 3 else "warn" if place <= 2 / 3 else "bad"
