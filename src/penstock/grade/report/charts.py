"""Three pictures that grades ask for: columns over the values of a scale, the same in one line of
a table, and one strip a file on a common axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from penstock.reports.charts.drawing import (
    ACCENT,
    LINE,
    MUTED,
    SERIES,
    TRACK,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.numbers import percent
from penstock.reports.text import Markup, one_line

__all__ = ["Strip", "columns", "spark", "strips"]

_TALL = 110
_TOP = 22
_WIDE = 0.72
_WIDEST = 0.11
_LABEL = 14
_LETTERS = 45
"""That fit beside each other on a phone."""
_MOST_SHARES = 11
_SPARK = (120, 26)
_STRIP = 66
_STRIP_TALL = 34


def columns(items: Sequence[tuple[str, int]], *, title: str) -> Markup:
    """A column for each value of a scale, its name under it and its share over it."""
    total, most = sum(count for _, count in items), max((count for _, count in items), default=0)
    slot, base = 1 / max(1, len(items)), _TOP + _TALL
    wide = min(_WIDE * slot, _WIDEST)
    # As many names as have room beside each other on a phone.
    longest = max((len(one_line(name, _LABEL)) for name, _ in items), default=0)
    every = math.ceil(len(items) * (longest + 1) / _LETTERS)
    parts = [element("line", x1=0, x2="100%", y1=base + 0.5, y2=base + 0.5, stroke=LINE)]
    for place, (name, count) in enumerate(items):
        middle, share = (place + 0.5) * slot, percent(count / total) if total else ""
        tall = max(_TALL * count / most, 1.5) if count else 0.0
        hint = element("title", f"{one_line(name, 80)}: {count:,} ({share})")
        x, width = percent_of(middle - wide / 2), percent_of(wide)
        if count:
            shape = {"y": base - tall, "height": tall, "rx": 3}
            parts.append(element("rect", hint, x=x, width=width, fill=ACCENT, **shape))
        if total and len(items) <= _MOST_SHARES:
            over = percent(round(count / total, 2)) if count else "0"
            over = "< 1 %" if over == "0 %" else over
            parts.append(_centred(middle, base - tall - 7, over, MUTED))
        if place % every == 0:
            parts.append(_centred(middle, base + 18, one_line(name, _LABEL)))
    said = listed((name, f"{count:,}") for name, count in items)
    return picture(parts, title=title, description=said, height=base + 24)


def spark(counts: Sequence[int], *, title: str) -> Markup:
    """The same without any word, for a cell."""
    width, height = _SPARK
    most, slot = max(counts, default=0), width / max(1, len(counts))
    parts = [
        element("line", x1=0, x2=width, y1=height - 0.5, y2=height - 0.5, stroke=LINE),
    ]
    gap = 1.5 if slot < 12 else 3
    for place, count in enumerate(counts):
        if count:
            tall = max((height - 2) * count / most, 1.5)
            shape = {"y": height - 1 - tall, "width": slot - gap, "height": tall, "rx": 1.5}
            parts.append(element("rect", x=place * slot + gap / 2, fill=ACCENT, **shape))
    return picture(parts, title=title, height=height, width=width)


class Strip(NamedTuple):
    """A file: how its totals are spread from 0 to 100, and their mean."""

    name: str
    counts: Sequence[int]
    mean: float | None
    said: str


def strips(files: Sequence[Strip], *, title: str) -> Markup:
    """A strip a file, all on one axis from 0 to 100; a line marks the mean."""
    parts: list[Markup] = []
    for number, file in enumerate(files):
        parts += _strip(number * _STRIP, file)
    bottom = len(files) * _STRIP
    for tick in (0, 25, 50, 75, 100):
        anchor = {0: "start", 100: "end"}.get(tick, "middle")
        where = percent_of(tick / 100)
        parts.append(words(where, bottom + 8, str(tick), anchor=anchor, fill=MUTED))
    said = listed((file.name, file.said) for file in files)
    return picture(parts, title=title, description=said, height=bottom + 14)


def _strip(top: float, file: Strip) -> list[Markup]:
    base, most = top + _STRIP - 8, max(file.counts, default=0)
    slot = 1 / max(1, len(file.counts))
    parts = [
        words(0, top + 12, one_line(file.name, max(12, _LETTERS - len(file.said)))),
        words("100%", top + 12, file.said, anchor="end", fill=MUTED),
        element("line", x1=0, x2="100%", y1=base, y2=base, stroke=TRACK),
    ]
    for place, count in enumerate(file.counts):
        if count:
            tall = max(_STRIP_TALL * count / most, 1.5)
            hint = element("title", f"{place * 5} to {place * 5 + 5}: {count:,}")
            x, width = percent_of((place + 0.04) * slot), percent_of(0.92 * slot)
            shape = {"y": base - tall, "height": tall, "rx": 1.5}
            parts.append(element("rect", hint, x=x, width=width, fill=ACCENT, **shape))
    if file.mean is not None:
        x = percent_of(file.mean / 100)
        ends = {"y1": base - _STRIP_TALL - 2, "y2": base + 3}
        parts.append(element("line", x1=x, x2=x, stroke=SERIES[1], stroke_width=2, **ends))
    return parts


def _centred(share: float, y: float, text: str, fill: str = "") -> Markup:
    more = {"fill": fill} if fill else {}
    return words(percent_of(share), y, text, anchor="middle", **more)
