"""An endpoint that served nothing at all: said as one error, not as a row of failures each.

Failures stay in their rows. But where no row could be answered because the endpoint was stopped for
a wrong key, a missing right, no quota or an unknown model, the work as a whole cannot be done.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.endpoint import Endpoint
from penstock.engine.progress import Progress
from penstock.errors import ApiError
from penstock.outcome import Failure, FailureKind
from penstock.tables import Table

__all__ = ["refusal", "stopper_of"]

_REMEDIES = {
    FailureKind.AUTHENTICATION: "Put its key right",
    FailureKind.PERMISSION: "Use a key that may do this",
    FailureKind.NOT_FOUND: "Check the name of the model and its address",
    FailureKind.QUOTA: "Give the account quota or credit",
}


def stopper_of(failures: Table, progress: Progress) -> Failure | None:
    """The first failure after which nothing more was sent to the endpoint."""
    if not any(kind.stops for kind in progress.failures):
        return None
    for row in failures:
        kind = FailureKind(row["kind"])
        if kind.stops:
            return Failure(kind, row["message"])
    return None


def refusal(
    endpoints: Sequence[Endpoint], stopper: Failure, run: str, *, resumes: bool
) -> ApiError:
    """What the caller is told."""
    again = f"go on with: penstock runs resume {run}" if resumes else "run it again"
    who, said = _who(endpoints, stopper.message)
    return ApiError(
        f"{who} answered nothing: {stopper.kind}: {said}",
        remedy=f"{_REMEDIES[stopper.kind]}, then {again}.",
    )


def _who(endpoints: Sequence[Endpoint], message: str) -> tuple[str, str]:
    """Which of the endpoints it was, and what it said."""
    for endpoint in endpoints:
        before = f"{endpoint.label} was stopped: "
        if message.startswith(before):
            return endpoint.label, message.removeprefix(before)
    return " and ".join(dict.fromkeys(endpoint.label for endpoint in endpoints)), message
