"""The report of a campaign: one page that needs nothing but itself.

    write_report(campaign, Path("report.html"))

It begins with the rates, by endpoint, attack and category, with their intervals and what they
mean; then come the conversations that tell most, what went wrong, and how to do it again. What
attackers and models wrote is shown as text, with everything that cannot be seen spelled out, and
never as markup. Conversations and turns are passed once and never held, whatever their number.
"""

from __future__ import annotations

from pathlib import Path

from penstock.errors import InputError
from penstock.redteam.report import meaning, scores, talks
from penstock.redteam.report import run as running
from penstock.redteam.report.marks import style
from penstock.redteam.report.survey import survey
from penstock.redteam.report.unseen import exposed
from penstock.redteam.results import Campaign
from penstock.reports import Page
from penstock.tables.atomic import draft

__all__ = ["made_page", "write_report"]


def write_report(
    campaign: Campaign, path: Path, *, most: int = 60, overwrite: bool = False
) -> Path:
    """Write the page, whole or not at all, with at most so many conversations. Returns its path."""
    path = Path(path)
    if path.exists() and not overwrite:  # before the work, not after it
        raise InputError(f"{path} is already there", remedy="Give another name, or overwrite=True.")
    page = made_page(campaign, most=most)
    with draft(path, overwrite=overwrite) as new:
        new.write_text(exposed(page.html()), "utf-8")
    return path


def made_page(campaign: Campaign, *, most: int = 60) -> Page:
    """The whole page."""
    if most < 0:
        raise InputError(f"{most} conversations cannot be shown", remedy="Give 0 or more.")
    result, seen = campaign.result, survey(campaign, most=most)
    page = Page(result.name or "Red-team campaign", running.subtitle(result))
    page.cards(running.cards(result, seen))
    if told := list(running.problems(result, seen)):
        page.section("To know first", *told)
    page.section("Success by attack and endpoint", style(), *scores.overview(result))
    if told := list(scores.categories(result)):
        page.section("Success by category", *told)
    if told := list(scores.turns(result, seen)):
        page.section("Turns to success", *told)
    page.section("All numbers", *scores.numbers(result))
    page.section("What the numbers mean", *meaning.paragraphs(result, seen))
    page.section("Conversations", *talks.to_open(campaign, seen))
    if told := list(running.failures(seen)):
        page.section("What went wrong", *told)
    page.section("Tokens and cost", *running.endpoints(result, seen))
    page.section("To do it again", *running.settings(result))
    return page
