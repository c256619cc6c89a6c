"""From a plan to a run: opened, worked through, closed with its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.batch import BatchWish
from penstock.engine.batch_keeping import opened
from penstock.engine.bridge import run
from penstock.engine.budget import Budget
from penstock.engine.job import Job, TableHandle, Terms, started
from penstock.engine.job import streamed as flowing
from penstock.engine.lanes import LaneWish
from penstock.engine.progress import Progress
from penstock.engine.station import Station
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError
from penstock.generate.estimate import Projection, Rates, project
from penstock.generate.functions import described
from penstock.generate.plan import Plan
from penstock.generate.work import Pipeline
from penstock.tables import RowSource, Table
from penstock.tokens import Lane

__all__ = ["Launch", "estimated", "launched", "streamed"]


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

    def job(self) -> Job:
        """The run, not yet begun."""
        plan, count = self.plan, self.source.count
        return Job(
            Terms(
                self.bench,
                "prompt",
                (plan.endpoint,),
                self.spec or {"endpoint": plan.endpoint.label, "rows": count},
                name=self.name,
                id=self.id,
                prompt=described(plan.prompt),
                total=None if count is None else count * plan.samples,
                cache=plan.cache,
                budget=self.budget,
                max_retries=self.max_retries,
                lane=self.lane,
                batch=self.batch,
                resumes=self.spec is not None,
                raises=plan.failures == "raise",
            )
        )

    async def work(self, job: Job) -> Table:
        """Everything between the first row and the finished table."""
        with job.open():
            source = await job.repeatable(self.source)
            with job.lane(await self._chosen(job.station, source)):
                pipeline = await self._piped(job, source)
                table: Table = await job.station.users.run(lambda: _closed(pipeline))
            trouble = job.end(table.failures, pipeline.left_waiting)
        if trouble is not None:
            raise trouble
        table.run = job.info()
        return table

    async def _piped(self, job: Job, source: RowSource) -> Pipeline:
        """All rows through; what came before an error is kept."""
        pipeline = Pipeline(job.engine, job.run, self.plan, source, job.on_rows)
        try:
            await pipeline.work()
        except BaseException as error:
            cause = job.failed(error)
            with suppress(PenstockError):  # the first error is the one to tell
                await job.station.users.run(lambda: _closed(pipeline))
                cause.add_note(f"The rows before it are kept in {pipeline.answers.path}.")
            raise cause from cause.__cause__
        return pipeline

    async def _chosen(self, station: Station, source: RowSource) -> Lane:
        """The lane that it takes, by the rule where it is left to us."""
        if self.plan.cache == "read":  # sends nothing
            return "online"
        if self.lane != "auto":
            return self.lane
        return (await _projected(station, self, source, briefly=True)).lane


def launched(
    launch: Launch,
    watch: Callable[[Progress], Callable[[], None]] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Table | TableHandle:
    """Run it: a Table, or a handle inside a running loop."""
    return started(launch.job(), launch.work, watch, on_interrupt)


def streamed(launch: Launch) -> Iterator[dict[str, Any]]:
    """Run it beside the caller, giving out rows as they finish."""
    yield from flowing(launch.job(), launch.work)


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


async def _closed(pipeline: Pipeline) -> Table:
    try:
        table = pipeline.answers.close()
        table.failures = pipeline.failures.close()
    finally:
        pipeline.abort()
    return table
