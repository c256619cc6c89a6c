"""A result for continuous integration: what was demanded of it, and a JUnit file.

A check is `METRIC=VALUE` or `RECIPE:METRIC=VALUE`, the value a number or per cent of the metric's
range: `accuracy=0.8`, `sums:accuracy=80%`. Where lower is better it is the most that is allowed. A
metric by which nothing was scored fails its check: no news is not good news.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree  # it writes here, and reads nothing

from penstock.bench.item import Item, ItemStatus, items_of
from penstock.bench.result import BenchResult, EndpointResult, MetricResult, RecipeResult
from penstock.errors import InputError
from penstock.metrics.score import ScoreStatus
from penstock.reports.numbers import number
from penstock.reports.text import visible
from penstock.tables import Table
from penstock.tables.atomic import draft

__all__ = ["Check", "failed_checks", "known_checks", "parse_check", "write_junit"]

_SLACK = 1e-9
"""A mean of 0.8 may have been computed as 0.7999999999999999."""
_LONGEST = 4_000
_NOT_XML = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True)
class Check:
    """What is demanded of a metric, of every endpoint; by all recipes that have it, or by one."""

    metric: str
    value: float
    recipe: str = ""
    is_percent: bool = False

    def __str__(self) -> str:
        value = f"{number(self.value)}%" if self.is_percent else number(self.value)
        return f"{self.recipe}:{self.metric}={value}" if self.recipe else f"{self.metric}={value}"

    def concerns(self, recipe: str, metric: str) -> bool:
        return metric == self.metric and self.recipe in ("", recipe)


def parse_check(text: str) -> Check:
    """`accuracy=0.8`, `accuracy=80%` or `sums:accuracy=0.8`."""
    name, equals, value = text.rpartition("=")
    recipe, colon, metric = name.partition(":")
    if not colon:
        recipe, metric = "", name
    recipe, metric, said = recipe.strip(), metric.strip(), value.strip()
    is_percent = said.endswith("%")
    try:
        amount = float(said.removesuffix("%"))
    except ValueError:
        amount = math.nan
    if not equals or not metric or (colon and not recipe) or not math.isfinite(amount):
        raise InputError(
            f"{text!r} is no check",
            remedy="Write METRIC=VALUE or RECIPE:METRIC=VALUE, such as accuracy=0.8 or "
            "sums:accuracy=80%.",
        )
    return Check(metric, amount, recipe, is_percent)


def known_checks(checks: Sequence[Check], recipes: Mapping[str, Sequence[str]]) -> None:
    """Refuse what no recipe has, before anything is asked; `recipes` gives the labels of each."""
    there = "; ".join(f"{recipe}: {', '.join(labels)}" for recipe, labels in recipes.items())
    for check in checks:
        if check.recipe and check.recipe not in recipes:
            raise InputError(
                f"{check}: there is no recipe {check.recipe!r} in this run",
                remedy=f"There are {there}." if there else "",
            )
        if not any(
            check.concerns(recipe, label) for recipe, labels in recipes.items() for label in labels
        ):
            where = f"{check.recipe} has" if check.recipe else "the recipes of this run have"
            raise InputError(
                f"{check}: {where} no metric {check.metric!r}",
                remedy=f"There are {there}." if there else "",
            )


def failed_checks(result: BenchResult, checks: Sequence[Check]) -> list[str]:
    """What was demanded and is not so, each as a sentence; empty where all is well."""
    failed: list[str] = []
    for check in checks:
        found = list(_concerned(result, check))
        if not found:
            failed.append(f"{check}: the result has no such metric")
        failed += [said for where in found if (said := _fault(check, *where))]
    return failed


def _concerned(
    result: BenchResult, check: Check
) -> Iterator[tuple[RecipeResult, EndpointResult, MetricResult]]:
    for recipe in result.recipes:
        for endpoint in recipe.endpoints:
            for metric in endpoint.metrics:
                if check.concerns(recipe.id, metric.metric):
                    yield recipe, endpoint, metric


def _fault(
    check: Check, recipe: RecipeResult, endpoint: EndpointResult, metric: MetricResult
) -> str:
    """Why a check fails; nothing where it does not."""
    where = f"{metric.metric} of {recipe.id} by {endpoint.endpoint}"
    value = metric.percent if check.is_percent else metric.mean.value
    if metric.mean.value is None:
        return f"{where}: nothing was scored"
    if value is None:
        return f"{where} has no range, so that {number(check.value)}% of it cannot be told"
    lower = metric.about.get("direction") == "lower"
    slack = _SLACK * max(1.0, abs(check.value))
    gap = value - check.value if lower else check.value - value
    if gap <= slack:
        return ""
    unit = "%" if check.is_percent else ""
    demanded = f"{number(check.value)}{unit}"
    wish = f"at most {demanded} is allowed" if lower else f"at least {demanded} is demanded"
    return f"{where} is {number(value)}{unit}; {wish}"


# The file -------------------------------------------------------------------------------------


@dataclass
class _Case:
    name: str
    kind: str = ""
    """"failure", "error" or "skipped"; nothing where it passed."""
    type: str = ""
    message: str = ""
    detail: str = ""
    out: str = ""
    time: float | None = None


@dataclass
class _Suite:
    recipe: RecipeResult
    endpoint: EndpointResult
    cases: list[_Case] = field(default_factory=list)
    left_out: int = 0

    def count(self, kind: str) -> int:
        return sum(case.kind == kind for case in self.cases)


def write_junit(
    result: BenchResult,
    items: Table,
    path: Path,
    *,
    checks: Sequence[Check] = (),
    wrong: bool = False,
    most: int = 1000,
    overwrite: bool = False,
) -> Path:
    """Write a JUnit file: a suite for each recipe and endpoint; in it a case for each metric, for
    each check, and for each item that failed (an error). With `wrong`, also one for each answer
    that a metric of 0 and 1 calls wrong (a failure). At most so many items; the rest is counted."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} is already there", remedy="Give another name, or overwrite=True.")
    suites = {
        (recipe.id, endpoint.endpoint): _Suite(recipe, endpoint)
        for recipe in result.recipes
        for endpoint in recipe.endpoints
    }
    for suite in suites.values():
        suite.cases += [_metric_case(metric) for metric in suite.endpoint.metrics]
        suite.cases += _check_cases(suite, checks)
    _add_items(suites, items, wrong=wrong, most=most)
    tree = ElementTree.ElementTree(_document(result, list(suites.values()), checks))
    ElementTree.indent(tree)
    with draft(path, overwrite=overwrite) as new:
        tree.write(new, encoding="utf-8", xml_declaration=True)
    return path


