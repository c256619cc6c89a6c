"""The sections on the scores: the grades at a glance, then recipe by recipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.bench.report.charts import Dot, Panel, dots
from penstock.bench.report.marks import Cell, block, matrix
from penstock.bench.report.words import bounds, first_metric, grade_place, grade_tone, interval
from penstock.bench.result import (
    BenchResult,
    CookbookResult,
    EndpointResult,
    MetricResult,
    RecipeResult,
)
from penstock.reports import Markup, badge, details, figure, number, percent, table
from penstock.reports.text import escaped
from penstock.reports.words import counted

__all__ = ["grades", "recipe_parts"]

_PANELS = 6
_MAYBE = ("of range", "grade", "no answer", "refused", "errors")


def grades(result: BenchResult) -> Iterator[Markup | str]:
    """Recipes down, endpoints across; cookbooks with the worst of their grades and the mean."""
    endpoints = list(result.endpoints)
    graded = any(each.grade for recipe in result.recipes for each in recipe.endpoints)
    if graded:
        yield (
            "The grade of each recipe by the mean of its first metric, in per cent of its range; "
            "the colour says how far it is from the best grade."
        )
    else:
        yield "The mean of the first metric of each recipe, with its interval."
    yield matrix(endpoints, _rows(result, endpoints), corner="recipe")


def _rows(
    result: BenchResult, endpoints: Sequence[str]
) -> Iterator[tuple[str, str, Sequence[Cell]]]:
    recipes = {recipe.id: recipe for recipe in result.recipes}
    inside = {id_ for cookbook in result.cookbooks for id_ in cookbook.recipes}
    for recipe in result.recipes:
        if recipe.id not in inside:
            yield "", _named(recipe), _cells(recipe, endpoints)
    for cookbook in result.cookbooks:
        yield "group", cookbook.name or cookbook.id, ()
        found = [recipes[id_] for id_ in cookbook.recipes if id_ in recipes]
        for recipe in found:
            yield "", _named(recipe), _cells(recipe, endpoints)
        yield from _cookbook(cookbook, found, endpoints)


def _cells(recipe: RecipeResult, endpoints: Sequence[str]) -> list[Cell]:
    found = {each.endpoint: each for each in recipe.endpoints}
    return [_cell(recipe, found.get(name)) for name in endpoints]


def _cell(recipe: RecipeResult, each: EndpointResult | None) -> Cell:
    if each is None or not each.metrics:
        return Cell("–")
    value = each.grade_value
    if each.grade is not None:
        note = "" if value is None else percent(value / 100)
        return Cell(each.grade, note, grade_place(recipe, each.grade))
    return Cell(number(each.metrics[0].mean.value), interval(each.metrics[0].mean) or "")


def _cookbook(
    cookbook: CookbookResult, recipes: Sequence[RecipeResult], endpoints: Sequence[str]
) -> Iterator[tuple[str, str, Sequence[Cell]]]:
    found = {each.endpoint: each for each in cookbook.grades}
    worst, means = [], []
    for name in endpoints:
        grade = found.get(name)
        if grade is None or grade.worst is None:
            worst.append(Cell("–"))
            means.append(Cell("–"))
            continue
        note = "" if grade.graded == grade.recipes else f"{grade.graded} of {grade.recipes} graded"
        worst.append(Cell(grade.worst, note, _place(recipes, name, grade.worst)))
        mean = "–" if grade.mean is None else percent(grade.mean / 100)
        place = None if grade.mean is None else 1 - grade.mean / 100
        if grade.mean_grade is not None:
            place = _place(recipes, name, grade.mean_grade)
            means.append(Cell(grade.mean_grade, mean, place))
        else:
            means.append(Cell(mean, "", place))
    yield "total", "worst", worst
    yield "total", "mean", means


def _place(recipes: Sequence[RecipeResult], endpoint: str, grade: str) -> float | None:
    """Of a grade of a cookbook: in the scale of a recipe that has it, the endpoint's own first."""
    own = [
        recipe
        for recipe in recipes
        for each in recipe.endpoints
        if each.endpoint == endpoint and each.grade == grade
    ]
    places = (grade_place(recipe, grade) for recipe in (*own, *recipes))
    return next((place for place in places if place is not None), None)


# One recipe -----------------------------------------------------------------------------------


def recipe_parts(recipe: RecipeResult, endpoints: Sequence[str]) -> Iterator[Markup | str]:
    """What it is, the scores as a picture, and as numbers."""
    yield _about(recipe)
    if any(each.metrics for each in recipe.endpoints):
        labels = list(dict.fromkeys(m.metric for each in recipe.endpoints for m in each.metrics))
        panels = [_panel(recipe, label, endpoints) for label in labels]
        yield figure(dots(panels[:_PANELS], title=f"Scores of {_named(recipe)}"), _caption(recipe))
        yield _scores(recipe)
        yield from _more(recipe)
    else:
        yield "Nothing was scored."


def _about(recipe: RecipeResult) -> str:
    sets = ", ".join(recipe.datasets)
    made = f"{counted(recipe.prompts, 'question')} to each endpoint from {sets}"
    made += f"; templates: {', '.join(recipe.templates)}" if recipe.templates else ""
    if recipe.epochs > 1:
        made += f"; each asked {recipe.epochs} times, reduced by {recipe.reducer}"
    return f"{recipe.description}\n\n{made}." if recipe.description else f"{made}."


