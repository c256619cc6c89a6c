"""A report as a page: the numbers that matter, what is worth a look, then column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from penstock.generate.profile.results import (
    Bin,
    ColumnProfile,
    Common,
    Diversity,
    Numbers,
    Profile,
)
from penstock.generate.report.findings import Finding
from penstock.generate.report.run import RunFacts, cost, facts
from penstock.reports import (
    Markup,
    Page,
    badge,
    bars,
    details,
    figure,
    histogram,
    number,
    percent,
    prose,
)
from penstock.reports import table as as_table
from penstock.reports.numbers import compact
from penstock.reports.text import joined
from penstock.reports.words import span

__all__ = ["made_page"]

_OPEN = 12
"""Columns that are shown at once; the others unfold."""
_MOST_BARS = 6
_MOST_NAMED = 4
_EPOCH = datetime(1970, 1, 1)


def made_page(profile: Profile, run: RunFacts, findings: Sequence[Finding]) -> Page:
    """The whole page."""
    parts = (*run.models, run.state, run.run and f"run {run.run}")
    page = Page(run.title or "Dataset", " · ".join(part for part in parts if part))
    page.cards(_cards(profile, run))
    if findings:
        page.section("Worth a look", _findings(findings))
    if profile.columns:
        page.section("Columns", _overview(profile))
    if texts := [column for column in profile.columns if column.is_prose]:
        page.section("Diversity of the texts", *_diversity(texts))
    for column in profile.columns[:_OPEN]:
        page.section(column.name or "(no name)", *_column(column, profile.rows))
    if rest := profile.columns[_OPEN:]:
        folded = (details(each.name, *_column(each, profile.rows)) for each in rest)
        page.section("More columns", *folded)
    if profile.failures or profile.statuses or run.rejected:
        page.section("What became of the rows", *_fates(profile, run))
    page.section("How it was made", as_table(["what", "value"], facts(profile, run), numeric=()))
    return page


def _cards(profile: Profile, run: RunFacts) -> Iterator[tuple[str, str, str]]:
    asked = run.wanted is not None and run.wanted != profile.rows
    yield "rows", f"{profile.rows:,}", f"of {run.wanted:,} asked for" if asked else ""
    near = profile.near
    note = ""
    if near is not None:
        of = "all" if near.looked_at >= profile.rows else f"{near.looked_at:,}"
        note = f"nearly the same: {percent(near.share)} of {of}"
    yield "duplicates", f"{profile.duplicate_rows:,}", note
    if run.cost is not None or run.unpriced:
        said, _, more = cost(run).partition(", and ")
        tokens = f"{compact(run.input_tokens)} tokens in, {compact(run.output_tokens)} out"
        yield "cost", said.partition(":")[0], more or tokens
    # A row of cards has room for four.
    if failed := sum(group.count for group in profile.failures):
        paid = sum(group.may_be_paid for group in profile.failures)
        yield "failed cells", f"{failed:,}", f"{paid:,} may have been paid for" if paid else ""
    elif run.seconds is not None:
        rate = profile.rows / run.seconds if run.seconds > 0 else 0
        yield "time", span(run.seconds), f"{number(round(rate, 1))} rows a second" if rate else ""


def _findings(findings: Sequence[Finding]) -> Markup:
    rows = [
        (badge(each.column or "rows", "bad" if each.tone == "bad" else "warn"), each.text)
        for each in findings
    ]
    return as_table(["where", "what"], rows, numeric=())


def _overview(profile: Profile) -> Markup:
    rows = [
        (
            column.name,
            column.type,
            percent(column.count / profile.rows) if profile.rows else None,
            f"{'' if column.distinct_is_exact else '≈ '}{column.distinct:,}",
            _typical(column),
        )
        for column in profile.columns
    ]
    return as_table(
        ["column", "type", "filled", "different", "typical"], rows, numeric=("filled", "different")
    )


def _typical(column: ColumnProfile) -> str | None:
    """A column in half a line."""
    if column.is_category:
        more = ", …" if len(column.common) > _MOST_NAMED else ""
        return ", ".join(each.value for each in column.common[:_MOST_NAMED]) + more
    if column.kinds:
        return ", ".join(each.value for each in column.kinds)
    if column.text is not None:
        return _lengths(column.text.words, "word")
    if column.numbers is not None:
        return f"{number(column.numbers.min)} to {number(column.numbers.max)}"
    if column.moments is not None:
        return f"{column.moments.first} to {column.moments.last}"
    if column.sizes is not None:
        return _lengths(column.sizes, "byte" if column.type == "bytes" else "item")
    return column.common[0].value if column.common else None


def _lengths(numbers: Numbers, what: str) -> str:
    many = "" if numbers.median == 1 else "s"
    more = f", at most {number(numbers.max)}" if numbers.max > numbers.median else ""
    return f"{number(numbers.median)} {what}{many}{more}"


def _diversity(columns: Sequence[ColumnProfile]) -> Iterator[Markup | str]:
    texts = [column.text.diversity for column in columns if column.text is not None]
    rows = [(name, *map(said, texts), meaning) for name, said, meaning in _MEASURES]
    names = [column.name for column in columns]
    yield as_table(["measure", *names, "what it says"], rows, numeric=names)
    looked, most = max(each.near.looked_at for each in texts), max(each.texts for each in texts)
    yield (
        f"Openings are those of all texts, near-duplicates of {looked:,}, "
        f"the rest of a sample of {most:,}."
    )


def _share(value: float | None) -> str | None:
    return None if value is None else percent(value)


_MEASURES: tuple[tuple[str, Callable[[Diversity], str | None], str], ...] = (
    ("near-duplicates", lambda d: _share(d.near.share), "nearly the same as an earlier text"),
    ("same opening", lambda d: _share(d.same_opening), "begin with the most common three words"),
    ("shared words", lambda d: _share(d.similarity), "of the words of two texts, in both"),
    ("repeats", lambda d: _share(d.repetition), "runs of four words said before in the text"),
    (
        "MTLD",
        lambda d: None if d.mtld is None else f"{d.mtld:.0f}",
        "words until words repeat much: more is more varied",
    ),
    ("distinct-1", lambda d: number(round(d.distinct_1, 3)), "different words per word"),
    ("distinct-2", lambda d: number(round(d.distinct_2, 3)), "different pairs of words per pair"),
)


def _column(column: ColumnProfile, rows: int) -> Iterator[Markup | str]:
    about = "" if column.distinct_is_exact else "about "
    filled = percent(column.count / rows) if rows else percent(0)
    yield f"{column.type}, {filled} filled, {about}{column.distinct:,} different values"
    if column.kinds:
        yield _bars(column.kinds, column.count, "What the values are")
    if column.is_category:
        yield _bars(column.common, column.count)
        return
    if column.numbers is not None:
        yield from _spread(column.numbers, "Values")
    if column.moments is not None:
        times = column.moments
        drawn = histogram(_bins(column.moments.histogram), title="Times", show=_date)
        yield figure(drawn, f"{times.first} to {times.last}; median {times.median}")
    if column.sizes is not None:
        yield from _spread(column.sizes, "Sizes")
    if column.keys:
        yield _bars(column.keys, column.count, "Keys that have a value")
    if column.text is not None:
        yield from _spread(column.text.words, "Length in words")
    if column.is_prose:
        yield from _phrases(column)
    elif column.has_favourites:
        yield _bars(column.common[:_MOST_BARS], column.count, "The most common values")


def _phrases(column: ColumnProfile) -> Iterator[Markup]:
    assert column.text is not None
    found = column.text.diversity
    if found.openings:
        yield _bars(found.openings[:_MOST_BARS], column.count, "How the texts begin")
    if found.phrases:
        of = f"Phrases that several texts have, in a sample of {found.texts:,}"
        yield _bars(found.phrases[:_MOST_BARS], found.texts, of)


def _spread(numbers: Numbers, what: str) -> Iterator[Markup]:
    sampled = " (median and bars from a sample)" if numbers.estimated else ""
    std = "" if numbers.std is None else f", standard deviation {number(numbers.std)}"
    caption = (
        f"{what}: {number(numbers.min)} to {number(numbers.max)}, mean {number(numbers.mean)}, "
        f"median {number(numbers.median)}, 95 % below {number(numbers.p95)}{std}{sampled}"
    )
    if numbers.min < numbers.max:
        yield figure(histogram(_bins(numbers.histogram), title=what), caption)
    else:
        yield prose(f"{what}: all {number(numbers.min)}")


def _bins(bins: Sequence[Bin]) -> list[tuple[float, float, float]]:
    return [(each.low, each.high, each.count) for each in bins]


def _date(seconds: float) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).date().isoformat()


def _bars(items: Sequence[Common], total: int, what: str = "") -> Markup:
    """Shares of a whole, with what they are above them, where that is not plain."""

    def shown(count: float) -> str:
        share = f" · {percent(count / total)}" if total else ""
        return f"{count:,.0f}{share}"

    pairs = [(each.value or "(blank)", float(each.count)) for each in items]
    title = what or "How often each value comes"
    return joined(prose(what), figure(bars(pairs, title=title, show=shown, limits=(0, total))))


def _fates(profile: Profile, run: RunFacts) -> Iterator[Markup]:
    if profile.statuses:
        yield _bars(profile.statuses, profile.rows, "Rows by status")
    if run.rejected:
        reasons = [Common(reason, count) for reason, count in run.rejected.items()]
        total = sum(run.rejected.values())
        yield _bars(reasons, total, "Rows that were made and not kept, by reason")
    if profile.failures:
        rows = [
            (each.column, each.kind, each.count, each.may_be_paid, each.message)
            for each in profile.failures
        ]
        heads = ["column", "kind", "cells", "may be paid", "first message"]
        yield as_table(heads, rows, caption="Failures", numeric=("cells", "may be paid"))
