"""Promise R6: Ctrl-C stops admission, drains and saves; the second one ends at once."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from penstock.errors import Exit
from penstock.simulator import Simulator
from tests.engine.test_kill import finish, output, start, wait_for_requests


def end(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, error = process.communicate(timeout=30)
    return process.returncode, error.decode()


def test_ctrl_c_stops_admission_drains_and_repeats_nothing(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="300")
    rows = 600
    process = start(tmp_path / "home", simulator.url, rows)
    wait_for_requests(simulator, 100, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    sent = simulator.summary()["requests"]
    code, said = end(process)
    assert code == Exit.CANCELLED, said
    ledger = simulator.summary()
    assert ledger["requests"] == sent, "something was sent after admission had 100 ms to stop"
    assert ledger["answered"] == sent, "what was in flight was not drained"
    assert len(output(tmp_path / "home")) == sent, "what was drained was not saved"
    simulator.set(latency="0")
    finish(start(tmp_path / "home", simulator.url, rows))
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["repeated"]) == (rows, 0)


def test_a_second_ctrl_c_ends_within_a_second(simulator: Simulator, tmp_path: Path) -> None:
    simulator.set(latency="20000")
    process = start(tmp_path / "home", simulator.url, 200)
    wait_for_requests(simulator, 5, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None, "the first one drains"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    end(process)
    assert time.monotonic() - began < 1.5
    assert process.returncode not in (0, None)
