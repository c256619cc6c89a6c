"""What a grade may be: numbers with a step between them, or labels.

A scale says the same in three ways: in words for the grader, as JSON schema for the answer, and as
a check of a value. Steps are counted in decimal, so that 0.1 is a tenth and 0.3 is on the scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from penstock.errors import InputError

__all__ = ["LISTED", "LabelScale", "NumberScale", "Scale", "Value", "check_name", "number", "said"]

Value = int | float | str

LISTED = 25
"""As many values are listed in the answer's schema; of more only the bounds are told."""
LONGEST_NAME = 64
_LARGEST = 1_000_000_000
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class NumberScale:
    """Numbers from `low` to `high`, `step` apart; the higher, the better."""

    low: int | float
    high: int | float
    step: int | float = 1

    counts = True

    def __post_init__(self) -> None:
        for given in (self.low, self.high, self.step):
            number(given)
        if self.low >= self.high:
            raise InputError(
                f"the scale runs from {said(self.low)} to {said(self.high)}",
                remedy="Give the lowest value first, then a higher one, as in [1, 5].",
            )
        if self.step <= 0:
            raise InputError(f"the step is {said(self.step)}; a number above 0 is wanted")
        steps = (_exact(self.high) - _exact(self.low)) / _exact(self.step)
        if steps != int(steps):
            raise InputError(
                f"steps of {said(self.step)} do not lead from {said(self.low)} to "
                f"{said(self.high)}",
                remedy="Give a step that does, such as step: 0.5, or whole numbers.",
            )
        if steps > _MOST_STEPS:
            raise InputError(f"the scale has more than {_MOST_STEPS:,} steps")
        if steps >= LISTED and _exact(self.low) % _exact(self.step):
            raise InputError(
                f"a scale of more than {LISTED} values begins at a multiple of its step",
                remedy=f"{said(self.low)} is no multiple of {said(self.step)}.",
            )

    @cached_property
    def whole(self) -> bool:
        """Whether all its values are whole numbers."""
        return all(_exact(each) == int(each) for each in (self.low, self.step))

    @cached_property
    def size(self) -> int:
        """How many values there are."""
        return int((_exact(self.high) - _exact(self.low)) / _exact(self.step)) + 1

    def value(self, given: Any) -> int | float:
        """A value of this scale, or InputError."""
        place = (_exact(number(given)) - _exact(self.low)) / _exact(self.step)
        if not 0 <= place < self.size or place != int(place):
            raise InputError(f"{said(given)} is not on the scale", remedy=f"It has {self.words}.")
        return self._at(int(place))

    def named(self, text: Any) -> int | float:
        """The same from a key, which is text where it comes from a file."""
        if not isinstance(text, str):
            return self.value(text)
        try:
            return self.value(int(text) if text.strip().lstrip("+-").isdigit() else float(text))
        except ValueError:
            raise InputError(f"{text!r} is no number", remedy=f"It has {self.words}.") from None

    def part(self, value: Any) -> float | None:
        """Where a value stands, from 0 (lowest) to 1 (highest)."""
        return min(1.0, max(0.0, (float(value) - self.low) / (self.high - self.low)))

    def place(self, value: Any) -> float:
        """A number by which values are sorted."""
        return float(value)

    @property
    def words(self) -> str:
        """What may be given, for people and for the grader."""
        between = f"from {said(self.low)} (lowest) to {said(self.high)} (highest)"
        if self.step == 1 and self.whole:
            return f"whole numbers {between}"
        return f"numbers {between} in steps of {said(self.step)}"

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value; exact, so that what fits it is on the scale."""
        kind = "integer" if self.whole else "number"
        if self.size <= LISTED:
            return {"type": kind, "enum": [_short(self._at(at)) for at in range(self.size)]}
        steps = {} if self.step == 1 else {"multipleOf": _short(self.step)}
        return {"type": kind, "minimum": _short(self.low), "maximum": _short(self.high), **steps}

    def _at(self, place: int) -> int | float:
        found = _exact(self.low) + place * _exact(self.step)
        return int(found) if self.whole else float(found)


@dataclass(frozen=True)
class LabelScale:
    """One of several words. With `points` (None: this one does not count) they make a total."""

    labels: tuple[str, ...]
    points: tuple[int | float | None, ...] | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.labels) <= LISTED:
            raise InputError(f"there are {len(self.labels)} labels; 2 to {LISTED} are wanted")
        for label in self.labels:
            check_name(label, "a label")
        if double := _doubled([label.casefold() for label in self.labels]):
            raise InputError(f"the label {double!r} is given twice")
        if self.points is None:
            return
        for each in self.points:
            if each is not None:
                number(each)
        if len(self.points) != len(self.labels):
            raise InputError("there are not as many values as labels")
        if len(set(self.points) - {None}) < 2:
            raise InputError(
                "the labels have no two different values",
                remedy="Give values such as {poor: 0, good: 1}, or only the labels: [poor, good].",
            )

    @property
    def counts(self) -> bool:
        """Whether the labels have values."""
        return self.points is not None

    def value(self, given: Any) -> str:
        """A label of this scale, or InputError."""
        if given in self.labels:
            return str(given)
        close = get_close_matches(str(given), self.labels, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(
            f"{said(given)} is none of the labels", remedy=f"{hint}There are {self.words}."
        )

    named = value

    def part(self, value: Any) -> float | None:
        """Where a label's points stand, from 0 (fewest) to 1 (most); None where it has none."""
        if self.points is None or (points := self.points[self.labels.index(value)]) is None:
            return None
        known = [each for each in self.points if each is not None]
        return (points - min(known)) / (max(known) - min(known))

    def place(self, value: Any) -> float:
        """A number by which values are sorted."""
        return float(self.labels.index(value))

    @property
    def words(self) -> str:
        """What may be given, for people and for the grader."""
        return ", ".join(self.labels)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value."""
        return {"type": "string", "enum": list(self.labels)}


Scale = NumberScale | LabelScale


def number(given: Any) -> int | float:
    """A number that is one and can be stored, or InputError."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise InputError(f"{said(given)} is no number")
    if not -_LARGEST <= given <= _LARGEST:  # nor is it true of what is no number (nan)
        raise InputError(f"a number from -{_LARGEST:,} to {_LARGEST:,} is wanted")
    return given


def check_name(name: Any, what: str = "a name") -> str:
    """A text that can stand in a table's head and in a cell: short, printable, on one line."""
    if not isinstance(name, str):
        remedy = f'For the text write "{name}".' if isinstance(name, int | float) else ""
        raise InputError(f"{said(name)}; {what} is a text", remedy=remedy)
    if not name or name != name.strip():
        raise InputError(f"{name!r} is empty or has spaces around it; {what} has none")
    if not name.isprintable():
        raise InputError(f"{name!r} has characters that cannot be seen; {what} has none")
    if len(name) > LONGEST_NAME:
        raise InputError(f"{name[:40]!r}... has {len(name)} letters; {what} has {LONGEST_NAME}")
    return name


def said(value: Any) -> str:
    """A value as messages and prompts show it."""
    shown = str(_short(value)) if isinstance(value, int | float) else repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"


def _short(given: int | float) -> int | float:
    """1 for 1.0, as people and models write it."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _exact(given: int | float) -> Decimal:
    return Decimal(str(given))


def _doubled(names: Sequence[str]) -> str | None:
    return next((name for at, name in enumerate(names) if name in names[:at]), None)
