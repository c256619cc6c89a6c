"""How a dataset is made, beside what is in it; given to `dataset` and overridden by `generate`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Literal, TypedDict

from penstock.engine.engine import Cache
from penstock.engine.wishes import dollars, lane_of, one_of, whole
from penstock.errors import InputError
from penstock.generate.plan import Failing

__all__ = ["Options", "checked_options"]


class Options(TypedDict, total=False):
    """Every option; what is not given has its usual value."""

    seed: int | str
    """The same seed gives the same table."""
    until: int
    """Go on until so many rows are accepted."""
    most: int
    """For `until`: the most rows that are made; ten times as many where it is not given."""
    check: Callable[..., Any]
    """What a row must be: a function of the row or of columns."""
    dedupe: Any
    """Remove rows that are like an earlier one: True, a likeness such as 0.8, or the columns."""
    concurrency: int
    """Questions in flight at each endpoint, at most."""
    max_concurrent_rows: int
    max_concurrent_columns: int
    budget: float | str | Decimal
    """The most dollars that the run may cost."""
    cache: Cache
    batch: bool | Literal["auto"]
    """Through the providers' batch APIs: half the price, within a day."""
    batch_size: int
    wait: bool
    """False: come back when the batches are submitted."""
    failures: Failing
    """`raise`: failed rows are an error in the end."""
    name: str
    view: bool
    """Open a page that fills while rows arrive."""


def checked_options(given: Options) -> Options:
    """The options, or what is wrong with them; said before anything is sent."""
    for name, value in given.items():
        if name not in Options.__annotations__:
            close = get_close_matches(name, Options.__annotations__, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"there is no option {name!r}",
                remedy=f"{hint}Allowed are {', '.join(Options.__annotations__)}.",
            )
        if name in _WHOLE:
            whole(name, value)
    seed = given.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int | str):
        raise InputError(f"seed is {seed!r}; a whole number or a text is wanted")
    for name, kind in (("name", str), ("wait", bool), ("view", bool)):
        if not isinstance(given.get(name, kind()), kind):
            said = "a text" if kind is str else "True or False"
            raise InputError(f"{name} is {given[name]!r}; {said} is wanted")  # type: ignore[literal-required]
    if not callable(given.get("check", len)):
        raise InputError("check is for whole rows: a function is wanted")
    one_of("cache", given.get("cache", "use"), Cache)
    one_of("failures", given.get("failures", "keep"), Failing)
    lane_of(given.get("batch", False), given.get("cache", "use"))
    dollars(given.get("budget"))
    return given


_WHOLE = frozenset(
    {"until", "most", "concurrency", "max_concurrent_rows", "max_concurrent_columns", "batch_size"}
)
