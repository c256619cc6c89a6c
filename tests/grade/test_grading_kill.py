"""A grading run killed or interrupted at any moment, and taken up again. The ledger judges."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.simulator import Simulator
from tests.engine.test_kill import wait_for_requests
from tests.grade.grade_driver import CONCURRENCY
from tests.grade.grade_kit import essays, sent, statuses, write_csv, write_lines

ROOT = Path(__file__).parents[2]
ROWS = 160


class Program:
    """The driver in a workspace of its own."""

    def __init__(self, home: Path, simulator: Simulator, inputs: Path, **wishes: Any) -> None:
        self.home = home
        self.out = home.with_name(f"{home.name}-out")
        self._given = {
            "url": simulator.url, "inputs": str(inputs), "out": str(self.out),
            "row_limit": 15, "max_workers": 3, "run": "driver-run", **wishes,
        }  # fmt: skip

    def start(self, **more: Any) -> subprocess.Popen[str]:
        given = json.dumps({**self._given, **more})
        return subprocess.Popen(
            [sys.executable, "-m", "tests.grade.grade_driver", given],
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


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    rows = essays(ROWS)
    rows[7]["text"] = ""
    write_csv(folder / "a.csv", rows[: ROWS // 2])
    write_lines(folder / "b.jsonl", rows[ROWS // 2 :])
    return folder


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("?.*")}


@pytest.mark.timeout(180)
def test_a_run_killed_again_and_again_loses_and_repeats_nothing(
    simulator: Simulator, inputs: Path, tmp_path: Path
) -> None:
    simulator.set(latency="10-20")
    moments, kills = random.Random(5), 3
    killed = Program(tmp_path / "killed", simulator, inputs)
    for number in range(kills):
        if number == 1:
            killed.die(group=2)
            continue
        process = killed.start()
        wait_for_requests(simulator, moments.randint(8, 30), process)  # type: ignore[arg-type]
        time.sleep(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    done = killed.finish()
    assert done["state"] == "completed" and done["counts"]["ok"] == ROWS - 1
    ledger = simulator.summary()
    assert ledger["distinct"] == ROWS - 1
    assert ledger["repeated"] <= kills * CONCURRENCY, "only what was never recorded"
    again = killed.finish(run="another-run", out=str(tmp_path / "again"))
    assert again["state"] == "completed" and again["id"] == "another-run"
    assert simulator.summary()["requests"] == ledger["requests"], "a new run asks nothing either"
    simulator.reset()
    whole = Program(tmp_path / "whole", simulator, inputs)
    whole.finish()
    assert sent(simulator) == ROWS - 1
    assert tables(killed.out) == tables(whole.out) == tables(tmp_path / "again")
    assert len(tables(whole.out)) == 2


@pytest.mark.timeout(120)
def test_a_run_killed_between_an_output_and_the_note_of_it_knows_it_for_its_own(
    simulator: Simulator, tmp_path: Path
) -> None:
    write_csv(tmp_path / "in" / "a.csv", essays(3, word="a"))
    write_lines(tmp_path / "in" / "b.jsonl", essays(3, word="b"))
    program = Program(tmp_path / "home", simulator, tmp_path / "in", max_workers=1)
    program.die(note=1)
    assert len(tables(program.out)) == 1
    program.die(note=3)
    assert len(tables(program.out)) == 2 and not (program.out / "report.html").exists()
    program.die(note=5)
    assert (program.out / "report.html").exists()
    assert program.finish()["state"] == "completed"
    assert statuses(program.out / "b.jsonl") == ["ok"] * 3 and sent(simulator) == 6


@pytest.mark.timeout(120)
def test_killed_with_batches_at_the_provider_nothing_is_paid_for_twice(
    simulator: Simulator, inputs: Path, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    program = Program(tmp_path / "home", simulator, inputs, lane="batch", row_limit=20)
    process = program.start()
    while len(simulator.batches()) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    made = len(simulator.batches())
    assert made == 3, "three chunks at once"
    simulator.set(batch_seconds=0)
    simulator.advance_batches()
    done = program.finish()
    assert done["state"] == "completed" and done["counts"]["ok"] == ROWS - 1
    assert simulator.summary()["lines"] == sent(simulator) == ROWS - 1
    assert len(simulator.batches()) == ROWS // 20


@pytest.mark.timeout(120)
def test_ctrl_c_ends_the_program_and_keeps_what_is_done(
    simulator: Simulator, inputs: Path, tmp_path: Path
) -> None:
    simulator.set(latency="60")
    program = Program(tmp_path / "home", simulator, inputs)
    process = program.start()
    wait_for_requests(simulator, 60, process)  # type: ignore[arg-type]
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=30)
    assert said == "" and error.strip().endswith("KeyboardInterrupt")
    ledger = simulator.summary()
    assert ledger["answered"] == ledger["requests"] < ROWS, "what was in flight was drained"
    told = [*statuses(program.out / "a.csv"), *statuses(program.out / "b.jsonl")]
    assert told.count("ok") == ledger["answered"]
    assert set(told) <= {"ok", "pending", "empty"}
    simulator.set(latency="0")
    assert program.finish()["counts"] == {
        "ok": ROWS - 1, "failed": 0, "empty": 1, "error": 0, "skipped": 0, "pending": 0,
    }  # fmt: skip
    assert sent(simulator) == ROWS - 1
