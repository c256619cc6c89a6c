"""Bookmarks: kept under a name, found again, exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.redteam.bookmarks import (
    add_bookmark,
    all_bookmarks,
    delete_bookmark,
    export_bookmarks,
    find_bookmark,
)
from penstock.redteam.session import Session
from penstock.redteam.sessions import delete_session
from penstock.redteam.turn import Setup, Turn, TurnStatus


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(workspace=tmp_path / "home") as opened:
        yield opened


def turn(answer: str = "yes", **more: str) -> Turn:
    setup = Setup(attack="base64", **more)
    given = {"number": 1, "endpoint": "e", "prompt": "p", "prepared": "cA==", "answer": answer}
    return Turn(**given, setup=setup, status=TurnStatus.ANSWERED)  # type: ignore[arg-type]


def test_a_turn_is_kept_with_all_that_is_needed_to_send_it_again(bench: Workbench) -> None:
    made = add_bookmark("The leak", turn(system_prompt="guard"), session="s", workbench=bench)
    assert find_bookmark("The leak", bench) == made
    assert (made.prompt, made.prepared, made.answer) == ("p", "cA==", "yes")
    assert made.setup == Setup(attack="base64", system_prompt="guard")
    assert (made.endpoint, made.session) == ("e", "s")
    assert made.created > 0


def test_a_name_that_is_taken_is_refused_and_nothing_replaced(bench: Workbench) -> None:
    add_bookmark("one", turn("first"), workbench=bench)
    with pytest.raises(InputError, match="there is a bookmark 'one' already"):
        add_bookmark("one", turn("second"), workbench=bench)
    assert find_bookmark("one", bench).answer == "first"


def test_an_unknown_name_is_told_with_those_there_are(bench: Workbench) -> None:
    add_bookmark("leak", turn(), workbench=bench)
    for call in (find_bookmark, delete_bookmark):
        with pytest.raises(NotFoundError) as caught:
            call("laek", bench)
        assert "Did you mean 'leak'?" in caught.value.remedy
    delete_bookmark("leak", bench)
    assert all_bookmarks(bench) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\0b", "half \ud83d", "=1+1", "<b>"])
def test_a_name_is_only_text(bench: Workbench, tmp_path: Path, name: str) -> None:
    add_bookmark(name, turn("\0\ud83d"), workbench=bench)
    assert find_bookmark(name, bench).answer == "␀�"
    assert {path.name for path in tmp_path.iterdir()} == {"home"}
    delete_bookmark(name, bench)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_a_name_has_a_length(bench: Workbench, name: str) -> None:
    with pytest.raises(InputError, match="1 to 200 letters"):
        add_bookmark(name, turn(), workbench=bench)


def test_they_are_exported_as_tables_with_formulas_made_harmless(
    bench: Workbench, tmp_path: Path
) -> None:
    add_bookmark("=cmd()", turn("=HYPERLINK(1)"), workbench=bench)
    add_bookmark("plain", turn(), workbench=bench)
    as_json = export_bookmarks(tmp_path / "marks.json", workbench=bench)
    rows = json.loads(as_json.read_text())
    assert [(row["name"], row["attack"]) for row in rows] == [
        ("=cmd()", "base64"),
        ("plain", "base64"),
    ]
    as_csv = export_bookmarks(tmp_path / "marks.csv", workbench=bench).read_text()
    assert "'=cmd()" in as_csv
    assert "'=HYPERLINK(1)" in as_csv
    with pytest.raises(InputError, match="already there"):
        export_bookmarks(tmp_path / "marks.csv", workbench=bench)


def test_the_last_turn_of_a_session_is_kept_and_outlives_it(bench: Workbench) -> None:
    session = Session.create(
        "Two", ["simulated/simulated-echo", "simulated/simulated-refuse"], workbench=bench
    )
    with pytest.raises(InputError, match="nothing has been sent"):
        session.bookmark("early", endpoint="simulated/simulated-echo")
    session.send("first")
    session.send("second")
    with pytest.raises(InputError, match="whose answer"):
        session.bookmark("which")
    made = session.bookmark("this", endpoint="simulated/simulated-echo")
    assert (made.answer, made.session) == ("second", "two")
    old = session.bookmark("old", session.turns()[0])
    assert old.prompt == "first"
    delete_session("Two", bench)
    assert [mark.name for mark in all_bookmarks(bench)] == ["old", "this"]
