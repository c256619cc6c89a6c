"""Killed or interrupted at any moment, and run again. The ledger of the server is the judge."""

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
from tests.engine.test_kill import wait_for_requests
from tests.generate.driver import CONCURRENCY

ROOT = Path(__file__).parents[2]


def start(home: Path, url: str, rows: int, *more: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.generate.driver", url, str(rows)]
    return subprocess.Popen(
        [*command, str(home) + ".jsonl", *map(str, more)],
        env={
            **os.environ,
            "PENSTOCK_HOME": str(home),
            "DRIVER_KEY": "a-key-of-no-worth",
            "PYTHONPATH": str(ROOT),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], rows: int) -> None:
    said, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert said == f"completed {rows} 0\n"


@pytest.mark.timeout(180)
def test_a_program_killed_five_times_and_run_again_loses_and_repeats_nothing(
    simulator: Simulator, tmp_path: Path
) -> None:
    rows, kills = 3000, 5
    simulator.set(latency="5-15")
    moments = random.Random(5)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for number in range(kills):
        groups = (moments.randint(2, 9),) if number == 2 else ()
        process = start(killed, simulator.url, rows, *groups)
        if not groups:
            wait_for_requests(simulator, moments.randint(1, rows // (kills + 2)), process)  # type: ignore[arg-type]
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    finish(start(killed, simulator.url, rows), rows)
    ledger = simulator.summary()
    assert ledger["distinct"] == rows
    assert ledger["requests"] - rows == ledger["repeated"] <= kills * CONCURRENCY

    simulator.reset()
    finish(start(whole, simulator.url, rows), rows)
    table = Table.open(f"{killed}.jsonl")
    assert table["id"] == list(range(rows)), "every row once, in order"
    assert Path(f"{killed}.jsonl").read_bytes() == Path(f"{whole}.jsonl").read_bytes()
    left = [path.name for path in killed.rglob("*.part")]
    assert len(left) <= 2 * kills, "what a killed run leaves lies in its own folder"


def test_ctrl_c_ends_the_program_and_keeps_what_is_done(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="200")
    home, rows = tmp_path / "home", 400
    process = start(home, simulator.url, rows)
    wait_for_requests(simulator, 60, process)  # type: ignore[arg-type]
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=30)
    assert said == "" and error.strip().endswith("KeyboardInterrupt")
    assert not Path(f"{home}.jsonl").exists(), "the program did not go on with half a table"
    ledger = simulator.summary()
    assert ledger["requests"] < rows
    assert ledger["answered"] == ledger["requests"], "what was in flight was drained"
    [folder] = (home / "runs").iterdir()
    assert len(Table.open(folder / "dataset.arrow")) == ledger["requests"], "and is in the table"
    simulator.set(latency="0")
    finish(start(home, simulator.url, rows), rows)
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["repeated"]) == (rows, 0)
