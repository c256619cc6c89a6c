"""Files: one that is bad stops no other, and no output is written over anything but our own."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import HeldError, InputError, StorageFullError
from penstock.grade.grading import GradeJob
from penstock.simulator import Simulator
from tests.grade.grade_gate import Gate
from tests.grade.grade_kit import (
    RUBRIC,
    Grade,
    bodies,
    essays,
    job,
    read,
    sent,
    settings,
    statuses,
    user_said,
    write_csv,
    write_lines,
)

At = Callable[..., Endpoint]


@pytest.fixture
def saved(bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> str:
    """An endpoint that the workspace knows by name."""
    monkeypatch.setenv("SAVED_KEY", "a-key-of-no-worth")
    endpoint = Endpoint("openai", "simulated", simulator.url, key="env:SAVED_KEY")
    bench.catalog.save_endpoint("grader", endpoint.spec())
    return "grader"


# Bad files ---------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with two good files and three that cannot be graded."""
    folder = tmp_path / "in"
    write_csv(folder / "a.csv", essays(2, word="a"))
    (folder / "b.parquet").write_bytes(b"no parquet at all")
    write_csv(folder / "c.csv", [{"x": "1", "y": "2"}])
    (folder / "d.json").write_text("[{]")
    write_lines(folder / "e.jsonl", essays(2, word="e"))
    (folder / "notes.txt").write_text("no table")
    return folder


def test_one_bad_file_never_stops_the_others(
    grade: Grade, simulator: Simulator, mixed: Path
) -> None:
    done = grade(mixed)
    told = {file.path.name: file for file in done.files}
    assert sorted(told) == ["a.csv", "b.parquet", "c.csv", "d.json", "e.jsonl"]
    for name in ("a.csv", "e.jsonl"):
        assert told[name].ok and statuses(told[name].output) == ["ok", "ok"]
    for name in ("b.parquet", "c.csv", "d.json"):
        assert told[name].problem and told[name].output is None and not told[name].ok
    assert [path.name for path, _ in done.skipped] == ["notes.txt"]
    assert done.run.state == "completed with failures" and not done.ok
    assert sent(simulator) == 4
    assert done.report is not None
    files = json.loads(done.report.with_suffix(".json").read_text())["files"]
    assert sum(bool(file["problem"]) for file in files) == 3


def test_where_it_is_asked_a_bad_file_stops_everything_before_the_first_question(
    grade: Grade, simulator: Simulator, mixed: Path, bench: Workbench, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"b\.parquet"):
        grade(mixed, on_file_error="halt")
    assert simulator.summary()["requests"] == 0 and not (tmp_path / "out").exists()
    assert bench.catalog.all_runs() == [], "there was no run"


