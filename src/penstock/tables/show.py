"""A table shown to a person: a few rows, as text or as HTML.

Whatever a cell holds stays data: control characters and what would reorder or hide text are
spelled out, and in HTML everything is escaped.
"""

from __future__ import annotations

import html
import unicodedata
from typing import TYPE_CHECKING, Any

from penstock.logs import inert
from penstock.tables.plain import text_of

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["as_html", "as_text"]

_ROWS = 5
_HTML_ROWS = 20
_COLUMNS = 12
_WIDEST = 40
_LINE = 120


def as_text(table: Table) -> str:
    """The first rows, in columns that line up, and how many there are."""
    names = table.column_names[:_COLUMNS]
    if not names:
        return _size(table, 0)
    rows = [[_short(row[name], _WIDEST) for name in names] for row in table.head(_ROWS)]
    titles = [_short(name, _WIDEST) for name in names]
    columns = list(zip(titles, *rows, strict=True))
    widths = [max(map(_width, column)) for column in columns]
    shown = _fitting(widths)
    lines = ["  ".join(map(_padded, line[:shown], widths)).rstrip() for line in [titles, *rows]]
    lines.insert(1, "  ".join("─" * width for width in widths[:shown]))
    lines.append(_size(table, shown))
    return "\n".join(lines)


def as_html(table: Table) -> str:
    """The first rows as an HTML table, everything escaped."""
    names = table.column_names[:_COLUMNS]
    head = "".join(f"<th>{html.escape(_short(name, 200))}</th>" for name in names)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(_short(row[name], 200))}</td>" for name in names)
        + "</tr>"
        for row in table.head(_HTML_ROWS)
    )
    size = html.escape(_size(table, len(names)))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{size}</p>"


def _size(table: Table, shown: int) -> str:
    count = len(table.column_names)
    rows = f"{len(table):,} row{'s' * (len(table) != 1)}"
    hidden = f", {count - shown} not shown" if count > shown else ""
    return f"{rows}, {count} column{'s' * (count != 1)}{hidden}"


def _short(value: Any, widest: int) -> str:
    text = "" if value is None else str(text_of(value))
    text = inert(text[: widest + 1])
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def _fitting(widths: list[int]) -> int:
    """How many columns fit on a line; at least one."""
    used = 0
    for place, width in enumerate(widths):
        used += width + 2
        if used > _LINE and place:
            return place
    return len(widths)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
