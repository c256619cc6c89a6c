"""What one metric says of an endpoint's answers to a recipe: a mean, its limits, and the rest.

Epochs become one value first, and everything here is over examples: to ask a question five times
tells more of that question and nothing of others.

Limits are Wilson's for yes and no. Where examples hang together (a dataset's clusters, one example
in several templates) they are those of the cluster-robust error; else Student's t. They are cut to
the metric's range.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from penstock.bench.result import Measured, MetricResult, PartResult
from penstock.bench.scale import percent
from penstock.bench.summary.measuring import Measuring
from penstock.bench.summary.reducing import Corpus, Examples, Samples
from penstock.metrics.metric import Metric
from penstock.metrics.score import ScoreStatus
from penstock.metrics.statistics import (
    Interval,
    JudgeAccuracy,
    clustered_interval,
    corrected_rate,
    mean_interval,
    pass_all_k,
    pass_at_k,
    reducer,
    wilson,
)

__all__ = ["Column", "bounded_percent", "metric_result"]

_YES_AND_NO = {0.0, 1.0}


@dataclass(frozen=True)
class Column:
    """All that was kept of one metric's scores of one endpoint's answers."""

    label: str
    metric: Metric
    samples: Samples
    place: int
    """Which of the samples' metrics it is."""
    statuses: Counter[ScoreStatus]
    corpus: Corpus | None
    """Where the metric says something of all answers together."""


def metric_result(
    column: Column, recipe: Measuring, examples: Examples, level: float
) -> MetricResult:
    """What they come to."""
    metric, statuses = column.metric, column.statuses
    reduced = column.samples.reduced(column.place, reducer(recipe.reducer), recipe.epochs)
    places = [place for place, value in enumerate(reduced) if value is not None]
    values = [value for value in reduced if value is not None]
    groups = [examples.group[place] for place in places] if examples.grouped else None
    mean = _mean(values, groups, metric, level)
    overall, trouble = _overall(column)
    parts = [examples.part[place] for place in places]
    return MetricResult(
        metric=column.label,
        about=metric.describe(),
        mean=_noted(mean, trouble),
        percent=bounded_percent(metric, mean.value),
        count=statuses.total(),
        scored=statuses[ScoreStatus.SCORED],
        no_answer=statuses[ScoreStatus.NO_ANSWER],
        refused=statuses[ScoreStatus.REFUSED],
        errors=statuses[ScoreStatus.ERROR],
        overall=overall,
        reduced=_passes(column, recipe.epochs) if recipe.epochs > 1 else {},
        corrected=_corrected(values, recipe.accuracy.get(column.label), groups, level),
        parts=_parts(values, parts, examples.parts),
    )


def bounded_percent(metric: Metric, value: float | None) -> float | None:
    """A value as part of the metric's range; None where it has no bounds.

    Rounded far behind the point: 0.29 is 29 per cent, and not a hair below the band that begins
    there.
    """
    if value is None or not (math.isfinite(metric.low) and math.isfinite(metric.high)):
        return None
    return min(max(round(percent(metric, value), 9), 0.0), 100.0)


def _mean(
    values: Sequence[float], groups: Sequence[int] | None, metric: Metric, level: float
) -> Measured:
    if not values:
        return Measured(value=None, level=level, note="nothing was scored")
    binary = (metric.low, metric.high) == (0, 1) and set(values) <= _YES_AND_NO
    within = (metric.low, metric.high)
    if groups is None:
        if binary:
            return _measured(wilson(values.count(1.0), len(values), level=level))
        return _measured(mean_interval(values, level=level, within=within))
    found = clustered_interval(values, groups, level=level, within=within)
    said = f"{len(values):,} values in {found.n:,} groups"
    if binary and len(set(values)) == 1:
        # No spread leaves no error to go by: each group counts as one yes or no.
        passed = found.n if values[0] else 0
        found = replace(wilson(passed, found.n, level=level), method="Wilson, over groups")
    return _noted(_measured(found), said)


def _noted(measured: Measured, more: str) -> Measured:
    """With something more to know."""
    if not more:
        return measured
    note = f"{measured.note}; {more}" if measured.note else more
    return msgspec.structs.replace(measured, note=note)


def _measured(found: Interval) -> Measured:
    return Measured(
        value=found.value, low=found.low, high=found.high, level=found.level,
        method=found.method, n=found.n, note=found.note,
    )  # fmt: skip


def _overall(column: Column) -> tuple[dict[str, float], str]:
    """Also what went wrong there: a metric of someone's own must not cost a run its result."""
    if not column.corpus:
        return {}, ""
    try:
        return column.metric.overall(column.corpus), ""
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        return {}, f"{column.metric.name} could not say anything of all answers together: {said}"


def _passes(column: Column, epochs: int) -> dict[str, float]:
    """pass@k and pass^k for 1, 2, 4, ... and all epochs; nothing where values are not yes and no.

    An example with fewer than k values has none and is left out of that mean.
    """
    counts = column.samples.passed(column.place)
    if not counts:
        return {}
    sizes = [1 << power for power in range(epochs.bit_length()) if 1 << power < epochs]
    found = {}
    for name, chance in (("pass@", pass_at_k), ("pass^", pass_all_k)):
        for k in (*sizes, epochs):
            able = {pair: times for pair, times in counts.items() if pair[0] >= k}
            if able and (k > 1 or chance is pass_at_k):
                summed = math.fsum(chance(*pair, k) * times for pair, times in able.items())
                found[f"{name}{k}"] = summed / sum(able.values())
    return found


def _corrected(
    values: Sequence[float],
    judge: JudgeAccuracy | None,
    groups: Sequence[int] | None,
    level: float,
) -> Measured | None:
    if judge is None or not values or not set(values) <= _YES_AND_NO:
        return None
    found = _measured(corrected_rate(values.count(1.0), len(values), judge, level=level))
    return found if groups is None else _noted(found, "takes all values as independent")


def _parts(
    values: Sequence[float], of: Sequence[int], parts: Mapping[tuple[str, str], int]
) -> tuple[PartResult, ...]:
    """The mean of each dataset with each template."""
    gathered: dict[int, list[float]] = {}
    for value, part in zip(values, of, strict=True):
        gathered.setdefault(part, []).append(value)
    counts = Counter(of)
    return tuple(
        PartResult(
            dataset=dataset,
            template=template,
            value=math.fsum(gathered[part]) / counts[part] if counts[part] else None,
            n=counts[part],
        )
        for (dataset, template), part in parts.items()
    )
