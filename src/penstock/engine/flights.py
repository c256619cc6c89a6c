"""Questions on their way: whoever asks the same meanwhile waits for the same answer."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from penstock.outcome import Outcome

__all__ = ["Flight", "FlightName"]

FlightName: TypeAlias = tuple[bytes, str]


class Flight:
    """One question in flight. A waiter that is cancelled leaves the flight alone."""

    __slots__ = ("_waiting", "abandoned")

    def __init__(self) -> None:
        self.abandoned = False
        """A run has waited for it long enough: nobody waits again."""
        self._waiting: list[asyncio.Future[Outcome]] = []

    def join(self) -> asyncio.Future[Outcome]:
        """A place among those who wait for what becomes of it."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def land(self, outcome: Outcome) -> None:
        """Tell everyone who still waits."""
        for future in self._waiting:
            if not future.done():
                future.set_result(outcome)
