"""Leases: the right to send one question to an endpoint.

The limiter decides who may send and when; a lease is its leave, and every lease is settled with
what came of it. That is the whole interface between the online lane and any limiter.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol, TypeAlias

import msgspec

from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind, Usage
from penstock.providers.ratelimits import RateLimits
from penstock.request import Request

__all__ = ["FixedLimiter", "Lease", "Limiter", "Settlement"]


class Settlement(msgspec.Struct, frozen=True):
    """What came of a lease, as a limiter sees it."""

    kind: FailureKind | None
    """None: answered."""
    usage: Usage | None = None
    limits: RateLimits | None = None
    retry_after: float | None = None
    latency: float = 0.0

    @classmethod
    def answered(cls, usage: Usage, limits: RateLimits | None, latency: float) -> Settlement:
        """An answer came back."""
        return cls(None, usage, limits, None, latency)

    @classmethod
    def failed(
        cls, kind: FailureKind, limits: RateLimits | None, retry_after: float | None, latency: float
    ) -> Settlement:
        """No answer came back."""
        return cls(kind, None, limits, retry_after, latency)


class Lease(Protocol):
    """Leave to send one question."""

    def settle(self, settlement: Settlement) -> None:
        """Give it back, with what came of it."""
        ...


Granted: TypeAlias = Lease | Failure


class Limiter(Protocol):
    """Decides who may send to one endpoint, and when."""

    async def lease(self, request: Request, stop: Stop) -> Granted:
        """Wait for leave; a Failure when the run or the endpoint was stopped meanwhile."""
        ...

    def close(self, failure: Failure) -> None:
        """Stop the endpoint: whoever waits, and whoever comes, gets this failure."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Its state, for people."""
        ...


class FixedLimiter:
    """So many at once, first come first served: a place that falls free is handed over."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self._out = 0
        self._most = 0
        self._served = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._handed: set[asyncio.Future[None]] = set()
        self._closed: Failure | None = None

    async def lease(self, request: Request, stop: Stop) -> Granted:
        has_place = False
        if self._closed is None and not stop.thrown:
            has_place = self._take() or await self._wait(stop)
        refused = self._closed or stop.failure
        if refused is not None:
            if has_place:
                self._release()
            return refused
        self._served += 1
        self._most = max(self._most, self._out)
        return self

    def settle(self, settlement: Settlement) -> None:
        self._release()

    def close(self, failure: Failure) -> None:
        self._closed = self._closed or failure
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    def statistics(self) -> dict[str, Any]:
        return {
            "limiter": "fixed",
            "concurrency": self.concurrency,
            "in_flight": self._out,
            "most_in_flight": self._most,
            "leases": self._served,
            "stopped": None if self._closed is None else self._closed.message,
        }

    def _take(self) -> bool:
        """A free place, unless others wait for one."""
        free = self._out < self.concurrency and not self._waiting
        self._out += free
        return free

    async def _wait(self, stop: Stop) -> bool:
        """Whether a place was handed over; False when a stop or a closing came first."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await stop.wait(future)
        except asyncio.CancelledError:
            if future in self._handed:
                self._handed.discard(future)
                self._release()
            raise
        if future not in self._handed:
            return False
        self._handed.discard(future)
        return True

    def _release(self) -> None:
        """Hand the place to the next who still waits, or leave it free."""
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                self._handed.add(future)
                future.set_result(None)
                return
        self._out -= 1
