"""What `penstock grade` shows: tables of what there is, rows of a preview, how a run ended.

What people and models wrote is shown as text, whatever is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.show import dollars, out, print_table, safe, short
from penstock.engine.states import RunState
from penstock.grade.report import summary_lines
from penstock.grade.report.words import file_names

if TYPE_CHECKING:
    from rich.console import Console

    from penstock.grade.carry import Unreadable
    from penstock.grade.counting import Counts
    from penstock.grade.estimating import Estimate, Estimates
    from penstock.grade.grading import GradeJob
    from penstock.grade.parts import WrittenParts
    from penstock.grade.results import FileResult, Grading

__all__ = ["print_counts", "print_estimates", "print_parts", "print_preview", "say_end"]

_LONGEST = 600
_WIDEST_NAME = 24
_NARROWEST = 20
_CENT = Decimal("0.01")


def print_counts(counts: Counts, job: GradeJob) -> None:
    """A line for each file, and one for all."""
    over = any(count.over for _, count in counts.files)
    headings = ["file", "rows", "texts", "tokens", "chunks", *(["over the limit"] if over else [])]
    lines = [(name, *count) for name, count in _named(counts.files, counts.total)]
    print_table(headings, [[*map(_cell, line)][: len(headings)] for line in lines])
    _say_refused(counts.refused)
    _say(*(f"over a limit: {each}" for each in counts.over))


def print_estimates(found: Estimates, job: GradeJob) -> None:
    """What each file would take, and all of them."""
    headings = ("file", "rows", "questions", "answered", "tokens in", "tokens out", "online",
                "by batch")  # fmt: skip
    lines = [
        (name, *map(_cell, each[:5]), _money(each.cost), _batch_money(each))
        for name, each in _named(found.files, found.total)
    ]
    print_table(headings, lines)
    total = found.total
    console = out()
    if total.questions > total.recorded:
        console.print(f"tokens out: {_lengths(found, job)}", soft_wrap=True)
    if found.price_sources:
        console.print(f"prices: {safe(', '.join(found.price_sources))}", soft_wrap=True)
    if found.left_now is not None:
        after = found.left_after or 0
        said = f"{after:,} would be left" if after >= 0 else f"{-after:,} too few for this"
        console.print(f"today {found.left_now:,} tokens may still be used: {said}", soft_wrap=True)
    _say_refused(found.refused)
    _say(*(f"no price is known for {label}" for label in found.unpriced))
    _say(*(f"over a limit: {each}" for each in found.over))
    budget = job.wishes.budget
    cost = total.batch_cost if job.wishes.lane == "batch" else total.cost
    if budget is not None and cost is not None and cost > Decimal(budget):
        _say(f"the budget of ${budget} would not be enough: the run would stop there")


def print_parts(parts: WrittenParts, job: GradeJob) -> None:
    """What was written where."""
    names = file_names([split.path for split in parts.files])
    lines = [
        (name, f"{split.rows:,}", f"{len(split.parts.files):,}", *_between(split.parts.files))
        for name, split in zip(names, parts.files, strict=True)
    ]
    print_table(("file", "rows", "parts", "from", "to"), lines)
    for split in parts.files:
        if split.parts.left_out is not None:
            _say(f"rows over the token limit are in {split.parts.left_out}")
    _say_refused(parts.refused)


def print_preview(grading: Grading, file: FileResult, rows: Sequence[dict[str, Any]]) -> None:
    """The texts of a file with their grades, each a small block that fits the terminal."""
    from rich.text import Text

    console = out()
    criteria = [criterion.name for criterion in grading.rubric.criteria]
    fields = [each.name for each in grading.rubric.fields]
    names = ["text", *criteria, *fields, "reason", "total", "status"]
    indent = max(len(short(safe(name), _WIDEST_NAME)) for name in names) + 4
    console.print(Text(safe(str(file.path)), style="bold underline"))
    for row in rows:
        grades = row["grades"]
        console.print(Text(f"row {row['row']}", style="bold"))
        shown = [("text", row["text"] or "-", "")]
        if grades.get("status") == "ok":
            for name in criteria:
                shown.append((name, _shown(grades.get(name)), "bold"))
                shown += [("", why, "dim")] if (why := grades.get(f"{name}_reason")) else []
            shown += [(name, _shown(grades.get(name)), "") for name in fields]
            shown += [("reason", why, "dim")] if (why := grades.get("reason")) else []
            shown += [("total", _shown(grades["total"]), "bold")] if "total" in grades else []
        else:
            shown.append(("status", str(grades.get("status")), "red"))
        if grades.get("error"):
            shown.append(("", grades["error"], "red"))
        for name, value, style in shown:
            _print_block(console, name, value, style, indent)
        console.print()


def _print_block(console: Console, name: str, value: str, style: str, indent: int) -> None:
    from rich.text import Text

    room = max(console.width - indent, _NARROWEST)
    head = f"  {short(safe(name), _WIDEST_NAME)}".ljust(indent)
    text = Text(_cut(safe(value)), style=style)
    for line in text.wrap(console, room) or [text]:
        line.rstrip()
        console.print(Text.assemble((head, "cyan"), line), soft_wrap=True)
        head = " " * indent


def say_end(grading: Grading, why: str, *, previewed: bool = False) -> None:
    """How a run ended, what it took, where its files are, and how to go on."""
    run, state = grading.run, RunState(grading.run.state)
    near = [replace(file, output=_near(file.output)) for file in grading.files]
    _say(*summary_lines(replace(grading, files=tuple(near), report=_near(grading.report))))
    _say(*([grading.problem] if grading.problem else []))
    if state is RunState.STOPPED:
        _say(f"stopped: {why}")
    if previewed:
        said = "the answers are kept: the whole run will not pay for them again"
        _say(said if run.counters["asked"] else "nothing was asked: every answer was there already")
        return
    if state is RunState.WAITING:
        total, done = run.counters["rows_total"], run.counters["rows_done"]
        _say(
            f"waiting: {total - done:,} rows lie in batches that are not done "
            "(see: penstock batches list)",
            f"then go on with: penstock runs resume {run.id}",
        )
    elif any(file.problem for file in grading.files):
        _say("files that are put right are graded by the same command with --retry-failed")


def _say(*lines: str) -> None:
    """To the person, not into a pipe."""
    console = out(stderr=True)
    for line in lines:
        console.print(safe(line), soft_wrap=True)


def _say_refused(refused: Sequence[Unreadable]) -> None:
    sys.stdout.flush()
    for file in refused:
        named = str(file.path) in file.reason
        _say(file.reason if named else f"{file.path}: {file.reason}")
        _say(*([f"  {file.remedy}"] if file.remedy else []))


def _named(files: Sequence[tuple[Path, Any]], total: Any) -> Iterator[tuple[str, Any]]:
    """Each file under a short name; and all of them, where there are several."""
    names = file_names([path for path, _ in files])
    yield from zip(names, (each for _, each in files), strict=True)
    if len(files) > 1:
        yield "all", total


def _between(files: Sequence[Path]) -> tuple[str, str]:
    return (str(files[0]), files[-1].name) if files else ("", "")


def _lengths(found: Estimates, job: GradeJob) -> str:
    if found.seen:
        return f"as long as the {found.seen:,} answers that are there already"
    if "max_tokens" in job.wishes.params:
        return "the most that --max-tokens allows"
    return "a guess by the rubric; after a --preview it is better"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _money(cost: Decimal | None) -> str:
    """Dollars: to the cent, or two digits where it is less than one."""
    if cost is None:
        return "unknown"
    return f"${cost:,.2f}" if cost >= _CENT else dollars(Decimal(f"{cost:.2g}"))


def _batch_money(each: Estimate) -> str:
    """Where only this is unknown there is no such lane."""
    return "-" if each.batch_cost is None and each.cost is not None else _money(each.batch_cost)


def _near(path: Path | None) -> Path | None:
    """As people name it who are in this folder."""
    if path is None or not path.is_relative_to(Path.cwd()):
        return path
    return path.relative_to(Path.cwd())


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cut(text: str) -> str:
    text = text.strip("\n")
    left = len(text) - _LONGEST
    return text if left <= 0 else f"{text[:_LONGEST]}… ({left:,} characters more)"
