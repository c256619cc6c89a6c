"""While it runs: streams, handles, loops, cancelling."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import penstock
from penstock.engine.job import TableHandle
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import Make, numbered, texts, wait_for_the_end

# Streams ---------------------------------------------------------------------------------------


def test_a_stream_gives_every_row_as_it_finishes(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="0-100", seed=2)
    ids = [row["id"] for row in make().stream(numbered(200))]
    assert sorted(ids) == list(range(200))
    assert ids != sorted(ids), "in the order of the answers"


def test_a_stream_begins_while_the_rest_is_still_asked(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="20")
    stream = make(concurrency=4).stream(numbered(100))
    next(stream)
    assert simulator.summary()["requests"] < 50
    assert len(list(stream)) == 99


def test_what_is_streamed_is_recorded_and_in_the_table_of_its_run(
    make: Make, bench: Workbench, simulator: Simulator
) -> None:
    assert len(list(make().stream(numbered(20)))) == 20
    [folder] = (bench.workspace.path / "runs").iterdir()
    assert Table.open(folder / "dataset.arrow")["id"] == list(range(20))
    make()(numbered(20))
    assert simulator.summary()["requests"] == 20


def test_a_stream_that_nobody_takes_to_its_end_stops_asking(
    make: Make, bench: Workbench, simulator: Simulator
) -> None:
    simulator.set(latency="10")
    for row in make(concurrency=8).stream(numbered(5000)):
        assert row["text"]
        break
    wait_for_the_end(bench)
    sent = simulator.summary()["requests"]
    assert sent < 500
    time.sleep(0.1)
    assert simulator.summary()["requests"] == sent


def test_a_stream_raises_what_its_source_raised_after_the_rows_before(make: Make) -> None:
    def generator() -> Any:
        yield from numbered(3)
        raise OSError("gone")

    seen = []
    with pytest.raises(InputError, match="gone"):
        for row in make().stream(generator()):
            seen += [row["id"]]
    assert sorted(seen) == [0, 1, 2]


def test_a_prompter_may_be_called_for_every_row_of_a_stream(make: Make) -> None:
    inner = make(lambda row: row["text"] + "!")
    outer = make(concurrency=4)
    ends = [inner([row])[0]["response"] for row in outer.stream(numbered(30))]
    assert sorted(ends) == sorted(f"row {number}!" for number in range(30))


# Loops -----------------------------------------------------------------------------------------


async def test_inside_a_loop_a_handle_comes_back_at_once_and_is_awaited(
    make: Make, simulator: Simulator
) -> None:
    simulator.set(latency="50")
    began = time.monotonic()
    handle = make()(numbered(20))
    assert isinstance(handle, TableHandle)
    assert not handle.done
    assert time.monotonic() - began < 1
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.ensure_future(tick())
    table = await handle
    ticking.cancel()
    assert isinstance(table, Table)
    assert table["id"] == list(range(20))
    assert ticks > 3, "the loop was not blocked"
    assert await handle is table


async def test_a_handle_is_the_table_when_it_is_touched(make: Make) -> None:
    handle = make()(numbered(3))
    assert len(handle) == 3
    assert [row["id"] for row in handle] == [0, 1, 2]
    assert handle["text"] == ["row 0", "row 1", "row 2"]
    assert handle[1]["id"] == 1
    assert handle.column_names == ["id", "text", "response"]
    assert handle.to_list() == handle.result().to_list()
    assert handle.run.state == "completed"
    with pytest.raises(AttributeError):
        handle.__deepcopy__()


async def test_a_handle_goes_into_the_next_prompter(make: Make) -> None:
    table = await make(lambda row: row["response"] + "!")(make()(texts("a", "b")))
    assert table["response"] == ["a!", "b!"]


async def test_two_handles_go_on_beside_each_other(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="100")
    one, two = make()(numbered(5)), make()(numbered(5, start=5))
    began = time.monotonic()
    first, second = await asyncio.gather(one, two)
    assert time.monotonic() - began < 0.6
    assert first["id"] + second["id"] == list(range(10))


async def test_what_is_wrong_is_raised_at_once_also_inside_a_loop(make: Make) -> None:
    with pytest.raises(InputError):
        make()(7)
    handle = make(budget=1)(texts("one"))
    with pytest.raises(InputError, match="no price is known"):
        await handle


async def test_a_cancelled_handle_keeps_what_is_done(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="20")
    handle = make(concurrency=8)(numbered(2000))
    await asyncio.sleep(0.3)
    handle.cancel()
    table = await handle
    assert table.run.state == "cancelled"
    assert 0 < len(table) < 2000
    assert len(table.failures) == 0
    assert simulator.summary()["answered"] == len(table), "what was in flight came back"
    simulator.set(latency="0")
    assert len(await make()(numbered(2000))) == 2000
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["repeated"]) == (2000, 0)


async def test_cancelling_who_awaits_stops_the_run(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="20")
    handle = make(concurrency=8)(numbered(2000))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handle, 0.2)
    for _ in range(100):
        if handle.done:
            break
        await asyncio.sleep(0.02)
    assert handle.run.state == "cancelled"
    assert simulator.summary()["requests"] < 500


async def test_a_run_that_finds_everything_recorded_can_be_cancelled_too(make: Make) -> None:
    make()(numbered(300)).result()

    def slow_rows() -> Any:
        for row in numbered(300):
            time.sleep(0.01)
            yield row

    handle = make()(slow_rows())
    await asyncio.sleep(0.3)
    handle.cancel()
    table = await asyncio.wait_for(handle, 1)
    assert table.run.state == "cancelled"
    assert 0 < len(table) < 300


# Functions that use Prompters themselves ---------------------------------------------------------


def test_an_async_prompt_function_may_await_another_prompter(make: Make) -> None:
    inner = make(lambda row: row["text"] + "?")

    async def prompt(row: dict[str, Any]) -> str:
        table = await inner([row])
        return str(table[0]["response"] + "!")

    assert make(prompt)(texts("a", "b"))["response"] == ["a?!", "b?!"]


WAITS = "waits for other work, which would wait for it"


def test_a_function_that_would_wait_for_ever_is_told_so(make: Make) -> None:
    inner = make()
    table = make(lambda row: inner(texts("inner"))[0]["response"])(texts("outer"))
    assert WAITS in table.failures[0]["message"]

    def generator() -> Any:
        yield from inner(texts("inner"))

    with pytest.raises(InputError, match=WAITS):
        make()(generator())
    with pytest.raises(InputError, match=WAITS):
        make()(row for row in _streamed(inner))


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "schema"])
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_question_inside_a_function_is_awaited_or_refused(
    make: Make, bench: Workbench, schema: Any, kind: str
) -> None:
    def ask(row: dict[str, Any]) -> Any:
        return penstock.ask(row["text"], model="simulated", schema=schema, workbench=bench)

    def plain(row: dict[str, Any]) -> str:
        return str(ask(row).result())

    async def waits(row: dict[str, Any]) -> str:
        return str(ask(row).result())

    async def awaits(row: dict[str, Any]) -> str:
        return str((await ask(row)).ok if schema is None else (await ask(row)).value)

    table = make(plain if kind == "plain" else waits)(texts("a"))
    assert WAITS in table.failures[0]["message"]
    assert len(make(awaits)(texts("b"))) == 1


def test_a_handle_that_is_done_may_be_asked_anywhere(make: Make) -> None:
    handles: list[Any] = []

    async def inner(row: dict[str, Any]) -> str:
        handles.append(penstock.ask("Hello", model="simulated"))
        await handles[-1]
        return str(handles[-1].result().ok)

    assert make(inner)(texts("a"))["response"] == ["True"]


def _streamed(inner: Any) -> Any:
    yield from inner.stream(texts("inner"))


# Several at once ---------------------------------------------------------------------------------


def test_one_prompter_may_be_used_by_several_threads(make: Make) -> None:
    prompter = make()
    tables: dict[int, Any] = {}
    threads = [
        threading.Thread(
            target=lambda n=number: tables.update({n: prompter(numbered(50, start=50 * n))})
        )
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, table in tables.items():
        assert table["id"] == list(range(50 * number, 50 * number + 50))
    assert len({table.run.id for table in tables.values()}) == 4
