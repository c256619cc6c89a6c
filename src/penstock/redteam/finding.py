"""Attacks by their names: the built-in ones, a package's and one's own through the same door."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from penstock import plugins
from penstock.errors import InputError, NotFoundError
from penstock.redteam.attack import Attack

__all__ = ["attack_names", "find_attack"]


def attack_names() -> list[str]:
    """Every name that `find_attack` knows, without Moonshot's ids."""
    return sorted(plugins.names("attack"))


def find_attack(name: str, **parameters: Any) -> Attack:
    """The attack of that name, or of that id in Moonshot, made with its parameters."""
    thing = plugins.find("attack", _known(name))
    if isinstance(thing, type) and issubclass(thing, Attack):
        return thing.made(parameters, f"attack {name!r}")
    if isinstance(thing, Attack):
        if parameters:
            raise InputError(
                f"the attack {name!r} was registered ready made and takes no parameters",
                remedy="Register its class instead, to give them here.",
            )
        return thing
    kind = f"class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
    raise InputError(
        f"the attack {name!r} is a {kind}, which is no Attack",
        remedy="Derive it from penstock.redteam.attack.Rewrite.",
    )


def _known(name: str) -> str:
    """The name under which an attack is registered."""
    names = attack_names()
    if name in names:
        return name
    moonshots = {_moonshot(each): each for each in names}
    if name and name in moonshots:
        return moonshots[name]
    close = get_close_matches(name, names, n=3)
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise NotFoundError(
        f"there is no attack named {name!r}",
        remedy=f"{hint}There are {len(names)}: `penstock redteam attacks` lists them.",
    )


def _moonshot(name: str) -> str:
    """The id in Moonshot of an attack; none of one that cannot be loaded, which is told on use."""
    try:
        return str(getattr(plugins.find("attack", name), "moonshot", ""))
    except InputError:
        return ""
