"""What a page is made of: tables, prose, figures, text as it stands, things to unfold."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Literal, TypeAlias

from penstock.errors import InputError
from penstock.reports.numbers import NOTHING, number
from penstock.reports.text import Markup, cut, escaped, flowing
from penstock.tables.plain import plain, text_of

__all__ = ["Tone", "badge", "details", "figure", "preformatted", "prose", "table"]

Tone: TypeAlias = Literal["plain", "good", "warn", "bad"]
_NARROW = 24
_SHORT = 240
_LONGEST = 20_000
_MOST_TEXT = 200_000


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numeric: Collection[str] | None = None,
    caption: str = "",
    most: int = 1000,
) -> Markup:
    """A table that sorts by any column. Columns of numbers stand to the right: those named in
    `numeric`, else those in which every value is one. A cell may be a part, such as a badge; long
    text unfolds. Of more than `most` rows the first are shown and the rest is counted."""
    rest = iter(rows)
    shown = [_checked(row, columns, place) for place, row in enumerate(islice(rest, most), 1)]
    left = sum(1 for _ in rest)
    if numeric is None:
        lists = [[row[place] for row in shown] for place in range(len(columns))]
        right = [_all_numbers(cells) for cells in lists]
    else:
        right = [column in numeric for column in columns]
    marks = [' class="number"' if is_right else "" for is_right in right]
    head = "".join(
        f'<th scope="col"{mark}>{flowing(name)}</th>'
        for name, mark in zip(columns, marks, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(_cell(*each) for each in zip(row, marks, strict=True)) + "</tr>"
        for row in shown
    )
    title = f"<caption>{flowing(caption)}</caption>" if caption else ""
    note = f'<p class="note">and {left:,} more rows</p>' if left else ""
    if not shown:
        note = '<p class="note">no rows</p>'
    return Markup(
        f'<div class="scroll" tabindex="0"><table data-sortable>{title}<thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>{note}"
    )


def prose(text: str) -> Markup:
    """Paragraphs: an empty line begins a new one."""
    paragraphs = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n")]
    return Markup("".join(f"<p>{flowing(part)}</p>" for part in paragraphs if part))


def preformatted(text: str) -> Markup:
    """Text as it stands, line for line."""
    shown = text[:_MOST_TEXT]
    more = f"\n… and {len(text) - _MOST_TEXT:,} more characters" if len(text) > _MOST_TEXT else ""
    # The parser drops a line break right after the tag, so it is given one to drop.
    return Markup(f'<pre tabindex="0">\n{flowing(shown + more)}</pre>')


def details(summary: str, *parts: str) -> Markup:
    """Parts that unfold under a line; a text among them is prose."""
    inside = "".join(map(as_part, parts))
    return Markup(f"<details><summary>{flowing(summary)}</summary>{inside}</details>")


def figure(svg: Markup, caption: str = "") -> Markup:
    """A chart with what it shows under it."""
    if not isinstance(svg, Markup):
        raise TypeError(
            f"a figure shows a chart made by penstock.reports, not {type(svg).__name__}"
        )
    under = f"<figcaption>{flowing(caption)}</figcaption>" if caption else ""
    return Markup(f'<figure><div class="scroll">{svg}</div>{under}</figure>')


def badge(text: str, tone: Tone = "plain") -> Markup:
    """A word that stands out, such as a state or a grade."""
    return Markup(f'<span class="badge {escaped(tone)}">{flowing(text)}</span>')


def as_part(part: str) -> Markup:
    """A part as it is, any other text as prose."""
    return part if isinstance(part, Markup) else prose(part)


def _checked(row: Sequence[Any], columns: Sequence[str], place: int) -> Sequence[Any]:
    if len(row) != len(columns):
        raise InputError(
            f"row {place} of a table has {len(row)} cells, the table {len(columns)} columns",
            remedy="Give one value a column, None for none.",
        )
    return row


def _cell(value: Any, mark: str) -> str:
    if isinstance(value, Markup):
        return f"<td{mark}>{value}</td>"
    if value is None:
        return f'<td{mark}><span class="none">{NOTHING}</span></td>'
    if _is_number(value):
        sorts = f' data-v="{float(value):.17g}"' if _fits(value) else ""
        return f"<td{mark}{sorts}>{number(value)}</td>"
    text = text_of(plain(value)) or ""
    if len(text) > _NARROW and not mark:
        mark = ' class="text"'
    if len(text) <= _SHORT:
        return f"<td{mark}>{escaped(text)}</td>"
    more = len(text) - _LONGEST
    tail = f"… and {more:,} more characters" if more > 0 else ""
    inside = flowing(text[:_LONGEST] + tail)
    summary = escaped(cut(text[:_SHORT], _SHORT // 2))
    return f'<td{mark}><details class="long"><summary>{summary}</summary>{inside}</details></td>'


def _all_numbers(cells: list[Any]) -> bool:
    found = [cell for cell in cells if cell is not None]
    return bool(found) and all(map(_is_number, found))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _fits(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
