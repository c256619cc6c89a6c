"""What providers say about their limits, read from headers into one form."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

import msgspec

__all__ = [
    "Quota",
    "RateLimits",
    "anthropic_limits",
    "duration",
    "openai_limits",
    "retry_after",
    "should_retry",
]


class Quota(msgspec.Struct, frozen=True, gc=False):
    """One limit: how many a window, how many are left, seconds until it is whole again."""

    limit: int | None = None
    remaining: int | None = None
    reset: float | None = None


class RateLimits(msgspec.Struct, frozen=True, gc=False):
    """Everything one response said."""

    requests: Quota | None = None
    tokens: Quota | None = None
    input_tokens: Quota | None = None
    output_tokens: Quota | None = None


_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def duration(text: str) -> float | None:
    """Seconds from a Go duration (`6m0s`, `12ms`) or a plain number of seconds."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return _finite(max(0.0, float(text)))
    if not re.fullmatch(f"(?:{_DURATION.pattern})+", text):
        return None
    return _finite(sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text)))


def _finite(seconds: float) -> float | None:
    """Nobody waits for ever."""
    return seconds if math.isfinite(seconds) else None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, in all the forms that servers write: milliseconds, seconds, a date."""
    text = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(text) and 0 <= float(text) < math.inf:
        return float(text) / 1000
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = duration(text) if not text.startswith("-") else None
    if seconds is not None:
        return seconds
    try:
        then = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, then - (time.time() if now is None else now))


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """The server's own word, where it gives one."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())


def openai_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """The limits of OpenAI and of all who copied its headers."""
    if "x-ratelimit-limit-requests" not in headers and "x-ratelimit-limit-tokens" not in headers:
        return None
    return RateLimits(_openai_quota(headers, "requests"), _openai_quota(headers, "tokens"))


def _openai_quota(headers: Mapping[str, str], what: str) -> Quota | None:
    limit = _whole(headers.get(f"x-ratelimit-limit-{what}"))
    if limit is None:
        return None
    reset = headers.get(f"x-ratelimit-reset-{what}")
    return Quota(
        limit,
        _whole(headers.get(f"x-ratelimit-remaining-{what}")),
        None if reset is None else duration(reset),
    )


def _whole(text: str | None) -> int | None:
    """A count; some servers write -1 or nothing where they do not know."""
    return int(text) if text and len(text) < 16 and text.isascii() and text.isdigit() else None


def anthropic_limits(headers: Mapping[str, str], now: float | None = None) -> RateLimits | None:
    """The limits of Anthropic, which counts input and output apart and resets at a date."""
    if not any(name.startswith("anthropic-ratelimit-") for name in headers):
        return None
    now = _server_time(headers) if now is None else now
    kinds = ("requests", "tokens", "input-tokens", "output-tokens")
    return RateLimits(*(_anthropic_quota(headers, kind, now) for kind in kinds))


def _anthropic_quota(headers: Mapping[str, str], what: str, now: float) -> Quota | None:
    limit = _whole(headers.get(f"anthropic-ratelimit-{what}-limit"))
    if limit is None:
        return None
    then = _moment(headers.get(f"anthropic-ratelimit-{what}-reset", ""))
    return Quota(
        limit,
        _whole(headers.get(f"anthropic-ratelimit-{what}-remaining")),
        None if then is None else max(0.0, then - now),
    )


# Answers of the same second carry the same dates.
@lru_cache(maxsize=64)
def _moment(text: str) -> float | None:
    """A date of RFC 3339 in seconds."""
    try:
        then = datetime.fromisoformat(text.strip())
        return then.replace(tzinfo=then.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def _server_time(headers: Mapping[str, str]) -> float:
    """What the server's clock says; ours may be wrong."""
    said = _http_moment(headers.get("date", ""))
    return time.time() if said is None else said


@lru_cache(maxsize=8)
def _http_moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
