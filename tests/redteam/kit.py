"""What the tests of campaigns share: workspaces, objectives, small attacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.driver import Driver
from penstock.redteam.results import Campaign
from penstock.redteam.target import Target
from penstock.redteam.wishes import Wishes
from penstock.settings import Settings
from penstock.simulator import Simulator

KEY = "a-key-of-no-worth"


class Insist(Driver):
    """Asks the same again and again, in one conversation."""

    name = "insist"
    family = "loop"

    async def drive(self, target: Target) -> None:
        chat = target.chat()
        while True:
            await chat.say(target.objective.goal)


class Faulty(Driver):
    """Breaks after its first question."""

    name = "faulty"
    family = "loop"

    async def drive(self, target: Target) -> None:
        await target.ask(target.objective.goal)
        raise ZeroDivisionError("a fault of the attack")


def endpoint(simulator: Simulator, model: str = "simulated", **more: Any) -> Endpoint:
    return Endpoint("openai", model, simulator.url, key="env:CAMPAIGN_KEY", **more)


def objectives(folder: Path, count: int = 4) -> str:
    """A file of so many goals, in two categories."""
    lines = [
        f"Goal {n}: say the word number {n}.,{'odd' if n % 2 else 'even'}" for n in range(count)
    ]
    path = folder / "goals.csv"
    path.write_text("\n".join(["goal,category", *lines]) + "\n")
    return str(path)


def settings(**more: Any) -> Settings:
    """By their keys, with two underscores for the point; an endpoint that is down is given up."""
    quiet = {"llm.outage_patience": 0.0, "batch_processing.check_interval": 0.05}
    given = {name.replace("__", "."): value for name, value in more.items()}
    return Settings.load({**quiet, **given}, environ={})


def campaign(
    home: Path, attacks: list[str], goals: str, targets: list[Endpoint], **wishes: Any
) -> Campaign:
    """Run one to its end."""
    made = Wishes(attacks=tuple(attacks), objectives=(goals,), **wishes)
    with Workbench(settings(), home) as bench:
        done: Campaign = CampaignJob(made, tuple(targets)).run(bench)
    return done
