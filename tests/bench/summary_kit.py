"""Items and recipes to measure, made in a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.result import BenchResult, EndpointResult, MetricResult
from penstock.bench.summary import Measuring, recipes_of
from penstock.metrics.metric import Measured, Metric
from penstock.metrics.score import Sample, ScoreStatus
from penstock.tables import Table

Value = float | ScoreStatus | ItemScore


class Yes(Metric):
    """Right or wrong."""

    name = "yes"

    def measure(self, answer: str, sample: Sample) -> Measured:
        raise NotImplementedError


class Share(Yes):
    """Anything from 0 to 1."""

    name = "share"


class Harm(Yes):
    """Lower is better."""

    name = "harm"
    direction = "lower"


class Length(Yes):
    """Without an upper bound."""

    name = "length"
    high = math.inf


BANDS: dict[str, tuple[float, float]] = {
    "A": (80, 100), "B": (60, 79), "C": (40, 59), "D": (20, 39), "E": (0, 19),
}  # fmt: skip


def measuring(**given: Any) -> Measuring:
    """A recipe with one metric of yes and no, unless it is told otherwise."""
    usual: dict[str, Any] = {
        "id": "r", "name": "R", "description": "", "datasets": ("d",), "templates": (),
        "grading": {}, "epochs": 1, "reducer": "mean", "prompts": 0, "metrics": {"yes": Yes()},
    }  # fmt: skip
    return Measuring(**(usual | given))


def item(id_: str = "q", scores: Mapping[str, Value] | Value | None = None, **given: Any) -> Item:
    """One item; a bare score is that of `yes`."""
    if isinstance(scores, float | int | ScoreStatus | ItemScore):
        scores = {"yes": scores}
    usual: dict[str, Any] = {
        "number": 0, "recipe": "r", "dataset": "d", "template": "", "endpoint": "m", "example": 0,
        "id": id_, "epoch": 0, "prompt": f"ask {id_}", "target": (f"target {id_}",),
        "answer": f"answer {id_}", "status": ItemStatus.ANSWERED, "cost": "0.001", "latency": 1.0,
        "scores": tuple(_score(label, value) for label, value in (scores or {}).items()),
    }  # fmt: skip
    return Item(**(usual | given))


def _score(label: str, value: Value) -> ItemScore:
    if isinstance(value, ItemScore):
        return value
    if isinstance(value, ScoreStatus):
        return ItemScore(label, None, value)
    return ItemScore(label, float(value))


def answers(values: Iterable[Value], label: str = "yes", **given: Any) -> list[Item]:
    """One item for each value: q0, q1, ..."""
    return [item(f"q{at}", {label: value}, **given) for at, value in enumerate(values)]


def summed(items: Iterable[Item], recipe: Measuring | None = None, **given: Any) -> EndpointResult:
    """What they come to for the endpoint `m`."""
    [result] = recipes_of(items, [recipe or measuring(**given)], ["m"])
    return result.endpoints[0]


def first(items: Iterable[Item], recipe: Measuring | None = None, **given: Any) -> MetricResult:
    """What the first metric comes to."""
    return summed(items, recipe, **given).metrics[0]


def table(items: Iterable[Item]) -> Table:
    return Table.from_rows([each.row() for each in items])


def result(
    items: Iterable[Item], recipes: Iterable[Measuring], asked: Iterable[str], **given: Any
) -> BenchResult:
    """A run with those items."""
    usual: dict[str, Any] = {
        "id": "run-1", "state": "completed", "status": "completed", "started": 0.0, "ended": 1.0,
        "seconds": 1.0, "endpoints": {name: {"model": name} for name in asked}, "settings": {},
        "recipes": recipes_of(items, list(recipes), list(asked)),
    }  # fmt: skip
    return BenchResult(**(usual | given))
