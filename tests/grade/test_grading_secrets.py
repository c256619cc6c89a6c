"""A key that is given in the program reaches the server, and nothing that is kept or shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError
from penstock.simulator import Simulator
from tests.grade.grade_kit import RUBRIC, essays, settings, write_csv

At = Callable[..., Endpoint]
CANARY = "kanary-4f3e2d1c0b9a88776655-of-a-grader"


@pytest.mark.parametrize("lane", ["online", "batch"])
@pytest.mark.parametrize("fault", ["", "500:0.2", "401:1"])
def test_no_byte_of_the_workspace_or_the_outputs_and_nothing_shown_holds_a_key(
    simulator: Simulator,
    at: At,
    tmp_path: Path,
    fault: str,
    lane: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    simulator.set(errors=fault, key=CANARY, batch_seconds=0)
    path = write_csv(tmp_path / "in.csv", essays(6))
    shown: list[str] = []
    with Workbench(settings(logging__level="DEBUG"), tmp_path / "home") as bench:
        try:
            done = penstock.grade(
                path, RUBRIC, model=at(key=CANARY), out=tmp_path / "out", row_limit=3, lane=lane,
                graders=2, workbench=bench,
            )  # fmt: skip
        except PenstockError as error:
            assert fault == "401:1"
            shown.append(str(error))
        else:
            assert fault != "401:1" and done.counts["ok"] == 6
            shown += [repr(done), str(done.to_dict())]
        [run] = bench.catalog.all_runs()
        shown.append(str(run))
        assert look_through(tmp_path) > 6
    shown += capfd.readouterr()
    assert not [text for text in shown if CANARY in text]
    assert look_through(tmp_path) > 6
    answered = simulator.summary()["answered"]
    assert (answered == 0) is (fault == "401:1"), "the right key was sent"


def look_through(place: Path) -> int:
    """Every byte of every file, and every value of every database; how many files there are."""
    count = 0
    for file in filter(Path.is_file, place.rglob("*")):
        count += 1
        assert CANARY.encode() not in file.read_bytes(), file
        if file.suffix == ".db":
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                names = database.execute("select name from sqlite_master where type = 'table'")
                for (name,) in names.fetchall():
                    for row in database.execute(f'select * from "{name}"'):
                        assert CANARY not in repr(row), (file, name)
    return count


def test_the_server_really_wants_this_key(
    simulator: Simulator, at: At, bench: Workbench, tmp_path: Path
) -> None:
    """Else the test above would prove nothing."""
    simulator.set(key="another-key-of-no-worth")
    path = write_csv(tmp_path / "in.csv", essays(2))
    with pytest.raises(PenstockError, match="authentication"):
        penstock.grade(path, RUBRIC, model=at(key=CANARY), out=tmp_path / "o", workbench=bench)
