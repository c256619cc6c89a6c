"""Horizontal bars, one a label: label and value on a line, the bar under it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from penstock.reports.charts.drawing import (
    ACCENT,
    MUTED,
    TRACK,
    element,
    listed,
    percent_of,
    picture,
    words,
)
from penstock.reports.charts.scale import Limits, Scale
from penstock.reports.numbers import number
from penstock.reports.text import Markup, one_line

__all__ = ["bars"]

_ROW = 38
_WIDEST = 48
_THIN = 0.002


def bars(
    items: Sequence[tuple[str, float]],
    *,
    title: str = "Bars",
    show: Callable[[float], str] = number,
    limits: Limits | None = None,
    most: int = 40,
) -> Markup:
    """Labelled bars from zero. `limits` fixes the scale, as (0, 1) for shares; `show` writes the
    values; of more than `most` items the first are drawn and the rest is counted."""
    drawn, left = items[:most], len(items) - most
    scale = Scale.over((value for _, value in drawn), zero=True, limits=limits)
    parts = [
        part
        for place, (label, value) in enumerate(drawn)
        for part in _bar(place * _ROW, label, value, scale, show)
    ]
    height = len(drawn) * _ROW
    if not items:
        parts, height = [words(0, 16, "nothing to show", fill=MUTED)], 24
    if left > 0:
        parts.append(words(0, height + 12, f"and {left:,} more", fill=MUTED))
        height += 20
    description = listed((label, show(value)) for label, value in drawn)
    return picture(parts, title=title, description=description, height=height)


def _bar(
    top: float, label: str, value: float, scale: Scale, show: Callable[[float], str]
) -> list[Markup]:
    written = show(value)
    parts = [
        words(0, top + 14, one_line(label, max(12, _WIDEST - len(written)))),
        words("100%", top + 14, written, anchor="end", font_weight=600),
        element("rect", x=0, y=top + 21, width="100%", height=8, rx=4, fill=TRACK),
    ]
    if math.isfinite(value):
        ends = sorted((scale.at(0.0), scale.at(value)))
        length = max(ends[1] - ends[0], _THIN if value else 0.0)
        start = min(ends[0], 1 - length)
        hint = element("title", f"{one_line(label, 200)}: {written}")
        place, width = percent_of(start), percent_of(length)
        parts.append(
            element("rect", hint, x=place, y=top + 21, width=width, height=8, rx=4, fill=ACCENT)
        )
    return parts
