"""What is to be expected of a run: pure sums over its counters."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from penstock.engine.outlook import Moment, Outlook, Trend, outlook
from penstock.engine.progress import Progress

BEGIN = Moment(0, 0, 0)


def at(
    rows: int, *, total: int | None = 1000, asked: int | None = None, cost: str = "0", **more: Any
) -> Progress:
    asked = rows if asked is None else asked
    return Progress(total, rows, asked=asked, cost=Decimal(cost), **more)


def expected(progress: Progress, seconds: float, then: Moment = BEGIN) -> Outlook:
    return outlook(progress, then, Moment.of(progress, seconds))


def test_a_tenth_of_the_rows_tells_the_time_and_the_cost_of_all() -> None:
    found = expected(at(100, cost="0.25"), 20)
    assert found == Outlook(5, 180, Decimal("2.50"))


def test_what_is_in_flight_is_neither_done_nor_paid() -> None:
    found = expected(at(100, asked=164, in_flight=64, cost="0.25"), 20)
    assert found.cost == Decimal("2.50")


def test_at_the_end_nothing_is_left_and_the_cost_is_what_was_spent() -> None:
    assert expected(at(1000, cost="2.5"), 10) == Outlook(100, 0, Decimal("2.5"))


@pytest.mark.parametrize(
    ("progress", "left", "cost"),
    [
        (at(100, total=None, cost="1"), None, None),
        (at(0, asked=10, cost="1"), None, None),
        (at(100, cost="1", unpriced=1), 90, None),
        (at(100, asked=0, recorded=100), 90, None),
    ],
    ids=["no total", "no row yet", "no price", "nothing asked"],
)
def test_what_nobody_can_say_is_not_said(
    progress: Progress, left: float | None, cost: Decimal | None
) -> None:
    found = expected(progress, 10)
    assert (found.seconds, found.cost) == (left, cost)


def test_a_free_model_stays_free() -> None:
    assert expected(at(100), 10).cost == 0


def test_rows_that_are_asked_twice_cost_twice() -> None:
    found = expected(at(100, asked=200, cost="0.50"), 10)
    assert found.cost == Decimal("5.00")


def test_equal_rows_that_share_an_answer_cost_little() -> None:
    found = expected(at(500, asked=1, recorded=499, cost="1"), 10)
    assert found.cost == Decimal(2)


def test_a_run_that_is_taken_up_again_counts_what_it_had_spent() -> None:
    progress = at(0, asked=0)
    progress.add({"asked": 400, "cost": "4"})
    trend = Trend(progress, 0)
    progress.rows_done, progress.recorded = 400, 400
    assert trend.look(1).cost == 4, "the rest may be recorded as well"
    for second in range(2, 14):  # then it slows down, and asks
        progress.rows_done += 5
        progress.asked += 5
        progress.cost += Decimal("0.05")
        found = trend.look(second)
    assert progress.rows_done == 460
    assert found.rate == 5, "the race through the journal is forgotten after ten seconds"
    assert found.seconds == 108
    assert found.cost == Decimal("10.00")


def test_the_speed_is_that_of_the_last_ten_seconds() -> None:
    progress = at(0, total=10_000)
    trend = Trend(progress, 0)
    for second in range(1, 31):
        progress.rows_done += 100 if second <= 15 else 10
        found = trend.look(second)
    assert found.rate == 10
    assert trend.whole(30).rate == pytest.approx((1500 + 150) / 30)


def test_a_slow_run_is_looked_at_for_as_long_as_a_row_takes() -> None:
    progress = at(0, total=10)
    trend = Trend(progress, 0)
    for second in range(1, 181):
        progress.rows_done = second // 60
        found = trend.look(second)
        if second >= 120:
            assert 1 / 130 < found.rate < 1 / 9
    assert found.seconds is not None


def test_many_looks_keep_few_moments() -> None:
    progress = at(0, total=100_000)
    trend = Trend(progress, 0)
    for look in range(20_000):
        progress.rows_done = look
        trend.look(look / 100)
    assert len(trend._moments) < 50
