"""What a campaign will do, found and checked whole before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import penstock.library
from penstock.documents.objects import Template
from penstock.documents.shelf import Shelf
from penstock.endpoint import Endpoint
from penstock.engine.info import labelled, once
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.redteam.assault import Assault, parse_assault
from penstock.redteam.judging import Judge, judge_of
from penstock.redteam.objective import Objective
from penstock.redteam.objectives import load_objectives
from penstock.redteam.pipeline import Lineup
from penstock.redteam.strategies import Strategy
from penstock.redteam.strategy import parse_strategy
from penstock.redteam.turn import Setup
from penstock.redteam.wishes import Wishes
from penstock.request import merged_params
from penstock.templates import JinjaTemplate, template_of

__all__ = ["Plan", "Trial", "planned", "template_named"]


@dataclass(frozen=True)
class Trial:
    """One attack with one objective, whoever is the target."""

    place: int
    assault: Assault
    objective: Objective
    judge: Judge


@dataclass(frozen=True)
class Plan:
    """Every attack x every objective x every endpoint."""

    wishes: Wishes
    assaults: tuple[Assault, ...]
    objectives: tuple[Objective, ...]
    judges: tuple[Judge, ...]
    """One for each objective."""
    endpoints: dict[str, Endpoint]
    """By the label that results have."""
    strategy: Strategy
    template: JinjaTemplate | None
    attacker: Endpoint | None
    judge: Endpoint | None

    @property
    def total(self) -> int:
        return len(self.assaults) * len(self.objectives) * len(self.endpoints)

    @property
    def helpers(self) -> tuple[Endpoint, ...]:
        """Who is asked beside the targets."""
        return tuple(each for each in (self.attacker, self.judge) if each is not None)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        pairs = (
            (assault, objective, judge)
            for objective, judge in zip(self.objectives, self.judges, strict=True)
            for assault in self.assaults
        )
        return tuple(Trial(place, *each) for place, each in enumerate(pairs))

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def lineup(self, label: str, trial: Trial) -> Lineup:
        """What is applied to every turn of a trial."""
        wishes, objective = self.wishes, trial.objective
        system = objective.system_prompt
        # What tells a success may stand in the objective's own: a secret, a rule to be broken.
        told_by_it = objective.canary is not None or objective.check is not None
        if wishes.system_prompt is not None and not (system and told_by_it):
            system = wishes.system_prompt
        setup = Setup(
            strategy=wishes.strategy,
            attack=trial.assault.label,
            template=wishes.template,
            metric=trial.judge.name,
            system_prompt=system,
        )
        return Lineup(
            self.endpoints[label],
            label,
            setup,
            self.strategy,
            self.template,
            trial.judge,
            self.attacker,
            wishes.params,
        )


def planned(wishes: Wishes, bench: Workbench, given: Sequence[Endpoint] = ()) -> Plan:
    """Everything that a campaign names. Raises what is wrong with it; sends nothing."""
    assaults = tuple({a.label: a for a in map(parse_assault, wishes.attacks)}.values())
    objectives = load_objectives(wishes.objectives, bench, seed=wishes.seed, most=wishes.most)
    attacker = None if wishes.attacker is None else bench.endpoint(wishes.attacker)
    judge = None if wishes.judge is None else bench.endpoint(wishes.judge)
    strategy = parse_strategy(wishes.strategy)
    _check_helpers(assaults, strategy, attacker)
    endpoints = [bench.endpoint(each) for each in given or wishes.endpoints or (None,)]
    if len(once(endpoints)) < len(endpoints):
        raise InputError("an endpoint is named twice, and would give the same answers twice")
    for endpoint in endpoints:
        merged_params(endpoint.params, wishes.params)
    return Plan(
        wishes,
        assaults,
        objectives,
        tuple(judge_of(wishes.metric, objective, judge) for objective in objectives),
        labelled(endpoints),
        strategy,
        template_named(wishes.template, bench),
        attacker,
        judge,
    )


def template_named(name: str, bench: Workbench) -> JinjaTemplate | None:
    """A prompt template by its id or file; none by none."""
    if not name:
        return None
    shipped = Path(penstock.library.__path__[0])
    shelf = Shelf("template", Template, bench.workspace.library, shipped)
    made = template_of(shelf.read(name).value.template, "jinja")
    assert isinstance(made, JinjaTemplate)
    made.check(["prompt"])
    return made


def _check_helpers(
    assaults: Sequence[Assault], strategy: Strategy, attacker: Endpoint | None
) -> None:
    if attacker is not None:
        return
    asking = [assault.label for assault in assaults if assault.needs_attacker]
    if strategy.name == "summary":
        asking.append("the strategy summary")
    if asking:
        raise InputError(
            f"{', '.join(asking)} asks a model of its own, and none is named",
            remedy="Give --attacker ENDPOINT.",
        )
