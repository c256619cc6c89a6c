"""A table that grows: rows made side by side, written in order, sifted where that is asked for.

Rows go straight into the table. Where duplicates are removed or only accepted rows count, they come
in waves: a wave is written whole, then sifted in the order of its rows, so that what is kept does
not depend on who was faster; the next wave makes up for what fell out.
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import Any

from penstock.engine.job import Job
from penstock.engine.outlet import Outlet
from penstock.engine.rows import waiting
from penstock.generate.cells import Cells
from penstock.generate.goal import Goal, RowCheck
from penstock.generate.made import Made, Reader, failure_row, free_name
from penstock.generate.schema import Schema
from penstock.live.feed import Feed
from penstock.outcome import Failure, FailureKind
from penstock.tables import Table, TableWriter

__all__ = ["Growth"]

_LEAST_WAVE = 16


class Growth:
    """One run of a schema."""

    def __init__(
        self, job: Job, schema: Schema, cells: Cells, goal: Goal, feed: Feed | None = None
    ) -> None:
        self._job = job
        self._schema = schema
        self._cells = cells
        self._goal = goal
        self._feed = feed
        self._reader = Reader(schema)
        self._number = free_name("row", (*schema.makes, self._reader.status))
        self._table = TableWriter(job.run.folder / "dataset.arrow")
        self._failures = TableWriter(job.run.folder / "failures.arrow")
        self._wave: TableWriter | None = None
        self._seen = None if goal.unlike is None else goal.unlike.begun()
        self._check = None if goal.check is None else RowCheck(goal.check, schema, cells.calls)
        self._kept = 0
        self._made = 0
        self.fallen: Counter[str] = Counter()
        """How many rows fell out, and why."""
        self.left_waiting = 0
        """Rows that lie in batches for which nobody here waits."""

    async def work(self, window: int) -> None:
        """Make all rows."""
        goal, stop = self._goal, self._job.engine.stop
        if not goal.sifts:
            await self._make(range(goal.n), window)
            return
        while self._made < goal.most and not self._enough() and not stop.thrown:
            before = self._kept
            await self._make_wave(range(self._made, self._made + self._next_wave()), window)
            if self.left_waiting or (self._kept == before and self._refused()):
                break
        if goal.until and not self._enough() and not self.left_waiting and not stop.thrown:
            self._give_up()

    async def close(self) -> Table:
        """In the user thread: the table, with what failed."""
        try:
            table = self._table.close()
            table.failures = self._failures.close()
        finally:
            self.abort()
        return table

    def abort(self) -> None:
        """Leave no half-written table."""
        for writer in (self._table, self._failures, self._wave):
            if writer is not None:
                writer.abort()

    # Waves ------------------------------------------------------------------------------------

    def _enough(self) -> bool:
        goal = self._goal
        return self._kept >= goal.n if goal.until else self._made >= goal.n

    def _refused(self) -> list[str]:
        """What endpoints were stopped for: rows that ask them cannot be made."""
        return [kind.meaning for kind in self._job.progress.failures if kind.stops]

    def _give_up(self) -> None:
        progress = self._job.progress
        progress.rows_failed = self.fallen["failed"]
        progress.rows_done = self._kept + progress.rows_failed
        refused = self._refused()
        if refused and not self._kept:
            return  # the endpoint's own words are told
        why = ", ".join(f"{count:,} {fate}" for fate, count in self.fallen.most_common())
        why = "; ".join([why, *refused])
        said = f"{self._kept:,} of {self._goal.n:,} rows were accepted of {self._made:,} ({why})"
        self._job.engine.stop.throw(FailureKind.REJECTED, said)

    def _next_wave(self) -> int:
        """As many as are likely to do, by how many were kept so far."""
        goal, left = self._goal, self._goal.most - self._made
        if not goal.until or not self._made:
            return min(goal.n, left)
        share = max(self._kept / self._made, 0.1)
        return min(max(ceil((goal.n - self._kept) / share), _LEAST_WAVE), left)

    async def _make_wave(self, numbers: range, window: int) -> None:
        self._wave = TableWriter(self._job.run.folder / "wave.arrow")
        await self._make(numbers, window)
        self._made = numbers.stop
        kept = await self._job.station.users.run(self._sift)
        if self._goal.until:
            self._job.progress.rows_done = self._kept
        if self._job.on_rows is not None:
            await self._job.on_rows(kept)

    async def _sift(self) -> list[dict[str, Any]]:
        """In the user thread: keep what is new and accepted, in the order of the rows."""
        assert self._wave is not None
        wave, self._wave = self._wave.close(), None
        kept: list[dict[str, Any]] = []
        for row in wave:
            number = row.pop(self._number)
            fate = self._fate(row)
            if fate is None:
                self._table.add(self._kept, [row])
                self._kept += 1
                if self._job.on_rows is not None:
                    kept.append(row)
                continue
            self.fallen[fate] += 1
            if fate == "duplicate":
                why = Failure(FailureKind.DUPLICATE, "like an earlier row")
                self._failures.add(number, [failure_row(number, "", why)])
        return kept

    def _fate(self, row: dict[str, Any]) -> str | None:
        """Why a row falls out, or None."""
        status = str(row[self._reader.status])
        if self._goal.until and self._kept >= self._goal.n:
            return "surplus"
        if self._goal.until and status != "ok":
            return status
        if status == "ok" and self._seen is not None and self._seen.find(row) is not None:
            return "duplicate"
        return None

    # Rows -------------------------------------------------------------------------------------

    async def _make(self, numbers: range, window: int) -> None:
        """Some rows, through the engine and into the table."""
        outlet = Outlet(self._job.station.users, self._finish, self._finished)
        done = 0

        def each(came: tuple[int, int, Any]) -> tuple[int, Any] | None:
            nonlocal done
            _, number, result = came
            if waiting(result):
                return None
            done += 1
            return number, result

        rows = self._job.engine.map(numbers, self._row, window=window)
        await outlet.pour(rows, each=each)
        if not self._job.engine.stop.thrown:
            self.left_waiting = len(numbers) - done

    async def _row(self, number: int) -> tuple[list[Any], Failure | None]:
        cells = await self._cells.row(number)
        if self._check is None or any(isinstance(cell, Failure) for cell in cells):
            return cells, None
        return cells, await self._check.verdict(self._schema.spread(cells))

    async def _finish(self, block: list[tuple[int, Any]]) -> list[Made]:
        """In the user thread: write down what came."""
        finished = [self._reader.read(number, result) for number, result in block]
        for made in finished:
            if not made.postponed:
                self._write(made)
        if self._feed is not None:
            self._feed.flush()
        return finished

    def _write(self, made: Made) -> None:
        failures = [failure_row(made.number, name, failure) for name, failure in made.failures]
        if self._wave is not None:
            self._wave.add(made.number, [{**made.row, self._number: made.number}])
        else:
            self._table.add(made.number, [made.row])
        if failures or not self._goal.sifts:  # a row that is well may still turn out a duplicate
            self._failures.add(made.number, failures)
        if self._feed is not None:
            self._feed.add(made.number, made.row, made.status, failures)

    async def _finished(self, finished: list[Made]) -> None:
        """Count what was finished, and hand it on to whoever reads along."""
        job, counts = self._job, not self._goal.until
        for made in finished:
            if made.postponed:
                continue
            job.progress.rows_done += counts
            job.progress.rows_failed += counts and made.status == "failed"
            for name, failure in made.failures:
                job.run.failed(made.number, failure, name)
        job.run.tick()
        if job.on_rows is not None and not self._goal.sifts:
            await job.on_rows([made.row for made in finished if not made.postponed])
