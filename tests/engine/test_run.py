"""A run: its folder, its line in the catalog, its lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engine.run import Run, new_run_id, row_keys
from penstock.engine.states import RunState
from penstock.errors import HeldError
from penstock.outcome import Answer, Failure, FailureKind, Usage
from penstock.store import Workspace
from penstock.store.catalog import Catalog


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "space").prepare()


@pytest.fixture
def catalog(workspace: Workspace) -> Iterator[Catalog]:
    catalog = Catalog(workspace.catalog)
    yield catalog
    catalog.close()


def test_a_run_is_remembered_from_its_beginning_to_its_end(
    workspace: Workspace, catalog: Catalog
) -> None:
    with Run(workspace, catalog, kind="test", spec={"rows": 3}, id="one") as run:
        assert catalog.run("one")["state"] == "running"
        run.progress.rows_done = 3
        run.finish(RunState.COMPLETED)
    row = catalog.run("one")
    assert row["state"] == "completed"
    assert row["counters"]["rows_done"] == 3
    assert row["ended"] >= row["started"] >= row["created"]
    assert json.loads((run.folder / "run.json").read_bytes())["spec"] == {"rows": 3}


def test_a_run_that_raises_is_failed_and_says_why(workspace: Workspace, catalog: Catalog) -> None:
    with pytest.raises(RuntimeError), Run(workspace, catalog, kind="test", id="one"):
        raise RuntimeError("the roof fell in")
    row = catalog.run("one")
    assert (row["state"], row["message"]) == ("failed", "the roof fell in")


def test_what_a_run_spent_adds_up_over_its_resumes(workspace: Workspace, catalog: Catalog) -> None:
    for _ in range(3):
        with Run(workspace, catalog, kind="test", id="one") as run:
            run.progress.asked += 10
            run.progress.count(Answer("x", usage=Usage(5, 7)))
            run.finish(RunState.CANCELLED)
    counters = catalog.run("one")["counters"]
    assert (counters["asked"], counters["input_tokens"], counters["output_tokens"]) == (30, 15, 21)


def test_which_questions_a_row_asked_is_kept_each_once(
    workspace: Workspace, catalog: Catalog
) -> None:
    keys = [bytes([1]) + bytes([n]) * 16 for n in range(4)]
    for _ in range(2):
        with Run(workspace, catalog, kind="test", id="one") as run:
            for row, key in ((0, keys[0]), (5, keys[1]), (0, keys[2]), (5, keys[1])):
                run.asked(row, key)
            run.finish(RunState.COMPLETED)
    assert row_keys(run.folder) == {0: [keys[0], keys[2]], 5: [keys[1]]}


def test_failures_are_those_of_the_latest_pass(workspace: Workspace, catalog: Catalog) -> None:
    for message in ("first", "second"):
        with Run(workspace, catalog, kind="test", id="one") as run:
            run.begin_failures()
            run.failed(7, Failure(FailureKind.SERVER, message, 4))
            run.finish(RunState.COMPLETED_WITH_FAILURES)
    lines = (run.folder / "failures.jsonl").read_text().splitlines()
    assert [json.loads(line)["message"] for line in lines] == ["second"]


def test_everything_in_a_run_s_folder_is_its_owner_s_alone(
    workspace: Workspace, catalog: Catalog
) -> None:
    before = os.umask(0)
    try:
        with Run(workspace, catalog, kind="test", id="one") as run:
            run.asked(0, b"\1" * 17)
            run.failed(0, Failure(FailureKind.SERVER, "x"))
            run.finish(RunState.COMPLETED)
    finally:
        os.umask(before)
    assert run.folder.stat().st_mode & 0o777 == 0o700
    for file in run.folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file


HOLDER = """
import sys, time
from penstock.engine.run import Run
from penstock.store import Workspace
from penstock.store.catalog import Catalog
workspace = Workspace(sys.argv[1])
with Run(workspace, Catalog(workspace.catalog), kind="test", id="one"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_run_has_one_holder_and_a_dead_one_lets_go_at_once(
    workspace: Workspace, catalog: Catalog
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(workspace.path)], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    began = time.monotonic()
    with pytest.raises(HeldError, match=f"process {holder.pid}"):
        Run(workspace, catalog, kind="test", id="one").__enter__()
    assert time.monotonic() - began < 1
    holder.kill()
    holder.communicate()
    with Run(workspace, catalog, kind="test", id="one") as run:
        run.finish(RunState.COMPLETED)


def test_run_ids_sort_by_time_and_are_safe_as_names() -> None:
    ids = [new_run_id("demo") for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(Workspace("x").run(run_id).name == run_id for run_id in ids)
