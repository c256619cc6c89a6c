"""How often values fall where: one bar a bin.

Bins stand side by side and equally wide whatever they span, so that bins of growing size can be
read too; the edges are written under them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.reports.charts.drawing import (
    ACCENT,
    LINE,
    MUTED,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.charts.scale import Scale
from penstock.reports.numbers import compact, number
from penstock.reports.text import Markup

__all__ = ["Bin", "histogram"]

_TALL = 150
_TOP = 20
_MOST_COUNTS = 12
_MOST_EDGES = 6
_GAP = 0.06


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` up to `high`."""

    low: float
    high: float
    count: float


def histogram(
    bins: Sequence[Bin | tuple[float, float, float]],
    *,
    title: str = "Distribution",
    show: Callable[[float], str] = compact,
) -> Markup:
    """Bins as bars. `show` writes the edges; the counts stand over the bars where there is room."""
    found = [each if isinstance(each, Bin) else Bin(*each) for each in bins]
    if not found:
        parts = [words(0, 16, "nothing to show", fill=MUTED)]
        return picture(parts, title=title, height=24)
    counts = [each.count if math.isfinite(each.count) else 0.0 for each in found]
    scale = Scale(0.0, max(*counts, 0.0) or 1.0)
    base = _TOP + _TALL
    parts = []
    for place, (each, count) in enumerate(zip(found, counts, strict=True)):
        middle = percent_of((place + 0.5) / len(found))
        tall = max(_TALL * scale.at(count), 1.5 if count > 0 else 0.0)
        hint = f"{show(each.low)} to {show(each.high)}: {number(each.count)}"
        parts.append(_column(place, len(found), base - tall, tall, hint))
        if len(found) <= _MOST_COUNTS:
            text = compact(each.count)
            y = base - tall - 5
            parts.append(words(middle, y, text, anchor="middle", fill=MUTED, font_size=11))
    parts.append(element("line", x1=0, x2="100%", y1=base, y2=base, stroke=LINE))
    parts += _edges(found, base + 16, show)
    description = listed(
        (f"{show(each.low)} to {show(each.high)}", number(each.count)) for each in found
    )
    return picture(parts, title=title, description=description, height=base + 22)


def _column(place: int, count: int, top: float, tall: float, hint: str) -> Markup:
    slot = 1 / count
    return element(
        "rect",
        element("title", hint),
        x=percent_of((place + _GAP / 2) * slot),
        y=top,
        width=percent_of((1 - _GAP) * slot),
        height=tall,
        rx=2,
        fill=ACCENT,
    )


def _edges(bins: list[Bin], y: float, show: Callable[[float], str]) -> list[Markup]:
    """The numbers under the bars: as many as have room, the first and the last among them."""
    edges = [each.low for each in bins] + [bins[-1].high]
    step = math.ceil((len(edges) - 1) / _MOST_EDGES)
    places = [place for place in range(0, len(edges) - 1, step) if len(edges) - 1 - place >= step]
    parts = []
    for place in [*places, len(edges) - 1]:
        anchor = "start" if place == 0 else "end" if place == len(edges) - 1 else "middle"
        where = percent_of(place / (len(edges) - 1))
        parts.append(words(where, y, show(edges[place]), anchor=anchor, fill=MUTED))
    return parts
