"""The batch lane: every endpoint in batches of its own, judges after their targets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.bench.results import BenchRun
from penstock.bench.running import BenchJob
from penstock.bench.wishes import Wishes
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.simulator import Simulator
from tests.bench.bench_kit import JUDGE, Run, recipe, sent, statuses, told, values

At = Callable[..., Endpoint]


@pytest.fixture(autouse=True)
def at_once(simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)


@pytest.fixture
def batched(bench: Workbench, saved: Any) -> Callable[..., BenchRun]:
    """As the shell runs and resumes it: endpoints by name."""
    saved("one", "simulated")
    saved("two", "simulated-echo")
    saved("judge", "simulated")

    def ran(what: str, *, run: str = "", wait: bool = True, **wishes: Any) -> BenchRun:
        given = {"recipes": (what,), "endpoints": ("one", "two"), "lane": "batch", **wishes}
        made = BenchJob(Wishes(**given)).run(bench, run_id=run, waits=wait)
        assert isinstance(made, BenchRun)
        return made

    return ran


def lines(simulator: Simulator) -> list[tuple[str, int]]:
    """The model of each batch and how many questions it had."""
    return sorted((batch["model"], batch["lines"]) for batch in simulator.batches())


def test_two_endpoints_and_a_judge_go_by_batch_and_give_what_they_give_online(
    batched: Callable[..., BenchRun], simulator: Simulator, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=7, metrics=[JUDGE, "contains"], judge="judge")
    done = batched(what)
    assert lines(simulator) == [("simulated", 7), ("simulated", 7), ("simulated", 7),
                                ("simulated-echo", 7)]  # fmt: skip
    assert sent(simulator) == simulator.summary()["lines"] == 28, "nothing went online"
    assert statuses(done) == ["answered"] * 14 and None not in values(done, "llm_judge")
    assert done.result.state == "completed" and done.result.counters["recorded"] == 0
    online = batched(what, lane="online")
    assert sent(simulator) == 28 and told(online) == told(done)


def test_submitted_today_judged_tomorrow_collected_the_day_after(
    batched: Callable[..., BenchRun], simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    what = recipe(tmp_path, count=5, metrics=[JUDGE], judge="judge")
    first = batched(what, wait=False, run="bench-1")
    assert first.result.state == "waiting" and len(first) == 0
    assert first.result.problems == ("10 questions lie in batches that are not collected",)
    assert not (first.folder / "result.json").exists(), "there is no result yet"
    assert batched(what, wait=False, run="bench-1").result.state == "waiting"
    assert sent(simulator) == 0 and len(lines(simulator)) == 2, "nothing is submitted twice"
    simulator.advance_batches()
    second = batched(what, wait=False, run="bench-1")
    assert second.result.state == "waiting", "now the judge's questions lie there"
    simulator.advance_batches()
    last = batched(what, wait=False, run="bench-1")
    assert last.result.state == "completed" and len(last) == 10
    assert sent(simulator) == simulator.summary()["lines"] == 20
    assert [path.name for path in sorted(last.folder.glob("result*"))] == ["result.json"]
    assert last.result.counters["recorded"] == 0, "the run itself asked and paid for all of them"


def test_what_lies_in_a_batch_is_not_asked_online_as_well(
    batched: Callable[..., BenchRun], simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    what = recipe(tmp_path, count=4)
    batched(what, wait=False, run="bench-1")
    online = batched(what, lane="online")
    assert online.result.state == "waiting" and simulator.summary()["lines"] == 0
    simulator.advance_batches()
    assert len(batched(what, run="bench-1")) == 8 and sent(simulator) == 8


def test_lines_that_fail_in_a_batch_go_into_another(
    batched: Callable[..., BenchRun], simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="error:0.1", seed=5)
    done = batched(recipe(tmp_path, count=12))
    assert statuses(done) == ["answered"] * 24 and simulator.summary()["answered"] == 24
    assert len(lines(simulator)) > 2


def test_an_endpoint_without_batches_is_told_before_anything_is_sent(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    models = [at(), Endpoint("simulated", "simulated")]
    with pytest.raises(InputError, match="batch"):
        run(recipe(tmp_path), endpoints=models, batch=True)
    assert sent(simulator) == 0
    done = run(recipe(tmp_path), endpoints=models, lane="auto")
    assert len(done) == 10 and simulator.summary()["lines"] == 0, "so it goes online"
