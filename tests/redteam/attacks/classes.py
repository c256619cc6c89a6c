"""The built-in rewritings, found by looking, so that none can be forgotten in a test."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from penstock import plugins
from penstock.redteam import attacks
from penstock.redteam.attack import Attack, Rewrite


class Known(NamedTuple):
    """Parameters, a prompt, and all its variants with seed 1."""

    parameters: dict[str, Any]
    prompt: str
    variants: list[str]


@cache
def every() -> dict[str, type[Attack]]:
    """Every attack that has a name, by it."""
    found: dict[str, type[Attack]] = {}
    for module in pkgutil.iter_modules(attacks.__path__):
        where = importlib.import_module(f"{attacks.__name__}.{module.name}")
        for thing in vars(where).values():
            here = isinstance(thing, type) and thing.__module__ == where.__name__
            if here and issubclass(thing, Attack) and thing.name:
                assert thing.name not in found, f"two attacks are named {thing.name}"
                found[thing.name] = thing
    return dict(sorted(found.items()))


@cache
def pure() -> dict[str, type[Rewrite]]:
    """The rewritings that need no model."""
    return {
        name: attack
        for name, attack in every().items()
        if issubclass(attack, Rewrite) and not attack.needs
    }


def made(name: str, **parameters: Any) -> Rewrite:
    """The rewriting of that name."""
    return pure()[name].made(parameters, name)


@contextmanager
def registered() -> Iterator[None]:
    """All of them registered, as if by entry points."""
    for name, attack in every().items():
        plugins.register("attack", name, attack)
    try:
        yield
    finally:
        for name in every():
            plugins.unregister("attack", name)
