"""Moonshot's recipes and cookbooks, with their metrics mapped, their judges and their gradings.

What they name by id is named by our ids, which are never paths. What is not there is told; the
recipe is kept all the same, so that it can be completed later. Only one without any metric is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.bench.importing.finding import Written, id_of
from penstock.bench.importing.judges import Judges
from penstock.bench.importing.metricmap import known_metric
from penstock.bench.importing.report import Backwards, Tally
from penstock.bench.objects import Cookbook, Recipe
from penstock.documents.problems import Problems
from penstock.errors import InputError

__all__ = ["Recipes", "cookbook_of"]

_DESCRIBED = ("name", "description", "tags", "categories")
# What Moonshot counts itself.
_COUNTED = frozenset({"id", "stats", "endpoint_required", "total_prompt_in_cookbook"})

There = Callable[[str], bool]


@dataclass(frozen=True)
class Recipes:
    """Brings in recipes: what they may name, and where what is found goes."""

    has_dataset: There
    has_template: There
    judges: Judges
    tally: Tally
    fix_grading: bool

    def bring(self, name: str, written: Written, place: Callable[[Recipe], bool]) -> bool:
        """Keep one recipe; False where an equal one is there. Raises what is wrong with it."""
        metrics = _metric_ids(written)
        uses = self._uses(name, written, metrics)
        # Without a metric it is not kept, but the rest of it is looked at.
        recipe = self._made(name, written, uses or [{"metric": metrics[0]}])
        known, scale = known_metric(metrics[0]), recipe.scale
        wrong = (
            scale is not None
            and known.graded
            and known.direction is not None
            and scale.contradicts(known.direction)
        )
        fixed = False
        try:
            if not uses:
                raise InputError(f"none of its metrics has a counterpart: {', '.join(metrics)}")
            if wrong and self.fix_grading:
                recipe = _turned(recipe)
            recipe = self._graded(name, metrics[0], recipe)
            new = place(recipe)
            fixed = self.fix_grading and bool(recipe.grading)
            return new
        finally:
            if wrong and scale is not None and known.direction is not None:
                self.tally.backwards.append(
                    Backwards(name, metrics[0], known.direction, scale.direction, fixed)
                )

    def _uses(self, name: str, written: Written, metrics: Sequence[str]) -> list[dict[str, Any]]:
        """Our metrics in the place of Moonshot's."""
        made: list[dict[str, Any]] = []
        for metric in metrics:
            known = known_metric(metric)
            if not known.uses:
                self.tally.unmapped(metric, known.why, name)
                continue
            if known.note:
                self.tally.note(f"{metric}: {known.note}", "recipe", name)
            judge = None
            if known.judged:
                judge = self.judges.judge(metric, name, written.file, self.tally)
            for use in known.uses:
                entry: dict[str, Any] = {"metric": use.metric, "params": dict(use.params)}
                if any(use.metric == other["metric"] for other in made):
                    entry["label"] = metric
                made.append({**entry, "judge": judge} if judge else entry)
        return made

    def _made(self, name: str, written: Written, uses: list[dict[str, Any]]) -> Recipe:
        data = _given(written, (*_DESCRIBED, "grading_scale"))
        wanted = (("datasets", "dataset", self.has_dataset),
                  ("prompt_templates", "template", self.has_template))  # fmt: skip
        for key, kind, there in wanted:
            if written.data.get(key) is not None:
                missing = _Missing("recipe", name, kind, there, self.tally)
                data[key] = missing.known(written, key)
        recipe = Recipe.made({**data, "metrics": uses}, written.file, written.document)
        self.tally.note_unused(written.data, {*data, "metrics", *_COUNTED}, "recipe", name)
        return recipe

    def _graded(self, name: str, metric: str, recipe: Recipe) -> Recipe:
        """Without its grading where that belongs to a value which is not there."""
        known = known_metric(metric)
        if not recipe.grading or (known.uses and known.graded):
            return recipe
        why = "which has no counterpart" if not known.uses else "which Moonshot does not grade"
        said = f"the grading was left out: it belongs to {metric}, {why}"
        self.tally.note(said, "recipe", name)
        return recipe.model_copy(update={"grading": {}})


def cookbook_of(name: str, written: Written, has_recipe: There, tally: Tally) -> Cookbook:
    """A cookbook; what it names and is not there is told."""
    data = _given(written, _DESCRIBED)
    if written.data.get("recipes") is not None:
        missing = _Missing("cookbook", name, "recipe", has_recipe, tally)
        data["recipes"] = missing.known(written, "recipes")
    made = Cookbook.made(data, written.file, written.document)
    tally.note_unused(written.data, {*data, *_COUNTED}, "cookbook", name)
    return made


@dataclass(frozen=True)
class _Missing:
    """Names by our ids, and tells of those that are not there."""

    kind: str
    name: str
    wanted: str
    there: There
    tally: Tally

    def known(self, written: Written, key: str) -> Any:
        """The ids that a key names; what is no list of texts is left to the model to refuse."""
        given = written.data[key]
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            return given
        made = []
        for each in given:
            try:
                made.append(id_of(each))
            except InputError:
                self._lack(written, each)
            else:
                if not self.there(made[-1]):
                    self._lack(written, each)
        return list(dict.fromkeys(made))

    def _lack(self, written: Written, name: str) -> None:
        reason = f"its {self.wanted} {name!r} is not here"
        self.tally.lack(self.kind, self.name, written.file, reason)


def _metric_ids(written: Written) -> list[str]:
    """The metrics that a recipe names, each once."""
    given = written.data.get("metrics")
    given = [given] if isinstance(given, str) else given
    if isinstance(given, list) and given and all(isinstance(each, str) and each for each in given):
        return list(dict.fromkeys(given))
    problems = Problems(written.file, written.document)
    problems.add(("metrics",), InputError("a list of the ids of metrics is wanted"))
    problems.check()
    raise AssertionError("a mistake was found")


def _turned(recipe: Recipe) -> Recipe:
    assert recipe.scale is not None
    bands = recipe.scale.turned().bands
    return recipe.model_copy(
        update={"grading": {band.label: (band.low, band.high) for band in bands}}
    )


def _given(written: Written, keys: Sequence[str]) -> dict[str, Any]:
    """Those of the keys that say something."""
    return {key: written.data[key] for key in keys if written.data.get(key) is not None}
