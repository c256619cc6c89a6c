"""Reading what Gemini says when it refuses.

The details of an error are believed before its status: a wrong key is a 400 like any mistake in a
question, and a 429 means a minute's wait or the end of the day by the name of the quota. A stream
that fails before it begins is refused with a list of one error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from penstock.outcome import FailureKind
from penstock.providers.provider import Refusal
from penstock.providers.ratelimits import Quota, RateLimits, duration, retry_after, should_retry
from penstock.providers.transport import Reply
from penstock.secret import mask

__all__ = ["read_limits", "read_refusal"]

_LONGEST = 64 * 1024
_BY_REASON = {
    "API_KEY_INVALID": FailureKind.AUTHENTICATION,
    "API_KEY_EXPIRED": FailureKind.AUTHENTICATION,
    "ACCESS_TOKEN_EXPIRED": FailureKind.AUTHENTICATION,
    "BILLING_DISABLED": FailureKind.QUOTA,
}
_BY_STATUS = {
    401: FailureKind.AUTHENTICATION,
    402: FailureKind.QUOTA,
    403: FailureKind.PERMISSION,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    413: FailureKind.TOO_LARGE,
    429: FailureKind.RATE_LIMITED,
    499: FailureKind.SERVER,
    503: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}
# What only the words tell of a 400, and of a 429 that no waiting helps.
_BY_WORDS = (
    (re.compile(r"(?i)api key (not valid|expired|not found)"), FailureKind.AUTHENTICATION),
    (re.compile(r"(?i)(token count|payload size).* exceeds"), FailureKind.TOO_LARGE),
    (
        re.compile(r"(?i)location is not supported|free tier is not available"),
        FailureKind.PERMISSION,
    ),
)
_SPENT = re.compile(r"(?i)credits? .*depleted|spend(ing)? (cap|limit)")
# A file that is not there is one question's fault; a model that is not there is everyone's.
_NO_FILE = re.compile(r"(?i)\bfiles?\b|cached ?content")


def read_refusal(reply: Reply) -> Refusal:
    """What an error reply means."""
    error = _error(reply.body)
    said = _text(error.get("message")).strip()
    message = said or f"HTTP {reply.status}: {_shown(reply.body)}"
    if 300 <= reply.status < 400:
        message = (
            f"the server redirects to {reply.headers.get('location', 'elsewhere')!r}; "
            "redirects are not followed, give that address instead"
        )
    details = _details(error)
    wait = _retry_delay(details)
    return Refusal(
        _kind(_status(reply.status, error), details, said),
        message,
        retry_after(reply.headers) if wait is None else wait,
        should_retry(reply.headers),
    )


def read_limits(reply: Reply) -> RateLimits | None:
    """The limits by the minute that a refusal names; nothing else in Gemini's replies does."""
    details = _details(_error(reply.body))
    found: dict[str, Quota] = {}
    for violation in _violations(details):
        name, value = _word(violation.get("quotaId")), _word(violation.get("quotaValue"))
        if "PerMinute" in name and value.isascii() and value.isdigit() and len(value) < 16:
            what = "input_tokens" if "InputToken" in name else "requests"
            what = "tokens" if "Token" in name and what == "requests" else what
            found[what] = Quota(int(value), 0, _retry_delay(details))
    return RateLimits(**found) if found else None


def _kind(status: int, details: list[dict[str, Any]], said: str) -> FailureKind:
    for detail in details:
        if (reason := _word(detail.get("reason"))) in _BY_REASON:
            return _BY_REASON[reason]
    if status == 429 and (_is_daily(details) or _SPENT.search(said)):
        return FailureKind.QUOTA
    if status == 404 and _NO_FILE.search(said):
        return FailureKind.INVALID_REQUEST
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in (400, 422):
        return next(
            (k for words, k in _BY_WORDS if words.search(said)), FailureKind.INVALID_REQUEST
        )
    if status >= 500 or status == 200:  # an error inside a success is the server's own
        return FailureKind.SERVER
    if 200 < status < 300:
        return FailureKind.MALFORMED
    return FailureKind.NOT_FOUND if 300 <= status < 400 else FailureKind.INVALID_REQUEST


def _is_daily(details: list[dict[str, Any]]) -> bool:
    """Whether a quota is used up for the day, or is none at all."""
    return any(
        "PerDay" in _word(violation.get("quotaId")) or violation.get("quotaValue") == "0"
        for violation in _violations(details)
    )


def _status(status: int, error: dict[str, Any]) -> int:
    """The status; an error inside a success brings its own."""
    code = error.get("code")
    inside = isinstance(code, int) and 400 <= code < 600
    return int(error["code"]) if status == 200 and inside else status


def _error(body: bytes) -> dict[str, Any]:
    """The error object, alone or in a list."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    if isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, dict):
        return {}
    error = found.get("error", found)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _details(error: dict[str, Any]) -> list[dict[str, Any]]:
    details = error.get("details")
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _violations(details: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for detail in details:
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                yield violation


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    for detail in details:
        if isinstance(delay := detail.get("retryDelay"), str) and not delay.startswith("-"):
            return duration(delay)
    return None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(body: bytes) -> str:
    """The beginning of a body; masked before it is cut, so that no half of a secret remains."""
    return mask(body[:_LONGEST].decode("utf-8", "replace")).strip()[:200]


def _text(value: Any) -> str:
    """What was said, also where it is no text."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return mask(orjson.dumps(value)[:_LONGEST].decode("utf-8", "replace"))[:500]
    except TypeError:
        return "the server says something that is nested too deeply"
