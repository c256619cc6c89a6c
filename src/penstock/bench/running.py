"""A benchmark run: every recipe, dataset, template and endpoint at once through one engine.

Each endpoint has a flow of its own over the same questions, at its own speed; what comes back is
measured by the block as it comes, and lies in one table in the order of the plan. Nothing of it is
held: killed, the run is begun again, and what has an answer is found in the journal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from penstock.bench.asking import Asked, item_of, measured
from penstock.bench.flow import Flow
from penstock.bench.item import Item
from penstock.bench.listening import Listening
from penstock.bench.plan import Plan
from penstock.bench.planning import planned
from penstock.bench.result import FILES
from penstock.bench.results import BenchRun
from penstock.bench.troubles import Troubles
from penstock.bench.wishes import Wishes
from penstock.endpoint import Endpoint
from penstock.engine.batch import BatchWish
from penstock.engine.budget import Budget
from penstock.engine.job import Job, Terms, check_resumable, performed
from penstock.engine.lanes import LaneWish, Prospect, has_batches, lane_for
from penstock.engine.outlet import Outlet
from penstock.engine.progress import Progress
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.outcome import Failure
from penstock.tables import Table, TableWriter
from penstock.tokens import Lane

__all__ = ["BenchJob"]


@dataclass(frozen=True)
class BenchJob:
    """A benchmark run as data: what the shell runs, stores and resumes."""

    wishes: Wishes
    endpoints: tuple[Endpoint, ...] = ()
    """Those that were given as objects, in Python."""
    listening: Listening = field(default_factory=Listening)

    @property
    def lane(self) -> LaneWish:
        return self.wishes.lane

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> BenchJob:
        """The job that a run was made of."""
        if origin := spec.get("rescored_from"):
            raise InputError(
                f"this run scored the answers of {origin} anew, and asked nothing itself",
                remedy=f"Go on with that one: penstock runs resume {origin}",
            )
        check_resumable(spec)
        return cls(Wishes.from_spec(spec))

    def plan(self, bench: Workbench) -> Plan:
        """What it will ask."""
        return planned(self.wishes, bench, self.endpoints)

    def run(
        self,
        bench: Workbench,
        *,
        run_id: str = "",
        plan: Plan | None = None,
        waits: bool = True,
        watch: Callable[[Progress], Callable[[], None]] | None = None,
        on_interrupt: Callable[[], None] | None = None,
        on_begin: Callable[[Going], None] | None = None,
    ) -> Any:
        """Do it, or go on with it: a BenchRun, or a handle inside a running loop.

        `plan`: what it will ask, where that was made already. `on_begin` is shown the run before it
        begins, to cancel it from elsewhere.
        """
        going = Going(self, plan or self.plan(bench), bench, run_id, waits)
        if on_begin is not None:
            on_begin(going)
        return performed(going.job, going.work, watch, on_interrupt)


class Going:
    """One run, while it goes on."""

    def __init__(
        self, bench_job: BenchJob, plan: Plan, bench: Workbench, run_id: str, waits: bool
    ) -> None:
        self.plan = plan
        self._wishes = wishes = bench_job.wishes
        spec = wishes.spec()
        if bench_job.endpoints:
            spec["endpoints"] = list(plan.endpoints)
        dollars = wishes.dollars()
        settings = bench.settings.batch_processing
        self.job = Job(
            Terms(
                bench,
                "bench",
                (*plan.endpoints.values(), *plan.judges.values()),
                spec,
                name=wishes.name or wishes.runner,
                id=run_id,
                prompt=", ".join(recipe.recipe.name for recipe in plan.recipes),
                total=plan.total,
                cache=wishes.cache,
                budget=None if dollars is None else Budget(dollars, bench.budget().tokens),
                lane=self._lane(),
                batch=BatchWish(None, waits, settings.check_interval),
                resumes=not bench_job.endpoints,
            )
        )
        self._began = time.time()
        self._listening = bench_job.listening.at(plan, self.job)
        self._labels = list(plan.endpoints)
        self._troubles = Troubles()
        self._undecided = 0

    def cancel(self) -> None:
        """Stop admission; what is in flight is drained and kept."""
        self.job.thread.call(self.job.engine.stop.throw)

    def _lane(self) -> LaneWish:
        lane = self._wishes.lane
        if lane != "auto":
            return lane
        endpoints = (*self.plan.endpoints.values(), *self.plan.judges.values())
        able = all(has_batches(endpoint) for endpoint in endpoints)
        return lane_for(Prospect(able, self.plan.total))

    # The run ----------------------------------------------------------------------------------

    async def work(self) -> BenchRun:
        job = self.job
        with job.open():
            async with self._listening:
                number = FILES.next_number(job.run.folder)
                items = TableWriter(FILES.table(job.run.folder, "items", number))
                try:
                    left = await self._asked(items)
                    table: Table = await job.station.users.run(lambda: _closed(items))
                except BaseException as error:
                    items.abort()
                    cause = job.failed(error)
                    raise cause from cause.__cause__
                trouble = job.end(self._troubles.failures(), left)
                made: BenchRun = await job.station.users.run(
                    lambda: self._result(table, left, number)
                )
                self._listening.ended(job.run.state)
        if trouble is not None:
            raise trouble
        return made

    async def _asked(self, items: TableWriter) -> int:
        """Every question to every endpoint; how many of them lie in batches."""
        job = self.job
        lane: Lane = "batch" if job.terms.lane == "batch" else "online"

        def each(came: tuple[int, Asked | Failure]) -> tuple[int, Asked] | None:
            number, result = came
            if isinstance(result, Failure):
                return None  # it waits for a batch
            if isinstance(result.outcome, Failure) and result.outcome.kind.undecided:
                self._undecided += 1  # whoever goes on with the run asks it
                return None
            return number, result

        async def finish(block: list[tuple[int, Asked]]) -> list[Item]:
            made = self._measured(block)
            for item in made:
                items.add(item.number, [item.row()])
            self._listening.finished(made)
            return made

        async def after(block: list[Item]) -> None:
            self._count(block)

        outlet = Outlet(job.station.users, finish, after)
        with ExitStack() as stack:
            branch = stack.enter_context(job.branches(lane))
            flows = []
            for place, endpoint in enumerate(self.plan.endpoints.values()):
                engine = stack.enter_context(branch(f"endpoint{place:02d}"))
                flows.append(Flow(self.plan, endpoint, place, engine, job.run.asked).results())
            await outlet.pour(*flows, each=each)
        if job.engine.stop.thrown:
            return 0
        return self.plan.total - job.progress.rows_done - self._undecided

    def _measured(self, block: Sequence[tuple[int, Asked]]) -> list[Item]:
        """In the user thread."""
        scores = measured([asked for _, asked in block])
        size = len(self._labels)
        return [
            item_of(asked, found, number, self._labels[number % size])
            for (number, asked), found in zip(block, scores, strict=True)
        ]

    def _count(self, block: Sequence[Item]) -> None:
        job = self.job
        job.progress.rows_done += len(block)
        for item in block:
            troubles = self._troubles.add(item)
            job.progress.rows_failed += bool(troubles)
            for each in troubles:
                failure = Failure(each.kind, each.message, item.attempts)
                job.run.failed(item.number, failure, each.metric)
        job.run.tick()
        self._listening.counted(block)

    async def _result(self, table: Table, left: int, number: int) -> BenchRun:
        """In the user thread: what it came to. A run that waits for batches has no result yet."""
        job = self.job
        missing = self.plan.total - len(table)
        stopped = job.engine.stop.failure
        made = BenchRun.of(
            job.info(),
            self.plan,
            self._wishes,
            table,
            began=self._began,
            message=stopped.message if stopped and job.run.state is RunState.STOPPED else "",
            problems=(*_left_out(missing, left), *self._troubles.said()),
        )
        if not left:
            FILES.write(made.result, job.run.folder, number)
        return made


def _left_out(missing: int, left: int) -> tuple[str, ...]:
    if left:
        return (f"{left:,} questions lie in batches that are not collected",)
    return (f"{missing:,} questions were not asked: the run was stopped before",) if missing else ()


async def _closed(writer: TableWriter) -> Table:
    return writer.close()
