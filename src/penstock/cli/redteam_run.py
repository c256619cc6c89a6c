"""What `penstock redteam run`, `attacks` and `objectives` do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from penstock import plugins
from penstock.cli.jobs import watch
from penstock.cli.redteam_view import print_attack, print_campaign, print_objectives
from penstock.cli.show import out, print_json, print_table, safe, say_stopping, short, tokens_line
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError
from penstock.redteam.attack import Attack
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.finding import attack_names, find_attack
from penstock.redteam.objectives import load_objectives, objective_shelf
from penstock.redteam.plan import Plan
from penstock.redteam.results import Campaign
from penstock.redteam.wishes import Wishes
from penstock.reports.words import counted

__all__ = [
    "Wish",
    "done",
    "end",
    "list_attacks",
    "list_objectives",
    "say",
    "show_attack",
    "show_objectives",
]


@dataclass(frozen=True)
class Wish:
    """What the flags say."""

    options: Mapping[str, Any]
    report: Path | None
    overwrite: bool
    waits: bool
    as_json: bool


def done(wish: Wish) -> int:
    """Run it, and say how it went."""
    if wish.report is not None and wish.report.exists() and not wish.overwrite:
        raise InputError(
            f"{wish.report} is there already", remedy="Give --overwrite to replace it."
        )
    job = CampaignJob(Wishes(**wish.options))
    with Workbench() as bench:
        if not wish.as_json:
            _announce(job.plan(bench))
        with watch("redteam", bench) as view:
            made: Campaign = job.run(bench, waits=wish.waits, watch=view, on_interrupt=say_stopping)
        code = end(made, as_json=wish.as_json)
        if wish.report is not None and made.result.state != RunState.WAITING:
            made.report(wish.report, overwrite=wish.overwrite)
            out(stderr=True).print(f"{safe(str(wish.report))} is written", soft_wrap=True)
        return code


def end(campaign: Campaign, *, as_json: bool) -> int:
    """Say what a campaign came to, and what to do next."""
    state = RunState(campaign.result.state)
    say(campaign, as_json=as_json)
    if not as_json:
        console = out(stderr=True)
        console.print(tokens_line(campaign.result.counters), soft_wrap=True)
        if state in (RunState.COMPLETED, RunState.COMPLETED_WITH_FAILURES):
            console.print(
                f"look at it: penstock redteam results export {campaign.id} -o report.html",
                soft_wrap=True,
            )
        else:
            console.print(f"go on with: penstock runs resume {campaign.id}", soft_wrap=True)
    return exit_code(state)


def say(campaign: Campaign, *, as_json: bool) -> None:
    """A result, to a person or a program."""
    if as_json:
        print_json({**msgspec.to_builtins(campaign.result), "folder": str(campaign.folder)})
    else:
        print_campaign(campaign.result)


def _announce(plan: Plan) -> None:
    """What will be tried, before anything is sent."""
    size = len(plan.endpoints)
    attacks, goals = len(plan.assaults), len(plan.objectives)
    said = f"{counted(attacks, 'attack')} x {counted(goals, 'objective')}"
    said += f" at {size} endpoints" if size > 1 else f" at {next(iter(plan.endpoints))}"
    said += f": {counted(plan.total, 'conversation')}"
    if plan.attacker is not None:
        said += f"; attacker {plan.attacker.label}"
    if plan.judge is not None:
        said += f"; judge {plan.judge.label}"
    out(stderr=True).print(safe(said), soft_wrap=True)


# Attacks and objectives -----------------------------------------------------------------------


def list_attacks(*, as_json: bool) -> int:
    """All of them."""
    found = [_about(name) for name in attack_names()]
    if as_json:
        print_json(found)
        return Exit.OK
    rows = [
        (each["name"], each["family"], ", ".join(each["needs"]), short(each["about"], 80))
        for each in found
    ]
    print_table(("attack", "family", "needs", "what it does"), rows)
    return Exit.OK


def show_attack(name: str, *, as_json: bool) -> int:
    """One of them, whole."""
    attack = find_attack(name)
    about = _about(attack.name)
    about["schema"] = type(attack).model_json_schema()
    if as_json:
        print_json(about)
    else:
        print_attack(about)
    return Exit.OK


def _about(name: str) -> dict[str, Any]:
    kind = plugins.find("attack", name)
    if isinstance(kind, Attack):
        kind = type(kind)
    return {
        "name": name,
        "family": str(getattr(kind, "family", "")),
        "needs": sorted(getattr(kind, "needs", ())),
        "about": kind.about(),
        "paper": kind.paper,
        "moonshot": kind.moonshot,
    }


def list_objectives(*, as_json: bool) -> int:
    """The sets that there are."""
    with Workbench() as bench:
        shelf = objective_shelf(bench)
        found: list[dict[str, Any]] = []
        for name in shelf:
            entry = shelf.read(name)
            whose = "ships" if entry.shipped else "own"
            count = len(entry.value.objectives)
            about = entry.value.description
            found.append({"id": name, "whose": whose, "objectives": count, "about": about})
    if as_json:
        print_json(found)
    else:
        rows = [(e["id"], e["whose"], e["objectives"], short(e["about"], 80)) for e in found]
        print_table(("set", "whose", "objectives", "about"), rows)
    return Exit.OK


def show_objectives(name: str, *, as_json: bool) -> int:
    """One set."""
    with Workbench() as bench:
        found = load_objectives([name], bench)
    if as_json:
        print_json([each.to_dict() for each in found])
    else:
        print_objectives(found)
    return Exit.OK
