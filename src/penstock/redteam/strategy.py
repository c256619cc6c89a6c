"""Strategies by their names, as people write them: `none`, `previous_turns(count=3)`."""

from __future__ import annotations

from difflib import get_close_matches

from penstock import plugins
from penstock.errors import InputError, NotFoundError
from penstock.redteam.notation import parsed
from penstock.redteam.strategies import NoContext, Strategy

__all__ = ["parse_strategy", "strategy_names"]


def strategy_names() -> list[str]:
    """Every name that `parse_strategy` knows, without Moonshot's ids."""
    return sorted(plugins.names("strategy"))


def parse_strategy(text: str) -> Strategy:
    """The strategy that is meant, with its parameters."""
    if text.strip() in ("", "none"):
        return NoContext()
    [called, *more] = parsed(text)
    if more:
        raise InputError(f"{text!r} names several strategies", remedy="Give one of them.")
    kind = plugins.find("strategy", _known(called.name))
    if not (isinstance(kind, type) and issubclass(kind, Strategy)):
        raise InputError(f"the strategy {called.name!r} is no Strategy")
    return kind.made(called.parameters, f"strategy {called.name!r}")


def _known(name: str) -> str:
    names = strategy_names()
    if name in names:
        return name
    for each in names:
        if getattr(plugins.find("strategy", each), "moonshot", "") == name:
            return each
    close = get_close_matches(name, names, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise NotFoundError(
        f"there is no strategy {name!r}", remedy=f"{hint}There are: {', '.join(names)}."
    )
