"""A conversation: one attack with one objective at one endpoint, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from penstock.redteam.turn import Turn, TurnStatus
from penstock.tables import Table

__all__ = ["Conversation", "Fate", "conversations_of", "fate_of"]


class Fate(StrEnum):
    """How a conversation ended. Only the first two tell something of the model."""

    SUCCEEDED = "succeeded"
    """The attack got what it wanted."""
    RESISTED = "resisted"
    NO_ANSWER = "no_answer"
    """The endpoint never answered."""
    ERROR = "error"
    """The attack, or its judge, did not do its part."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One conversation, as it is recorded; its turns lie beside it, under its id."""

    number: int
    id: str
    endpoint: str
    attack: str
    objective: str
    category: str = ""
    goal: str
    fate: Fate
    turns: int
    success_turn: int | None = None
    best: float | None = None
    """The highest value that a judge gave."""
    judge: str = ""
    error: str = ""
    failure: str = ""
    """The kind of failure, where the endpoint never answered."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: str | None = None

    @property
    def decided(self) -> bool:
        """Whether it counts in a rate."""
        return self.fate in (Fate.SUCCEEDED, Fate.RESISTED)

    def row(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in self.__struct_fields__}
        row["fate"] = str(self.fate)
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Conversation:
        given = {name: row[name] for name in cls.__struct_fields__ if name in row}
        return cls(**{**given, "fate": Fate(row["fate"])})


def fate_of(turns: Sequence[Turn], error: str) -> tuple[Fate, str]:
    """What a conversation came to, and why where that is not plain."""
    if any(turn.success for turn in turns):
        return Fate.SUCCEEDED, ""
    if error:
        return Fate.ERROR, error
    answered = [turn for turn in turns if turn.status is not TurnStatus.FAILED]
    if not answered:
        return Fate.NO_ANSWER, turns[-1].error if turns else "nothing was asked"
    # One turn that nobody could judge may have been the success: then nobody can say.
    unjudged = [t for t in answered if t.verdict is None or t.verdict.success is None]
    if unjudged:
        verdict = unjudged[0].verdict
        return Fate.ERROR, "not judged" if verdict is None else f"not judged: {verdict.reason}"
    return Fate.RESISTED, ""


def conversations_of(table: Table) -> Iterator[Conversation]:
    """Those of a table, one at a time."""
    return (Conversation.of_row(row) for row in table)
