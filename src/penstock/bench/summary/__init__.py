"""From items to a result: one pass over them, whatever their number and order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from penstock.bench.item import Item
from penstock.bench.result import RecipeResult
from penstock.bench.summary.cookbook import cookbook_of
from penstock.bench.summary.measuring import Measuring
from penstock.bench.summary.reducing import Examples
from penstock.bench.summary.tally import Tally
from penstock.metrics.statistics.interval import check_level

__all__ = ["Measuring", "cookbook_of", "recipes_of"]


def recipes_of(
    items: Iterable[Item],
    recipes: Sequence[Measuring],
    endpoints: Sequence[str],
    *,
    level: float = 0.95,
) -> tuple[RecipeResult, ...]:
    """What became of each recipe with each endpoint; items of others are passed over.

    The items are read once and not kept. An endpoint that has none, because the run was stopped
    before, is in the result with nothing counted.
    """
    check_level(level)
    tallies = {recipe.id: _tallies(recipe, endpoints) for recipe in recipes}
    for item in items:
        tally = tallies.get(item.recipe, {}).get(item.endpoint)
        if tally is not None:
            tally.add(item)
    return tuple(_result(recipe, tallies[recipe.id], level) for recipe in recipes)


def _tallies(recipe: Measuring, endpoints: Sequence[str]) -> dict[str, Tally]:
    examples = Examples()
    for part in product(recipe.datasets, recipe.templates or ("",)):
        examples.add_part(*part)  # in the recipe's order, also where nothing was asked
    return {endpoint: Tally(recipe, endpoint, examples) for endpoint in endpoints}


def _result(recipe: Measuring, tallies: dict[str, Tally], level: float) -> RecipeResult:
    return RecipeResult(
        id=recipe.id,
        name=recipe.name,
        description=recipe.description,
        datasets=recipe.datasets,
        templates=recipe.templates,
        grading={label: (band[0], band[1]) for label, band in recipe.grading.items()},
        epochs=recipe.epochs,
        reducer=recipe.reducer,
        prompts=recipe.prompts,
        endpoints=tuple(tally.result(level) for tally in tallies.values()),
    )
