"""A dataset killed or interrupted at any moment, and made again. The servers' ledgers judge."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.simulator import Simulator
from penstock.tables import Table
from tests.engine.test_kill import wait_for_requests
from tests.generate.schema_driver import CONCURRENCY

ROOT = Path(__file__).parents[2]


@pytest.fixture
def other() -> Iterator[Simulator]:
    """The second endpoint's server."""
    with Simulator() as simulator:
        yield simulator


class Program:
    """The driver in a workspace of its own, at two servers."""

    def __init__(self, home: Path, rows: int, *servers: Simulator) -> None:
        self.home = home
        self.out = home.with_suffix(".jsonl")
        self._rows = rows
        self._urls = [server.url for server in servers]

    def start(self, *group: int) -> subprocess.Popen[str]:
        given = (*self._urls, self._rows, self.out, *group)
        return subprocess.Popen(
            [sys.executable, "-m", "tests.generate.schema_driver", *map(str, given)],
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

    def finish(self) -> Table:
        process = self.start()
        said, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        assert said.startswith("completed"), said
        table = Table.open(self.out)
        assert table["id"] == list(range(self._rows)), "every row once, in order"
        return table


@pytest.mark.timeout(180)
def test_a_dataset_killed_again_and_again_loses_and_repeats_nothing(
    simulator: Simulator, other: Simulator, tmp_path: Path
) -> None:
    rows, kills = 300, 4
    for server in (simulator, other):
        server.set(latency="5-15")
    moments = random.Random(8)
    killed = Program(tmp_path / "killed", rows, simulator, other)
    whole = Program(tmp_path / "whole", rows, simulator, other)
    for number in range(kills):
        group = (moments.randint(2, 9),) if number == 2 else ()
        process = killed.start(*group)
        if not group:
            share = moments.randint(rows // 8, rows // 2)
            wait_for_requests(simulator, share, process)  # type: ignore[arg-type]
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    killed.finish()
    asked = []
    for server in (simulator, other):
        ledger = server.summary()
        assert ledger["requests"] - ledger["distinct"] == ledger["repeated"]
        assert ledger["repeated"] <= kills * CONCURRENCY, "only what was never recorded"
        asked.append(ledger["distinct"])
        server.reset()
    whole.finish()
    assert [server.summary()["requests"] for server in (simulator, other)] == asked
    assert killed.out.read_bytes() == whole.out.read_bytes()


def test_ctrl_c_ends_the_program_and_keeps_what_is_done(
    simulator: Simulator, other: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="60")
    program = Program(tmp_path / "home", 120, simulator, other)
    process = program.start()
    wait_for_requests(simulator, 200, process)  # type: ignore[arg-type]
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=30)
    assert said == "" and error.strip().endswith("KeyboardInterrupt")
    assert not program.out.exists(), "the program did not go on with half a table"
    for server in (simulator, other):
        ledger = server.summary()
        assert ledger["answered"] == ledger["requests"], "what was in flight was drained"
    [folder] = (program.home / "runs").iterdir()
    kept = {row["id"]: row for row in Table.open(folder / "dataset.arrow")}
    simulator.set(latency="0")
    table = program.finish()
    assert simulator.summary()["repeated"] == other.summary()["repeated"] == 0
    assert other.summary()["requests"] == 120
    assert [row for row in table if row["id"] in kept] == list(kept.values())
