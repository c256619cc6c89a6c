"""Speed and time left, reckoned from what the catalog and the feed say."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engine.states import RunState
from penstock.live import Look
from tests.live.going import Going


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_speed_and_time_left_are_those_of_the_last_while(tmp_path: Path) -> None:
    clock = Clock()
    with Going(tmp_path, total=1000) as going:
        going.tell()
        look = Look(going.workspace, going.catalog, going.run.id, title="x", clock=clock)
        assert look.state()["rate"] == 0
        for _ in range(10):
            clock.now += 1.0
            for _ in range(20):
                going.add({"n": 1})
            going.tell()
            state = look.state()
        assert state["rate"] == pytest.approx(20)
        assert state["left"] == pytest.approx(800 / 20)
        assert float(state["cost_expected"]) == pytest.approx(1000 * 0.0000654)


def test_the_feed_may_be_ahead_of_the_counters_but_not_of_the_total(tmp_path: Path) -> None:
    clock = Clock()
    with Going(tmp_path, total=5) as going:
        going.tell()
        for _ in range(7):  # a row that is run again comes again
            going.add({"n": 1})
        going.feed.flush()
        look = Look(going.workspace, going.catalog, going.run.id, title="x", clock=clock)
        assert look.state()["done"] == 5
        assert look.state()["rows"] == 7


def test_those_who_ask_within_a_moment_get_the_same_answer(tmp_path: Path) -> None:
    clock = Clock()
    with Going(tmp_path) as going:
        look = Look(going.workspace, going.catalog, going.run.id, title="x", clock=clock)
        first = look.state()
        going.add({"n": 1})
        going.tell()
        assert look.state() is first
        clock.now += 1
        assert look.state()["rows"] == 1


def test_a_price_that_nobody_knows_is_no_cost_of_nothing(tmp_path: Path) -> None:
    with Going(tmp_path) as going:
        going.run.progress.unpriced = 3
        going.tell()
        look = Look(going.workspace, going.catalog, going.run.id, title="x")
        assert look.state()["cost"] is None


def test_an_ended_run_has_its_mean_speed_and_nothing_left(tmp_path: Path) -> None:
    with Going(tmp_path, total=2) as going:
        going.add({"n": 1})
        going.add({"n": 2})
        going.finish(RunState.COMPLETED)
        look = Look(going.workspace, going.catalog, going.run.id, title="half \ud800")
        state = look.state()
    assert (state["ended"], state["left"], state["cost_expected"]) == (True, None, None)
    assert state["rate"] > 0
    assert state["title"] == "half \ufffd"
