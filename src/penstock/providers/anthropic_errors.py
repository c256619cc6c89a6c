"""Reading what the Messages API says when it refuses.

The error's code is believed before its type, the type before the status, and a few things only the
words tell: an empty account and a spend limit of one's own are 400 like any other mistake.
"""

from __future__ import annotations

import re
from typing import Any

from penstock.outcome import FailureKind
from penstock.providers.errorbody import (
    BY_STATUS,
    error_of,
    kind_of_status,
    said_in,
    told,
    word,
)
from penstock.providers.provider import Refusal
from penstock.providers.ratelimits import retry_after, should_retry
from penstock.providers.transport import Reply

__all__ = ["read_refusal"]

_TELLING = 1000  # of the words, so much is judged by
_BY_CODE = {
    "enforced_spend_limit_reached": FailureKind.QUOTA,
    "ramp_limit_exceeded": FailureKind.RATE_LIMITED,
    "organization_on_hold": FailureKind.PERMISSION,
    "organization_type_not_supported": FailureKind.PERMISSION,
    "cmek_key_disabled": FailureKind.PERMISSION,
    "cmek_key_network_blocked": FailureKind.PERMISSION,
    "request_body_too_large_after_decoding": FailureKind.TOO_LARGE,
    "file_expired": FailureKind.INVALID_REQUEST,
}
_BY_TYPE = {
    "authentication_error": FailureKind.AUTHENTICATION,
    "billing_error": FailureKind.QUOTA,
    "permission_error": FailureKind.PERMISSION,
    "not_found_error": FailureKind.NOT_FOUND,
    "request_too_large": FailureKind.TOO_LARGE,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "overloaded_error": FailureKind.OVERLOADED,
    "timeout_error": FailureKind.TIMEOUT,
    "conflict_error": FailureKind.SERVER,
}
_BY_WORDS = (
    (
        re.compile(
            r"(?i)credit balance|reached your .{0,60}limit|(usage|spend\w*) limits? .{0,60}reached"
        ),
        FailureKind.QUOTA,
    ),
    (re.compile(r"(?i)organization has been disabled"), FailureKind.PERMISSION),
    (re.compile(r"(?i)prompt is too long|exceeds? (the )?context"), FailureKind.TOO_LARGE),
    (re.compile(r"(?i)blocked by content filter"), FailureKind.BLOCKED),
)
# A file that is not there is one question's fault; a model that is not there is everyone's.
_NO_FILE = re.compile(r"(?i)(?!model).*\bfile(\b|_)")


def read_refusal(reply: Reply) -> Refusal:
    """What an error reply means."""
    error = error_of(reply.body)
    said = said_in(error)
    found = _kind(reply.status, error, said[:_TELLING])
    return Refusal(
        found, told(reply, said), retry_after(reply.headers), should_retry(reply.headers)
    )


def _kind(status: int, error: dict[str, Any], said: str) -> FailureKind:
    details = error.get("details")
    code = word(details.get("error_code")) if isinstance(details, dict) else ""
    type_ = word(error.get("type"))
    if code in _BY_CODE:
        return _BY_CODE[code]
    found = _BY_TYPE.get(type_) or BY_STATUS.get(status)
    if found is FailureKind.NOT_FOUND and _NO_FILE.match(said):
        return FailureKind.INVALID_REQUEST
    if found is None and (status in (400, 422) or type_ == "invalid_request_error"):
        meant = (kind for words, kind in _BY_WORDS if words.search(said))
        return next(meant, FailureKind.INVALID_REQUEST)
    return found or kind_of_status(status)
