"""Which items a page shows, where it cannot show all.

What went wrong comes first, and there in turns by recipe, endpoint and what happened: five
hundred time-outs of one endpoint must not hide the wrong answers of another. What room is left
is given to the rest in the same way.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

from penstock.bench.report.words import VERDICTS
from penstock.errors import InputError

__all__ = ["Choice"]

_FINE = ("right", "other")


class Choice:
    """Takes in all items and keeps the places of some."""

    def __init__(self, most: int) -> None:
        if most < 0:
            raise InputError(f"{most} items cannot be shown", remedy="Give 0 or more.")
        self._most = most
        self._groups: dict[tuple[str, str, str], array[int]] = {}
        self.counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, row: int, recipe: str, endpoint: str, verdict: str) -> None:
        group = (recipe, endpoint, verdict)
        self.counts[group] += 1
        kept = self._groups.setdefault(group, array("q"))
        if len(kept) < self._most:
            kept.append(row)

    def rows(self) -> tuple[int, ...]:
        """The chosen ones: recipe by recipe, in the order of the table."""
        order = list(VERDICTS)
        recipes = list(dict.fromkeys(recipe for recipe, _, _ in self._groups))
        bad: list[list[tuple[int, int]]] = []
        fine: list[list[tuple[int, int]]] = []
        for (recipe, _, verdict), rows in sorted(
            self._groups.items(), key=lambda group: order.index(group[0][2])
        ):
            placed = [(recipes.index(recipe), row) for row in rows]
            (fine if verdict in _FINE else bad).append(placed)
        chosen = islice(chain(_in_turns(bad), _in_turns(fine)), self._most)
        return tuple(row for _, row in sorted(chosen))


def _in_turns(groups: Sequence[Sequence[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
    for turn in zip_longest(*groups):
        yield from (row for row in turn if row is not None)
