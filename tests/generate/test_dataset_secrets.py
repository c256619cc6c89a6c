"""A key that is given in the program reaches the server, and nothing that is kept or shown."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError
from penstock.simulator import Simulator

CANARY = "kanary-4f3e2d1c0b9a88776655-of-a-dataset"


def made(bench: Workbench, url: str) -> penstock.Dataset:
    gen = penstock.generator("openai", CANARY, "simulated-echo", base_url=url, workbench=bench)
    return penstock.dataset(
        {
            "n": penstock.sample.sequence(),
            "x": gen("about {n}"),
            "y": gen(lambda x: f"more of {x}"),
            "talk": gen.conversation("Hi {n}", user=gen("You are {n}"), rounds=2),
            "score": penstock.eval.llm_judge("x", "Good?", model=gen),
            "bad": lambda x: 1 / 0,
        },
        4,
        workbench=bench,
    )


@pytest.mark.parametrize("fault", ["", "500:0.2", "401:1", "malformed:0.3"])
def test_no_byte_of_the_workspace_and_nothing_shown_holds_a_key(
    simulator: Simulator,
    tmp_path: Path,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("PENSTOCK_LOGGING_LEVEL", "DEBUG")
    monkeypatch.setenv("PENSTOCK_LOGGING_FILE", str(home / "penstock.log"))
    simulator.set(errors=fault, key=CANARY)
    shown: list[str] = []
    with Workbench(workspace=home) as bench:
        ds = made(bench, simulator.url)
        shown += [repr(ds), repr(vars(ds)), repr(ds.schema.columns), str(ds.estimate())]
        try:
            table = ds.generate()
        except PenstockError as error:
            assert fault == "401:1"
            shown.append(str(error))
        else:
            shown += [repr(table), str(table.to_list()), str(table.failures.to_list())]
            shown.append(repr(table.run))
            table.save(home / "out.jsonl")
        look_through(home)
    answered = simulator.summary()["answered"]
    assert (answered == 0) is (fault == "401:1"), "the right key was sent"
    shown += capfd.readouterr()
    assert not [text for text in shown if CANARY in text]
    assert look_through(home) >= 4


def look_through(place: Path) -> int:
    """Every byte of every file, and every value of every database; how many files there are."""
    count = 0
    for file in filter(Path.is_file, place.rglob("*")):
        count += 1
        assert CANARY.encode() not in file.read_bytes(), file
        if file.suffix == ".db":
            database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
            names = database.execute("select name from sqlite_master where type = 'table'")
            for (name,) in names.fetchall():
                for row in database.execute(f'select * from "{name}"'):
                    assert CANARY not in repr(row), (file, name)
            database.close()
    return count


def test_the_server_really_wants_this_key(simulator: Simulator, tmp_path: Path) -> None:
    """Else the test above would prove nothing."""
    simulator.set(key="another-key-of-no-worth")
    wrong = pytest.raises(PenstockError, match="authentication")
    with Workbench(workspace=tmp_path / "home") as bench, wrong:
        made(bench, simulator.url).generate()


def test_a_generator_shows_no_key(bench: Any) -> None:
    gen = penstock.generator("openai", CANARY)
    for each in (gen, gen("x"), gen.conversation("x"), vars(gen), gen.key):
        assert CANARY not in repr(each)
        assert CANARY not in str(each)
