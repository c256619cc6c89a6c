"""Scores as a picture: for each metric the endpoints below each other on its own range, each in
its colour, a dot for the mean and a line for its interval; the bands of grades as faint lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.reports.charts.drawing import (
    LINE,
    MUTED,
    SERIES,
    TRACK,
    Attributes,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.charts.scale import Scale
from penstock.reports.numbers import NOTHING, number
from penstock.reports.text import Markup, one_line

__all__ = ["Dot", "Panel", "dots"]

_HEAD = 30
_ROW = 36
_NAMES = 16
_LINE = 15
_FOOT = 30
_MIDDLE = 23
_WIDEST = 44
"""Letters that fit beside each other on a phone."""
_ROOM = 0.012
"""On both sides, so that a dot at the end of the scale is whole."""
_MOST = 24
_CLOSE = 0.045
"""Of the width: grades nearer than that have no room for their names."""


@dataclass(frozen=True)
class Dot:
    """An endpoint's mean, and the interval in which it lies."""

    label: str
    series: int
    """The endpoint's place, which gives the colour."""
    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def written(self) -> str:
        if self.value is None:
            return NOTHING
        if self.low is None or self.high is None:
            return _short(self.value)
        return f"{_short(self.value)} ({_short(self.low)} to {_short(self.high)})"


@dataclass(frozen=True)
class Panel:
    """A metric."""

    title: str
    note: str
    dots: Sequence[Dot]
    limits: tuple[float, float] | None = None
    bands: Sequence[tuple[str, float, float]] = ()
    """Grades with where they begin and end, in the metric's own values."""


def dots(panels: Sequence[Panel], *, title: str) -> Markup:
    """The metrics, one under the other."""
    # Where a name and its numbers have no room beside each other, they have a line each.
    longest = (len(dot.label) + len(dot.written) for panel in panels for dot in panel.dots)
    line = _LINE if max(longest, default=0) > _WIDEST else 0
    parts: list[Markup] = []
    top = 0.0
    for panel in panels:
        parts += _panel(panel, top, line)
        top += _height(panel, line)
    said = listed(
        (f"{panel.title}, {dot.label}", dot.written) for panel in panels for dot in panel.dots
    )
    return picture(parts, title=title, description=said, height=max(24.0, top))


def _head(panel: Panel) -> int:
    return _HEAD + (_NAMES if panel.bands else 0)


def _height(panel: Panel, line: int) -> float:
    shown = min(len(panel.dots), _MOST)
    more = 16 if len(panel.dots) > _MOST else 0
    return _head(panel) + shown * (_ROW + line) + _FOOT + more


def _panel(panel: Panel, top: float, line: int) -> list[Markup]:
    shown, left = panel.dots[:_MOST], len(panel.dots) - _MOST
    values = (each for dot in shown for each in (dot.value, dot.low, dot.high) if each is not None)
    scale = Scale.over(values, limits=panel.limits)
    first, row = top + _head(panel), _ROW + line
    bottom = first + len(shown) * row
    room = max(8, _WIDEST - len(panel.note))
    parts = [
        words(0, top + 14, one_line(panel.title, room), font_weight=600, font_size=13),
        words("100%", top + 14, panel.note, anchor="end", fill=MUTED),
        *_bands(panel.bands, scale, first, bottom),
    ]
    for place, dot in enumerate(shown):
        parts += _row(first + place * row, dot, scale, line)
    parts += _axis(scale, bottom)
    if left > 0:
        parts.append(words(0, bottom + 32, f"and {left:,} more", fill=MUTED))
    return parts


def _row(top: float, dot: Dot, scale: Scale, line: int) -> list[Markup]:
    colour, middle = SERIES[dot.series % len(SERIES)], top + line + _MIDDLE
    side, x = ("start", "0") if line else ("end", "100%")
    parts = [
        words(0, top + 13, one_line(dot.label, _WIDEST)),
        words(x, top + line + 13, dot.written, anchor=side, font_weight=600),
        element("line", x1=0, x2="100%", y1=middle, y2=middle, stroke=TRACK, stroke_width=2),
    ]
    if dot.low is not None and dot.high is not None and _finite(dot.low, dot.high):
        low, high = sorted((dot.low, dot.high))
        stroke: Attributes = {"stroke": colour, "stroke_width": 5, "stroke_linecap": "round"}
        stroke |= {"x1": _place(scale, low), "x2": _place(scale, high), "stroke_opacity": 0.4}
        parts.append(element("line", y1=middle, y2=middle, **stroke))
    if dot.value is not None and math.isfinite(dot.value):
        hint = element("title", f"{one_line(dot.label, 200)}: {dot.written}")
        x = _place(scale, dot.value)
        parts.append(element("circle", hint, cx=x, cy=middle, r=5, fill=colour))
    return parts


def _bands(
    bands: Sequence[tuple[str, float, float]], scale: Scale, top: float, bottom: float
) -> list[Markup]:
    """Where one grade ends and the next begins, and their names where there is room."""
    parts: list[Markup] = []
    for label, low, high in bands:
        if scale.low < low < scale.high:
            x, ends = _place(scale, low), {"y1": top - 6, "y2": bottom}
            dashes: Attributes = {"stroke": LINE, "stroke_dasharray": "2 3"}
            parts.append(element("line", x1=x, x2=x, **ends, **dashes))
        if abs(scale.at(high) - scale.at(low)) >= _CLOSE * min(len(label), 3):
            middle = _place(scale, (low + high) / 2)
            name = one_line(label, 10)
            parts.append(words(middle, top - 5, name, anchor="middle", fill=MUTED, font_size=10))
    return parts


def _axis(scale: Scale, y: float) -> list[Markup]:
    parts = [element("line", x1=0, x2="100%", y1=y, y2=y, stroke=LINE)]
    for tick in scale.ticks():
        share = _share(scale, tick)
        anchor = "start" if share < 0.06 else "end" if share > 0.94 else "middle"
        where = percent_of(0.0 if anchor == "start" else 1.0 if anchor == "end" else share)
        parts.append(words(where, y + 14, number(tick), anchor=anchor, fill=MUTED, font_size=11))
    return parts


def _short(value: float) -> str:
    """Three digits: a picture is no table."""
    return number(float(f"{value:.3g}"))


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _share(scale: Scale, value: float) -> float:
    return _ROOM + (1 - 2 * _ROOM) * scale.at(value)


def _place(scale: Scale, value: float) -> str:
    return percent_of(_share(scale, value))
