"""Two runs, or two endpoints of one run, item by item: what got better, what worse, is it chance?

    compare_results(Side(old, old_items, "gpt", "old"), Side(new, new_items, "gpt", "new"))

Items are paired by recipe, dataset, template and the example's id; epochs are reduced first, by the
recipe's own reducer. Every metric that both sides have is compared, and all p values are corrected
together (Holm). What cannot be compared is listed with the reason, and so is what differs in how
the two were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.bench.comparing.flips import Disagreement, Disagreements, Flip, flips_between, told
from penstock.bench.comparing.found import BenchComparison
from penstock.bench.comparing.matching import Incomparable, matches
from penstock.bench.comparing.notes import run_notes
from penstock.bench.comparing.recipe import Compared, Comparing, OnlyIn
from penstock.bench.comparing.scores import read_scores
from penstock.bench.result import BenchResult
from penstock.bench.summary.reducing import Examples
from penstock.errors import InputError
from penstock.metrics.statistics import holm_corrected
from penstock.tables import Table

__all__ = [
    "BenchComparison",
    "Compared",
    "Disagreement",
    "Disagreements",
    "Flip",
    "Incomparable",
    "OnlyIn",
    "Side",
    "compare_endpoints",
    "compare_results",
    "flips_between",
]


@dataclass(frozen=True)
class Side:
    """One endpoint of one run."""

    result: BenchResult
    items: Table
    endpoint: str
    label: str
    """How it is called in what is said."""


def compare_endpoints(
    result: BenchResult, items: Table, a: str, b: str, **options: Any
) -> BenchComparison:
    """Endpoint b against endpoint a in one run; the options are those of `compare_results`."""
    return compare_results(Side(result, items, a, a), Side(result, items, b, b), **options)


def compare_results(
    a: Side,
    b: Side,
    *,
    level: float = 0.95,
    seed: int = 0,
    recipe: str | None = None,
    metric: str | None = None,
    most: int = 20,
) -> BenchComparison:
    """b against a in every recipe and metric that both have, or in those that are named.

    `most` bounds how many items that went the other way are fetched to be shown.
    """
    _check(a, b, recipe, metric)
    names = _names(a, b)
    matched = matches((a.result, a.endpoint), (b.result, b.endpoint), names, recipe, metric)
    labels = {name: list(found) for name, found in matched.found.items()}
    examples = {name: Examples() for name in labels}
    ours = read_scores(a.items, a.endpoint, labels, examples)
    theirs = read_scores(b.items, b.endpoint, labels, examples)
    work = Comparing(names, level, seed, most)
    for name, metrics in matched.found.items():
        work.recipe(name, metrics, ours[name], theirs[name])
    between = run_notes(a.result, b.result, (a.endpoint, b.endpoint), names)
    return BenchComparison(
        names=names,
        level=level,
        comparisons=_corrected(work.compared),
        flips=told(work.changes, a.items, b.items, most),
        flipped=work.flipped,
        only=tuple(work.only),
        incomparable=tuple(matched.incomparable),
        notes=(*between, *matched.notes, *work.notes),
    )


def _corrected(compared: Sequence[Compared]) -> tuple[Compared, ...]:
    corrected = holm_corrected([one.comparison for one in compared])
    both = zip(compared, corrected, strict=True)
    return tuple(one._replace(comparison=comparison) for one, comparison in both)


def _names(a: Side, b: Side) -> tuple[str, str]:
    """What the sides are called, made different where something of them differs."""
    if a.label == b.label:
        for one, other in ((a.endpoint, b.endpoint), (a.result.id, b.result.id)):
            if one != other:
                return f"{a.label} ({one})", f"{b.label} ({other})"
    return a.label, b.label


def _check(a: Side, b: Side, recipe: str | None, metric: str | None) -> None:
    """What is named must be there, on one side at least."""
    for side in (a, b):
        _check_name("endpoint", side.endpoint, list(side.result.endpoints), side.result.id)
    recipes = [each for side in (a, b) for each in side.result.recipes]
    ids = [each.id for each in recipes]
    runs = " and ".join(dict.fromkeys([a.result.id, b.result.id]))
    _check_name("recipe", recipe, ids, runs)
    chosen = [each for each in recipes if recipe in (None, each.id)]
    labels = [one.metric for each in chosen for side in each.endpoints for one in side.metrics]
    _check_name("metric", metric, labels, runs)


def _check_name(kind: str, name: str | None, known: Sequence[str], where: str) -> None:
    if name is not None and name not in known:
        there = ", ".join(dict.fromkeys(known)) or "none"
        raise InputError(f"{where} has no {kind} {name!r}", remedy=f"There are: {there}.")
