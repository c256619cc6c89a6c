"""The cells of a row: each once, never before its inputs, to the end, whatever fails or is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.engine.clock import VirtualClock
from penstock.engine.rows import SetAside
from penstock.errors import InputError
from penstock.generate.schedule import WAITING, Graph, filled
from penstock.outcome import Failure, FailureKind

FATES = ("value", "slow", "fails", "fails slowly", "raises", "raises slowly", "waits")


@dataclass
class Cell:
    """What becomes of one cell."""

    fate: str
    delay: float
    needs: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


@st.composite
def rows(draw: st.DrawFn) -> list[Cell]:
    """A row whose cells need each other without a circle, in any order of writing."""
    count = draw(st.integers(1, 12))
    order = draw(st.permutations(range(count)))
    cells = [
        Cell(draw(st.sampled_from(FATES)), draw(st.integers(0, 50)) / 10) for _ in range(count)
    ]
    for place, number in enumerate(order):
        earlier = order[:place]
        cells[number].needs = [n for n in earlier if draw(st.integers(0, 3)) == 0]
        others = [n for n in earlier if n not in cells[number].needs]
        cells[number].after = [n for n in others if draw(st.integers(0, 5)) == 0]
    return cells


class Stage:
    """Makes cells as they are fated, and watches."""

    def __init__(self, cells: list[Cell], clock: VirtualClock) -> None:
        self.cells = cells
        self.clock = clock
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.at_once = self.most = 0

    def make(self, number: int, made: list[Any]) -> Any:
        cell = self.cells[number]
        assert number not in self.begun, "a cell is begun once"
        for needed in cell.needs:
            value = made[needed]
            assert needed in self.ended, "a cell comes after its inputs"
            assert not isinstance(value, Failure) and value is not WAITING
        for other in cell.after:
            assert other in self.ended or self.fate(other) != "ok"
        self.begun.append(number)
        if cell.fate == "raises":
            raise InputError(f"cell {number}")
        if cell.fate in ("value", "fails"):
            self.ended.append(number)
            return number if cell.fate == "value" else Failure(FailureKind.SERVER, "no")
        return self.slowly(number)

    async def slowly(self, number: int) -> Any:
        cell = self.cells[number]
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        passed = asyncio.get_running_loop().create_future()
        self.clock.call_later(cell.delay, lambda: passed.set_result(None))
        await passed
        self.at_once -= 1
        self.ended.append(number)
        if cell.fate == "waits":
            raise SetAside
        if cell.fate == "raises slowly":
            raise RuntimeError(f"cell {number}")
        return number if cell.fate == "slow" else Failure(FailureKind.SERVER, "no")

    def fate(self, number: int) -> str:
        """What must become of a cell, by what it is and what it needs."""
        cell = self.cells[number]
        inputs = [self.fate(n) for n in (*cell.needs, *cell.after)]
        if "waits" in inputs:
            return "waits"
        if any(self.fate(n) == "failed" for n in cell.needs):
            return "failed"
        own = {"value": "ok", "slow": "ok", "waits": "waits"}
        return own.get(cell.fate, "failed")


def graph_of(cells: list[Cell]) -> Graph:
    names = [f"c{number}" for number in range(len(cells))]
    return Graph.of(names, [cell.needs for cell in cells], [cell.after for cell in cells])


async def through(clock: VirtualClock, work: Coroutine[Any, Any, list[Any]]) -> list[Any]:
    task = asyncio.get_running_loop().create_task(work)
    await clock.advance(1000)
    assert task.done(), "nothing hangs"
    return task.result()


@settings(max_examples=300, deadline=None)
@given(rows(), st.one_of(st.none(), st.integers(1, 4)))
@example([Cell("waits", 0), Cell("value", 0, [0]), Cell("fails", 0), Cell("slow", 1, [2])], None)
def test_any_row_comes_to_its_end_in_the_right_order(cells: list[Cell], most: int | None) -> None:
    async def run() -> None:
        clock = VirtualClock()
        stage = Stage(cells, clock)
        made = await through(clock, filled(graph_of(cells), stage.make, most))
        assert len(made) == len(cells)
        for number, value in enumerate(made):
            fate = stage.fate(number)
            if fate == "ok":
                assert value == number, "each value in the place of its column"
            elif fate == "waits":
                assert value is WAITING
            else:
                assert isinstance(value, Failure)
                needed = any(stage.fate(n) == "failed" for n in cells[number].needs)
                assert (value.kind is FailureKind.NEEDED) == needed
        assert most is None or stage.most <= most

    asyncio.run(run())


@settings(max_examples=100, deadline=None)
@given(rows())
def test_a_cell_starts_as_soon_as_its_inputs_are_there(cells: list[Cell]) -> None:
    """The row takes as long as its longest chain, and no longer."""
    for cell in cells:
        cell.fate = "slow" if cell.fate not in ("value", "slow") else cell.fate

    def takes(number: int) -> float:
        cell = cells[number]
        own = cell.delay if cell.fate == "slow" else 0.0
        return own + max([takes(n) for n in (*cell.needs, *cell.after)], default=0.0)

    async def run() -> None:
        clock = VirtualClock()
        stage = Stage(cells, clock)
        longest = max(takes(number) for number in range(len(cells)))
        work = asyncio.get_running_loop().create_task(filled(graph_of(cells), stage.make))
        await clock.advance(longest + 0.01)
        assert work.done()

    asyncio.run(run())


def test_what_befell_the_run_is_told_as_it_is_to_those_who_need_it() -> None:
    async def run() -> None:
        cells = [Cell("value", 0), Cell("value", 0, [0])]
        stopped = Failure(FailureKind.BUDGET, "the budget is spent")

        def make(number: int, made: list[Any]) -> Any:
            return stopped

        made = await filled(graph_of(cells), make)
        assert made == [stopped, stopped]

    asyncio.run(run())
