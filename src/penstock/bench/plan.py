"""What a run will ask: recipes with all that they name, and the questions that they come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from penstock.bench.objects import Cookbook, Recipe
from penstock.bench.summary.measuring import Measuring
from penstock.documents.examples import Example, Examples
from penstock.documents.shelf import Entry
from penstock.endpoint import Endpoint
from penstock.engine.info import labelled, once
from penstock.errors import InputError
from penstock.metrics import Metric
from penstock.metrics.statistics import JudgeAccuracy
from penstock.templates import JinjaTemplate

__all__ = ["PROMPT", "BookPlan", "Plan", "Question", "RecipePlan"]

PROMPT = "prompt"
"""What templates call the input."""


@dataclass(frozen=True)
class RecipePlan:
    """One recipe with all that it names."""

    id: str
    recipe: Recipe
    datasets: tuple[Examples, ...]
    templates: tuple[tuple[str, JinjaTemplate | None], ...]
    """By id; one without text where the bare input is asked."""
    metrics: dict[str, Metric]
    judges: dict[str, Endpoint]
    """By the label of the metric that asks."""
    epochs: int
    reducer: str
    system_prompt: str
    params: dict[str, Any]
    accuracy: dict[str, JudgeAccuracy]

    @cached_property
    def prompts(self) -> int:
        """Questions to each endpoint."""
        examples = sum(len(dataset) for dataset in self.datasets)
        return examples * len(self.templates) * self.epochs

    @property
    def measuring(self) -> Measuring:
        recipe = self.recipe
        return Measuring(
            id=self.id,
            name=recipe.name,
            description=recipe.description,
            datasets=tuple(dataset.id for dataset in self.datasets),
            templates=tuple(name for name, template in self.templates if template is not None),
            grading=recipe.grading,
            epochs=self.epochs,
            reducer=self.reducer,
            prompts=self.prompts,
            metrics=self.metrics,
            accuracy=self.accuracy,
        )


@dataclass(frozen=True)
class BookPlan:
    """One cookbook with the ids of its recipes."""

    entry: Entry[Cookbook]
    recipes: tuple[str, ...]


class Question(msgspec.Struct, frozen=True, gc=False):
    """One question of the plan, whoever is asked."""

    place: int
    """In the order of the plan."""
    recipe: RecipePlan
    dataset: str
    template: str
    example: Example
    prompt: str
    problem: str
    epoch: int


@dataclass(frozen=True)
class Plan:
    """All recipes of a run over all its endpoints."""

    recipes: tuple[RecipePlan, ...]
    cookbooks: tuple[BookPlan, ...]
    endpoints: dict[str, Endpoint]
    """By the label that results have."""
    problems: tuple[str, ...] = field(default=())

    @cached_property
    def prompts(self) -> int:
        """Questions to each endpoint."""
        return sum(recipe.prompts for recipe in self.recipes)

    @property
    def total(self) -> int:
        """Questions to all of them; judges ask beside."""
        return self.prompts * len(self.endpoints)

    @cached_property
    def judges(self) -> dict[str, Endpoint]:
        """Whom the metrics ask, by label."""
        found = [each for recipe in self.recipes for each in recipe.judges.values()]
        return labelled(once(found))

    def __iter__(self) -> Iterator[Question]:
        """The questions, one at a time, in an order that never changes."""
        place = 0
        for recipe in self.recipes:
            for dataset in recipe.datasets:
                for name, template in recipe.templates:
                    for example in dataset:
                        prompt, problem = _filled(template, example)
                        for epoch in range(recipe.epochs):
                            yield Question(
                                place, recipe, dataset.id, name, example, prompt, problem, epoch
                            )
                            place += 1


def _filled(template: JinjaTemplate | None, example: Example) -> tuple[str, str]:
    """The prompt, and why there is none."""
    if example.problem or template is None:
        return example.input, example.problem
    try:
        return template.fill({**example.row, PROMPT: example.input}), ""
    except InputError as error:
        return "", error.message
