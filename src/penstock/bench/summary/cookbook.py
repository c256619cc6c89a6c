"""What the grades of recipes come to for a cookbook: the worst of them, and their mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from penstock.bench.result import CookbookGrade, CookbookResult, RecipeResult
from penstock.bench.scale import Scale

__all__ = ["cookbook_of"]


class _Graded(NamedTuple):
    """One recipe's grade."""

    grade: str
    value: float
    """In per cent of the metric's range."""
    scale: Scale
    lower: bool
    """Whether lower values are better."""

    @property
    def badness(self) -> float:
        """From 0, its scale's best grade, to 1, the worst: what different scales share."""
        return self.scale.rank(self.grade) / (len(self.scale.bands) - 1)

    @property
    def good(self) -> float:
        """Per cent of good."""
        return 100 - self.value if self.lower else self.value


def cookbook_of(
    id: str,  # noqa: A002
    name: str,
    description: str,
    recipe_ids: Sequence[str],
    results: Sequence[RecipeResult],
    endpoints: Sequence[str],
) -> CookbookResult:
    """How each endpoint did in the cookbook's recipes; those without a grade are only counted."""
    found = {result.id: result for result in results}
    recipes = [found[recipe] for recipe in recipe_ids if recipe in found]
    return CookbookResult(
        id=id,
        name=name,
        description=description,
        recipes=tuple(recipe_ids),
        grades=tuple(_grade(endpoint, recipes, len(recipe_ids)) for endpoint in endpoints),
    )


def _grade(endpoint: str, recipes: Sequence[RecipeResult], count: int) -> CookbookGrade:
    graded = [one for recipe in recipes if (one := _graded(recipe, endpoint)) is not None]
    mean = math.fsum(one.good for one in graded) / len(graded) if graded else None
    return CookbookGrade(
        endpoint=endpoint,
        worst=max(graded, key=lambda one: one.badness).grade if graded else None,
        mean=mean,
        mean_grade=None if mean is None else _mean_grade(graded, mean),
        graded=len(graded),
        recipes=count,
    )


def _graded(recipe: RecipeResult, endpoint: str) -> _Graded | None:
    for one in recipe.endpoints:
        if one.endpoint == endpoint and one.grade is not None and one.grade_value is not None:
            about: Mapping[str, object] = one.metrics[0].about
            lower = about.get("direction") == "lower"
            return _Graded(one.grade, one.grade_value, Scale.of(recipe.grading), lower)
    return None


def _mean_grade(graded: Sequence[_Graded], mean: float) -> str | None:
    """Only where all have the same grades and the same direction."""
    first = graded[0]
    if any((one.scale, one.lower) != (first.scale, first.lower) for one in graded):
        return None
    value = 100 - mean if first.lower else mean
    return first.scale.grade(min(max(round(value, 9), 0.0), 100.0))
