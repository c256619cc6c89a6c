"""A plan made of what a person asks: everything is found and checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.bench.objects import MetricUse, Recipe
from penstock.bench.plan import PROMPT, BookPlan, Plan, RecipePlan
from penstock.bench.scale import percent
from penstock.bench.shelves import Shelves, is_file
from penstock.bench.wishes import Wishes
from penstock.documents.examples import Examples, Share
from penstock.documents.shelf import Entry, Shelf
from penstock.endpoint import Endpoint
from penstock.engine.info import labelled, once
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.metrics import Metric
from penstock.metrics.finding import asks_judge, find_judged
from penstock.metrics.statistics import JudgeAccuracy
from penstock.request import merged_params
from penstock.templates import JinjaTemplate, template_of

__all__ = ["planned", "referred"]

_SO_MANY = re.compile(r"(?:pass[@^]|at_least\()(\d+)\)?")


def planned(
    wishes: Wishes,
    bench: Workbench,
    given: Sequence[Endpoint] = (),
    metrics: Sequence[str | Mapping[str, Any]] = (),
) -> Plan:
    """Everything that a run names. Raises what is wrong with it; sends nothing.

    `given`: endpoints that were given as objects, in Python. `metrics`: instead of the recipes'.
    """
    shelves = Shelves(bench)
    recipes: dict[str, Entry[Recipe]] = {}
    for name in wishes.recipes:
        _take(recipes, shelves.recipes.read(name))
    books = []
    for name in wishes.cookbooks:
        book = shelves.cookbooks.read(name)
        found = [referred(shelves.recipes, each, book) for each in book.value.recipes]
        for entry in found:
            _take(recipes, entry)
        books.append(BookPlan(book, tuple(dict.fromkeys(entry.id for entry in found))))
    endpoints = [bench.endpoint(each) for each in given or wishes.endpoints or (None,)]
    if len(once(endpoints)) < len(endpoints):
        raise InputError("an endpoint is named twice, and would give the same answers twice")
    maker = _Maker(wishes, bench, shelves)
    plans = tuple(maker.recipe(_measured_by(entry, metrics)) for entry in recipes.values())
    _check_accuracy(wishes, plans)
    for endpoint in endpoints:
        for plan in plans:
            merged_params(endpoint.params, plan.params)
    return Plan(plans, tuple(books), labelled(endpoints), _warnings(plans, endpoints))


_NAME_ONE = "Give --judge ENDPOINT, or write judge: in the recipe."


class _Maker:
    """Makes plans of recipes; what several of them name is made once."""

    def __init__(self, wishes: Wishes, bench: Workbench, shelves: Shelves) -> None:
        self._wishes = wishes
        self._bench = bench
        self._shelves = shelves
        self._made: dict[Any, Examples] = {}
        self._share = Share.parse(wishes.sample)

    def recipe(self, entry: Entry[Recipe]) -> RecipePlan:
        recipe, wishes = entry.value, self._wishes
        try:
            metrics, judges = self._metrics(recipe)
            templates = [self._template(each, entry) for each in dict.fromkeys(recipe.templates)]
            datasets = [self._examples(each, entry) for each in dict.fromkeys(recipe.datasets)]
            _check_ids("template", [name for name, _ in templates])
            _check_ids("dataset", [each.id for each in datasets])
            plan = RecipePlan(
                entry.id,
                recipe,
                tuple(datasets),
                tuple(templates) or (("", None),),
                metrics,
                judges,
                wishes.epochs or recipe.epochs,
                wishes.reducer or recipe.reducer,
                recipe.system_prompt if wishes.system_prompt is None else wishes.system_prompt,
                {**recipe.params, **wishes.params},
                {
                    name: JudgeAccuracy(*wishes.accuracy[name])
                    for name in metrics
                    if name in wishes.accuracy
                },
            )
            _check_epochs(plan)
            _check_templates(plan)
            _check_grading(plan)
        except (InputError, NotFoundError) as error:
            raise type(error)(
                f"the recipe {entry.id!r}: {error.message}", remedy=error.remedy
            ) from None
        return plan

    def _examples(self, name: str, entry: Entry[Recipe]) -> Examples:
        found = referred(self._shelves.datasets, name, entry)
        key = found.path or found.id
        if key not in self._made:
            self._made[key] = Examples(found, self._share, self._wishes.seed)
            self._made[key].look_through()
        return self._made[key]

    def _template(self, name: str, entry: Entry[Recipe]) -> tuple[str, JinjaTemplate | None]:
        found = referred(self._shelves.templates, name, entry)
        made = template_of(found.value.template, "jinja")
        assert isinstance(made, JinjaTemplate)
        return found.id, made

    # Metrics ----------------------------------------------------------------------------------

    def _metrics(self, recipe: Recipe) -> tuple[dict[str, Metric], dict[str, Endpoint]]:
        metrics: dict[str, Metric] = {}
        judges: dict[str, Endpoint] = {}
        for use in recipe.metrics:
            made = self._metric(self._named(use), recipe, judges)
            made.prepare()
            metrics[use.name] = made
        return metrics, judges

    def _named(self, use: MetricUse) -> MetricUse:
        """What a metric of the user's own stands for."""
        if use.metric not in self._shelves.metrics:
            return use
        own = self._shelves.metrics.read(use.metric).value
        return MetricUse(
            metric=own.metric,
            label=use.name,
            judge=use.judge or own.judge,
            params={**own.params, **use.params},
        )

    def _metric(self, use: MetricUse, recipe: Recipe, judges: dict[str, Endpoint]) -> Metric:
        judge = self._wishes.judge or use.judge or recipe.judge
        endpoint = None
        if judge is not None and "endpoint" not in use.params and asks_judge(use.metric):
            endpoint = judges[use.name] = self._bench.endpoint(judge)
        return find_judged(use.metric, endpoint, _NAME_ONE, **use.params)