def _metric_case(metric: MetricResult) -> _Case:
    mean = metric.mean
    if mean.value is None:
        return _Case(metric.metric, "skipped", message="nothing was scored")
    limits = ""
    if mean.low is not None and mean.high is not None:
        limits = f" ({number(mean.low)} to {number(mean.high)})"
    said = f"{number(mean.value)}{limits}; {metric.scored:,} of {metric.count:,} scored"
    return _Case(metric.metric, out=said)


def _check_cases(suite: _Suite, checks: Sequence[Check]) -> Iterator[_Case]:
    for check in checks:
        for metric in suite.endpoint.metrics:
            if check.concerns(suite.recipe.id, metric.metric):
                said = _fault(check, suite.recipe, suite.endpoint, metric)
                kind = "failure" if said else ""
                yield _Case(f"check {check}", kind, "check" if said else "", said)


def _add_items(
    suites: Mapping[tuple[str, str], _Suite], items: Table, *, wrong: bool, most: int
) -> None:
    for item in items_of(items):
        suite = suites.get((item.recipe, item.endpoint))
        case = None if suite is None else _item_case(item, suite, wrong=wrong)
        if suite is None or case is None:
            continue
        if most > 0:
            suite.cases.append(case)
            most -= 1
        else:
            suite.left_out += 1


def _item_case(item: Item, suite: _Suite, *, wrong: bool) -> _Case | None:
    """The case of an item, where it has one."""
    name = f"item {item.number}: {item.id}"
    if item.epoch:
        name += f", epoch {item.epoch}"
    if item.status is ItemStatus.FAILED:
        kind = item.failure or "unknown"
        detail = f"prompt: {item.prompt[:_LONGEST]}"
        return _Case(name, "error", kind, item.error[:_LONGEST], detail, time=item.latency)
    if not wrong:
        return None
    by = list(_missed(item, suite.endpoint))
    if not by:
        return None
    parts = {
        "prompt": item.prompt,
        "expected": " | ".join(item.target or ()),
        "answer": item.answer or "",
    }
    detail = "\n\n".join(f"{name}: {text[:_LONGEST]}" for name, text in parts.items())
    return _Case(name, "failure", by[0], f"wrong by {', '.join(by)}", detail, time=item.latency)


