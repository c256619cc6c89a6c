"""What `penstock grade` does with what its flags say."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.cli.gradeview import (
    print_counts,
    print_estimates,
    print_parts,
    print_preview,
    say_end,
)
from penstock.cli.jobs import watch
from penstock.cli.show import print_json, say_stopping
from penstock.engine.progress import Progress
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError, NotFoundError
from penstock.grade.carry import restored
from penstock.grade.counting import counted
from penstock.grade.earlier import earlier
from penstock.grade.estimating import estimated
from penstock.grade.grading import GradeJob
from penstock.grade.parts import written_parts
from penstock.grade.results import FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.grade.texts import text_of
from penstock.grade.wishes import Wishes

__all__ = ["Wish", "done", "end"]

_PATIENCE = 2.0
_LOOKS = ("--count-tokens", "--split", "--estimate")


@dataclass(frozen=True)
class Wish:
    """What the flags say."""

    inputs: tuple[str, ...]
    rubric: Path | None
    output: Path | None
    mode: str
    """The flag of what is done instead of grading everything; "" where it is that."""
    options: Mapping[str, Any]
    waits: bool
    as_json: bool

    def job(self) -> GradeJob:
        """The run that is meant."""
        if not self.inputs:
            raise InputError(
                "there is nothing to grade",
                remedy="Give files or folders: penstock grade essays.csv --rubric rubric.yaml",
            )
        if self.rubric is None:
            counts = f": {self.mode} counts what every question takes"
            raise InputError(
                f"--rubric is missing{counts if self.mode in _LOOKS else ''}",
                remedy="`penstock grade init` writes a rubric to start from.",
            )
        if not self.waits and self.options["lane"] == "online":
            raise InputError("--no-wait is for the batch lane", remedy="Give --batch as well.")
        out = self.output or Path("parts" if self.mode == "--split" else "graded")
        wishes = Wishes(self.inputs, Rubric.load(self.rubric).to_dict(), str(out), **self.options)
        return GradeJob(wishes)


def done(wish: Wish) -> int:
    """Do what is meant, and say how it went."""
    job = wish.job()
    with Workbench() as bench:
        if wish.mode in _LOOKS:
            return _look(job, bench, wish)
        if wish.mode == "--preview":
            return _preview(job, bench, as_json=wish.as_json)
        run = ""
        if wish.mode == "--retry-failed":
            run, job = earlier(job, bench)
        with _watched(bench) as view:
            grading = job.run(
                bench, run_id=run, waits=wish.waits, watch=view, on_interrupt=say_stopping
            )
        return end(grading, bench, as_json=wish.as_json)


def end(grading: Grading, bench: Workbench, *, as_json: bool) -> int:
    """Say how a run ended, and where its files are."""
    run = grading.run
    if as_json:
        report = None if grading.report is None else str(grading.report)
        print_json({**grading.to_dict(), "folder": run.folder, "report": report})
    else:
        say_end(grading, bench.catalog.run(run.id)["message"])
    return exit_code(RunState(run.state))


@contextmanager
def _watched(bench: Workbench) -> Iterator[Callable[[Progress], Callable[[], None]]]:
    """Shows the progress from when all files are read: before, there are no rows to count."""
    with watch("grade", bench) as show:

        def begin(progress: Progress) -> Callable[[], None]:
            began = time.monotonic()
            view: list[Callable[[], None]] = []
            said: list[str] = []

            def tick() -> None:
                if not view and progress.rows_total is not None:
                    view.append(show(progress))
                if view:
                    view[0]()
                elif not said and time.monotonic() - began > _PATIENCE:
                    said.append("grade: reading the files\n")
                    sys.stderr.write(said[0])

            return tick

        yield begin


# Looking first --------------------------------------------------------------------------------


def _look(job: GradeJob, bench: Workbench, wish: Wish) -> int:
    """Without sending anything."""
    made: Any
    looks: dict[str, tuple[Callable[..., Any], Callable[..., None]]] = {
        "--count-tokens": (counted, print_counts),
        "--estimate": (estimated, print_estimates),
        "--split": (written_parts, print_parts),
    }
    look, show = looks[wish.mode]
    with TemporaryDirectory(prefix="penstock-") as folder:
        made = look(job, bench, Path(folder))
    if wish.as_json:
        print_json(made.to_dict())
    else:
        show(made, job)
    return Exit.FAILURES if made.refused else Exit.OK


def _preview(job: GradeJob, bench: Workbench, *, as_json: bool) -> int:
    """The first rows of each file, now; no file is written."""
    first = replace(job.wishes, out=None, lane="online")
    job = replace(job, wishes=first)
    with _watched(bench) as view:
        grading: Grading = job.run(bench, watch=view, on_interrupt=say_stopping)
    texts = _texts(grading, first)
    if as_json:
        previews = [
            {"path": str(file.path), "rows": _rows(grading, file, texts[file.path])}
            for file in grading.files
            if file.scores is not None
        ]
        print_json({**grading.to_dict(), "previews": previews})
    else:
        for file in grading.files:
            if file.scores is not None:
                print_preview(grading, file, _rows(grading, file, texts[file.path]))
        say_end(grading, bench.catalog.run(grading.run.id)["message"], previewed=True)
    return exit_code(RunState(grading.run.state))


def _texts(grading: Grading, wishes: Wishes) -> dict[Path, list[str | None]]:
    """The texts that were graded, by file; the copies that the run kept of them are removed."""
    staged = {}
    for folder in Path(grading.run.folder).glob("file-*"):
        with suppress(NotFoundError):  # of a file that could not be read
            each = restored(folder)
            staged[each.path] = each
    found = {}
    for file in grading.files:
        if (source := staged.get(file.path.expanduser().absolute())) is not None:
            text = text_of(source.columns, wishes.column, wishes.template)
            rows = enumerate(source.rows(0, file.rows))
            found[file.path] = [None if source.is_broken(n) else text(row) for n, row in rows]
    for source in staged.values():
        source.remove()
    return found


def _rows(grading: Grading, file: FileResult, texts: list[str | None]) -> list[dict[str, Any]]:
    """What a preview shows of each row."""
    names = (*grading.rubric.columns(), "status", "error")
    made = []
    for number, (text, scores) in enumerate(zip(texts, file.scores or (), strict=True), 1):
        whole = len(scores) == len(names)  # by place: a name may have got a number
        values = dict(zip(names, scores.values(), strict=True)) if whole else scores
        made.append({"row": number, "text": text, "grades": values})
    return made
