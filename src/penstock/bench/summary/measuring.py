"""What a recipe is measured by: all that its items' scores need to become a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.metrics.metric import Metric
from penstock.metrics.statistics import JudgeAccuracy

__all__ = ["Measuring"]


@dataclass(frozen=True)
class Measuring:
    """A recipe as its result will tell of it, with its metrics made."""

    id: str
    name: str
    description: str
    datasets: tuple[str, ...]
    """Ids; so with templates."""
    templates: tuple[str, ...]
    """Empty where the bare input is asked: the template of its items is then ""."""
    grading: Mapping[str, tuple[float, float]]
    epochs: int
    reducer: str
    prompts: int
    """Questions of it to each endpoint."""
    metrics: Mapping[str, Metric]
    """By label, in order; the first is graded."""
    accuracy: Mapping[str, JudgeAccuracy] = field(default_factory=dict)
    """By label: how often the judge behind a metric is right, where that is known."""
