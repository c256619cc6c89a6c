"""Measures: metrics over columns, as columns of a schema or over a finished table.

    dataset({..., "match": eval.exact_match("answer", "solution")})
    ds.evaluate({"match": ds.eval.exact_match("answer", "solution")})

The first column is what is measured, the second what it is held to. A cell that cannot be scored is
a failure or empty, never a number in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.endpoint import Endpoint
from penstock.engine.users import Raised
from penstock.errors import InputError
from penstock.generate.arguments import Needs, no_column
from penstock.generate.columns import Attempt, Column, Make, Row, Scene
from penstock.generate.generator import Generator, sample_of
from penstock.metrics import (
    FunctionMetric,
    JudgeMetric,
    LlmJudge,
    Metric,
    Sample,
    Score,
    ScoreStatus,
    find_metric,
)
from penstock.outcome import Failure, FailureKind
from penstock.templates import Template

if TYPE_CHECKING:
    from penstock.generate.models import Models

__all__ = ["Measure", "Measures", "eval"]


@dataclass(frozen=True, kw_only=True)
class Measure(Column):
    """A metric over columns."""

    metric: Metric | None = None
    """None: a judge, which is made when the run knows its endpoint."""
    answer: str
    target: str | None = None
    question_column: str | None = None
    judge: Generator | None = None
    wishes: Mapping[str, Any] = field(default_factory=dict)
    """What the judge is told."""
    reason: bool = False

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        template = self.wishes.get("template")
        named = [] if template is None else Template(template).names
        shown = [each for each in named if each not in ("answer", "target", "question")]
        for each in (*self._columns(), *shown):
            if each not in columns:
                others = [column for column in columns if column != name]
                raise no_column(f"column {name!r}", repr(each), each, others)
        return Needs(tuple(dict.fromkeys((*self._columns(), *shown))))

    def _columns(self) -> list[str]:
        return [c for c in (self.answer, self.target, self.question_column) if c is not None]

    @property
    def question(self) -> Any:
        return None if self.judge is None else (self.judge, self.answer, str(self.wishes))

    def endpoints(self, models: Models) -> tuple[Endpoint, ...]:
        return () if self.judge is None else (models.of(self.judge),)

    def made(self, models: Models) -> Metric:
        """The metric, with whom it asks."""
        if self.metric is not None:
            return self.metric
        assert self.judge is not None
        return LlmJudge(models.of(self.judge), **self.wishes)

    def sample(self, row: Mapping[str, Any]) -> Sample:
        """What is scored of a row."""
        return Sample(
            _text(row[self.answer]),
            None if self.target is None else _target(row[self.target]),
            None if self.question_column is None else _text(row[self.question_column]),
            dict(row),
        )

    def scorer(self, scene: Scene) -> Callable[[int, Mapping[str, Any]], Any]:
        """What scores a row in a run."""
        metric = self.made(scene.models)

        async def score(number: int, row: Mapping[str, Any]) -> Score:
            sample = self.sample(row)
            if isinstance(metric, JudgeMetric):
                draw = sample_of(number, scene.twin)
                return await metric.judge(scene.engine, sample, draw=draw)
            made: Score | Raised = await scene.calls.share(metric.score_many, sample)
            if isinstance(made, Raised):
                return Score.error(f"{type(made.error).__name__}: {made.error}")
            return made

        return score

    def maker(self, scene: Scene) -> Make:
        score = self.scorer(scene)

        async def make(number: int, row: Row, attempt: Attempt) -> Any:
            return self._cell(await score(number, row))

        return make

    def _cell(self, score: Score) -> Any:
        if score.status is ScoreStatus.NO_ANSWER:
            return None
        if not score.scored:
            return Failure(score.failure or FailureKind.INVALID_ANSWER, score.reason)
        return {"score": score.value, "reason": score.reason} if self.reason else score.value


def _text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else _filled(value)


def _target(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_text(each) or "" for each in value]
    return _text(value)


_CELL = Template("{value}")


def _filled(value: Any) -> str:
    """A value as the templates write it."""
    return _CELL.fill({"value": value})


class Measures:
    """Every measure: `eval.bleu("answer", "reference")`."""

    def exact_match(self, answer: str, target: str, **parameters: Any) -> Measure:
        """1 where the two are equal."""
        return self.metric("exact_match", answer, target, **parameters)

    def contains(self, answer: str, target: str, **parameters: Any) -> Measure:
        """1 where the answer contains the target."""
        return self.metric("contains", answer, target, **parameters)

    def edit_distance(self, answer: str, target: str, **parameters: Any) -> Measure:
        """Letters to change, Levenshtein's way; fewer are better."""
        return self.metric("edit_distance", answer, target, **parameters)

    def edit_similarity(self, answer: str, target: str, **parameters: Any) -> Measure:
        """The same as a likeness, 0 to 1."""
        return self.metric("edit_similarity", answer, target, **parameters)

    def bleu(self, answer: str, target: str, **parameters: Any) -> Measure:
        """BLEU, by sentence and for the whole."""
        return self.metric("bleu", answer, target, **parameters)

    def chrf(self, answer: str, target: str, **parameters: Any) -> Measure:
        """chrF, by sentence and for the whole."""
        return self.metric("chrf", answer, target, **parameters)

    def rouge(self, answer: str, target: str, kind: str = "L", **parameters: Any) -> Measure:
        """ROUGE of a kind: 1, 2, L or Lsum."""
        if str(kind) not in ("1", "2", "L", "Lsum"):
            raise InputError(f"kind is {kind!r}", remedy="Allowed are '1', '2', 'L' and 'Lsum'.")
        return self.metric(f"rouge{kind}", answer, target, **parameters)

    def semantic_similarity(self, answer: str, target: str, **parameters: Any) -> Measure:
        """How near the two are in meaning, by embeddings."""
        return self.metric("semantic_similarity", answer, target, **parameters)

    def llm_judge(
        self,
        answer: str,
        rubric: str = "",
        *,
        model: Generator | Endpoint | str | None = None,
        question: str | None = None,
        target: str | None = None,
        reason: bool = False,
        **wishes: Any,
    ) -> Measure:
        """A model's score by a rubric, 0 to 1; with `reason` the cell holds both. `criteria`,
        `scale`, `template` and `params` are told to the judge."""
        judge = model if isinstance(model, Generator) else Generator(model or "")
        probe = Endpoint("simulated", "simulated")
        LlmJudge(probe, rubric, **wishes)  # what is wrong with it is said here
        return Measure(
            answer=answer,
            target=target,
            question_column=question,
            judge=judge,
            wishes={"rubric": rubric, **wishes},
            reason=reason,
        )

    def metric(
        self, metric: str | Metric, answer: str, target: str | None = None, **parameters: Any
    ) -> Measure:
        """Any metric, by its name or itself."""
        found = find_metric(metric, **parameters) if isinstance(metric, str) else metric
        if isinstance(found, JudgeMetric):
            raise InputError("a judge is made by eval.llm_judge")
        if "target" in found.needs and target is None:
            raise InputError(f"{found.name} needs a second column, which it is held to")
        return Measure(metric=found, answer=answer, target=target)

    def function(
        self,
        function: Callable[..., Any],
        answer: str,
        target: str | None = None,
        **parameters: Any,
    ) -> Measure:
        """A function of yours, of an answer or of an answer and a target."""
        return self.metric(FunctionMetric(function, **parameters), answer, target)


eval = Measures()  # noqa: A001
