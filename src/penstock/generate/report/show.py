"""A report for the terminal: at most 100 columns wide, and nothing in it is obeyed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from penstock.generate.profile.results import Bin, ColumnProfile, Common, Numbers, Profile
from penstock.generate.report.findings import Finding
from penstock.generate.report.run import RunFacts, facts
from penstock.logs import inert
from penstock.reports.numbers import compact, number, percent
from penstock.reports.text import cut

__all__ = ["as_text"]

_WIDE = 100
_NAME = 24
_LABEL = 32
_BAR = 28
_MOST_COLUMNS = 40
_MOST_BARS = 8
_MOST_OPENINGS = 3
_MOST_FAILURES = 10
_LEVELS = "▁▂▃▄▅▆▇█"
_PARTS = "▏▎▍▌▋▊▉█"


def as_text(profile: Profile, run: RunFacts, findings: Sequence[Finding]) -> str:
    """The whole report."""
    lines = [_line(run.title or "Dataset"), ""]
    lines += _listed(facts(profile, run))
    lines += _rows(profile)
    if findings:
        lines += ["", "Worth a look", *(f"  ! {_found(each)}" for each in findings)]
    if profile.statuses:
        lines += ["", "Rows by status", *_bars(profile.statuses, profile.rows)]
    shown, left = profile.columns[:_MOST_COLUMNS], len(profile.columns) - _MOST_COLUMNS
    for column in shown:
        lines += ["", *_column(column, profile.rows)]
    if left > 0:
        lines += ["", f"and {left:,} more columns"]
    lines += _failures(profile)
    return "\n".join(cut(line.rstrip(), _WIDE) for line in lines)


def _rows(profile: Profile) -> list[str]:
    near = profile.near
    pairs = [("duplicates", f"{profile.duplicate_rows:,} rows equal to an earlier one")]
    if near is not None:
        of = "all" if near.looked_at >= profile.rows else f"{near.looked_at:,}"
        pairs.append(("near", f"{percent(near.share)} of {of} rows at {near.threshold:g} or more"))
    return _listed(pairs) if profile.rows else []


def _found(finding: Finding) -> str:
    where = f"{_short(finding.column, _NAME)}: " if finding.column else ""
    return where + _line(finding.text)


def _column(column: ColumnProfile, rows: int) -> Iterator[str]:
    filled = percent(column.count / rows) if rows else percent(0)
    about = "" if column.distinct_is_exact else "about "
    different = f"{about}{column.distinct:,} different"
    yield f"{_short(column.name, 48)}  ({column.type}, {filled} filled, {different})"
    if column.kinds:
        kinds = (f"{each.value} {each.count:,}" for each in column.kinds)
        yield from _listed([("holds", ", ".join(kinds))])
    if column.is_category:
        yield from _bars(column.common, column.count)
        return
    if column.numbers is not None:
        yield from _numbers("values", column.numbers)
    if column.moments is not None:
        times = column.moments
        spread = f"{times.first} to {times.last}, median {times.median}"
        yield from _listed([("times", f"{_spark(times.histogram)}  {spread}")])
    if column.sizes is not None:
        yield from _numbers("sizes", column.sizes)
    if column.keys:
        keys = (f"{_short(each.value, 20)} {percent(each.count / rows)}" for each in column.keys)
        yield from _listed([("keys", ", ".join(keys))])
    if column.text is not None:
        yield from _numbers("words", column.text.words)
        yield from _numbers("characters", column.text.characters)
    if column.is_prose:
        yield from _diversity(column)
    elif column.has_favourites:
        values = (f"{_short(each.value, 24)} ×{each.count:,}" for each in column.common[:5])
        yield from _listed([("common", ", ".join(values))])


def _numbers(name: str, numbers: Numbers) -> list[str]:
    if numbers.min == numbers.max:
        return _listed([(name, f"all {number(numbers.min)}")])
    about = "about " if numbers.estimated else ""
    said = (
        f"{_spark(numbers.histogram)}  {number(numbers.min)} to {number(numbers.max)}, "
        f"mean {number(numbers.mean)}, median {about}{number(numbers.median)}"
    )
    return _listed([(name, said)])


def _diversity(column: ColumnProfile) -> Iterator[str]:
    assert column.text is not None
    found = column.text.diversity
    measures = [f"near-duplicates {percent(found.near.share)}"]
    if found.similarity is not None:
        measures.append(f"shared words {percent(found.similarity)}")
    measures.append(f"repeats {percent(found.repetition)}")
    variety = [] if found.mtld is None else [f"MTLD {found.mtld:.0f}"]
    variety += [f"distinct-1 {found.distinct_1:.3f}", f"distinct-2 {found.distinct_2:.3f}"]
    yield from _listed([("diversity", ", ".join(measures)), ("", ", ".join(variety))])
    for place, each in enumerate(found.openings[:_MOST_OPENINGS]):
        said = f"{_short(each.value, 40)} …  {percent(each.count / column.count)}"
        yield from _listed([("openings" if not place else "", said)])


def _failures(profile: Profile) -> Iterator[str]:
    if not profile.failures:
        return
    yield from ("", "Failures")
    for group in profile.failures[:_MOST_FAILURES]:
        where = f"{_short(group.column, _NAME)} " if group.column else ""
        kind, message = _short(group.kind, _NAME), _short(group.message, 60)
        yield f"  {group.count:>9,}  {where}{kind}: {message}"
    left = len(profile.failures) - _MOST_FAILURES
    if left > 0:
        yield f"  and {left:,} more kinds"


def _listed(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"  {name:<12}{_line(value)}" for name, value in pairs]


def _bars(items: Sequence[Common], total: int) -> Iterator[str]:
    most = max((each.count for each in items), default=0)
    for each in items[:_MOST_BARS]:
        label = _padded(_short(each.value, _LABEL) or "(blank)", _LABEL)
        share = percent(each.count / total) if total else ""
        bar = _bar(each.count / most if most else 0.0)
        yield f"  {label}  {bar:<{_BAR}}  {compact(each.count):>7}  {share:>7}"
    left = len(items) - _MOST_BARS
    if left > 0:
        yield f"  and {left:,} more"


def _bar(share: float) -> str:
    """A bar in eighths of a letter."""
    eighths = max(1, round(share * _BAR * 8))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_PARTS[rest - 1] if rest else "")


def _spark(bins: Sequence[Bin]) -> str:
    most = max((each.count for each in bins), default=0)
    if not most:
        return ""
    return "".join(
        _LEVELS[min(7, each.count * 8 // (most + 1))] if each.count else " " for each in bins
    )


def _line(text: str) -> str:
    return inert(text[: 4 * _WIDE])


def _short(text: str, widest: int) -> str:
    """One inert line of at most so many letters."""
    return cut(inert(" ".join(text[: 4 * widest].split())), widest)


def _padded(text: str, wide: int) -> str:
    return text + " " * max(0, wide - sum(map(_cells, text)))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
