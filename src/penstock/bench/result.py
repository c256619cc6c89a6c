"""A result: what a run of recipes came to, as one typed document beside the table of its items.

`schema` says its form; a document of a newer one is refused. It is written once and never changed:
a run that is taken up again, or scored anew, writes another.
"""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.engine.resultfiles import ResultFiles

__all__ = [
    "FILES",
    "SCHEMA",
    "BenchResult",
    "CookbookGrade",
    "CookbookResult",
    "EndpointResult",
    "Measured",
    "MetricResult",
    "PartResult",
    "RecipeResult",
]

SCHEMA = "penstock.bench/1"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its limits."""

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    n: int = 0
    note: str = ""


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset with one template."""

    dataset: str
    template: str
    value: float | None
    n: int
    """Examples that were scored."""


class MetricResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one metric says of an endpoint's answers to a recipe.

    Epochs are reduced first; the mean and its interval are over examples.
    """

    metric: str
    """Its label in the recipe."""
    about: dict[str, Any]
    """What was computed: name, version, range, direction, parameters."""
    mean: Measured
    percent: float | None = None
    """The mean as part of its range, where that has bounds."""
    count: int
    """Answers that were to be scored, all epochs."""
    scored: int
    no_answer: int
    refused: int
    errors: int
    overall: dict[str, float] = msgspec.field(default_factory=dict)
    """Values of the corpus as a whole, such as corpus BLEU."""
    reduced: dict[str, float] = msgspec.field(default_factory=dict)
    """With several epochs: other ways to reduce them, such as pass@1, pass@3, pass^3."""
    corrected: Measured | None = None
    """A rate corrected for its judge's errors, where they were given."""
    parts: tuple[PartResult, ...] = ()


class EndpointResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one endpoint did in one recipe."""

    endpoint: str
    items: int
    answered: int
    refused: int
    failed: int
    metrics: tuple[MetricResult, ...]
    grade: str | None = None
    grade_value: float | None = None
    """Per cent: the first metric's mean over dataset x template."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """How many of each kind."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: str | None = None
    """Dollars of the answers, also of those found recorded; None where any price is unknown."""
    latency_median: float | None = None
    latency_p95: float | None = None


class RecipeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one recipe."""

    id: str
    name: str
    description: str = ""
    datasets: tuple[str, ...]
    templates: tuple[str, ...]
    grading: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    epochs: int = 1
    reducer: str = "mean"
    prompts: int = 0
    """Questions of it to each endpoint."""
    endpoints: tuple[EndpointResult, ...]


class CookbookGrade(msgspec.Struct, frozen=True, kw_only=True):
    """How one endpoint did in one cookbook."""

    endpoint: str
    worst: str | None
    """The worst grade of its recipes, as Moonshot has it."""
    mean: float | None
    """The mean of its recipes' grade values, in per cent of good."""
    mean_grade: str | None = None
    """That mean as a grade, where all its recipes have the same grades."""
    graded: int = 0
    recipes: int = 0


class CookbookResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one cookbook."""

    id: str
    name: str
    description: str = ""
    recipes: tuple[str, ...]
    grades: tuple[CookbookGrade, ...]


class BenchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to."""

    schema: str = SCHEMA
    id: str
    """The run's."""
    name: str = ""
    state: str
    """How it ended, in Penstock's words."""
    status: str
    """The same in Moonshot's six."""
    message: str = ""
    started: float
    ended: float
    seconds: float
    endpoints: dict[str, dict[str, Any]]
    """By label: the endpoint's spec, without secrets."""
    judges: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    settings: dict[str, Any]
    """sample, seed, epochs, reducer, system_prompt, lane, params, as they were given."""
    recipes: tuple[RecipeResult, ...]
    cookbooks: tuple[CookbookResult, ...] = ()
    counters: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the run asked, used and paid, judges included."""
    problems: tuple[str, ...] = ()
    """What should be known to whoever reads it."""
    rescored_from: str = ""
    version: str = ""
    """Penstock's."""


FILES = ResultFiles(BenchResult, SCHEMA)
"""Where they lie; the table of items is `items`."""
