"""The station: what all runs of a process share on one workspace.

One journal, one transport, a line to each endpoint, and the questions now in flight, so that two
runs that ask the same wait for one answer, and an endpoint's limits hold for the process.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from penstock.endpoint import Endpoint
from penstock.engine.clock import Clock, RealClock
from penstock.engine.flights import Flight, FlightName
from penstock.engine.lease import Limiter
from penstock.engine.limits import AdaptiveLimiter
from penstock.engine.online import Line
from penstock.engine.users import UserThread
from penstock.outcome import Answer, Outcome
from penstock.providers import provider_of
from penstock.providers.transport import Transport, TransportSettings, open_transport
from penstock.store import Journal
from penstock.tokens import Lane, Price, PriceList

__all__ = ["Station"]


# More than the questions that can stand between a block look-up and their asking.
_REMEMBERED = 4096


class _Abandoned(Exception):  # noqa: N818
    """Ends the tasks that the drain time did not see to their end."""


class Station:
    """Open it in the loop that will use it: `async with Station(journal) as station`."""

    def __init__(
        self,
        journal: Journal,
        *,
        concurrency: int = 256,
        transport: TransportSettings | None = None,
        prices: PriceList | None = None,
        clock: Clock | None = None,
        randomness: random.Random | None = None,
        limiter: Callable[[Endpoint], Limiter] | None = None,
        drain: float = 30.0,
        tracks_cost: bool = True,
        outage_patience: float = 900.0,
    ) -> None:
        self.journal = journal
        self.clock = clock or RealClock()
        self.users = UserThread()
        self.flights: dict[FlightName, Flight] = {}
        self._landed: dict[FlightName, Outcome] = {}
        self._landed_before: dict[FlightName, Outcome] = {}
        self._concurrency = concurrency
        self._drain = drain
        self._tracks_cost = tracks_cost
        self._patience = outage_patience
        self._transport_settings = transport or TransportSettings()
        self._transport: Transport | None = None
        self._prices = prices or PriceList()
        self._randomness = randomness or random.Random()  # noqa: S311 - jitter, no secret
        self._limiter = limiter or self._make_limiter
        self._lines: dict[Any, Line] = {}
        self._left: list[Line] = []
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        self.journal.open()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        drained = await self.drain(self._drain)
        try:
            if drained:
                await self._tasks.__aexit__(kind, error, trace)
            else:
                await self._abandon()
        finally:
            for line in (*self._lines.values(), *self._left):
                await line.provider.close()
            if self._transport is not None:
                await self._transport.close()
            self.users.close()
            self.journal.close()

    async def _abandon(self) -> None:
        """End what is still in flight; a task group does so only for an error."""
        try:
            await self._tasks.__aexit__(_Abandoned, _Abandoned(), None)
        except* _Abandoned:
            pass

    def landed(self, name: FlightName, outcome: Outcome) -> None:
        """A flight has ended; its answer is remembered for a short while."""
        del self.flights[name]
        if isinstance(outcome, Answer):
            self._landed[name] = outcome
            if len(self._landed) > _REMEMBERED:
                self._landed_before, self._landed = self._landed, {}

    def remembered(self, name: FlightName) -> Outcome | None:
        """An answer that landed just now: newer than what a block look-up may have missed."""
        return self._landed.get(name) or self._landed_before.get(name)

    async def drain(self, seconds: float) -> bool:
        """Wait for what is in flight, but not for ever. False when something was left."""
        waiting = [flight.join() for flight in self.flights.values() if not flight.abandoned]
        if waiting:
            await asyncio.wait(waiting, timeout=seconds)
        return not self.flights

    def spawn(self, work: Coroutine[Any, Any, Any], name: str | None = None) -> asyncio.Task[Any]:
        """Start a task that the station waits for when it closes."""
        return self._tasks.create_task(work, name=name)

    @property
    def transport(self) -> Transport:
        """The one way over HTTP, opened by the first who needs it."""
        if self._transport is None:
            self._transport = open_transport(self._transport_settings)
        return self._transport

    def line(self, endpoint: Endpoint) -> Line:
        """The way to an endpoint. The first call finds its key, or says what is missing."""
        line = self._lines.get(endpoint.connection)
        if line is None:
            kind = provider_of(endpoint)
            provider = kind(endpoint, self.transport if kind.uses_network else None)
            provider.open()
            line = Line(provider, self._limiter(endpoint), self.clock, self._randomness)
            self._lines[endpoint.connection] = line
        return line

    def reopen(self, endpoint: Endpoint) -> None:
        """Leave the way to an endpoint that was stopped: the next who asks tries it anew, with the
        key as it is then."""
        line = self._lines.get(endpoint.connection)
        if line is not None and line.limiter.statistics().get("stopped"):
            self._left.append(self._lines.pop(endpoint.connection))

    def price(self, endpoint: Endpoint, lane: Lane = "online") -> Price | None:
        """What its tokens cost; None where nobody knows, or costs are not tracked."""
        return self._prices.price(endpoint, lane) if self._tracks_cost else None

    def window(self, endpoint: Endpoint) -> int:
        """How many rows to have in hand, so that its line never runs dry."""
        return 2 * (endpoint.limits.concurrency or self._concurrency) + 64

    def statistics(self) -> dict[str, dict[str, Any]]:
        """What each limiter is doing, by endpoint."""
        return {
            line.provider.endpoint.label: line.limiter.statistics() for line in self._lines.values()
        }

    def _make_limiter(self, endpoint: Endpoint) -> Limiter:
        return AdaptiveLimiter(
            endpoint.limits, self.clock, most=self._concurrency, patience=self._patience
        )
