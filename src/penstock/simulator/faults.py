"""Bad days on demand: which arrivals meet a fault, and which one.

A fault depends on the seed and the arrival number, not on the question, so a retry can succeed
and a run can be repeated exactly.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.errors import InputError
from penstock.simulator.dice import unit

__all__ = ["KINDS", "Faults", "Outages"]

KINDS = {
    "400": "refuses the request as invalid",
    "401": "says that the key is wrong",
    "403": "says that the key may not",
    "404": "says that there is no such model",
    "408": "says that the request took too long",
    "409": "reports a conflict",
    "413": "says that the request is too large",
    "429": "says that there are too many requests",
    "500": "fails inside",
    "502": "a gateway fails, with an HTML page for a body",
    "503": "is overloaded",
    "504": "a gateway waits too long",
    "529": "is overloaded, as Anthropic says it",
    "timeout": "never answers, until the client gives up",
    "reset": "resets the connection after reading the request",
    "cut": "closes before the whole body is sent",
    "malformed": "answers 200 with broken JSON",
    "wrong_schema": "answers 200 with text that does not fit the schema",
    "empty_choices": "answers 200 without any choice",
    "error_in_200": "answers 200 with an error for a body",
    "slow_body": "sends the body in ten slow pieces",
}


class Faults(NamedTuple):
    """Each kind with the upper end of its share of [0, 1)."""

    steps: tuple[tuple[float, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> Faults:
        """Understand `500:0.01,reset:0.02`, or say what is allowed."""
        total = 0.0
        steps: list[tuple[float, str]] = []
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            kind, _, share_text = part.partition(":")
            if kind not in KINDS:
                raise InputError(
                    f"errors: {kind!r} is no kind of fault", remedy=f"Allowed: {', '.join(KINDS)}."
                )
            share = _share(part, share_text)
            total += share
            steps.append((total, kind))
        if total > 1 + 1e-9:
            raise InputError(f"errors: the shares add up to {total:g}", remedy="At most 1 in all.")
        return cls(tuple(steps))

    def of(self, seed: int, number: int) -> str:
        """The fault of the nth arrival, or ""."""
        if not self.steps:
            return ""
        share = unit(seed, number)
        for end, kind in self.steps:
            if share < end:
                return kind
        return ""


def _share(part: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(
            f"errors: {part!r} has no share from 0 to 1", remedy="Write KIND:SHARE, as in 500:0.01."
        )
    return share


class Outages(NamedTuple):
    """Spans of seconds since the start or the last reset in which every request gets 503."""

    spans: tuple[tuple[float, float], ...] = ()

    @classmethod
    def read(cls, text: str) -> Outages:
        """Understand `10-70,100-110`."""
        spans = []
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            start, _, end = part.partition("-")
            try:
                span = (float(start), float(end))
            except ValueError:
                span = (1.0, 0.0)
            if not 0 <= span[0] < span[1]:
                raise InputError(
                    f"outages: {part!r} is not understood",
                    remedy="Write START-END in seconds, as in 10-70; several by commas.",
                )
            spans.append(span)
        return cls(tuple(spans))

    def now(self, elapsed: float) -> bool:
        """Whether there is an outage so many seconds after the start."""
        return any(start <= elapsed < end for start, end in self.spans)
