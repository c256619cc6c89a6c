"""Work over rows: bounded, as it completes, each failure in its own row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import current_row
from penstock.engine.station import Station
from penstock.errors import RequestError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.request import Request
from penstock.store import Journal


async def test_every_row_comes_back_once_with_its_number(station: Station) -> None:
    async def double(row: int) -> int:
        await asyncio.sleep(0)
        return 2 * row

    found = [item async for item in Engine(station).map(range(1000), double, window=16)]
    assert sorted(found) == [(n, n, 2 * n) for n in range(1000)]


async def test_results_come_as_they_complete_and_a_slow_row_stops_nobody(station: Station) -> None:
    release = asyncio.Event()
    finished: list[int] = []

    async def work(row: int) -> int:
        if row == 0:
            await release.wait()
        return row

    async for number, _, _ in Engine(station).map(range(500), work, window=4):
        finished.append(number)
        if len(finished) == 499:
            release.set()
    assert finished[-1] == 0
    assert sorted(finished) == list(range(500))


async def test_no_more_rows_are_in_hand_than_the_window(station: Station) -> None:
    running = most = 0

    async def work(row: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    async for _ in Engine(station).map(range(300), work, window=7):
        pass
    assert most == 7


async def test_a_slow_consumer_holds_back_the_rows(station: Station) -> None:
    taken = 0

    def rows() -> Iterator[int]:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield number

    async def work(row: int) -> int:
        return row

    count = 0
    async for _ in Engine(station).map(rows(), work, window=8):
        count += 1
        if count == 10:
            await asyncio.sleep(0.05)
            assert taken <= 10 + 4 * 8
            break


async def test_what_work_raises_is_a_failure_in_its_place(station: Station) -> None:
    async def work(row: int) -> int:
        if row == 3:
            raise RequestError("row three is wrong")
        if row == 5:
            raise KeyError("nobody expected this")
        return row

    found = {n: result async for n, _, result in Engine(station).map(range(8), work, window=2)}
    assert isinstance(found[3], Failure) and found[3].kind is FailureKind.INPUT
    assert isinstance(found[5], Failure) and found[5].kind is FailureKind.INTERNAL
    assert [found[n] for n in (0, 1, 2, 4, 6, 7)] == [0, 1, 2, 4, 6, 7]


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_source_that_breaks_half_way_loses_none_of_the_rows_before(
    station: Station, kind: str
) -> None:
    def rows() -> Iterator[int]:
        yield from range(50)
        raise ValueError("the file ends here")

    async def async_rows() -> AsyncIterator[int]:
        for row in rows():
            yield row

    async def work(row: int) -> int:
        await asyncio.sleep(0.001)
        return row

    found: list[int] = []
    with pytest.raises(ValueError, match="the file ends here"):
        async for number, _, _ in Engine(station).map(
            rows() if kind == "sync" else async_rows(), work, window=8
        ):
            found.append(number)
    assert sorted(found) == list(range(50))


async def test_leaving_early_leaves_no_worker_behind(station: Station) -> None:
    async def work(row: int) -> int:
        await asyncio.sleep(0.001)
        return row

    results = Engine(station).map(range(1000), work, window=8)
    async for _ in results:
        break
    await results.aclose()  # type: ignore[attr-defined]
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not [task for task in others if "_serve" in repr(task.get_coro())]


async def test_after_a_stop_no_new_row_is_begun_and_those_begun_end(station: Station) -> None:
    engine = Engine(station)
    begun: list[int] = []

    async def work(row: int) -> int:
        begun.append(row)
        await asyncio.sleep(0.01)
        if row == 20:
            engine.stop.throw()
        return row

    found = [n async for n, _, _ in engine.map(range(1000), work, window=10)]
    assert sorted(found) == sorted(begun)
    assert len(begun) <= 40


async def test_a_row_knows_its_number_while_it_asks(station: Station, offline: Endpoint) -> None:
    asked: list[tuple[int | None, bytes]] = []
    engine = Engine(station, on_ask=lambda row, key: asked.append((row, key)))

    async def work(row: str) -> Answer | Failure:
        assert current_row.get() is not None
        return await engine.ask(Request.of(offline, row))

    rows = [f"Question {n}" for n in range(20)]
    async for _ in engine.map(rows, work, window=4):
        pass
    expected = {(n, Request.of(offline, row).key) for n, row in enumerate(rows)}
    assert set(asked) == expected


@settings(max_examples=40, deadline=None)
@given(
    delays=st.lists(st.integers(0, 3), max_size=60),
    window=st.integers(1, 9),
    bad=st.sets(st.integers(0, 59)),
)
def test_any_mix_of_delays_and_failures_gives_each_row_once(
    delays: list[int], window: int, bad: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def main() -> None:
        async def work(row: tuple[int, int]) -> int:
            number, delay = row
            for _ in range(delay):
                await asyncio.sleep(0)
            if number in bad:
                raise RuntimeError("bad")
            return number

        path = tmp_path_factory.mktemp("map") / "journal.db"
        async with Station(Journal(path)) as station:
            rows = list(enumerate(delays))
            found = [item async for item in Engine(station).map(rows, work, window=window)]
        assert sorted(n for n, _, _ in found) == list(range(len(delays)))
        for number, _, result in found:
            assert (result == number) if number not in bad else isinstance(result, Failure)

    asyncio.run(main())
