"""Answers that miss their schema, in the ways that weak models do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.simulator.check import valid
from penstock.simulator.dice import Dice
from penstock.simulator.schema import encode

__all__ = ["spoil"]


def spoil(schema: Any, right: Any, dice: Dice) -> str:
    """Text that does not fit, made from a value that does."""
    ways: list[Callable[[Any], Any]] = [_wrapped, _mistyped, _doubled]
    start = dice.below(len(ways))
    for way in ways[start:] + ways[:start]:
        wrong = way(right)
        if not valid(schema, wrong):
            return encode(wrong)
    return "Sure! Here is what you asked for: " + encode(right)[:-1]


def _wrapped(right: Any) -> Any:
    """Everything inside a list that no one asked for."""
    return [right]


def _mistyped(right: Any) -> Any:
    """The first value replaced by something of another type."""
    if isinstance(right, dict) and right:
        first = next(iter(right))
        return right | {first: [{"unexpected": True}]}
    return {"unexpected": right}


def _doubled(right: Any) -> Any:
    """The JSON once more inside a string."""
    return encode(right)
