"""One recipe on two sides: its examples paired, its metrics compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from penstock.bench.comparing.flips import Became, Change
from penstock.bench.comparing.matching import Match
from penstock.bench.comparing.scores import Scores
from penstock.metrics.statistics import Comparison, compare

__all__ = ["Compared", "Comparing", "OnlyIn"]


class Compared(NamedTuple):
    """One metric of one recipe. The items that `comparison` names are rows of a's items."""

    recipe: str
    metric: str
    comparison: Comparison


class OnlyIn(NamedTuple):
    """How many examples of a recipe only one side was asked."""

    recipe: str
    a: int
    b: int


@dataclass(frozen=True)
class _Paired:
    """The examples of one recipe that both sides were asked."""

    a: Scores
    b: Scores
    places: Mapping[int, int]
    """The number of each, by its row in a's items."""

    @property
    def clusters(self) -> dict[int, int] | None:
        """By row, where examples hang together."""
        examples = self.a.examples
        if not examples.grouped:
            return None
        return {row: examples.group[place] for row, place in self.places.items()}


class _Values(NamedTuple):
    """One metric's values by row of a, epochs reduced."""

    a: dict[int, float | None]
    b: dict[int, float | None]


@dataclass
class Comparing:
    """Compares recipe after recipe, and gathers what is told beside."""

    names: tuple[str, str]
    level: float
    seed: int
    most: int
    """Flips of each recipe and kind that are kept."""
    compared: list[Compared] = field(default_factory=list)
    only: list[OnlyIn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    flipped: int = 0

    def recipe(self, name: str, metrics: Mapping[str, Match], a: Scores, b: Scores) -> None:
        """All metrics of one recipe; the first tells which items went the other way."""
        paired = self._pair(name, a, b)
        clusters = paired.clusters
        for label, match in metrics.items():
            values = _values(paired, label, match)
            found = compare(
                values.a,
                values.b,
                names=self.names,
                direction=match.direction,
                clusters=clusters,
                level=self.level,
                seed=self.seed,
            )
            first = not self.compared or self.compared[-1].recipe != name
            self.compared.append(Compared(name, label, found))
            if first:
                self.flipped += len(found.better) + len(found.worse)
                self.changes += _changes(self.compared[-1], match, values, paired, self.most)

    def _pair(self, name: str, a: Scores, b: Scores) -> _Paired:
        every = range(len(a.examples))
        both = [place for place in every if a.has(place) and b.has(place)]
        one, other = (sum(map(scores.has, every)) - len(both) for scores in (a, b))
        if one or other:
            self.only.append(OnlyIn(name, one, other))
        prompts, targets = a.otherwise(b, both)
        for count, said in ((prompts, "asked in other words"), (targets, "held to another target")):
            if count:
                self.notes.append(f"{name}: {count:,} of {len(both):,} examples are {said}")
        return _Paired(a, b, {a.row(place): place for place in both})


def _values(paired: _Paired, label: str, match: Match) -> _Values:
    a = paired.a.values(label, match.a.reducer, match.a.epochs)
    b = paired.b.values(label, match.b.reducer, match.b.epochs)
    places = paired.places.items()
    return _Values({row: a[place] for row, place in places}, {row: b[at] for row, at in places})


def _changes(
    compared: Compared, match: Match, values: _Values, paired: _Paired, most: int
) -> Iterator[Change]:
    """The largest changes of each kind."""
    found, label = compared.comparison, compared.metric
    kinds = cast(
        dict[Became, Sequence[int]], {"worse": found.worse, "better": found.better}
    )  # a comparison names its items by what it was given, here rows
    first = [abs(_change(values, rows[0])) for rows in kinds.values() if rows]
    whole = match.whole or max(first, default=1.0)
    for became, rows in kinds.items():
        for turn, row in enumerate(rows[:most]):
            place, change = paired.places[row], _change(values, row)
            yield Change(
                size=abs(change) / whole,
                turn=turn,
                recipe=compared.recipe,
                metric=label,
                became=became,
                values=(values.a[row] or 0.0, values.b[row] or 0.0),
                rows=(
                    paired.a.telling_row(place, label, highest=change < 0),
                    paired.b.telling_row(place, label, highest=change > 0),
                ),
            )


def _change(values: _Values, row: int) -> float:
    return (values.b[row] or 0.0) - (values.a[row] or 0.0)
