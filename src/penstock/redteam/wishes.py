"""What a person asks of a campaign, as plain data: stored with the run, and so resumable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.engine.engine import Cache
from penstock.engine.lanes import LaneWish
from penstock.engine.wishes import chosen, dollars, restored
from penstock.errors import InputError

__all__ = ["Wishes"]

_CHOICES = {
    "lane": ("online", "batch", "auto"),
    "cache": ("use", "off", "refresh", "read"),
}


@dataclass(frozen=True)
class Wishes:
    """Everything about a campaign: every attack x every objective x every endpoint."""

    attacks: tuple[str, ...]
    objectives: tuple[str, ...]
    """Ids of sets, or files."""
    endpoints: tuple[str, ...] = ()
    """Names; none: the setting `llm.model`."""
    attacker: str | None = None
    """The endpoint that attacks, for the loops; it also writes summaries."""
    judge: str | None = None
    """The endpoint that judges."""
    metric: str = "refusal"
    """How success is told where the objective does not say: canary, refusal, rubric, a metric."""
    strategy: str = "none"
    template: str = ""
    system_prompt: str | None = None
    """In the place of the objectives' own; one with a secret or a rule to break keeps its own."""
    params: Mapping[str, Any] = field(default_factory=dict)
    max_turns: int = 10
    stop_on_success: bool = True
    most: int | None = None
    """Only so many objectives, drawn by the seed."""
    seed: int = 0
    accuracy: tuple[float, float] | None = None
    """The sensitivity and specificity of the judge, to correct the rates by."""
    lane: LaneWish = "online"
    budget: str | None = None
    cache: Cache = "use"
    name: str = ""

    def __post_init__(self) -> None:
        if not self.objectives:
            raise InputError(
                "there are no objectives",
                remedy="Give --objectives: an id (`penstock redteam objectives`) or a file.",
            )
        if not self.attacks:
            raise InputError(
                "there are no attacks",
                remedy="Give --attacks: `penstock redteam attacks` lists them; `plain` is none.",
            )
        for name in ("max_turns", "most"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(f"{name} is {value!r}; a whole number of 1 or more is wanted")
        chosen(self, _CHOICES)
        self.dollars()

    def dollars(self) -> Decimal | None:
        """The budget."""
        return dollars(self.budget)

    def spec(self) -> dict[str, Any]:
        """For the catalog; every path in full."""
        made = asdict(self)
        made["objectives"] = [_full(each) for each in self.objectives]
        return {"redteam": made}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Wishes:
        """What a run was asked."""
        given = dict(spec["redteam"])
        if given.get("accuracy"):
            given["accuracy"] = tuple(given["accuracy"])
        return restored(cls, given, ("attacks", "objectives", "endpoints"))


def _full(name: str) -> str:
    path = Path(name).expanduser()
    return str(path.absolute()) if "/" in name or path.is_file() else name
