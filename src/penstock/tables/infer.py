"""Numbers and booleans in columns of text, when asked for.

A column is int, float or bool only if every cell that is not empty is one; the empty cell is then
None. `007` and `+5` are text: turned into numbers they could not be written back. So are `nan`
and whole numbers of more than 18 digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["Inference"]

_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_BOOL = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}


class Inference:
    """First `look` at every row, then `typed` turns rows of text into values."""

    def __init__(self, width: int) -> None:
        self._found: list[set[str]] = [set() for _ in range(width)]
        self._converters: list[Callable[[str], Any]] | None = None

    def look(self, cells: list[Any]) -> None:
        for found, cell in zip(self._found, cells, strict=False):
            if cell and "text" not in found:
                found.add(_name(cell))

    def typed(self, cells: list[str]) -> list[Any]:
        if self._converters is None:
            self._converters = [_converter(found) for found in self._found]
        return [convert(cell) for convert, cell in zip(self._converters, cells, strict=True)]


def _name(cell: str) -> str:
    if _INT.fullmatch(cell):
        return "int"
    if _FLOAT.fullmatch(cell):
        return "float"
    return "bool" if cell in _BOOL else "text"


def _converter(found: set[str]) -> Callable[[str], Any]:
    if found == {"int"}:
        return lambda cell: int(cell) if cell else None
    if found in ({"float"}, {"int", "float"}):
        return lambda cell: float(cell) if cell else None
    if found == {"bool"}:
        return lambda cell: _BOOL[cell] if cell else None
    return str
