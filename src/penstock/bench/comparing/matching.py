"""Which metrics of two results measure the same, and why the others cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from penstock.bench.comparing.notes import Names, metric_notes, recipe_notes
from penstock.bench.result import BenchResult, MetricResult, RecipeResult

__all__ = ["Incomparable", "Match", "Matches", "matches"]


class Incomparable(NamedTuple):
    """What was not compared."""

    recipe: str
    metric: str
    """Empty where it is the whole recipe."""
    reason: str


class Match(NamedTuple):
    """One metric as both results tell of it."""

    a: RecipeResult
    b: RecipeResult
    about: Mapping[str, Any]

    @property
    def direction(self) -> Literal["higher", "lower"]:
        return "lower" if self.about.get("direction") == "lower" else "higher"

    @property
    def whole(self) -> float | None:
        """How far its values can lie apart; None where they have no bounds."""
        low, high = self.about.get("low"), self.about.get("high")
        return None if low is None or high is None else high - low


@dataclass
class Matches:
    """By recipe and label, in the order of the first result."""

    found: dict[str, dict[str, Match]] = field(default_factory=dict)
    incomparable: list[Incomparable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def matches(
    a: tuple[BenchResult, str],
    b: tuple[BenchResult, str],
    names: Names,
    recipe: str | None,
    metric: str | None,
) -> Matches:
    """Of two results, each with its endpoint: all that match, or those that are named."""
    made = Matches()
    ours, theirs = (
        {each.id: each for each in result.recipes if recipe in (None, each.id)}
        for result, _ in (a, b)
    )
    for name in dict.fromkeys([*ours, *theirs]):
        if name not in ours or name not in theirs:
            made.incomparable.append(Incomparable(name, "", _only(name in ours, names)))
            continue
        one, other = ours[name], theirs[name]
        labels = _labels(one, a[1]), _labels(other, b[1])
        found = dict(_matching(one, other, labels, names, metric, made))
        if found:
            made.found[name] = found
            made.notes += recipe_notes(one, other, names)
    return made


def _matching(
    a: RecipeResult,
    b: RecipeResult,
    labels: tuple[Mapping[str, MetricResult], Mapping[str, MetricResult]],
    names: Names,
    metric: str | None,
    made: Matches,
) -> Iterator[tuple[str, Match]]:
    ours, theirs = labels
    for label in dict.fromkeys([*ours, *theirs]):
        if metric not in (None, label):
            continue
        if label not in ours or label not in theirs:
            made.incomparable.append(Incomparable(a.id, label, _only(label in ours, names)))
            continue
        one, other = ours[label].about, theirs[label].about
        if reason := _unlike(one, other, (a.reducer, b.reducer), names):
            made.incomparable.append(Incomparable(a.id, label, reason))
            continue
        made.notes += metric_notes(a.id, label, one, other, names)
        yield label, Match(a, b, one)


def _unlike(
    a: Mapping[str, Any], b: Mapping[str, Any], reducers: tuple[str, str], names: Names
) -> str:
    """Why two metrics of one label do not measure the same; empty where they do."""
    one, other = (f"{about.get('name')} version {about.get('version')}" for about in (a, b))
    if one != other:
        return f"it is {one} in {names[0]} and {other} in {names[1]}"
    if reducers[0] != reducers[1]:
        said = "its epochs are reduced by"
        return f"{said} {reducers[0]} in {names[0]} and by {reducers[1]} in {names[1]}"
    return ""


def _only(first: bool, names: Names) -> str:
    return f"it is only in {names[0 if first else 1]}"


def _labels(recipe: RecipeResult, endpoint: str) -> dict[str, MetricResult]:
    for one in recipe.endpoints:
        if one.endpoint == endpoint:
            return {metric.metric: metric for metric in one.metrics}
    return {}
