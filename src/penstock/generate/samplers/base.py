"""What every sampler is: a value for a cell, by chance but never by accident."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.draw import Draw

__all__ = ["Sampler", "check_groups", "listed", "number", "own", "said", "suggestion", "whole"]

_short = Repr()
_short.maxstring = _short.maxother = 60
_short.maxlist = _short.maxtuple = _short.maxdict = 6


class Sampler(ABC):
    """One column's values. Immutable: all that changes from cell to cell is passed in.

    Call it to look at a value: `sample.choice(["a", "b"])()`. In a schema its values come from
    the seed.
    """

    __slots__ = ()

    @property
    def requires(self) -> tuple[str, ...]:
        """The columns whose values it needs in the row."""
        return ()

    @property
    def group(self) -> str | None:
        """What to seed by in the place of the column's name: one group, one draw."""
        return None

    @property
    def origin(self) -> object:
        """What a group draws from; samplers of one group must have one origin."""
        return None

    @abstractmethod
    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        """The value of a cell; an InputError where this row can have none."""

    def needs(self, n: int) -> None:
        """Raise InputError where `n` rows cannot be had; said before anything is sent."""
        return

    @property
    def end(self) -> int | None:
        """How many rows there can be; None where there is no end to them."""
        return None

    def __call__(self, row: Mapping[str, Any] | None = None) -> Any:
        """A value by chance, to look at; it differs from call to call."""
        return self.value(Draw(), 0, row or {})

    @abstractmethod
    def said(self) -> str:
        """The call that makes it, without `sample.`."""

    def __repr__(self) -> str:
        return f"sample.{self.said()}"


def check_groups(samplers: Iterable[Sampler]) -> None:
    """Raise InputError where two origins would be drawn from as if they were one."""
    seen: dict[str, object] = {}
    for sampler in samplers:
        if sampler.group is None:
            continue
        origin = sampler.origin
        first = seen.setdefault(sampler.group, origin)
        # Only texts are compared: what == means to a DataFrame is its own affair.
        if first is not origin and not (isinstance(origin, str) and first == origin):
            raise InputError(
                f"two sources look alike and would be drawn as one: {sampler.group}",
                remedy="Keep them apart: from_dataset(data, name=...), person(group=...).",
            )


def said(name: str, /, *given: Any, **options: Any) -> str:
    """A call as text: what is long is cut, options at their default are left out."""
    parts = [_short.repr(value) for value in given]
    parts += [f"{key}={_short.repr(value)}" for key, value in options.items() if value is not None]
    return f"{name}({', '.join(parts)})"


def number(value: Any, what: str) -> int | float:
    """A finite number, of Python or of numpy."""
    if hasattr(value, "item") and not isinstance(value, (int, float)):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{what} is {value!r}; it must be a number")
    if not isinstance(value, int) and not math.isfinite(value):
        raise InputError(f"{what} is {value!r}; it must be a finite number")
    return int(value) if isinstance(value, int) else float(value)


def whole(value: Any, what: str) -> int:
    """A whole number."""
    found = number(value, what)
    if not isinstance(found, int):
        raise InputError(f"{what} is {value!r}; it must be a whole number")
    return found


def listed(items: Any, what: str) -> tuple[Any, ...]:
    """What was given as a list, at least one; refused where its order is not fixed."""
    if isinstance(items, (str, bytes)):
        raise InputError(
            f"{what} is the text {items!r}; give a list", remedy=f"Such as [{items!r}]."
        )
    if isinstance(items, (set, frozenset)):
        raise InputError(
            f"{what} is a set, which has no order: a seed could not repeat its values",
            remedy="Give sorted(the_set) or a list.",
        )
    if isinstance(items, Mapping) or not isinstance(items, Iterable):
        raise InputError(f"{what} is a {type(items).__name__}; give a list")
    found = tuple(items.tolist() if hasattr(items, "tolist") else items)
    if not found:
        raise InputError(f"{what} is empty; give at least one item")
    return found


def own(value: Any) -> Any:
    """The value, copied if a row could change it for the others."""
    return deepcopy(value) if isinstance(value, (dict, list)) else value


def suggestion(name: Any, there: Collection[Any]) -> str:
    """`Did you mean ...? There are: ...`"""
    names = [str(each) for each in there]
    close = get_close_matches(str(name), names, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    some = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"{hint}There are: {some or 'none'}."
