"""Many Scores as one: the mean of what was scored, and how much was not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.metrics.metric import Metric
from penstock.metrics.score import Score, ScoreStatus

__all__ = ["Summary", "summarise"]


@dataclass(frozen=True)
class Summary:
    """`float(summary)` is the mean; it is not a number where nothing was scored."""

    metric: str
    direction: str
    mean: float | None
    """Over the scored ones only; None where there are none."""
    count: int
    scored: int
    no_answer: int
    refused: int
    errors: int
    overall: dict[str, float] = field(default_factory=dict)
    """Values of the corpus as a whole, such as corpus BLEU."""

    def __float__(self) -> float:
        return math.nan if self.mean is None else self.mean

    def __str__(self) -> str:
        if self.mean is None:
            said = f"{self.metric}: nothing scored of {self.count:,}"
        else:
            said = (
                f"{self.metric}: {self.mean:.4g} ({self.direction} is better), "
                f"mean of {self.scored:,} of {self.count:,}"
            )
        missing = (
            (self.no_answer, "without an answer"),
            (self.refused, "refused"),
            (self.errors, "error" if self.errors == 1 else "errors"),
        )
        parts = [said, *(f"{number:,} {what}" for number, what in missing if number)]
        parts += [f"{name} {value:.4g}" for name, value in self.overall.items()]
        return "; ".join(parts)


def summarise(metric: Metric, scores: Iterable[Score]) -> Summary:
    """What the Scores of one metric come to."""
    statuses: Counter[ScoreStatus] = Counter()
    scored: list[Score] = []
    for score in scores:
        statuses[score.status] += 1
        if score.scored:
            scored.append(score)
    # fsum: the same mean whatever the order in which the rows came.
    values = [score.value for score in scored if score.value is not None]
    return Summary(
        metric=metric.name,
        direction=metric.direction,
        mean=math.fsum(values) / len(values) if values else None,
        count=statuses.total(),
        scored=len(scored),
        no_answer=statuses[ScoreStatus.NO_ANSWER],
        refused=statuses[ScoreStatus.REFUSED],
        errors=statuses[ScoreStatus.ERROR],
        overall=metric.overall(scored) if scored else {},
    )