def _panel(recipe: RecipeResult, label: str, endpoints: Sequence[str]) -> Panel:
    order = {name: place for place, name in enumerate(endpoints)}
    found = [
        (each.endpoint, metric)
        for each in recipe.endpoints
        for metric in each.metrics
        if metric.metric == label
    ]
    about = found[0][1].about
    limits = bounds(about)
    bands: list[tuple[str, float, float]] = []
    if limits is not None and recipe.grading and label == first_metric(recipe)[0]:
        low, width = limits[0], limits[1] - limits[0]
        bands = [
            (grade, low + width * band[0] / 100, low + width * _end(recipe, band) / 100)
            for grade, band in recipe.grading.items()
        ]
    note = f"{about['direction']} is better" if about.get("direction") else ""
    made = [
        Dot(name, order.get(name, 0), metric.mean.value, metric.mean.low, metric.mean.high)
        for name, metric in found
    ]
    return Panel(label, note, made, limits, bands)


def _end(recipe: RecipeResult, band: tuple[float, float]) -> float:
    """Where the next band begins: bands in whole numbers leave a gap of one between them."""
    higher = [other[0] for other in recipe.grading.values() if other[0] > band[0]]
    return min(higher, default=band[1])


def _caption(recipe: RecipeResult) -> str:
    means = [metric.mean for each in recipe.endpoints for metric in each.metrics]
    levels = sorted({mean.level for mean in means if mean.low is not None})
    if not levels:
        return "Means; there is no interval, because too little was scored."
    methods = sorted({mean.method for mean in means if mean.low is not None and mean.method})
    by = f" ({', '.join(methods)})" if methods else ""
    said = f"Dots are means, lines their {percent(levels[0])} intervals{by}."
    bands = " Dashed lines divide the grades." if recipe.grading else ""
    return said + bands


def _scores(recipe: RecipeResult) -> Markup:
    heads = [
        *("endpoint", "metric", "mean", "interval", "of range", "grade", "scored", "no answer"),
        *("refused", "errors"),
    ]
    rows = [
        _line(recipe, each, metric, is_first=place == 0)
        for each in recipe.endpoints
        for place, metric in enumerate(each.metrics)
    ]
    # Columns in which nothing stands would push others out of sight.
    kept = [
        place
        for place, head in enumerate(heads)
        if head not in _MAYBE or any(row[place] for row in rows)
    ]
    numeric = ("mean", "interval", "of range", "scored", "no answer", "refused", "errors")
    lines = [[row[place] for place in kept] for row in rows]
    return block("tight", table([heads[place] for place in kept], lines, numeric=numeric))


def _line(
    recipe: RecipeResult, each: EndpointResult, metric: MetricResult, *, is_first: bool
) -> tuple[object, ...]:
    grade = each.grade if is_first else None
    return (
        escaped(each.endpoint),
        metric.metric,
        metric.mean.value,
        interval(metric.mean),
        None if metric.percent is None else percent(metric.percent / 100),
        None if grade is None else badge(grade, grade_tone(recipe, grade)),
        metric.scored,
        metric.no_answer,
        metric.refused,
        metric.errors,
    )


def _more(recipe: RecipeResult) -> Iterator[Markup | str]:
    """What else was computed, folded."""
    if rows := list(_also(recipe)):
        heads = ["endpoint", "metric", "what", "value", "interval"]
        yield details("Other values", table(heads, rows, numeric=("value", "interval")))
    parts = [
        (each.endpoint, metric.metric, part.dataset, part.template or None, part.value, part.n)
        for each in recipe.endpoints
        for metric in each.metrics
        for part in metric.parts
    ]
    if len({(row[2], row[3]) for row in parts}) > 1:
        heads = ["endpoint", "metric", "dataset", "template", "mean", "examples"]
        shown = table(heads, parts, numeric=("mean", "examples"))
        yield details("By dataset and template", shown)
    notes = dict.fromkeys(
        f"{metric.metric}, {each.endpoint}: {metric.mean.note}"
        for each in recipe.endpoints
        for metric in each.metrics
        if metric.mean.note
    )
    if notes:
        rows_of_notes = [(note,) for note in notes]
        yield details("Notes on the intervals", table(["note"], rows_of_notes, numeric=()))
    if recipe.grading:
        bands = [
            (badge(grade, grade_tone(recipe, grade)), f"{number(low)} to {number(high)} %")
            for grade, (low, high) in recipe.grading.items()
        ]
        yield details("The grades", table(["grade", "of range"], bands, numeric=()))


def _also(recipe: RecipeResult) -> Iterator[tuple[object, ...]]:
    for each in recipe.endpoints:
        for metric in each.metrics:
            if metric.corrected is not None:
                fixed = metric.corrected
                said = "corrected for the judge's errors"
                yield each.endpoint, metric.metric, said, fixed.value, interval(fixed)
            for name, value in (*metric.overall.items(), *metric.reduced.items()):
                yield each.endpoint, metric.metric, name, value, None


def _named(recipe: RecipeResult) -> str:
    return recipe.name or recipe.id
