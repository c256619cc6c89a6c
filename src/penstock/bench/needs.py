"""What a recipe needs: datasets, templates, metrics, and the judges that its metrics ask."""

from __future__ import annotations

from typing import Any

from penstock.bench.objects import Cookbook, Recipe
from penstock.bench.planning import referred
from penstock.bench.shelves import Shelves
from penstock.documents.examples import Examples, Share
from penstock.documents.shelf import Entry
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.metrics.finding import asks_judge

__all__ = ["needs_of", "needs_of_all"]


def needs_of_all(
    entry: Entry[Cookbook], bench: Workbench, shelves: Shelves
) -> list[dict[str, Any]]:
    """Those of every recipe of a cookbook; one that is missing is told in its place too."""
    found = []
    for name in entry.value.recipes:
        try:
            found.append(needs_of(referred(shelves.recipes, name, entry), bench, shelves))
        except (InputError, NotFoundError) as error:
            found.append(_nothing(name, error.message))
    return found


def needs_of(entry: Entry[Recipe], bench: Workbench, shelves: Shelves) -> dict[str, Any]:
    """As plain data; what is missing is told in its place, so that one look shows all of it."""
    recipe = entry.value
    missing: list[str] = []
    examples = 0
    for name in recipe.datasets:
        try:
            examples += len(Examples(referred(shelves.datasets, name, entry), Share()))
        except (InputError, NotFoundError) as error:
            missing.append(error.message)
    for name in recipe.templates:
        try:
            referred(shelves.templates, name, entry)
        except (InputError, NotFoundError) as error:
            missing.append(error.message)
    judges = [judge for use in recipe.metrics if (judge := _judge(use, recipe, shelves, missing))]
    for judge in dict.fromkeys(judges):
        if judge != _UNNAMED:
            try:
                bench.endpoint(judge)
            except (InputError, NotFoundError) as error:
                missing.append(error.message)
    return {
        "recipe": entry.id,
        "datasets": list(recipe.datasets),
        "templates": list(recipe.templates),
        "metrics": [use.name for use in recipe.metrics],
        "judge": ", ".join(dict.fromkeys(judges)),
        "prompts": examples * max(1, len(recipe.templates)) * recipe.epochs,
        "missing": missing,
    }


_UNNAMED = "(give --judge)"


def _nothing(recipe: str, missing: str) -> dict[str, Any]:
    return {
        "recipe": recipe,
        "datasets": [],
        "templates": [],
        "metrics": [],
        "judge": "",
        "prompts": 0,
        "missing": [missing],
    }


def _judge(use: Any, recipe: Recipe, shelves: Shelves, missing: list[str]) -> str:
    """Who judges for a metric; "" where nobody does."""
    name, judge = use.metric, use.judge
    if name in shelves.metrics:
        own = shelves.metrics.read(name).value
        name, judge = own.metric, judge or own.judge
    try:
        asks = asks_judge(name)
    except (InputError, NotFoundError) as error:
        missing.append(error.message)
        return ""
    return (judge or recipe.judge or _UNNAMED) if asks else ""
