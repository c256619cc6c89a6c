"""JSON held to JSON, field by field: extraction tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from penstock.metrics.checks import check_flags
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.score import Sample, Score
from penstock.metrics.structure import unfenced
from penstock.metrics.unread import shortened

__all__ = ["JsonMatch"]

_ABSENT = object()
_DEEPEST = 100


@dataclass(frozen=True, kw_only=True)
class JsonMatch(Metric):
    """How many of the target's fields the answer has, with equal values, as a share of all fields
    that either of them has; with `whole` 1 only where nothing differs.

    A field is a value at its place, as deep as it stands; the order of keys does not count, that of
    lists does. Numbers are equal by value (1 and 1.0), texts as they are written, without blanks at
    their ends unless `strip=False`. An answer that is no JSON is worth 0.
    """

    whole: bool = False
    strip: bool = True
    fenced: bool = True

    name = "json_match"
    summary = "The share of fields that JSON in the answer and in the target have in common."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_flags(self, "whole", "strip", "fenced")

    def measure(self, answer: str, sample: Sample) -> Measured:
        text = unfenced(answer) if self.fenced else answer.strip()
        try:
            given = dict(_fields(orjson.loads(text), self.strip))
        except orjson.JSONDecodeError as error:
            return Score(0.0, reason=f"no JSON: {error}")
        scores = [self._held(given, target) for target in sample.targets]
        best = max(scores, key=lambda score: score.value or 0.0)
        return Score(best.value, reason=best.reason, extracted=shortened(text))

    def _held(self, given: Mapping[str, Any], target: str) -> Score:
        try:
            wanted = dict(_fields(orjson.loads(target), self.strip))
        except orjson.JSONDecodeError as error:
            raise ValueError(f"the target is no JSON: {error}") from None
        places = {**wanted, **given}
        wrong = [
            place
            for place in places
            if wanted.get(place, _ABSENT) != given.get(place, _ABSENT)
            or _kind(wanted.get(place, _ABSENT)) is not _kind(given.get(place, _ABSENT))
        ]
        reason = f"differs: {', '.join(wrong[:5])}" if wrong else ""
        if self.whole:
            return Score(float(not wrong), reason=reason)
        return Score(1 - len(wrong) / len(places), reason=reason)


def _kind(value: object) -> object:
    """True is not 1, though Python says so."""
    return bool if isinstance(value, bool) else None


def _fields(value: Any, strip: bool, place: str = "$", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every value that holds no other, by its place; an empty list or mapping is one too."""
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for key, each in value.items():
            step = f".{key}" if key.isidentifier() else f"[{orjson.dumps(key).decode()}]"
            yield from _fields(each, strip, place + step, depth + 1)
    elif isinstance(value, list) and value and depth < _DEEPEST:
        for number, each in enumerate(value):
            yield from _fields(each, strip, f"{place}[{number}]", depth + 1)
    else:
        yield place, value.strip() if strip and isinstance(value, str) else value
