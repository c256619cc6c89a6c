"""What a provider may be able to do. What it is not, it says in `lacks`, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from penstock.outcome import FailureKind

__all__ = ["ABILITIES", "ASKED", "FAULTS", "needs", "without"]

T = TypeVar("T", bound=Callable[..., None])

ASKED = ("images", "schema", "tools")
"""What belongs to a question: lacking one, a provider refuses the question, never drops it."""

FAULTS: tuple[FailureKind, ...] = (
    FailureKind.AUTHENTICATION,
    FailureKind.PERMISSION,
    FailureKind.NOT_FOUND,
    FailureKind.QUOTA,
    FailureKind.RATE_LIMITED,
    FailureKind.SERVER,
    FailureKind.OVERLOADED,
    FailureKind.TIMEOUT,
    FailureKind.CONNECTION,
    FailureKind.MALFORMED,
    FailureKind.INVALID_REQUEST,
    FailureKind.TOO_LARGE,
)

ABILITIES: Mapping[str, str] = {
    "images": "sends pictures along with a text",
    "schema": "answers with JSON that fits a schema, when asked for it",
    "tools": "offers tools, reads the calls and sends back the results",
    "max_tokens": "caps an answer, and says that it was cut",
    "refusal": "tells a refused or blocked question from an answered one",
    "streaming": "shows an answer in pieces while it comes",
    "usage": "counts tokens of questions and answers",
    "key": "sends a key",
    "retry_after": "says when to come back after a rate limit",
    "limits": "reads the provider's limits from the headers of an answer",
    **{str(kind): f"tells the failure `{kind}`: {kind.meaning}" for kind in FAULTS},
}
"""Every ability, and what a provider with it does."""


def needs(ability: str) -> Callable[[T], T]:
    """Marks a test of the contract that only means something with this ability."""
    assert ability in ABILITIES, ability

    def mark(test: T) -> T:
        test.__dict__["ability"] = ability
        return test

    return mark


def without(tests: Mapping[str, Any], lacks: Mapping[str, str]) -> list[str]:
    """The names of those tests that a provider is excused from."""
    return [name for name, test in tests.items() if getattr(test, "ability", None) in lacks]
