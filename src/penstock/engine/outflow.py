"""Finished rows on their way to a caller who may be slow.

What waits for the caller is bounded: when it is too much, the run is held up where that costs
nothing, in the engine's loop. The user thread is never held: the caller may be running another
Prompter over each row, and that needs it.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from penstock.engine.bridge import EngineThread

__all__ = ["Flow", "OnRows", "Outflow", "Stream"]

T = TypeVar("T")

OnRows: TypeAlias = Callable[[list[dict[str, Any]]], Awaitable[None]]

_MOST = 4096
_END: Any = object()


class Outflow(Generic[T]):
    """Between the engine's loop, which puts, and the caller's thread, which iterates."""

    def __init__(self, thread: EngineThread, most: int = _MOST) -> None:
        self._thread = thread
        self._most = most
        self._blocks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held = 0
        self.left = False
        """Whether the caller takes no more."""
        self._room = asyncio.Event()

    async def put(self, rows: list[T]) -> None:
        """In the engine's loop: hand rows on, and wait while too many wait for the caller."""
        self._held += len(rows)
        self._blocks.put(rows)
        while self._held > self._most and not self.left:
            self._room.clear()
            await self._room.wait()

    def end(self) -> None:
        """There will be no more."""
        self._blocks.put(_END)

    def leave(self) -> None:
        """The caller takes no more: nobody is held up for it, nor does it wait any longer."""
        self.left = True
        self._blocks.put(_END)
        self._thread.call(self._taken, 0)

    def __iter__(self) -> Iterator[T]:
        while (block := self._blocks.get()) is not _END:
            yield from block
            self._thread.call(self._taken, len(block))

    def _taken(self, count: int) -> None:
        self._held -= count
        self._room.set()


class Flow(NamedTuple, Generic[T]):
    """Items on their way, and how to leave while waiting for the next one."""

    items: Generator[T, None, None]
    leave: Callable[[], None]


class Stream(Generic[T]):
    """Something to go through with `for`, or with `async for` inside a running loop; each time it
    is begun anew."""

    def __init__(self, begin: Callable[[], Flow[T]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[T]:
        return self._begin().items

    async def __aiter__(self) -> AsyncIterator[T]:
        flow = self._begin()
        step: asyncio.Future[Any] | None = None
        try:
            while True:
                step = asyncio.ensure_future(asyncio.to_thread(next, flow.items, _END))
                item = await asyncio.shield(step)
                if item is _END:
                    return
                yield item
        finally:
            flow.leave()
            if step is not None:  # cancelled while a thread waits for the next: it comes out now
                await asyncio.gather(step, return_exceptions=True)
            await asyncio.to_thread(flow.items.close)
