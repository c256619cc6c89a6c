"""What a table knows of the run that made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.generate.functions import described
from penstock.generate.plan import Plan
from penstock.tables import Origin

__all__ = ["RunInfo"]


@dataclass(frozen=True)
class RunInfo:
    """What a table knows of the run that made it."""

    id: str
    state: str
    counters: dict[str, Any]
    folder: str
    ended: datetime
    _plan: Plan = field(repr=False, compare=False)

    @property
    def origin(self) -> Origin:
        """What may be told to everyone who gets the table: no address, no path."""
        counters, endpoint = self.counters, self._plan.endpoint
        return Origin(
            run=self.id,
            models=(f"{endpoint.provider}/{_last(endpoint.model)}",),
            prompt=described(self._plan.prompt),
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


def _last(model: str) -> str:
    """The name of a model that is a file on this machine, without the way to it."""
    return Path(model).name if model.startswith(("/", "~", ".", "file:")) else model
