"""A turn: one prompt to one endpoint, everything that was done to it, and what came back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from penstock.metrics.score import ScoreStatus
from penstock.outcome import Answer, Failure, FailureKind, Outcome
from penstock.tables import Table

__all__ = ["Setup", "Turn", "TurnStatus", "Verdict", "turns_of"]


class TurnStatus(StrEnum):
    """What became of a prompt."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """The provider says that the model, or its filter, declined."""
    FAILED = "failed"


class Setup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What was chosen when a turn was taken, as text that can be chosen again."""

    strategy: str = "none"
    attack: str = ""
    template: str = ""
    metric: str = ""
    system_prompt: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whether an attack got what it wanted. `success` is None where nobody can say."""

    success: bool | None = None
    value: float | None = None
    status: ScoreStatus = ScoreStatus.SCORED
    reason: str = ""
    extracted: str | None = None
    judge: str = ""
    failure: FailureKind | None = None
    """Where a judge gave no answer: what became of the question. Not recorded."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One turn, as it is recorded."""

    number: int
    """Its place in the conversation, from 1."""
    conversation: str = ""
    endpoint: str
    prompt: str
    """As the person or the attacker wrote it."""
    prepared: str
    """As it was sent: after strategy, attack and template."""
    context: int = 0
    """Earlier messages that went along."""
    setup: Setup = Setup()
    answer: str | None = None
    status: TurnStatus
    failure: str = ""
    error: str = ""
    verdict: Verdict | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: str | None = None
    latency: float | None = None
    recorded: bool = False
    """Whether the answer had been paid for before."""
    time: float = 0.0

    @property
    def success(self) -> bool:
        return self.verdict is not None and bool(self.verdict.success)

    @property
    def text(self) -> str:
        """What came back; nothing where nothing did."""
        return self.answer or ""

    @classmethod
    def of(cls, outcome: Outcome, **known: Any) -> Turn:
        """What became of a question."""
        if isinstance(outcome, Failure):
            return cls(
                **known,
                status=TurnStatus.FAILED,
                failure=outcome.kind.value,
                error=outcome.message,
                time=time.time(),
            )
        assert isinstance(outcome, Answer)
        return cls(
            **known,
            answer=outcome.text,
            status=TurnStatus.REFUSED if outcome.refused else TurnStatus.ANSWERED,
            input_tokens=outcome.usage.input_tokens,
            output_tokens=outcome.usage.output_tokens,
            cost=None if outcome.cost is None else str(outcome.cost),
            latency=outcome.latency or None,
            recorded=outcome.recorded,
            time=time.time(),
        )

    def row(self) -> dict[str, Any]:
        """As a row of a table: flat, plain values."""
        row = {name: getattr(self, name) for name in self.__struct_fields__}
        del row["setup"], row["verdict"]
        row["status"] = str(self.status)
        row |= {name: getattr(self.setup, name) for name in Setup.__struct_fields__}
        verdict = self.verdict or _NONE
        row |= {
            "judge": verdict.judge,
            "success": verdict.success,
            "value": verdict.value,
            "verdict": "" if self.verdict is None else str(verdict.status),
            "reason": verdict.reason,
            "extracted": verdict.extracted,
        }
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Turn:
        """From a row of a table."""
        own = {name: row[name] for name in cls.__struct_fields__ if name in row}
        verdict = None
        if row["verdict"]:
            verdict = Verdict(
                success=row["success"],
                value=row["value"],
                status=ScoreStatus(row["verdict"]),
                reason=row["reason"] or "",
                extracted=row["extracted"],
                judge=row["judge"],
            )
        setup = Setup(**{name: row[name] for name in Setup.__struct_fields__})
        own |= {"status": TurnStatus(row["status"]), "setup": setup, "verdict": verdict}
        return cls(**own)


def turns_of(table: Table) -> Iterator[Turn]:
    """The turns of a table, one at a time."""
    return (Turn.of_row(row) for row in table)


_NONE = Verdict()
