"""Problems in Gemini's words: a status with a name, and details that say what a client may do.

Where the protocols differ, the real server's way is taken: a wrong key is a 400, a missing one a
403, and when to come back stands in the body, not in a header.
"""

from __future__ import annotations

from typing import Any

from penstock.simulator.api import Problem
from penstock.simulator.gemini_shape import Wrong

__all__ = ["Refused", "refused"]

_TYPE = "type.googleapis.com/google.rpc."
_METRIC = "generativelanguage.googleapis.com/generate_content_paid_tier_"
_NAMES = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_SAID = {
    403: "The caller does not have permission",
    500: "An internal error has occurred. Please retry.",
    503: "The model is overloaded. Please try again later.",
}
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_KEYLESS = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use "
    "API Key or other form of API consumer identity to call this API."
)


class Refused(Problem):
    """A problem as Gemini has it."""

    def __init__(self, status: int, message: str, details: list[dict[str, Any]]) -> None:
        super().__init__(status, _NAMES.get(status, "UNKNOWN"), message)
        self.details = details


def refused(problem: Problem) -> Refused:
    """Any problem in Gemini's words."""
    if isinstance(problem, Refused):
        return problem
    if problem.status == 401:
        return _no_key() if problem.code is None else _bad_key()
    if problem.status == 429:
        return _limited(problem)
    if problem.status == 405:
        return Refused(404, problem.message, [])
    status = 503 if problem.status == 529 else problem.status
    details = _violations(problem) if status == 400 else []
    return Refused(status, _SAID.get(status, problem.message), details)


def _no_key() -> Refused:
    return Refused(403, _KEYLESS, [])


def _bad_key() -> Refused:
    service = {"service": "generativelanguage.googleapis.com"}
    told = _detail("ErrorInfo", reason="API_KEY_INVALID", domain="googleapis.com", metadata=service)
    return Refused(400, "API key not valid. Please pass a valid API key.", [told])


def _limited(problem: Problem) -> Refused:
    if problem.code == "insufficient_quota":
        name = "GenerateRequestsPerDayPerProjectPerModel"
        return Refused(429, _QUOTA, [_failure("requests", name, None)])
    if problem.wait is None:  # more than a whole minute's tokens
        said = "The input token count exceeds the maximum number of tokens allowed."
        return Refused(400, said, [])
    name, metric = "GenerateRequestsPerMinutePerProjectPerModel", "requests"
    if problem.kind == "tokens":
        name, metric = "GenerateContentInputTokensPerModelPerMinute", "input_token_count"
    delay = f"{problem.wait:.3f}s"
    details = [_failure(metric, name, problem.limit), _detail("RetryInfo", retryDelay=delay)]
    return Refused(429, f"{_QUOTA} Please retry in {delay}.", details)


def _failure(metric: str, name: str, limit: int | None) -> dict[str, Any]:
    violation = {"quotaMetric": _METRIC + metric, "quotaId": name}
    if limit is not None:
        violation["quotaValue"] = str(limit)
    return _detail("QuotaFailure", violations=[violation])


def _violations(problem: Problem) -> list[dict[str, Any]]:
    found = [(problem.param, problem.message)] if problem.param else []
    told = problem.violations if isinstance(problem, Wrong) else found
    violations = [{"field": field, "description": said} for field, said in told]
    return [_detail("BadRequest", fieldViolations=violations)] if violations else []


def _detail(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@type": _TYPE + kind, **fields}
