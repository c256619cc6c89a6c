"""An item: one question to one endpoint, what came back, and what it is worth.

A run's items lie in one Arrow table in the order of the plan, each row an Item with its scores as
JSON text, so that recipes with different metrics share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from penstock.metrics.score import Score, ScoreStatus
from penstock.outcome import FailureKind
from penstock.tables import Table

__all__ = ["Item", "ItemScore", "ItemStatus", "Trouble", "items_of"]


class ItemStatus(StrEnum):
    """What became of a question."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """The model, or its provider's filter, declined."""
    FAILED = "failed"


class ItemScore(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one metric says of an answer; `Score` with the metric's label."""

    metric: str
    value: float | None
    status: ScoreStatus = ScoreStatus.SCORED
    reason: str = ""
    extracted: str | None = None
    parts: tuple[float, ...] = ()
    failure: FailureKind | None = None

    @classmethod
    def of(cls, label: str, score: Score) -> ItemScore:
        return cls(
            label, score.value, score.status, score.reason, score.extracted, score.parts,
            score.failure,
        )  # fmt: skip

    @property
    def score(self) -> Score:
        return Score(
            self.value, self.status, self.reason, self.extracted, self.parts, self.failure
        )  # fmt: skip


class Trouble(NamedTuple):
    """Something that went wrong with an item."""

    metric: str
    """Whose judge gave no answer; "" where the question itself failed."""
    kind: FailureKind
    message: str


class Item(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One question and what became of it."""

    number: int
    """Its place in the run."""
    recipe: str
    dataset: str
    template: str
    """The id, or "" where the bare input was asked."""
    endpoint: str
    """How the run calls it."""
    example: int
    """Its place in the dataset, from 0."""
    id: str
    """The example's own name, the same in every run: what pairs items of two runs."""
    epoch: int
    cluster: str | None = None
    """Which examples belong together, where the dataset says so."""
    prompt: str
    """What was asked, as it was sent."""
    target: tuple[str, ...] | None = None
    """None where the dataset says nothing; empty where nothing would be right."""
    answer: str | None = None
    status: ItemStatus
    finish: str = ""
    failure: str = ""
    """The kind of failure, where it failed."""
    error: str = ""
    scores: tuple[ItemScore, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: str | None = None
    """Dollars, exactly; None where no price is known."""
    latency: float | None = None
    attempts: int = 0
    recorded: bool = False
    """Whether the answer had been paid for before."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is, whoever was asked and however often."""
        return (self.recipe, self.dataset, self.template, self.id)

    @property
    def troubles(self) -> list[Trouble]:
        """What went wrong with it: its question, or those to its judges."""
        if self.status is ItemStatus.FAILED:
            return [Trouble("", FailureKind(self.failure), self.error)]
        return [
            Trouble(score.metric, score.failure, score.reason)
            for score in self.scores
            if score.failure is not None
        ]

    def row(self) -> dict[str, Any]:
        """As a row of the table."""
        row = msgspec.structs.asdict(self)
        row["target"] = None if self.target is None else list(self.target)
        row["status"] = str(self.status)
        row["scores"] = _encode(self.scores).decode()
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Item:
        """From a row of the table."""
        given = {name: row[name] for name in cls.__struct_fields__ if name in row}
        given["target"] = None if row["target"] is None else tuple(row["target"])
        given["status"] = ItemStatus(row["status"])
        given["scores"] = _scores.decode(row["scores"])
        return cls(**given)


def items_of(table: Table) -> Iterator[Item]:
    """The items of a table, one at a time."""
    return (Item.of_row(row) for row in table)


_encode = msgspec.json.Encoder().encode
_scores = msgspec.json.Decoder(tuple[ItemScore, ...])
