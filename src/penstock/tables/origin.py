"""Where a table came from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """What made a table, as far as it is known and may be told to everyone."""

    run: str
    models: tuple[str, ...]
    prompt: str
    """The name of the prompt function, and a hash of its text where that is known."""
    ended: datetime
    failed: int
    recorded: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    unpriced: int
    """Answers for which no price is known."""
