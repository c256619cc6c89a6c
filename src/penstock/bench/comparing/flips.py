"""Items that went the other way, with what was asked and answered: for people to read.

They are found by their numbers and fetched row by row, the most telling ones only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from penstock.bench.comparing.scores import Scores, item_at, read_scores
from penstock.bench.summary.reducing import Examples
from penstock.tables import Table

__all__ = ["Change", "Disagreement", "Disagreements", "Flip", "flips_between", "told"]

Became = Literal["better", "worse"]


@dataclass(frozen=True)
class Flip:
    """One item that is better or worse in b than in a.

    With several epochs the values are the reduced ones, and the answers those that differ most.
    """

    recipe: str
    metric: str
    dataset: str
    template: str
    id: str
    became: Became
    values: tuple[float, float]
    prompt: str
    other_prompt: str | None
    """What b was asked, where that was not the same."""
    target: tuple[str, ...] | None
    answers: tuple[str | None, str | None]
    rows: tuple[int, int]
    """Where they stand in the two tables of items."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Change(NamedTuple):
    """A flip before its texts are fetched."""

    size: float
    """As part of the metric's range, or of the largest change where it has no bounds."""
    turn: int
    """Its place among those of its recipe that went the same way."""
    recipe: str
    metric: str
    became: Became
    values: tuple[float, float]
    rows: tuple[int, int]


def told(changes: Iterable[Change], a: Table, b: Table, most: int) -> tuple[Flip, ...]:
    """The most telling changes with their texts.

    The largest come first. Of equal ones each recipe has its turn, and what became worse goes
    before what became better.
    """

    def importance(one: Change) -> tuple[float, int, bool]:
        return (-round(one.size, 9), one.turn, one.became == "better")

    ordered = sorted(changes, key=importance)
    return tuple(_flip(change, a, b) for change in ordered[:most])


def _flip(change: Change, a: Table, b: Table) -> Flip:
    old, new = item_at(a, change.rows[0]), item_at(b, change.rows[1])
    return Flip(
        recipe=change.recipe,
        metric=change.metric,
        dataset=old.dataset,
        template=old.template,
        id=old.id,
        became=change.became,
        values=change.values,
        prompt=old.prompt,
        other_prompt=None if new.prompt == old.prompt else new.prompt,
        target=old.target,
        answers=(old.answer, new.answer),
        rows=change.rows,
    )


@dataclass(frozen=True)
class Disagreement:
    """One item that several endpoints answered with different success."""

    dataset: str
    template: str
    id: str
    prompt: str
    target: tuple[str, ...] | None
    values: dict[str, float | None]
    """By endpoint, epochs reduced."""
    answers: dict[str, str | None]
    """By endpoint; with several epochs the first."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Disagreements:
    """How many items there are on which endpoints disagree, and those that differ most."""

    total: int
    items: tuple[Disagreement, ...]


def flips_between(
    items: Table,
    recipe: str,
    metric: str,
    endpoints: Sequence[str],
    *,
    reducer: str = "mean",
    epochs: int = 1,
    most: int = 20,
) -> Disagreements:
    """The items of one run on which its endpoints disagree, the largest differences first.

    An endpoint without a value for an item does not count there.
    """
    examples = {recipe: Examples()}
    scores = {
        name: read_scores(items, name, {recipe: [metric]}, examples)[recipe] for name in endpoints
    }
    values = {name: one.values(metric, reducer, epochs) for name, one in scores.items()}
    spreads = []
    for place in range(len(examples[recipe])):
        found = [value for one in values.values() if (value := _at(one, place)) is not None]
        if len(found) > 1 and (spread := max(found) - min(found)):
            spreads.append((-spread, place))
    spreads.sort()
    chosen = [place for _, place in spreads[:most]]
    return Disagreements(
        len(spreads), tuple(_disagreement(items, place, scores, values) for place in chosen)
    )


def _disagreement(
    items: Table, place: int, scores: dict[str, Scores], values: dict[str, list[float | None]]
) -> Disagreement:
    asked = {name: item_at(items, one.row(place)) for name, one in scores.items() if one.has(place)}
    first = next(iter(asked.values()))
    return Disagreement(
        dataset=first.dataset,
        template=first.template,
        id=first.id,
        prompt=first.prompt,
        target=first.target,
        values={name: _at(one, place) for name, one in values.items()},
        answers={name: item.answer for name, item in asked.items()},
    )


def _at(values: Sequence[float | None], place: int) -> float | None:
    """The examples that one endpoint was asked last are unknown to the others."""
    return values[place] if place < len(values) else None
