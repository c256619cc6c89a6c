"""Sessions, turns and bookmarks in the catalog."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.redteam.turn import Turn, TurnStatus
from penstock.store.catalog import MIGRATIONS, Catalog
from penstock.store.sessions import Begun, SessionStore, kept
from tests.store.make_golden import GOLDEN, RUN


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "catalog.db")
    yield opened
    opened.close()


@pytest.fixture
def store(catalog: Catalog) -> SessionStore:
    made = SessionStore(catalog)
    assert made.create(session("one"))
    return made


def session(id: str, **more: Any) -> dict[str, Any]:  # noqa: A002
    return {
        "id": id, "name": id.title(), "description": "", "endpoints": [{"label": "a"}],
        "setup": {"strategy": "none"}, "attacker": None, "judge": None, "seed": 0,
        "max_turns": 10, "stop_on_success": True, **more,
    }  # fmt: skip


def turn(endpoint: str = "a", answer: str | None = "yes", **more: Any) -> dict[str, Any]:
    status = TurnStatus.FAILED if answer is None else TurnStatus.ANSWERED
    given: dict[str, Any] = {"prompt": "p", "prepared": "p", "status": status, **more}
    return Turn(number=0, endpoint=endpoint, answer=answer, **given).row()


def test_an_older_workspace_is_brought_forward_with_all_that_it_had(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "format1" / "catalog.db", tmp_path / "catalog.db")
    before = sqlite3.connect(tmp_path / "catalog.db")
    assert before.execute("SELECT value FROM meta").fetchall() == [("1",)]
    before.close()
    catalog = Catalog(tmp_path / "catalog.db")
    store = SessionStore(catalog)
    assert store.all() == []
    assert store.create(session("one"))
    store.add("one", 1, 1, "p", turn())
    assert catalog.run(str(RUN["id"]))["spec"] == RUN["spec"]
    catalog.close()
    after = sqlite3.connect(tmp_path / "catalog.db")
    assert after.execute("SELECT value FROM meta").fetchall() == [(str(len(MIGRATIONS)),)]
    after.close()


def test_a_session_comes_back_and_its_id_is_taken_once(store: SessionStore) -> None:
    assert not store.create(session("one", description="another"))
    found = store.find("one")
    assert found is not None
    assert found["description"] == ""
    assert found["endpoints"] == [{"label": "a"}]
    assert found["open"] is None
    assert store.find("on") is None


def test_numbers_count_within_an_endpoint_and_a_turn_is_recorded_once(store: SessionStore) -> None:
    assert store.add("one", 1, 1, "p", turn("a")) == 1
    assert store.add("one", 1, 1, "p", turn("b")) == 1
    assert store.add("one", 1, 2, "p", turn("a")) == 2
    assert store.add("one", 1, 2, "p", turn("a", answer="another")) == 2
    assert [row["answer"] for row in store.turns("one")] == ["yes"] * 3
    assert set(store.steps("one", "a", 1)) == {1, 2}


def test_turns_come_in_the_order_of_their_sends_whatever_their_number(store: SessionStore) -> None:
    for number in range(450):
        store.add("one", 1 + number // 3, 1 + number % 3, f"line {number // 3}", turn())
    store.create(session("other"))
    store.add("other", 1, 1, "p", turn(answer="not mine"))
    found = list(store.turns("one"))
    assert [row["number"] for row in found] == list(range(1, 451))
    assert [row["number"] for row in store.last("one", "a", 100, 5)] == list(range(293, 298))
    assert [row["send"] for row in store.latest("one")] == [150] * 3


def test_earlier_sends_of_a_line_count_where_they_were_answered(store: SessionStore) -> None:
    store.add("one", 1, 1, "x", turn())
    store.add("one", 1, 2, "x", turn())
    store.add("one", 2, 1, "x", turn(answer=None))
    store.add("one", 3, 1, "y", turn())
    store.add("one", 4, 1, "x", turn())
    counts = [store.again("one", "a", "x", send) for send in (1, 2, 4, 5)]
    assert counts == [0, 1, 1, 2]
    assert store.again("one", "b", "x", 5) == 0


def test_a_send_that_was_not_ended_is_gone_on_with(store: SessionStore) -> None:
    assert store.begin("one", {"line": "x"}) == Begun(1, False)
    assert store.begin("one", {"line": "x"}) == Begun(1, True)
    assert store.begin("one", {"line": "y"}) == Begun(2, False)
    assert store.begin("one", {"line": "x"}) == Begun(3, False)
    store.end("one", 2)
    assert store.begin("one", {"line": "x"}) == Begun(3, True)
    store.end("one", 3)
    assert store.begin("one", {"line": "x"}) == Begun(4, False)
    assert store.begin("gone", {"line": "x"}) is None


def test_several_threads_never_take_the_same_number(store: SessionStore) -> None:
    def work(first: int) -> None:
        for send in range(first, first + 10):
            store.add("one", send, 1, "p", turn())

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 101, 201)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row["number"] for row in store.turns("one")) == list(range(1, 31))


def test_deleting_takes_the_turns_along_and_leaves_the_bookmarks(store: SessionStore) -> None:
    store.add("one", 1, 1, "p", turn())
    mark: dict[str, Any] = {
        "name": "m", "prompt": "p", "prepared": "p", "answer": None, "setup": {},
        "endpoint": "a", "session": "one",
    }  # fmt: skip
    assert store.add_bookmark(mark)
    assert not store.add_bookmark(mark)
    assert store.delete("one")
    assert not store.delete("one")
    assert list(store.turns("one")) == []
    assert [row["name"] for row in store.all_bookmarks()] == ["m"]
    assert store.remove_bookmark("m")
    assert not store.remove_bookmark("m")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(), st.text(min_size=1), st.floats(allow_nan=False) | st.none())
def test_any_text_of_a_model_is_kept(
    store: SessionStore, answer: str, label: str, latency: float | None
) -> None:
    send = sum(1 for _ in store.turns("one")) + 1
    row = {**turn(label, answer), "error": answer, "latency": latency}
    store.add("one", send, 1, answer, row)
    [row] = store.steps("one", label, send).values()
    assert row["answer"] == row["error"] == row["line"] == kept(answer)
    assert row["latency"] == latency
    assert len(row["answer"]) == len(answer)
