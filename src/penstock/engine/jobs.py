"""The simplest job: one question a row, outcomes in the order of the rows.

A run is opened, `map` and `ask` do the work, the outcomes are written to the run's folder, and the
run ends in one of the states. The richer jobs do the same with more around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from penstock import logs
from penstock.endpoint import Endpoint
from penstock.engine.bridge import run as run_blocking
from penstock.engine.engine import Cache, Engine
from penstock.engine.progress import Progress
from penstock.engine.run import Run
from penstock.engine.states import RunState
from penstock.engine.station import Station
from penstock.engine.users import Raised
from penstock.engine.workbench import Workbench
from penstock.outcome import Failure, FailureKind, Outcome
from penstock.request import Request
from penstock.store.workspace import private_file, storage_errors

__all__ = ["Done", "Job", "end_state", "run_job"]

_BLOCK = 256
_NOT_DONE = frozenset({FailureKind.CANCELLED, FailureKind.BUDGET, FailureKind.STORAGE})


@dataclass(frozen=True)
class Job:
    """Rows, and how each becomes a question. `prompt` is the user's: sync or async."""

    kind: str
    rows: Sequence[Any]
    endpoint: Endpoint
    prompt: Callable[[Any], Any]
    id: str = ""
    concurrency: int | None = None
    cache: Cache = "use"
    progress: Progress = field(default_factory=Progress)


class Done(NamedTuple):
    """What became of a job."""

    run: Run
    rows: list[tuple[Any, Outcome]]


def run_job(
    bench: Workbench,
    job: Job,
    *,
    tick: Callable[[], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Any:
    """Do a job: a Done, or a Handle to await inside a running loop."""
    thread = bench.thread
    endpoint = job.endpoint
    if job.concurrency is not None:
        limits = replace(endpoint.limits, concurrency=job.concurrency)
        endpoint = endpoint.with_(limits=limits)
    run = Run(
        bench.workspace,
        bench.catalog,
        kind=job.kind,
        id=job.id,
        spec={"endpoint": endpoint.label, "rows": len(job.rows)},
        progress=job.progress,
    )
    engine = bench.engine(
        thread.station, run=run.id, cache=job.cache, progress=job.progress, on_ask=run.asked
    )
    job.progress.rows_total = len(job.rows)

    async def work(station: Station) -> Done:
        if job.cache != "read":  # a missing key or price is said before the run begins
            station.line(endpoint)
            engine.budget.check(station.price(endpoint), endpoint.label)
        with run, logs.bind(run=run.id):
            rows = await _outcomes(engine, station, job, endpoint, run)
            _write(run, rows)
            stopped = engine.stop.failure
            run.finish(end_state(engine), "" if stopped is None else stopped.message)
        if engine.error is not None:
            raise engine.error
        return Done(run, rows)

    return run_blocking(
        thread, work, cancel=engine.stop.throw, tick=tick, on_interrupt=on_interrupt
    )


def end_state(engine: Engine) -> RunState:
    """How a run ended, by what its engine saw."""
    stopped = engine.stop.failure
    if engine.error is not None:
        return RunState.FAILED
    if stopped is not None:
        cancelled = stopped.kind is FailureKind.CANCELLED
        return RunState.CANCELLED if cancelled else RunState.STOPPED
    if engine.progress.rows_failed:
        return RunState.COMPLETED_WITH_FAILURES
    return RunState.COMPLETED


async def _outcomes(
    engine: Engine, station: Station, job: Job, endpoint: Endpoint, run: Run
) -> list[tuple[Any, Outcome]]:
    outcomes: dict[int, Outcome] = {}

    async def ask(question: Any) -> Outcome:
        if isinstance(question, Raised):
            return Failure(FailureKind.INPUT, f"the prompt function raised {question.error!r}")
        return await engine.ask(Request.of(endpoint, question))

    run.begin_failures()
    async for number, _, outcome in engine.map(
        _questions(station, job), ask, window=station.window(endpoint)
    ):
        outcomes[number] = outcome
        if isinstance(outcome, Failure) and outcome.kind in _NOT_DONE:
            continue  # neither done nor failed: the next run goes on with it
        engine.progress.rows_done += 1
        if isinstance(outcome, Failure):
            engine.progress.rows_failed += 1
            run.failed(number, outcome)
        run.tick()
    return [(job.rows[number], outcomes[number]) for number in sorted(outcomes)]


async def _questions(station: Station, job: Job) -> Any:
    """The user's prompt function over blocks of rows, in the user's thread."""
    for start in range(0, len(job.rows), _BLOCK):
        block = [(row,) for row in job.rows[start : start + _BLOCK]]
        for question in await station.users.call(job.prompt, block):
            yield question
        await asyncio.sleep(0)


def _write(run: Run, rows: list[tuple[Any, Outcome]]) -> None:
    lines = [
        orjson.dumps({"row": row, "answer": outcome.text}, default=str)
        for row, outcome in rows
        if not isinstance(outcome, Failure)
    ]
    with storage_errors(run.folder):
        private_file(run.folder / "answers.jsonl", b"".join(line + b"\n" for line in lines))
