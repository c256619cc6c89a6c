"""What a person asks of a benchmark run, as plain data: stored with the run, and so resumable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.bench.shelves import is_file
from penstock.documents.examples import Share
from penstock.engine.engine import Cache
from penstock.engine.lanes import LaneWish
from penstock.engine.wishes import chosen, dollars, restored
from penstock.errors import InputError
from penstock.metrics.statistics import reducer

__all__ = ["Wishes"]

_CHOICES = {
    "lane": ("online", "batch", "auto"),
    "cache": ("use", "off", "refresh", "read"),
}


@dataclass(frozen=True)
class Wishes:
    """Everything about a run of recipes; None: as the recipe says."""

    recipes: tuple[str, ...] = ()
    cookbooks: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    """Names; none: the setting `llm.model`."""
    sample: str | None = None
    """`50` examples of each dataset, or `10%`."""
    seed: int = 0
    epochs: int | None = None
    reducer: str | None = None
    system_prompt: str | None = None
    """Replaces the recipes' own."""
    params: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    """Who judges, whatever a recipe says."""
    accuracy: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By metric: the sensitivity and specificity of its judge, to correct rates by."""
    lane: LaneWish = "online"
    budget: str | None = None
    cache: Cache = "use"
    name: str = ""
    runner: str = ""
    """The runner whose run it is."""

    def __post_init__(self) -> None:
        if not self.recipes and not self.cookbooks:
            raise InputError(
                "there is nothing to run",
                remedy="Name recipes or cookbooks; `penstock bench list` shows them.",
            )
        Share.parse(self.sample)
        if self.reducer is not None:
            reducer(self.reducer)
        if self.epochs is not None and (type(self.epochs) is not int or self.epochs < 1):
            raise InputError(f"epochs is {self.epochs!r}; a whole number of 1 or more is wanted")
        if type(self.seed) is not int:
            raise InputError(f"seed is {self.seed!r}; a whole number is wanted")
        chosen(self, _CHOICES)
        self.dollars()

    def dollars(self) -> Decimal | None:
        """The budget."""
        return dollars(self.budget)

    def spec(self) -> dict[str, Any]:
        """For the catalog; every path in full."""
        made = asdict(self)
        for name in ("recipes", "cookbooks"):
            made[name] = [_full(each) for each in made[name]]
        made["endpoints"] = list(self.endpoints)
        made["accuracy"] = {name: list(each) for name, each in self.accuracy.items()}
        return {"bench": made}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Wishes:
        """What a run was asked."""
        given = dict(spec["bench"])
        accuracy = given.get("accuracy") or {}
        given["accuracy"] = {name: tuple(each) for name, each in accuracy.items()}
        return restored(cls, given, ("recipes", "cookbooks", "endpoints"))


def _full(name: str) -> str:
    return str(Path(name).expanduser().absolute()) if is_file(name) else name
