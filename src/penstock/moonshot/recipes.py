"""Recipes by Moonshot's names, with its metrics mapped as the import of a data folder maps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.bench.importing.metricmap import METRICS, known_metric
from penstock.bench.objects import Recipe
from penstock.bench.shelves import Shelves
from penstock.documents.shelf import Entry
from penstock.engine.workbench import default_workbench
from penstock.errors import InputError
from penstock.moonshot.calling import api, changed
from penstock.moonshot.naming import check_there

__all__ = [
    "api_create_recipe",
    "api_delete_recipe",
    "api_get_all_recipe",
    "api_get_all_recipe_name",
    "api_read_recipe",
    "api_update_recipe",
]

Metrics = Sequence[str | Mapping[str, Any]]
Scale = Mapping[str, Sequence[float]]


@api
def api_create_recipe(
    name: str,
    description: str = "",
    tags: Sequence[str] = (),
    categories: Sequence[str] = (),
    datasets: Sequence[str] = (),
    prompt_templates: Sequence[str] = (),
    metrics: Metrics = (),
    grading_scale: Scale | None = None,
) -> str:
    """Keep a recipe; returns its id. What it names must be there.

    `metrics`: Moonshot's ids (`exactstrmatch`), Penstock's names (`exact_match`), or a mapping such
    as {"metric": "number_match", "after": "The answer is"}. Where a name is both, Moonshot's is
    meant. `grading_scale`: the best grade first.
    """
    bench = default_workbench()
    bench.workspace.prepare()
    given = _given(
        name=name,
        description=description,
        tags=tags,
        categories=categories,
        datasets=datasets,
        prompt_templates=prompt_templates,
        metrics=metrics,
        grading_scale=grading_scale,
    )
    return Shelves(bench).recipes.create(given).id


@api
def api_read_recipe(rec_id: str) -> dict[str, Any]:
    """A recipe in Moonshot's fields."""
    return _shape(Shelves(default_workbench()).recipes.read(rec_id))


@api
def api_update_recipe(
    rec_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    prompt_templates: Sequence[str] | None = None,
    metrics: Metrics | None = None,
    grading_scale: Scale | None = None,
) -> bool:
    """Change some fields of a recipe; its id stays. One that ships is copied first."""
    given = _given(
        name=name,
        description=description,
        tags=tags,
        categories=categories,
        datasets=datasets,
        prompt_templates=prompt_templates,
        metrics=metrics,
        grading_scale=grading_scale,
    )
    Shelves(default_workbench()).recipes.update(rec_id, **given)
    return True


@api
def api_delete_recipe(rec_id: str) -> bool:
    """Forget a recipe of one's own."""
    Shelves(default_workbench()).recipes.delete(rec_id)
    return True


@api
def api_get_all_recipe() -> list[dict[str, Any]]:
    """Every recipe, those that ship with Penstock too."""
    return [api_read_recipe(name) for name in api_get_all_recipe_name()]


@api
def api_get_all_recipe_name() -> list[str]:
    """The ids of all recipes."""
    return Shelves(default_workbench()).recipes.ids()


# Inside -------------------------------------------------------------------------------------


def _given(**fields: Any) -> dict[str, Any]:
    """What a recipe is made of, by our keys; what it names is looked for."""
    given = changed(**fields)
    shelves = Shelves(default_workbench())
    check_there(shelves.datasets, given.get("datasets", ()))
    check_there(shelves.templates, given.get("prompt_templates", ()))
    if "prompt_templates" in given:
        given["templates"] = given.pop("prompt_templates")
    if "grading_scale" in given:
        given["grading"] = dict(given.pop("grading_scale"))
    if "metrics" in given:
        given["metrics"] = _metrics(given["metrics"])
    return given


def _metrics(given: str | Metrics) -> list[Any]:
    """Each once: what is read of a recipe makes the same again."""
    made: list[Any] = []
    for metric in [given] if isinstance(given, str) else given:
        made += [use for use in _uses(metric) if use not in made]
    return made


def _uses(metric: Any) -> list[Any]:
    """Our metrics in the place of one of Moonshot's, the first called by Moonshot's id."""
    if not isinstance(metric, str):
        return [metric]
    if metric not in METRICS:
        return [{"metric": metric}]
    known = known_metric(metric)
    if not known.uses:
        raise InputError(
            f"the metric {metric!r} has no counterpart: {known.why}",
            remedy="`penstock bench list metrics` shows what there is.",
        )
    first, *others = ({"metric": use.metric, **use.params} for use in known.uses)
    return [{**first, "label": metric}, *others]


def _shape(entry: Entry[Recipe]) -> dict[str, Any]:
    recipe = entry.value
    return {
        "id": entry.id,
        "name": recipe.name,
        "description": recipe.description,
        "tags": list(recipe.tags),
        "categories": list(recipe.categories),
        "datasets": list(recipe.datasets),
        "prompt_templates": list(recipe.templates),
        "metrics": [use.name for use in recipe.metrics],
        "grading_scale": {label: list(band) for label, band in recipe.grading.items()},
    }
