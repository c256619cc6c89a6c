"""The report of a grading run: a page for people, JSON for programs, lines for a terminal.

    write_report(grading, folder, overwrite=True)    # report.html and report.json

The page begins with what a teacher asks first: how many texts have a grade, how the grades are
spread, what is odd about them; how the run went comes after. What models wrote is shown as text
and never as markup. All of it is made in one pass over the scores, whatever their number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import InputError
from penstock.grade.report import grades
from penstock.grade.report import run as running
from penstock.grade.report.findings import Finding, findings
from penstock.grade.report.survey import Survey, survey
from penstock.grade.report.text import summary_lines
from penstock.grade.report.words import file_names
from penstock.grade.results import Grading
from penstock.reports import Page, details
from penstock.secret import mask_bytes
from penstock.tables.atomic import draft
from penstock.tables.plain import plain, text_of

__all__ = ["made_page", "summary_lines", "write_report"]

HTML = "report.html"
JSON = "report.json"
_OPEN = 8
"""Criteria that have a section; the others unfold."""


def made_page(grading: Grading) -> Page:
    """The whole page."""
    seen = survey(grading)
    return _page(grading, seen, findings(grading, seen))


def write_report(grading: Grading, folder: Path, overwrite: bool) -> Path:
    """Write report.html and report.json, each whole or not at all. Returns the page's path."""
    folder = Path(folder)
    html, data = folder / HTML, folder / JSON
    for path in (html, data):  # both, before either is written
        if path.exists() and not overwrite:
            raise InputError(
                f"{path} is already there", remedy="Give another folder, or overwrite=True."
            )
    seen = survey(grading)
    worth = findings(grading, seen)
    with draft(data, overwrite=overwrite) as new:
        new.write_bytes(mask_bytes(_json(_document(grading, seen, worth))))
    with draft(html, overwrite=overwrite) as new:
        new.write_text(_page(grading, seen, worth).html(), "utf-8")
    return html


def _page(grading: Grading, seen: Survey, worth: list[Finding]) -> Page:
    rubric, names = grading.rubric, file_names([file.path for file in grading.files])
    parts = (*grading.run.models, str(grading.run.state), f"run {grading.run.id}")
    page = Page(rubric.name, " · ".join(part for part in parts if part))
    page.cards(running.cards(grading, seen.whole))
    if going_on := list(running.going_on(grading)):
        page.section("To go on", *going_on)
    if worth:
        page.section("Worth a look", running.found(worth))
    if rubric.has_total:
        page.section("Totals", *grades.totals(seen.whole))
    page.section("Criteria", grades.criteria(rubric, seen.whole))
    _criteria(page, grading, seen)
    if seen.lowest or seen.highest:
        page.section("To read", *grades.readings(rubric, seen, names))
    if grading.agreement:
        page.section("Agreement", *grades.agreement(grading))
    page.section("Files", *running.files(grading, seen, names), *running.problems(grading, names))
    if any(grading.counts.values()):
        page.section("Rows", running.statuses(grading), *running.troubles(grading, seen, names))
    if any(file.chunks for file in grading.files):
        page.section("Chunks", *running.chunks(grading, names))
    page.section("The rubric", *grades.rubric_parts(rubric))
    page.section("How it was made", running.facts(grading))
    return page


def _criteria(page: Page, grading: Grading, seen: Survey) -> None:
    made = [
        (each.name, list(grades.criterion(each, seen.whole.criteria[each.name])))
        for each in grading.rubric.criteria
        if seen.whole.criteria[each.name].count
    ]
    for name, parts in made[:_OPEN]:
        page.section(name, *parts)
    if rest := made[_OPEN:]:
        page.section("More criteria", *(details(name, *parts) for name, parts in rest))


def _document(grading: Grading, seen: Survey, worth: list[Finding]) -> dict[str, Any]:
    return grading.to_dict() | {
        "distributions": seen.to_dict(),
        "failures": [group.to_dict() for group in seen.kinds],
        "findings": [each._asdict() for each in worth],
    }


def _json(document: Mapping[str, Any]) -> bytes:
    """JSON that every program reads: whole characters, and no NaN."""
    text = json.dumps(_finite(plain(document)), ensure_ascii=False, default=text_of, indent=1)
    return text.encode() + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
