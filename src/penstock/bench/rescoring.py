"""New metrics on old answers: nothing is asked.

A rescored run is a run of its own, with its own result; the old one stays as it is. What a judge
said is kept where its metric is still the same; a new judge would have to be asked, so it is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import msgspec

from penstock.bench.asking import scored
from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.plan import Plan, RecipePlan
from penstock.bench.planning import planned
from penstock.bench.result import FILES
from penstock.bench.results import BenchRun
from penstock.bench.wishes import Wishes
from penstock.documents.examples import Example
from penstock.endpoint import Endpoint
from penstock.engine.info import RunInfo
from penstock.engine.run import Run
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.metrics import JudgeMetric, Metric, Sample
from penstock.tables import TableWriter

__all__ = ["rescore"]

_BLOCK = 1024


def rescore(
    run: BenchRun,
    metrics: Sequence[str | Mapping[str, Any]] = (),
    *,
    name: str = "",
    workbench: Workbench | None = None,
) -> BenchRun:
    """Score the answers of a run anew: by these metrics, or by those that its recipes have now."""
    bench = workbench or default_workbench()
    plan, wishes = _plan(run, metrics, bench)
    kept = _kept_judges(run, plan)
    work = _Rescoring(plan, kept)
    spec = {**wishes.spec(), "rescored_from": run.id}
    began = time.time()
    called = name or wishes.name
    with Run(bench.workspace, bench.catalog, kind="bench", name=called, spec=spec) as made:
        with TableWriter(FILES.table(made.folder, "items", 1)) as writer:
            for item in work.items(run):
                writer.add(item.number, [item.row()])
            table = writer.close()
        made.progress.rows_total = made.progress.rows_done = len(table)
        made.finish(RunState.COMPLETED)
        info = RunInfo(
            made.id,
            made.state,
            made.progress.counters(),
            str(made.folder),
            datetime.now(UTC),
            seconds=time.time() - began,
        )
        result = BenchRun.of(
            info,
            plan,
            replace(wishes, name=called),
            table,
            began=began,
            problems=tuple(run.result.problems),
            rescored_from=run.id,
        )
        FILES.write(result.result, made.folder, 1)
    return result


def _plan(
    run: BenchRun, metrics: Sequence[str | Mapping[str, Any]], bench: Workbench
) -> tuple[Plan, Wishes]:
    """The run's own plan, with other metrics where they are given."""
    wishes = Wishes.from_spec({"bench": run.result.settings})
    known = {recipe.id for recipe in run.result.recipes}
    endpoints = dict(_endpoints(run))
    plan = planned(wishes, bench, tuple(endpoints.values()), metrics=metrics)
    plans = tuple(each for each in plan.recipes if each.id in known)
    return replace(plan, recipes=plans, endpoints=endpoints), wishes


def _endpoints(run: BenchRun) -> Iterator[tuple[str, Endpoint]]:
    """Named as the result calls them, so that two that differ only by a key stay two."""
    for label, spec in run.result.endpoints.items():
        yield label, Endpoint.from_spec(spec, label)


def _kept_judges(run: BenchRun, plan: Plan) -> dict[tuple[str, str], bool]:
    """Which judges' verdicts still stand; a judge that would have to be asked is an error."""
    about = {
        (recipe.id, made.metric): made.about
        for recipe in run.result.recipes
        for each in recipe.endpoints
        for made in each.metrics
    }
    kept = {}
    for recipe in plan.recipes:
        for label, metric in recipe.metrics.items():
            if not isinstance(metric, JudgeMetric):
                continue
            old = about.get((recipe.id, label))
            if old is None or _plain(old) != _plain(metric.describe()):
                raise InputError(
                    f"the metric {label!r} of {recipe.id!r} asks a model, and rescoring asks "
                    "nothing",
                    remedy="Run the benchmark again: what has an answer is found, and only the "
                    "judge is asked.",
                )
            kept[recipe.id, label] = True
    return kept


def _plain(value: Any) -> Any:
    """As it is when it was kept: what is read again has lists where there were tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


@dataclass
class _Rescoring:
    plan: Plan
    kept: dict[tuple[str, str], bool]

    def items(self, run: BenchRun) -> Iterator[Item]:
        """Every item with its new scores, by the block."""
        recipes = {each.id: each for each in self.plan.recipes}
        rows = _Rows(recipes)
        items = (item for item in run if item.recipe in recipes)
        while block := list(islice(items, _BLOCK)):
            yield from self._scored(block, recipes, rows)

    def _scored(
        self, block: list[Item], recipes: Mapping[str, RecipePlan], rows: _Rows
    ) -> Iterator[Item]:
        samples = [rows.sample(item) for item in block]
        found: list[dict[str, ItemScore]] = [{} for _ in block]
        for name, recipe in recipes.items():
            places = [at for at, item in enumerate(block) if item.recipe == name]
            for label, metric in recipe.metrics.items() if places else ():
                for at, score in self._by(metric, label, places, block, samples):
                    found[at][label] = score
        for item, scores in zip(block, found, strict=True):
            yield msgspec.structs.replace(item, scores=tuple(scores.values()))

    def _by(
        self,
        metric: Metric,
        label: str,
        places: list[int],
        block: list[Item],
        samples: list[Sample],
    ) -> Iterator[tuple[int, ItemScore]]:
        if isinstance(metric, JudgeMetric):
            for at in places:
                old = {score.metric: score for score in block[at].scores}
                yield at, old[label]
            return
        scores = scored(metric, [samples[at] for at in places])
        for at, score in zip(places, scores, strict=True):
            yield at, ItemScore.of(label, score)


class _Rows:
    """The examples that items came from, for metrics that look at more of them than the target.

    Items come in the order of their datasets, so each is read along once.
    """

    def __init__(self, recipes: Mapping[str, RecipePlan]) -> None:
        self._datasets = {
            (recipe.id, dataset.id): dataset
            for recipe in recipes.values()
            for dataset in recipe.datasets
        }
        self._at: tuple[str, str, str] | None = None
        self._left: Iterator[Example] = iter(())
        self._now: Example | None = None

    def sample(self, item: Item) -> Sample:
        """What the metrics see of it."""
        example = self._found(item)
        return Sample(
            answer=item.answer,
            target=item.target,
            question=item.prompt,
            row={} if example is None else example.row,
            refused=item.status is ItemStatus.REFUSED,
            facts=_facts(item),
        )

    def _found(self, item: Item) -> Example | None:
        part = (item.recipe, item.dataset, item.template)
        if part != self._at:
            self._at, self._now = part, None
            self._left = iter(self._datasets.get(part[:2], ()))
        while self._now is None or self._now.place < item.example:
            self._now = next(self._left, None)
            if self._now is None:
                return None
        # A dataset that was changed meanwhile has another example there.
        return self._now if self._now.id == item.id else None


def _facts(item: Item) -> dict[str, float]:
    facts: dict[str, float] = {
        "input_tokens": item.input_tokens,
        "output_tokens": item.output_tokens,
        "total_tokens": item.input_tokens + item.output_tokens,
        "attempts": item.attempts,
    }
    if item.latency is not None:
        facts["latency"] = item.latency
    if item.cost is not None:
        facts["cost"] = float(item.cost)
    return facts
