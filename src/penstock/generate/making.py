"""From a schema to a run: opened, worked through, closed with its table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.batch import BatchWish
from penstock.engine.budget import Budget
from penstock.engine.job import Job, Terms
from penstock.engine.lanes import Prospect, has_batches, lane_for
from penstock.engine.wishes import dollars, lane_of
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError
from penstock.generate.cells import Cells
from penstock.generate.goal import Goal, Unlike, row_check
from penstock.generate.growth import Growth
from penstock.generate.models import Models
from penstock.generate.options import Options
from penstock.generate.schema import Schema
from penstock.live.feed import Feed
from penstock.tables import Table
from penstock.tokens import Lane

__all__ = ["Making"]

_WINDOW = 256


@dataclass(frozen=True)
class Making:
    """Everything that a run of a schema needs."""

    bench: Workbench
    schema: Schema
    n: int
    options: Options
    id: str = ""
    """The run to take up again; a new one where it is empty."""
    spec: Mapping[str, Any] | None = None
    """The whole job as data, where it is data: then the shell can resume it."""
    fallen: dict[str, int] = field(default_factory=dict)
    """Fills: how many rows fell out, and why."""

    def job(self) -> Job:
        """The run, not yet begun; everything that can be checked has been."""
        goal, options = self.goal, self.options
        self.schema.check_rows(goal.wanted)
        if goal.check is not None:
            row_check(goal.check, self.schema)
        models = self._models()
        budget = dollars(options.get("budget"))
        settings = self.bench.settings.batch_processing
        wish = BatchWish(
            options.get("batch_size"), options.get("wait", True), settings.check_interval
        )
        return Job(
            Terms(
                self.bench,
                "generate",
                self.schema.endpoints(models),
                self.spec or {"columns": list(self.schema.names), "rows": goal.n},
                name=options.get("name", ""),
                id=self.id,
                prompt=f"a schema of {len(self.schema.names)} columns",
                total=goal.n,
                cache=options.get("cache", "use"),
                budget=None if budget is None else Budget(budget, self.bench.budget().tokens),
                lane=lane_of(options.get("batch", False), options.get("cache", "use")),
                batch=wish,
                resumes=self.spec is not None,
                raises=options.get("failures") == "raise",
            )
        )

    @property
    def goal(self) -> Goal:
        options = self.options
        unlike = Unlike.of(options.get("dedupe"), self.schema.makes)
        goal = Goal.of(
            self.n, options.get("until"), options.get("most"), options.get("check"), unlike
        )
        return goal.within(self.schema)

    @property
    def seed(self) -> int | str:
        return self.options.get("seed", 0)

    def _models(self) -> Models:
        return Models(self.bench, self.options.get("concurrency"))

    async def work(self, job: Job) -> Table:
        """Everything between the first row and the finished table."""
        with job.open():
            with job.lane(self._lane(job)):
                growth = await self._grown(job)
                table: Table = await job.station.users.run(growth.close)
            self.fallen.update(growth.fallen)
            trouble = job.end(table.failures, growth.left_waiting)
        if trouble is not None:
            raise trouble
        table.run = job.info()
        return table

    async def _grown(self, job: Job) -> Growth:
        """All rows; what came before an error is kept."""
        options = self.options
        cells = Cells(
            self.schema,
            job.engine,
            self._models(),
            self.seed,
            options.get("max_concurrent_columns"),
        )
        with ExitStack() as stack:
            feed = stack.enter_context(Feed(job.run.folder)) if options.get("view") else None
            growth = Growth(job, self.schema, cells, self.goal, feed)
            try:
                await growth.work(options.get("max_concurrent_rows") or self._window(job))
            except BaseException as error:
                cause = job.failed(error)
                with suppress(PenstockError):  # the first error is the one to tell
                    await job.station.users.run(growth.close)
                    cause.add_note(f"The rows before it are kept in {job.run.folder}.")
                raise cause from cause.__cause__
        return growth

    def _window(self, job: Job) -> int:
        """Rows at once: as many as keep every endpoint busy."""
        windows = [job.station.window(endpoint) for endpoint in job.terms.endpoints]
        return max(_WINDOW, sum(windows))

    def _lane(self, job: Job) -> Lane:
        terms = job.terms
        if terms.cache == "read" or terms.lane == "online" or not terms.endpoints:
            return "online"
        if terms.lane == "batch":
            return "batch"
        asking = sum(column.question is not None for column in self.schema.columns.values())
        able = all(has_batches(endpoint) for endpoint in terms.endpoints)
        return lane_for(Prospect(able, self.goal.n * asking))
