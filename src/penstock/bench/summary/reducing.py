"""The numbers of many items in little memory: examples numbered, their values in arrays.

Items are read once and forgotten. What stays of an example is a number, of a score eight bytes, so
that some hundred thousand items are tens of megabytes and never the texts of a run.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import overload

from penstock.metrics.score import Score
from penstock.metrics.statistics import Reducer

__all__ = ["Corpus", "Examples", "Samples"]

_MISSING = math.nan
"""In an array of values: there is none."""


class Examples:
    """The examples of one recipe, numbered as they are met, whoever was asked.

    One example with two templates is two of them, in one group. A key is kept as its hash of 64
    bits: among a million, the chance that any two are taken for one is 1 in 30 million.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[str, str], int] = {}
        """Dataset and template, numbered."""
        self.part = array("L")
        """Of each example."""
        self.group = array("q")
        """What each belongs to: its cluster, else the example whatever the template."""
        self._places: dict[int, int] = {}
        self._clusters = False

    def __len__(self) -> int:
        return len(self.part)

    @property
    def grouped(self) -> bool:
        """Whether several examples may hang together, so that a group counts as one."""
        datasets = Counter(dataset for dataset, _ in self.parts)
        return self._clusters or any(templates > 1 for templates in datasets.values())

    def add_part(self, dataset: str, template: str) -> int:
        """Its number; the same whenever it is asked for."""
        return self.parts.setdefault((dataset, template), len(self.parts))

    def place(self, dataset: str, template: str, id_: str, cluster: str | None) -> int:
        """The number of an example."""
        key = hash((dataset, template, id_))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._places)
            self.part.append(self.add_part(dataset, template))
            group = (dataset, id_) if cluster is None else (dataset, cluster, "cluster")
            self.group.append(hash(group))
            self._clusters = self._clusters or cluster is not None
        return place


class Samples:
    """The values of examples for several metrics at once, each example drawn once or more often.

    Draws come in any order; no reducer minds. A missing value is None outside and NaN inside.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._drawn = array("L")
        self._columns: list[array[float]] = []

    def add(self, place: int, values: Sequence[float | None]) -> None:
        """One more draw of an example: a value for each metric."""
        if (more := place + 1 - len(self._drawn)) > 0:
            self._drawn.extend([0] * more)
        first = self._drawn[place] * self._width
        self._drawn[place] += 1
        if first == len(self._columns):
            self._columns += [array("d") for _ in range(self._width)]
        for column, value in zip(self._columns[first : first + self._width], values, strict=True):
            if (gap := place - len(column)) > 0:
                column.extend([_MISSING] * gap)
            made = _MISSING if value is None else value
            if gap >= 0:
                column.append(made)
            else:
                column[place] = made

    def drawn(self, place: int) -> int:
        """How often it was drawn."""
        return self._drawn[place] if place < len(self._drawn) else 0

    def of(self, place: int, metric: int) -> list[float | None]:
        """What the draws of one example gave."""
        columns = self._columns[metric : self.drawn(place) * self._width : self._width]
        values = [column[place] for column in columns]
        return [None if math.isnan(value) else value for value in values]

    def reduced(self, metric: int, reduce: Reducer, epochs: int) -> list[float | None]:
        """One value for each example; a draw that never came is a missing one."""
        values = []
        for place in range(len(self._drawn)):
            draws = self.of(place, metric)
            values.append(reduce(draws + [None] * (epochs - len(draws))))
        return values

    def passed(self, metric: int) -> Counter[tuple[int, int]] | None:
        """How many examples have (draws with a value, draws that passed); None if not yes and no.

        An example with no value at all is not among them.
        """
        counts: Counter[tuple[int, int]] = Counter()
        for place in range(len(self._drawn)):
            values = [value for value in self.of(place, metric) if value is not None]
            passed = values.count(1.0)
            if passed + values.count(0.0) < len(values):
                return None
            if values:
                counts[len(values), passed] += 1
        return counts


class Corpus(Sequence[Score]):
    """The scored ones of a metric, for what it says of all together: values and parts only."""

    def __init__(self) -> None:
        self._values = array("d")
        self._parts = array("d")
        self._ends = array("Q", [0])

    def add(self, value: float, parts: Sequence[float]) -> None:
        self._values.append(value)
        self._parts.extend(parts)
        self._ends.append(len(self._parts))

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Score]:
        return map(self._score, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Score: ...
    @overload
    def __getitem__(self, at: slice) -> list[Score]: ...
    def __getitem__(self, at: int | slice) -> Score | list[Score]:
        if isinstance(at, slice):
            return [self._score(each) for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"score {at} of {len(self)}")
        return self._score(at % len(self))

    def _score(self, at: int) -> Score:
        start, end = self._ends[at], self._ends[at + 1]
        return Score(self._values[at], parts=tuple(self._parts[start:end]))
