"""What a benchmark is made of, as people write it: datasets, templates, metrics, recipes and so on.

A recipe is datasets x templates, with metrics and a grading; a cookbook is a list of recipes; a
runner is a name with endpoints. Moonshot's own names of keys are understood as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field, field_validator

from penstock.bench.scale import Scale
from penstock.documents.models import Model, wrong
from penstock.documents.objects import Dataset, Described, Name, Template
from penstock.errors import InputError

__all__ = [
    "KINDS",
    "Cookbook",
    "Dataset",
    "MetricUse",
    "NamedMetric",
    "Recipe",
    "Runner",
    "Template",
]

Names = tuple[Annotated[str, Field(min_length=1)], ...]

_METRIC_KEYS = ("metric", "label", "judge")


def _as_texts(given: Any) -> Any:
    """One text where a list is wanted is a list of one."""
    return [given] if isinstance(given, str) else given


class Listed(Described):
    """What is found by words."""

    tags: Names = Field((), description="Words to find it by.")
    categories: Names = Field((), description="What it measures: Capability, Safety, ...")


class MetricUse(Model):
    """A metric with its parameters, as a recipe names it."""

    metric: Name = Field(description="Its name: one of `penstock bench list metrics`.")
    label: str = Field("", description="How results call it; else as the metric is called.")
    judge: str | None = Field(None, description="The endpoint that judges, where one is needed.")
    params: dict[str, Any] = Field(default_factory=dict, description="Its own parameters.")

    @property
    def name(self) -> str:
        return self.label or self.metric


def _as_metric(given: Any) -> Any:
    """`exact_match`, `{number_match: {after: ...}}` or `{metric: number_match, after: ...}`."""
    if isinstance(given, str):
        return {"metric": given}
    if not isinstance(given, Mapping):
        return given
    if "metric" not in given and len(given) == 1:
        [(name, params)] = given.items()
        if isinstance(params, Mapping | None):
            given = {**(params or {}), "metric": name}
    params = {key: value for key, value in given.items() if key not in (*_METRIC_KEYS, "params")}
    known = {key: given[key] for key in _METRIC_KEYS if key in given}
    named = given.get("params")
    return {**known, "params": {**(named if isinstance(named, Mapping) else {}), **params}}


Metric = Annotated[MetricUse, BeforeValidator(_as_metric)]


class NamedMetric(Described):
    """A metric with parameters that is kept under a name of its own."""

    metric: Name = Field(description="The metric that it is made of.")
    judge: str | None = Field(None, description="The endpoint that judges, where one is needed.")
    params: dict[str, Any] = Field(default_factory=dict, description="Its parameters.")


class Recipe(Listed):
    """Datasets x templates, asked and measured."""

    hints: ClassVar[Mapping[str, str]] = {
        "dataset": "datasets", "template": "templates", "metric": "metrics", "scale": "grading",
        "grade": "grading", "system": "system_prompt",
    }  # fmt: skip

    datasets: Annotated[Names, BeforeValidator(_as_texts), Field(min_length=1)] = Field(
        description="Ids of datasets, or files."
    )
    templates: Annotated[Names, BeforeValidator(_as_texts)] = Field(
        (),
        validation_alias=AliasChoices("templates", "prompt_templates"),
        description="Ids of templates, or files; without any, the bare input is asked.",
    )
    metrics: tuple[Metric, ...] = Field(
        min_length=1, description="What the answers are measured by; the first one is graded."
    )
    grading: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("grading", "grading_scale"),
        description="Grades, best first, each with its band in per cent: {A: [80, 100], ...}.",
    )
    system_prompt: str = Field("", description="Sent with every question.")
    params: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of every question, such as temperature."
    )
    epochs: int = Field(1, ge=1, le=1000, description="How often each question is asked.")
    reducer: str = Field(
        "mean", description="How epochs become one: mean, median, mode, max, pass@k, pass^k."
    )
    judge: str | None = Field(None, description="The endpoint that judges, for its metrics.")

    @field_validator("metrics")
    @classmethod
    def _labels_differ(cls, metrics: tuple[MetricUse, ...]) -> tuple[MetricUse, ...]:
        names = [metric.name for metric in metrics]
        for name in names:
            if names.count(name) > 1:
                raise wrong(f"{name!r} stands there twice", "Give one of them a label: of its own.")
        return metrics

    @field_validator("grading")
    @classmethod
    def _tiles(cls, bands: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        if bands:
            try:
                Scale.of(bands)
            except InputError as error:
                raise wrong(error.message, error.remedy) from None
        return bands

    @property
    def scale(self) -> Scale | None:
        """Its grading, where there is one."""
        return Scale.of(self.grading) if self.grading else None

    @field_validator("reducer")
    @classmethod
    def _known_reducer(cls, name: str) -> str:
        from penstock.metrics.statistics import reducer

        try:
            reducer(name)
        except InputError as error:
            raise wrong(error.message, error.remedy) from None
        return name


class Cookbook(Listed):
    """A list of recipes."""

    hints: ClassVar[Mapping[str, str]] = {"recipe": "recipes"}

    recipes: Annotated[Names, BeforeValidator(_as_texts), Field(min_length=1)] = Field(
        description="Ids of recipes, or files."
    )


class Runner(Described):
    """A name with endpoints, to run again and again."""

    endpoints: Annotated[Names, BeforeValidator(_as_texts), Field(min_length=1)] = Field(
        description="Names of saved endpoints, or provider/model."
    )


KINDS: dict[str, type[Model]] = {
    "dataset": Dataset,
    "template": Template,
    "metric": NamedMetric,
    "recipe": Recipe,
    "cookbook": Cookbook,
    "runner": Runner,
}
