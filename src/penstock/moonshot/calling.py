"""How the functions of this room are called: a name that means nothing is an error with a hint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from penstock.errors import InputError

__all__ = ["api", "changed", "check_names"]

P = ParamSpec("P")
R = TypeVar("R")


def api(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with unknown keywords refused in words; those of `**` it looks at itself."""
    parameters = signature(function).parameters.values()
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return function
    known = [each.name for each in parameters]

    @wraps(function)
    def called(*arguments: P.args, **named: P.kwargs) -> R:
        check_names(function.__name__, named, known)
        return function(*arguments, **named)

    return called


def check_names(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse a name that a function does not have."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"{function} has no argument {name!r}",
                remedy=f"{hint}There are: {', '.join(known)}.",
            )


def changed(**given: Any) -> dict[str, Any]:
    """Those that were given; None stands for what stays as it is."""
    return {name: value for name, value in given.items() if value is not None}
