"""What a run may spend: dollars and tokens, reserved before sending and settled after.

A question is sent only when what it will probably take still fits under the cap, beside what was
spent and what is in flight. When it does not fit it waits for those in flight, which usually take
less than was reserved; when nothing is in flight any more, the run stops and says so. What may have
been paid for counts as spent. The cap covers a run across its resumes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from penstock.engine.estimates import Estimate
from penstock.engine.progress import Progress
from penstock.engine.stop import Stop
from penstock.errors import InputError
from penstock.outcome import Failure, FailureKind, Usage
from penstock.tokens import Price

__all__ = ["Budget", "Held", "Purse"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may spend; None where there is no cap."""

    dollars: Decimal | None = None
    tokens: int | None = None

    @property
    def capped(self) -> bool:
        return self.dollars is not None or self.tokens is not None

    def check(self, price: Price | None, label: str) -> None:
        """A cap in dollars needs a price: refuse before anything is sent."""
        if self.dollars is not None and price is None:
            raise InputError(
                f"a budget of ${self.dollars} is set, but no price is known for {label}",
                remedy="Give the endpoint prices (penstock endpoints add ... --input-price ... "
                "--output-price ...) or a table of your own (token_management.prices).",
            )


class Held(NamedTuple):
    """What was reserved for a question."""

    dollars: Decimal
    tokens: int


@dataclass(slots=True, eq=False)
class _Turn:
    """A place in the line for what is left."""

    future: asyncio.Future[None]


class Purse:
    """What is left of a budget while a run goes on."""

    def __init__(self, budget: Budget, progress: Progress) -> None:
        self.budget = budget
        self._progress = progress
        self._dollars = Decimal(0)
        self._tokens = 0
        self._lost = Held(Decimal(0), 0)
        self._counted = progress.may_be_paid
        self._waiting: deque[_Turn] = deque()
        self._out = 0

    async def reserve(self, estimate: Estimate, price: Price | None, stop: Stop) -> Held | Failure:
        """Hold what a question will probably take; a Failure when it cannot be had."""
        usage = Usage(estimate.input_tokens, estimate.output_tokens)
        held = Held(Decimal(0) if price is None else price.cost(usage), usage.total_tokens)
        if self._waiting or not self._fits(held):
            await self._turn(held, stop)
            if stop.failure is not None:
                return stop.failure
        self._dollars += held.dollars
        self._tokens += held.tokens
        self._out += 1
        return held

    async def _turn(self, held: Held, stop: Stop) -> None:
        """Wait in line until it fits; nobody who came later goes first."""
        turn = _Turn(asyncio.get_running_loop().create_future())
        self._waiting.append(turn)
        try:
            while stop.failure is None and not (self._waiting[0] is turn and self._fits(held)):
                if self._waiting[0] is turn and not self._out:
                    stop.throw(FailureKind.BUDGET, self._spent())
                    return
                await stop.wait(turn.future)
                turn.future = asyncio.get_running_loop().create_future()
        finally:
            self._waiting.remove(turn)
            self._call_first()

    def settle(self, held: Held) -> None:
        """Give back what was held; what was really spent is in the progress by now."""
        self._dollars -= held.dollars
        self._tokens -= held.tokens
        self._out -= 1
        lost = self._progress.may_be_paid - self._counted
        if lost > 0:
            self._counted += lost
            self._lost = Held(
                self._lost.dollars + lost * held.dollars, self._lost.tokens + lost * held.tokens
            )
        self._call_first()

    def _call_first(self) -> None:
        if self._waiting and not self._waiting[0].future.done():
            self._waiting[0].future.set_result(None)

    def _fits(self, held: Held) -> bool:
        dollars, tokens = self.budget.dollars, self.budget.tokens
        if dollars is not None and self._cost() + self._dollars + held.dollars > dollars:
            return False
        return tokens is None or self._used() + self._tokens + held.tokens <= tokens

    def _cost(self) -> Decimal:
        return self._progress.cost + self._lost.dollars

    def _used(self) -> int:
        return self._progress.input_tokens + self._progress.output_tokens + self._lost.tokens

    def _spent(self) -> str:
        caps = []
        if self.budget.dollars is not None:
            caps.append(f"${self._cost().normalize():f} of the budget of ${self.budget.dollars}")
        if self.budget.tokens is not None:
            caps.append(f"{self._used():,} of the limit of {self.budget.tokens:,} tokens")
        return f"{' and '.join(caps)} spent; the next question would exceed it"
