"""What people ask for around a job, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar, get_args

from penstock.engine.engine import Cache
from penstock.engine.lanes import LaneWish
from penstock.errors import InputError

__all__ = ["chosen", "dollars", "lane_of", "one_of", "restored", "whole"]

T = TypeVar("T")


def lane_of(batch: bool | str, cache: Cache) -> LaneWish:
    """The lane that `batch=` asks for."""
    if batch not in (True, False, "auto"):
        raise InputError(f"batch is {batch!r}", remedy="Allowed are True, False and 'auto'.")
    if cache != "refresh" or not batch:
        return "auto" if batch == "auto" else "batch" if batch else "online"
    if batch == "auto":
        return "online"
    raise InputError(
        "cache='refresh' asks everything anew, which the batch lane cannot",
        remedy="Use cache='off', or leave out batch.",
    )


def one_of(name: str, value: Any, allowed: Any) -> None:
    """Refuse what is none of a Literal's values."""
    if value not in get_args(allowed):
        raise InputError(
            f"{name} is {value!r}", remedy=f"Allowed are {', '.join(map(repr, get_args(allowed)))}."
        )


def dollars(budget: float | str | Decimal | None) -> Decimal | None:
    """A budget."""
    if budget is None:
        return None
    try:
        dollars = Decimal(str(budget))
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or dollars < 0:
        raise InputError(f"budget is {budget!r}; an amount of dollars is wanted")
    return dollars


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number, of so much at least."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}; a whole number of {least} or more is wanted")
    return value


def chosen(wishes: Any, choices: Mapping[str, Sequence[str]]) -> None:
    """Refuse a field that is none of what is allowed there."""
    for name, allowed in choices.items():
        if getattr(wishes, name) not in allowed:
            raise InputError(
                f"{name} is {getattr(wishes, name)!r}", remedy=f"Allowed: {', '.join(allowed)}."
            )


def restored(kind: type[T], given: Mapping[str, Any], lists: Collection[str]) -> T:
    """Wishes from what was stored of them; `lists` are the fields that were tuples."""
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    if unknown := given.keys() - known:
        raise InputError(
            f"this run was made by another version: it has {', '.join(sorted(unknown))}",
            remedy="Run the command again: what has an answer is found.",
        )
    return kind(**{**given, **{name: tuple(given.get(name) or ()) for name in lists}})
