"""How work is told to stop: one switch that wakes everything that waits.

Thrown by Ctrl-C, a spent budget, a full disk. It stops admission; it never cancels a send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.engine.clock import Clock
from penstock.outcome import Failure, FailureKind

__all__ = ["Stop"]


class Stop:
    """A switch for one run. Use it from the engine's loop only."""

    def __init__(self, on_throw: Callable[[], None] | None = None) -> None:
        self.failure: Failure | None = None
        self._on_throw = on_throw
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def thrown(self) -> bool:
        return self.failure is not None

    def throw(self, kind: FailureKind = FailureKind.CANCELLED, why: str = "cancelled") -> None:
        """Stop; the first reason stands."""
        if self.failure is None:
            self.failure = Failure(kind, why)
            if self._on_throw is not None:
                self._on_throw()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait(self, future: asyncio.Future[None]) -> None:
        """Wait for a future or for the switch, whichever comes first."""
        if self.thrown:
            return
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    async def pause(self, clock: Clock, seconds: float) -> None:
        """Sleep, but not through a stop."""
        await self.pause_for(asyncio.get_running_loop().create_future(), clock, seconds)

    async def pause_for(self, future: asyncio.Future[None], clock: Clock, seconds: float) -> None:
        """Wait for a future, but not longer than that and not through a stop."""

        def ring() -> None:
            if not future.done():
                future.set_result(None)

        timer = clock.call_later(seconds, ring)
        try:
            await self.wait(future)
        finally:
            timer.cancel()
