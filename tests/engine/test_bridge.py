"""The bridge: blocking in a plain script, a handle inside a running loop, also in a notebook."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.engine.bridge import Handle
from penstock.engine.workbench import Workbench
from penstock.outcome import Answer, FailureKind
from penstock.tables import Table


def sync_prompt(row: dict[str, Any]) -> str:
    return f"Say something about {row['id']}."


async def async_prompt(row: dict[str, Any]) -> str:
    await asyncio.sleep(0.001)
    return sync_prompt(row)


def started(bench: Workbench, prompt: Callable[..., Any], rows: int = 30, latency: int = 0) -> Any:
    endpoint = bench.endpoint("simulated")
    endpoint = endpoint.with_(params={"latency": latency} if latency else {})
    prompter = penstock.Prompter(endpoint, prompt, concurrency=8, workbench=bench)
    return prompter([{"id": number} for number in range(rows)])


@pytest.mark.parametrize("prompt", [sync_prompt, async_prompt])
def test_without_a_running_loop_a_call_blocks_and_returns(prompt: Callable[..., Any]) -> None:
    with Workbench() as bench:
        table = started(bench, prompt)
    assert isinstance(table, Table)
    assert table["id"] == list(range(30))
    assert all(table["response"])


@pytest.mark.parametrize("prompt", [sync_prompt, async_prompt])
async def test_inside_a_running_loop_a_call_returns_a_handle_and_the_loop_ticks_on(
    prompt: Callable[..., Any],
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.ensure_future(tick())
    with Workbench() as bench:
        handle = started(bench, prompt, rows=40, latency=50)
        assert isinstance(handle, Handle)
        was_done = handle.done
        table = await handle
        assert (was_done, handle.done) == (False, True)
        assert handle.result() is table, "touching it afterwards gives the same"
    ticking.cancel()
    assert len(table) == 40
    assert ticks >= 20, "the caller's loop stood still"


async def test_a_handle_that_is_cancelled_stops_admission_and_keeps_what_is_done() -> None:
    with Workbench() as bench:
        handle = started(bench, sync_prompt, rows=1000, latency=20)
        await asyncio.sleep(0.2)
        handle.cancel()
        table = await handle
    assert table.run.state == "cancelled"
    assert 0 < len(table) < 1000
    assert table["id"] == sorted(table["id"])
    assert len(table.failures) == 0, "what was not begun has not failed"


def test_a_prompt_function_that_raises_fails_its_row_alone() -> None:
    def prompt(row: dict[str, Any]) -> str:
        if row["id"] == 17:
            raise LookupError("nothing is known about 17")
        return sync_prompt(row)

    with Workbench() as bench:
        table = started(bench, prompt)
    assert table["id"] == [number for number in range(30) if number != 17]
    [failure] = table.failures
    assert (failure["row"], failure["kind"]) == (17, "input")
    assert "nothing is known about 17" in failure["message"]
    assert table.run.state == "completed with failures"
    assert "nothing is known" in (Path(table.run.folder) / "failures.jsonl").read_text()


def test_ask_blocks_in_a_plain_call() -> None:
    outcome = penstock.ask("What is a penstock?", model="simulated")
    assert isinstance(outcome, Answer)


async def test_ask_can_be_awaited() -> None:
    outcome = await penstock.ask("What is a penstock?", model="simulated")
    assert isinstance(outcome, Answer)


async def test_two_awaited_at_once_do_not_wait_for_each_other() -> None:
    slow = penstock.Endpoint("simulated", "simulated", params={"latency": 300})
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(2):
        for number in range(8):
            tasks.create_task(_awaited(penstock.ask(f"Question {number}", model=slow)))


async def _awaited(handle: Handle[Any]) -> None:
    assert isinstance(await handle, Answer)


def test_threads_may_share_the_engine() -> None:
    found: list[Any] = []

    def one(number: int) -> None:
        found.append(penstock.ask(f"Question {number}", model="simulated"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(isinstance(outcome, Answer) for outcome in found)


def run_script(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        cwd=folder,
        env={**os.environ, "PENSTOCK_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def test_a_plain_script_just_ends_when_it_is_done(tmp_path: Path) -> None:
    said = run_script(
        """
        import penstock
        answer = penstock.ask("What is a penstock?", model="simulated")
        print(answer.ok, answer.recorded)
        print(penstock.ask("What is a penstock?", model="simulated").recorded)
        """,
        tmp_path,
    )
    assert said.split() == ["True", "False", "True"]


def test_a_script_with_asyncio_run_just_ends_when_it_is_done(tmp_path: Path) -> None:
    said = run_script(
        """
        import asyncio
        import penstock

        async def main():
            answers = await asyncio.gather(*(wait(n) for n in range(5)))
            print(all(answer.ok for answer in answers))

        async def wait(n):
            return await penstock.ask(f"Question {n}", model="simulated")

        asyncio.run(main())
        """,
        tmp_path,
    )
    assert said.split() == ["True"]


def test_one_workbench_after_another_may_use_the_network(tmp_path: Path) -> None:
    said = run_script(
        """
        import threading
        import penstock
        from penstock.simulator import Simulator

        with Simulator() as simulator:
            endpoint = penstock.Endpoint("openai", "simulated", simulator.url)

            def one(number):
                with penstock.Workbench() as bench:
                    print(penstock.ask(f"Hi {number}", model=endpoint, workbench=bench).ok)

            for number in range(4):
                one(number)
                thread = threading.Thread(target=one, args=(-number - 1,))
                thread.start()
                thread.join()
        """,
        tmp_path,
    )
    assert said.split() == ["True"] * 8


def test_off_asks_anew_each_time_and_read_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not penstock.ask("Fresh", model="simulated", cache="off").recorded
    assert not penstock.ask("Fresh", model="simulated", cache="off").recorded
    endpoint = penstock.Endpoint("openai", "simulated", key="env:NOT_SET_ANYWHERE")
    failure = penstock.ask("Recorded?", model=endpoint, cache="read")
    assert failure.kind is FailureKind.NOT_RECORDED
