"""What an answer took: seconds, dollars, tokens.

They are not in an answer's text: whoever asked gives them with the sample, as its `facts`, which
`facts_of` takes from an Answer of the engine. An answer from the journal has those of the time it
was made. What is not known (a price, a latency in a batch) is no fact, and no value is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.metrics.checks import check_choice
from penstock.metrics.metric import Measured, Metric, Need
from penstock.metrics.score import Sample, Score
from penstock.outcome import Answer

__all__ = ["Cost", "Latency", "Tokens", "facts_of"]

_NEEDS_FACTS: frozenset[Need] = frozenset({"facts"})


def facts_of(answer: Answer) -> dict[str, float]:
    """The facts of an answer, for its sample."""
    facts: dict[str, float] = {
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
        "total_tokens": answer.usage.total_tokens,
        "cached_tokens": answer.usage.cached_tokens,
        "reasoning_tokens": answer.usage.reasoning_tokens,
        "attempts": answer.attempts,
    }
    if answer.latency > 0:
        facts["latency"] = answer.latency
    if answer.cost is not None:
        facts["cost"] = float(answer.cost)
    return facts


class _Resource(Metric):
    """What all share: a fact by its name. Refusals are paid for and waited for like answers."""

    high = math.inf
    direction = "lower"
    needs = _NEEDS_FACTS
    reads_refusals = True
    _fact: str

    def measure(self, answer: str, sample: Sample) -> Measured:
        if self._fact not in sample.facts:
            return Score.error(f"there is no {self._fact} among the sample's facts")
        value = float(sample.facts[self._fact])
        return Score(value, parts=(value,))


class Latency(_Resource):
    """Seconds from sending to the last byte; for all answers also `p50` and `p95`."""

    name = "latency"
    summary = "Seconds that the answer took."
    _fact = "latency"

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        values = sorted(score.parts[0] for score in scores if score.parts)
        return {"p50": _rank(values, 0.50), "p95": _rank(values, 0.95)} if values else {}


class Cost(_Resource):
    """Dollars; for all answers also their `total`."""

    name = "cost"
    summary = "Dollars that the answer cost."
    _fact = "cost"

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        return _total(scores)


@dataclass(frozen=True, kw_only=True)
class Tokens(_Resource):
    """Tokens as the provider counted them: `output`, `input` or `total`, for all their `total`."""

    count: Literal["output", "input", "total", "reasoning", "cached"] = "output"

    name = "tokens"
    summary = "Tokens that the answer took."
    _fact = "output_tokens"

    def __post_init__(self) -> None:
        check_choice(self, "count", "output", "input", "total", "reasoning", "cached")
        object.__setattr__(self, "_fact", f"{self.count}_tokens")

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        return _total(scores)


def _total(scores: Sequence[Score]) -> dict[str, float]:
    values = [score.parts[0] for score in scores if score.parts]
    return {"total": math.fsum(values)} if values else {}


def _rank(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
