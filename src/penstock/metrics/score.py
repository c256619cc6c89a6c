"""What is scored, and what comes of it.

A Score is a value or the reason why there is none. Nothing stands in for a missing value: a mean is
made of what was scored, and what was not is counted beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from penstock.outcome import FailureKind

__all__ = ["Sample", "Score", "ScoreStatus"]


class ScoreStatus(StrEnum):
    """Whether there is a value, and if not, why."""

    SCORED = "scored"
    NO_ANSWER = "no_answer"
    REFUSED = "refused"
    ERROR = "error"


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One answer, and what it is held to."""

    answer: str | None
    """None where there is no answer: the question failed, or the cell is empty."""
    target: str | Sequence[str] | None = None
    """What would be right. Of several, the one that suits the answer best counts."""
    question: str | None = None
    row: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The whole row, for the templates of judges."""
    refused: bool = False
    """The model, or its provider's filter, declined to answer."""
    facts: Mapping[str, float] = msgspec.field(default_factory=dict)
    """What was counted while the answer was made, by name: `latency`, `cost`, `output_tokens`."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, however many there are."""
        if self.target is None:
            return ()
        return (self.target,) if isinstance(self.target, str) else tuple(self.target)


class Score(msgspec.Struct, frozen=True, gc=False):
    """What a metric says of one sample. `value` is None unless `status` is `scored`."""

    value: float | None
    status: ScoreStatus = ScoreStatus.SCORED
    reason: str = ""
    extracted: str | None = None
    """What was read from the answer, or from the judge, to come to the value."""
    parts: tuple[float, ...] = ()
    """What must be summed over a corpus for the values of `Metric.overall`."""
    failure: FailureKind | None = None
    """Where a judge gave no answer: what became of the question."""

    @classmethod
    def no_answer(cls, reason: str = "there is no answer") -> Score:
        return cls(None, ScoreStatus.NO_ANSWER, reason)

    @classmethod
    def refused(cls, reason: str = "the model refused to answer") -> Score:
        return cls(None, ScoreStatus.REFUSED, reason)

    @classmethod
    def error(cls, reason: str, failure: FailureKind | None = None) -> Score:
        return cls(None, ScoreStatus.ERROR, reason, failure=failure)

    @property
    def scored(self) -> bool:
        return self.status is ScoreStatus.SCORED
