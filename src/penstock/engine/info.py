"""What a table knows of the run that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.endpoint import Endpoint
from penstock.tables import Origin

__all__ = ["RunInfo", "labelled", "models_of", "once"]


@dataclass(frozen=True)
class RunInfo:
    """What a table knows of the run that made it."""

    id: str
    state: str
    counters: dict[str, Any]
    folder: str
    ended: datetime
    models: tuple[str, ...] = ()
    """Those that were asked, without their addresses."""
    prompt: str = ""
    """What made the questions, in a few words."""
    seconds: float = 0.0
    """How long it took, this time."""

    @property
    def origin(self) -> Origin:
        """What may be told to everyone who gets the table: no address, no path."""
        counters = self.counters
        return Origin(
            run=self.id,
            models=self.models,
            prompt=self.prompt,
            ended=self.ended,
            failed=counters["rows_failed"],
            recorded=counters["recorded"],
            input_tokens=counters["input_tokens"],
            output_tokens=counters["output_tokens"],
            cost=self.cost,
            unpriced=counters["unpriced"],
        )

    @property
    def tokens(self) -> int:
        return int(self.counters["input_tokens"]) + int(self.counters["output_tokens"])

    @property
    def cost(self) -> Decimal:
        """Dollars; without those answers for which no price is known (`counters["unpriced"]`)."""
        return Decimal(self.counters["cost"])


def once(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Without those that stand there again."""
    found: list[Endpoint] = []
    for endpoint in endpoints:
        if endpoint not in found:
            found.append(endpoint)
    return found


def labelled(endpoints: Sequence[Endpoint]) -> dict[str, Endpoint]:
    """By a label each, as results and reports call them; equal ones get a number."""
    made: dict[str, Endpoint] = {}
    for endpoint in endpoints:
        label, number = endpoint.label, 2
        while label in made:
            label, number = f"{endpoint.label} ({number})", number + 1
        made[label] = endpoint
    return made


def models_of(endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """The models of some endpoints, as others may read them."""
    return tuple(dict.fromkeys(f"{each.provider}/{_last(each.model)}" for each in endpoints))


def _last(model: str) -> str:
    """The name of a model that is a file on this machine, without the way to it."""
    return Path(model).name if model.startswith(("/", "~", ".", "file:")) else model
