"""One question of a benchmark: asked, then shown to the judges; what came of it as an Item."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.plan import Plan, Question, RecipePlan
from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside
from penstock.errors import RequestError
from penstock.messages import normalise
from penstock.metrics import JudgeMetric, Metric, Sample, Score
from penstock.metrics.resources import facts_of
from penstock.outcome import Answer, Failure, FailureKind, Outcome
from penstock.request import Request, merged_params

__all__ = ["Asked", "Asker", "Ready", "item_of", "measured", "scored"]


class Ready(msgspec.Struct, frozen=True, gc=False):
    """A question as it will be asked."""

    question: Question
    request: Request | Failure
    """Why it cannot be asked, where it cannot."""
    answer: Answer | None = None
    """The one that is there already."""

    def with_answer(self, answer: Answer | None) -> Ready:
        return self if answer is None else Ready(self.question, self.request, answer)


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What became of a question, before the metrics that need no judge have seen it."""

    question: Question
    outcome: Outcome
    judged: Mapping[str, Score]
    """By the label of the metric."""


Noted: TypeAlias = Callable[[bytes], None]
"""Told the key of a question whose answer was there already."""


class Asker:
    """Asks one endpoint."""

    def __init__(self, plan: Plan, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._params = {
            recipe.id: merged_params(endpoint.params, recipe.params) for recipe in plan.recipes
        }
        self._judges = {
            recipe.id: {
                label: metric
                for label, metric in recipe.metrics.items()
                if isinstance(metric, JudgeMetric)
            }
            for recipe in plan.recipes
        }

    def ready(self, question: Question) -> Ready:
        """The question as it is sent."""
        if question.problem:
            return Ready(question, Failure(FailureKind.INPUT, question.problem))
        recipe = question.recipe
        said = normalise(question.prompt, recipe.system_prompt or None)
        request = Request(
            self._endpoint, said, self._params[recipe.id], None, None, question.epoch
        )  # fmt: skip
        try:
            _ = request.key  # made here, off the engine's loop
        except RequestError as error:
            return Ready(question, Failure(FailureKind.INPUT, error.message))
        return Ready(question, request)

    async def ask(self, engine: Engine, ready: Ready, noted: Noted) -> Asked:
        """Ask, then let it be judged. Raises SetAside where an answer lies in a batch."""
        question, request = ready.question, ready.request
        if isinstance(request, Failure):
            return Asked(question, request, {})
        outcome: Outcome
        if ready.answer is not None:
            outcome = ready.answer
            noted(engine.key_of(request))
            engine.progress.count(outcome)
        else:
            outcome = await engine.ask(request)
        judges = self._judges[question.recipe.id]
        if not judges or (isinstance(outcome, Failure) and outcome.kind.undecided):
            return Asked(question, outcome, {})
        scores = await judged(engine, list(judges.values()), sample_of(question, outcome))
        undecided = next((s.failure for s in scores if s.failure and s.failure.undecided), None)
        if undecided is not None:  # its judge was not asked: the question is not done
            return Asked(question, Failure(undecided, "its judge was not asked"), {})
        return Asked(question, outcome, dict(zip(judges, scores, strict=True)))


async def judged(engine: Engine, judges: Sequence[JudgeMetric], sample: Sample) -> list[Score]:
    """Side by side; all of them go into a batch before the row is set aside."""

    async def one(judge: JudgeMetric) -> Score | None:
        try:
            return await judge.judge(engine, sample)
        except SetAside:
            return None

    if len(judges) == 1:
        return [await judges[0].judge(engine, sample)]
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(one(judge)) for judge in judges]
    scores = [task.result() for task in asked]
    if None in scores:
        raise SetAside
    return [score for score in scores if score is not None]


def sample_of(question: Question, outcome: Outcome) -> Sample:
    """What the metrics see."""
    example = question.example
    if isinstance(outcome, Failure):
        return Sample(None, example.target, question.prompt, example.row)
    return Sample(
        outcome.text,
        example.target,
        question.prompt,
        example.row,
        outcome.refused,
        facts_of(outcome),
    )


def measured(block: Sequence[Asked]) -> list[tuple[ItemScore, ...]]:
    """In the user thread: every metric over a block, in the order of each recipe's metrics."""
    found: list[dict[str, Score]] = [dict(each.judged) for each in block]
    for recipe, places in _by_recipe(block):
        samples = [sample_of(block[at].question, block[at].outcome) for at in places]
        for label, metric in recipe.metrics.items():
            if isinstance(metric, JudgeMetric):
                continue
            for at, score in zip(places, scored(metric, samples), strict=True):
                found[at][label] = score
    return [
        tuple(
            ItemScore.of(label, scores.get(label) or Score.no_answer())
            for label in asked.question.recipe.metrics
        )
        for asked, scores in zip(block, found, strict=True)
    ]


def item_of(asked: Asked, scores: tuple[ItemScore, ...], number: int, endpoint: str) -> Item:
    """A question and all that became of it."""
    question, outcome = asked.question, asked.outcome
    example = question.example
    common: dict[str, Any] = {
        "number": number,
        "recipe": question.recipe.id,
        "dataset": question.dataset,
        "template": question.template,
        "endpoint": endpoint,
        "example": example.place,
        "id": example.id,
        "epoch": question.epoch,
        "cluster": example.cluster,
        "prompt": question.prompt,
        "target": example.target,
        "scores": scores,
        "attempts": outcome.attempts,
    }
    if isinstance(outcome, Failure):
        return Item(
            **common,
            status=ItemStatus.FAILED,
            failure=outcome.kind.value,
            error=outcome.message,
        )
    return Item(
        **common,
        answer=outcome.text,
        status=ItemStatus.REFUSED if outcome.refused else ItemStatus.ANSWERED,
        finish=str(outcome.finish),
        input_tokens=outcome.usage.input_tokens,
        output_tokens=outcome.usage.output_tokens,
        cost=None if outcome.cost is None else str(outcome.cost),
        latency=outcome.latency or None,
        recorded=outcome.recorded,
    )


def _by_recipe(block: Sequence[Asked]) -> list[tuple[RecipePlan, list[int]]]:
    found: dict[str, tuple[RecipePlan, list[int]]] = {}
    for at, asked in enumerate(block):
        recipe = asked.question.recipe
        found.setdefault(recipe.id, (recipe, []))[1].append(at)
    return list(found.values())


def scored(metric: Metric, samples: list[Sample]) -> list[Score]:
    """One metric over a block; whatever it does stays with it."""
    try:
        return metric.score_many(samples)
    except Exception as error:
        return [Score.error(f"{metric.name}: {type(error).__name__}: {error}")] * len(samples)
