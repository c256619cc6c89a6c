"""A benchmark run killed or interrupted at any moment, and taken up again. The ledgers judge."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.bench.item import items_of
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.bench.bench_driver import CONCURRENCY
from tests.bench.bench_kit import JUDGE, plain, recipe, sent
from tests.engine.test_kill import wait_for_requests

ROOT = Path(__file__).parents[2]
COUNT = 80


@pytest.fixture
def other() -> Iterator[Simulator]:
    """The second endpoint's server."""
    with Simulator() as simulator:
        yield simulator


class Program:
    """The driver in a workspace of its own."""

    def __init__(self, home: Path, what: str, *servers: Simulator, **wishes: Any) -> None:
        self.home = home
        urls = [server.url for server in servers]
        self._given = {"urls": urls, "recipe": what, "run": "driver-run", **wishes}

    def start(self, **more: Any) -> subprocess.Popen[str]:
        given = json.dumps({**self._given, **more})
        return subprocess.Popen(
            [sys.executable, "-m", "tests.bench.bench_driver", given],
            env={
                **os.environ,
                "PENSTOCK_HOME": str(self.home),
                "DRIVER_KEY": "a-key-of-no-worth",
                "PYTHONPATH": str(ROOT),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def die(self, **more: Any) -> None:
        process = self.start(**more)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, "it did not die"

    def finish(self, **more: Any) -> dict[str, Any]:
        process = self.start(**more)
        said, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        found: dict[str, Any] = json.loads(said)
        return found

    def items(self) -> list[dict[str, Any]]:
        table = Table.open(self.home / "runs" / "driver-run" / "items.arrow")
        return [plain(item) for item in items_of(table)]

    def result(self) -> dict[str, Any]:
        body = (self.home / "runs" / "driver-run" / "result.json").read_text()
        found: dict[str, Any] = json.loads(body)
        return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [3, pytest.param(15, marks=pytest.mark.soak)])
def test_a_run_killed_again_and_again_loses_and_repeats_nothing(
    simulator: Simulator, other: Simulator, tmp_path: Path, kills: int
) -> None:
    for server in (simulator, other):
        server.set(latency="5-15")
    what = recipe(tmp_path, count=COUNT, metrics=["contains", "rouge1", JUDGE], judge="model1")
    moments = random.Random(6)
    killed = Program(tmp_path / "killed", what, simulator, other, epochs=2)
    for number in range(kills):
        if number == 1:
            killed.die(group=3)
            continue
        process = killed.start()
        share = moments.randint(2, 4 * COUNT // (3 * kills))
        wait_for_requests(simulator, share, process)  # type: ignore[arg-type]
        time.sleep(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    done = killed.finish()
    assert done == {"state": "completed", "items": COUNT * 4, "id": "driver-run"}
    asked = []
    for server in (simulator, other):
        ledger = server.summary()
        assert ledger["requests"] - ledger["distinct"] == ledger["repeated"]
        assert ledger["repeated"] <= kills * CONCURRENCY, "only what was never recorded"
        asked.append(ledger["distinct"])
        server.reset()
    assert asked == [COUNT * 2, COUNT * 6], "and a judge's question for every answer"
    whole = Program(tmp_path / "whole", what, simulator, other, epochs=2)
    whole.finish()
    assert [server.summary()["requests"] for server in (simulator, other)] == asked
    assert killed.items() == whole.items()
    assert [item["number"] for item in whole.items()] == list(range(COUNT * 4))
    for name in ("recipes", "settings", "endpoints", "problems"):
        one, two = killed.result()[name], whole.result()[name]
        assert untimed(one) == untimed(two)


def untimed(value: Any) -> Any:
    """Without how long answers took."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if not k.startswith("latency")}
    return [untimed(each) for each in value] if isinstance(value, list) else value


@pytest.mark.timeout(120)
def test_killed_with_batches_at_the_provider_nothing_is_paid_for_twice(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    what = recipe(tmp_path, count=20, metrics=[JUDGE], judge="model0")
    program = Program(tmp_path / "home", what, simulator, lane="batch")
    process = program.start()
    while not simulator.batches():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    simulator.set(batch_seconds=0)
    simulator.advance_batches()
    assert program.finish() == {"state": "completed", "items": 20, "id": "driver-run"}
    assert simulator.summary()["lines"] == sent(simulator) == 40
    assert len(simulator.batches()) == 2


@pytest.mark.timeout(120)
def test_ctrl_c_ends_the_program_and_keeps_what_is_done(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="60")
    program = Program(tmp_path / "home", recipe(tmp_path, count=200), simulator)
    process = program.start()
    wait_for_requests(simulator, 60, process)  # type: ignore[arg-type]
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=30)
    assert said == "" and error.strip().endswith("KeyboardInterrupt")
    ledger = simulator.summary()
    assert ledger["answered"] == ledger["requests"] < 200, "what was in flight was drained"
    kept = program.items()
    assert len(kept) == ledger["answered"] and program.result()["status"] == "cancelled"
    simulator.set(latency="0")
    assert program.finish() == {"state": "completed", "items": 200, "id": "driver-run"}
    assert sent(simulator) == 200
