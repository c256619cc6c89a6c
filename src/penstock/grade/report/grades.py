"""The sections on the grades: totals, criteria, rows to read, agreement, and the rubric itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from penstock.grade.criterion import Criterion
from penstock.grade.report.charts import columns, spark
from penstock.grade.report.findings import ENOUGH, FAIR, GOOD
from penstock.grade.report.spread import Bin, Labels, Numbers
from penstock.grade.report.survey import Read, Scores, Survey
from penstock.grade.report.words import mean_of
from penstock.grade.results import Grading
from penstock.grade.rubric import Rubric
from penstock.grade.scale import NumberScale
from penstock.reports import (
    Markup,
    badge,
    bars,
    details,
    figure,
    histogram,
    number,
    percent,
    preformatted,
    prose,
    table,
)
from penstock.reports.parts import Tone
from penstock.reports.text import cut, escaped, joined
from penstock.reports.words import counted

__all__ = ["agreement", "criteria", "criterion", "readings", "rubric_parts", "totals"]

_LONGEST = 6_000
_SHORT = 36
"""Letters that fit under columns on a phone."""
_NO_GRADES = "There are no grades."

_ALPHA = (
    "Alpha is Krippendorff's: 1 is perfect agreement, 0 what chance would give. From 0.8 on "
    "grades are commonly relied on, from 0.667 on for tentative conclusions, below that not. It "
    "compares how far graders differ on one text with how far texts differ: where nearly all "
    "texts get the same grade it is low even if the graders rarely differ.\n\n"
    "That graders agree does not make them right, least of all one model asked several times. "
    "Grade some texts yourself and compare."
)


def totals(scores: Scores) -> Iterator[Markup | str]:
    """How the totals are spread."""
    total = scores.total
    if total.mean is None:
        yield _NO_GRADES
        return
    pairs = zip(total.bins[::2], total.bins[1::2], strict=True)
    tens = [Bin(one.low, two.high, one.count + two.count) for one, two in pairs]
    drawn = histogram(_drawn(tens), title="How the totals are spread")
    yield figure(drawn, f"Totals from 0 to 100: {_said(total)}")


def criteria(rubric: Rubric, scores: Scores) -> Markup:
    """All criteria at a glance."""
    weights = sum(each.weight for each in rubric.criteria if each.counts)
    rows = []
    for each in rubric.criteria:
        spread = scores.criteria[each.name]
        share = percent(each.weight / weights) if each.counts else None
        counts = [count for _, count in _items(spread)]
        drawn = spark(counts, title=f"How {each.name} is spread") if spread.count else None
        rows.append((each.name, share, drawn, *_short(spread)))
    heads = ["criterion", "weight", "spread", "grades", "mean", "median", "sd", "most often"]
    numeric = ("weight", "grades", "mean", "median", "sd")
    return table(heads, rows, numeric=numeric)


def criterion(each: Criterion, spread: Numbers | Labels) -> Iterator[Markup | str]:
    """How the grades by one criterion are spread."""
    if each.description:
        yield cut(each.description, _LONGEST)
    if not spread.count:
        yield _NO_GRADES
        return
    title = f"How {each.name} is spread"
    if isinstance(spread, Labels):
        yield figure(_labels(spread, title), f"{spread.count:,} grades")
    elif spread.bins[0].low < spread.bins[0].high:
        yield figure(histogram(_drawn(spread.bins), title=title), _said(spread))
    else:
        between = "" if _on_scale(spread) else ". Means between two scores stand at the nearer one"
        yield figure(columns(_items(spread), title=title), f"{_said(spread)}{between}")


def readings(rubric: Rubric, survey: Survey, names: Sequence[str]) -> Iterator[Markup | str]:
    """The lowest and the highest totals with their reasons."""
    yield (
        "What the grader wrote about the texts at both ends of the list: where it is wrong about "
        "these, it may be wrong about others. Row 1 is the first row of a file's data."
    )
    for what, rows in (("highest", survey.highest), ("lowest", survey.lowest)):
        for place, row in enumerate(rows):
            total = f"{what} total: {mean_of(row.total)}"
            where = f"{names[row.file]}, row {row.row:,}"
            if place == 0:  # the others unfold
                tone: Tone = "good" if what == "highest" else "warn"
                yield joined(badge(total, tone), escaped(f" {where}"))
                yield from _reading(rubric, row)
            else:
                yield details(f"{total}, {where}", *_reading(rubric, row))


def agreement(grading: Grading) -> Iterator[Markup | str]:
    """How far the graders agree, and what that says."""
    rows = [
        (name, None if alpha is None else f"{alpha:.2f}", *_reliable(alpha))
        for name, alpha in (grading.agreement or {}).items()
    ]
    few = ""
    if (graded := grading.counts["ok"]) < ENOUGH:
        few = f" With {counted(graded, 'text')}, alpha says little either way."
    yield f"Each text was graded {grading.graders} times.{few}"
    yield table(["criterion", "alpha", "agreement", "what it says"], rows, numeric=("alpha",))
    yield _ALPHA


def rubric_parts(rubric: Rubric) -> Iterator[Markup | str]:
    """What was graded by: as the grader saw it, and the weights, which it did not see."""
    rows = [
        (each.name, each.weight if each.counts else None, _asked(each), _anchors(each))
        for each in rubric.criteria
    ]
    heads = ["criterion", "weight", "what is looked at", "what grades look like"]
    yield table(heads, rows, numeric=("weight",))
    if rubric.instructions:
        yield details("What the grader is told", preformatted(rubric.instructions))
    for place, example in enumerate(rubric.examples, 1):
        grades = [(each.criterion, each.value, each.reason) for each in example.grades]
        note = [prose(example.note)] if example.note else []
        shown = table(["criterion", "grade", "reason"], grades, numeric=())
        yield details(f"Example {place}", preformatted(example.text), shown, *note)
    if rubric.fields:
        fields = [
            (each.name, json.dumps(each.schema, ensure_ascii=False)) for each in rubric.fields
        ]
        yield details("Further fields", table(["field", "schema"], fields, numeric=()))


# Pieces ---------------------------------------------------------------------------------------


def _reading(rubric: Rubric, row: Read) -> Iterator[Markup | str]:
    lines = [(name, _grade(value), reason) for name, value, reason in row.grades]
    lines += [(name, None, content) for name, content in row.fields]
    if rubric.reasons == "each" or row.fields:
        yield table(["criterion", "grade", "what the grader wrote"], lines, numeric=())
    else:
        yield table(["criterion", "grade"], [line[:2] for line in lines], numeric=())
    if row.reason:
        yield cut(row.reason, _LONGEST)


def _grade(value: object) -> object:
    """A mean of graders with no more digits than mean anything."""
    return mean_of(value) if isinstance(value, float) else value


def _labels(spread: Labels, title: str) -> Markup:
    """Columns where the names have room under them, else bars."""
    if sum(len(label) + 1 for label, _ in spread.labels) <= _SHORT:
        return columns(spread.labels, title=title)

    def shown(count: float) -> str:
        return f"{count:,.0f} · {percent(count / spread.count)}"

    return bars(spread.labels, title=title, show=shown, limits=(0, spread.count))


def _items(spread: Numbers | Labels) -> list[tuple[str, int]]:
    if isinstance(spread, Labels):
        return list(spread.labels)
    return [(_edge(each), each.count) for each in spread.bins]


def _drawn(bins: Sequence[Bin]) -> list[tuple[float, float, float]]:
    return [(each.low, each.high, each.count) for each in bins]


def _edge(each: Bin) -> str:
    return number(each.low) + ("" if each.low == each.high else f" to {number(each.high)}")


def _short(spread: Numbers | Labels) -> tuple[object, ...]:
    if not spread.count:
        return spread.count, None, None, None, None
    most, count = max(_items(spread), key=lambda each: each[1])
    often = f"{most} ({percent(round(count / spread.count, 2))})"
    if isinstance(spread, Labels):
        return spread.count, None, None, None, often
    means = (None if each is None else mean_of(each) for each in _means(spread))
    return spread.count, *means, often


def _means(spread: Numbers) -> tuple[float | None, ...]:
    return spread.mean, spread.median, spread.std


def _said(spread: Numbers) -> str:
    """Numbers in a line."""
    mean, median, std = map(mean_of, _means(spread))
    deviation = "" if spread.std is None else f", standard deviation {std}"
    bounds = f"lowest {mean_of(spread.low)}, highest {mean_of(spread.high)}"
    return f"mean {mean}, median {median}{deviation}, {bounds}; {spread.count:,} grades"


def _on_scale(spread: Numbers) -> bool:
    """Whether the bins hold the values themselves, and none that lies between them."""
    assert spread.mean is not None
    total = sum(each.low * each.count for each in spread.bins)
    squares = sum((each.low - spread.mean) ** 2 * each.count for each in spread.bins)
    close = 1e-6 * max(1.0, abs(total), spread.squares)
    same = abs(total - spread.mean * spread.count) < close
    return same and abs(squares - spread.squares) < close


def _anchors(each: Criterion) -> str | None:
    said = (f"{_grade(anchor.value)}: {cut(anchor.text, _LONGEST)}" for anchor in each.anchors)
    return "\n".join(said) or None


def _asked(each: Criterion) -> str:
    words = each.scale.words
    if isinstance(each.scale, NumberScale):
        scale = f"{words[0].upper()}{words[1:]}."
    else:
        scale = f"One of: {words}."
    return f"{cut(each.description, _LONGEST)}\n{scale}" if each.description else scale


def _reliable(alpha: float | None) -> tuple[Markup, str]:
    if alpha is None:
        return badge("unknown"), "The grades do not vary, so there is nothing to agree on."
    if alpha >= GOOD:
        return badge("good", "good"), "The graders say much the same."
    if alpha >= FAIR:
        return badge("fair", "warn"), "Enough to compare groups; look at single cases yourself."
    if alpha >= 0:
        return badge(
            "low", "bad"
        ), "A single grade says little; describe the criterion more sharply."
    return badge(
        "none", "bad"
    ), "They differ more than by chance; look for a mistake in the rubric."
