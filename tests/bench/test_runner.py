"""Runners, callbacks, cancelling, and running loops."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import bench as benchmarks
from penstock.bench import BenchRun, Runner, Shelves
from penstock.bench.item import Item
from penstock.bench.progress import BenchProgress
from penstock.endpoint import Endpoint
from penstock.engine.bridge import Handle
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.simulator import Simulator
from tests.bench.bench_kit import Run, cookbook, recipe, sent, told

At = Callable[..., Endpoint]


@pytest.fixture
def other() -> Iterator[Simulator]:
    """The second endpoint's server."""
    with Simulator() as simulator:
        yield simulator


def test_a_runner_is_remembered_and_runs_recipes_and_cookbooks(
    bench: Workbench, saved: Any, simulator: Simulator, tmp_path: Path
) -> None:
    names = [saved("one"), saved("two", "simulated-echo")]
    made = Runner.create("My Nightly", names, "every night", workbench=bench)
    assert (made.id, made.status) == ("my-nightly", "pending")
    with pytest.raises(InputError, match="there is a runner 'my-nightly' already"):
        Runner.create("my nightly", names, workbench=bench)
    runner = Runner.load("my-nightly", workbench=bench)
    assert (runner.name, runner.description) == ("My Nightly", "every night")
    assert runner.endpoints == ("one", "two")
    what = recipe(tmp_path, count=3)
    done = runner.run_recipes(what, sample=2)
    assert len(done) == 4 and list(done.result.endpoints) == names and sent(simulator) == 4
    assert done.result.name == "my-nightly" and runner.status == "completed"
    book = runner.run_cookbooks([cookbook(tmp_path, "book", [what])])
    assert len(book) == 6 and book.result.cookbooks[0].id == "book" and sent(simulator) == 6
    with pytest.raises(InputError, match="there is no option 'colour'"):
        runner.run_recipes(what, colour="red")
    with pytest.raises(NotFoundError, match="there is no runner 'weekly'"):
        Runner.load("weekly", workbench=bench)
    with pytest.raises(InputError, match="no endpoint that Penstock knows"):
        Runner.create("other", ["nobody"], workbench=bench)
    assert list(Shelves(bench).runners) == ["my-nightly"]


def test_a_cancelled_run_ends_soon_with_thousands_pending_and_goes_on_later(
    bench: Workbench, saved: Any, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="200")
    runner = Runner.create("r", [saved("lab")], workbench=bench)
    seen: list[BenchProgress] = []
    began: list[float] = []

    def stop(item: Item) -> None:
        if not began:
            began.append(time.monotonic())
            threading.Thread(target=runner.cancel).start()

    what = recipe(tmp_path, count=5000)
    done = runner.run_recipes(what, on_item=stop, on_progress=seen.append)
    assert time.monotonic() - began[0] < 5
    assert (done.result.state, runner.status) == ("cancelled", "cancelled")
    ledger = simulator.summary()
    assert ledger["answered"] == ledger["requests"] == len(done) < 2000, "all in flight is kept"
    assert seen[-1].status == "cancelled" and seen[-1].done == len(done)
    assert done.result.problems == (
        f"{5000 - len(done):,} questions were not asked: the run was stopped before",
    )
    simulator.set(latency="0")
    again = runner.run_recipes(what, sample=1000)
    assert len(again) == 1000 and simulator.summary()["repeated"] == 0


def test_a_slow_endpoint_does_not_hold_a_fast_one(
    run: Run, at: At, simulator: Simulator, other: Simulator, tmp_path: Path
) -> None:
    other.set(latency="40", max_concurrency=4)
    order: list[str] = []
    slow = at(name="slow", url=other.url)
    done = run(
        recipe(tmp_path, count=120),
        endpoints=[slow, at(name="fast")],
        on_item=lambda item: order.append(item.endpoint),
    )
    last = len(order) - 1 - order[::-1].index("fast")
    assert order[:last].count("slow") < 60, "the fast one had done when the slow one was half way"
    assert order.count("slow") == order.count("fast") == 120 and len(done) == 240


