"""The columns of a schema: what a person writes after each name.

A column says what it needs and, when a run begins, gives a function that makes one cell. Values
and samplers are made at once in the engine's loop; functions of the user's run in the user thread;
generators and judges ask.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.endpoint import Endpoint
from penstock.engine.users import Raised
from penstock.errors import InputError
from penstock.generate.arguments import Needs, wanted
from penstock.generate.rules import Check, Condition
from penstock.generate.samplers import Sampler
from penstock.generate.samplers.base import own
from penstock.generate.samplers.draw import Draw
from penstock.outcome import Failure, FailureKind

if TYPE_CHECKING:
    from penstock.engine.engine import Engine
    from penstock.generate.calls import Calls
    from penstock.generate.models import Models

__all__ = ["Attempt", "Called", "Column", "Row", "Sampled", "Scene", "Static"]
__all__ += ["as_column", "column"]

_MOST_TRIES = 100


class FailedCellError(KeyError):
    """A function read a cell that failed."""


class Row(dict[str, Any]):
    """The cells that a function may read. Reading one that failed fails the reader."""

    failed: Mapping[str, Failure] = {}

    def __missing__(self, name: str) -> Any:
        if name in self.failed:
            raise FailedCellError(name)
        raise KeyError(f"{name}; here are {', '.join(self) or 'no columns'}")


class Attempt(NamedTuple):
    """One of the times that a cell is made."""

    number: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    """The answers so far, and why each was refused."""


class Scene(NamedTuple):
    """What a column works with in a run."""

    name: str
    """The column's own."""
    columns: tuple[str, ...]
    """All that can be named."""
    seed: int | str
    engine: Engine
    calls: Calls
    models: Models
    twin: int = 0
    """How many columns before this one ask the same: each draws its own answers."""

    def rng(self, number: int, what: str = "") -> Random:
        """A cell's own randomness: a function that uses it gives the same when it is run again."""
        return Random(f"{self.seed}/{self.name}/{number}{what}")  # noqa: S311


Make = Callable[[int, Row, Attempt], Any]
"""A cell of a row, by the row's number: a value or a Failure, or either to await."""


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """What every kind of column has."""

    when: Condition | None = None
    check: Check | None = None
    tries: int = 3
    feedback: bool = False

    def __post_init__(self) -> None:
        if type(self.tries) is not int or not 1 <= self.tries <= _MOST_TRIES:
            raise InputError(f"tries is {self.tries!r}; 1 to {_MOST_TRIES} are allowed")

    @abstractmethod
    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        """What it is made of."""

    @abstractmethod
    def maker(self, scene: Scene) -> Make:
        """What makes a cell of it, for one run."""

    def needs(self, name: str, columns: Sequence[str]) -> Needs:
        """What it is made of, with its condition and its check."""
        found = self.own_needs(name, columns)
        for rule in (self.when, self.check):
            if rule is not None:
                found |= rule.needs(name, columns)
        return found

    @property
    def fields(self) -> tuple[str, ...] | None:
        """The columns that its value is spread over; None: just its own."""
        return None

    @property
    def repeats(self) -> bool:
        """Whether making a cell again can give another."""
        return False

    @property
    def question(self) -> Any:
        """What it asks, to be compared: equal ones draw answers of their own."""
        return None

    def endpoints(self, models: Models) -> tuple[Endpoint, ...]:
        """Whom it asks."""
        return ()

    def check_rows(self, n: int) -> None:  # noqa: B027 - most can give any number
        """Refuse more rows than it can give."""


@dataclass(frozen=True, kw_only=True)
class Static(Column):
    """The same value in every row."""

    value: Any

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        return Needs()

    def maker(self, scene: Scene) -> Make:
        return lambda number, row, attempt: own(self.value)


@dataclass(frozen=True, kw_only=True)
class Sampled(Column):
    """Drawn at random; the same seed, column and row draw the same."""

    sampler: Sampler

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        return Needs(tuple(self.sampler.requires))

    @property
    def repeats(self) -> bool:
        return True

    def check_rows(self, n: int) -> None:
        self.sampler.needs(n)

    def maker(self, scene: Scene) -> Make:
        sampler, seed, draw = self.sampler, scene.seed, Draw()
        name = sampler.group or scene.name

        def make(number: int, row: Row, attempt: Attempt) -> Any:
            again = f"{name}/{attempt.number}" if attempt.number else name
            return sampler.value(draw.at(seed, again, number), number, row)

        return make


@dataclass(frozen=True, kw_only=True)
class Called(Column):
    """What a function of the user's returns."""

    function: Callable[..., Any]
    requires: tuple[str, ...] | None = None

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        others = [column for column in columns if column != name]
        found = wanted(self.function, others, f"column {name!r}", requires=self.requires)
        return found.needs

    def maker(self, scene: Scene) -> Make:
        others = [column for column in scene.columns if column != scene.name]
        how = wanted(self.function, others, scene.name, requires=self.requires)
        calls, function = scene.calls, self.function

        async def make(number: int, row: Row, attempt: Attempt) -> Any:
            places, named = how.arguments(row, lambda: scene.rng(number))
            return blamed(await calls.call(lambda: function(*places, **named)), row, "function")

        return make


def blamed(result: Any, row: Row, what: str) -> Any:
    """What a user's function returned; what it raised is a Failure that names it."""
    if not isinstance(result, Raised):
        return result
    error = result.error
    if isinstance(error, FailedCellError):
        from penstock.generate.schedule import needed

        name = str(error.args[0])
        return needed(name, row.failed[name])
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return Failure(FailureKind.INPUT, f"the {what} raised {said}")


def column(
    value: Any,
    *,
    requires: Sequence[str] | str | None = None,
    when: Any = None,
    check: Any = None,
    tries: int | None = None,
) -> Column:
    """A column with more to say: a value, a sampler or a function, and

    `requires`: the columns that a function reads; `when`: the rows that have it (a function, the
    name of a column, or rules such as `{"level": "hard"}`); `check`: what its value must be (a
    function or rules such as `{"min_length": 10}`), drawn again up to `tries` times. What is not
    given stays as the value has it.
    """
    made = as_column(value)
    if requires is not None:
        if not isinstance(made, Called):
            raise InputError("requires= is for functions", remedy="Leave it out.")
        made = replace(made, requires=_names(requires))
    return replace(
        made,
        when=made.when if when is None else Condition.of(when),
        check=made.check if check is None else Check.of(check),
        tries=made.tries if tries is None else tries,
    )


def _names(requires: Any) -> tuple[str, ...]:
    if isinstance(requires, str):
        return (requires,)
    if isinstance(requires, Iterable) and all(isinstance(name, str) for name in requires):
        return tuple(requires)
    raise InputError(f"requires is {requires!r}; the names of columns are wanted")


def as_column(value: Any) -> Column:
    """What a person wrote after a name."""
    if isinstance(value, Column):
        return value
    if isinstance(value, Sampler):
        return Sampled(sampler=value)
    if callable(value) and not isinstance(value, type):
        return Called(function=value)
    if isinstance(value, type):
        raise InputError(f"{value.__name__} is a class; a value or a function is wanted")
    return Static(value=value)
