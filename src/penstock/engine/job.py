"""A job: what every run does around its own work, whatever that is.

Endpoints, keys and budgets are checked before anything is sent; the run is opened and locked; the
questions take their lane; in the end it is written down how it went. The four jobs differ only in
how rows become questions and answers become rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from penstock import logs
from penstock.endpoint import Endpoint
from penstock.engine.batch import BatchLane, BatchWish, Reserve, Writing, batches_of
from penstock.engine.batch_keeping import parked
from penstock.engine.bridge import Handle, check_may_wait, run
from penstock.engine.budget import Budget
from penstock.engine.engine import Cache, Engine
from penstock.engine.info import RunInfo, models_of
from penstock.engine.lanes import LaneWish
from penstock.engine.outflow import Flow, OnRows, Outflow
from penstock.engine.progress import Progress
from penstock.engine.refusal import refusal, stopper_of
from penstock.engine.run import Run, end_state
from penstock.engine.states import RunState
from penstock.engine.station import Station
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, PenstockError, ProcessingError
from penstock.outcome import FailureKind
from penstock.store.batches import BatchStore
from penstock.tables import RowSource, Table, TableWriter, rows
from penstock.tokens import Lane

__all__ = [
    "Branch",
    "Job",
    "TableHandle",
    "Terms",
    "begun",
    "check_resumable",
    "first_error",
    "performed",
    "started",
    "streamed",
]

T = TypeVar("T")
Work = Callable[["Job"], Coroutine[Any, Any, Table]]
Branch: TypeAlias = Callable[[str], AbstractContextManager[Engine]]


class Shared(NamedTuple):
    """What the batch lanes of one run have in common."""

    store: BatchStore
    reserve: Reserve
    writing: Writing


@dataclass(frozen=True)
class Terms:
    """On what terms a job runs, whatever it does."""

    bench: Workbench
    kind: str
    endpoints: tuple[Endpoint, ...]
    spec: Mapping[str, Any]
    name: str = ""
    id: str = ""
    """The run to take up again; a new one where it is empty."""
    prompt: str = ""
    """What makes the questions, in a few words."""
    total: int | None = None
    """How many rows there will be, where that is known."""
    cache: Cache = "use"
    budget: Budget | None = None
    max_retries: int | None = None
    lane: LaneWish = "online"
    batch: BatchWish = field(default_factory=BatchWish)
    """How, where it goes by batch."""
    resumes: bool = False
    """Whether the shell can take it up again: its spec is data."""
    raises: bool = False
    """Whether failed rows are an error in the end."""


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


class Job:
    """One run, while it goes on."""

    def __init__(self, terms: Terms) -> None:
        bench = terms.bench
        self.terms = terms
        self._began = time.monotonic()
        self.thread = bench.thread
        self.progress = Progress(rows_total=terms.total)
        self.run = Run(
            bench.workspace,
            bench.catalog,
            kind=terms.kind,
            name=terms.name,
            id=terms.id,
            spec=terms.spec,
            progress=self.progress,
        )
        self.engine = self._engine()
        self.on_rows: OnRows | None = None
        """Who reads along."""

    @property
    def station(self) -> Station:
        return self.thread.station

    def _engine(self) -> Engine:
        terms = self.terms
        engine = terms.bench.engine(
            self.thread.station,
            run=self.run.id,
            cache=terms.cache,
            progress=self.progress,
            on_ask=self.run.asked,
        )
        if terms.budget is not None:
            engine.budget = terms.budget
        if terms.max_retries is not None:
            engine.retries = engine.retries._replace(max_retries=terms.max_retries)
        return engine

    def check(self) -> None:
        """A missing key or price is said before the run begins."""
        if self.terms.cache == "read":  # nothing is sent
            return
        for endpoint in self.terms.endpoints:
            self.station.reopen(endpoint)
            self.station.line(endpoint)
            self.engine.budget.check(self.station.price(endpoint), endpoint.label)
            if self.terms.lane == "batch":
                batches_of(self.station, endpoint)

    @contextmanager
    def open(self) -> Iterator[None]:
        """The run, held while it goes on."""
        self.check()
        with self.run, logs.bind(run=self.run.id):
            self.run.begin_failures()
            yield

    @contextmanager
    def lane(self, lane: Lane) -> Iterator[None]:
        """The way that questions take, open while the run goes on."""
        if lane == "online":
            with parked(self.terms.bench, self.engine):
                yield
            return
        with self.branches(lane) as branch, branch("") as engine:
            self.engine.lane = engine.lane
            yield

    @contextmanager
    def branches(self, lane: Lane) -> Iterator[Branch]:
        """Several ways side by side: `with branch("a") as engine` gives the engine of each part.

        Online they are all the run's own. In the batch lane each part sees to its own batches, so
        that its rows wait for nobody else's; all of them share what is held against the budget.
        """
        if lane == "online":
            with parked(self.terms.bench, self.engine):
                yield lambda _: nullcontext(self.engine)
            return
        store = BatchStore(self.terms.bench.workspace.batches)
        shared = Shared(store, Reserve.of(store, self.run.id), Writing())
        try:
            yield lambda part: self._by_batch(part, shared)
        finally:
            store.close()

    @contextmanager
    def _by_batch(self, part: str, shared: Shared) -> Iterator[Engine]:
        engine = self._engine()
        engine.budget, engine.stop = self.engine.budget, self.engine.stop
        lane = engine.lane = BatchLane(
            self.station,
            shared.store,
            self.run.folder,
            run=self.run.id,
            wish=self.terms.batch,
            progress=self.progress,
            stop=engine.stop,
            budget=engine.budget,
            part=part,
            reserve=shared.reserve,
            writing=shared.writing,
        )
        try:
            yield engine
        finally:
            lane.abandon()

    async def repeatable(self, source: RowSource) -> RowSource:
        """The rows, which the batch lane reads several times: what can be read only once is
        written down first."""
        if self.terms.lane == "online" or source.repeatable:
            return source
        path = self.run.folder / "input.arrow"
        return rows(await self.station.users.run(lambda: _written(source, path)))

    def failed(self, error: BaseException) -> BaseException:
        """Going on is impossible: what still waits to be sent is not sent. Gives its cause."""
        cause = first_error(error)
        self.engine.stop.throw(why=str(cause))
        self.run.finish(RunState.FAILED, str(cause))
        return cause

    def end(self, failures: Table, left: int = 0) -> PenstockError | None:
        """Write down how it ended; what the caller is told instead of a result.

        `left`: questions that lie in batches for which nobody here waits.
        """
        engine, run, terms = self.engine, self.run, self.terms
        statistics = self.station.statistics()
        found = [statistics.get(endpoint.label, {}) for endpoint in terms.endpoints]
        run.limiter = found[0] if len(found) == 1 else {}
        stopped = engine.stop.failure
        stopper = None if stopped is not None else stopper_of(failures, self.progress)
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
            return refusal(terms.endpoints, stopper, run.id, resumes=terms.resumes)
        return _failures(failures, run.id) if terms.raises else None

    def info(self) -> RunInfo:
        """What the table knows of it."""
        run, terms = self.run, self.terms
        return RunInfo(
            run.id,
            run.state,
            self.progress.counters(),
            str(run.folder),
            datetime.now(UTC),
            models_of(terms.endpoints),
            terms.prompt,
            time.monotonic() - self._began,
        )


def performed(
    job: Job,
    work: Callable[[], Coroutine[Any, Any, T]],
    watch: Callable[[Progress], Callable[[], None]] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> T | Handle[T]:
    """Do the work of a job: what it gives, or a handle inside a running loop.

    Ctrl-C ends it in good order; it is raised then, unless the caller is told by `on_interrupt`.
    """
    interrupts: list[bool] = []

    def interrupted() -> None:
        interrupts.append(True)
        if on_interrupt is not None:
            on_interrupt()

    made = run(
        job.thread,
        lambda _: work(),
        cancel=job.engine.stop.throw,
        tick=None if watch is None else watch(job.progress),
        on_interrupt=interrupted,
    )
    if interrupts and on_interrupt is None and not isinstance(made, Handle):
        raise KeyboardInterrupt
    return made


def check_resumable(spec: Mapping[str, Any]) -> None:
    """A run whose endpoints were given as objects cannot be taken up by the shell."""
    if "endpoints" in spec:
        raise InputError(
            "this run was made by a program, not by the shell",
            remedy="Run that program again: what has an answer is found, the rest is asked.",
        )


def started(
    job: Job,
    work: Work,
    watch: Callable[[Progress], Callable[[], None]] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Table | TableHandle:
    """Run it: a Table, or a handle inside a running loop.

    `watch` is shown the progress and gives what is called now and then while the caller waits.
    """
    made = run(
        job.thread,
        lambda _: work(job),
        cancel=job.engine.stop.throw,
        tick=None if watch is None else watch(job.progress),
        on_interrupt=on_interrupt,
    )
    if isinstance(made, Handle):
        return TableHandle(made.future, made.cancel)
    return made


def streamed(job: Job, work: Work) -> Iterator[dict[str, Any]]:
    """Run it beside the caller, giving out rows as they finish."""
    return begun(job, work).items


def begun(job: Job, work: Work) -> Flow[dict[str, Any]]:
    """The same, to be left at any moment."""
    outflow: Outflow[dict[str, Any]] = Outflow(job.thread)
    return Flow(_flowing(job, work, outflow), outflow.leave)


def _flowing(
    job: Job, work: Work, outflow: Outflow[dict[str, Any]]
) -> Generator[dict[str, Any], None, None]:
    check_may_wait()
    job.on_rows = outflow.put
    future = job.thread.submit(lambda _: work(job))
    future.add_done_callback(lambda _: outflow.end())
    try:
        yield from outflow
        if not outflow.left:
            future.result()
    finally:
        outflow.leave()
        job.thread.call(job.engine.stop.throw)


def first_error(error: BaseException) -> BaseException:
    """The error itself, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _written(source: RowSource, path: Path) -> Table:
    with TableWriter(path) as writer:
        for number, row in enumerate(source):
            writer.add(number, [row])
        return writer.close()


def _failures(failures: Table, run_id: str) -> ProcessingError | None:
    """The rows that failed, as an error; those that were removed on purpose did not fail."""
    first: dict[str, Any] | None = None
    count, last = 0, None
    for failure in failures:
        if failure["kind"] == FailureKind.DUPLICATE:
            continue
        first = first or failure
        count += failure["row"] != last
        last = failure["row"]
    if first is None:
        return None
    return ProcessingError(
        f"{count} rows failed; the first, row {first['row']}: {first['message']}",
        remedy=f"The others are kept: see `penstock runs show {run_id}`.",
    )
