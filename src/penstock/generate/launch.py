"""From a plan to a run: opened, worked through, closed with its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock import logs
from penstock.engine.batch import BatchLane, BatchWish, batches_of
from penstock.engine.batch_keeping import opened
from penstock.engine.bridge import Handle, check_may_wait, run
from penstock.engine.budget import Budget
from penstock.engine.engine import Engine
from penstock.engine.progress import Progress
from penstock.engine.run import Run, end_state
from penstock.engine.states import RunState
from penstock.engine.station import Station
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError, ProcessingError
from penstock.generate.estimate import Projection, Rates, project
from penstock.generate.info import RunInfo
from penstock.generate.lanes import LaneWish
from penstock.generate.outflow import Outflow
from penstock.generate.plan import Plan
from penstock.generate.refusal import refusal, stopper_of
from penstock.generate.work import OnRows, Pipeline
from penstock.store.batches import BatchStore
from penstock.tables import RowSource, Table, TableWriter, rows
from penstock.tokens import Lane

__all__ = ["Launch", "TableHandle", "estimated", "launched", "streamed"]


@dataclass(frozen=True)
class Launch:
    """Everything a run of a Prompter needs."""

    bench: Workbench
    plan: Plan
    source: RowSource
    name: str = ""
    budget: Budget | None = None
    max_retries: int | None = None
    id: str = ""
    """The run to take up again; a new one where it is empty."""
    spec: Mapping[str, Any] | None = None
    """The whole job as data, where it is data: then the shell can resume it."""
    lane: LaneWish = "online"
    batch: BatchWish = field(default_factory=BatchWish)
    """How, where it goes by batch."""


class TableHandle(Handle[Table]):
    """A table in the making: await it; touching its data waits for it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own questions wait for nothing
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __len__(self) -> int:
        return len(self.result())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.result())

    def __getitem__(self, what: Any) -> Any:
        return self.result()[what]


class Running:
    """One run, while it goes on."""

    def __init__(self, launch: Launch) -> None:
        bench, plan = launch.bench, launch.plan
        self.launch = launch
        self.thread = bench.thread
        self.progress = Progress(rows_total=_total(launch))
        self.run = Run(
            bench.workspace,
            bench.catalog,
            kind="prompt",
            name=launch.name,
            id=launch.id,
            spec=launch.spec or {"endpoint": plan.endpoint.label, "rows": launch.source.count},
            progress=self.progress,
        )
        self.engine = self._engine()
        self.on_rows: OnRows | None = None

    def _engine(self) -> Engine:
        launch = self.launch
        engine = launch.bench.engine(
            self.thread.station,
            run=self.run.id,
            cache=launch.plan.cache,
            progress=self.progress,
            on_ask=self.run.asked,
        )
        if launch.budget is not None:
            engine.budget = launch.budget
        if launch.max_retries is not None:
            engine.retries = engine.retries._replace(max_retries=launch.max_retries)
        return engine

    async def work(self, station: Station) -> Table:
        """Everything between the first row and the finished table."""
        launch, engine, run = self.launch, self.engine, self.run
        if launch.plan.cache != "read":  # a missing key or price is said before the run begins
            endpoint = launch.plan.endpoint
            station.reopen(endpoint)
            station.line(endpoint)
            engine.budget.check(station.price(endpoint), endpoint.label)
            if launch.lane == "batch":
                batches_of(station, endpoint)
        with run, logs.bind(run=run.id):
            run.begin_failures()
            source = await self._repeatable(station)
            with self._lane(station, await self._chosen(station, source)):
                pipeline = await self._piped(station, source)
                table: Table = await station.users.run(lambda: _closed(pipeline))
            run.limiter = station.statistics().get(launch.plan.endpoint.label, {})
            trouble = self._finish(table, pipeline.left_waiting)
        if trouble is not None:
            raise trouble
        table.run = self._info()
        return table

    async def _piped(self, station: Station, source: RowSource) -> Pipeline:
        """All rows through; what came before an error is kept."""
        engine, run = self.engine, self.run
        pipeline = Pipeline(engine, run, self.launch.plan, source, self.on_rows)
        try:
            await pipeline.work()
        except BaseException as error:
            cause = _first(error)
            engine.stop.throw(why=str(cause))  # what still waits to be sent is not sent
            with suppress(PenstockError):  # the first error is the one to tell
                await station.users.run(lambda: _closed(pipeline))
                cause.add_note(f"The rows before it are kept in {pipeline.answers.path}.")
            run.finish(RunState.FAILED, str(cause))
            raise cause from cause.__cause__
        return pipeline

    async def _chosen(self, station: Station, source: RowSource) -> Lane:
        """The lane that it takes, by the rule where it is left to us."""
        launch = self.launch
        if launch.plan.cache == "read":  # sends nothing
            return "online"
        if launch.lane != "auto":
            return launch.lane
        return (await _projected(station, launch, source, briefly=True)).lane

    @contextmanager
    def _lane(self, station: Station, lane: Lane) -> Iterator[None]:
        """The way that questions take, open while the run goes on."""
        made = self._online() if lane == "online" else self._by_batch(station)
        with made:
            yield

    @contextmanager
    def _online(self) -> Iterator[None]:
        """Nothing is asked that lies in an open batch: that would be paid for twice."""
        with opened(self.launch.bench) as store:
            if store is not None and store.open():
                self.engine.parked = lambda key: any(w.batch for w in store.find([key]).values())
            yield

    @contextmanager
    def _by_batch(self, station: Station) -> Iterator[None]:
        wish = self.launch.batch
        store = BatchStore(self.launch.bench.workspace.batches)
        lane = self.engine.lane = BatchLane(
            station,
            store,
            self.run.folder,
            run=self.run.id,
            wish=wish,
            progress=self.progress,
            stop=self.engine.stop,
            budget=self.engine.budget,
        )
        try:
            yield
        finally:
            lane.abandon()
            store.close()

    async def _repeatable(self, station: Station) -> RowSource:
        """The rows, which the batch lane reads several times: what can be read only once is
        written down first."""
        source = self.launch.source
        if self.launch.lane == "online" or source.repeatable:
            return source
        path = self.run.folder / "input.arrow"
        return rows(await station.users.run(lambda: _written(source, path)))

    def _finish(self, table: Table, left: int) -> PenstockError | None:
        """Write down how it ended; what the caller is told instead of a table."""
        engine, run, launch = self.engine, self.run, self.launch
        stopped = engine.stop.failure
        stopper = None if stopped is not None else stopper_of(table.failures, self.progress)
        served = self.progress.rows_done > self.progress.rows_failed
        state = end_state(engine) if stopper is None or served else RunState.FAILED
        why = stopped or stopper
        message = "" if why is None else why.message
        if left and stopped is None:
            state, message = RunState.WAITING, f"{left:,} questions lie in batches"
        run.finish(state, message)
        if engine.error is not None:
            return engine.error
        if stopper is not None and not served:
            return refusal(launch.plan.endpoint, stopper, run.id, resumes=launch.spec is not None)
        if launch.plan.failures == "raise" and len(table.failures):
            first = table.failures[0]
            return ProcessingError(
                f"{len(table.failures)} rows failed; the first, row {first['row']}: "
                f"{first['message']}",
                remedy=f"The others are kept: see `penstock runs show {run.id}`.",
            )
        return None

    def _info(self) -> RunInfo:
        run, counters = self.run, self.progress.counters()
        ended = datetime.now(UTC)
        return RunInfo(run.id, run.state, counters, str(run.folder), ended, self.launch.plan)


