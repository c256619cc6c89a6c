"""What the server asks of an adapter: read a request, render an answer, a stream, an error.

An adapter per wire protocol implements `Api` and is listed in `apis.py`; the server knows no
protocol beyond HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from penstock.simulator.limits import Bucket
from penstock.simulator.question import Question, Reply

__all__ = ["Api", "Asked", "Problem", "RateHeaders"]

RateHeaders = Sequence[tuple[str, Bucket]]


class Asked(NamedTuple):
    """A request understood: one question for each choice, and how to send the answer."""

    model: str
    questions: list[Question]
    stream: bool = False
    usage: bool = False
    note: Any = None
    """What the adapter itself keeps for the answer."""


class Problem(Exception):  # noqa: N818 - an answer on the wire, not a fault of ours
    """An error that the server answers with; it crosses the adapter as an exception."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        param: str | None = None,
        code: str | None = None,
        wait: float | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.param = param
        self.code = code
        self.wait = wait
        self.limit = limit
        self.number = 0

    @classmethod
    def invalid(cls, message: str, param: str | None = None, code: str | None = None) -> Problem:
        """The request is wrong; sending it again will not help."""
        return cls(400, "invalid_request_error", message, param, code)


class Api(Protocol):
    """One wire protocol."""

    name: str

    def matches(self, path: str) -> bool: ...

    def read(
        self,
        body: Mapping[str, Any],
        path: str = "",
        sample: int = 0,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Asked: ...

    def render(self, asked: Asked, replies: Sequence[Reply], number: int) -> bytes: ...

    def events(self, asked: Asked, replies: Sequence[Reply], number: int) -> list[bytes]: ...

    def own(self, problem: Problem) -> Problem:
        """The same problem as this API would have it, with a status of its own."""
        ...

    def problem(self, problem: Problem) -> bytes: ...

    def empty(self, asked: Asked, number: int) -> bytes: ...

    def limit_headers(self, limits: RateHeaders) -> bytes: ...

    def headers(self, number: int, seconds: float) -> bytes: ...

    def lists(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a look at the models is meant for this API: several share a path."""
        ...

    def listing(self) -> dict[str, Any]: ...

    def model(self, name: str) -> dict[str, Any]: ...
