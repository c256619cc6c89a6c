"""Text that a spreadsheet would take for a formula, made harmless in csv, and back.

A cell whose text begins with = + - @ (or their full-width forms), a tab or a line break gets an
apostrophe in front; so does one that begins with apostrophes before such a character, which is
what makes it reversible: reading takes exactly one apostrophe away from exactly those cells. Plain
numbers such as -5 or +1.5e3 are no formulas and stay as they are, so that a column of numbers
survives the trip as numbers.
"""

from __future__ import annotations

import re

__all__ = ["escaped", "is_formula", "unescaped"]

_STARTS = "=+\\-@\t\r\n＝＋－＠"
_NUMBER = r"[-+][0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?%?"
_FORMULA = re.compile(rf"(?!{_NUMBER}\Z)'*[{_STARTS}]")
_ESCAPED = re.compile(rf"'(?!{_NUMBER}\Z)'*[{_STARTS}]")
_FIRSTS = frozenset("=+-@\t\r\n＝＋－＠'")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might run it, or it looks like one that was made harmless."""
    return text[:1] in _FIRSTS and _FORMULA.match(text) is not None


def escaped(text: str) -> str:
    return f"'{text}" if text[:1] in _FIRSTS and _FORMULA.match(text) else text


def unescaped(text: str) -> str:
    return text[1:] if text[:1] == "'" and _ESCAPED.match(text) else text