def test_callbacks_see_every_item_and_the_way_from_running_to_completed(
    run: Run, tmp_path: Path
) -> None:
    items: list[Item] = []
    seen: list[BenchProgress] = []
    what = [recipe(tmp_path, "one", count=4), recipe(tmp_path, "two", count=3)]
    done = run(what, on_item=items.append, on_progress=seen.append)
    assert sorted(item.number for item in items) == list(range(7))
    assert {item.number: item for item in items} == {item.number: item for item in done}
    first, last = seen[0], seen[-1]
    assert (first.status, first.done, first.total, first.percent) == ("running", 0, 7, 0)
    assert (last.status, last.done, last.failed, last.percent) == ("completed", 7, 0, 100)
    assert first.current is not None and first.current.id == "one" and last.current is None
    assert sorted(each.finished for each in seen if each.finished) == ["one", "two"]
    counts = [each.done for each in seen]
    assert counts == sorted(counts) and last.run == done.id
    assert [(each.id, each.done) for each in last.recipes] == [("one", 4), ("two", 3)]


def test_a_callback_that_raises_is_logged_and_hurts_nothing(
    run: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("the callback is broken")

    with caplog.at_level(logging.ERROR):
        done = run(recipe(tmp_path), on_item=fail, on_progress=fail)
    assert done.result.state == "completed" and len(done) == 5
    assert sum("a callback failed" in record.message for record in caplog.records) >= 5


def test_an_async_callback_is_refused_before_anything_is_sent(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    async def later(_: object) -> None: ...

    with pytest.raises(InputError, match="on_progress is an async function"):
        run(recipe(tmp_path), on_progress=later)
    assert sent(simulator) == 0


def test_inside_a_running_loop_it_is_awaited_and_two_run_side_by_side(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="30")
    one, two = recipe(tmp_path, "one", count=5), recipe(tmp_path, "two", count=8)

    async def work() -> tuple[BenchRun, BenchRun, int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        async with asyncio.TaskGroup() as tasks:
            heart = tasks.create_task(beat())
            handles = [benchmarks.run(each, endpoints=at(), workbench=bench) for each in (one, two)]
            assert all(isinstance(handle, Handle) for handle in handles)
            first, second = await handles[0], await handles[1]
            heart.cancel()
        return first, second, beats

    first, second, beats = asyncio.run(work())
    assert (len(first), len(second)) == (5, 8) and beats > 5, "the loop went on meanwhile"
    assert sent(simulator) == 8, "what both ask is asked once"


def test_a_handle_that_is_cancelled_stops_the_run_and_keeps_what_is_done(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="100")
    what = recipe(tmp_path, count=3000)

    async def work() -> BenchRun:
        handle = benchmarks.run(what, endpoints=at(), workbench=bench)
        while not simulator.summary()["requests"]:
            await asyncio.sleep(0.01)
        handle.cancel()
        made: BenchRun = await handle
        return made

    done = asyncio.run(work())
    assert done.result.state == "cancelled" and len(done) < 3000
    assert simulator.summary()["answered"] == len(done)


def test_a_run_that_is_started_by_a_callback_of_another_is_refused_instead_of_hanging(
    run: Run, bench: Workbench, at: At, tmp_path: Path
) -> None:
    what, said = recipe(tmp_path, count=2), []

    def nested(item: Item) -> None:
        handle = benchmarks.run(what, endpoints=at(), workbench=bench)
        with pytest.raises(InputError, match="waits for other work") as caught:
            handle.result()
        said.append(caught.value)

    assert len(run(what, on_item=nested)) == 2 and len(said) == 2


def test_an_endpoint_given_as_an_object_is_found_as_one_given_by_name(
    run: Run, bench: Workbench, simulator: Simulator, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator.url)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-worth")
    what = recipe(tmp_path, count=3)
    by_name = run(what, endpoints="openai/simulated")
    by_object = run(what, endpoints=Endpoint("openai", "simulated"))
    assert sent(simulator) == 3 and told(by_object) == told(by_name)


def test_without_an_endpoint_the_setting_is_asked(tmp_path: Path) -> None:
    from tests.bench.bench_kit import settings

    with Workbench(settings(llm__model="simulated-echo"), tmp_path / "home") as bench:
        done = benchmarks.run(recipe(tmp_path, count=1), workbench=bench)
    assert list(done.result.endpoints) == ["simulated/simulated-echo"]
