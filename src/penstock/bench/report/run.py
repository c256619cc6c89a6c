"""The sections on the run: its numbers, what to know about it, endpoints, failures, the slowest
and the dearest items, and how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.bench.item import Item
from penstock.bench.report.marks import block, link, said
from penstock.bench.report.survey import Survey, Trouble, item_at
from penstock.bench.report.words import all_costs
from penstock.bench.result import BenchResult, EndpointResult
from penstock.reports import Markup, badge, compact, details, percent, preformatted, table
from penstock.reports.parts import Tone
from penstock.reports.text import escaped, one_line
from penstock.reports.words import counted, json_block, json_line, money, span, when
from penstock.tables import Table

__all__ = [
    "cards",
    "endpoints",
    "extremes",
    "failures",
    "problems",
    "settings",
    "subtitle",
    "title",
]

_FINE = "completed"
_WIDEST = 120
_TOLD = ("command", "recipes", "cookbooks", "endpoints", "name")
_STATES: dict[str, Tone] = {"completed": "good", "failed": "bad", "cancelled": "bad"}


def title(result: BenchResult) -> str:
    """What it is called, or what was run."""
    run = result.cookbooks or result.recipes
    names = [each.name or each.id for each in run]
    return result.name or (", ".join(names) if 0 < len(names) <= 2 else "Benchmark")


def subtitle(result: BenchResult) -> str:
    many = counted(len(result.endpoints), "endpoint")
    names = ", ".join(result.endpoints) if len(result.endpoints) <= 4 else many
    return " · ".join((names, result.state, when(result.ended), f"run {result.id}"))


def cards(result: BenchResult) -> Iterator[tuple[str, str, str]]:
    """The numbers that matter; a row of cards has room for four."""
    every = [each for recipe in result.recipes for each in recipe.endpoints]
    items, answered = sum(each.items for each in every), sum(each.answered for each in every)
    refused, failed = sum(each.refused for each in every), sum(each.failed for each in every)
    recipes = counted(len(result.recipes), "recipe")
    yield "answers", f"{answered:,}", f"of {items:,}, in {recipes}"
    note = f"{refused:,} refused, {failed:,} failed" if refused or failed else ""
    yield "not answered", f"{refused + failed:,}", note
    tokens = sum(each.input_tokens for each in every), sum(each.output_tokens for each in every)
    used = f"{compact(tokens[0])} tokens in, {compact(tokens[1])} out"
    yield "cost of the answers", money(all_costs(each.cost for each in every)), used
    rate = items / result.seconds if result.seconds > 0 else 0
    note = f"{rate:,.1f} items a second" if rate >= 0.05 else ""
    yield "time", span(result.seconds) or "", note


def problems(result: BenchResult) -> Iterator[Markup | str]:
    """What should be known before the scores are believed; nothing where all is well."""
    rows: list[tuple[Markup, str]] = []
    if result.state != _FINE or result.message:
        tone = _STATES.get(result.state, "warn")
        rows.append((badge(result.state, tone), _state(result)))
    rows += [(badge("note", "warn"), problem) for problem in result.problems]
    if rows:
        yield table(["about", "what"], rows, numeric=())


def _state(result: BenchResult) -> str:
    said = [result.message] if result.message else []
    failed = sum(each.failed for recipe in result.recipes for each in recipe.endpoints)
    if failed:
        asked = "item" if failed == 1 else "items"
        said.append(f"{failed:,} {asked} failed; no score is made of them.")
    if result.state != _FINE:
        said.append(f"To go on with what is missing: penstock runs resume {result.id}")
    return "\n".join(said)


def endpoints(result: BenchResult, survey: Survey) -> Iterator[Markup | str]:
    """Tokens, cost and time of each endpoint, in all and by recipe."""
    found: dict[str, list[EndpointResult]] = {name: [] for name in result.endpoints}
    for recipe in result.recipes:
        for each in recipe.endpoints:
            found.setdefault(each.endpoint, []).append(each)
    heads = [
        *("endpoint", "items", "answered", "refused", "failed", "tokens in", "tokens out"),
        *("cost", "median", "95 % within"),
    ]
    rows = []
    for name, parts in found.items():
        latency = survey.latency.get(name)
        cost = all_costs(each.cost for each in parts)
        times = (None, None) if latency is None else (span(latency.median), span(latency.p95))
        rows.append((name, *_sums(parts), None if cost is None else money(cost), *times))
    yield block("tight", table(heads, rows, numeric=heads[1:]))
    if len(result.recipes) > 1:
        lines = [
            (recipe.name or recipe.id, *_line(each))
            for recipe in result.recipes
            for each in recipe.endpoints
        ]
        yield details(
            "By recipe", block("tight", table(["recipe", *heads], lines, numeric=heads[1:]))
        )
    judges = list(result.judges)
    also = f" What judges used ({', '.join(judges)}) is not in it." if judges else ""
    yield (
        "Costs are those of the answers, also of those that were paid for before; – where a "
        f"price is unknown. Times are from sending to the whole answer.{also}"
    )


def _line(each: EndpointResult) -> tuple[object, ...]:
    cost = None if each.cost is None else money(each.cost)
    times = span(each.latency_median), span(each.latency_p95)
    return (each.endpoint, *_sums([each]), cost, *times)


def _sums(parts: Sequence[EndpointResult]) -> tuple[int, ...]:
    names = ("items", "answered", "refused", "failed", "input_tokens", "output_tokens")
    return tuple(sum(getattr(each, name) for each in parts) for name in names)


def failures(survey: Survey) -> Iterator[Markup | str]:
    """What failed, by kind, and what metrics could not score; nothing where nothing did."""
    if survey.failures:
        rows: list[tuple[object, ...]] = [
            (_kind(each), each.count, _whom(each), _said(each)) for each in survey.failures
        ]
        heads = ["kind", "items", "endpoints", "what was said"]
        yield table(heads, rows, numeric=("items",), caption="Items that failed")
    if survey.errors:
        rows = [(each.kind, each.count, _whom(each), _said(each)) for each in survey.errors]
        heads = ["metric", "answers", "endpoints", "what was said"]
        yield table(heads, rows, numeric=("answers",), caption="Answers that were not scored")


def _kind(each: Trouble) -> Markup:
    return badge(each.kind.replace("_", " "), "bad")


def _whom(each: Trouble) -> str:
    return "\n".join(f"{name}: {count:,}" for name, count in each.endpoints.most_common(6))


def _said(each: Trouble) -> str | None:
    return "\n".join(each.messages) or None


def extremes(survey: Survey, items: Table, names: Mapping[str, str]) -> Iterator[Markup | str]:
    """The slowest items and the dearest."""
    shown = frozenset(survey.chosen)
    if survey.slowest:
        yield _listed("The slowest", "time", survey.slowest, items, names, shown, _time)
    if survey.dearest:
        yield _listed("The dearest", "cost", survey.dearest, items, names, shown, _cost)


def _time(item: Item) -> str | None:
    return span(item.latency)


def _cost(item: Item) -> str:
    return money(item.cost)


def _listed(
    caption: str,
    what: str,
    rows: Sequence[int],
    items: Table,
    names: Mapping[str, str],
    shown: frozenset[int],
    value: Callable[[Item], str | None],
) -> Markup:
    lines = []
    for row in rows:
        item = item_at(items, row)
        number = f"#{item.number:,}"
        lines.append(
            (
                link(number, f"item-{row}") if row in shown else number,
                value(item),
                item.output_tokens,
                escaped(item.endpoint),
                names.get(item.recipe, item.recipe),
                said("clip", one_line(item.prompt, _WIDEST)),
            )
        )
    heads = ["item", what, "tokens out", "endpoint", "recipe", "prompt"]
    return block("tight", table(heads, lines, numeric=(what, "tokens out"), caption=caption))


def settings(result: BenchResult) -> Iterator[Markup | str]:
    """How to do it again."""
    command = result.settings.get("command")
    if isinstance(command, list | tuple):
        command = shlex.join(map(str, command))
    if command:
        yield preformatted(str(command))
    given = [
        (name.replace("_", " "), _value(value))
        for name, value in result.settings.items()
        if name not in _TOLD and value not in (None, "", {}, [], ())
    ]
    rows = [
        ("run", result.id),
        ("scored anew from", result.rescored_from),
        ("recipes", ", ".join(recipe.id for recipe in result.recipes)),
        ("cookbooks", ", ".join(cookbook.id for cookbook in result.cookbooks)),
        ("endpoints", ", ".join(result.endpoints)),
        *given,
        ("began", when(result.started)),
        ("ended", when(result.ended)),
        ("Penstock", result.version),
    ]
    yield table(["what", "value"], [row for row in rows if row[1]], numeric=())
    for name, spec in result.endpoints.items():
        yield details(f"Endpoint {name}", preformatted(json_block(spec)))
    for name, spec in result.judges.items():
        yield details(f"Judge {name}", preformatted(json_block(spec)))


def _value(value: Any) -> str:
    if isinstance(value, float) and 0 < value < 1:
        return f"{value:g} ({percent(value)})"
    return value if isinstance(value, str) else json_line(value)
