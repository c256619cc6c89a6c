"""The user thread: where the functions that people write are run.

Prompt, parse and check functions may be slow, may block and may be async. They run here, in one
thread with a loop of its own, fed blocks of calls, so that the engine's loop never waits for them
and a block costs two hops between threads, however long it is.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from penstock import threads

__all__ = ["Raised", "UserThread", "attempt", "is_awaitable", "settle"]

Arguments: TypeAlias = tuple[Any, ...]


class Raised:
    """What a user's function raised, as a value in the place of its result."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


_PLAIN = frozenset({str, dict, list, tuple, type(None), Raised})


def is_awaitable(result: Any) -> bool:
    """Whether a result is still to be awaited. Python's own question is dear, and most are not."""
    return type(result) not in _PLAIN and inspect.isawaitable(result)


class UserThread:
    """Started by the first call."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    async def call(self, function: Callable[..., Any], block: Sequence[Arguments]) -> list[Any]:
        """Call a function once for each tuple of arguments; results in the same order.

        What a call raises stands as `Raised` in its place. The calls of an async function run
        side by side.
        """
        results: list[Any] = await self.run(lambda: _call_block(function, block))
        return results

    async def take(self, iterator: Any, most: int) -> list[Any]:
        """The next items of a user's iterator; what it raises comes last, as `Raised`."""
        items: list[Any] = await self.run(lambda: _take(iterator, most))
        return items

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run one of ours there."""

        async def inside() -> Any:
            return await work()

        future = asyncio.run_coroutine_threadsafe(inside(), self._started())
        return await asyncio.wrap_future(future)

    def post(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function without waiting; what it raises is dropped."""

        def quietly() -> None:
            with suppress(Exception):  # a display that fails must not fail the work
                function(*arguments)

        self._started().call_soon_threadsafe(quietly)

    async def flush(self) -> None:
        """Wait until everything posted so far has been called."""
        await self.call(lambda: None, [()])

    def close(self) -> None:
        """Stop the thread after what is queued."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            if self._thread is not threading.current_thread():
                self._thread.join(timeout=5)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threads.start(_serve, "penstock-user", self._loop)
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _call_block(function: Callable[..., Any], block: Iterable[Arguments]) -> list[Any]:
    return await settle([attempt(function, *arguments) for arguments in block])


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or what it raised as a value; may be awaitable."""
    try:
        return function(*arguments)
    except BaseException as error:  # also SystemExit: it must not end the thread
        return Raised(error)


async def settle(results: list[Any]) -> list[Any]:
    """The same results with everything awaitable awaited, side by side."""
    waiting = [number for number, result in enumerate(results) if is_awaitable(result)]
    if waiting:
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(_awaited(results[number])) for number in waiting]
        for number, task in zip(waiting, made, strict=True):
            results[number] = task.result()
    return results


async def _awaited(result: Any) -> Any:
    try:
        return await result
    except BaseException as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the thread is closing
        return Raised(error)


async def _take(iterator: Any, most: int) -> list[Any]:
    items: list[Any] = []
    try:
        if hasattr(iterator, "__anext__"):
            while len(items) < most:
                items.append(await anext(iterator))
        else:
            for item in iterator:
                items.append(item)
                if len(items) >= most:
                    break
    except StopAsyncIteration:
        pass
    except Exception as error:
        items.append(Raised(error))
    return items
