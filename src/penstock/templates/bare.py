"""Bare-name templates: `A poem about {topic}`.

A name in braces stands for a column; `{{` and `}}` are braces; nothing else means anything. No
attribute, index, call or format is ever evaluated, so neither a template nor a row can reach
anything but the row's own values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import orjson

from penstock.errors import InputError

__all__ = ["Template"]

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
LARGEST = 10_000_000


class Template:
    """A text with names in it, taken apart once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._pieces: list[tuple[str, bool]] = []
        at = 0
        for match in _PIECE.finditer(text):
            self._add(text[at : match.start()])
            self._take(match)
            at = match.end()
        self._add(text[at:])
        self.names = list(dict.fromkeys(piece for piece, is_name in self._pieces if is_name))

    def fill(self, row: Mapping[str, Any]) -> str:
        """The text for a row; a missing column is an InputError that names it."""
        made = "".join(
            self._value(row, piece) if is_name else piece for piece, is_name in self._pieces
        )
        if len(made) > LARGEST:
            raise InputError(f"a filled template is larger than {LARGEST:,} characters")
        return made

    def check(self, columns: Collection[str]) -> None:
        """Every name must be a column; said before anything is sent."""
        for name in self.names:
            if name not in columns:
                raise InputError(
                    f"the template names {{{name}}}, which is no column",
                    remedy=_hint(name, columns),
                )

    def _value(self, row: Mapping[str, Any], name: str) -> str:
        if name not in row:
            raise InputError(f"the row has no column {name!r}", remedy=_hint(name, list(row)))
        value = row[name]
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            return orjson.dumps(value, default=str).decode()
        return "" if value is None else str(value)

    def _add(self, text: str) -> None:
        if text:
            self._pieces.append((text, False))

    def _take(self, match: re.Match[str]) -> None:
        found = match[0]
        if found in ("{{", "}}"):
            self._pieces.append((found[0], False))
            return
        line = self.text.count("\n", 0, match.start()) + 1
        name = (match[1] or "").strip()
        if len(found) == 1:
            raise InputError(
                f"the template has a lone {found} in line {line}",
                remedy=f"For a brace itself write {found * 2}.",
            )
        if not name:
            raise InputError(f"the template has empty braces in line {line}")
        self._pieces.append((name, True))


def _hint(name: str, columns: Collection[str]) -> str:
    close = get_close_matches(name, columns, n=1)
    hint = f"Did you mean {{{close[0]}}}? " if close else ""
    return f"{hint}There are: {', '.join(map(str, columns)) or 'no columns'}."
