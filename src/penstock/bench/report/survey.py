"""What the report needs of the items, found in one pass that never holds them.

Prompts and answers are not even read here: only the few items that are shown are, one by one,
when their turn comes.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import msgspec

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.report.choice import Choice
from penstock.bench.report.flips import Differences, Flips
from penstock.bench.report.words import first_metric, score_of, value_of, verdict
from penstock.bench.result import BenchResult
from penstock.metrics.score import ScoreStatus
from penstock.reports.words import Trouble
from penstock.tables import Table

__all__ = ["Latency", "Survey", "Trouble", "item_at", "survey"]

_TOP = 10
_MOST_KINDS = 50
_COLUMNS = (
    *("recipe", "dataset", "template", "endpoint", "id", "status", "failure", "error"),
    *("scores", "cost", "latency"),
)


class Latency(NamedTuple):
    """How long an endpoint's answers took."""

    median: float
    p95: float


@dataclass(frozen=True)
class Survey:
    """What a pass over the items found; places are rows of the table."""

    items: int
    failures: tuple[Trouble, ...]
    """By kind, the most frequent first."""
    errors: tuple[Trouble, ...]
    """Of metrics, by label."""
    slowest: tuple[int, ...]
    dearest: tuple[int, ...]
    latency: dict[str, Latency]
    differences: dict[str, Differences]
    not_compared: int
    chosen: tuple[int, ...]
    """The items to show, in order."""
    verdicts: dict[tuple[str, str, str], int]
    """How many items of a recipe and an endpoint came to what."""


class _Seen(NamedTuple):
    recipe: str
    question: tuple[str, str, str, str]
    endpoint: str
    status: ItemStatus
    failure: str
    error: str
    scores: tuple[ItemScore, ...]
    cost: float | None
    latency: float | None


def survey(result: BenchResult, items: Table, *, most_items: int, most_flips: int) -> Survey:
    """Look at all items, once."""
    firsts = {recipe.id: first_metric(recipe) for recipe in result.recipes}
    failures, errors = _Troubles(), _Troubles()
    slowest, dearest = _Top(), _Top()
    times: dict[str, array[float]] = {}
    flips, choice = Flips(list(result.endpoints)), Choice(most_items)
    for row, seen in enumerate(_seen(items)):
        label, about = firsts.get(seen.recipe, ("", {}))
        score = score_of(seen.scores, label)
        if seen.status is ItemStatus.FAILED:
            failures.add(seen.failure or "unknown", seen.endpoint, seen.error)
        for each in seen.scores:
            if each.status is ScoreStatus.ERROR:
                errors.add(each.metric, seen.endpoint, each.reason)
        if seen.latency is not None and seen.status is not ItemStatus.FAILED:
            times.setdefault(seen.endpoint, array("d")).append(seen.latency)
            slowest.add(seen.latency, row)
        if seen.cost:
            dearest.add(seen.cost, row)
        flips.add(row, seen.question, seen.endpoint, value_of(score))
        choice.add(row, seen.recipe, seen.endpoint, verdict(seen.status, score, about))
    return Survey(
        items=len(items),
        failures=failures.sorted(),
        errors=errors.sorted(),
        slowest=slowest.rows(),
        dearest=dearest.rows(),
        latency={name: _latency(found) for name, found in times.items()},
        differences=flips.found(most_flips),
        not_compared=flips.left_out,
        chosen=choice.rows(),
        verdicts=choice.counts,
    )


def _seen(items: Table) -> Iterator[_Seen]:
    from penstock.tables.columns import rows_of

    decode = msgspec.json.Decoder(tuple[ItemScore, ...]).decode
    for batch in items.batches():
        for row in rows_of(batch.select(list(_COLUMNS))):
            cost = row["cost"]
            yield _Seen(
                row["recipe"],
                (row["recipe"], row["dataset"], row["template"] or "", row["id"]),
                row["endpoint"],
                ItemStatus(row["status"]),
                row["failure"] or "",
                row["error"] or "",
                decode(row["scores"]),
                None if cost is None else float(cost),
                row["latency"],
            )


def item_at(items: Table, row: int) -> Item:
    """One item of the table."""
    return Item.of_row(items[row])


class _Top:
    """The rows of the few largest values; of equal ones the first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def add(self, value: float, row: int) -> None:
        if len(self._heap) < _TOP:
            heapq.heappush(self._heap, (value, -row))
        elif value > self._heap[0][0]:
            heapq.heapreplace(self._heap, (value, -row))

    def rows(self) -> tuple[int, ...]:
        return tuple(-minus for _, minus in sorted(self._heap, reverse=True))


class _Troubles:
    """Troubles by kind; those of ever more kinds stand together."""

    def __init__(self) -> None:
        self._found: dict[str, Trouble] = {}

    def add(self, kind: str, endpoint: str, message: str) -> None:
        if kind not in self._found and len(self._found) >= _MOST_KINDS:
            kind = "others"
        self._found.setdefault(kind, Trouble(kind)).add(endpoint, message)

    def sorted(self) -> tuple[Trouble, ...]:
        return tuple(sorted(self._found.values(), key=lambda each: -each.count))


def _latency(found: array[float]) -> Latency:
    """As results have it."""
    ordered = sorted(found)
    return Latency(median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1])
