"""Time, passed in: the real one, and one that tests turn by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["Clock", "RealClock", "Timer", "VirtualClock"]


class Timer(Protocol):
    """Something that will happen, unless it is cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What the engine needs of time."""

    def now(self) -> float:
        """Seconds that only run forward."""
        ...

    def time(self) -> float:
        """Seconds since 1970, for records."""
        ...

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer: ...


class RealClock:
    """The time of the running event loop."""

    def now(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)


class _Alarm:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class VirtualClock:
    """A clock that stands still until a test turns it."""

    def __init__(self, start: float = 1_000_000.0) -> None:
        self._now = start
        self._alarms: list[tuple[float, int, _Alarm]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        return self._now

    def time(self) -> float:
        return self._now

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        alarm = _Alarm(call)
        heapq.heappush(self._alarms, (self._now + max(0, seconds), next(self._numbers), alarm))
        return alarm

    @property
    def next_alarm(self) -> float | None:
        """Seconds until something happens, if anything will."""
        while self._alarms and self._alarms[0][2].call is None:
            heapq.heappop(self._alarms)
        return self._alarms[0][0] - self._now if self._alarms else None

    async def advance(self, seconds: float) -> None:
        """Let time pass, giving tasks their turn whenever something happens."""
        end = self._now + seconds
        await _settle()
        while self._alarms and self._alarms[0][0] <= end:
            self._now, _, alarm = heapq.heappop(self._alarms)
            if alarm.call is not None:
                alarm.call()
                await _settle()
        self._now = end
        await _settle()


_TURNS = 20


async def _settle() -> None:
    """Give every task its turn, until nobody has anything to do but wait."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)  # uvloop does not tell
    for _ in range(_TURNS):
        await asyncio.sleep(0)
        if ready is not None and not ready:
            return
