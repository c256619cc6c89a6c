"""Chunks: how many, how many at once, how they fail, and what a failure stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.progress import Progress
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError
from penstock.simulator import Simulator
from tests.grade.grade_gate import Gate
from tests.grade.grade_kit import (
    Grade,
    essays,
    job,
    read,
    sent,
    settings,
    states,
    statuses,
    write_csv,
)

At = Callable[..., Endpoint]


@pytest.fixture
def gated(gate: Gate, at: At) -> Endpoint:
    return at().with_(url=gate.url)


def spans(grading: Any) -> list[list[tuple[int, int]]]:
    return [[(chunk.start, chunk.stop) for chunk in file.chunks] for file in grading.files]


# How many ----------------------------------------------------------------------------------------


def test_rows_tokens_and_a_number_of_chunks_each_cut_a_file(grade: Grade, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "in.csv", essays(10))
    assert spans(grade(path, first=10)) == [[(0, 10)]]
    assert spans(grade(path, first=10, row_limit=4)) == [[(0, 4), (4, 8), (8, 10)]]
    assert spans(grade(path, first=10, chunks=3)) == [[(0, 4), (4, 7), (7, 10)]]
    [file] = grade(path, first=10, chunks=10).files
    tokens = [chunk.tokens for chunk in file.chunks]
    assert len(tokens) == 10 and sum(tokens) == file.tokens
    limit = sum(tokens[:3])
    chunks = grade(path, first=10, token_limit=limit).files[0].chunks
    assert (chunks[0].start, chunks[0].stop) == (0, 3)
    for chunk, after in zip(chunks, [*chunks[1:], None], strict=True):
        assert chunk.tokens == sum(tokens[chunk.start : chunk.stop]) <= limit
        assert after is None or chunk.tokens + tokens[after.start] > limit, "as many as it may"
    both = grade(path, first=10, token_limit=limit, row_limit=2)
    assert spans(both) == [[(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]]


def test_the_setting_chunk_size_cuts_where_nobody_says_otherwise(
    grade: Grade, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(10))
    with Workbench(settings(batch_processing__chunk_size=6), tmp_path / "h") as small:
        assert spans(grade(path, first=10, workbench=small)) == [[(0, 6), (6, 10)]]
        assert spans(grade(path, first=10, workbench=small, row_limit=8)) == [[(0, 8), (8, 10)]]
        assert spans(grade(path, first=10, workbench=small, chunks=1)) == [[(0, 10)]]


def test_what_is_counted_does_not_depend_on_how_it_is_cut(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(12))
    wishes: list[dict[str, Any]] = [{"chunks": 2}, {"chunks": 5}, {"token_limit": 2000}]
    assert len({grade(path, first=12, **wish).files[0].tokens for wish in wishes}) == 1
    assert grade(path, first=12).files[0].tokens is None, "nobody asked for it"
    assert sent(simulator) == 12


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_chunks_are_at_work_at_once_as_is_wished(
    grade: Grade, simulator: Simulator, tmp_path: Path, workers: int
) -> None:
    simulator.set(latency="15")
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(6, word=name))
    done = grade(tmp_path / "in", row_limit=1, max_workers=workers)
    assert states(done) == [["success"] * 6] * 2
    assert simulator.summary()["max_in_flight"] == workers, "a chunk has one row, and asks once"
    if workers == 1:
        asked = [entry["time"] for entry in simulator.ledger()]
        assert asked == sorted(asked)


def test_the_setting_max_workers_holds_where_nobody_says_otherwise(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="15")
    path = write_csv(tmp_path / "in.csv", essays(8))
    with Workbench(settings(batch_processing__max_workers=2), tmp_path / "h") as small:
        grade(path, row_limit=1, workbench=small)
    assert simulator.summary()["max_in_flight"] == 2


def test_rows_keep_their_order_whichever_chunk_ends_first(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="1-40")
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(60, word=name))
    done = grade(tmp_path / "in", row_limit=7, max_workers=5)
    for file in done.files:
        assert [int(row["id"]) for row in read(file.output)] == list(range(60))
        assert statuses(file.output) == ["ok"] * 60
    assert sent(simulator) == 120


def test_whoever_watches_is_told_how_many_chunks_are_done(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="5")
    notes: list[str] = []

    def watch(progress: Progress) -> Callable[[], None]:
        return lambda: notes.append(progress.note)

    path = write_csv(tmp_path / "in.csv", essays(6))
    done = job(path, [at()], row_limit=2, max_workers=1).run(bench, watch=watch)
    assert done.run.counters["rows_total"] == done.run.counters["rows_done"] == 6
    assert set(notes) <= {"", *(f"chunk {n} of 3" for n in range(1, 4))}


# How they fail -----------------------------------------------------------------------------------


def test_a_chunk_in_which_nothing_succeeded_is_tried_once_more_where_that_may_help(
    grade: Grade, gate: Gate, gated: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    rows = [*essays(2), {"id": 2, "text": ""}, *essays(3, 3)]
    path = write_csv(tmp_path / "in.csv", rows)
    with Workbench(settings(batch_processing__max_retries=0), tmp_path / "h") as hasty:
        gate.rule = lambda body: 500 if len(gate.bodies) <= 2 else None
        done = grade(path, row_limit=3, max_workers=1, model=gated, workbench=hasty)
    first, second = done.files[0].chunks
    assert (first.state, first.attempts, second.attempts) == ("success", 2, 1)
    assert first.error == "", "it came right in the end"
    assert statuses(done.files[0].output) == ["ok", "ok", "empty", "ok", "ok", "ok"]
    assert done.files[0].counts == {"ok": 5, "empty": 1} and done.run.state == "completed"
    assert done.run.counters["rows_done"] == 6 and done.run.counters["rows_failed"] == 0
    assert len(gate.bodies) == 7 and sent(simulator) == 5


def test_a_chunk_that_fails_twice_has_failed_and_its_rows_say_why(
    grade: Grade, gate: Gate, gated: Endpoint, tmp_path: Path
) -> None:
    gate.refuse("number 3", "number 4", "number 5", status=500)
    path = write_csv(tmp_path / "in.csv", essays(9))
    with Workbench(settings(batch_processing__max_retries=0), tmp_path / "h") as hasty:
        done = grade(path, row_limit=3, model=gated, workbench=hasty, halt_on_chunk_failure=False)
    assert states(done) == [["success", "failure", "success"]]
    failed = done.files[0].chunks[1]
    assert failed.attempts == 2 and "the gate says no" in failed.error
    assert statuses(done.files[0].output) == ["ok"] * 3 + ["failed"] * 3 + ["ok"] * 3
    assert done.counts["failed"] == 3 == done.run.counters["rows_failed"]
    assert done.failures is not None and done.failures["row"] == [3, 4, 5]
    assert done.run.state == "completed with failures"
    assert len(gate.bodies) == 12


def test_a_chunk_whose_failure_cannot_heal_is_not_tried_again(
    grade: Grade, gate: Gate, gated: Endpoint, tmp_path: Path
) -> None:
    gate.refuse("number", status=400)
    done = grade(write_csv(tmp_path / "in.csv", essays(3)), model=gated)
    [chunk] = done.files[0].chunks
    assert (chunk.state, chunk.attempts, len(gate.bodies)) == ("failure", 1, 3)


def test_one_row_that_succeeds_is_enough(
    grade: Grade, gate: Gate, gated: Endpoint, tmp_path: Path
) -> None:
    gate.refuse("number 0", "number 1", status=400)
    done = grade(write_csv(tmp_path / "in.csv", essays(3)), model=gated)
    assert states(done) == [["success"]] and done.counts["failed"] == 2


def test_max_retries_of_the_settings_is_how_often_a_question_is_sent(
    grade: Grade, gate: Gate, gated: Endpoint, tmp_path: Path
) -> None:
    gate.refuse("number 1", status=500)
    path = write_csv(tmp_path / "in.csv", essays(2))
    for most in (0, 1):
        gate.bodies.clear()
        with Workbench(settings(batch_processing__max_retries=most), tmp_path / f"{most}") as hasty:
            done = grade(path, model=gated, workbench=hasty, out=tmp_path / f"out{most}")
        assert sum("number 1" in body for body in gate.bodies) == 1 + most
        assert done.counts["failed"] == 1


# Halting -----------------------------------------------------------------------------------------


def test_a_failed_chunk_stops_admission_at_once_and_what_is_finished_is_written(
    grade: Grade, gate: Gate, gated: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    gate.refuse("number 3", "number 4", "number 5", status=400)
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(9, word=name))
    done = grade(tmp_path / "in", row_limit=3, max_workers=1, model=gated)
    assert done.run.state == "stopped" and not done.ok
    assert states(done) == [["success", "failure", "pending"], ["pending"] * 3]
    assert len(gate.bodies) == 6, "nothing was begun after the failure"
    assert statuses(done.files[0].output) == ["ok"] * 3 + ["failed"] * 3 + ["pending"] * 3
    assert statuses(done.files[1].output) == ["pending"] * 9
    assert done.counts["pending"] == 12
    assert done.report is not None and done.report.exists()


def test_a_run_that_halted_says_why(
    grade: Grade, gate: Gate, gated: Endpoint, bench: Workbench, tmp_path: Path
) -> None:
    gate.refuse("number 3", status=400)
    grade(write_csv(tmp_path / "x.csv", essays(6)), row_limit=1, max_workers=1, model=gated)
    [run] = bench.catalog.all_runs()
    assert run["state"] == "stopped"
    for part in ("x.csv", "row", "4", "the gate says no"):
        assert part in run["message"]


def test_chunks_that_are_at_work_when_another_fails_keep_what_they_have(
    grade: Grade, gate: Gate, gated: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="30")
    gate.refuse("number 0", status=400)
    path = write_csv(tmp_path / "in.csv", essays(40))
    done = grade(path, row_limit=1, max_workers=8, model=gated)
    told = statuses(done.files[0].output)
    assert told[0] == "failed" and set(told[8:]) == {"pending"}
    assert done.counts["ok"] == sent(simulator) <= 7
    assert done.run.state == "stopped"


def test_rows_that_failed_before_the_run_was_stopped_keep_their_errors(
    grade: Grade, gate: Gate, gated: Endpoint, tmp_path: Path
) -> None:
    gate.refuse("number 0", status=400)
    path = write_csv(tmp_path / "in.csv", essays(40))
    with Workbench(settings(token_management__token_limit=5000), tmp_path / "h") as poor:
        done = grade(path, model=gated, workbench=poor, params={"max_tokens": 200})
    first, *others = read(done.files[0].output)
    assert first["status"] == "failed" and "the gate says no" in first["error"]
    assert {row["status"] for row in others} == {"ok", "pending"}
    assert done.run.state == "stopped" and states(done) == [["pending"]]
    assert done.failures is not None and done.failures["row"] == [0]
    assert done.counts["failed"] == done.run.counters["rows_failed"] == 1


def test_going_on_grades_the_rest_and_nothing_twice(
    grade: Grade, gate: Gate, gated: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    gate.refuse("number 3", "number 4", "number 5", status=400)
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(9, word=name))
    options: dict[str, Any] = {"row_limit": 3, "max_workers": 1, "model": gated, "run": "g-1"}
    first = grade(tmp_path / "in", **options)
    assert first.run.state == "stopped" and sent(simulator) == 3
    gate.refuse()
    done = grade(tmp_path / "in", **options)
    assert done.ok and done.run.state == "completed" and done.run.id == "g-1"
    assert [statuses(file.output) for file in done.files] == [["ok"] * 9] * 2
    assert states(done) == [["success"] * 3] * 2
    assert sent(simulator) == 18 and done.run.counters["recorded"] == 3
    whole = grade(tmp_path / "in", model=gated, out=tmp_path / "whole")
    for one, other in zip(done.files, whole.files, strict=True):
        assert read(one.output) == read(other.output)
    assert sent(simulator) == 18


def test_with_halting_off_everything_else_goes_on(
    grade: Grade, gate: Gate, gated: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    gate.refuse("a number 3", "a number 4", "a number 5", status=400)
    for name in "ab":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(9, word=name))
    done = grade(
        tmp_path / "in", row_limit=3, max_workers=1, model=gated, halt_on_chunk_failure=False
    )
    assert states(done) == [["success", "failure", "success"], ["success"] * 3]
    assert done.run.state == "completed with failures" and done.counts["pending"] == 0
    assert sent(simulator) == 15


# An endpoint that serves nobody ------------------------------------------------------------------


def test_a_wrong_key_is_one_error_and_not_a_failure_of_every_row(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(key="the-right-one")
    path = write_csv(tmp_path / "in.csv", essays(50))
    for halts in (True, False):
        with pytest.raises(ApiError, match="authentication"):
            grade(path, row_limit=10, max_workers=1, halt_on_chunk_failure=halts,
                  out=tmp_path / f"{halts}")  # fmt: skip
    assert simulator.summary()["requests"] <= 20, "no more than were in flight"
    assert grade(path, model=at(key="the-right-one"), out=tmp_path / "x").ok


@pytest.mark.parametrize("halts", [True, False])
def test_quota_that_ends_in_the_middle_stops_the_run_and_going_on_ends_it(
    grade: Grade, simulator: Simulator, tmp_path: Path, halts: bool
) -> None:
    simulator.set(quota=6)
    path = write_csv(tmp_path / "in.csv", essays(20))
    first = grade(path, row_limit=4, max_workers=1, run="g-quota", halt_on_chunk_failure=halts)
    assert first.run.state == "stopped", "rows are left that nobody has tried"
    assert first.counts["ok"] == 6 and first.counts["pending"] > 0
    simulator.set(quota=None)
    done = grade(path, row_limit=4, max_workers=1, run="g-quota")
    assert done.ok and statuses(done.files[0].output) == ["ok"] * 20
    assert simulator.summary()["answered"] == 20
