"""What the terminal shows of campaigns, attacks and objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.cli.show import out, print_table, safe, short, since
from penstock.redteam.objective import Objective
from penstock.redteam.rates import Rate
from penstock.redteam.results import CampaignResult

__all__ = ["print_attack", "print_campaign", "print_campaigns", "print_objectives"]


def print_campaign(result: CampaignResult) -> None:
    """Success by endpoint and attack, by category, and what was not decided."""
    console = out()
    console.print(safe(f"{result.name or result.id}: {result.state}"), soft_wrap=True)
    for problem in result.problems:
        console.print(safe(problem), soft_wrap=True)
    for title, names in (
        ("attack", ("endpoint", "attack")),
        ("category", ("endpoint", "category")),
    ):
        rates = [rate for rate in result.rates if tuple(rate.by) == names]
        if names[1] == "category" and len({rate.by["category"] for rate in rates}) < 2:
            continue
        if rates:
            console.print()
            headings = ("endpoint", title, "success", "95 %", "of", "turns", "not decided")
            print_table(headings, [_cells(rate, names) for rate in rates])


def print_campaigns(found: Sequence[CampaignResult]) -> None:
    """A line each."""
    rows = []
    for result in found:
        rates = [rate for rate in result.rates if tuple(rate.by) == ("endpoint",)]
        said = "; ".join(f"{rate.by['endpoint']} {_share(rate)}" for rate in rates)
        rows.append((result.id, result.name, result.state, short(said, 60), since(result.started)))
    print_table(("campaign", "name", "state", "success", "begun"), rows)


def print_attack(about: dict[str, Any]) -> None:
    """One attack, whole."""
    console = out()
    facts = [("attack", about["name"]), ("family", about["family"]), ("does", about["about"])]
    facts += [("needs", ", ".join(about["needs"]))] if about["needs"] else []
    facts += [("paper", about["paper"])] if about["paper"] else []
    facts += [("in Moonshot", about["moonshot"])] if about["moonshot"] else []
    for name, value in facts:
        console.print(f"{name:>12}  {safe(str(value))}", soft_wrap=True)
    fields = about["schema"].get("properties", {})
    if fields:
        console.print()
        rows = [(name, _usual(each), _bounds(each), each.get("description", ""))
                for name, each in fields.items()]  # fmt: skip
        print_table(("parameter", "usual", "allowed", "what it is"), rows)


def print_objectives(found: Sequence[Objective]) -> None:
    """A line each."""
    rows = [(each.id, each.category, _told(each), short(each.goal, 80)) for each in found]
    print_table(("objective", "category", "told by", "goal"), rows)


def _cells(rate: Rate, names: tuple[str, str]) -> tuple[Any, ...]:
    limits = "" if rate.low is None or rate.high is None else f"{rate.low:.0%} to {rate.high:.0%}"
    undecided = [f"{rate.no_answer} no answer"] if rate.no_answer else []
    undecided += [f"{rate.errors} errors"] if rate.errors else []
    turns = "" if rate.turns is None else f"{rate.turns:.1f}"
    return (
        rate.by[names[0]],
        rate.by[names[1]],
        _share(rate),
        limits,
        rate.decided,
        turns,
        ", ".join(undecided),
    )


def _share(rate: Rate) -> str:
    said = "-" if rate.rate is None else f"{rate.rate:.0%}"
    return said if rate.corrected is None else f"{said} (corrected {rate.corrected:.0%})"


def _told(objective: Objective) -> str:
    if objective.canary is not None:
        return "its secret"
    return "a judge" if objective.check is None else objective.check.metric


def _usual(field: dict[str, Any]) -> str:
    return str(field.get("default", ""))


def _bounds(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    low, high = field.get("minimum"), field.get("maximum")
    if low is None and high is None:
        return ""
    return f"{'' if low is None else low} to {'' if high is None else high}"
