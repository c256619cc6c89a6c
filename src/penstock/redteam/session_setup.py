"""What a session has chosen: endpoints at their seats, and settings that are found and checked.

An endpoint is stored by the name that a person wrote, else as its spec; a key that was given
literally is kept nowhere, and has to be given again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import EndpointError, InputError, NotFoundError
from penstock.metrics import metric_names
from penstock.redteam.assault import Assault, parse_assault
from penstock.redteam.judging import JUDGES, Judge, judge_of
from penstock.redteam.plan import template_named
from penstock.redteam.strategies import Strategy
from penstock.redteam.strategy import parse_strategy
from penstock.redteam.turn import Setup
from penstock.secret import Secret
from penstock.templates import JinjaTemplate

__all__ = ["Chosen", "Given", "Ready", "Seat", "Seated", "check_choices", "seat_of", "seated"]

Given = Mapping[str, Endpoint]


class Seat(msgspec.Struct, frozen=True, omit_defaults=True):
    """An endpoint as a session remembers it."""

    label: str
    name: str = ""
    """What the person wrote."""
    spec: dict[str, Any] | None = None
    """Of one that was given as an object."""
    keyless: bool = False
    """Its key was given literally."""
    away: bool = False
    """It was in the session before, and has turns there."""

    def same(self, other: Seat) -> bool:
        """Whether it is the same endpoint."""
        return self.name == other.name and self.spec == other.spec

    def endpoint(self, bench: Workbench, given: Endpoint | None = None) -> Endpoint:
        """The endpoint itself; `given`: as this process has it."""
        if given is not None:
            return given
        if self.name:
            return bench.endpoint(self.name)
        if self.keyless:
            raise EndpointError(
                f"the key of {self.label} was given literally and is kept nowhere",
                remedy="Give the endpoint again with `set`, its key as env:NAME.",
            )
        return bench.endpoint(Endpoint.from_spec(self.spec or {}, self.label))


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set, as it is stored."""

    description: str = ""
    endpoints: tuple[Seat, ...]
    setup: Setup = Setup()
    attacker: Seat | None = None
    judge: Seat | None = None
    seed: int = 0
    max_turns: int = 10
    """Of an attack that drives the conversation, for one line."""
    stop_on_success: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the endpoints that are asked."""
        return tuple(seat.label for seat in self.endpoints if not seat.away)

    def row(self) -> dict[str, Any]:
        """For the store."""
        row = {name: getattr(self, name) for name in self.__struct_fields__}
        for name in ("endpoints", "setup", "attacker", "judge"):
            row[name] = msgspec.to_builtins(row[name])
        return row

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Chosen:
        return msgspec.convert({name: row[name] for name in cls.__struct_fields__}, cls)

    def wish(self, line: str, labels: Sequence[str]) -> dict[str, Any]:
        """What makes a send the same as one that was not ended."""
        made = {"line": line, "labels": list(labels), **self.row()}
        del made["description"], made["endpoints"]
        return made


@dataclass(frozen=True)
class Ready:
    """The settings, found."""

    assault: Assault
    strategy: Strategy
    template: JinjaTemplate | None
    judge: Judge | None
    attacker: Endpoint | None


def check_choices(chosen: Chosen, bench: Workbench, given: Given) -> Ready:
    """Find everything that the settings name; raises what is wrong with them. `given`: attacker and
    judge, where this process has them as objects."""
    _check_numbers(chosen)
    setup = chosen.setup
    helpers = {"attacker": chosen.attacker, "judge": chosen.judge}
    attacker, judge = (
        None if seat is None else seat.endpoint(bench, given.get(name))
        for name, seat in helpers.items()
    )
    assault, strategy = parse_assault(setup.attack), parse_strategy(setup.strategy)
    asks = assault.label if assault.needs_attacker else ""
    if strategy.name == "summary":
        asks = asks or "the strategy summary"
    if asks and attacker is None:
        raise InputError(
            f"{asks} asks a model of its own, and none is named",
            remedy="Set the attacker first: an endpoint.",
        )
    found = None if not setup.metric else _judge(setup.metric, judge)
    if assault.driver is not None and "judge" in assault.driver.needs and found is None:
        raise InputError(
            f"{assault.label} needs to be told how far it is, and there is no metric",
            remedy="Set the metric first, such as rubric with a judge.",
        )
    return Ready(assault, strategy, template_named(setup.template, bench), found, attacker)


class Seated(NamedTuple):
    """Endpoints at their seats."""

    seats: tuple[Seat, ...]
    """All that a session ever had."""
    given: dict[str, Endpoint]
    """By label, those that were given as objects; a name is looked up whenever it is used."""


def seat_of(endpoint: Endpoint | str, bench: Workbench) -> tuple[Seat, Endpoint]:
    """A seat for an endpoint, and the endpoint."""
    found = bench.endpoint(endpoint)
    if isinstance(endpoint, str):
        return Seat(found.label, endpoint), found
    keyless = isinstance(found.key, Secret)
    spec = (found.with_(key=None) if keyless else found).spec()
    return Seat(found.label, "", spec, keyless), found


def seated(
    endpoints: Sequence[Endpoint | str] | Endpoint | str,
    bench: Workbench,
    before: Sequence[Seat] = (),
) -> Seated:
    """A seat for each. One that had a seat before keeps its label, and so its history; nobody else
    gets that label."""
    wanted = [endpoints] if isinstance(endpoints, str | Endpoint) else list(endpoints)
    if not wanted:
        raise InputError("a session needs an endpoint", remedy="Name one or several.")
    taken = {old.label for old in before}
    seats: dict[str, Seat] = {}
    found: dict[str, Endpoint] = {}
    for each in wanted:
        seat, endpoint = seat_of(each, bench)
        old = next((one.label for one in before if one.same(seat)), None)
        label, number = old or seat.label, 2
        if label in seats and endpoint == found[label]:
            raise InputError(f"{label} is named twice")
        while old is None and label in taken:
            label, number = f"{seat.label} ({number})", number + 1
        taken.add(label)
        seats[label] = msgspec.structs.replace(seat, label=label)
        found[label] = endpoint
    left = [msgspec.structs.replace(old, away=True) for old in before if old.label not in seats]
    given = {label: found[label] for label, seat in seats.items() if not seat.name}
    return Seated((*seats.values(), *left), given)


def _check_numbers(chosen: Chosen) -> None:
    if type(chosen.seed) is not int or abs(chosen.seed) >= 2**63:
        raise InputError(f"seed is {chosen.seed!r}; a whole number is wanted")
    if type(chosen.max_turns) is not int or not 1 <= chosen.max_turns <= 1000:
        raise InputError(
            f"max_turns is {chosen.max_turns!r}; a whole number from 1 to 1000 is wanted"
        )
    if type(chosen.stop_on_success) is not bool:
        raise InputError(f"stop_on_success is {chosen.stop_on_success!r}; true or false is wanted")


def _judge(name: str, endpoint: Endpoint | None) -> Judge:
    known = [*JUDGES[1:], *metric_names()]
    if name == "canary":
        raise InputError(
            "a line that a person types has no secret for the metric canary to look for",
            remedy="Use refusal, rubric or a metric; objectives with a secret are for campaigns.",
        )
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise NotFoundError(
            f"there is no metric named {name!r}", remedy=f"{hint}There are: {', '.join(known)}."
        )
    return judge_of(name, None, endpoint)
