"""The scores of an endpoint out of a table of items: numbers only, in one pass.

Texts are read again later, row by row, for the few items that are shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from penstock.bench.item import Item
from penstock.bench.summary.reducing import Examples, Samples
from penstock.errors import InputError
from penstock.metrics.statistics import reducer
from penstock.tables import Table
from penstock.tables.source import Row

__all__ = ["Scores", "item_at", "read_scores"]

_NEEDED = ("recipe", "dataset", "template", "endpoint", "id", "cluster", "prompt", "target")
_BLOCK = 256
"""Rows at a time: prompts may be long."""


class _Given(msgspec.Struct, gc=False):
    """As much of an ItemScore as is needed here."""

    metric: str
    value: float | None = None


_decode = msgspec.json.Decoder(tuple[_Given, ...]).decode


class Scores:
    """One endpoint's in one recipe. The examples are numbered alike for all that share them."""

    def __init__(self, labels: Sequence[str], examples: Examples) -> None:
        self.examples = examples
        self._labels = {label: at for at, label in enumerate(labels)}
        self._samples = Samples(len(self._labels) + 1)  # the last is the row: exact as a float
        self._prompts, self._targets = array("q"), array("q")

    def add(self, number: int, row: Row) -> None:
        """One row of the table."""
        examples = self.examples
        place = examples.place(row["dataset"], row["template"], row["id"], row["cluster"])
        values: list[float | None] = [None] * len(self._labels)
        for score in _decode(row["scores"]):
            if (at := self._labels.get(score.metric)) is not None:
                values[at] = score.value
        self._samples.add(place, [*values, float(number)])
        if (more := place + 1 - len(self._prompts)) > 0:
            self._prompts.extend([0] * more)
            self._targets.extend([0] * more)
        self._prompts[place] = hash(row["prompt"])
        target = row["target"]
        self._targets[place] = hash(None if target is None else tuple(target))

    def has(self, place: int) -> bool:
        """Whether the example was asked at all."""
        return self._samples.drawn(place) > 0

    def values(self, label: str, by: str, epochs: int) -> list[float | None]:
        """Of each example, its epochs reduced to one value."""
        return self._samples.reduced(self._labels[label], reducer(by), epochs)

    def row(self, place: int) -> int:
        """The row of its first draw."""
        return self._rows(place)[0]

    def telling_row(self, place: int, label: str, *, highest: bool) -> int:
        """The row of the draw with the highest or the lowest value."""
        values = self._samples.of(place, self._labels[label])
        drawn = zip(values, self._rows(place), strict=True)
        found = [(value, row) for value, row in drawn if value is not None]
        pick = max if highest else min
        return pick(found, key=lambda each: each[0])[1] if found else self.row(place)

    def otherwise(self, other: Scores, both: Sequence[int]) -> tuple[int, int]:
        """How many examples were asked in other words, and how many have another target."""
        prompts = sum(self._prompts[place] != other._prompts[place] for place in both)
        return prompts, sum(self._targets[place] != other._targets[place] for place in both)

    def _rows(self, place: int) -> list[int]:
        return [int(row) for row in self._samples.of(place, len(self._labels)) if row is not None]


def read_scores(
    table: Table, endpoint: str, labels: Mapping[str, Sequence[str]], of: Mapping[str, Examples]
) -> dict[str, Scores]:
    """By recipe: the scores of those metrics. `of` holds the examples of each recipe."""
    found = {recipe: Scores(names, of[recipe]) for recipe, names in labels.items()}
    for number, row in enumerate(_rows(table)):
        if row["endpoint"] == endpoint and (scores := found.get(row["recipe"])) is not None:
            scores.add(number, row)
    return found


def item_at(table: Table, row: int) -> Item:
    """One item, with its texts."""
    return Item.of_row(table[row])


def _rows(table: Table) -> Iterator[Row]:
    """Without the columns that are not needed, such as the answers."""
    wanted = (*_NEEDED, "scores")
    if missing := [name for name in wanted if name not in table.column_names]:
        raise InputError(
            f"the table has no column {missing[0]!r}, so it is not one of items",
            remedy="Give the table of items of a benchmark run.",
        )
    some = Table(table.to_arrow().select(list(wanted)))
    return chain.from_iterable(some.blocks(_BLOCK))
