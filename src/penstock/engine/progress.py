"""What a run has done so far: counted by the engine, read by whoever shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from penstock.outcome import Answer, FailureKind, Outcome

__all__ = ["Progress"]


@dataclass(slots=True)
class Progress:
    """Counters of one run. Written in the engine's thread; a reader sees each number whole."""

    rows_total: int | None = None
    rows_done: int = 0
    rows_failed: int = 0
    asked: int = 0
    """Questions that went out (a retry is the same question)."""
    recorded: int = 0
    """Answers found in the journal."""
    in_flight: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    """Answers for which no price is known."""
    price_sources: set[str] = field(default_factory=set)
    may_be_paid: int = 0
    """Attempts that brought no answer and may have been paid for."""
    failures: Counter[FailureKind] = field(default_factory=Counter)
    batches: tuple[str, ...] = ()
    """The batches that are seen to, by id; what each is doing is in the store of batches."""
    note: str = ""
    """What else whoever watches should know."""

    def count(self, outcome: Outcome) -> None:
        """Take in one outcome. What came from the journal was paid for before."""
        if not isinstance(outcome, Answer):
            if outcome.kind is FailureKind.WAITING:  # it will be asked about again
                return
            self.failures[outcome.kind] += 1
            self.attempts += outcome.attempts
            return
        if outcome.recorded:
            self.recorded += 1
            return
        usage = outcome.usage
        self.attempts += outcome.attempts
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cached_tokens += usage.cached_tokens
        if outcome.cost is None:
            self.unpriced += 1
        else:
            self.cost += outcome.cost
            self.price_sources.add(outcome.price_source)

    def add(self, earlier: dict[str, Any]) -> None:
        """Take in what this run had spent before it was taken up again."""
        for name in ("asked", "attempts", "input_tokens", "output_tokens", "cached_tokens"):
            setattr(self, name, getattr(self, name) + int(earlier.get(name, 0)))
        self.unpriced += int(earlier.get("unpriced", 0))
        self.may_be_paid += int(earlier.get("may_be_paid", 0))
        self.cost += Decimal(earlier.get("cost", "0"))
        self.price_sources |= set(earlier.get("price_sources", ()))

    def counters(self) -> dict[str, Any]:
        """As the catalog and programs read it."""
        return {
            "rows_total": self.rows_total,
            "rows_done": self.rows_done,
            "rows_failed": self.rows_failed,
            "asked": self.asked,
            "recorded": self.recorded,
            "attempts": self.attempts,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cost": str(self.cost),
            "unpriced": self.unpriced,
            "price_sources": sorted(self.price_sources),
            "may_be_paid": self.may_be_paid,
            "failures": {kind.value: n for kind, n in self.failures.items()},
        }
