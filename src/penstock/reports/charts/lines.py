"""Lines over a number: one a series, at most six, which is as many as can be told apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from penstock.reports.charts.drawing import (
    LINE,
    MUTED,
    SERIES,
    SURFACE,
    Attributes,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.charts.scale import Limits, Scale
from penstock.reports.numbers import compact
from penstock.reports.text import Markup, one_line

__all__ = ["lines"]

_TALL = 180
_LEGEND = 20
_WIDEST = 22
_MOST_DOTS = 24
_BUCKETS = 400
_UNITS = 1000

Points = Sequence[tuple[float, float]]


class _Frame(NamedTuple):
    """Where the lines are drawn."""

    x: Scale
    y: Scale
    top: float

    def down(self, value: float) -> float:
        return self.top + _TALL * (1 - self.y.at(value))


def lines(
    series: Mapping[str, Points],
    *,
    title: str = "Lines",
    x_label: str = "",
    show: Callable[[float], str] = compact,
    limits: Limits | None = None,
) -> Markup:
    """Series of (x, y). A y that is no number leaves a gap; `limits` fixes the scale upward."""
    drawn = {name: _sorted(points) for name, points in list(series.items())[: len(SERIES)]}
    flat = [point for points in drawn.values() for point in points]
    if not any(math.isfinite(y) for _, y in flat):
        return picture([words(0, 16, "nothing to show", fill=MUTED)], title=title, height=24)
    legend = math.ceil(len(drawn) / 2) * _LEGEND if len(drawn) > 1 else 0
    y_scale = Scale.over((y for _, y in flat), limits=limits)
    frame = _Frame(Scale.over(x for x, _ in flat), y_scale, legend + 16)
    parts = _legend(drawn) if legend else []
    parts += _grid(frame)
    for place, points in enumerate(drawn.values()):
        parts += _line(points, frame, SERIES[place])
    base = frame.top + _TALL
    parts += _heights(frame, show)
    parts += _axis(frame, base + 17, show)
    height = base + 24
    left = len(series) - len(drawn)
    notes = [x_label] * bool(x_label) + [f"{left:,} more lines are not drawn"] * (left > 0)
    for note in notes:
        height += 18
        text = one_line(note, 60)
        parts.append(words("50%", height - 8, text, anchor="middle", fill=MUTED))
    description = listed((name, _course(points, show)) for name, points in drawn.items())
    return picture(parts, title=title, description=description, height=height)


def _sorted(points: Points) -> list[tuple[float, float]]:
    return sorted(((float(x), float(y)) for x, y in points if math.isfinite(x)), key=lambda p: p[0])


def _line(points: list[tuple[float, float]], frame: _Frame, colour: str) -> list[Markup]:
    """The pieces between gaps; points as dots where they are few, or alone."""
    parts = []
    dotted = len(points) <= _MOST_DOTS
    for whole, piece in groupby(points, key=lambda point: math.isfinite(point[1])):
        stretch = list(piece)
        if not whole:
            continue
        if len(stretch) > 1:
            parts.append(_path(_thinned(stretch), frame, colour))
        if dotted or len(stretch) == 1:
            for x, y in stretch:
                cx = percent_of(frame.x.at(x))
                parts.append(element("circle", cx=cx, cy=frame.down(y), r=3, fill=colour))
    return parts


def _path(points: list[tuple[float, float]], frame: _Frame, colour: str) -> Markup:
    """A line in a frame of its own, which is stretched; the stroke is not."""
    places = " ".join(
        f"{_UNITS * frame.x.at(x):.1f},{_UNITS * (1 - frame.y.at(y)):.1f}" for x, y in points
    )
    stroke: Attributes = {
        "stroke_width": 2,
        "stroke_linejoin": "round",
        "vector_effect": "non-scaling-stroke",
    }
    line = element("polyline", points=places, fill="none", stroke=colour, **stroke)
    return element(
        "svg",
        line,
        x=0,
        y=frame.top,
        width="100%",
        height=_TALL,
        viewBox=f"0 0 {_UNITS} {_UNITS}",
        preserveAspectRatio="none",
        overflow="visible",
    )


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """No more points than a screen shows: the lowest and highest of each stretch stay."""
    if len(points) <= 2 * _BUCKETS:
        return points
    size = math.ceil(len(points) / _BUCKETS)
    kept = []
    for start in range(0, len(points), size):
        bucket = points[start : start + size]
        ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def _grid(frame: _Frame) -> list[Markup]:
    heights = [frame.down(tick) for tick in frame.y.ticks()]
    return [element("line", x1=0, x2="100%", y1=y, y2=y, stroke=LINE) for y in heights]


def _heights(frame: _Frame, show: Callable[[float], str]) -> list[Markup]:
    """The numbers at the grid, over the lines and set off from them."""
    halo: Attributes = {"stroke": SURFACE, "stroke_width": 4, "paint_order": "stroke"}
    return [
        element("text", show(tick), x=0, y=frame.down(tick) - 4, fill=MUTED, font_size=11, **halo)
        for tick in frame.y.ticks()
    ]


def _axis(frame: _Frame, y: float, show: Callable[[float], str]) -> list[Markup]:
    parts = []
    for tick in frame.x.ticks():
        share = frame.x.at(tick)
        anchor = "start" if share < 0.05 else "end" if share > 0.95 else "middle"
        parts.append(words(percent_of(share), y, show(tick), anchor=anchor, fill=MUTED))
    return parts


def _legend(drawn: Mapping[str, Points]) -> list[Markup]:
    parts = []
    for place, name in enumerate(drawn):
        x, y = 50 * (place % 2), _LEGEND * (place // 2) + 12
        box: Attributes = {"width": 10, "height": 10, "rx": 3, "fill": SERIES[place]}
        parts.append(element("rect", x=f"{x}%", y=y - 9, **box))
        parts.append(words(f"{x}%", y, one_line(name, _WIDEST), dx=16))
    return parts


def _course(points: Points, show: Callable[[float], str]) -> str:
    found = [y for _, y in points if math.isfinite(y)]
    if not found:
        return "no values"
    return f"from {show(found[0])} to {show(found[-1])}, at most {show(max(found))}"
