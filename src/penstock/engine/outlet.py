"""The last stage of a job: what came back is finished by the block, off the engine's loop.

Users' functions and writers of tables run in the user thread, and a hop between threads is dear:
so whatever has come since the last block goes over together. What waits for it is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from penstock.engine.users import UserThread

__all__ = ["Outlet"]

Came = TypeVar("Came")
Done = TypeVar("Done")
Finished = TypeVar("Finished")

_BLOCK = 256
_MOST_WAITING = 2048
_PAUSE = 0.02  # what comes within it is finished together


class Outlet(Generic[Done, Finished]):
    """`finish` a block in the user thread, then see to what it made, `after`, in the loop."""

    def __init__(
        self,
        users: UserThread,
        finish: Callable[[list[Done]], Awaitable[Finished]],
        after: Callable[[Finished], Awaitable[None]],
    ) -> None:
        self._users = users
        self._finish = finish
        self._after = after
        self._waiting: list[Done] = []
        self._came = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False
        self._busy = False

    async def pour(
        self, *sources: AsyncIterator[Came], each: Callable[[Came], Done | None]
    ) -> None:
        """All that comes of `Engine.map`, once or several times side by side, to its end.

        `each` makes of it what is finished; None where nothing is.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.serve())
            try:
                async with asyncio.TaskGroup() as flows:
                    for source in sources:
                        flows.create_task(self._flow(source, each))
            finally:
                self.end()

    async def _flow(self, source: Any, each: Callable[[Any], Done | None]) -> None:
        async with aclosing(source) as results:
            async for came in results:
                done = each(came)
                if done is not None:
                    self.put(done)
                    await self.make_room()

    def put(self, done: Done) -> None:
        """Hand on what came back; `make_room` soon after."""
        self._waiting.append(done)

    async def make_room(self) -> None:
        """Call the last stage; wait while it is far behind."""
        self._came.set()
        if len(self._waiting) >= _MOST_WAITING:
            self._room.clear()
            await self._room.wait()

    async def caught_up(self) -> None:
        """Until all that came is finished: it may take a day until more comes."""
        while self._waiting or self._busy:
            self._came.set()
            await asyncio.sleep(_PAUSE)

    def end(self) -> None:
        """There will be no more."""
        self._ended = True
        self._came.set()

    async def serve(self) -> None:
        """Finish what comes, until the end."""
        while True:
            await self._came.wait()
            if len(self._waiting) < _BLOCK and not self._ended:
                await asyncio.sleep(_PAUSE)
            self._came.clear()
            block, self._waiting = self._waiting, []
            self._room.set()
            if block:
                await self._do(block)
            elif self._ended:
                return
            if self._ended:
                self._came.set()

    async def _do(self, block: list[Done]) -> None:
        self._busy = True
        finished = await self._users.run(lambda: self._finish(block))
        await self._after(finished)
        self._busy = False
