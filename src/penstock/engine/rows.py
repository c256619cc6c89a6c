"""Work over rows: a bounded number at a time, results as they complete.

A fixed set of workers takes rows from one source, so a million rows cost no more memory than the
window. One slow row holds one worker; a slow consumer holds all of them, which is what bounds the
memory on the other side.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from penstock.errors import PenstockError
from penstock.outcome import Failure, FailureKind

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

__all__ = ["Block", "Rows", "SetAside", "current_row", "in_a_batch", "mapped", "waiting"]

_log = logging.getLogger(__name__)

Row = TypeVar("Row")
Result = TypeVar("Result")

_END: Any = object()
_WAITING = Failure(FailureKind.WAITING, "it lies in a batch")


def waiting(result: object) -> bool:
    """Whether a row was set aside."""
    return isinstance(result, Failure) and result.kind is FailureKind.WAITING


def in_a_batch() -> Failure:
    """What whoever asks only one question is told when its answer lies in a batch."""
    return Failure(
        FailureKind.WAITING,
        "the same question lies in an open batch; `penstock batches collect` fetches its answer",
    )


# The number of the row whose work is running, so that a run knows which questions it asked.
current_row: ContextVar[int | None] = ContextVar("penstock_row", default=None)


class SetAside(BaseException):
    """The answer lies in a batch: the row waits for it, and its work runs again then.

    Not an Exception, so that work which takes care of its own errors does not take it for one.
    """


class Block(list[Row]):
    """Several rows that an async source gives at once; each is worked on alone."""


Rows: TypeAlias = Iterable[Row] | AsyncIterable[Row] | AsyncIterable[Block[Row]]


async def mapped(
    engine: Engine, rows: Rows[Row], work: Callable[[Row], Awaitable[Result]], window: int
) -> AsyncIterator[tuple[int, Row, Result | Failure]]:
    """See `Engine.map`."""
    pool = _Pool(engine, _Source(rows), work, window)
    pool.start()
    try:
        while True:
            while pool.done:
                yield pool.done.popleft()
                pool.taken()
            if pool.finished:
                break
            await pool.wait()
    finally:
        await pool.close()
    if pool.source.error is not None:
        raise pool.source.error


class _Source:
    """Rows by number, from an iterable of either kind; an error ends it and is kept."""

    def __init__(self, rows: Rows[Any]) -> None:
        self._sync = iter(rows) if isinstance(rows, Iterable) else None
        self._async = aiter(rows) if isinstance(rows, AsyncIterable) else None
        self._turn = asyncio.Lock()
        self._ready: deque[Any] = deque()
        self._count = 0
        self._ended = False
        self.error: BaseException | None = None

    async def next(self) -> tuple[int, Any]:
        if self._sync is not None:
            return self._number(self._next_sync())
        if not self._ready:
            async with self._turn:
                while not self._ready:  # while it waited, another may have fetched
                    row = await self._next_async()
                    self._ready.extend(row if isinstance(row, Block) else (row,))
        if self._ready[0] is _END:  # for everyone
            return self._count, _END
        return self._number(self._ready.popleft())

    def _number(self, row: Any) -> tuple[int, Any]:
        number = self._count
        self._count += row is not _END
        return number, row

    def _next_sync(self) -> Any:
        assert self._sync is not None
        if self._ended:
            return _END
        try:
            return next(self._sync, _END)
        except Exception as error:
            return self._end(error)

    async def _next_async(self) -> Any:
        assert self._async is not None
        if self._ended:
            return _END
        try:
            return await anext(self._async)
        except StopAsyncIteration:
            return self._end(None)
        except Exception as error:
            return self._end(error)

    def _end(self, error: BaseException | None) -> Any:
        self._ended = True
        self.error = error
        return _END


class _Pool:
    """The workers, and the results that nobody has taken yet."""

    def __init__(
        self, engine: Engine, source: _Source, work: Callable[[Any], Awaitable[Any]], window: int
    ) -> None:
        self.source = source
        self.done: deque[tuple[int, Any, Any]] = deque()
        self._engine = engine
        self._work = work
        self._window = window
        self._workers: list[asyncio.Task[Any]] = []
        self._running = 0
        self._ready: asyncio.Future[None] | None = None
        self._room: deque[asyncio.Future[None]] = deque()

    def start(self) -> None:
        """One worker now; each that finds a row starts the next, up to the window."""
        self._start_worker()

    def _start_worker(self) -> None:
        self._running += 1
        self._workers.append(self._engine.station.spawn(self._serve()))

    @property
    def finished(self) -> bool:
        return not self._running and not self.done

    async def wait(self) -> None:
        """Until there is a result, or there will be none."""
        self._ready = asyncio.get_running_loop().create_future()
        if not self.done and self._running:
            await self._ready
        self._ready = None

    def taken(self) -> None:
        """A result was taken: a worker that waits for room may go on."""
        if self._room and len(self.done) < self._window:
            future = self._room.popleft()
            if not future.done():
                future.set_result(None)

    async def close(self) -> None:
        """End the workers. What they sent flies on and is recorded."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _serve(self) -> None:
        try:
            while not self._engine.stop.thrown:
                number, row = await self.source.next()
                if row is _END:
                    return
                if len(self._workers) < self._window:
                    self._start_worker()
                current_row.set(number)
                self.done.append((number, row, await self._result(row)))
                self._tell()
                if len(self.done) >= 2 * self._window:
                    await self._wait_for_room()
        finally:
            self._running -= 1
            self._tell()

    async def _result(self, row: Any) -> Any:
        try:
            return await self._work(row)
        except SetAside:
            return _WAITING
        except PenstockError as error:
            return Failure(FailureKind.INPUT, str(error))
        except Exception as error:
            _log.exception("work on a row failed", extra={"run": self._engine.run})
            return Failure(FailureKind.INTERNAL, f"{type(error).__name__}: {error}")

    def _tell(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    async def _wait_for_room(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._room.append(future)
        await future
