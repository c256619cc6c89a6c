"""The sections on rates: pictures by endpoint, attack and category, and every number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from penstock.redteam.rates import Rate
from penstock.redteam.report.marks import block, heading, over
from penstock.redteam.report.survey import Survey
from penstock.redteam.report.words import interval
from penstock.redteam.results import CampaignResult
from penstock.reports import (
    Interval,
    Markup,
    details,
    figure,
    heatmap,
    intervals,
    lines,
    percent,
    table,
)
from penstock.reports.words import counted

__all__ = ["categories", "numbers", "overview", "turns"]

_OPEN = 4
"""Endpoints whose attacks are drawn at once; those of others unfold."""
_MOST_TURNS = 200
_SHARES = (0.0, 1.0)


def overview(result: CampaignResult) -> Iterator[Markup | str]:
    """Endpoints, attacks, and both together."""
    endpoints = _rates(result, "endpoint")
    if not any(rate.decided for rate in endpoints):
        yield "No conversation was decided, so there is no rate."
        return
    yield figure(
        _drawn(endpoints, "endpoint", "Attack success by endpoint"),
        "The share of decided conversations in which the attack got what it wanted, with its "
        f"{percent(endpoints[0].level)} interval, all attacks together. Less is better.",
    )
    attacks = sorted(_rates(result, "attack"), key=_worst)
    if len(attacks) > 1:
        yield heading("Attack by endpoint")
        yield block("danger", _grid(result, attacks, "attack"))
        yield heading("Each attack with its interval", "the most successful first")
        made = []
        for endpoint in endpoints:
            name = endpoint.by["endpoint"]
            found = sorted(_rates(result, "endpoint", "attack", endpoint=name), key=_worst)
            picture = figure(_drawn(found, "attack", f"Attack success at {name}"))
            made.append((name, picture))
        yield from _by_endpoint(made)


def categories(result: CampaignResult) -> Iterator[Markup | str]:
    """By what objectives are about; nothing where they have no categories."""
    found = sorted(_rates(result, "category"), key=_worst)
    if not found:
        return
    yield figure(
        _drawn(found, "category", "Attack success by category"),
        "All endpoints and attacks together.",
    )
    if len(result.endpoints) > 1:
        yield heading("Category by endpoint")
        yield block("danger", _grid(result, found, "category"))


def turns(result: CampaignResult, survey: Survey) -> Iterator[Markup | str]:
    """How fast attacks succeed; nothing where all of them do at once."""
    last = max((max(found) for found in survey.reached.values()), default=0)
    if last < 2:
        return
    series = {
        name: list(_climb(survey.reached.get(name, Counter()), survey.decided[name], last))
        for name in result.endpoints
        if survey.decided[name]
    }
    yield figure(
        lines(series, title="Success by turn, in percent", x_label="turn"),
        "Of 100 decided conversations, how many had succeeded by a turn. A line that still climbs "
        "at its end says that more turns may bring more.",
    )


def _climb(reached: Counter[int], decided: int, last: int) -> Iterator[tuple[float, float]]:
    so_far = 0
    for turn in range(min(last, _MOST_TURNS) + 1):
        so_far += reached[turn]
        yield float(turn), 100 * so_far / decided


def numbers(result: CampaignResult) -> Iterator[Markup | str]:
    """Every rate as a number: endpoint by attack, then all the others."""
    made = []
    for name in result.endpoints:
        found = sorted(_rates(result, "endpoint", "attack", endpoint=name), key=_worst)
        if found:
            made.append((name, _table(found, ("attack",))))
    yield from _by_endpoint(made)
    for name in ("endpoint", "attack", "category"):
        if found := _rates(result, name):
            yield details(f"By {name}", _table(found, (name,)))
    for names in (("endpoint", "category"), ("endpoint", "attack", "category")):
        found = _rates(result, *names)
        if any(rate.by["category"] for rate in found):
            said = f"By {', '.join(names[:-1])} and {names[-1]} ({counted(len(found), 'row')})"
            yield details(said, _table(found, names))


def _rates(result: CampaignResult, *names: str, **held: str) -> list[Rate]:
    """Those that are told by these names, and where these have these values."""
    return [
        rate
        for rate in result.rates
        if tuple(rate.by) == names and all(rate.by[name] == held[name] for name in held)
    ]


def _worst(rate: Rate) -> tuple[float, float]:
    """The highest first; what was not decided last."""
    return (1.0 if rate.rate is None else -rate.rate, -rate.decided)


def _drawn(rates: Sequence[Rate], name: str, title: str) -> Markup:
    items = [
        Interval(rate.by[name] or "without", rate.rate, rate.low, rate.high)
        for rate in rates
        if rate.rate is not None and rate.low is not None and rate.high is not None
    ]
    return intervals(items, title=title, show=_short, limits=_SHARES)


def _grid(result: CampaignResult, down: Sequence[Rate], name: str) -> Markup:
    """A heat map of the endpoints beside each other."""
    rates = {
        (rate.by[name], rate.by["endpoint"]): rate.rate
        for rate in result.rates
        if set(rate.by) == {name, "endpoint"}
    }
    rows, columns = [rate.by[name] for rate in down], list(result.endpoints)
    values = [[rates.get((row, column)) for column in columns] for row in rows]
    return figure(
        heatmap(
            rows,
            columns,
            values,
            title=f"Success by {name} and endpoint",
            show=_short,
            limits=_SHARES,
        ),
        "The stronger the colour, the more. A cell without a number had nothing decided.",
    )


def _table(rates: Sequence[Rate], names: Sequence[str]) -> Markup:
    corrected = any(rate.corrected is not None for rate in rates)
    right = [
        *("rate", "interval", "succeeded", "resisted", "no answer", "errors"),
        *(("corrected", "its interval") if corrected else ()),
        "turns to success",
    ]
    rows = []
    for rate in rates:
        fixed = [_share(rate.corrected), interval(rate, corrected=True)] if corrected else []
        counts = (rate.succeeded, rate.resisted, rate.no_answer, rate.errors)
        turns = None if rate.turns is None else round(rate.turns, 1)
        labels = [rate.by[name] or None for name in names]
        rows.append([*labels, _share(rate.rate), interval(rate), *counts, *fixed, turns])
    return block("tight", table([*names, *right], rows, numeric=right))


def _by_endpoint(parts: Sequence[tuple[str, Markup]]) -> Iterator[Markup]:
    """Each under its endpoint's name; those of many unfold."""
    for name, part in parts[:_OPEN]:
        yield over(name)
        yield part
    yield from (details(name, part) for name, part in parts[_OPEN:])


def _share(value: float | None) -> str | None:
    return None if value is None else percent(value)


def _short(value: float) -> str:
    """A whole number of percent where that says enough: a picture is no table."""
    shown = 100 * value
    return f"{shown:.0f} %" if shown >= 10 or shown in (0.0, 100.0) else percent(value)
