"""The report of a benchmark: one page that needs nothing but itself.

    write_report(result, items, Path("report.html"))

It begins with what people look for first, the grades; then recipe by recipe what they are made
of, where endpoints differ, what went wrong and what it took; and at last the items themselves, as
many as a page bears. What models wrote is shown as text and never as markup. The items are passed
once and never held, whatever their number.
"""

from __future__ import annotations

from pathlib import Path

from penstock.bench.report import items as showing
from penstock.bench.report import run as running
from penstock.bench.report.marks import style
from penstock.bench.report.scores import grades, recipe_parts
from penstock.bench.report.survey import survey
from penstock.bench.result import BenchResult
from penstock.errors import InputError
from penstock.reports import Page, details
from penstock.tables import Table
from penstock.tables.atomic import draft

__all__ = ["made_page", "write_report"]

_OPEN = 8
"""Recipes that have a section; the others unfold."""


def write_report(
    result: BenchResult,
    items: Table,
    path: Path,
    *,
    most_items: int = 500,
    overwrite: bool = False,
) -> Path:
    """Write the page, whole or not at all. Returns its path."""
    path = Path(path)
    if path.exists() and not overwrite:  # before the work, not after it
        raise InputError(f"{path} is already there", remedy="Give another name, or overwrite=True.")
    page = made_page(result, items, most_items=most_items)
    with draft(path, overwrite=overwrite) as new:
        new.write_text(page.html(), "utf-8")
    return path


def made_page(result: BenchResult, items: Table, *, most_items: int = 500) -> Page:
    """The whole page; at most so many items are in it."""
    seen = survey(result, items, most_items=most_items, most_flips=showing.MOST_FLIPS)
    names = {recipe.id: recipe.name or recipe.id for recipe in result.recipes}
    page = Page(running.title(result), running.subtitle(result))
    page.cards(running.cards(result))
    if told := list(running.problems(result)):
        page.section("To know first", *told)
    if result.recipes and result.endpoints:
        page.section("Grades", *grades(result))
    _recipes(page, result)
    if told := list(showing.flips(result, seen, items)):
        page.section("Where endpoints differ", *told)
    page.section("Tokens, cost and time", *running.endpoints(result, seen))
    if told := list(running.failures(seen)):
        page.section("What went wrong", *told)
    if told := list(running.extremes(seen, items, names)):
        page.section("Slowest and dearest", *told)
    page.section("To do it again", *running.settings(result))
    page.section("Items", style(), *showing.items_to_open(result, seen, items))
    return page


def _recipes(page: Page, result: BenchResult) -> None:
    endpoints = list(result.endpoints)
    made = [
        (recipe.name or recipe.id, list(recipe_parts(recipe, endpoints)))
        for recipe in result.recipes
    ]
    for name, parts in made[:_OPEN]:
        page.section(name, *parts)
    if rest := made[_OPEN:]:
        page.section("More recipes", *(details(name, *parts) for name, parts in rest))
