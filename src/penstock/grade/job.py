"""A grading run: chunks of files through the engine, several at once, and the files back.

A chunk is a job with four states. It fails when its batch fails or no row of it succeeds; then,
where that is wished, nothing more is begun, what is finished is written, and a later run goes on
from there. Every answer is in the journal, so nothing is graded twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.engine.engine import Engine
from penstock.engine.job import Branch, Job
from penstock.engine.outlet import Outlet
from penstock.engine.passes import Marks
from penstock.engine.rows import current_row, waiting
from penstock.grade.chunks import Chunk, Chunks
from penstock.grade.grader import Graded, Grader
from penstock.grade.marking import as_columns
from penstock.grade.opening import OpenFile
from penstock.grade.wishes import Wishes
from penstock.metrics.agreement import Agreement
from penstock.outcome import Failure, FailureKind
from penstock.tables import Table, TableWriter
from penstock.tokens import Lane

__all__ = ["FileWork", "Work"]

_MOST_ATTEMPTS = 2
_SMALL = 64 << 10


@dataclass
class FileWork:
    """A file while it is graded."""

    file: OpenFile
    number: int
    path: Path
    """Of its scores."""
    chunks: list[int]
    left: int
    """Chunks that have not come to an end."""
    counts: Counter[str] = field(default_factory=Counter)
    done: Marks = field(default_factory=Marks)
    _writer: TableWriter | None = None

    @property
    def writer(self) -> TableWriter:
        """Opened with its first row: of many files only some are at work at a time."""
        if self._writer is None:
            self._writer = TableWriter(self.path)
        return self._writer

    def abort(self) -> None:
        """Leave no half-written table."""
        if self._writer is not None:
            self._writer.abort()


class Work:
    """The chunks of a run at work."""

    def __init__(
        self,
        job: Job,
        wishes: Wishes,
        grader: Grader,
        files: list[OpenFile],
        on_file: Callable[[FileWork], Awaitable[None]],
    ) -> None:
        self._job = job
        self._on_file = on_file
        self._wishes = wishes
        self._grader = grader
        self.columns = (*grader.rubric.columns(), "status", "error")
        self._failures = TableWriter(job.run.folder / "failures.arrow")
        self.chunks = Chunks(_chunks(files))
        self.files = self._works(files)
        self._owner = {number: work for work in self.files for number in work.chunks}
        self._left = deque(range(len(self.chunks)))
        self.left_waiting = 0
        """Rows whose answers lie in batches for which nobody here waits."""
        self.agreement = {
            criterion.name: Agreement(*_level(criterion)) for criterion in grader.rubric.criteria
        }

    def _works(self, files: list[OpenFile]) -> list[FileWork]:
        chunks: dict[str, list[int]] = {str(number): [] for number in range(len(files))}
        for chunk in self.chunks:
            chunks[chunk.file].append(chunk.number)
        folder = self._job.run.folder
        return [
            FileWork(file, number, folder / f"scores-{number:04d}.arrow", each, len(each))
            for number, (file, each) in enumerate(zip(files, chunks.values(), strict=True))
        ]

    async def run(self, workers: int) -> None:
        """Every chunk, so many at a time."""
        lane: Lane = "batch" if self._job.terms.lane == "batch" else "online"
        with self._job.branches(lane) as branch:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(workers, len(self._left))):
                    tasks.create_task(self._serve(branch))

    async def _serve(self, branch: Branch) -> None:
        while self._left and not self._job.engine.stop.thrown:
            chunk = self.chunks.begin(self._left.popleft())
            with branch(f"chunk{chunk.number:04d}") as engine:
                await self._chunk(chunk, engine)
            self._tell()

    def _tell(self) -> None:
        tally = self.chunks.tally
        done = tally.success + tally.failure
        failed = f", {tally.failure} failed" if tally.failure else ""
        self._job.progress.note = f"chunk {done} of {tally.total}{failed}"

    # One chunk --------------------------------------------------------------------------------

    async def _chunk(self, chunk: Chunk, engine: Engine) -> None:
        work = self._owner[chunk.number]
        outcome = _Outcome()
        await self._rows(engine, chunk, work, outcome)
        if outcome.left:  # stopped, or in a batch: it is begun again by whoever goes on
            self.chunks.retry(chunk.number, "not finished")
            if not self._job.engine.stop.thrown:
                self.left_waiting += outcome.left
                return
            await self._job.station.users.run(lambda: self._write_failed(work, outcome.held))
            return
        if outcome.failed and not outcome.succeeded and self._again(chunk, outcome):
            return
        await self._job.station.users.run(lambda: self._write_failed(work, outcome.held))
        self._end(chunk, outcome)
        work.left -= 1
        if not work.left:
            await self._on_file(work)

    def _again(self, chunk: Chunk, outcome: _Outcome) -> bool:
        """Put a chunk in which nothing succeeded back, once, where that may help."""
        if chunk.attempts >= _MOST_ATTEMPTS or not outcome.heals or self._job.engine.stop.thrown:
            return False
        self.chunks.retry(chunk.number, outcome.why)
        self._left.append(chunk.number)
        self._job.progress.rows_done -= outcome.failed
        self._job.progress.rows_failed -= outcome.failed
        return True

    def _end(self, chunk: Chunk, outcome: _Outcome) -> None:
        if outcome.succeeded or not outcome.failed:
            self.chunks.succeed(chunk.number)
            return
        why = f"no row succeeded: {outcome.why}"
        self.chunks.fail(chunk.number, why)
        progress = self._job.progress
        if outcome.stops and progress.rows_done <= progress.rows_failed:
            self._left.clear()  # an endpoint serves nobody: that is told, and no more is begun
        elif outcome.stops or self._wishes.halt_on_chunk_failure:
            name = self._owner[chunk.number].file.input.path.name
            rows = f"rows {chunk.start + 1:,} to {chunk.stop:,}"
            self._job.engine.stop.throw(
                FailureKind.HALTED, f"a chunk of {name} failed ({rows}): {outcome.why}"
            )

    async def _rows(self, engine: Engine, chunk: Chunk, work: FileWork, outcome: _Outcome) -> None:
        file = work.file

        async def grade(item: tuple[int, dict[str, Any]]) -> Graded:
            number, row = item
            current_row.set(file.first_row + number)
            if file.staged.is_broken(number):
                return Graded(None, "error")
            return await self._grader.grade(engine, file.text(row))

        async def finish(block: list[tuple[int, Any]]) -> list[tuple[int, Graded]]:
            read = [(number, self._read(result)) for number, result in block]
            for number, graded in read:
                if graded.status != "failed":  # those wait: the whole chunk may be tried again
                    self._write(work, number, graded)
            return read

        async def after(block: list[tuple[int, Graded]]) -> None:
            for number, graded in block:
                self._count(work, number, graded, outcome)
            self._job.run.tick()

        outlet = Outlet(self._job.station.users, finish, after)
        written = frozenset(n for n in range(chunk.start, chunk.stop) if n in work.done)
        done = len(written)  # by the first attempt, where this is the second

        def each(came: tuple[int, tuple[int, Any], Any]) -> tuple[int, Any] | None:
            nonlocal done
            _, (number, _row), result = came
            if waiting(result) or _undecided(result):
                return None
            done += 1
            return number, result

        rows = engine.map(_Rows(file, chunk, written), grade, window=self._window())
        await outlet.pour(rows, each=each)
        outcome.left = len(chunk) - done

    def _window(self) -> int:
        windows = [self._job.station.window(each) for each in self._job.terms.endpoints]
        return max(256, sum(windows))

    # Rows -------------------------------------------------------------------------------------

    def _read(self, result: Any) -> Graded:
        return Graded(None, "failed", result) if isinstance(result, Failure) else result

    def _write(self, work: FileWork, number: int, graded: Graded) -> None:
        """In the user thread."""
        work.writer.add(number, [self._row(graded, work, number)])
        work.done.add(number)
        work.counts[graded.status] += 1
        place = work.file.first_row + number
        if graded.failure is None:
            self._failures.add(place, [])
            return
        failure = graded.failure
        self._failures.add(
            place,
            [
                {
                    "file": str(work.file.input.path),
                    "row": number,
                    "kind": failure.kind.value,
                    "message": failure.message,
                    "attempts": failure.attempts,
                    "may_be_paid": failure.may_be_paid,
                }
            ],
        )

    def _row(self, graded: Graded, work: FileWork, number: int) -> dict[str, Any]:
        """What is added to a row of the file."""
        rubric = self._grader.rubric
        row: dict[str, Any] = dict.fromkeys(self.columns)
        if graded.mark is not None:
            row.update(as_columns(rubric, graded.mark))
        row["status"] = graded.status
        if graded.failure is not None:
            row["error"] = f"{graded.failure.kind}: {graded.failure.message}"
        elif graded.status == "error":
            row["error"] = work.file.staged.problem(number)
        return row

    async def _write_failed(self, work: FileWork, held: list[tuple[int, Graded]]) -> None:
        for number, graded in held:
            self._write(work, number, graded)
            assert graded.failure is not None
            self._job.run.failed(work.file.first_row + number, graded.failure)

    def _count(self, work: FileWork, number: int, graded: Graded, outcome: _Outcome) -> None:
        job = self._job
        job.progress.rows_done += 1
        job.progress.rows_failed += graded.status in ("failed", "error")
        outcome.succeeded += graded.status == "ok"
        if graded.status == "failed" and graded.failure is not None:
            outcome.failed += 1
            outcome.why = outcome.why or graded.failure.message
            outcome.heals |= graded.failure.kind.heals
            outcome.stops |= graded.failure.kind.stops
            outcome.held.append((number, graded))
        for name, agreement in self.agreement.items() if graded.marks else ():
            agreement.add([None if mark is None else mark.value(name) for mark in graded.marks])

    async def scores(self, work: FileWork) -> Table:
        """In the user thread: what is added to a file, a row for each of its rows."""
        oversized = {each.row: each.tokens for each in work.file.plan.oversized}
        for number in range(work.file.rows):
            if number in work.done:
                continue
            row: dict[str, Any] = dict.fromkeys(self.columns)
            row["status"] = "skipped" if number in oversized else "pending"
            if number in oversized:
                row["error"] = f"it takes {oversized[number]:,} tokens, over the limit"
            work.writer.add(number, [row])
            work.counts[row["status"]] += 1
        table = work.writer.close()
        return _in_memory(work.path) if work.path.stat().st_size <= _SMALL else table

    async def close(self) -> Table:
        """In the user thread: the table of failures. Files that wait for batches are left."""
        for work in self.files:
            work.abort()
        return self._failures.close()

    def abort(self) -> None:
        """Leave no half-written table."""
        self._failures.abort()
        for work in self.files:
            work.abort()


@dataclass
class _Outcome:
    succeeded: int = 0
    failed: int = 0
    left: int = 0
    heals: bool = False
    stops: bool = False
    why: str = ""
    held: list[tuple[int, Graded]] = field(default_factory=list)


class _Rows:
    """The rows of a chunk with their numbers, to be read as often as it takes."""

    def __init__(self, file: OpenFile, chunk: Chunk, written: frozenset[int]) -> None:
        self._file, self._chunk, self._written = file, chunk, written

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        start, stop = self._chunk.start, self._chunk.stop
        rows = enumerate(self._file.staged.rows(start, stop), start)
        return (row for row in rows if row[0] not in self._written)


def _in_memory(path: Path) -> Table:
    """A table that keeps no file open, as one does that is mapped."""
    import pyarrow as pa

    return Table(pa.ipc.open_stream(path.read_bytes()).read_all())


def _undecided(result: Any) -> bool:
    failure = result if isinstance(result, Failure) else result.failure
    if failure is None or not failure.kind.undecided:
        return False
    return isinstance(result, Failure) or result.mark is None


def _chunks(files: list[OpenFile]) -> Iterator[Chunk]:
    number = 0
    for place, file in enumerate(files):
        for piece in file.plan.pieces:
            yield Chunk(number, piece.start, piece.stop, piece.tokens, str(place))
            number += 1


def _level(criterion: Any) -> tuple[Any, ...]:
    scale = criterion.scale
    labels = getattr(scale, "labels", None)
    return ("interval",) if labels is None else ("nominal",)
