"""What a benchmark run is doing, as whoever watches it sees it: in Moonshot's words too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from penstock.bench.item import Item
from penstock.bench.plan import Plan
from penstock.engine.states import RunState

__all__ = [
    "BenchProgress",
    "OnItem",
    "OnProgress",
    "RecipeProgress",
    "Status",
    "Tally",
    "status_of",
]

Status: TypeAlias = Literal[
    "pending", "running", "running_with_errors", "completed", "completed_with_errors", "cancelled"
]


@dataclass(frozen=True)
class RecipeProgress:
    """How far one recipe is, over all endpoints."""

    id: str
    name: str
    done: int
    total: int
    failed: int

    @property
    def ended(self) -> bool:
        return self.done >= self.total


@dataclass(frozen=True)
class BenchProgress:
    """How far a run is."""

    run: str
    name: str
    status: Status
    done: int
    total: int
    failed: int
    recipes: tuple[RecipeProgress, ...]
    cookbooks: tuple[str, ...]
    errors: tuple[str, ...]
    """The first few, in words."""
    finished: str = ""
    """The recipe that has just come to its end, where one has."""

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 100

    @property
    def current(self) -> RecipeProgress | None:
        """The first recipe that is still at work."""
        return next((each for each in self.recipes if not each.ended), None)

    def to_dict(self) -> dict[str, Any]:
        """As a webhook sends it."""
        current = self.current
        return {
            **asdict(self),
            "percent": self.percent,
            "current_recipe": None if current is None else current.name,
            "recipe_index": sum(each.ended for each in self.recipes),
            "recipe_total": len(self.recipes),
        }


OnItem: TypeAlias = Callable[[Item], object]
OnProgress: TypeAlias = Callable[[BenchProgress], object]

_MOST_ERRORS = 5


class Tally:
    """Counts items as they come."""

    def __init__(self, plan: Plan, run: str, name: str) -> None:
        self._plan = plan
        self._run = run
        self._name = name
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._errors: list[str] = []

    def add(self, item: Item) -> None:
        self._done[item.recipe] += 1
        if troubles := item.troubles:
            self._failed[item.recipe] += 1
            if len(self._errors) < _MOST_ERRORS:
                self._errors.append(f"{item.recipe}, {item.endpoint}: {troubles[0].message}")

    def ended(self, before: Counter[str]) -> list[str]:
        """The recipes that have come to their end since then."""
        size = len(self._plan.endpoints)
        return [
            recipe.id
            for recipe in self._plan.recipes
            if before[recipe.id] < recipe.prompts * size <= self._done[recipe.id]
        ]

    @property
    def counts(self) -> Counter[str]:
        return self._done.copy()

    def seen(self, state: RunState, finished: str = "") -> BenchProgress:
        """How far it is now."""
        plan, size = self._plan, len(self._plan.endpoints)
        recipes = tuple(
            RecipeProgress(
                recipe.id,
                recipe.recipe.name,
                self._done[recipe.id],
                recipe.prompts * size,
                self._failed[recipe.id],
            )
            for recipe in plan.recipes
        )
        failed = self._failed.total()
        return BenchProgress(
            self._run,
            self._name,
            status_of(state, failed=failed > 0),
            self._done.total(),
            plan.total,
            failed,
            recipes,
            tuple(book.entry.value.name for book in plan.cookbooks),
            tuple(self._errors),
            finished,
        )


def status_of(state: RunState, *, failed: bool = False) -> Status:
    """Moonshot's word for it."""
    if state is RunState.PENDING:
        return "pending"
    if state in (RunState.RUNNING, RunState.WAITING):
        return "running_with_errors" if failed else "running"
    if state is RunState.CANCELLED:
        return "cancelled"
    return "completed" if state is RunState.COMPLETED and not failed else "completed_with_errors"
