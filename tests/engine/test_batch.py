"""The batch lane: nothing lost, nothing paid for twice, whatever happens when."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.batch_states import BatchEvent, BatchState, advance
from penstock.errors import PenstockError
from penstock.simulator import Simulator
from tests.engine.batch_driver import STEPS

PROVIDERS = ["openai", "anthropic", "gemini"]


@pytest.fixture(scope="module")
def own_simulator() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def judge(own_simulator: Simulator) -> Simulator:
    own_simulator.set(batch_seconds=0, batch_faults="", batch_tokens=None, max_batches=None)
    own_simulator.reset()
    return own_simulator


def drive(judge: Simulator, home: Path, **wanted: Any) -> dict[str, Any] | None:
    """What the driver says; None when it was killed."""
    url = judge.url if wanted.get("provider", "openai") == "openai" else judge.root
    given = {"provider": "openai", "rows": 30, **wanted, "url": url, "workspace": str(home)}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("batch_driver.py")), json.dumps(given)],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode == -signal.SIGKILL:
        return None
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def lines(judge: Simulator) -> tuple[int, int]:
    """How many questions were answered in batches, and how many of them more than once."""
    summary = judge.summary()
    return summary["lines"], summary["repeated"]


# The machine ------------------------------------------------------------------------------------


def test_a_batch_goes_from_its_file_to_the_journal() -> None:
    state = BatchState.UNSUBMITTED
    for event in (BatchEvent.ACCEPTED, BatchEvent.ENDED, BatchEvent.COLLECTED):
        assert state.open
        state = advance(state, event)
    assert state is BatchState.DOWNLOADED and not state.open


def test_every_open_state_can_come_to_an_end_and_a_closed_one_never_moves() -> None:
    reached = {BatchState.DOWNLOADED}
    for _ in BatchState:
        for state in BatchState:
            for event in BatchEvent:
                try:
                    reached |= {state} if advance(state, event) in reached else set()
                except PenstockError:
                    continue
    assert reached == set(BatchState)
    for event in BatchEvent:
        with pytest.raises(PenstockError):
            advance(BatchState.DOWNLOADED, event)


# Lives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_job_in_several_batches_asks_each_question_once(
    provider: str, judge: Simulator, tmp_path: Path
) -> None:
    found = drive(judge, tmp_path, provider=provider, rows=100, size=30)
    assert found is not None and found["done"] == 100, found
    assert lines(judge) == (100, 0)
    assert len(judge.batches()) == 4
    again = drive(judge, tmp_path, provider=provider, rows=100, size=30)
    assert again is not None and again["done"] == 100
    assert lines(judge) == (100, 0), "what is in the journal is not sent"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_kill_at_any_step_loses_nothing_and_pays_nothing_twice(
    provider: str, step: str, judge: Simulator, tmp_path: Path
) -> None:
    if step == "while polling":
        judge.set(batch_seconds=1.2)
    killed = drive(judge, tmp_path, provider=provider, die=step, size=20)
    if killed is not None:
        assert (provider, step) == ("anthropic", "after upload"), "it uploads nothing"
    found = drive(judge, tmp_path, provider=provider, size=20)
    assert found is not None and found["done"] == 30, found
    assert lines(judge) == (30, 0)
    assert len(judge.batches()) == 2, "no batch was made twice"


def test_each_row_asks_three_times_while_the_process_ends_after_every_submission(
    judge: Simulator, tmp_path: Path
) -> None:
    judge.set(batch_seconds=3600)
    rows, peaks = 10_000, list[float]()
    found: dict[str, Any] | None = None
    for _ in range(4):
        found = drive(judge, tmp_path, rows=rows, asks=3, waits=False)
        assert found is not None and not found["others"], found
        peaks.append(found["peak_mb"])
        judge.advance_batches()
    assert found is not None and found["done"] == rows
    assert lines(judge) == (3 * rows, 0)
    assert max(peaks) < min(peaks) + 120


def test_two_runs_that_ask_the_same_share_a_batch(judge: Simulator, tmp_path: Path) -> None:
    judge.set(batch_seconds=3600)
    drive(judge, tmp_path, rows=20, waits=False)
    drive(judge, tmp_path, rows=25, waits=False)
    judge.advance_batches()
    found = drive(judge, tmp_path, rows=25, waits=False)
    assert found is not None
    judge.advance_batches()
    found = drive(judge, tmp_path, rows=25)
    assert found is not None and found["done"] == 25
    assert lines(judge) == (25, 0)


# Faults -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "fault",
    ["shuffled:1", "duplicate:0.5", "poll:0.5", "cut:1", "unknown:0.3", "lost:1"],
)
def test_a_fault_of_the_provider_costs_time_and_no_answer(
    provider: str, fault: str, judge: Simulator, tmp_path: Path
) -> None:
    judge.set(batch_faults=fault)
    found = drive(judge, tmp_path, provider=provider, rows=60, size=25)
    assert found is not None and found["done"] == 60, found
    assert lines(judge) == (60, 0)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [("error:0.5", "server"), ("expired:0.5", "overloaded"), ("missing:0.5", "malformed")],
)
def test_what_a_batch_did_not_answer_is_sent_again_a_bounded_number_of_times(
    provider: str, fault: str, kind: str, judge: Simulator, tmp_path: Path
) -> None:
    judge.set(batch_faults=fault)
    found = drive(judge, tmp_path, provider=provider, rows=60, size=25)
    assert found is not None
    left = sum(found["others"].values())
    if (provider, fault) == ("gemini", "expired:0.5"):
        assert left == 60, "there nothing is left of a batch that expired"
    else:
        assert 0 < left < 30 and found["done"] == 60 - left, "half, three times in a row"
    assert all(said.startswith(f"failed: {kind}") for said in found["others"]), found["others"]
    assert len(judge.batches()) <= 3 * 3
    judge.set(batch_faults="")
    again = drive(judge, tmp_path, provider=provider, rows=60, size=25)
    assert again is not None and again["done"] == 60, "a later run asks anew"


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_a_batch_that_is_refused_as_a_whole_fails_its_rows_and_says_why(
    provider: str, judge: Simulator, tmp_path: Path
) -> None:
    judge.set(batch_faults="failed:1")
    found = drive(judge, tmp_path, provider=provider, rows=10)
    assert found is not None and found["done"] == 0
    [(said, count)] = found["others"].items()
    assert count == 10 and said.startswith("failed: invalid_request"), said
    judge.set(batch_faults="")
    again = drive(judge, tmp_path, provider=provider, rows=10)
    assert again is not None and again["done"] == 10


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("size", [100, 15])
def test_a_kill_and_an_expiry_together_lose_nothing(
    provider: str, size: int, judge: Simulator, tmp_path: Path
) -> None:
    judge.set(batch_faults="expired:0.5", batch_seconds=0.8)
    assert drive(judge, tmp_path, provider=provider, die="while polling", size=size) is None
    judge.set(batch_faults="", batch_seconds=0)
    found = drive(judge, tmp_path, provider=provider, size=size)
    assert found is not None and found["done"] == 30, found
    if provider != "gemini":  # where nothing is left of a batch that expired
        assert lines(judge) == (30, 0), "what the first batches had answered is not asked again"


def test_too_much_under_way_is_waited_out(judge: Simulator, tmp_path: Path) -> None:
    judge.set(max_batches=1, batch_seconds=0.3)
    found = drive(judge, tmp_path, rows=40, size=10)
    assert found is not None and found["done"] == 40, found
    assert lines(judge) == (40, 0)


def test_an_enqueued_token_limit_puts_batches_off(judge: Simulator, tmp_path: Path) -> None:
    judge.set(batch_tokens=1000, batch_seconds=0.3)
    found = drive(judge, tmp_path, rows=40, size=10)
    assert found is not None and found["done"] == 40, found
    assert lines(judge) == (40, 0)


def test_no_more_batches_are_open_than_the_provider_allows(
    judge: Simulator, tmp_path: Path
) -> None:
    judge.set(max_batches=3, batch_seconds=0.3)
    found = drive(judge, tmp_path, rows=60, size=10, most_open=3)
    assert found is not None and found["done"] == 60, found
    assert set(judge.summary()["by_status"]) == {"200"}, "none had to be refused"
