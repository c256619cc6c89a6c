"""`penstock.grade`: files in, graded files out.

    done = penstock.grade("essays/", rubric="rubric.yaml", model="gpt-4o-mini", out="graded")

Everything is opened, counted and checked before the first question is sent. What is wrong with one
file stays with it. Killed or stopped, the same call goes on: what has an answer is found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from shutil import rmtree
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.accounts import used
from penstock.engine.batch import BatchWish
from penstock.engine.budget import Budget
from penstock.engine.info import once
from penstock.engine.job import Job, Terms, check_resumable, performed
from penstock.engine.lanes import LaneWish, Prospect, has_batches, lane_for
from penstock.engine.progress import Progress
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, PenstockError
from penstock.files import private_folder
from penstock.grade.carry import Unreadable, write
from penstock.grade.grader import Grader
from penstock.grade.job import FileWork, Work
from penstock.grade.opening import Limits, Opening, opened
from penstock.grade.outputs import Outputs
from penstock.grade.results import FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.grade.wishes import Wishes
from penstock.request import merged_params
from penstock.tables import Table

__all__ = ["GradeJob", "grade"]

_USUAL_OUT = "graded"


def grade(
    inputs: Sequence[Path | str] | Path | str,
    rubric: Rubric | Mapping[str, Any] | Path | str,
    *,
    model: str | Endpoint | Sequence[str | Endpoint] | None = None,
    out: Path | str = _USUAL_OUT,
    batch: bool = False,
    wait: bool = True,
    budget: float | str | Decimal | None = None,
    workbench: Workbench | None = None,
    **wishes: Any,
) -> Any:
    """Grade files or folders by a rubric; a Grading, to be awaited inside a running loop.

    `model` is a grader or several. `wishes` are those of `Wishes`: `column`, `template`, `graders`,
    `combine`, `max_workers`, `row_limit`, `token_limit`, `chunks`, `halt_on_chunk_failure`,
    `on_over_limit`, `on_file_error`, `output_format`, `overwrite`, ...
    """
    models = [model] if isinstance(model, str | Endpoint) else list(model or ())
    named = tuple(each for each in models if isinstance(each, str))
    given = tuple(each for each in models if isinstance(each, Endpoint))
    if named and given:
        raise InputError("name all graders, or give all as endpoints")
    paths = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    allowed = [name for name in Wishes.__dataclass_fields__ if name != "models"]
    unknown = wishes.keys() - set(allowed)
    if unknown:
        raise InputError(
            f"there is no option {sorted(unknown)[0]!r}",
            remedy=f"There are {', '.join(('model', *allowed))}.",
        )
    lane = wishes.pop("lane", "online")
    made = Wishes(
        inputs=tuple(map(str, paths)),
        rubric=Rubric.of(rubric).to_dict(),
        out=str(out),
        models=named,
        lane="batch" if batch else lane,
        budget=None if budget is None else str(budget),
        **wishes,
    )
    job = GradeJob(made, given)
    return job.run(workbench or default_workbench(), waits=wait)


@dataclass(frozen=True)
class GradeJob:
    """A grading run as data: what the shell runs, stores and resumes."""

    wishes: Wishes
    endpoints: tuple[Endpoint, ...] = ()
    """Graders that were given as endpoints, in Python."""

    @property
    def lane(self) -> LaneWish:
        return self.wishes.lane

    @property
    def out(self) -> str | None:
        return self.wishes.out

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> GradeJob:
        """The job that a run was made of."""
        check_resumable(spec)
        return cls(Wishes.from_spec(spec))

    def grader(self, bench: Workbench) -> Grader:
        """Who grades."""
        wishes = self.wishes
        named = wishes.models or (None,)
        endpoints = self.endpoints or tuple(bench.endpoint(name) for name in named)
        rubric = Rubric.of(wishes.rubric)
        for number, endpoint in enumerate(endpoints):
            merged_params(endpoint.params, wishes.params)
            if endpoint in endpoints[:number]:
                raise InputError(
                    f"{endpoint.label} is named twice, and would give the same answer twice",
                    remedy="For several opinions of each grader give graders=2 (--graders 2).",
                )
        reasks = bench.settings.llm.reasks
        return Grader(rubric, endpoints, wishes.graders, wishes.combine, wishes.params, reasks)

    def opened(self, bench: Workbench, folder: Path, *, counts: bool = False) -> Opening:
        """Every file, read and counted, in a folder of its own. Nothing is sent, and so the
        limits of files and days do not hold."""
        limits = Limits.of(self.wishes, bench.settings, 0)._replace(file=None, left_today=None)
        return opened(self.wishes, self.grader(bench), folder, limits, counts=counts)

    def limits(self, bench: Workbench) -> Limits:
        """How large chunks, files and days may be. The journal is looked through only where a
        limit of the day asks for it."""
        first = Limits.of(self.wishes, bench.settings, 0)
        if first.left_today is None:
            return first
        return first._replace(left_today=max(0, first.left_today - used_today(bench)))

    def run(
        self,
        bench: Workbench,
        *,
        run_id: str = "",
        waits: bool = True,
        watch: Callable[[Progress], Callable[[], None]] | None = None,
        on_interrupt: Callable[[], None] | None = None,
    ) -> Any:
        """Do it, or go on with it: a Grading, or a handle inside a running loop."""
        going = _Going(self, bench, run_id, waits)
        return performed(going.job, going.work, watch, on_interrupt)


def used_today(bench: Workbench) -> int:
    """The tokens that this workspace has used today."""
    now = datetime.now().astimezone()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found = used(bench, by="day", since=midnight)
    return sum(day.input_tokens + day.output_tokens for day in found)


class _Going:
    """One run, while it goes on."""

    def __init__(self, grading: GradeJob, bench: Workbench, run_id: str, waits: bool) -> None:
        self._bench = bench
        self._wishes = wishes = grading.wishes
        self._grading = grading
        self._grader = grading.grader(bench)
        self._limits = grading.limits(bench)
        spec = wishes.spec()
        if grading.endpoints:
            spec["endpoints"] = [endpoint.label for endpoint in grading.endpoints]
        settings = bench.settings.batch_processing
        self.job = Job(
            Terms(
                bench,
                "grade",
                tuple(once(self._grader.endpoints)),
                spec,
                name=wishes.name,
                id=run_id,
                prompt=f"the rubric {self._grader.rubric.name or 'without a name'}",
                cache=wishes.cache,
                budget=self._budget(Progress()),
                lane=wishes.lane,
                batch=BatchWish(None, waits, settings.check_interval),
                resumes=not grading.endpoints,
            )
        )
        self._results: dict[int, FileResult] = {}

    def _budget(self, earlier: Progress) -> Budget:
        """Dollars and tokens: those of the run, and no more than are left for today."""
        usual, left = self._bench.budget(), self._limits.left_today
        if left is not None:  # what it used before it was taken up again counts as its own
            left += earlier.input_tokens + earlier.output_tokens
        dollars = usual.dollars if self._wishes.budget is None else Decimal(self._wishes.budget)
        limits = [each for each in (usual.tokens, left) if each is not None]
        return Budget(dollars, min(limits) if limits else None)

    async def work(self) -> Grading:
        """Everything between the first file and the report."""
        job, wishes = self.job, self._wishes
        begun = None if self._is_known() else await self._begun()
        with job.open():
            job.engine.budget = self._budget(job.progress)
            # What the run has asked already is paid for: its budget alone keeps to the day.
            opening, outputs = begun or await self._opened(self._limits._replace(left_today=None))
            job.progress.rows_total = sum(file.rows for file in opening.files)
            self._choose_lane(opening)
            work = Work(
                job, wishes, self._grader, opening.files, lambda f: self._file(work, f, outputs)
            )
            try:
                await work.run(self._workers())
            except BaseException as error:
                cause = job.failed(error)
                work.abort()
                raise cause from cause.__cause__
            return await self._ended(work, opening, outputs)

    def _workers(self) -> int:
        return self._wishes.max_workers or self._bench.settings.batch_processing.max_workers

    def _is_known(self) -> bool:
        """Whether it is taken up again; a new run may have been given its id."""
        named = self.job.terms.id
        return bool(named) and self._bench.catalog.find_run(named) is not None

    async def _begun(self) -> tuple[Opening, Outputs | None]:
        """Open the files of a new run; where something given is wrong, there was no run."""
        folder = self.job.run.folder
        self.job.check()
        new = not folder.exists()
        private_folder(folder)
        try:
            return await self._opened(self._limits)
        except BaseException:
            if new:
                rmtree(folder, ignore_errors=True)
            raise

    async def _opened(self, limits: Limits) -> tuple[Opening, Outputs | None]:
        folder = self.job.run.folder

        async def work() -> tuple[Opening, Outputs | None]:
            made = opened(self._wishes, self._grader, folder, limits)
            return made, self._outputs(made)

        made: tuple[Opening, Outputs | None] = await self.job.station.users.run(work)
        return made

    def _choose_lane(self, opening: Opening) -> None:
        if self.job.terms.lane != "auto":
            return
        questions = sum(file.rows for file in opening.files) * self._grader.count
        able = all(has_batches(endpoint) for endpoint in self.job.terms.endpoints)
        chosen = lane_for(Prospect(able, questions))
        self.job.terms = replace(self.job.terms, lane=chosen)

    def _outputs(self, opening: Opening) -> Outputs | None:
        wishes = self._wishes
        if wishes.out is None or wishes.first is not None:  # only to look at
            return None
        folder = self.job.run.folder
        outputs = Outputs(Path(wishes.out), folder, overwrite=wishes.overwrite)
        outputs.check([file.input for file in opening.files])
        return outputs

    async def _file(self, work: Work, done: FileWork, outputs: Outputs | None) -> None:
        """A file has come to its end: write it."""
        self._results[done.number] = await self.job.station.users.run(
            lambda: self._written(work, done, outputs)
        )

    async def _written(self, work: Work, done: FileWork, outputs: Outputs | None) -> FileResult:
        """In the user thread."""
        file, scores = done.file, await work.scores(done)
        plan, chunks = file.plan, tuple(work.chunks[number] for number in done.chunks)
        made = FileResult(
            file.input.path,
            None,
            plan.rows,
            dict(done.counts),
            plan.tokens if file.counted else None,
            chunks,
            notes=file.staged.notes,
            scores=scores,
        )
        if outputs is None:
            return made
        path = outputs.path(file.input)
        names = list(work.columns)  # a table without rows has none
        ours = outputs.may_replace(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with outputs.writing(path):
                written = write(file.staged, scores, names, path, overwrite=ours)
        except (PenstockError, OSError) as error:
            message = getattr(error, "message", str(error))
            return replace(made, problem=f"it could not be written: {message}")
        return replace(made, output=path, notes=(*made.notes, *written.notes))

    async def _ended(self, work: Work, opening: Opening, outputs: Outputs | None) -> Grading:
        job = self.job
        waits = bool(work.left_waiting) and not job.engine.stop.thrown
        if not waits:
            for done in work.files:
                if done.number not in self._results:
                    await self._file(work, done, outputs)
        failures: Table = await job.station.users.run(work.close)
        self._count_problems(opening)
        trouble = job.end(failures, work.left_waiting)
        grading = Grading(
            self._grader.rubric,
            self._in_order(opening),
            job.info(),
            {name: each.alpha() for name, each in work.agreement.items()}
            if self._grader.count > 1
            else None,
            self._grader.count,
            tuple((each.path, each.reason) for each in opening.found.skipped),
            failures,
        )
        if outputs is not None and not waits:
            grading = await job.station.users.run(lambda: self._reported(grading, outputs))
        if not waits:
            self._tidy(opening)
        if trouble is not None:
            raise trouble
        return grading

    def _in_order(self, opening: Opening) -> tuple[FileResult, ...]:
        """The results in the order of the inputs."""
        order = {source.path: place for place, source in enumerate(opening.found)}
        made = [*self._results.values(), *map(_refused, opening.refused)]
        return tuple(sorted(made, key=lambda file: order[file.path]))

    def _count_problems(self, opening: Opening) -> None:
        """Files that were not graded or not written, and rows over the limit, failed as well."""
        progress, results = self.job.progress, self._results.values()
        skipped = sum(result.counts.get("skipped", 0) for result in results)
        progress.rows_done += skipped
        progress.rows_failed += skipped + len(opening.refused)
        progress.rows_failed += sum(bool(result.problem) for result in results)

    async def _reported(self, grading: Grading, outputs: Outputs) -> Grading:
        from penstock.grade.report import write_report

        ours = all(outputs.may_replace(path) for path in outputs.report if path.exists())
        try:
            with outputs.writing(*outputs.report):
                report = write_report(grading, outputs.out, overwrite=ours)
        except (PenstockError, OSError) as error:
            message = getattr(error, "message", str(error))
            return replace(grading, problem=f"the report could not be written: {message}")
        return replace(grading, report=report)

    def _tidy(self, opening: Opening) -> None:
        """The copies of the inputs go when nothing is left to do, or to look at."""
        if self.job.run.state == RunState.COMPLETED and self._wishes.first is None:
            for file in opening.files:
                with suppress(OSError):
                    file.staged.remove()


def _refused(file: Unreadable) -> FileResult:
    return FileResult(file.path, None, problem=file.reason, remedy=file.remedy)