def referred(shelf: Shelf[Any], name: str, by: Entry[Any]) -> Entry[Any]:
    """What an object names: an id, or, for one that was given as a file, a file beside it."""
    own = by.path is not None and by.path.parent.parent == shelf.folder.parent
    near = None if by.path is None or by.shipped or own else by.path.parent
    if near is None and is_file(name):
        raise InputError(
            f"it names the file {name!r}; one that is kept in the library names ids",
            remedy=f"There are: {', '.join(shelf.ids()) or 'none yet'}.",
        )
    found: Entry[Any] = shelf.read(name, near=near)
    return found


def _take(recipes: dict[str, Entry[Recipe]], entry: Entry[Recipe]) -> None:
    known = recipes.setdefault(entry.id, entry)
    if known.path is not None and entry.path is not None and not known.path.samefile(entry.path):
        raise InputError(
            f"two recipes have the id {entry.id!r}: {known.path} and {entry.path}",
            remedy="Name one of the files otherwise.",
        )


def _measured_by(entry: Entry[Recipe], metrics: Sequence[str | Mapping[str, Any]]) -> Entry[Recipe]:
    """The same recipe by other metrics; it keeps its grading where the first is the same."""
    if not metrics:
        return entry
    old = entry.value
    made = Recipe.made({**old.to_dict(), "metrics": list(metrics)}, "the metrics")
    if made.metrics[0].metric != old.metrics[0].metric:
        made = made.model_copy(update={"grading": {}})
    return replace(entry, value=made)


def _check_ids(kind: str, ids: Sequence[str]) -> None:
    """Results tell them apart by their ids."""
    for name in ids:
        if ids.count(name) > 1:
            raise InputError(
                f"it names two {kind}s with the id {name!r}",
                remedy="Give one of the files another name.",
            )


def _check_epochs(plan: RecipePlan) -> None:
    found = _SO_MANY.fullmatch(plan.reducer)
    if found is not None and int(found[1]) > plan.epochs:
        raise InputError(
            f"{plan.reducer} needs {found[1]} epochs or more, and there are {plan.epochs}",
            remedy=f"Give --epochs {found[1]}, or write epochs: {found[1]} in the recipe.",
        )


def _check_accuracy(wishes: Wishes, plans: Iterable[RecipePlan]) -> None:
    known = list(dict.fromkeys(label for plan in plans for label in plan.metrics))
    for name in wishes.accuracy:
        if name not in known:
            raise InputError(
                f"the accuracy of a judge is given for {name!r}, by which nothing is measured",
                remedy=f"There are: {', '.join(known)}.",
            )


def _check_templates(plan: RecipePlan) -> None:
    """A name that no example has is told now, not by every question."""
    for dataset in plan.datasets:
        columns = [*dataset.columns(), PROMPT]
        for name, template in plan.templates:
            if template is not None:
                try:
                    template.check(columns)
                except InputError as error:
                    raise InputError(
                        f"with the template {name!r} and the dataset {dataset.id!r}: "
                        f"{error.message}",
                        remedy=error.remedy,
                    ) from None


def _check_grading(plan: RecipePlan) -> None:
    scale = plan.recipe.scale
    if scale is None:
        return
    label, metric = next(iter(plan.metrics.items()))
    percent(metric, metric.high)
    if scale.contradicts(metric.direction):
        best = scale.bands[0]
        raise InputError(
            f"its grading calls {best.low:g} to {best.high:g} per cent the best ({best.label}), "
            f"but of {label} {metric.direction} is better",
            remedy="Turn the grading round (`penstock bench import --fix-grading` does).",
        )


def _warnings(plans: Sequence[RecipePlan], endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """What should be known, though nothing is wrong."""
    said: list[str] = []
    for plan in plans:
        heats = [{**each.params, **plan.params}.get("temperature") for each in endpoints]
        if plan.epochs > 1 and 0 in heats:
            said.append(
                f"{plan.id}: {plan.epochs} epochs at temperature 0 mostly repeat the same answer"
            )
    return tuple(said)
