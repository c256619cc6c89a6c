"""Promise R1: a process may die at any moment. The ledger of the server is the judge."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.simulator import Simulator
from penstock.tables import Table

DRIVER = Path(__file__).with_name("driver.py")
CONCURRENCY = 64


def start(home: Path, url: str, rows: int, *more: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(DRIVER), url, str(rows), str(CONCURRENCY), *map(str, more)],
        env={**os.environ, "PENSTOCK_HOME": str(home), "DRIVER_KEY": "a-key-of-no-worth"},
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    _, error = process.communicate(timeout=100)
    assert process.returncode == 0, error.decode()
    return process.returncode


def output(home: Path) -> list[tuple[int, str]]:
    table = Table.open(home / "runs" / "driver-run" / "dataset.arrow")
    return list(zip(table["id"], table["response"], strict=True))


def wait_for_requests(simulator: Simulator, count: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server has seen so many since the last look, or the client has ended."""
    before = simulator.summary()["requests"]
    while process.poll() is None and simulator.summary()["requests"] < before + count:
        time.sleep(0.002)


def kill_and_resume(
    simulator: Simulator, home: Path, rows: int, kills: int, seed: int
) -> tuple[int, int]:
    """Kill the run at random moments until so many have died; then let it end."""
    moments = random.Random(seed)
    died = 0
    dies_itself = kills // 2
    while died < kills:
        groups = (moments.randint(2, 12),) if died == dies_itself else ()
        process = start(home, simulator.url, rows, *groups)
        if not groups:
            wait_for_requests(simulator, moments.randint(1, rows // (kills + 2)), process)
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            break  # it ended before it could be killed
        died += 1
    finish(start(home, simulator.url, rows))
    return died, simulator.summary()["repeated"]


def judge(simulator: Simulator, tmp_path: Path, rows: int, kills: int, seed: int) -> None:
    simulator.set(latency="10-30")
    died, repeated = kill_and_resume(simulator, tmp_path / "killed", rows, kills, seed)
    assert died >= kills, "the run was too quick to be killed that often"
    ledger = simulator.summary()
    assert ledger["distinct"] == rows
    assert repeated <= died * CONCURRENCY, "more was asked again than can have been in flight"
    assert repeated == ledger["requests"] - rows

    simulator.reset()
    finish(start(tmp_path / "whole", simulator.url, rows))
    killed, whole = output(tmp_path / "killed"), output(tmp_path / "whole")
    assert [row for row, _ in killed] == list(range(rows)), "every row once, in order"
    assert killed == whole, "the same as of a run that nobody killed"


@pytest.mark.timeout(300)
def test_a_run_killed_twenty_times_loses_and_repeats_nothing_that_was_recorded(
    simulator: Simulator, tmp_path: Path
) -> None:
    judge(simulator, tmp_path, rows=10_000, kills=20, seed=20)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_run_killed_fifty_times_loses_and_repeats_nothing_that_was_recorded(
    simulator: Simulator, tmp_path: Path
) -> None:
    judge(simulator, tmp_path, rows=10_000, kills=50, seed=50)
