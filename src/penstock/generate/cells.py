"""How the cells of a run are made: each column's maker, with its condition, check and tries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside, current_row
from penstock.engine.users import Raised
from penstock.generate.arguments import wanted
from penstock.generate.calls import Calls
from penstock.generate.columns import Attempt, Column, Make, Row, Scene, blamed
from penstock.generate.functions import called
from penstock.generate.models import Models
from penstock.generate.rules import Check, Condition
from penstock.generate.schedule import WAITING, filled
from penstock.generate.schema import Schema
from penstock.outcome import Failure, FailureKind

__all__ = ["Cells", "Guarded", "guarded"]

_FIRST = Attempt()
_SOMETHING = "something"
_Input = tuple[str, int, str | None]
Guarded = Callable[[int, Row], Any]
"""A cell of a row, by the row's number, with all that is wished of it; a value or to await."""


class Cells:
    """The makers of a schema's cells, for one run."""

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        models: Models,
        seed: int | str,
        most: int | None = None,
        *,
        pretends: bool = False,
    ) -> None:
        """`pretends`: answers are not real, so nothing is held against what comes of them."""
        self.schema = schema
        self.calls = Calls(engine.station.users)
        self._most = most
        self._inputs = schema.inputs()
        scenes = [
            Scene(name, schema.nameable, seed, engine, self.calls, models, twin)
            for name, twin in zip(schema.names, schema.twins, strict=True)
        ]
        columns = [replace(c, check=None) if pretends else c for c in schema.columns.values()]
        self._makers = [guarded(column, own) for column, own in zip(columns, scenes, strict=True)]

        if pretends:
            self._makers = [_pretended(make) for make in self._makers]

    async def row(self, number: int) -> list[Any]:
        """All cells of a row. Where one waits for a batch, the whole row is set aside."""
        current_row.set(number)
        makers, inputs = self._makers, self._inputs

        def make(cell: int, cells: list[Any]) -> Any:
            return makers[cell](number, _readable(inputs[cell], cells))

        cells = await filled(self.schema.graph, make, self._most)
        if any(cell is WAITING for cell in cells):
            raise SetAside
        return cells


def _readable(inputs: list[_Input], cells: list[Any]) -> Row:
    """What a cell may read: the values of its inputs, and which of them failed."""
    row = Row()
    for name, cell, field in inputs:
        value = cells[cell]
        if isinstance(value, Failure):
            row.failed = {**row.failed, name: value}
        elif field is None:
            row[name] = value
        else:
            row[name] = value.get(field) if isinstance(value, dict) else None
    return row


def guarded(column: Column, scene: Scene) -> Guarded:
    """A maker with its condition and its check around it."""
    make = column.maker(scene)
    if column.when is None and column.check is None:
        return lambda number, row: make(number, row, _FIRST)
    applies = _condition(column.when, scene)
    problem = _check(column.check, scene)
    tries = column.tries if column.repeats else 1

    async def made(number: int, row: Row) -> Any:
        told = True if applies is None else await applies(number, row)
        if isinstance(told, Failure):
            return told
        if not told:
            return None
        if problem is None:
            return await _awaited(make(number, row, _FIRST))
        return await _tried(make, problem, number, row, tries, column.feedback)

    return made


def _pretended(make: Guarded) -> Guarded:
    """Where a function cannot do with what stands in for an answer, something stands in for its
    result: what is made of it is counted too."""

    async def made(number: int, row: Row) -> Any:
        value = await _awaited(make(number, row))
        return _SOMETHING if isinstance(value, Failure) else value

    return made


async def _tried(
    make: Make,
    problem: Callable[[int, Any, Row], Awaitable[Any]],
    number: int,
    row: Row,
    tries: int,
    feedback: bool,
) -> Any:
    """Make a cell until it passes, a bounded number of times."""
    refused: tuple[tuple[Any, str], ...] = ()
    why = ""
    for attempt in range(tries):
        value = await _awaited(make(number, row, Attempt(attempt, refused)))
        if isinstance(value, Failure):
            return value
        said = await problem(number, value, row)
        if said is None or isinstance(said, Failure):
            return value if said is None else said
        why = said
        if feedback:
            refused += ((value, why),)
    times = "once" if tries == 1 else f"{tries} times"
    return Failure(FailureKind.REJECTED, f"made {times} and refused: {why}", tries)


async def _awaited(made: Any) -> Any:
    return await made if isinstance(made, Awaitable) else made


def _condition(when: Condition | None, scene: Scene) -> Any:
    if when is None:
        return None
    if when.function is None:

        async def holds(number: int, row: Row) -> Any:
            return when.holds(row)

        return holds
    function = when.function
    others = [column for column in scene.columns if column != scene.name]
    how = wanted(function, others, scene.name)

    async def applies(number: int, row: Row) -> Any:
        places, named = how.arguments(row, lambda: scene.rng(number, "/when"))
        said = await scene.calls.call(lambda: function(*places, **named))
        told = blamed(said, row, "when function")
        return told if isinstance(told, Failure) else blamed(called(bool, told), row, "when result")

    return applies


def _check(check: Check | None, scene: Scene) -> Any:
    """Why a value is refused, or None; a Failure where the check itself is at fault."""
    if check is None:
        return None
    if check.function is None:

        async def problem(number: int, value: Any, row: Row) -> Any:
            # In the user thread: a pattern of somebody's may take its time.
            return blamed(await scene.calls.call(check.problem, value), row, "check")

        return problem
    function = check.function
    others = [column for column in scene.columns if column != scene.name]
    how = wanted(function, others, scene.name, value=True)

    async def asked(number: int, value: Any, row: Row) -> Any:
        places, named = how.arguments(row, lambda: scene.rng(number, "/check"))
        first = (value,) if how.takes_value else ()
        said = await scene.calls.call(lambda: function(*first, *places, **named))
        if isinstance(said, Raised) and isinstance(said.error, AssertionError | ValueError):
            return str(said.error) or "the check refused it"
        told = blamed(said, row, "check function")
        if isinstance(told, Failure):
            return told
        return blamed(called(Check.verdict, told), row, "check result")

    return asked
