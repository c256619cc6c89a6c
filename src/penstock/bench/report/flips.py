"""Flips: questions that endpoints did not answer alike, found in one pass over the items.

What is kept of an item is its place and its value: some twenty bytes, so that items of several
endpoints find each other in whatever order they come. Several epochs of a question count by
their mean. Beyond a bound, further questions are not compared, and that is counted.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Differences", "Flip", "Flips"]

MOST_QUESTIONS = 1_000_000
_NOTHING = -1
_SAME = 1e-9


@dataclass(frozen=True)
class Flip:
    """A question that endpoints did not answer alike."""

    recipe: str
    spread: float
    """Between the best and the worst endpoint, by the first metric."""
    means: Mapping[str, float | None]
    """By endpoint; over its epochs."""
    rows: Mapping[str, int]
    """By endpoint: where its first item is."""


@dataclass(frozen=True)
class Differences:
    """How the endpoints compare in one recipe."""

    compared: int
    """Questions for which two endpoints or more have a value."""
    differ: int
    largest: tuple[Flip, ...]


class Flips:
    """Takes in items in any order."""

    def __init__(self, endpoints: Sequence[str]) -> None:
        self._endpoints = list(endpoints)
        self._at = {name: place for place, name in enumerate(endpoints)}
        self._recipes: dict[str, int] = {}
        self._questions: dict[int, int] = {}
        self._recipe = array("l")
        self._row = array("q")
        self._sum = array("d")
        self._count = array("l")
        self.left_out = 0
        """Items of questions beyond the bound."""

    def add(
        self, row: int, question: tuple[str, str, str, str], endpoint: str, value: float | None
    ) -> None:
        """One item: where it is, what was asked (recipe first), whom, and what it is worth."""
        at = self._at.get(endpoint)
        if at is None or len(self._endpoints) < 2:
            return
        # Two questions of one hash would be taken for one: less than once in ten million runs.
        number = self._questions.get(hash(question))
        if number is None:
            if len(self._questions) >= MOST_QUESTIONS:
                self.left_out += 1
                return
            number = self._new(question)
        place = number * len(self._endpoints) + at
        if self._row[place] == _NOTHING:
            self._row[place] = row
        if value is not None:
            self._sum[place] += value
            self._count[place] += 1

    def found(self, most: int) -> dict[str, Differences]:
        """By recipe, with the largest differences; of equal ones the first."""
        compared, differ = [0] * len(self._recipes), [0] * len(self._recipes)
        tops: list[list[tuple[float, int]]] = [[] for _ in self._recipes]
        for number, recipe in enumerate(self._recipe):
            means = [mean for mean in self._means(number) if mean is not None]
            if len(means) < 2:
                continue
            compared[recipe] += 1
            if (spread := max(means) - min(means)) > _SAME:
                differ[recipe] += 1
                entry, top = (spread, -number), tops[recipe]
                if len(top) < most:
                    heapq.heappush(top, entry)
                elif most:
                    heapq.heappushpop(top, entry)
        return {
            name: Differences(compared[at], differ[at], tuple(self._flips(name, tops[at])))
            for name, at in self._recipes.items()
        }

    def _new(self, question: tuple[str, str, str, str]) -> int:
        number = self._questions[hash(question)] = len(self._questions)
        many = len(self._endpoints)
        self._recipe.append(self._recipes.setdefault(question[0], len(self._recipes)))
        self._row.extend([_NOTHING] * many)
        self._sum.extend([0.0] * many)
        self._count.extend([0] * many)
        return number

    def _means(self, number: int) -> Iterator[float | None]:
        start = number * len(self._endpoints)
        for place in range(start, start + len(self._endpoints)):
            count = self._count[place]
            yield self._sum[place] / count if count else None

    def _flips(self, recipe: str, top: list[tuple[float, int]]) -> Iterator[Flip]:
        for spread, minus in sorted(top, reverse=True):
            start = -minus * len(self._endpoints)
            rows = self._row[start : start + len(self._endpoints)]
            yield Flip(
                recipe,
                spread,
                dict(zip(self._endpoints, self._means(-minus), strict=True)),
                {
                    name: row
                    for name, row in zip(self._endpoints, rows, strict=True)
                    if row != _NOTHING
                },
            )
