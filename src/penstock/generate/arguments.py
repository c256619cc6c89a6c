"""What a function in a schema wants: columns by the names of its parameters, or the whole row.

    lambda question: len(question)      the column `question`
    lambda row: len(row["question"])    the row: every column written before this one
    def f(topic, rng, sep=", "): ...    a column, this cell's own randomness, and a default

Signatures are looked at once, before anything is sent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from penstock.errors import InputError

__all__ = ["Needs", "Wanted", "no_column", "wanted"]

_ROW = ("row", "r", "ctx", "context", "record", "_")
RNG = "rng"


class Needs(NamedTuple):
    """Which columns a cell is made of."""

    names: tuple[str, ...] = ()
    loose: bool = False
    """Also whatever was written before it, as far as it reads it."""

    def __or__(self, other: Any) -> Needs:
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        return Needs(names, self.loose or other.loose)


class Wanted(NamedTuple):
    """How a function is called."""

    positional: tuple[str, ...]
    """What each argument is: a column, `row` as "", or RNG; a leading value is not in it."""
    needs: Needs
    takes_value: bool = False
    keywords: tuple[tuple[str, str], ...] = ()
    """What goes by the name of its parameter, and what it is."""

    def arguments(self, row: Any, rng: Callable[[], Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments for a row."""

        def one(name: str) -> Any:
            if not name:
                return row
            return rng() if name == RNG and name not in row else row[name]

        named = {parameter: one(name) for parameter, name in self.keywords}
        return [one(name) for name in self.positional], named


def wanted(
    function: Callable[..., Any],
    columns: Sequence[str],
    what: str,
    *,
    value: bool = False,
    requires: Sequence[str] | None = None,
) -> Wanted:
    """What a function wants, where these columns are. `value`: its first argument is the cell."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = [inspect.Parameter("value" if value else "row", POSITIONAL)]
    takes_value = value and bool(parameters) and parameters[0].kind in _PLACED
    if takes_value:
        parameters = parameters[1:]
    places: list[str] = []
    keywords: list[tuple[str, str]] = []
    gap = False
    for parameter in parameters:
        found = _meaning(parameter, columns, what)
        if found is None:
            gap |= parameter.kind in _PLACED  # what follows can only be given by its name
        elif parameter.kind is parameter.KEYWORD_ONLY or gap:
            if parameter.kind is not POSITIONAL:
                keywords.append((parameter.name, found))
        else:
            places.append(found)
    meant = (*places, *(each for _, each in keywords))
    named = tuple(name for name in meant if name and name in columns)
    needs = Needs(named, "" in meant) if requires is None else Needs(named) | Needs(tuple(requires))
    return Wanted(tuple(places), needs, takes_value, tuple(keywords))


POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_PLACED = (POSITIONAL, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _meaning(parameter: inspect.Parameter, columns: Sequence[str], what: str) -> str | None:
    """A column, "" for the row, RNG; None for what is left to its default."""
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    if name in columns:
        return name
    if parameter.default is not parameter.empty:
        return None
    if name == RNG:
        return RNG
    if name in _ROW:
        return ""
    raise no_column(what, f"the parameter {name!r}", name, columns)


def no_column(what: str, thing: str, name: str, columns: Sequence[str]) -> InputError:
    """A name that is no column, with the one that was probably meant."""
    close = get_close_matches(name, columns, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    there = ", ".join(columns) or "none"
    return InputError(f"{what}: {thing} is no column", remedy=f"{hint}The columns are: {there}.")
