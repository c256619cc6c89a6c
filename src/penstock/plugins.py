"""What can be added from outside: providers, metrics, attacks, strategies, readers.

A package adds by entry point (`penstock.providers`, ...), a notebook by `penstock.register`. The
built-in ones use the same door. Nothing is loaded until its name is asked for, and a file in a
data folder is never executed.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from penstock.errors import InputError, NotFoundError

__all__ = ["KINDS", "find", "names", "register", "unregister"]

KINDS = ("provider", "metric", "attack", "strategy", "reader")

T = TypeVar("T")

_registered: dict[tuple[str, str], Any] = {}
_loaded: dict[tuple[str, str], Any] = {}


def register(kind: str, name: str, thing: T | None = None) -> T | Callable[[T], T]:
    """Add a plugin in this process: `register("provider", "mine", MyProvider)`.

    Without the third argument it is a decorator. A name that is taken is replaced: a notebook
    runs its cells again.
    """
    _check_kind(kind)
    if thing is None:

        def decorate(thing: T) -> T:
            _registered[kind, name] = thing
            return thing

        return decorate
    _registered[kind, name] = thing
    return thing


def unregister(kind: str, name: str) -> None:
    """Take back what `register` added."""
    _check_kind(kind)
    _registered.pop((kind, name), None)


def names(kind: str) -> frozenset[str]:
    """Every name of a kind, loaded or not."""
    _check_kind(kind)
    return frozenset(_entries(kind)) | {name for k, name in _registered if k == kind}


def find(kind: str, name: str) -> Any:
    """The plugin of that name, loaded now."""
    _check_kind(kind)
    if (kind, name) in _registered:
        return _registered[kind, name]
    if (kind, name) in _loaded:
        return _loaded[kind, name]
    entry = _entries(kind).get(name)
    if entry is None:
        known = sorted(names(kind))
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise NotFoundError(
            f"there is no {kind} named {name!r}",
            remedy=f"{hint}Known: {', '.join(known)}. Add one with penstock.register.",
        )
    try:
        thing = entry.load()
    except Exception as error:
        raise InputError(
            f"the {kind} {name!r} cannot be loaded from {entry.value}: {error}",
            remedy="Is the package that brings it installed whole?",
        ) from error
    _loaded[kind, name] = thing
    return thing


@cache
def _entries(kind: str) -> dict[str, EntryPoint]:
    group = f"penstock.{kind}s" if kind != "strategy" else "penstock.strategies"
    return {entry.name: entry for entry in entry_points(group=group)}


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of plugin; known are {', '.join(KINDS)}")
