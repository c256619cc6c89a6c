"""Conditions and checks: functions of the user's, or rules that are data.

when="is_hard"                        where that column is true
when={"level": ["medium", "hard"]}    where it has one of these values
when=lambda level: level != "easy"    where the function says so
check={"min_length": 20, "matches": r"\\?$", "not_contains": ["As an AI"]}
check=lambda text: text.endswith("?") or "it is no question"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from penstock.errors import InputError
from penstock.generate.arguments import Needs, no_column, wanted
from penstock.patterns import check_pattern, is_found
from penstock.tables.plain import plain, text_of

__all__ = ["Check", "Condition"]

_LONGEST = 100_000  # characters that a pattern is tried on


@dataclass(frozen=True)
class Condition:
    """Which rows have a cell."""

    function: Callable[..., Any] | None = None
    values: Mapping[str, tuple[Any, ...]] | None = None
    column: str | None = None

    @classmethod
    def of(cls, given: Any) -> Condition | None:
        if given is None or isinstance(given, Condition):
            return given
        if isinstance(given, str):
            return cls(column=given)
        if isinstance(given, Mapping):
            return cls(values={str(k): _several(v) for k, v in given.items()})
        if callable(given):
            return cls(function=given)
        raise InputError(
            f"when is a {type(given).__name__}",
            remedy="Give a function, the name of a column, or {column: value}.",
        )

    def needs(self, name: str, columns: Sequence[str]) -> Needs:
        if self.function is not None:
            others = [column for column in columns if column != name]
            return wanted(self.function, others, f"column {name!r}, when").needs
        named = (self.column,) if self.column is not None else tuple(self.values or {})
        for each in named:
            if each not in columns:
                raise no_column(f"column {name!r}, when", repr(each), each, columns)
        return Needs(tuple(named))

    def holds(self, row: Mapping[str, Any]) -> bool:
        """For conditions that are data."""
        if self.column is not None:
            return bool(row[self.column])
        return all(row[name] in values for name, values in (self.values or {}).items())


@dataclass(frozen=True)
class Check:
    """What a value must be."""

    function: Callable[..., Any] | None = None
    rules: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, given: Any) -> Check | None:
        if given is None or isinstance(given, Check):
            return given
        if isinstance(given, Mapping):
            return cls(rules=tuple(_rule(str(name), value) for name, value in given.items()))
        if callable(given):
            return cls(function=given)
        raise InputError(
            f"check is a {type(given).__name__}",
            remedy=f"Give a function, or rules: {', '.join(_RULES)}.",
        )

    def needs(self, name: str, columns: Sequence[str]) -> Needs:
        if self.function is None:
            return Needs()
        others = [column for column in columns if column != name]
        return wanted(self.function, others, f"column {name!r}, check", value=True).needs

    def problem(self, value: Any) -> str | None:
        """For checks that are data: why a value is refused."""
        for name, wish in self.rules:
            problem = _RULES[name](value, wish)
            if problem is not None:
                return problem
        return None

    @staticmethod
    def verdict(said: Any) -> str | None:
        """What a function said of a value: why it is refused, or None."""
        if isinstance(said, str):
            return said or "the check refused it"
        return None if said is None or bool(said) else "the check refused it"


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)


def _text(value: Any) -> str:
    """A value as a table writes it; whatever it is, it has a text."""
    return value if isinstance(value, str) else text_of(plain(value)) or ""


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else len(_text(value))


def _min_length(value: Any, wish: int) -> str | None:
    found = _length(value)
    return None if found >= wish else f"its length is {found}, below {wish}"


def _max_length(value: Any, wish: int) -> str | None:
    found = _length(value)
    return None if found <= wish else f"its length is {found}, above {wish}"


def _matches(value: Any, wish: str) -> str | None:
    text = _text(value)[:_LONGEST]
    # A line break at the very end is no part of what was said, and $ is meant before it.
    found = is_found(wish, text) or (text.endswith("\n") and is_found(wish, text[:-1]))
    return None if found else f"it does not match {wish}"


def _contains(value: Any, wish: tuple[str, ...]) -> str | None:
    missing = [each for each in wish if each not in _text(value)]
    return f"it does not contain {missing[0]!r}" if missing else None


def _not_contains(value: Any, wish: tuple[str, ...]) -> str | None:
    found = [each for each in wish if each in _text(value)]
    return f"it contains {found[0]!r}" if found else None


def _one_of(value: Any, wish: tuple[Any, ...]) -> str | None:
    return None if value in wish else f"it is none of {', '.join(map(str, wish))}"


def _least(value: Any, wish: float) -> str | None:
    return None if _number(value) and value >= wish else f"it is not {wish} or more"


def _most(value: Any, wish: float) -> str | None:
    return None if _number(value) and value <= wish else f"it is not {wish} or less"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_RULES: dict[str, Callable[[Any, Any], str | None]] = {
    "min_length": _min_length,
    "max_length": _max_length,
    "matches": _matches,
    "contains": _contains,
    "not_contains": _not_contains,
    "one_of": _one_of,
    "least": _least,
    "most": _most,
}


def _rule(name: str, wish: Any) -> tuple[str, Any]:
    if name not in _RULES:
        close = get_close_matches(name, _RULES, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(
            f"check has no rule {name!r}", remedy=f"{hint}Allowed are {', '.join(_RULES)}."
        )
    if name in ("min_length", "max_length") and (type(wish) is not int or wish < 0):
        raise InputError(f"check: {name} is {wish!r}; a whole number of 0 or more is wanted")
    if name in ("least", "most") and not _number(wish):
        raise InputError(f"check: {name} is {wish!r}; a number is wanted")
    if name == "matches":
        try:
            return name, check_pattern(wish)
        except InputError as error:
            raise InputError(f"check: matches: {error.message}", remedy=error.remedy) from None
    if name in ("contains", "not_contains"):
        texts = _several(wish)
        if not all(isinstance(each, str) for each in texts):
            raise InputError(f"check: {name} is {wish!r}; a text or several are wanted")
        return name, texts
    if name == "one_of":
        return name, _several(wish)
    return name, wish