def test_when_every_file_is_bad_nothing_is_sent_and_each_is_told(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        write_csv(tmp_path / "in" / f"{name}.csv", [{"x": "1", "y": "2"}])
    with pytest.raises(InputError, match=r"(?s)a\.csv.*b\.csv"):
        grade(tmp_path / "in")
    assert simulator.summary()["requests"] == 0


def test_a_file_that_is_not_there_is_told_at_once(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    write_csv(tmp_path / "a.csv", essays(1))
    with pytest.raises(InputError, match=r"not-there\.csv"):
        grade([tmp_path / "a.csv", tmp_path / "not-there.csv"])
    assert simulator.summary()["requests"] == 0


# Outputs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["a.csv", "report.html", "report.json"])
def test_nothing_that_is_there_is_written_over_unless_it_is_asked(
    grade: Grade, simulator: Simulator, tmp_path: Path, there: str
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / there).write_text("mine")
    with pytest.raises(InputError, match="there already"):
        grade(path)
    assert (tmp_path / "out" / there).read_text() == "mine"
    assert simulator.summary()["requests"] == 0, "it was told before anything was paid"
    assert grade(path, overwrite=True).ok
    assert (tmp_path / "out" / there).read_text() != "mine"


def test_another_run_does_not_replace_the_outputs_of_the_first(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    grade(path, run="g-1")
    with pytest.raises(InputError, match="there already"):
        grade(path, run="g-2")
    grade(path, run="g-1")
    assert sent(simulator) == 2


def test_an_own_output_that_somebody_has_changed_is_no_longer_ones_own(
    grade: Grade, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    [file] = grade(path, run="g-1").files
    assert file.output is not None
    file.output.write_text("corrected by hand")
    with pytest.raises(InputError, match="there already"):
        grade(path, run="g-1")
    assert file.output.read_text() == "corrected by hand"


def test_an_output_that_somebody_took_away_is_written_again(grade: Grade, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    [file] = grade(path, run="g-1").files
    assert file.output is not None
    file.output.unlink()
    assert statuses(grade(path, run="g-1").files[0].output) == ["ok", "ok"]


def test_a_run_goes_on_from_another_folder_and_replaces_its_own_outputs(
    bench: Workbench, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the shell does it: begun with relative paths here, taken up again by its id there."""
    write_csv(Path("in/a.csv"), essays(3))
    first = penstock.grade("in", RUBRIC, model=saved, out="graded", workbench=bench)
    assert first.ok
    monkeypatch.chdir(tmp_path)
    [run] = bench.catalog.all_runs()
    again = GradeJob.from_spec(run["spec"]).run(bench, run_id=first.run.id)
    assert again.ok and again.run.counters["recorded"] == 3
    assert not (tmp_path / "graded").exists()


def test_no_output_is_written_over_an_input(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in" / "a.csv", essays(2))
    before = path.read_bytes()
    with pytest.raises(InputError):
        grade(path, out=tmp_path / "in", overwrite=True)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(InputError):
        grade(path, out=tmp_path / "link", overwrite=True)
    assert path.read_bytes() == before and simulator.summary()["requests"] == 0


def test_two_inputs_of_one_name_have_two_outputs(
    grade: Grade, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        write_csv(tmp_path / name / "a.csv", essays(2, word=name))
    done = grade([tmp_path / "one" / "a.csv", tmp_path / "two" / "a.csv"])
    assert {file.output for file in done.files} == {
        tmp_path / "out" / "one" / "a.csv",
        tmp_path / "out" / "two" / "a.csv",
    }
    for file in done.files:
        assert [row["text"] for row in read(file.output)] == [
            row["text"] for row in read(file.path)
        ]
    assert sent(simulator) == 4
    asked = [user_said(body).split("\n")[3] for body in bodies(bench, done, tmp_path)]
    assert asked == [row["text"] for file in done.files for row in read(file.path)]


def test_an_input_that_is_called_like_the_report_is_not_lost_to_it(
    grade: Grade, tmp_path: Path
) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", essays(1))
    (tmp_path / "in" / "report.json").write_text(json.dumps(essays(2)))
    done = grade(tmp_path / "in")
    [file] = [each for each in done.files if each.path.name == "report.json"]
    assert file.ok and file.output is not None and done.report is not None
    assert file.output.parent == done.report.parent == tmp_path / "out"
    assert [row["status"] for row in json.loads(file.output.read_text())] == ["ok", "ok"]
    assert json.loads(done.report.with_suffix(".json").read_text())["run"] == done.run.id


def test_an_output_that_is_graded_again_keeps_its_first_grades(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    first = grade(write_csv(tmp_path / "a.csv", essays(3)))
    second = grade(first.files[0].output, out=tmp_path / "second")
    for old, new in zip(read(first.files[0].output), read(second.files[0].output), strict=True):
        assert old.items() <= new.items() and new["status_2"] == "ok"
        assert new["clarity_2"] == new["clarity"], "the same text, found in the journal"
    assert sent(simulator) == 3


def test_a_file_that_is_named_twice_is_graded_once(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in" / "a.csv", essays(2))
    assert len(grade([path, tmp_path / "in", path]).files) == 1


def test_outputs_inside_the_folder_of_the_inputs_are_not_graded_again(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    write_csv(tmp_path / "in" / "a.csv", essays(2))
    for run in ("g-1", "g-1"):
        done = grade(tmp_path / "in", out=tmp_path / "in" / "graded", run=run)
        assert [file.path.name for file in done.files] == ["a.csv"]
    other = grade(tmp_path / "in", out=tmp_path / "elsewhere")
    assert [file.path.name for file in other.files] == ["a.csv"], "nor by another run"
    assert sent(simulator) == 2


def test_another_format_is_written_where_it_is_asked(grade: Grade, tmp_path: Path) -> None:
    done = grade(write_csv(tmp_path / "a.csv", essays(2)), output_format="jsonl")
    assert done.files[0].output == tmp_path / "out" / "a.jsonl"
    assert [row["text"] for row in read(done.files[0].output)] == [
        "essay number 0", "essay number 1",
    ]  # fmt: skip


def test_an_output_that_cannot_be_written_is_a_problem_of_that_file_alone(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    for name in "abc":
        write_csv(tmp_path / "in" / name / "x.csv", essays(2, word=name))
    out = tmp_path / "out"

    def spoil(_: str) -> None:
        """While it is graded, somebody puts a file where a folder would go."""
        out.mkdir(exist_ok=True)
        (out / "b").touch()

    gate.rule = spoil
    done = grade(tmp_path / "in", model=at().with_(url=gate.url), run="g-1")
    told = {file.path.parent.name: file for file in done.files}
    assert "could not be written" in told["b"].problem and told["b"].output is None
    assert told["a"].ok and told["c"].ok and not done.ok
    assert told["b"].counts == {"ok": 2} and told["b"].scores is not None
    assert done.run.state == "completed with failures"
    gate.rule = lambda _: None
    (out / "b").unlink()
    again = grade(tmp_path / "in", model=at().with_(url=gate.url), run="g-1")
    assert again.ok and again.run.state == "completed" and sent(simulator) == 6


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_sent(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    (tmp_path / "file").write_text("no folder")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="file"):
            grade(path, out=out)
    assert simulator.summary()["requests"] == 0


def test_a_report_that_cannot_be_written_takes_no_grades_away(
    grade: Grade, gate: Gate, at: At, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))

    def spoil(_: str) -> None:
        (tmp_path / "out" / "report.html").mkdir(parents=True, exist_ok=True)

    gate.rule = spoil
    done = grade(path, model=at().with_(url=gate.url))
    assert done.files[0].ok and statuses(done.files[0].output) == ["ok", "ok"]
    assert done.report is None and "report.html" in done.problem and not done.ok


# What changes meanwhile --------------------------------------------------------------------------


def test_what_the_user_does_to_a_file_does_not_reach_a_run_that_goes_on(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(4))
    gate.refuse("number 2", "number 3")
    options: dict[str, Any] = {"model": at().with_(url=gate.url), "row_limit": 2, "run": "g-1"}
    assert grade(path, **options).run.state == "stopped"
    write_csv(path, essays(2, word="other"))
    gate.refuse()
    done = grade(path, **options)
    assert [row["text"] for row in read(done.files[0].output)] == [row["text"] for row in essays(4)]
    assert sent(simulator) == 4


def test_a_file_that_comes_into_the_folder_takes_no_others_place(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    for name in "ac":
        write_csv(tmp_path / "in" / f"{name}.csv", essays(2, word=name))
    gate.refuse("c number")
    options: dict[str, Any] = {"model": at().with_(url=gate.url), "max_workers": 1, "run": "g-1"}
    assert grade(tmp_path / "in", **options).run.state == "stopped"
    write_csv(tmp_path / "in" / "b.csv", essays(3, word="b"))
    gate.refuse()
    done = grade(tmp_path / "in", **options)
    for file in done.files:
        letter = file.path.stem
        assert file.output == tmp_path / "out" / f"{letter}.csv"
        assert {row["text"][0] for row in read(file.output)} == {letter}
    assert {file.path.stem for file in done.files} >= {"a", "c"}


def test_the_copies_of_the_inputs_go_when_all_is_done(
    grade: Grade, bench: Workbench, tmp_path: Path
) -> None:
    secret = "a text that is only in the input"
    done = grade(write_lines(tmp_path / "a.jsonl", [{"text": "one", "beside": secret}]))
    for file in filter(Path.is_file, Path(done.run.folder).rglob("*")):
        assert secret.encode() not in file.read_bytes(), file


def test_what_the_run_keeps_is_the_owners_alone(
    grade: Grade, bench: Workbench, tmp_path: Path
) -> None:
    before = os.umask(0)
    try:
        grade(write_csv(tmp_path / "a.csv", [*essays(2), {"id": 3, "text": ""}]), first=2)
    finally:
        os.umask(before)
    for file in bench.workspace.path.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0, file


def test_it_runs_inside_a_running_loop(bench: Workbench, at: At, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))

    async def program() -> Any:
        handle = penstock.grade(path, RUBRIC, model=at(), out=tmp_path / "out", workbench=bench)
        return await handle

    assert asyncio.run(program()).ok


def test_a_run_that_somebody_else_is_at_work_on_is_left_to_him(
    grade: Grade, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    grade(path, run="g-1")
    before = (tmp_path / "out" / "a.csv").stat().st_mtime_ns
    with (bench.workspace.run("g-1") / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(HeldError, match="g-1"):
            grade(path, run="g-1")
    assert (tmp_path / "out" / "a.csv").stat().st_mtime_ns == before
    assert grade(path, run="g-1").ok and sent(simulator) == 2


def test_a_full_disk_stops_the_run_before_anything_is_paid(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(4))
    with Workbench(settings(storage__min_free_mb=10**9), tmp_path / "h") as full:
        with pytest.raises(StorageFullError):
            grade(path, workbench=full, row_limit=2, run="g-1")
        assert [run["state"] for run in full.catalog.all_runs()] == ["failed"]
    assert simulator.summary()["requests"] == 0
    with Workbench(settings(), tmp_path / "h") as emptied:
        assert grade(path, workbench=emptied, run="g-1").ok and sent(simulator) == 4


def test_without_a_folder_for_outputs_only_the_scores_are_given(
    bench: Workbench, at: At, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(2))
    done = job(path, [at()]).run(bench)
    assert done.files[0].output is None and done.report is None
    assert done.files[0].scores["status"] == ["ok", "ok"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "home"]


# Many files ---------------------------------------------------------------------------------------


def test_a_folder_of_more_files_than_may_be_open_at_once_is_graded(tmp_path: Path) -> None:
    for number in range(120):
        write_csv(tmp_path / "in" / f"{number:03d}.csv", essays(2, word=f"w{number}"))
    root = Path(__file__).parents[2]
    home = {"PENSTOCK_HOME": str(tmp_path / "home"), "PENSTOCK_STORAGE_DURABILITY": "fast"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.grade.grade_many", tmp_path / "in", tmp_path / "out", "64"],
        env={**os.environ, **home, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "240"
    assert len(list((tmp_path / "out").glob("*.csv"))) == 120
