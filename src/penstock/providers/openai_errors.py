"""Reading what chat completions say when they refuse."""

from __future__ import annotations

from typing import Any

from penstock.outcome import FailureKind
from penstock.providers.errorbody import error_of, kind_of_status, said_in, told
from penstock.providers.provider import Refusal
from penstock.providers.ratelimits import retry_after, should_retry
from penstock.providers.transport import Reply

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
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})


def read_refusal(reply: Reply) -> Refusal:
    """What an error reply means; the body is believed before the status."""
    error = error_of(reply.body)
    code = _code(error)
    said = said_in(error)
    status = reply.status
    if status == 200 and code.isdecimal() and 400 <= int(code[:4]) < 600:
        status = int(code[:4])  # gateways put the status they met into a success
    found = _kind(status, code, _word(error.get("type")))
    if found is FailureKind.RATE_LIMITED and said.lower().startswith("request too large"):
        found = FailureKind.TOO_LARGE  # larger than a whole minute's tokens: no waiting helps
    return Refusal(
        found, told(reply, said), retry_after(reply.headers), should_retry(reply.headers)
    )


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
    return kind_of_status(status)


def _code(error: dict[str, Any]) -> str:
    inner = error.get("innererror")
    if isinstance(inner, dict) and inner.get("code") == "ResponsibleAIPolicyViolation":
        return "content_filter"
    return _word(error.get("code"))


def _word(value: Any) -> str:
    """A code; some servers write a number."""
    return str(value) if isinstance(value, str | int) else ""
