"""The batch lane: a chunk is a batch of its own, and fails, waits and goes on by itself."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError
from penstock.simulator import Simulator
from tests.grade.grade_kit import (
    Grade,
    essays,
    read,
    sent,
    settings,
    states,
    statuses,
    write_csv,
)

At = Callable[..., Endpoint]


@pytest.fixture(autouse=True)
def at_once(simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)


@pytest.fixture
def batched(grade: Grade) -> Grade:
    def graded(inputs: Any, **wishes: Any) -> Any:
        return grade(inputs, **{"lane": "batch", **wishes})

    return graded


def lines(simulator: Simulator) -> list[int]:
    """How many questions each batch had, oldest first."""
    return [batch["lines"] for batch in reversed(simulator.batches())]


def test_a_chunk_is_a_batch_of_its_own(
    batched: Grade, grade: Grade, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(5, word=name))
    done = batched(tmp_path / "in", row_limit=3)
    assert sorted(lines(simulator)) == [2, 2, 3, 3] and sent(simulator) == 10
    assert simulator.summary()["lines"] == 10, "nothing went online"
    assert states(done) == [["success", "success"]] * 2 and done.run.state == "completed"
    files = sorted(path.name for path in Path(done.run.folder).glob("requests_*"))
    assert [name[:19] for name in files] == [f"requests_chunk{n:04d}_" for n in range(4)]
    assert (done.run.counters["asked"], done.run.counters["recorded"]) == (10, 0)
    online = grade(tmp_path / "in", out=tmp_path / "online")
    for one, other in zip(done.files, online.files, strict=True):
        assert read(one.output) == read(other.output)
    assert sent(simulator) == 10


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_batches_lie_at_the_provider_at_once_as_chunks_are_at_work(
    batched: Grade, simulator: Simulator, tmp_path: Path, workers: int
) -> None:
    simulator.set(batch_seconds=3600)
    path = write_csv(tmp_path / "in.csv", essays(12))
    first = batched(path, row_limit=2, max_workers=workers, wait=False, run="g-1")
    assert first.run.state == "waiting" and len(lines(simulator)) == 6, "all are submitted"
    simulator.advance_batches()
    assert batched(path, row_limit=2, max_workers=workers, wait=False, run="g-1").ok
    assert lines(simulator) == [2] * 6 and sent(simulator) == 12


def test_submitted_today_collected_tomorrow(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    path = write_csv(tmp_path / "in.csv", essays(9))
    options: dict[str, Any] = {"row_limit": 4, "wait": False, "run": "g-later"}
    first = batched(path, **options)
    assert (first.run.state, first.report) == ("waiting", None)
    assert not (tmp_path / "out" / "in.csv").exists(), "nothing half is written"
    assert batched(path, **options).run.state == "waiting"
    assert sorted(lines(simulator)) == [1, 4, 4], "nothing is submitted twice"
    simulator.advance_batches()
    last = batched(path, **options)
    assert last.ok and last.run.state == "completed" and last.report is not None
    assert statuses(last.files[0].output) == ["ok"] * 9
    assert sent(simulator) == simulator.summary()["lines"] == 9
    assert last.run.counters["recorded"] == 0, "the run itself asked and paid for all of them"


def test_another_run_waits_for_the_batches_of_the_first_and_asks_nothing(
    batched: Grade, grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    path = write_csv(tmp_path / "in.csv", essays(6))
    batched(path, row_limit=3, wait=False)
    online = grade(path, out=tmp_path / "online", run="g-online")
    assert online.run.state == "waiting" and simulator.summary()["lines"] == 0
    simulator.advance_batches()
    done = batched(path, row_limit=2, out=tmp_path / "other")
    assert done.ok and sent(simulator) == 6
    assert grade(path, out=tmp_path / "online", run="g-online").ok and sent(simulator) == 6


def test_what_is_finished_is_written_while_other_files_wait(
    batched: Grade, grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(3, word=name))
    grade(tmp_path / "in" / "a.csv", out=tmp_path / "before")
    simulator.set(batch_seconds=3600)
    first = batched(tmp_path / "in", wait=False, run="g-1")
    assert first.run.state == "waiting" and [file.path.stem for file in first.files] == ["a"]
    assert statuses(tmp_path / "out" / "a.csv") == ["ok"] * 3
    assert not (tmp_path / "out" / "b.csv").exists()
    simulator.advance_batches()
    assert batched(tmp_path / "in", wait=False, run="g-1").ok and sent(simulator) == 6


# Failure -----------------------------------------------------------------------------------------


def test_a_batch_that_fails_fails_its_chunk_and_no_more_are_begun(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="failed:1")
    path = write_csv(tmp_path / "in.csv", essays(9))
    first = batched(path, row_limit=3, max_workers=1, run="g-1")
    assert states(first) == [["failure", "pending", "pending"]] and first.run.state == "stopped"
    assert statuses(first.files[0].output) == ["failed"] * 3 + ["pending"] * 6
    assert len(simulator.batches()) == 1
    simulator.set(batch_faults="")
    done = batched(path, row_limit=3, max_workers=1, run="g-1")
    assert done.ok and states(done) == [["success"] * 3] and sent(simulator) == 9


def test_with_halting_off_the_other_batches_go_on(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="failed:0.5", seed=3)
    path = write_csv(tmp_path / "in.csv", essays(16))
    done = batched(path, row_limit=2, max_workers=1, halt_on_chunk_failure=False)
    [found] = states(done)
    assert set(found) == {"success", "failure"}, "the seed spares some and strikes some"
    told = statuses(done.files[0].output)
    assert told == ["ok" if state == "success" else "failed" for state in found for _ in range(2)]
    assert done.run.state == "completed with failures"
    assert sent(simulator) == told.count("ok")


def test_lines_that_fail_go_into_another_batch(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="error:0.2", seed=5)
    path = write_csv(tmp_path / "in.csv", essays(12))
    done = batched(path, row_limit=6, max_workers=1)
    assert done.ok and len(lines(simulator)) > 2
    assert simulator.summary()["answered"] == 12


def test_a_chunk_whose_lines_all_fail_is_tried_once_more_and_then_fails(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="error:1")
    done = batched(write_csv(tmp_path / "in.csv", [*essays(2), {"id": 2, "text": ""}]))
    [chunk] = done.files[0].chunks
    assert (chunk.state, chunk.attempts) == ("failure", 2)
    assert done.files[0].counts == {"failed": 2, "empty": 1}
    assert done.run.counters["rows_done"] == 3 and done.run.counters["rows_failed"] == 2
    assert len(lines(simulator)) <= 6, "bounded"


def test_an_answer_that_does_not_fit_is_asked_again_in_the_next_batch(
    batched: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(4))
    assert batched(path, row_limit=2, model=at("simulated-invalid")).ok
    assert lines(simulator) == [2] * 4


def test_a_wrong_key_is_told(batched: Grade, simulator: Simulator, tmp_path: Path) -> None:
    simulator.set(key="the-right-one")
    path = write_csv(tmp_path / "in.csv", essays(4))
    with pytest.raises(ApiError, match="authentication"):
        batched(path, row_limit=2, run="g-1")
    simulator.set(key=None)
    assert batched(path, row_limit=2, run="g-1").ok and sent(simulator) == 4


def test_an_endpoint_without_a_batch_lane_is_told_before_the_run(
    batched: Grade, bench: Workbench, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(2))
    with pytest.raises(InputError, match="no batch lane"):
        batched(path, model=Endpoint("simulated", "simulated"))


# Once --------------------------------------------------------------------------------------------


def test_equal_texts_in_chunks_that_are_at_work_at_once_are_one_question(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    rows = [{"id": n, "text": f"text {n % 3}"} for n in range(12)]
    done = batched(write_csv(tmp_path / "in.csv", rows), row_limit=4, max_workers=3)
    assert done.ok and statuses(done.files[0].output) == ["ok"] * 12
    found = read(done.files[0].output)
    assert len({(row["text"], row["clarity"], row["tone_reason"]) for row in found}) == 3
    assert simulator.summary()["lines"] == 3 and sent(simulator) == 3


def test_a_text_that_lies_in_the_open_file_of_another_chunk_goes_into_no_second_one(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    """The small chunk has come to its end when the large one is still being written."""
    write_csv(tmp_path / "in" / "a.csv", essays(900))
    write_csv(tmp_path / "in" / "b.csv", essays(2))
    done = batched(tmp_path / "in", max_workers=2)
    assert done.ok and [file.counts["ok"] for file in done.files] == [900, 2]
    assert simulator.summary()["lines"] == sent(simulator) == 900


def test_several_graders_lie_in_one_batch_of_a_chunk(
    batched: Grade, at: At, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(4))
    done = batched(path, graders=2, row_limit=2)
    assert done.ok and lines(simulator) == [4, 4]
    assert bench.journal().stats().answers == 8, "each draw an answer of its own"
    two = batched(path, model=[at(), at("simulated-invalid")], out=tmp_path / "two")
    assert two.ok and two.graders == 2


# Money -------------------------------------------------------------------------------------------


def test_a_budget_stops_before_it_is_submitted_and_more_money_goes_on(
    batched: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    prices = Prices(Decimal(20), Decimal(20), batch_input=Decimal(10), batch_output=Decimal(10))
    path = write_csv(tmp_path / "in.csv", essays(60))
    options: dict[str, Any] = {
        "model": at(prices=prices), "row_limit": 5, "max_workers": 3, "run": "g-1",
        "params": {"max_tokens": 200},
    }  # fmt: skip
    first = batched(path, budget="0.15", **options)
    assert first.run.state == "stopped" and first.run.cost <= Decimal("0.15")
    answered = sent(simulator)
    assert answered < 60 and first.counts["pending"] > 0
    assert 0 < first.counts["ok"] <= answered, "a batch may lie at the provider still"
    done = batched(path, budget="5", **options)
    assert done.ok and sent(simulator) == 60
    tokens = done.run.counters["input_tokens"] + done.run.counters["output_tokens"]
    assert done.run.cost == Decimal(tokens) / 100_000 > first.run.cost
    ledger = simulator.summary()
    assert tokens == ledger["prompt_tokens"] + ledger["completion_tokens"], "and counted once"


def test_a_token_limit_of_the_run_holds_across_chunks(
    batched: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(60))
    with Workbench(settings(token_management__token_limit=9000), tmp_path / "h") as poor:
        done = batched(path, workbench=poor, row_limit=5, max_workers=3, params={"max_tokens": 200})
    assert done.run.state == "stopped" and done.run.tokens <= 9000
    assert simulator.summary()["tokens"] <= 9000
