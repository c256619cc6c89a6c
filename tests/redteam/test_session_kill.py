"""A session killed in the middle of a send, and opened again. The ledger judges."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.simulator import Simulator
from tests.redteam.session_kit import asked

ROOT = Path(__file__).parents[2]


def run(home: Path, **given: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.redteam.session_driver", json.dumps(given)],
        env={**os.environ, "PENSTOCK_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("attack", "endpoints", "dies"),
    [("", 2, 2), ("insist", 1, 3), ("charswap", 2, 4)],
)
def test_what_was_recorded_is_there_and_what_was_paid_is_not_paid_twice(
    simulator: Simulator, tmp_path: Path, attack: str, endpoints: int, dies: int
) -> None:
    given = {"url": simulator.url, "attack": attack, "endpoints": endpoints}
    killed = run(tmp_path, **given, dies=dies)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(asked(simulator)) >= dies, "every turn that was to be recorded had been paid for"
    ended = run(tmp_path, **given, dies=0)
    assert ended.returncode == 0, ended.stderr
    done = json.loads(ended.stdout)
    turns = done["turns"]
    assert done["recorded"] == len(turns) >= max(dies, endpoints)
    assert len(asked(simulator)) == len(turns), "each turn was asked once, whoever asked it"
    for label in {turn[0] for turn in turns}:
        numbers = [turn[1] for turn in turns if turn[0] == label]
        assert numbers == list(range(1, len(turns) // endpoints + 1))
