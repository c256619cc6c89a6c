"""Finished rows on their way to a caller who may be slow.

What waits for the caller is bounded: when it is too much, the run is held up where that costs
nothing, in the engine's loop. The user thread is never held: the caller may be running another
Prompter over each row, and that needs it.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias

from penstock.engine.bridge import EngineThread

__all__ = ["OnRows", "Outflow"]

OnRows: TypeAlias = Callable[[list[dict[str, Any]]], Awaitable[None]]

_MOST = 4096
_END: Any = object()


class Outflow:
    """Between the engine's loop, which puts, and the caller's thread, which iterates."""

    def __init__(self, thread: EngineThread, most: int = _MOST) -> None:
        self._thread = thread
        self._most = most
        self._blocks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held = 0
        self._left = False
        self._room = asyncio.Event()

    async def put(self, rows: list[dict[str, Any]]) -> None:
        """In the engine's loop: hand rows on, and wait while too many wait for the caller."""
        self._held += len(rows)
        self._blocks.put(rows)
        while self._held > self._most and not self._left:
            self._room.clear()
            await self._room.wait()

    def end(self) -> None:
        """There will be no more."""
        self._blocks.put(_END)

    def leave(self) -> None:
        """The caller takes no more: nobody is held up for it."""
        self._thread.call(self._taken, 0, True)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (block := self._blocks.get()) is not _END:
            yield from block
            self._thread.call(self._taken, len(block))

    def _taken(self, count: int, left: bool = False) -> None:
        self._held -= count
        self._left |= left
        self._room.set()