def launched(
    launch: Launch,
    watch: Callable[[Progress], Callable[[], None]] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Table | TableHandle:
    """Run it: a Table, or a handle inside a running loop.

    `watch` is shown the progress and gives what is called now and then while the caller waits.
    """
    running = Running(launch)
    made = run(
        running.thread,
        running.work,
        cancel=running.engine.stop.throw,
        tick=None if watch is None else watch(running.progress),
        on_interrupt=on_interrupt,
    )
    if isinstance(made, Handle):
        return TableHandle(made.future, made.cancel)
    return made


def streamed(launch: Launch) -> Iterator[dict[str, Any]]:
    """Run it beside the caller, giving out rows as they finish."""
    check_may_wait()
    running = Running(launch)
    outflow = Outflow(running.thread)
    running.on_rows = outflow.put
    future = running.thread.submit(running.work)
    future.add_done_callback(lambda _: outflow.end())
    try:
        yield from outflow
        future.result()
    finally:
        outflow.leave()
        running.thread.call(running.engine.stop.throw)


def estimated(launch: Launch) -> Projection:
    """What it would take; nothing is sent."""
    thread = launch.bench.thread

    async def work(station: Station) -> Projection:
        return await _projected(station, launch, launch.source)

    made: Any = run(thread, work, cancel=lambda: None)
    return made  # type: ignore[no-any-return]


async def _projected(
    station: Station, launch: Launch, source: RowSource, *, briefly: bool = False
) -> Projection:
    rates = Rates.of(launch.bench.prices(), launch.plan, launch.lane)
    with opened(launch.bench) as store:
        return await project(
            station, launch.plan, source, rates, launch.lane, store=store, briefly=briefly
        )


async def _written(source: RowSource, path: Path) -> Table:
    with TableWriter(path) as writer:
        for number, row in enumerate(source):
            writer.add(number, [row])
        return writer.close()


async def _closed(pipeline: Pipeline) -> Table:
    try:
        table = pipeline.answers.close()
        table.failures = pipeline.failures.close()
    finally:
        pipeline.abort()
    return table


def _total(launch: Launch) -> int | None:
    count = launch.source.count
    return None if count is None else count * launch.plan.samples


def _first(error: BaseException) -> BaseException:
    """The error itself, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
