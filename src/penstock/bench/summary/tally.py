"""What is kept of the items of one recipe and endpoint while they pass by, and what it comes to."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from decimal import Decimal
from statistics import median

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.result import EndpointResult, MetricResult
from penstock.bench.scale import Scale
from penstock.bench.summary.measuring import Measuring
from penstock.bench.summary.metric import Column, bounded_percent, metric_result
from penstock.bench.summary.reducing import Corpus, Examples, Samples
from penstock.metrics.metric import Metric
from penstock.metrics.score import ScoreStatus

__all__ = ["Tally"]


class Tally:
    """The examples are those of the recipe, which all its endpoints share."""

    def __init__(self, recipe: Measuring, endpoint: str, examples: Examples) -> None:
        self.recipe, self.endpoint, self.examples = recipe, endpoint, examples
        self._samples = Samples(len(recipe.metrics))
        self._columns = [
            Column(label, metric, self._samples, place, Counter(), _corpus(metric))
            for place, (label, metric) in enumerate(recipe.metrics.items())
        ]
        self._became: Counter[ItemStatus] = Counter()
        self._failures: Counter[str] = Counter()
        self._tokens = [0, 0]
        self._cost = Decimal(0)
        self._unpriced = False
        self._latencies = array("d")

    def add(self, item: Item) -> None:
        """One item; nothing of it is kept but numbers."""
        place = self.examples.place(item.dataset, item.template, item.id, item.cluster)
        found = {score.metric: score for score in item.scores}
        self._samples.add(place, [_value(column, found) for column in self._columns])
        self._became[item.status] += 1
        self._tokens[0] += item.input_tokens
        self._tokens[1] += item.output_tokens
        if item.status is ItemStatus.FAILED:
            self._failures[item.failure or "unknown"] += 1
            return
        if item.cost is None:
            self._unpriced = True
        else:
            self._cost += Decimal(item.cost)
        if item.latency is not None:
            self._latencies.append(item.latency)

    def result(self, level: float) -> EndpointResult:
        """What they come to."""
        metrics = tuple(
            metric_result(column, self.recipe, self.examples, level) for column in self._columns
        )
        value = self._graded_value(metrics[0])
        latencies = sorted(self._latencies)
        return EndpointResult(
            endpoint=self.endpoint,
            items=self._became.total(),
            answered=self._became[ItemStatus.ANSWERED],
            refused=self._became[ItemStatus.REFUSED],
            failed=self._became[ItemStatus.FAILED],
            metrics=metrics,
            grade=self._grade(value),
            grade_value=value,
            failures=dict(sorted(self._failures.items(), key=lambda each: (-each[1], each[0]))),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
            cost=None if self._unpriced else f"{self._cost:f}",
            latency_median=median(latencies) if latencies else None,
            latency_p95=latencies[math.ceil(0.95 * len(latencies)) - 1] if latencies else None,
        )

    def _graded_value(self, first: MetricResult) -> float | None:
        """The mean over dataset x template, each counting as much, in per cent."""
        means = [part.value for part in first.parts if part.value is not None]
        mean = math.fsum(means) / len(means) if means else None
        return bounded_percent(self._columns[0].metric, mean)

    def _grade(self, value: float | None) -> str | None:
        if value is None or not self.recipe.grading:
            return None
        return Scale.of(self.recipe.grading).grade(value)


def _corpus(metric: Metric) -> Corpus | None:
    """Only where the metric has something to say of all answers together."""
    return Corpus() if type(metric).overall is not Metric.overall else None


def _value(column: Column, found: dict[str, ItemScore]) -> float | None:
    """The value of one score, which is counted by the way; without a score there is no answer."""
    score = found.get(column.label)
    status = ScoreStatus.NO_ANSWER if score is None else score.status
    value = score.value if score is not None and status is ScoreStatus.SCORED else None
    if status is ScoreStatus.SCORED and (value is None or not math.isfinite(value)):
        status, value = ScoreStatus.ERROR, None
    column.statuses[status] += 1
    if score is not None and value is not None and column.corpus is not None:
        column.corpus.add(value, score.parts)
    return value