def _missed(item: Item, endpoint: EndpointResult) -> Iterator[str]:
    """The metrics of 0 and 1 that call an answer wrong."""
    abouts = {metric.metric: metric.about for metric in endpoint.metrics}
    for score in item.scores:
        about = abouts.get(score.metric, {})
        if score.status is ScoreStatus.SCORED and (about.get("low"), about.get("high")) == (0, 1):
            bad = 1.0 if about.get("direction") == "lower" else 0.0
            if score.value == bad:
                yield score.metric


def _document(
    result: BenchResult, suites: Sequence[_Suite], checks: Sequence[Check]
) -> ElementTree.Element:
    cases = [case for suite in suites for case in suite.cases]
    unmet = [check for check in checks if not any(_concerned(result, check))]
    root = ElementTree.Element("testsuites", _attributes(name=result.name or result.id))
    made = [_suite(result, suite) for suite in suites]
    if unmet:  # so that what is demanded of nothing does not pass unseen
        lost = [
            _Case(f"check {check}", "failure", "check", "the result has no such metric")
            for check in unmet
        ]
        made.append(_plain_suite("checks", lost))
        cases += lost
    _counts(root, cases, result.seconds)
    root.extend(made)
    return root


def _suite(result: BenchResult, suite: _Suite) -> ElementTree.Element:
    recipe, endpoint = suite.recipe, suite.endpoint
    made = ElementTree.Element("testsuite", _attributes(name=f"{recipe.id} · {endpoint.endpoint}"))
    times = [case.time for case in suite.cases if case.time is not None]
    _counts(made, suite.cases, math.fsum(times))
    began = datetime.fromtimestamp(result.started, UTC)
    made.set("timestamp", began.strftime("%Y-%m-%dT%H:%M:%S"))
    properties = ElementTree.SubElement(made, "properties")
    for name, value in _properties(result, recipe, endpoint):
        ElementTree.SubElement(properties, "property", _attributes(name=name, value=value))
    for case in suite.cases:
        made.append(_element(case, f"{recipe.id}.{endpoint.endpoint}"))
    if suite.left_out:
        said = ElementTree.SubElement(made, "system-out")
        said.text = f"and {suite.left_out:,} more items that are not listed here"
    return made


def _plain_suite(name: str, cases: Sequence[_Case]) -> ElementTree.Element:
    made = ElementTree.Element("testsuite", _attributes(name=name))
    _counts(made, cases, 0.0)
    made.extend(_element(case, name) for case in cases)
    return made


def _properties(
    result: BenchResult, recipe: RecipeResult, endpoint: EndpointResult
) -> Iterator[tuple[str, str]]:
    yield "run", result.id
    yield "state", result.state
    yield "recipe", recipe.name
    yield "endpoint", endpoint.endpoint
    for name in ("items", "answered", "refused", "failed", "input_tokens", "output_tokens"):
        yield name, str(getattr(endpoint, name))
    if endpoint.cost is not None:
        yield "cost", endpoint.cost
    if endpoint.grade is not None:
        yield "grade", endpoint.grade
    for metric in endpoint.metrics:
        if metric.mean.value is not None:
            yield f"metric.{metric.metric}", repr(metric.mean.value)
    if result.version:
        yield "penstock", result.version


def _element(case: _Case, owner: str) -> ElementTree.Element:
    made = ElementTree.Element("testcase", _attributes(classname=owner, name=case.name))
    made.set("time", f"{case.time or 0:.3f}")
    if case.kind:
        attributes = {"message": case.message} | ({"type": case.type} if case.type else {})
        inside = ElementTree.SubElement(made, case.kind, _attributes(**attributes))
        inside.text = _clean(case.detail) if case.detail else None
    if case.out:
        ElementTree.SubElement(made, "system-out").text = _clean(case.out)
    return made


def _counts(element: ElementTree.Element, cases: Sequence[_Case], seconds: float) -> None:
    element.set("tests", str(len(cases)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.kind == kind for case in cases)))
    element.set("time", f"{seconds:.3f}")


def _attributes(**given: str) -> dict[str, str]:
    return {name: _clean(value) for name, value in given.items()}


def _clean(text: str) -> str:
    """What XML can hold: no control characters, no half ones, no keys."""
    return _NOT_XML.sub("\ufffd", visible(text))
