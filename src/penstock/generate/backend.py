"""The names that other tools gave to endpoints, limits and time-outs, understood here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from penstock.endpoint import Endpoint, Limits
from penstock.errors import InputError

__all__ = ["Backend", "checked", "understood"]

_LIMITS = {
    "max_concurrent_requests": "concurrency",
    "max_requests_per_minute": "requests_per_minute",
    "max_tokens_per_minute": "tokens_per_minute",
    "max_input_tokens_per_minute": "input_tokens_per_minute",
    "max_output_tokens_per_minute": "output_tokens_per_minute",
}
_OTHERS = (
    "base_url",
    "api_key",
    "max_retries",
    "request_timeout",
    "require_all_responses",
    "batch_check_interval",
)


class Backend(NamedTuple):
    """What the parameters of a backend say beside the endpoint."""

    endpoint: Endpoint
    max_retries: int | None = None
    require_all: bool = False
    batch_interval: float | None = None
    """The most seconds between two looks at a batch; None: as the settings say."""


def checked(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of a backend, or what is wrong with them."""
    given = dict(given or {})
    allowed = (*_OTHERS, *_LIMITS)
    for name in given:
        if name not in allowed:
            close = get_close_matches(str(name), allowed, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"backend_params has no {name!r}",
                remedy=f"{hint}Allowed are {', '.join(allowed)}.",
            )
    retries = given.get("max_retries")
    if retries is not None and (type(retries) is not int or retries < 0):
        raise InputError(f"max_retries is {retries!r}; a whole number of 0 or more is wanted")
    interval = given.get("batch_check_interval", 60)
    if isinstance(interval, bool) or not isinstance(interval, int | float) or interval <= 0:
        raise InputError(f"batch_check_interval is {interval!r}; seconds are wanted")
    return given


def understood(endpoint: Endpoint, given: Mapping[str, Any]) -> Backend:
    """The endpoint with what `backend_params` say of it."""
    limits = {ours: given[theirs] for theirs, ours in _LIMITS.items() if theirs in given}
    changes: dict[str, Any] = {}
    if limits:
        known = {name: getattr(endpoint.limits, name) for name in Limits.__slots__}
        changes["limits"] = Limits(**{**known, **limits})
    for theirs, ours in (("base_url", "url"), ("api_key", "key"), ("request_timeout", "timeout")):
        if given.get(theirs) is not None:
            changes[ours] = given[theirs]
    return Backend(
        replace(endpoint, **changes) if changes else endpoint,
        given.get("max_retries"),
        bool(given.get("require_all_responses", False)),
        given.get("batch_check_interval"),
    )
