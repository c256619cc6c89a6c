"""The items themselves: those that endpoints did not answer alike, and every one to open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.report.flips import Flip
from penstock.bench.report.marks import (
    Chip,
    block,
    chips,
    heading,
    label,
    opened,
    rules,
    said,
    strong,
)
from penstock.bench.report.survey import Survey, item_at
from penstock.bench.report.words import (
    VERDICTS,
    first_metric,
    score_of,
    shortened,
    tone_of,
    value_of,
    verdict,
)
from penstock.bench.result import BenchResult
from penstock.metrics.score import ScoreStatus
from penstock.reports import Markup, badge, number, preformatted, prose, table
from penstock.reports.text import joined, one_line
from penstock.reports.words import counted, money, span
from penstock.tables import Table

__all__ = ["MOST_FLIPS", "flips", "items_to_open"]

MOST_FLIPS = 12
_LONGEST = 6_000
_LONGEST_SIDE = 2_000
_MOST_TARGETS = 5
_MOST_SIDES = 6
_WIDEST = 160
_SHORT = 120
_MOST_CHIPS = 24
_FIRSTS = dict[str, tuple[str, Mapping[str, Any]]]


# Flips ----------------------------------------------------------------------------------------


def flips(result: BenchResult, survey: Survey, items: Table) -> Iterator[Markup | str]:
    """Where endpoints differ; nothing where there is one endpoint, or they never do."""
    rows: list[tuple[object, ...]] = []
    chosen: list[Flip] = []
    compared = {id_: found for id_, found in survey.differences.items() if found.compared}
    differing = [found for found in compared.values() if found.differ]
    if not differing:
        return
    each = max(1, MOST_FLIPS // len(differing))
    for recipe in result.recipes:
        if (found := compared.get(recipe.id)) is not None:
            name, metric = recipe.name or recipe.id, first_metric(recipe)[0]
            alike = found.compared - found.differ
            rows.append((name, metric, found.compared, alike, found.differ))
            chosen += found.largest[:each]
    yield (
        "Questions that endpoints did not answer alike by the first metric of the recipe; with "
        "several epochs, by the mean of them."
    )
    heads = ["recipe", "metric", "compared", "alike", "not alike"]
    yield table(heads, rows, numeric=heads[2:])
    if survey.not_compared:
        yield f"{counted(survey.not_compared, 'item')} beyond the first million were not compared."
    names = {recipe.id: recipe.name or recipe.id for recipe in result.recipes}
    firsts = {recipe.id: first_metric(recipe) for recipe in result.recipes}
    yield heading("The largest differences")
    for flip in chosen[:MOST_FLIPS]:
        yield _flip(flip, names, firsts, items)


def _flip(flip: Flip, names: Mapping[str, str], firsts: _FIRSTS, items: Table) -> Markup:
    metric, about = firsts[flip.recipe]
    sides, first = [], None
    for endpoint, row in list(flip.rows.items())[:_MOST_SIDES]:
        item = item_at(items, row)
        first = item if first is None else first
        score = score_of(item.scores, metric)
        shown = flip.means.get(endpoint)
        value = _outcome(item, score) if shown is None else number(shown)
        tone = tone_of(item, score, about)
        sides.append(
            block("side", label(endpoint, badge(value, tone)), _answer(item, _LONGEST_SIDE))
        )
    assert first is not None
    parts = [
        label(f"{names.get(flip.recipe, flip.recipe)}, example {first.id}, {metric}"),
        _text(first.prompt, _LONGEST_SIDE),
        *_targets(first),
        block("sides", *sides),
    ]
    if more := len(flip.rows) - _MOST_SIDES:
        parts += [label(f"and {counted(more, 'more endpoint')}")] if more > 0 else []
    return block("flip", *parts)


# Items ----------------------------------------------------------------------------------------


def items_to_open(result: BenchResult, survey: Survey, items: Table) -> Iterator[Markup | str]:
    """The chosen items by recipe, with a filter, and a word on those that are not here."""
    yield _how_many(survey)
    yield preformatted(f"penstock bench results export {result.id} -o items.jsonl")
    if not survey.chosen:
        return
    firsts = {recipe.id: first_metric(recipe) for recipe in result.recipes}
    names = {recipe.id: recipe.name or recipe.id for recipe in result.recipes}
    endpoints = {name: f"e{place}" for place, name in enumerate(result.endpoints)}
    recipes = {id_: f"r{place}" for place, id_ in enumerate(names)}
    found: Counter[str] = Counter()
    groups = []
    # One at a time: of what is read only what is shown stays.
    read = ((row, item_at(items, row)) for row in survey.chosen)
    for recipe, inside in groupby(read, key=lambda pair: pair[1].recipe):
        lines = []
        for row, item in inside:
            first = firsts.get(recipe, ("", {}))
            kinds = (
                verdict(item.status, score_of(item.scores, first[0]), first[1]),
                endpoints.get(item.endpoint, "e"),
                recipes.get(recipe, "r"),
            )
            found.update(kinds)
            lines.append(_item(row, item, first, kinds))
        groups.append(block("group", heading(names.get(recipe, recipe)), *lines))
    yield block("items", *_filters(found, endpoints, recipes, names), *groups)


def _how_many(survey: Survey) -> str:
    shown, every = len(survey.chosen), survey.items
    if shown == every:
        return f"All {counted(every, 'item')}, to open. To have them in a file:"
    if not shown:
        return f"None of the {counted(every, 'item')} is shown here. To have all of them in a file:"
    return (
        f"{shown:,} of {counted(every, 'item')} are here: first those that failed, were refused or "
        "went wrong, in turns by recipe and endpoint, then others. To have all of them in a file:"
    )


def _filters(
    found: Counter[str],
    endpoints: Mapping[str, str],
    recipes: Mapping[str, str],
    names: Mapping[str, str],
) -> list[Markup]:
    """Rows of chips, where there is something to choose."""
    became = [Chip(kind, text, found[kind]) for kind, text in VERDICTS.items() if found[kind]]
    whom = [Chip(kind, one_line(name, 40), found[kind]) for name, kind in endpoints.items()]
    which = [Chip(kind, one_line(names[id_], 40), found[kind]) for id_, kind in recipes.items()]
    made = []
    for name, legend, choices in (
        ("became", "outcome", became),
        ("whom", "endpoint", whom),
        ("which", "recipe", which),
    ):
        there = [chip for chip in choices if chip.many]
        if 1 < len(there) <= _MOST_CHIPS:
            made += [chips(name, legend, there), rules(name, [chip.kind for chip in there])]
    return made


def _item(
    row: int, item: Item, first: tuple[str, Mapping[str, Any]], kinds: Sequence[str]
) -> Markup:
    score = score_of(item.scores, first[0])
    value = value_of(score)
    text = _outcome(item, score) if value is None else f"{first[0]} {number(value)}"
    line = (
        said("place", f"#{item.number:,}"),
        said("asked", one_line(item.prompt, _WIDEST)),
        said("whom", item.endpoint),
        badge(one_line(text, 32), tone_of(item, score, first[1])),
    )
    parts = [
        label("prompt"),
        _text(item.prompt, _LONGEST),
        label("answer"),
        _answer(item, _LONGEST),
    ]
    parts += _targets(item)
    if item.scores:
        parts.append(_scores(item.scores))
    if item.status is ItemStatus.FAILED:
        kind = (item.failure or "failed").replace("_", " ")
        parts.append(prose(f"{kind}: {shortened(item.error, _LONGEST_SIDE)}"))
    parts.append(block("facts", prose(_facts(item))))
    return opened(kinds, line, f"item-{row}", *parts)


def _outcome(item: Item, score: ItemScore | None) -> str:
    """Why there is no value."""
    if item.status is ItemStatus.FAILED:
        return (item.failure or "failed").replace("_", " ")
    if item.status is ItemStatus.REFUSED or score is None:
        return str(item.status)
    return score.status.replace("_", " ")


def _scores(scores: Sequence[ItemScore]) -> Markup:
    rows = [
        (
            each.metric,
            each.value if each.status is ScoreStatus.SCORED else each.status.replace("_", " "),
            None if each.extracted is None else shortened(each.extracted, _LONGEST_SIDE),
            shortened(each.reason, _LONGEST_SIDE) or None,
        )
        for each in scores
    ]
    kept = [place for place in range(4) if place < 2 or any(row[place] for row in rows)]
    heads = ("metric", "score", "read from the answer", "why")
    lines = [[row[place] for place in kept] for row in rows]
    return table([heads[place] for place in kept], lines, numeric=("score",))


def _facts(item: Item) -> str:
    where = f"dataset {item.dataset}"
    where += f", template {item.template}" if item.template else ""
    where += f", example {item.example:,} ({item.id})"
    where += f", epoch {item.epoch}" if item.epoch else ""
    tokens = f"{item.input_tokens:,} tokens in, {item.output_tokens:,} out"
    told = [
        where,
        str(item.status),
        f"ended by {item.finish}" if item.finish else "",
        tokens,
        "" if item.cost is None else money(item.cost),
        span(item.latency) or "",
        counted(item.attempts, "attempt") if item.attempts > 1 else "",
        "found recorded" if item.recorded else "",
    ]
    return " · ".join(part for part in told if part)


def _targets(item: Item) -> list[Markup]:
    targets = item.target
    if targets is None:
        return []
    if not targets:
        return [label("target", strong("that there is no answer"))]
    if len(targets) == 1 and len(targets[0]) <= _SHORT and "\n" not in targets[0]:
        return [label("target", strong(targets[0] or "(empty)"))]
    shown = [_text(target, _LONGEST_SIDE) for target in targets[:_MOST_TARGETS]]
    more = len(targets) - _MOST_TARGETS
    left = [label(f"and {more:,} more")] if more > 0 else []
    return [label("target" if len(targets) == 1 else "targets"), *shown, *left]


def _answer(item: Item, most: int) -> Markup:
    if item.answer is None:
        why = shortened(item.error, most) if item.error else str(item.status)
        return label(f"no answer: {why}")
    return _text(item.answer, most) if item.answer.strip() else label("an empty answer")


def _text(text: str, most: int) -> Markup:
    return joined(preformatted(shortened(text, most)))
