"""The errors of the simulated server, in the real one's words. One constructor for each."""

from __future__ import annotations

from penstock.simulator.api import Problem
from penstock.simulator.limits import Admission

__all__ = [
    "fault_problem",
    "no_quota",
    "outage",
    "over_limit",
    "unknown_path",
    "wrong_key",
    "wrong_method",
]

RETRY_FAULT = 0.1

_BY_STATUS: dict[int, tuple[str, str, str | None]] = {
    400: ("invalid_request_error", "The request was refused as invalid.", None),
    401: ("invalid_request_error", "Incorrect API key provided.", "invalid_api_key"),
    403: ("invalid_request_error", "Your key may not use this model.", "permission_denied"),
    404: ("invalid_request_error", "The model does not exist.", "model_not_found"),
    408: ("invalid_request_error", "The request took too long.", None),
    409: ("invalid_request_error", "The request conflicts with another.", None),
    413: ("invalid_request_error", "The request is too large.", None),
    429: ("requests", "Rate limit reached. Please try again in 100ms.", "rate_limit_exceeded"),
    500: ("server_error", "The server had an error while processing your request.", None),
    502: ("server_error", "Bad gateway.", None),
    503: ("service_unavailable_error", "The server is overloaded.", "server_is_overloaded"),
    504: ("server_error", "The gateway waited too long.", None),
    529: ("overloaded_error", "Overloaded", None),
}


def fault_problem(status: int) -> Problem:
    """The error of an injected fault."""
    kind, message, code = _BY_STATUS[status]
    return Problem(status, kind, message, None, code, RETRY_FAULT if status == 429 else None)


def outage() -> Problem:
    """Every request during an outage."""
    return fault_problem(503)


def no_quota() -> Problem:
    """The account is empty; waiting will not help."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return Problem(429, "insufficient_quota", message, None, "insufficient_quota")


def over_limit(model: str, refused: Admission) -> Problem:
    """Too many requests or tokens a minute."""
    what = "RPM" if refused.what == "requests" else "TPM"
    if refused.never:
        message = (
            f"Request too large for {model} on {refused.what} per min ({what}): "
            f"Limit {refused.limit}, Requested {refused.asked}. The input or output tokens must "
            "be reduced in order to run successfully."
        )
        return Problem(429, refused.what, message, None, "rate_limit_exceeded")
    wait = f"{refused.wait * 1000:.0f}ms" if refused.wait < 1 else f"{refused.wait:.3f}s"
    message = (
        f"Rate limit reached for {model} in organization org-simulated on {refused.what} per min "
        f"({what}): Limit {refused.limit}, Used {refused.used}, Requested {refused.asked}. "
        f"Please try again in {wait}."
    )
    code = "rate_limit_exceeded"
    return Problem(429, refused.what, message, None, code, refused.wait, refused.limit)


def wrong_key(key: str) -> Problem:
    """No key, or not the right one. Like the real server it shows part of what it was given."""
    kind = "invalid_request_error"
    if not key:
        message = "You didn't provide an API key. You need to provide it in an Authorization header"
        return Problem(401, kind, f"{message} using Bearer auth.")
    shown = f"{key[:8]}{'*' * max(3, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "***"
    message = f"Incorrect API key provided: {shown}. You can find your API key at the account page."
    return Problem(401, kind, message, None, "invalid_api_key")


def unknown_path(method: str, path: str) -> Problem:
    """There is nothing at this address."""
    return Problem(404, "invalid_request_error", f"Invalid URL ({method} {path})")


def wrong_method(method: str, path: str) -> Problem:
    """There is something, but not for this method."""
    message = (
        f"Not allowed to {method} on {path}. "
        "(HINT: Perhaps you meant to use a different HTTP method?)"
    )
    return Problem(405, "invalid_request_error", message, None, "method_not_supported")
