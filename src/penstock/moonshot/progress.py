"""How far a run of a runner is, in the fields that Moonshot's progress callbacks are given."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypedDict

from penstock.bench.objects import Cookbook
from penstock.bench.progress import BenchProgress, Status

__all__ = ["Book", "ProgressCallback", "RunnerProgress", "Telling"]

_NONE = -1


class RunnerProgress(TypedDict):
    """Indices count from 0, and are the total at the end; -1 where there are no cookbooks."""

    current_runner_id: str
    current_runner_type: str
    current_duration: int
    current_status: Status
    current_cookbook_index: int
    current_cookbook_name: str
    current_cookbook_total: int
    current_recipe_index: int
    current_recipe_name: str
    current_recipe_total: int
    current_progress: int
    current_error_messages: list[str]


ProgressCallback = Callable[[RunnerProgress], object]


class Book(NamedTuple):
    """A cookbook that is run."""

    name: str
    recipes: tuple[str, ...]

    @classmethod
    def of(cls, book: Cookbook) -> Book:
        return cls(book.name, tuple(map(_id, book.recipes)))


@dataclass(frozen=True)
class Telling:
    """Tells a callback of one run, as `on_progress` of the bench is told."""

    runner: str
    callback: ProgressCallback
    books: Sequence[Book] = ()
    began: float = field(default_factory=time.monotonic)

    def __call__(self, seen: BenchProgress) -> None:
        self.callback(self.shaped(seen))

    def shaped(self, seen: BenchProgress) -> RunnerProgress:
        """All recipes are at work at once: the current one is the first that has not ended."""
        left = {each.id for each in seen.recipes if not each.ended}
        names = {each.id: each.name for each in seen.recipes}
        at = next((n for n, book in enumerate(self.books) if left & {*book.recipes}), None)
        place = len(self.books) if at is None else at
        book = self.books[min(place, len(self.books) - 1)] if self.books else None
        recipes = list(names) if book is None else [each for each in book.recipes if each in names]
        current = next((each for each in recipes if each in left), recipes[-1])
        return {
            "current_runner_id": self.runner,
            "current_runner_type": "benchmark",
            "current_duration": int(time.monotonic() - self.began),
            "current_status": seen.status,
            "current_cookbook_index": _NONE if book is None else place,
            "current_cookbook_name": "" if book is None else book.name,
            "current_cookbook_total": len(self.books) or _NONE,
            "current_recipe_index": sum(each not in left for each in recipes),
            "current_recipe_name": names[current],
            "current_recipe_total": len(recipes),
            "current_progress": seen.percent,
            "current_error_messages": list(seen.errors),
        }


def _id(name: str) -> str:
    """The id of a recipe that is named by its id or its file."""
    return Path(name).stem if "/" in name else name
