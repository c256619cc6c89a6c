"""Estimates with their intervals: a dot on a line, one a label, all on one scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from penstock.reports.charts.drawing import (
    ACCENT,
    LINE,
    MUTED,
    TRACK,
    Attributes,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.charts.scale import Limits, Scale
from penstock.reports.numbers import number
from penstock.reports.text import Markup, one_line

__all__ = ["Interval", "intervals"]

_ROW = 42
_LINE = 16
_WIDEST = 44
"""Letters that fit beside each other on a phone."""
_ROOM = 0.02
"""On both sides, so that a dot at the end of the scale is whole."""


class Interval(NamedTuple):
    """A value and the interval in which it lies."""

    label: str
    value: float
    low: float
    high: float


def intervals(
    items: Sequence[Interval | tuple[str, float, float, float]],
    *,
    title: str = "Intervals",
    show: Callable[[float], str] = number,
    limits: Limits | None = None,
    mark: float | None = None,
    most: int = 40,
) -> Markup:
    """Dots with intervals. `mark` draws a line at a number to compare with: 0 for differences."""
    found = [Interval(*each) for each in items]
    drawn, left = found[:most], len(found) - most
    if not drawn:
        return picture([words(0, 16, "nothing to show", fill=MUTED)], title=title, height=24)
    values = [number for each in drawn for number in each[1:]]
    scale = Scale.over([*values, *([] if mark is None else [mark])], limits=limits)
    # Where a label and its numbers have no room beside each other, they have a line each.
    apart = any(len(each.label) + len(_written(each, show)) > _WIDEST for each in drawn)
    row = _ROW + _LINE * apart
    parts, height = [], len(drawn) * row
    if mark is not None and math.isfinite(mark):
        x = _place(scale, mark)
        line: Attributes = {"stroke": MUTED, "stroke_dasharray": "3 3"}
        parts.append(element("line", x1=x, x2=x, y1=18, y2=height, **line))
    for place, each in enumerate(drawn):
        parts += _row(place * row, each, scale, show, _LINE * apart)
    parts += _axis(scale, height, show)
    if left > 0:
        parts.append(words(0, height + 34, f"and {left:,} more", fill=MUTED))
    description = listed((each.label, _written(each, show)) for each in drawn)
    tall = height + (42 if left > 0 else 22)
    return picture(parts, title=title, description=description, height=tall)


def _row(
    top: float, each: Interval, scale: Scale, show: Callable[[float], str], line: float
) -> list[Markup]:
    written, y = _written(each, show), top + line
    middle, side = y + 27, "start" if line else "end"
    parts = [
        words(0, top + 14, one_line(each.label, _WIDEST)),
        words("0" if line else "100%", y + 14, written, anchor=side, font_weight=600),
        element("line", x1=0, x2="100%", y1=middle, y2=middle, stroke=TRACK, stroke_width=2),
    ]
    if math.isfinite(each.low) and math.isfinite(each.high):
        ends = sorted((each.low, each.high))
        stroke: Attributes = {"stroke": ACCENT, "stroke_width": 4, "stroke_linecap": "round"}
        stroke |= {"x1": _place(scale, ends[0]), "x2": _place(scale, ends[1])}
        parts.append(element("line", y1=middle, y2=middle, stroke_opacity=0.45, **stroke))
    if math.isfinite(each.value):
        hint = element("title", f"{one_line(each.label, 200)}: {written}")
        x = _place(scale, each.value)
        parts.append(element("circle", hint, cx=x, cy=middle, r=5, fill=ACCENT))
    return parts


def _axis(scale: Scale, y: float, show: Callable[[float], str]) -> list[Markup]:
    parts = [element("line", x1=0, x2="100%", y1=y, y2=y, stroke=LINE)]
    for tick in scale.ticks():
        share = _share(scale, tick)
        anchor = "start" if share < 0.06 else "end" if share > 0.94 else "middle"
        parts.append(words(percent_of(share), y + 15, show(tick), anchor=anchor, fill=MUTED))
    return parts


def _written(each: Interval, show: Callable[[float], str]) -> str:
    if math.isnan(each.low) or math.isnan(each.high):
        return show(each.value)
    return f"{show(each.value)} ({show(each.low)} to {show(each.high)})"


def _share(scale: Scale, value: float) -> float:
    return _ROOM + (1 - 2 * _ROOM) * scale.at(value)


def _place(scale: Scale, value: float) -> str:
    return percent_of(_share(scale, value))
