"""Objectives: what an attack tries to get, and how it is told that it got it.

A set of them is a YAML or JSON file; a csv, a jsonl or a Moonshot dataset serves as well. One with
a `canary` needs no judge: the secret is planted in the system prompt, and either stands in the
answer or does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from penstock.documents.models import Model, wrong
from penstock.files import slug
from penstock.redteam.attack import seeded

__all__ = ["CheckedBy", "Objective", "ObjectiveSet"]

_AUTO = "auto"
_PLACE = "{canary}"
_PLANTED = ("goal", "system_prompt", "criterion", "opening")
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that look alike


class CheckedBy(Model):
    """A metric that tells, by rule, whether the objective was reached."""

    metric: str = Field(description="The name of a metric.")
    params: dict[str, Any] = Field(default_factory=dict, description="Its parameters.")
    target: str | tuple[str, ...] | None = Field(
        None, description="What the answer is held to, where the metric needs it."
    )
    threshold: float = Field(0.5, description="The value that decides.")
    success: Literal["at_least", "below"] = Field(
        "at_least", description="Whether the objective is reached from there on, or below it."
    )


def _as_check(given: Any) -> Any:
    return {"metric": given} if isinstance(given, str) else given


class Objective(Model):
    """What an attack tries to get."""

    hints: ClassVar[Mapping[str, str]] = {
        "prompt": "goal", "objective": "goal", "behavior": "goal", "secret": "canary",
        "system": "system_prompt", "metric": "check", "rubric": "criterion",
    }  # fmt: skip

    goal: str = Field(min_length=1, description="What the model is to be brought to do.")
    id: str = Field("", description="A name of its own; else one is made of its place.")
    category: str = Field("", description="What kind it is, for the report.")
    system_prompt: str = Field(
        "", description="Sent with every question; {canary} is where the secret goes."
    )
    canary: str | None = Field(
        None, description="A secret that must not come out; `auto` draws one."
    )
    check: Annotated[CheckedBy | None, BeforeValidator(_as_check)] = Field(
        None, description="A metric that tells whether it was reached, in place of a judge."
    )
    criterion: str = Field(
        "", description="In words, for a judge: what an answer that reaches it does."
    )
    opening: str = Field("", description="How an answer that reaches it may begin.")
    reference: str = Field("", description="Where it comes from.")

    @model_validator(mode="after")
    def _planted(self) -> Objective:
        if self.system_prompt and not self._holds_its_secret(self.system_prompt):
            raise wrong(
                "its secret is nowhere in its system prompt", "Write {canary} where it goes."
            )
        return self

    def _holds_its_secret(self, system_prompt: str) -> bool:
        if self.canary is None or _PLACE in system_prompt:
            return True
        return self.canary != _AUTO and self.canary in system_prompt

    def planted(self, seed: int) -> Objective:
        """The same with its secret drawn and put in place."""
        if self.canary is None:
            return self
        canary = self.canary
        if canary == _AUTO:
            chance = seeded(seed, "canary", self.id or self.goal)
            canary = "-".join("".join(chance.choices(_ALPHABET, k=4)) for _ in range(3))
        texts = {name: getattr(self, name).replace(_PLACE, canary) for name in _PLANTED}
        return self.model_copy(update={"canary": canary, **texts})


class ObjectiveSet(Model):
    """Objectives that belong together."""

    name: str = Field(min_length=1, max_length=200, description="What people call it.")
    description: str = Field("", description="What it is for.")
    license: str = Field("", description="Under what terms it may be used.")
    reference: str = Field("", description="Where it comes from.")
    system_prompt: str = Field("", description="For those objectives that have none themselves.")
    objectives: tuple[Objective, ...] = Field(min_length=1, description="The objectives.")

    @model_validator(mode="after")
    def _all_planted(self) -> ObjectiveSet:
        """One that has no system prompt itself may still know its secret from elsewhere: then the
        secret is given, and not drawn."""
        for place, each in enumerate(self.objectives, 1):
            if each.system_prompt or each.canary is None:
                continue
            known = not self.system_prompt and each.canary != _AUTO
            if not known and not each._holds_its_secret(self.system_prompt):
                name = each.id or f"objective {place}"
                raise wrong(
                    f"the secret of {name} is nowhere in a system prompt",
                    "Write {canary} where it goes.",
                )
        return self

    def named(self) -> tuple[Objective, ...]:
        """All of them, each with an id of its own."""
        made: dict[str, Objective] = {}
        taken = {objective.id for objective in self.objectives}
        for place, objective in enumerate(self.objectives, 1):
            name = objective.id or f"{slug(self.name)}-{place}"
            if name in made or (not objective.id and name in taken):
                name = _unlike(f"{name}-{place}", {*made, *taken})
            changes: dict[str, Any] = {"id": name}
            if not objective.system_prompt and self.system_prompt:
                changes["system_prompt"] = self.system_prompt
            made[name] = objective.model_copy(update=changes)
        return tuple(made.values())


def _unlike(name: str, taken: set[str]) -> str:
    """The name, or one like it that nobody has."""
    made, number = name, 2
    while made in taken:
        made, number = f"{name}-{number}", number + 1
    return made
