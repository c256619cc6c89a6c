"""The sections on the run: its numbers, files, what went wrong, chunks, and how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from os.path import commonpath

from penstock.engine.states import RunState
from penstock.grade.chunks import ChunkState
from penstock.grade.report.charts import Strip, strips
from penstock.grade.report.findings import Finding
from penstock.grade.report.spread import Labels
from penstock.grade.report.survey import Scores, Survey
from penstock.grade.report.words import mean_of, resume, shares, spent
from penstock.grade.results import STATUSES, FileResult, Grading
from penstock.reports import (
    Markup,
    badge,
    compact,
    details,
    figure,
    percent,
    preformatted,
    table,
)
from penstock.reports.parts import Tone
from penstock.reports.words import counted, money, span

__all__ = [
    "cards",
    "chunks",
    "facts",
    "files",
    "found",
    "going_on",
    "problems",
    "statuses",
    "troubles",
]

_MOST_STRIPS = 8
_MOST_FILES = 40
_MOST_TROUBLES = 8
_MOST_CHUNKS = 12
_TONES: dict[str, Tone] = {"ok": "good", "failed": "bad", "error": "bad"}
_CHUNK_TONES: dict[ChunkState, Tone] = {ChunkState.SUCCESS: "good", ChunkState.FAILURE: "bad"}


def cards(grading: Grading, scores: Scores) -> Iterator[tuple[str, str, str]]:
    """The numbers that matter; a row of cards has room for four."""
    counts, counters = grading.counts, grading.run.counters
    rows, graded = sum(counts.values()), counts["ok"]
    of = "all" if graded == rows and rows else f"of {rows:,}"
    yield "rows graded", f"{graded:,}", f"{of}, in {counted(len(grading.files), 'file')}"
    if scores.total.mean is not None:
        note = f"of 100; median {mean_of(scores.total.median)}"
        yield "mean total", mean_of(scores.total.mean), note
    if graded < rows:
        yield "not graded", f"{rows - graded:,}", shares(counts, without=("ok",))
    else:
        yield "time", span(grading.run.seconds), ""
    unpriced = counters.get("unpriced", 0)
    tokens = f"{compact(counters['input_tokens'])} tokens in, "
    tokens += f"{compact(counters['output_tokens'])} out"
    price = money(grading.run.cost) if grading.run.cost or not unpriced else "unknown"
    yield "cost", price, f"{counted(unpriced, 'answer')} without a price" if unpriced else tokens


def going_on(grading: Grading) -> Iterator[Markup | str]:
    """How to have the rest graded; nothing where there is no rest."""
    failed, pending = grading.counts["failed"], grading.counts["pending"]
    if not failed and not pending:
        return
    said = []
    if failed:
        said.append(f"{counted(failed, 'row')} failed")
    if pending:
        waiting = grading.run.state == RunState.WAITING
        why = "answers lie in a batch" if waiting else "not graded yet"
        said.append(f"{counted(pending, 'row')} {'wait: ' if waiting else 'are '}{why}")
        if pending == 1 and not waiting:
            said[-1] = "1 row is not graded yet"
    yield (
        f"{'; '.join(said)}. This command asks for these and for nothing else: what has an "
        "answer is neither asked nor paid for again. A run made by a Python program is taken up by "
        "running that program again."
    )
    yield preformatted(resume(grading.run.id))


def found(findings: Sequence[Finding]) -> Markup:
    """What is worth a look."""
    rows = [(badge(each.where, each.tone), each.text) for each in findings]
    return table(["where", "what"], rows, numeric=())


# Files ----------------------------------------------------------------------------------------


def files(grading: Grading, survey: Survey, names: Sequence[str]) -> Iterator[Markup | str]:
    """What became of each file."""
    drawn = [
        Strip(name, [each.count for each in scores.total.bins], scores.total.mean, _strip(scores))
        for name, scores in zip(names, survey.files, strict=True)
        if scores is not None and scores.total.count
    ]
    if 2 <= len(drawn) <= _MOST_STRIPS:
        caption = "Totals from 0 to 100, file by file; the line marks the mean."
        yield figure(strips(drawn, title="Totals by file"), caption)
    shown = [_file_table(grading, survey, names)]
    if sum(each is not None for each in survey.files) > 1:
        shown.append(_by_criterion(grading, survey, names))
    if len(grading.files) > _MOST_FILES:
        shown = [details(f"All {len(grading.files):,} files", *shown)]
    yield from shown
    if written := [str(file.output.parent) for file in grading.files if file.output is not None]:
        where = _common(written)
        yield f"The graded files lie in {where}." if where else "The graded files lie in:"
        if not where:
            yield table(["folder"], [(each,) for each in dict.fromkeys(written)], most=20)


def _file_table(grading: Grading, survey: Survey, names: Sequence[str]) -> Markup:
    has_total, counted_tokens = grading.rubric.has_total, any(f.tokens for f in grading.files)
    others = [
        status
        for status in STATUSES
        if status != "ok" and any(file.counts.get(status) for file in grading.files)
    ]
    rows = []
    for name, file, scores in zip(names, grading.files, survey.files, strict=True):
        line: list[object] = [name, _state(file), file.rows, file.counts.get("ok", 0)]
        line += [file.counts.get(status, 0) for status in others]
        total = None if scores is None else scores.total
        if has_total:
            line += [_mean(total.mean if total else None), _mean(total.median if total else None)]
            line.append(_mean(total.std if total else None))
        line += [file.tokens] if counted_tokens else []
        rows.append(line)
    heads = ["file", "result", "rows", "graded", *others]
    heads += ["mean", "median", "sd"] if has_total else []
    heads += ["tokens"] if counted_tokens else []
    return table(heads, rows, numeric=heads[2:])


def _by_criterion(grading: Grading, survey: Survey, names: Sequence[str]) -> Markup:
    """Criteria across, files down, with what is typical of them."""
    criteria = [each.name for each in grading.rubric.criteria]
    rows = [
        (name, *(_typical(scores, criterion) for criterion in criteria))
        for name, scores in zip(names, survey.files, strict=True)
        if scores is not None
    ]
    caption = "Means, or the label given most often"
    return table(["file", *criteria], rows, caption=caption, numeric=criteria)


def _mean(value: float | None) -> str | None:
    return None if value is None else mean_of(value)


def _typical(scores: Scores | None, criterion: str) -> str | None:
    """The mean, or the label given most often."""
    spread = None if scores is None else scores.criteria[criterion]
    if spread is None or not spread.count:
        return None
    return spread.most[0] if isinstance(spread, Labels) else _mean(spread.mean)


def _state(file: FileResult) -> Markup:
    if file.problem:
        return badge("problem", "bad")
    if not file.ok:
        return badge("incomplete", "warn")
    return badge("done", "good") if file.output is not None else badge("not written")


def _strip(scores: Scores) -> str:
    return f"mean {mean_of(scores.total.mean)} · {counted(scores.total.count, 'text')}"


def _common(folders: Sequence[str]) -> str:
    try:
        return folders[0] if len(set(folders)) == 1 else commonpath(folders).rstrip("/")
    except ValueError:  # some absolute, some not
        return ""


def problems(grading: Grading, names: Sequence[str]) -> Iterator[Markup | str]:
    """Files that were not graded, notes on the others, and what was no table."""
    rows = [
        (name, file.problem, file.remedy or None)
        for name, file in zip(names, grading.files, strict=True)
        if file.problem
    ]
    if rows:
        heads = ["file", "what is wrong", "what to do"]
        yield table(heads, rows, caption="Files with a problem", numeric=())
    both = zip(names, grading.files, strict=True)
    if notes := [(name, note) for name, file in both for note in file.notes]:
        yield table(["file", "note"], notes, caption="Notes", numeric=())
    if grading.skipped:
        left = [(str(path), reason) for path, reason in grading.skipped]
        said = f"{counted(len(left), 'file')} in the folders left out"
        yield details(said, table(["file", "why"], left, numeric=()))


# What went wrong ------------------------------------------------------------------------------


def statuses(grading: Grading) -> Markup:
    """Rows by status, with what each means."""
    rows_in_all = sum(grading.counts.values())
    rows = [
        (_badge(status), count, percent(count / rows_in_all), meaning)
        for status, meaning in STATUSES.items()
        if (count := grading.counts[status])
    ]
    heads = ["status", "rows", "share", "what it means"]
    return table(heads, rows, numeric=("rows", "share"))


def troubles(grading: Grading, survey: Survey, names: Sequence[str]) -> Iterator[Markup | str]:
    """Failures by kind, and the first rows that have no grade."""
    if survey.kinds:
        others = ["graded by others"] if survey.partly else []
        rows = [
            (group.kind.replace("_", " "), group.failed)
            + ((group.partly,) if others else ())
            + (group.message,)
            for group in survey.kinds
        ]
        heads = ["kind", "rows failed", *others, "first message"]
        yield table(heads, rows, caption="Failures by kind", numeric=heads[1:-1])
    if survey.troubles:
        listed = [
            (names[each.file], each.row, _badge(each.status), each.message)
            for each in survey.troubles
        ]
        counts, heads = grading.counts, ["file", "row", "status", "message"]
        every = counts["failed"] + counts["error"] + counts["skipped"]
        caption = f"Rows without a grade (row 1 is the first row of data): {every:,}"
        first, more = listed[:_MOST_TROUBLES], listed[_MOST_TROUBLES:]
        yield table(heads, first, caption=caption, numeric=("row",))
        if more:
            said = f"{len(more):,} more" if every <= len(listed) else f"The next {len(more):,}"
            yield details(said, table(heads, more, numeric=("row",)))


def _badge(status: str) -> Markup:
    return badge(status, _TONES.get(status, "warn"))


def chunks(grading: Grading, names: Sequence[str]) -> Iterator[Markup | str]:
    """The chunks, and how they fared; folded where there are many."""
    every = [
        (name, chunk)
        for name, file in zip(names, grading.files, strict=True)
        for chunk in file.chunks
    ]
    rows = [
        (
            *(chunk.number + 1, name, f"{chunk.start + 1:,}–{chunk.stop:,}", chunk.tokens or None),
            badge(chunk.state.value, _CHUNK_TONES.get(chunk.state, "warn")),
            *(chunk.attempts, chunk.error or None),
        )
        for name, chunk in every
    ]
    heads = ["chunk", "file", "rows", "tokens", "state", "attempts", "error"]
    numeric = ("chunk", "rows", "tokens", "attempts")
    if len(every) <= _MOST_CHUNKS:
        yield table(heads, rows, numeric=numeric)
        return
    tally = Counter(chunk.state for _, chunk in every)
    yield ", ".join(f"{tally[state]:,} {state.value}" for state in ChunkState if tally[state])
    failed = [
        row
        for row, (_, chunk) in zip(rows, every, strict=True)
        if chunk.state is ChunkState.FAILURE
    ]
    if failed:
        yield table(heads, failed, numeric=numeric, caption="Failed", most=20)
    yield details(f"All {len(every):,} chunks", table(heads, rows, numeric=numeric))


def facts(grading: Grading) -> Markup:
    """How it was made."""
    run, counters = grading.run, grading.run.counters
    asked, recorded = counters["asked"], counters["recorded"]
    answers = f"{asked:,} asked"
    answers += f", {recorded:,} answered from the journal" if recorded else ""
    prices = ", ".join(counters.get("price_sources") or ())
    rows = [
        ("run", f"{run.id} · {run.state}"),
        ("models", ", ".join(run.models)),
        ("graders", str(grading.graders) if grading.graders > 1 else ""),
        ("questions", answers),
        ("tokens", f"{counters['input_tokens']:,} in, {counters['output_tokens']:,} out"),
        ("cost", spent(counters) + (f" (prices: {prices})" if prices else "")),
        ("time", span(run.seconds)),
        ("ended", f"{run.ended:%d %B %Y, %H:%M}".lstrip("0")),
    ]
    return table(["what", "value"], [row for row in rows if row[1]], numeric=())
