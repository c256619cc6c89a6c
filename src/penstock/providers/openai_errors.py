"""Reading what chat completions say when they refuse."""

from __future__ import annotations

from typing import Any

import orjson

from penstock.outcome import FailureKind
from penstock.providers.provider import Refusal
from penstock.providers.ratelimits import retry_after, should_retry
from penstock.providers.transport import Reply
from penstock.secret import mask

__all__ = ["read_refusal"]

_NO_QUOTA = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "billing_hard_limit_reached",
    }
)
_LONGEST = 64 * 1024
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
_BY_STATUS = {
    400: FailureKind.INVALID_REQUEST,
    401: FailureKind.AUTHENTICATION,
    402: FailureKind.QUOTA,
    403: FailureKind.PERMISSION,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    413: FailureKind.TOO_LARGE,
    422: FailureKind.INVALID_REQUEST,
    429: FailureKind.RATE_LIMITED,
    503: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}


def read_refusal(reply: Reply) -> Refusal:
    """What an error reply means; the body is believed before the status."""
    error = _error(reply.body)
    code = _code(error)
    kind = _word(error.get("type"))
    said = _text(error.get("message")).strip()
    status = reply.status
    if status == 200 and code.isdecimal() and 400 <= int(code[:4]) < 600:
        status = int(code[:4])  # gateways put the status they met into a success
    found = _kind(status, code, kind)
    if found is FailureKind.RATE_LIMITED and said.lower().startswith("request too large"):
        found = FailureKind.TOO_LARGE  # larger than a whole minute's tokens: no waiting helps
    message = said or f"HTTP {reply.status}: {_shown(reply.body)}"
    if 300 <= reply.status < 400:
        message = (
            f"the server redirects to {reply.headers.get('location', 'elsewhere')!r}; "
            "redirects are not followed, give that address instead"
        )
    return Refusal(found, message, retry_after(reply.headers), should_retry(reply.headers))


def _kind(status: int, code: str, kind: str) -> FailureKind:
    if code in _NO_QUOTA or kind in _NO_QUOTA:
        return FailureKind.QUOTA
    if code in _TOO_LONG:
        return FailureKind.TOO_LARGE
    if code == "content_filter":
        return FailureKind.BLOCKED
    if code == "invalid_api_key":
        return FailureKind.AUTHENTICATION
    if code in ("rate_limit_exceeded", "slow_down"):
        return FailureKind.RATE_LIMITED
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500 or status == 200:  # an error inside a success is the server's own
        return FailureKind.SERVER
    if 200 < status < 300:
        return FailureKind.MALFORMED
    return FailureKind.NOT_FOUND if 300 <= status < 400 else FailureKind.INVALID_REQUEST


def _code(error: dict[str, Any]) -> str:
    inner = error.get("innererror")
    if isinstance(inner, dict) and inner.get("code") == "ResponsibleAIPolicyViolation":
        return "content_filter"
    return _word(error.get("code"))


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _shown(body: bytes) -> str:
    """The beginning of a body; masked before it is cut, so that no half of a secret remains."""
    return mask(body[:_LONGEST].decode("utf-8", "replace")).strip()[:200]


def _error(body: bytes) -> dict[str, Any]:
    """The error object, in the spellings that are about."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(found, dict):
        return {}
    error = found.get("error", found)
    if isinstance(error, str):
        return {"message": error}
    if not isinstance(error, dict):
        return {}
    if "message" not in error and "detail" in error:
        return {"message": error["detail"]}
    return error


def _text(value: Any) -> str:
    """What was said, also where it is no text."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return mask(orjson.dumps(value)[:_LONGEST].decode("utf-8", "replace"))[:500]
    except TypeError:
        return "the server says something that is nested too deeply"
