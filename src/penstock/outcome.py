"""What became of a Request: an Answer or a Failure.

Both are values. A Failure never crosses rows as an exception and never stands as a string in a
data column. A refusal is an Answer: the model spoke, and it was paid for.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

__all__ = ["Answer", "Failure", "FailureKind", "Finish", "Outcome", "Usage"]


class Finish(StrEnum):
    """Why a model stopped, in one vocabulary for all providers."""

    STOP = "stop"
    LENGTH = "length"
    TOOL = "tool"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


class FailureKind(StrEnum):
    """Every way in which a question can go unanswered.

    `heals`: asking again may help. `stops`: no question to this endpoint can succeed now.
    """

    CONNECTION = "connection"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER = "server"
    OVERLOADED = "overloaded"
    MALFORMED = "malformed"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    QUOTA = "quota"
    INVALID_REQUEST = "invalid_request"
    TOO_LARGE = "too_large"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    INVALID_ANSWER = "invalid_answer"
    NOT_RECORDED = "not_recorded"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    HALTED = "halted"
    WAITING = "waiting"
    INPUT = "input"
    NEEDED = "needed"
    REJECTED = "rejected"
    DUPLICATE = "duplicate"
    STORAGE = "storage"
    INTERNAL = "internal"

    @property
    def heals(self) -> bool:
        return self in _HEALS

    @property
    def stops(self) -> bool:
        return self in _STOPS

    @property
    def undecided(self) -> bool:
        """It befell the run, not the question: whoever runs it again asks."""
        return self in _UNDECIDED

    @property
    def meaning(self) -> str:
        """One line for the documentation and the help."""
        return _MEANINGS[self]


_HEALS = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMITED,
        FailureKind.SERVER,
        FailureKind.OVERLOADED,
        FailureKind.MALFORMED,
    }
)
_STOPS = frozenset(
    {
        FailureKind.AUTHENTICATION,
        FailureKind.PERMISSION,
        FailureKind.NOT_FOUND,
        FailureKind.QUOTA,
    }
)
_UNDECIDED = frozenset(
    {
        FailureKind.BUDGET,
        FailureKind.CANCELLED,
        FailureKind.HALTED,
        FailureKind.STORAGE,
        FailureKind.WAITING,
    }
)
_MEANINGS = {
    FailureKind.CONNECTION: "the server could not be reached, or the connection broke",
    FailureKind.TIMEOUT: "no whole answer within the time-out",
    FailureKind.RATE_LIMITED: "the provider asked us to slow down, to the end",
    FailureKind.SERVER: "the provider failed (HTTP 5xx)",
    FailureKind.OVERLOADED: "the provider is overloaded (HTTP 503, 529)",
    FailureKind.MALFORMED: "a reply that is not what the provider's protocol says",
    FailureKind.AUTHENTICATION: "the key is wrong or missing (HTTP 401)",
    FailureKind.PERMISSION: "the key may not do this (HTTP 403)",
    FailureKind.NOT_FOUND: "no such model or address (HTTP 404)",
    FailureKind.QUOTA: "the account has no quota or credit left",
    FailureKind.INVALID_REQUEST: "the provider refused the question as it stands (HTTP 400, 422)",
    FailureKind.TOO_LARGE: "the question or the reply is too large",
    FailureKind.BLOCKED: "the provider's filter blocked the question",
    FailureKind.TRUNCATED: "a structured answer was cut off by max_tokens",
    FailureKind.INVALID_ANSWER: "the answer did not fit its schema, also when asked again",
    FailureKind.NOT_RECORDED: "not in the journal, and nothing may be sent (cache=read)",
    FailureKind.BUDGET: "the budget is spent",
    FailureKind.CANCELLED: "the run was cancelled before this was sent",
    FailureKind.HALTED: "another chunk failed, and the run was to halt then",
    FailureKind.WAITING: "it lies in a batch that is not collected yet",
    FailureKind.INPUT: "the row, or the function that made the question, is at fault",
    FailureKind.NEEDED: "a cell that this one is made of failed",
    FailureKind.REJECTED: "a check of yours refused it, also when it was made again",
    FailureKind.DUPLICATE: "like an earlier row, and removed as you asked",
    FailureKind.STORAGE: "the answer could not be written to disk",
    FailureKind.INTERNAL: "a fault of Penstock itself; the log has the details",
}


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens as the provider counted them."""

    input_tokens: int = 0
    """All of the question, cached tokens included."""
    output_tokens: int = 0
    """All of the answer, reasoning included."""
    cached_tokens: int = 0
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int = 0
    """Of the input: written to the provider's cache."""
    reasoning_tokens: int = 0
    """Of the output: thought, not said."""

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What a model said."""

    text: str
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    tool_calls: tuple[dict[str, Any], ...] = ()
    model: str = ""
    """The model that really answered, as the provider names it."""
    id: str = ""
    """The provider's own number of this answer, for its support."""
    cost: Decimal | None = None
    """Dollars, or None where no price is known."""
    price_source: str = ""
    latency: float = 0.0
    """Seconds from sending to the last byte, of the attempt that succeeded."""
    attempts: int = 1
    recorded: bool = False
    """True when it came from the journal: nothing was sent, nothing paid."""

    @property
    def ok(self) -> bool:
        return True

    @property
    def refused(self) -> bool:
        return self.finish in (Finish.REFUSAL, Finish.CONTENT_FILTER)


class Failure(msgspec.Struct, frozen=True, gc=False):
    """Why there is no answer."""

    kind: FailureKind
    message: str
    attempts: int = 0
    may_be_paid: bool = False
    """Something was sent, and nobody can say whether the provider charges for it."""
    status: int | None = None
    """The HTTP status, where there was one."""
    id: str = ""

    @property
    def ok(self) -> bool:
        return False


Outcome: TypeAlias = Answer | Failure
