"""What of a row is graded: a column, or several in a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

from penstock.errors import InputError
from penstock.templates import Template

__all__ = ["Text", "text_of"]

Text: TypeAlias = Callable[[Mapping[str, Any]], str | None]
"""The text of a row; None where there is nothing to grade."""

_USUAL = ("text", "response", "answer", "essay")
_CELL = Template("{value}")


def text_of(columns: Sequence[str], column: str | None, template: str | None) -> Text:
    """How the text is taken from rows with these columns; InputError where it cannot be."""
    if template is not None:
        return _filled(Template(template), columns)
    return _column(_named(columns, column))


def _filled(template: Template, columns: Sequence[str]) -> Text:
    template.check(columns)
    names = template.names

    def text(row: Mapping[str, Any]) -> str | None:
        if all(_blank(row.get(name)) for name in names):
            return None
        return template.fill(row)

    return text


def _column(name: str) -> Text:
    def text(row: Mapping[str, Any]) -> str | None:
        value = row.get(name)
        if _blank(value):
            return None
        return value if isinstance(value, str) else _CELL.fill({"value": value})

    return text


def _named(columns: Sequence[str], column: str | None) -> str:
    """The column that is meant: the one that is named, the only one, or the one that is usual."""
    there = ", ".join(columns) or "no columns"
    if column is not None:
        if column in columns:
            return column
        close = get_close_matches(column, columns, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(f"there is no column {column!r}", remedy=f"{hint}There are: {there}.")
    usual = [name for name in columns if name.strip().lower() in _USUAL]
    meant = list(columns) if len(columns) == 1 else usual
    if len(meant) != 1:
        raise InputError(
            "it is not clear which column is graded",
            remedy=f"Give --column, or --template. There are: {there}.",
        )
    return meant[0]


def _blank(value: Any) -> bool:
    """Whether there is nothing to grade: a missing cell is not the text "nan"."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    if isinstance(value, list | dict):
        return not value
    return isinstance(value, str) and not value.strip()
