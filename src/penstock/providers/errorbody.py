"""Reading the body of an error reply: what is the same for every protocol.

Gateways have spellings of their own, a body may be anything, and any of it may say a key back.
"""

from __future__ import annotations

from typing import Any

import orjson

from penstock.outcome import FailureKind
from penstock.providers.transport import Reply
from penstock.secret import mask

__all__ = ["BY_STATUS", "error_of", "kind_of_status", "said_in", "told", "word"]

_LONGEST = 64 * 1024
_SHOWN = 200
BY_STATUS = {
    401: FailureKind.AUTHENTICATION,
    402: FailureKind.QUOTA,
    403: FailureKind.PERMISSION,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    413: FailureKind.TOO_LARGE,
    429: FailureKind.RATE_LIMITED,
    503: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}


def error_of(body: bytes) -> dict[str, Any]:
    """The error object: alone, under `error`, in a list of one; or a text, or a `detail`."""
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
    if not isinstance(error, dict):
        return {}
    if "message" not in error and "detail" in error:
        return {"message": error["detail"]}
    return error


def said_in(error: dict[str, Any]) -> str:
    """What the error says, also where that is no text."""
    value = error.get("message")
    if value is None or isinstance(value, str):
        return (value or "")[:_LONGEST].strip()
    try:
        return mask(orjson.dumps(value)[:_LONGEST].decode("utf-8", "replace"))[:500].strip()
    except TypeError:
        return "the server says something that is nested too deeply"


def told(reply: Reply, said: str) -> str:
    """The message for people: what was said, else the status and the beginning of the body."""
    if 300 <= reply.status < 400:
        return (
            f"the server redirects to {reply.headers.get('location', 'elsewhere')!r}; "
            "redirects are not followed, give that address instead"
        )
    return said or f"HTTP {reply.status}: {_shown(reply.body)}"


def kind_of_status(status: int) -> FailureKind:
    """What a status means where nothing more is known."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500 or status == 200:  # an error inside a success is the server's own
        return FailureKind.SERVER
    if 200 < status < 300:
        return FailureKind.MALFORMED
    return FailureKind.NOT_FOUND if 300 <= status < 400 else FailureKind.INVALID_REQUEST


def word(value: Any) -> str:
    """A text, or none."""
    return value if isinstance(value, str) else ""


def _shown(body: bytes) -> str:
    """The beginning of a body; masked before it is cut, so that no half of a secret remains."""
    return mask(body[:_LONGEST].decode("utf-8", "replace")).strip()[:_SHOWN]
