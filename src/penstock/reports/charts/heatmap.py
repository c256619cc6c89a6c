"""A table of numbers as a table of shades.

The one chart with a size of its own: its cells hold numbers, and a page lets it scroll sideways
where it is wider than the screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from penstock.errors import InputError
from penstock.reports.charts.drawing import (
    ACCENT,
    MUTED,
    TRACK,
    element,
    listed,
    picture,
    words,
)
from penstock.reports.charts.scale import Limits, Scale
from penstock.reports.numbers import NOTHING, number
from penstock.reports.text import Markup, one_line

__all__ = ["heatmap"]

_CELL = (68, 34)
_GAP = 2
_LETTER = 7.2
_WIDEST = 26
_FITS = 9
_TILTED = 22
_MOST = 60


def heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    title: str = "Heat map",
    show: Callable[[float], str] = number,
    limits: Limits | None = None,
) -> Markup:
    """Values by row and column, darker where higher; None and NaN are cells without a value."""
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise InputError(
            f"a heat map of {len(rows)} rows and {len(columns)} columns got other values",
            remedy="Give one list of values a row, each with one value a column, None for none.",
        )
    if not rows or not columns:
        return picture([words(0, 16, "nothing to show", fill=MUTED)], title=title, height=24)
    shown_rows, shown_columns = rows[:_MOST], columns[:_MOST]
    names = [one_line(row, _WIDEST) for row in shown_rows]
    left = _LETTER * max(map(len, names)) + 12
    scale = Scale.over(
        (cell for line in values for cell in line if cell is not None), limits=limits
    )
    heads = [one_line(column, _TILTED) for column in shown_columns]
    tilted = any(len(head) > _FITS for head in heads)
    top = (24 + max(map(len, heads)) * _LETTER * 0.55) if tilted else 22.0
    parts = [_head(place, head, left, top, tilted) for place, head in enumerate(heads)]
    for down, name in enumerate(names):
        y = top + down * _CELL[1]
        parts.append(words(left - 10, y + _CELL[1] / 2 + 3, name, anchor="end"))
        for across, column in enumerate(shown_columns):
            cell = _number(values[down][across])
            hint = f"{one_line(rows[down], 100)}, {one_line(column, 100)}: "
            x = left + across * _CELL[0]
            parts += _cell(x, y, cell, hint, scale, show)
    height = top + len(names) * _CELL[1]
    if dropped := len(rows) - len(names) + len(columns) - len(heads):
        text = f"and {dropped:,} more rows or columns"
        parts.append(words(0, height + 16, text, fill=MUTED))
        height += 22
    lean = max(map(len, heads)) * _LETTER * 0.8 - _CELL[0] / 2 if tilted else 0.0
    description = listed(
        (f"{rows[down]}, {columns[across]}", NOTHING if math.isnan(cell) else show(cell))
        for down in range(len(names))
        for across in range(len(heads))
        for cell in [_number(values[down][across])]
    )
    width = left + len(heads) * _CELL[0] + max(0.0, lean)
    return picture(parts, title=title, description=description, height=height, width=width)


def _head(place: int, head: str, left: float, top: float, tilted: bool) -> Markup:
    x = left + (place + 0.5) * _CELL[0] - _GAP / 2
    if not tilted:
        return words(x, top - 8, head, anchor="middle")
    return words(x - 4, top - 8, head, transform=f"rotate(-35 {x - 4:g} {top - 8:g})")


def _cell(
    x: float, y: float, value: float, hint: str, scale: Scale, show: Callable[[float], str]
) -> list[Markup]:
    size = {"width": _CELL[0] - _GAP, "height": _CELL[1] - _GAP, "rx": 4}
    middle, base = x + (_CELL[0] - _GAP) / 2, y + _CELL[1] / 2 + 3
    if math.isnan(value):
        title = element("title", hint + "no value")
        empty = element("rect", title, x=x, y=y, fill=TRACK, fill_opacity=0.5, **size)
        return [empty, words(middle, base, NOTHING, anchor="middle", fill=MUTED)]
    shade = scale.at(value)
    title = element("title", hint + show(value))
    # Never quite nothing and never full, so that its number can be read, by day and by night.
    rect = element("rect", title, x=x, y=y, fill=ACCENT, fill_opacity=0.05 + 0.55 * shade, **size)
    return [rect, words(middle, base, one_line(show(value), 9), anchor="middle")]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
