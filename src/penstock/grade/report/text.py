"""A grading run in a few lines for the terminal; nothing in them is obeyed."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.grade.report.words import file_names, resume, shares, spent
from penstock.grade.results import FileResult, Grading
from penstock.logs import inert
from penstock.reports.words import counted, span

__all__ = ["summary_lines"]

_MOST = 40
_WIDE = 40
_OPEN = ("failed", "pending")


def summary_lines(grading: Grading) -> list[str]:
    """What became of each file, what it took, where the report is, and how to go on."""
    return [inert(line) for line in _lines(grading)]


def _lines(grading: Grading) -> Iterator[str]:
    yield from _files(grading)
    counts, counters = grading.counts, grading.run.counters
    rows = sum(counts.values())
    files = counted(len(grading.files), "file")
    yield f"{files}, {counted(rows, 'row')}" + (f": {shares(counts)}" if rows else "")
    if grading.skipped:
        yield f"{counted(len(grading.skipped), 'file')} left out: no tables"
    known = f"; {counted(counters['recorded'], 'answer')} found" if counters["recorded"] else ""
    tokens = f"{counters['input_tokens']:,} tokens in, {counters['output_tokens']:,} out"
    yield f"{tokens}; cost {spent(counters)}; {span(grading.run.seconds)}{known}"
    if grading.report is not None:
        yield f"report: {grading.report}"
    if any(counts[status] for status in _OPEN):
        yield f"to go on: {resume(grading.run.id)}"


def _files(grading: Grading) -> Iterator[str]:
    """Those with a problem are always among the ones that are shown."""
    names = file_names([file.path for file in grading.files])
    both = list(zip(names, grading.files, strict=True))
    bad = [pair for pair in both if not pair[1].ok][:_MOST]
    good = [pair for pair in both if pair[1].ok][: _MOST - len(bad)]
    kept = {id(file) for _, file in (*bad, *good)}
    shown = [pair for pair in both if id(pair[1]) in kept]
    wide = min(_WIDE, max((len(inert(name)) for name, _ in shown), default=0))
    for name, file in shown:
        yield from _file(inert(name).ljust(wide), file, wide)
    if left := len(both) - len(shown):
        yield f"and {counted(left, 'more file')}"


def _file(name: str, file: FileResult, wide: int) -> Iterator[str]:
    said = [counted(file.rows, "row")] if file.rows or not file.problem else []
    said += [shares(file.counts)] if any(file.counts.values()) else []
    if file.problem:
        said.append(f"problem: {file.problem}")
    line = f"{name}  {', '.join(said)}"
    yield line if file.output is None else f"{line} -> {file.output}"
    if file.problem and file.remedy:
        yield f"{' ' * wide}  {file.remedy}"
