"""A generator called by itself: one answer now, or a stream of them in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from penstock.engine.batch_keeping import parked
from penstock.engine.bridge import check_may_wait, run
from penstock.engine.engine import Engine
from penstock.engine.job import first_error
from penstock.engine.outflow import Flow, Outflow, Stream
from penstock.engine.rows import SetAside, in_a_batch
from penstock.engine.station import Station
from penstock.engine.users import Raised
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import ApiError, InputError, ProcessingError
from penstock.generate.calls import Calls
from penstock.generate.cells import Guarded, guarded
from penstock.generate.columns import Row, Scene
from penstock.generate.models import Models
from penstock.outcome import Failure
from penstock.tables import rows as rows_of

if TYPE_CHECKING:
    from penstock.generate.generator import GeneratorFunction

__all__ = ["AnswerStream", "answered"]

_NAME = "the generator"
_AT_ONCE = 256


def answered(function: GeneratorFunction, row: Mapping[str, Any], bench: Workbench | None) -> Any:
    """The answer for one row; a Handle to await inside a running loop."""
    bench = bench or default_workbench()
    _check(function, row)
    engine = bench.engine(bench.thread.station)

    async def work(_: Station) -> Any:
        make = _maker(function, engine, bench, list(row))
        with parked(bench, engine):
            return _raised(await _made(make, 0, Row(row)))

    return run(bench.thread, work, cancel=engine.stop.throw)


class AnswerStream(Stream[Any]):
    """Answers in the order of their rows, a bounded number asked at a time."""

    def __init__(self, function: GeneratorFunction, rows: Any, bench: Workbench | None) -> None:
        def begin() -> Flow[Any]:
            found = bench or default_workbench()
            outflow: Outflow[Any] = Outflow(found.thread)
            return Flow(_flowing(function, rows, found, outflow), outflow.leave)

        super().__init__(begin)


def _flowing(
    function: GeneratorFunction, rows: Any, bench: Workbench, outflow: Outflow[Any]
) -> Generator[Any, None, None]:
    check_may_wait()
    thread, engine = bench.thread, bench.engine(bench.thread.station)

    async def work(_: Station) -> None:
        source = iter(rows_of(rows))
        users = engine.station.users
        asked: deque[asyncio.Task[Any]] = deque()
        make: Guarded | None = None
        number = 0
        async with asyncio.TaskGroup() as tasks:
            while True:
                few = len(asked) <= _AT_ONCE // 2  # a hop between threads is for many rows
                for row in await users.take(source, _AT_ONCE - len(asked)) if few else ():
                    if isinstance(row, Raised):
                        raise row.error
                    if make is None:
                        _check(function, row)
                        make = _maker(function, engine, bench, list(row))
                    asked.append(tasks.create_task(_made(make, number, Row(row))))
                    number += 1
                if not asked:
                    return
                await outflow.put([_raised(await asked.popleft())])

    async def unparked(station: Station) -> None:
        with parked(bench, engine):
            await work(station)

    future = thread.submit(unparked)
    future.add_done_callback(lambda _: outflow.end())
    try:
        yield from outflow
        if not outflow.left:
            future.result()
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    finally:
        outflow.leave()
        thread.call(engine.stop.throw)


def _maker(
    function: GeneratorFunction, engine: Engine, bench: Workbench, columns: list[str]
) -> Guarded:
    calls = Calls(engine.station.users)
    scene = Scene(_NAME, tuple(columns), 0, engine, calls, Models(bench))
    return guarded(function, scene)


async def _made(make: Guarded, number: int, row: Row) -> Any:
    try:
        return await make(number, row)
    except SetAside:
        return in_a_batch()


def _check(function: GeneratorFunction, row: Mapping[str, Any]) -> None:
    if not isinstance(row, Mapping):
        raise InputError(f"a row is a dictionary, not a {type(row).__name__}")
    function.needs(_NAME, list(row))


def _raised(value: Any) -> Any:
    if isinstance(value, Failure):
        error = ApiError if value.kind.stops else ProcessingError
        raise error(f"{value.kind}: {value.message}")
    return value
