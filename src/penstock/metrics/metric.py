"""A Metric: a scorer that says what it is, what its values mean, and what it needs.

A metric of one's own overrides `measure`, which is only ever called with what the metric needs, and
returns a number or a Score:

    class Length(Metric):
        name = "length"
        summary = "Characters of the answer, of at most 1,000."
        high = 1000.0

        def measure(self, answer: str, sample: Sample) -> float:
            return len(answer)

Everything around it is the same for all: a missing answer is `no_answer`, a missing target or an
exception is `error` in its own row, and so is a value outside the range that the metric declares,
because every mean, grade and chart relies on that range. What the attributes of a metric are named
and hold is what a report says was computed; those with an underscore are not shown.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from penstock.errors import InputError, PenstockError
from penstock.metrics.score import Sample, Score

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

__all__ = ["NEEDS_TARGET", "Direction", "JudgeMetric", "Measured", "Metric", "Need"]

Direction: TypeAlias = Literal["higher", "lower"]
Need: TypeAlias = Literal["target", "question", "judge", "embedding", "facts"]
Measured: TypeAlias = Score | float | bool

NEEDS_TARGET: frozenset[Need] = frozenset({"target"})
_NEEDS = frozenset({"target", "question", "judge", "embedding", "facts"})
_SLACK = 1e-9


class Metric(ABC):
    """A scorer. Its parameters are its attributes, given to and checked by the constructor."""

    name: str
    version: int = 1
    """Raised when the same sample would get another value."""
    summary: str = ""
    """One line for lists and reports."""
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"
    """Which is better."""
    needs: frozenset[Need] = frozenset()
    reads_refusals: bool = False
    """Whether a refused answer is measured like any other, as a metric of refusals does."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not isinstance(getattr(cls, "name", None), str):
            cls.name = cls.__name__
        check_declared(cls)

    # For those who make a metric --------------------------------------------------------------

    @abstractmethod
    def measure(self, answer: str, sample: Sample) -> Measured:
        """The value of one answer: a number or a Score."""

    def measure_many(self, samples: Sequence[Sample]) -> Sequence[Measured]:
        """The values of many, in order; overridden where many at once are cheaper.

        When it raises, the samples are measured one by one.
        """
        return [self._attempt(sample) for sample in samples]

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        """Values of a corpus as a whole beside the mean, from the scored ones' `parts`."""
        return {}

    def prepare(self) -> None:  # noqa: B027 - most metrics need nothing
        """Load what all samples need. What is missing here fails the work, not each row."""

    def best(self, values: Iterable[float]) -> float:
        """The best of the values for several targets."""
        return max(values) if self.direction == "higher" else min(values)

    @property
    def parameters(self) -> dict[str, Any]:
        """What was given to the constructor, as plain data."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    # For those who use one --------------------------------------------------------------------

    def score(self, sample: Sample) -> Score:
        """The Score of one sample; never raises for what a sample holds."""
        return self.score_many([sample])[0]

    def score_many(self, samples: Sequence[Sample]) -> list[Score]:
        """The Scores of many samples, in order. A bad sample spoils only its own."""
        self.prepare()
        scores = [self._barred(sample) for sample in samples]
        at = [number for number, barred in enumerate(scores) if barred is None]
        chosen = [samples[number] for number in at]
        try:
            made = list(self.measure_many(chosen))
            if len(made) != len(chosen):
                raise ValueError(f"{len(chosen)} samples gave {len(made)} values")
        except Exception:
            made = [self._attempt(sample) for sample in chosen]
        for number, value in zip(at, made, strict=True):
            scores[number] = self._checked(value)
        return [score for score in scores if score is not None]

    def describe(self) -> dict[str, Any]:
        """What was computed, as plain data for a report."""
        return {
            "name": self.name,
            "version": self.version,
            "summary": self.summary,
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high if math.isfinite(self.high) else None,
            "direction": self.direction,
            "needs": sorted(self.needs),
            "parameters": self.parameters,
        }

    # What is the same for all -----------------------------------------------------------------

    def _barred(self, sample: Sample) -> Score | None:
        """The Score of a sample that cannot be measured."""
        if sample.refused and not self.reads_refusals:
            return Score.refused()
        answer: object = sample.answer  # a table's cell may be of any type
        if answer is None:
            return Score.no_answer()
        if not isinstance(answer, str):
            return Score.error(f"the answer is of type {_kind(answer)}; a text is wanted")
        if "question" in self.needs and sample.question is None:
            return Score.error(f"there is no question, which {self.name} needs")
        return self._barred_target(sample) if "target" in self.needs else None

    def _barred_target(self, sample: Sample) -> Score | None:
        given: object = sample.target
        if not isinstance(given, str | Sequence | None):
            return Score.error(f"the target is of type {_kind(given)}; a text is wanted")
        targets: Sequence[object] = sample.targets
        if not targets:
            return Score.error(f"there is no target, which {self.name} needs")
        for target in targets:
            if not isinstance(target, str):
                return Score.error(f"a target is of type {_kind(target)}; a text is wanted")
        return None

    def _attempt(self, sample: Sample) -> Measured:
        assert sample.answer is not None
        try:
            return self.measure(sample.answer, sample)
        except Exception as error:
            return trouble(error)

    def _checked(self, made: Measured) -> Score:
        """A Score whose value is a number within the declared range."""
        score = made if isinstance(made, Score) else _scored(made)
        if not score.scored:
            return score if score.value is None else Score.error("a value without being scored")
        value = score.value
        if value is None or not math.isfinite(value):
            return Score.error(f"{self.name} gave {value}, which is no number")
        if not self.low - _SLACK <= value <= self.high + _SLACK:
            return Score.error(
                f"{self.name} gave {value:g}, outside its range {self.low:g} to {self.high:g}"
            )
        return msgspec.structs.replace(score, value=min(max(value, self.low), self.high))


def check_declared(metric: Metric | type[Metric]) -> None:
    """What a metric says of itself must make sense, or nothing made of it does."""
    if metric.direction not in ("higher", "lower"):
        raise InputError(
            f"the direction of {metric.name} is {metric.direction!r}",
            remedy="Say which is better: 'higher' or 'lower'.",
        )
    if not metric.low < metric.high:
        raise InputError(f"the range of {metric.name} is {metric.low} to {metric.high}")
    if unknown := metric.needs - _NEEDS:
        raise InputError(
            f"{metric.name} needs {', '.join(map(repr, sorted(unknown)))}, which no sample has",
            remedy=f"A metric may need {', '.join(sorted(_NEEDS))}.",
        )


def trouble(error: Exception) -> Score:
    """What was raised over one sample, as its Score."""
    if isinstance(error, PenstockError):
        return Score.error(str(error))
    return Score.error(f"{type(error).__name__}: {error}")


def _scored(made: Any) -> Score:
    if made is None or isinstance(made, str | bytes):
        return Score.error(f"the metric gave {made!r:.100}; a number is wanted")
    try:
        return Score(float(made))
    except (TypeError, ValueError, OverflowError):
        return Score.error(f"the metric gave {made!r:.100}; a number is wanted")


def _kind(value: object) -> str:
    return type(value).__name__


class JudgeMetric(Metric):
    """A metric that asks a model. It overrides `verdict`; `judge` is what is called."""

    needs: frozenset[Need] = frozenset({"judge"})

    @abstractmethod
    async def verdict(self, engine: Engine, answer: str, sample: Sample, draw: int) -> Score:
        """What the judge says of one answer; `draw` is the number of this independent opinion."""

    async def judge(self, engine: Engine, sample: Sample, *, draw: int = 0) -> Score:
        """The Score of one sample. Asked through the engine: recorded, and never asked twice.

        A row set aside for a batch is told by a BaseException, which passes.
        """
        barred = self._barred(sample)
        if barred is not None:
            return barred
        assert sample.answer is not None
        try:
            return self._checked(await self.verdict(engine, sample.answer, sample, draw))
        except Exception as error:
            return trouble(error)

    def score_many(self, samples: Sequence[Sample]) -> list[Score]:
        raise self._needs_engine()

    def measure(self, answer: str, sample: Sample) -> Measured:
        raise self._needs_engine()

    def _needs_engine(self) -> InputError:
        return InputError(
            f"{self.name} asks a model and cannot score without an engine",
            remedy="Call `await metric.judge(engine, sample)`.",
        )
