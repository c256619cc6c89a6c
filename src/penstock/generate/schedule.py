"""The cells of one row, each made when those it needs are there.

A chain of cells runs in the task of its row; only where several can be made at the same time does
each get a task of its own. A cell is begun at most once, never before its inputs, and always comes
to an end: a value, or a Failure. A failure goes on only to the cells that need it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.engine.rows import SetAside
from penstock.errors import PenstockError
from penstock.outcome import Failure, FailureKind

__all__ = ["WAITING", "Graph", "filled"]

_log = logging.getLogger(__name__)

WAITING: Any = object()
"""In the place of a cell: its answer lies in a batch."""
_PENDING: Any = object()

Make = Callable[[int, list[Any]], Any]
"""Gives a cell by its number, from the cells so far: a value, a Failure, or either to await."""


@dataclass(frozen=True)
class Graph:
    """Which cells need which, by their numbers in the order written."""

    names: tuple[str, ...]
    needs: tuple[tuple[int, ...], ...]
    """It cannot be made where one of these failed."""
    after: tuple[tuple[int, ...], ...]
    """It may read these, so it waits for them; a failed one hurts only if it is read."""
    dependents: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]

    @classmethod
    def of(
        cls, names: Sequence[str], needs: Sequence[Sequence[int]], after: Sequence[Sequence[int]]
    ) -> Graph:
        dependents: list[list[int]] = [[] for _ in names]
        for cell in range(len(names)):
            for other in {*needs[cell], *after[cell]}:
                dependents[other].append(cell)
        roots = tuple(c for c in range(len(names)) if not needs[c] and not after[c])
        return cls(
            tuple(names),
            tuple(tuple(dict.fromkeys(each)) for each in needs),
            tuple(tuple(dict.fromkeys(each)) for each in after),
            tuple(map(tuple, dependents)),
            roots,
        )


async def filled(graph: Graph, make: Make, most: int | None = None) -> list[Any]:
    """Every cell of a row: a value, a Failure or WAITING; at most so many made at once."""
    row = _Row(graph, make, most)
    await row.fill()
    return row.cells


class _Row:
    def __init__(self, graph: Graph, make: Make, most: int | None) -> None:
        self.cells: list[Any] = [_PENDING] * len(graph.names)
        self._graph = graph
        self._make = make
        self._left = [
            len({*needs, *after}) for needs, after in zip(graph.needs, graph.after, strict=True)
        ]
        self._places = None if most is None else asyncio.Semaphore(most)
        self._tasks: asyncio.TaskGroup | None = None

    async def fill(self) -> None:
        """Alone as long as one thing follows another; with tasks from the first fork on."""
        waiting = self._begun(list(self._graph.roots))
        while len(waiting) == 1:
            [(cell, made)] = waiting
            waiting = self._begun(self._ended(cell, await self._settled(cell, made)))
        if waiting:
            async with asyncio.TaskGroup() as self._tasks:
                for cell, made in waiting:
                    self._tasks.create_task(self._branch(cell, made))

    async def _branch(self, cell: int, made: Awaitable[Any]) -> None:
        assert self._tasks is not None
        while True:
            waiting = self._begun(self._ended(cell, await self._settled(cell, made)))
            if not waiting:
                return
            (cell, made), *others = waiting
            for other, its in others:
                self._tasks.create_task(self._branch(other, its))

    def _begun(self, ready: list[int]) -> list[tuple[int, Awaitable[Any]]]:
        """Make what can be made at once, and all that follows from it; the rest is to await."""
        waiting = []
        while ready:
            cell = ready.pop()
            made = self._begin(cell)
            if isinstance(made, Awaitable):
                waiting.append((cell, made))
            else:
                ready += self._ended(cell, made)
        return waiting

    def _begin(self, cell: int) -> Any:
        held_back = self._held_back(cell)
        if held_back is not None:
            return held_back
        try:
            return self._make(cell, self.cells)
        except Exception as error:
            return self._trouble(cell, error)

    def _held_back(self, cell: int) -> Any:
        for other in (*self._graph.needs[cell], *self._graph.after[cell]):
            if self.cells[other] is WAITING:
                return WAITING
        for other in self._graph.needs[cell]:
            failed = self.cells[other]
            if isinstance(failed, Failure):
                return needed(self._graph.names[other], failed)
        return None

    async def _settled(self, cell: int, made: Awaitable[Any]) -> Any:
        try:
            if self._places is None:
                return await made
            async with self._places:
                return await made
        except SetAside:
            return WAITING
        except Exception as error:
            return self._trouble(cell, error)

    def _trouble(self, cell: int, error: Exception) -> Failure:
        if isinstance(error, PenstockError):
            return Failure(FailureKind.INPUT, error.message)
        _log.exception("a cell failed", extra={"column": self._graph.names[cell]})
        return Failure(FailureKind.INTERNAL, f"{type(error).__name__}: {error}")

    def _ended(self, cell: int, value: Any) -> list[int]:
        """Write a cell down; those that can be made now."""
        assert self.cells[cell] is _PENDING, "a cell is made once"
        self.cells[cell] = value
        ready = []
        for dependent in self._graph.dependents[cell]:
            self._left[dependent] -= 1
            if not self._left[dependent]:
                ready.append(dependent)
        return ready


def needed(name: str, failed: Failure) -> Failure:
    """What becomes of a cell when one that it needs failed."""
    if failed.kind.undecided:  # it befell the run: this cell is not at fault either
        return failed
    return Failure(FailureKind.NEEDED, f"{name} failed")
