"""What in a grading run is worth a look: the few things that whoever uses the grades should know
before they do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

from penstock.grade.report.spread import Labels, Numbers
from penstock.grade.report.survey import Survey
from penstock.grade.report.words import file_names, mean_of
from penstock.grade.results import Grading
from penstock.reports.numbers import number, percent
from penstock.reports.text import cut
from penstock.reports.words import counted

__all__ = ["ENOUGH", "FAIR", "GOOD", "Finding", "findings"]

GOOD = 0.8
FAIR = 0.667
"""Krippendorff's own bounds: below the second one he would draw no conclusion."""

ENOUGH = 20
"""Grades from which on a share means something."""
_SAME = 0.9
_AT_END = 0.4
_FEW_VALUES = 0.34
_EMPTY = 0.05
_HALF = 0.5
_FAR = 0.8
"""Standard deviations; by convention a large difference."""
_MOST_FILES = 5
_LONGEST = 300
_FAILED = 0.01


class Finding(NamedTuple):
    """One thing: of what, and in words."""

    where: str
    text: str
    tone: Literal["warn", "bad"] = "warn"


def findings(grading: Grading, survey: Survey) -> list[Finding]:
    """What is worth a look: what went wrong, then files, then criteria."""
    found = [*_problems(grading), *_failures(grading, survey)]
    found += [*_empty(grading), *_far(grading, survey)]
    for criterion in grading.rubric.criteria:
        spread = survey.whole.criteria[criterion.name]
        if spread.count < ENOUGH:
            continue
        if isinstance(spread, Numbers):
            found += _numbers(criterion.name, spread)
        else:
            found += _labels(criterion.name, spread)
    return [*found, *_agreement(grading, survey)]


def _problems(grading: Grading) -> Iterator[Finding]:
    names = file_names([file.path for file in grading.files])
    bad = [each for each in zip(names, grading.files, strict=True) if each[1].problem]
    for name, file in bad[:_MOST_FILES]:
        yield Finding(name, cut(file.problem, _LONGEST), "bad")
    if (more := len(bad) - _MOST_FILES) > 0:
        said = "has a problem, told" if more == 1 else "have a problem, told"
        yield Finding("files", f"{counted(more, 'more file')} {said} under Files", "bad")


def _failures(grading: Grading, survey: Survey) -> Iterator[Finding]:
    rows = sum(grading.counts.values())
    for group in survey.kinds[:3]:
        if group.failed >= max(3, _FAILED * rows):
            kind = group.kind.replace("_", " ")
            yield Finding("failures", f"{counted(group.failed, 'row')} failed: {kind}", "bad")
    if counts := grading.counts.get("skipped"):
        said = "row is" if counts == 1 else "rows are"
        yield Finding("rows", f"{counts:,} {said} longer than the token limit and not graded")


def _empty(grading: Grading) -> Iterator[Finding]:
    rows, empty = sum(grading.counts.values()), grading.counts["empty"]
    if not rows or empty / rows < _EMPTY:
        return
    names = file_names([file.path for file in grading.files])
    hollow = [
        (name, file.counts["empty"] / file.rows)
        for name, file in zip(names, grading.files, strict=True)
        if file.rows and file.counts.get("empty", 0) / file.rows >= _HALF
    ]
    for name, share in hollow[:_MOST_FILES]:
        yield Finding(name, f"{percent(share)} of its rows have no text: is it the right column?")
    if len(hollow) != len(grading.files):
        yield Finding("rows", f"{percent(empty / rows)} of the rows have no text to grade")


def _far(grading: Grading, survey: Survey) -> Iterator[Finding]:
    """Files whose mean is far from that of the others, the farthest first."""
    whole = survey.whole.total
    names = file_names([file.path for file in grading.files])
    found = []
    for name, scores in zip(names, survey.files, strict=True):
        if scores is None or whole.mean is None or scores.total.mean is None:
            continue
        file, others = scores.total, whole.count - scores.total.count
        if file.count < ENOUGH or others < ENOUGH or file.mean is None:
            continue
        rest = (whole.mean * whole.count - file.mean * file.count) / others
        # Squares of the others: those of all, less the file's own and what lies between the two.
        between = (file.mean - rest) ** 2 * file.count * others / whole.count
        squares = max(0.0, whole.squares - file.squares - between)
        deviation = math.sqrt((file.squares + squares) / max(1, whole.count - 2))
        apart = abs(file.mean - rest) / deviation if deviation else math.inf * (file.mean != rest)
        if apart >= _FAR:
            said = f"its mean total is {mean_of(file.mean)}, that of the others {mean_of(rest)}"
            found.append((apart, Finding(name, said)))
    found.sort(key=lambda each: -each[0])
    yield from (finding for _, finding in found[:_MOST_FILES])


def _numbers(name: str, spread: Numbers) -> Iterator[Finding]:
    assert spread.low is not None and spread.high is not None
    bins, total = spread.bins, spread.count
    most = max(bins, key=lambda each: each.count)
    if most.count / total >= _SAME:
        value = number(most.low)
        value += "" if most.low == most.high else f" to {number(most.high)}"
        yield Finding(
            name, f"{percent(most.count / total)} got {value}: it hardly tells texts apart"
        )
        return
    if len(bins) > 3:
        ends = (("highest", bins[-1]), ("lowest", bins[0]))
        for which, end in ends:
            if end.count / total >= _AT_END:
                said = f"{percent(end.count / total)} got the {which} score there is"
                if end.low != end.high:
                    said = f"{percent(end.count / total)} lie at the {which} end of the scale"
                yield Finding(name, f"{said}: differences beyond it cannot be seen")
    used = [place for place, each in enumerate(bins) if each.count]
    if len(bins) > 4 and (used[-1] - used[0] + 1) / len(bins) <= _FEW_VALUES:
        between = f"from {number(spread.low)} to {number(spread.high)}"
        yield Finding(name, f"all scores lie {between}: most of the scale is not used")


def _labels(name: str, spread: Labels) -> Iterator[Finding]:
    label, count = spread.most
    if count / spread.count >= _SAME:
        said = f"{percent(count / spread.count)} got “{label}”: it hardly tells texts apart"
        yield Finding(name, said)


def _agreement(grading: Grading, survey: Survey) -> Iterator[Finding]:
    enough = grading.counts["ok"] >= ENOUGH
    for name, alpha in (grading.agreement or {}).items() if enough else ():
        if alpha is not None and alpha < FAIR:
            said = "less than chance would give" if alpha < 0 else "do not rely on single grades"
            text = f"the graders agree little (alpha {alpha:.2f}): {said}"
            yield Finding(name, text, "bad" if alpha < FAIR / 2 else "warn")
    if survey.partly:
        rows = counted(survey.partly, "row")
        verb = "has its grade" if survey.partly == 1 else "have their grades"
        yield Finding("graders", f"{rows} {verb} from only some of the graders: the others failed")
