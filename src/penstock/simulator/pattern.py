"""Strings that match a pattern.

Python's own parser takes the pattern apart; each piece becomes a small function that writes a
piece of text. Look-arounds and boundaries are not steered by, only checked: the text is tried
against the whole pattern, and thrown again if it does not match.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from importlib import import_module
from typing import Any

from penstock.simulator.dice import Dice

__all__ = ["Pattern"]

_parser: Any = import_module("re._parser")
_ATTEMPTS = 80
_ENDLESS = 1 << 30
_LETTERS = string.ascii_lowercase
_WORD = string.ascii_letters + string.digits + "_"
_PRINTABLE = "".join(chr(code) for code in range(32, 127))
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_NOT_DIGIT": string.ascii_letters + " -",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": string.ascii_letters + string.digits,
    "CATEGORY_WORD": _WORD,
    "CATEGORY_NOT_WORD": " -.,",
}
_SILENT = frozenset(("AT", "ASSERT", "ASSERT_NOT"))
_REPEATS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))


class _Throw:
    """One attempt: the dice, how far open repeats may go, and the groups written so far."""

    __slots__ = ("dice", "groups", "spread")

    def __init__(self, dice: Dice, spread: int) -> None:
        self.dice = dice
        self.spread = spread
        self.groups: dict[int, str] = {}


Writer = Callable[[_Throw], str]


class Pattern:
    """A pattern that can be asked for matching strings."""

    def __init__(self, source: str, low: int = 0, high: int | None = None) -> None:
        self._low = low
        self._high = high
        self.expression: re.Pattern[str] | None = None
        self._write: Writer = _nothing
        try:
            named = re.sub(r"\(\?<(?![=!])", "(?P<", source)
            self.expression = re.compile(named)
            self._write = _sequence(_parser.parse(named))
        except (re.error, RecursionError, OverflowError):
            self.expression = None

    def make(self, dice: Dice) -> str | None:
        """A string that matches and has the right length, or None when none was found."""
        if self.expression is None:
            return None
        for attempt in range(_ATTEMPTS):
            spread = (4, self._low, 1, 12)[attempt % 4]
            text = self._fitted(self._write(_Throw(dice, spread)), dice)
            if self.fits(text):
                return text
        return None

    def fits(self, text: str) -> bool:
        """Whether a string matches and has the right length."""
        if len(text) < self._low or (self._high is not None and len(text) > self._high):
            return False
        return self.expression is None or self.expression.search(text) is not None

    def _fitted(self, text: str, dice: Dice) -> str:
        """Letters around a match that is too short; they do no harm where nothing is anchored."""
        missing = self._low - len(text)
        return (
            text + "".join([dice.pick(_LETTERS) for _ in range(missing)]) if missing > 0 else text
        )


def _nothing(throw: _Throw) -> str:
    return ""


def _sequence(tree: Any) -> Writer:
    writers = [_piece(str(kind), detail) for kind, detail in tree if str(kind) not in _SILENT]
    if len(writers) == 1:
        return writers[0]
    return lambda throw: "".join([write(throw) for write in writers])


def _piece(kind: str, detail: Any) -> Writer:
    if kind == "LITERAL":
        return _constant(chr(detail))
    if kind in _REPEATS:
        return _repeat(*detail)
    if kind == "SUBPATTERN":
        return _group(detail[0], _sequence(detail[3]))
    if kind == "BRANCH":
        writers = [_sequence(each) for each in detail[1]]
        return lambda throw: throw.dice.pick(writers)(throw)
    if kind == "GROUPREF":
        return lambda throw: throw.groups.get(detail, "")
    if kind == "GROUPREF_EXISTS":
        return _conditional(*detail)
    if kind == "ATOMIC_GROUP":
        return _sequence(detail)
    return _characters(_pool(kind, detail))


def _constant(text: str) -> Writer:
    return lambda throw: text


def _characters(pool: str) -> Writer:
    return lambda throw: throw.dice.pick(pool)


def _repeat(low: int, high: Any, tree: Any) -> Writer:
    write = _sequence(tree)
    top = min(int(high), _ENDLESS)

    def repeated(throw: _Throw) -> str:
        most = min(top, low + throw.spread)
        return "".join([write(throw) for _ in range(throw.dice.between(low, most))])

    return repeated


def _group(number: int | None, write: Writer) -> Writer:
    if number is None:
        return write

    def grouped(throw: _Throw) -> str:
        text = throw.groups[number] = write(throw)
        return text

    return grouped


def _conditional(number: int, yes: Any, no: Any) -> Writer:
    write_yes = _sequence(yes)
    write_no = _sequence(no) if no is not None else _nothing
    return lambda throw: (write_yes if number in throw.groups else write_no)(throw)


def _pool(kind: str, detail: Any) -> str:
    """The characters a class may stand for, a sensible choice of them."""
    if kind == "ANY":
        return string.ascii_letters + string.digits
    if kind == "NOT_LITERAL":
        return "".join(each for each in _WORD if ord(each) != detail)
    if kind != "IN":
        return _LETTERS
    negated = bool(detail) and str(detail[0][0]) == "NEGATE"
    members = "".join(_members(str(name), value) for name, value in detail if str(name) != "NEGATE")
    if not negated:
        return members or _LETTERS
    left = "".join(each for each in string.ascii_letters + string.digits if each not in members)
    return left or "".join(each for each in _PRINTABLE if each not in members) or "\u00e9"


def _members(name: str, value: Any) -> str:
    if name == "LITERAL":
        return chr(value)
    if name == "RANGE":
        first, last = value
        step = max(1, (last - first) // 128)
        codes = range(first, last + 1, step)
        return "".join(chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF)
    return _CATEGORIES.get(str(value), _LETTERS)
