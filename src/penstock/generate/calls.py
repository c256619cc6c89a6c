"""Calls of users' functions from the engine's loop, by the block.

A hop between threads costs more than most functions. So what is called while the user thread is
busy goes over together, and comes back together; an async function comes back when it is ready and
holds up nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.engine.users import Raised, UserThread, is_awaitable
from penstock.generate.functions import called

__all__ = ["Calls"]

_LARGEST = 1024


class _Call(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    many: bool
    future: asyncio.Future[Any]


class Calls:
    """Used in the engine's loop."""

    def __init__(self, users: UserThread) -> None:
        self._users = users
        self._queue: list[_Call] = []
        self._server: asyncio.Task[None] | None = None
        self._slow: set[asyncio.Task[Any]] = set()

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns, or what it raised as `Raised`."""
        return await self._ask(function, arguments, many=False)

    async def share(self, function: Callable[[list[Any]], list[Any]], item: Any) -> Any:
        """The same for a function of many items at once: it is given all that wait for it."""
        return await self._ask(function, (item,), many=True)

    async def _ask(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], *, many: bool
    ) -> Any:
        future = asyncio.get_running_loop().create_future()
        self._queue.append(_Call(function, arguments, many, future))
        if self._server is None:
            self._server = asyncio.get_running_loop().create_task(self._serve())
        return await future

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                block, self._queue = self._queue[:_LARGEST], self._queue[_LARGEST:]
                _resolve(await self._users.run(lambda block=block: self._work(block, loop)))  # type: ignore[misc]
        finally:
            self._server = None
            for call in self._queue:
                call.future.cancel()

    async def _work(
        self, block: list[_Call], loop: asyncio.AbstractEventLoop
    ) -> list[tuple[asyncio.Future[Any], Any]]:
        """In the user thread."""
        done: list[tuple[asyncio.Future[Any], Any]] = []
        shared: dict[Any, list[_Call]] = {}
        for call in block:
            if call.many:
                shared.setdefault(call.function, []).append(call)
                continue
            result = called(call.function, *call.arguments)
            if is_awaitable(result):
                self._await(call.future, result, loop)
            else:
                done.append((call.future, result))
        for function, calls in shared.items():
            made = called(function, [call.arguments[0] for call in calls])
            done += zip([call.future for call in calls], _each(made, len(calls)), strict=True)
        return done

    def _await(
        self, future: asyncio.Future[Any], result: Any, loop: asyncio.AbstractEventLoop
    ) -> None:
        async def waited() -> None:
            made = await result
            loop.call_soon_threadsafe(_resolve, [(future, made)])

        task = asyncio.get_running_loop().create_task(waited())
        self._slow.add(task)
        task.add_done_callback(self._slow.discard)


def _each(made: Any, count: int) -> list[Any]:
    """What a function gave for each of its items."""
    if not isinstance(made, Raised) and not (isinstance(made, list) and len(made) == count):
        said = f"{len(made)} results" if isinstance(made, list) else f"a {type(made).__name__}"
        made = Raised(TypeError(f"{said} for {count} items"))
    return [made] * count if isinstance(made, Raised) else made


def _resolve(results: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in results:
        if not future.done():
            future.set_result(result)
