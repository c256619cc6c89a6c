"""How many tokens a question will take, before it is sent.

The question itself is counted. For the answer, the 95th percentile of what was seen is taken
(twice the longest while that is little), or max_tokens until something was seen, or a plain guess
where nobody set one.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from penstock.outcome import Usage
from penstock.request import Request
from penstock.tokens import count_request

__all__ = ["Estimate", "Estimator"]

_GUESS = 512
_KEPT = 200
_A_FEW = 4
_ENOUGH = 20


class Estimate(NamedTuple):
    """What a question takes of each limit."""

    requests: int
    input_tokens: int
    output_tokens: int

    def of(self, name: str) -> int:
        """The share that counts towards a limit of that name."""
        if name == "requests":
            return self.requests
        if name == "input_tokens":
            return self.input_tokens
        if name == "output_tokens":
            return self.output_tokens
        return self.input_tokens + self.output_tokens

    def plus(self, other: Estimate) -> Estimate:
        """Both together."""
        return Estimate(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def less(self, other: Estimate) -> Estimate:
        """What is left without the other."""
        return Estimate(self[0] - other[0], self[1] - other[1], self[2] - other[2])


class Estimator:
    """Learns from the answers of one endpoint."""

    def __init__(self) -> None:
        self._seen: deque[int] = deque(maxlen=_KEPT)
        self._sorted: list[int] | None = None

    def saw(self, usage: Usage) -> None:
        """Take in what an answer took."""
        self._seen.append(usage.output_tokens)
        self._sorted = None

    def of(self, request: Request) -> Estimate:
        """What a question will probably take."""
        schema = None if request.schema is None else request.schema.schema
        model = request.endpoint.model
        taken = count_request(request.messages, model, schema, request.tools)
        return Estimate(1, taken, self.output(request))

    def output(self, request: Request) -> int:
        """Tokens of the answer."""
        asked = request.params.get("max_tokens") or request.params.get("max_completion_tokens")
        most = asked if isinstance(asked, int) else None
        if len(self._seen) < _A_FEW:
            return most or _GUESS
        outputs = self._sorted = self._sorted or sorted(self._seen)
        if len(outputs) < _ENOUGH:
            seen = 2 * outputs[-1]
        else:
            seen = outputs[int(0.95 * (len(outputs) - 1))]
        return seen if most is None else min(seen, most)
