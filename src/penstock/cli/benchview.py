"""What `penstock bench` shows on a terminal: results, one item, what recipes need.

Everything is laid out so that 80 columns are enough; what people and models wrote is shown as text,
whatever is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from penstock.cli.show import dollars, out, safe, short, since, span
from penstock.metrics.score import ScoreStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from penstock.bench.item import Item, ItemScore
    from penstock.bench.result import (
        BenchResult,
        CookbookResult,
        EndpointResult,
        Measured,
        MetricResult,
        RecipeResult,
    )

__all__ = ["print_item", "print_needs", "print_result", "print_results"]

_LONGEST = 6_000
_NARROWEST = 20
_INDENT = 13
_NOTHING = "-"
_TONES = ("green", "yellow", "red")


# A result -------------------------------------------------------------------------------------


def print_result(result: BenchResult, *, report: Path | None = None) -> None:
    """The scores by recipe and endpoint, the cookbooks, what should be known, where the page is."""
    console = out()
    console.print(_line(result.name or result.id, "bold underline"), soft_wrap=True)
    took = f"{result.state}, {since(result.ended)}, {span(result.seconds)}, run {result.id}"
    console.print(_line(took, "dim"), soft_wrap=True)
    for recipe in result.recipes:
        console.print()
        asked = f"  {recipe.prompts:,} questions to each endpoint"
        console.print(_line(recipe.name or recipe.id, "bold") + _line(asked, "dim"))
        console.print(_recipe(recipe))
    for cookbook in result.cookbooks:
        console.print()
        console.print(_line(f"{cookbook.name or cookbook.id}, overall", "bold"))
        console.print(_cookbook(cookbook, result.recipes))
    if result.message or result.problems:
        console.print()
        for problem in filter(None, (result.message, *result.problems)):
            console.print(_line(f"! {problem}", "yellow"), soft_wrap=True)
    if report is not None:
        console.print()
        console.print(_line(f"report: {report}"), soft_wrap=True)


def _recipe(recipe: RecipeResult) -> Table:
    """A line for each endpoint and metric; what is the same for all metrics is said once."""
    table = _table("endpoint", "metric", ">value", "interval", "grade", "not scored")
    for each in recipe.endpoints:
        for place, metric in enumerate(each.metrics):
            first = place == 0
            table.add_row(
                _line(each.endpoint if first else ""),
                _line(metric.metric),
                _line(_number(metric.mean.value), "bold"),
                _line(_interval(metric.mean)),
                _grade(recipe, each.grade) if first else _line(""),
                _line(_lost(each, metric)),
            )
        if not each.metrics:
            table.add_row(*(_line(text) for text in (each.endpoint, _NOTHING, _NOTHING, "", "")))
    return table


def _lost(each: EndpointResult, metric: MetricResult) -> str:
    """What has no score: 2 failed, 1 refused. Further metrics say only what the first did not."""
    first = each.metrics[0]
    again = metric is not first
    errors = "error" if metric.errors == 1 else "errors"
    pairs = (
        (0 if again else each.failed, "failed"),
        (0 if again and metric.refused == first.refused else metric.refused, "refused"),
        (max(0, metric.no_answer - each.failed), "no answer"),
        (metric.errors, errors),
    )
    return ", ".join(f"{count:,} {what}" for count, what in pairs if count)


def _cookbook(cookbook: CookbookResult, recipes: Sequence[RecipeResult]) -> Table:
    table = _table("endpoint", "worst", ">mean", "graded")
    for each in cookbook.grades:
        scale = next((recipe for recipe in recipes if each.worst in recipe.grading), None)
        mean = _NOTHING if each.mean is None else f"{each.mean:.1f} %"
        mean += f" ({each.mean_grade})" if each.mean_grade else ""
        table.add_row(
            _line(each.endpoint),
            _line(each.worst or _NOTHING) if scale is None else _grade(scale, each.worst),
            _line(mean, "bold"),
            _line(f"{each.graded:,} of {each.recipes:,} recipes"),
        )
    return table


def _grade(recipe: RecipeResult, grade: str | None) -> Text:
    labels = list(recipe.grading)
    if grade is None or grade not in labels:
        return _line(grade or "")
    share = labels.index(grade) / max(1, len(labels) - 1)
    return _line(grade, f"bold {_TONES[min(2, int(3 * share))]}")


# Several results ------------------------------------------------------------------------------


def print_results(results: Sequence[BenchResult]) -> None:
    """A line for each result."""
    table = _table("=result", "name", "ended", "state", ">items", "grades")
    for result in results:
        items = sum(each.items for recipe in result.recipes for each in recipe.endpoints)
        table.add_row(
            _line(result.id),
            _line(short(result.name, 40)),
            _line(since(result.ended)[:16]),
            _line(result.state),
            _line(f"{items:,}"),
            _line(_grades(result)),
        )
    out().print(table)


def _grades(result: BenchResult) -> str:
    """The grades in half a line: those of cookbooks, else of recipes."""
    found = [grade.worst for book in result.cookbooks for grade in book.grades]
    if not any(found):
        found = [each.grade for recipe in result.recipes for each in recipe.endpoints]
    given = [grade for grade in found if grade]
    more = f", +{len(given) - 6}" if len(given) > 6 else ""
    return ", ".join(given[:6]) + more


# One item -------------------------------------------------------------------------------------


def print_item(item: Item) -> None:
    """One question and what became of it, whole."""
    console = out()
    console.print(_line(f"item {item.number}, {item.recipe}, {item.endpoint}", "bold underline"))
    where = f"dataset {item.dataset}"
    where += f", template {item.template}" if item.template else ""
    where += f", example {item.example} ({item.id})"
    where += f", epoch {item.epoch}" if item.epoch else ""
    _block(console, "from", where, "dim")
    _block(console, "prompt", item.prompt)
    if item.answer is not None:
        _block(console, "answer", item.answer or "(empty)", "bold")
    for target in item.target or ():
        _block(console, "target", target)
    _block(console, "status", str(item.status), "" if item.answer is not None else "red")
    if item.failure or item.error:
        kind = item.failure.replace("_", " ")
        _block(console, "error", f"{kind}: {item.error}".removeprefix(": "), "red")
    for score in item.scores:
        _score(console, score)
    _block(console, "used", _used(item), "dim")


def _score(console: Console, score: ItemScore) -> None:
    scored = score.status is ScoreStatus.SCORED
    value = _number(score.value) if scored else score.status.replace("_", " ")
    _block(console, "score", f"{score.metric} {value}", "bold" if scored else "yellow")
    if score.extracted is not None:
        _block(console, "", f"read: {score.extracted}", "dim")
    if score.reason:
        _block(console, "", f"why: {score.reason}", "dim")


def _used(item: Item) -> str:
    told = [
        f"{item.input_tokens:,} tokens in, {item.output_tokens:,} out",
        "" if item.cost is None else dollars(item.cost),
        "" if item.latency is None else f"{item.latency:.2f} s",
        f"{item.attempts} attempts" if item.attempts > 1 else "",
        f"ended by {item.finish}" if item.finish else "",
        "found recorded" if item.recorded else "",
    ]
    return "; ".join(part for part in told if part)


# What recipes need ----------------------------------------------------------------------------


def print_needs(needs: Sequence[Mapping[str, Any]]) -> None:
    """What each recipe is made of, who judges, how many questions it has, and what is missing."""
    console = out()
    for place, each in enumerate(needs):
        if place:
            console.print()
        console.print(_line(str(each["recipe"]), "bold"), soft_wrap=True)
        for name in ("datasets", "templates", "metrics"):
            if each.get(name):
                _block(console, name, ", ".join(map(str, each[name])))
        if each.get("judge"):
            _block(console, "judge", str(each["judge"]))
        prompts = each.get("prompts")
        if prompts is not None:
            _block(console, "questions", f"{prompts:,} to each endpoint")
        for missing in each.get("missing") or ():
            _block(console, "missing", str(missing), "red")


# Pieces ---------------------------------------------------------------------------------------


def _block(console: Console, name: str, value: str, style: str = "") -> None:
    """A name and a text beside it, which stays in its column."""
    from rich.text import Text

    text = Text(safe(_cut(value)), style=style)
    head = f"  {name}".ljust(_INDENT)
    room = max(console.width - _INDENT, _NARROWEST)
    for line in text.wrap(console, room) or [text]:
        line.rstrip()
        console.print(Text.assemble((head, "cyan"), line), soft_wrap=True)
        head = " " * _INDENT


def _table(*headings: str) -> Table:
    """Without lines. What stands under > is a number; what stands under = is never broken: people
    copy it."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading.startswith(">") else "left"
        whole = heading.startswith("=")
        table.add_column(heading.lstrip(">="), justify=justify, overflow="fold", no_wrap=whole)
    return table


def _line(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(safe(text), style=style)


def _number(value: float | None) -> str:
    from penstock.reports.numbers import number

    return _NOTHING if value is None else number(value)


def _interval(mean: Measured) -> str:
    if mean.low is None or mean.high is None:
        return ""
    return f"{mean.low:.3g} to {mean.high:.3g}"


def _cut(text: str) -> str:
    text = text.strip("\n")
    left = len(text) - _LONGEST
    return text if left <= 0 else f"{text[:_LONGEST]}… ({left:,} characters more)"
