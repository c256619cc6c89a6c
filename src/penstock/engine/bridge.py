"""The bridge between people's threads and the engine's.

The engine's loop has a thread of its own. Called where no event loop runs, `run` blocks and
returns the result; called inside a running loop (a notebook, an async program) it starts the work
and returns a Handle to await, so that loop is never blocked.

Ctrl-C, the first time, throws the switch of the work: nothing new is sent, what is in flight is
drained and saved. The second time it is raised at once.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from typing import Any, Generic, TypeVar

from penstock import threads
from penstock.engine.station import Station
from penstock.errors import InputError

__all__ = ["EngineThread", "Handle", "check_may_wait", "run"]

T = TypeVar("T")
_TICK = 0.1
_NEEDED = ("penstock-user", "penstock-engine")


class EngineThread:
    """A station, open in the engine's loop."""

    def __init__(self, make: Callable[[], Station]) -> None:
        self._loop = _engine_loop()
        self._closing = asyncio.Event()
        ready: Future[Station] = Future()
        self._served = asyncio.run_coroutine_threadsafe(self._serve(make, ready), self._loop)
        self.station = ready.result()
        atexit.register(self.close)

    def submit(self, work: Callable[[Station], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work in the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work(self.station), self._loop)

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call something in the engine's loop, soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def close(self, patience: float = 40.0) -> None:
        """Drain and close the station."""
        atexit.unregister(self.close)
        self.call(self._closing.set)
        with suppress(NotYetError):  # what is left ends with the process
            self._served.result(patience)

    async def _serve(self, make: Callable[[], Station], ready: Future[Station]) -> None:
        try:
            station = await make().__aenter__()
        except BaseException as error:
            ready.set_exception(error)
            return
        ready.set_result(station)
        await self._closing.wait()
        await station.__aexit__(None, None, None)


_loop: asyncio.AbstractEventLoop | None = None
_loop_lock = threading.Lock()


def _engine_loop() -> asyncio.AbstractEventLoop:
    """The one loop of all engines in this process, in a thread that never ends.

    It may not end: pyreqwest crashes the process when the thread that first used it is gone.
    """
    global _loop
    with _loop_lock:
        if _loop is None:
            _loop = _new_loop()
            threads.start(_loop.run_forever, "penstock-engine")
        return _loop


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Handle(Generic[T]):
    """Work that goes on: `await` it, or ask for its `result()`."""

    def __init__(self, future: Future[T], cancel: Callable[[], None]) -> None:
        self.future = future
        self._cancel = cancel

    def __await__(self) -> Generator[Any, None, T]:
        return self._wait().__await__()

    async def _wait(self) -> T:
        try:
            return await asyncio.shield(asyncio.wrap_future(self.future))
        except asyncio.CancelledError:
            self._cancel()
            raise

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.future.done()

    def cancel(self) -> None:
        """Stop admission; what is in flight is drained and saved."""
        self._cancel()

    def result(self, timeout: float | None = None) -> T:
        """The result; waits for it. Never call it in a loop that must go on."""
        if not self.done:
            check_may_wait()
        return self.future.result(timeout)


def check_may_wait() -> None:
    """Refuse to wait where that would be for ever: in a thread that all work needs."""
    if threading.current_thread().name in _NEEDED:
        raise InputError(
            "a function or generator that a run is calling waits for other work, which would wait "
            "for it",
            remedy="Do that work before, or `await` it in an async function.",
        )


def run(
    thread: EngineThread,
    work: Callable[[Station], Coroutine[Any, Any, T]],
    *,
    cancel: Callable[[], None],
    tick: Callable[[], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> T | Handle[T]:
    """Do work in the engine's thread: blocking, or as a Handle inside a running loop.

    `cancel` is called in the engine's loop by the first Ctrl-C, `on_interrupt` in the caller's
    thread; `tick` there about ten times a second, while it blocks.
    """
    future = thread.submit(work)

    def stop() -> None:
        thread.call(cancel)

    def interrupt() -> None:
        stop()
        if on_interrupt is not None:
            on_interrupt()

    if _inside_loop():
        return Handle(future, stop)
    return _block(future, interrupt, tick)


def _block(future: Future[T], stop: Callable[[], None], tick: Callable[[], None] | None) -> T:
    interrupted = False
    while True:
        try:
            if tick is not None:
                tick()
            return future.result(_TICK)
        except NotYetError:
            if future.done():
                raise
        except KeyboardInterrupt:
            if interrupted or future.done():
                raise
            interrupted = True
            stop()


def _inside_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
