"""Promise L4: never more than the cap plus what was in flight; usually less than the cap."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.endpoint import Endpoint, Limits, Prices
from penstock.engine.budget import Budget, Held, Purse
from penstock.engine.engine import Engine
from penstock.engine.estimates import Estimate
from penstock.engine.progress import Progress
from penstock.engine.station import Station
from penstock.engine.stop import Stop
from penstock.outcome import Answer, Failure, FailureKind
from penstock.request import Request
from penstock.store import Journal

PRICES = Prices(Decimal("0.50"), Decimal("2.00"))


async def spend(path: Path, budget: Budget, rows: int, concurrency: int, **more: Any) -> Engine:
    endpoint = Endpoint(
        "simulated", "simulated", prices=PRICES, limits=Limits(concurrency=concurrency),
        params={"latency": 2},
    )  # fmt: skip
    async with Station(Journal(path)) as station:
        engine = Engine(station, budget=budget)

        async def one(number: int) -> Answer | Failure:
            prompt = f"Question {number}, in {number * 37 % 90 + 5} words."
            return await engine.ask(Request.of(endpoint, prompt, **more))

        async for _ in engine.map(range(rows), one, window=64):
            pass
        return engine


@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    cents=st.integers(0, 3),
    thousandths=st.integers(0, 99),
    concurrency=st.integers(1, 40),
    most=st.one_of(st.none(), st.integers(20, 200)),
)
def test_a_cap_in_dollars_holds_up_to_what_was_in_flight(
    cents: int, thousandths: int, concurrency: int, most: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    cap = Decimal(cents) / 100 + Decimal(thousandths) / 100_000
    path = tmp_path_factory.mktemp("budget") / "journal.db"
    more = {} if most is None else {"max_tokens": most}
    engine = asyncio.run(spend(path, Budget(dollars=cap), 300, concurrency, **more))
    dearest = Decimal("0.0006")
    assert engine.progress.cost <= cap + concurrency * dearest


async def test_a_cap_in_tokens_stops_the_run_and_says_what_is_spent(tmp_path: Path) -> None:
    engine = await spend(tmp_path / "journal.db", Budget(tokens=2000), 300, 16, max_tokens=100)
    used = engine.progress.input_tokens + engine.progress.output_tokens
    assert 1500 <= used <= 2000 + 16 * 20, "the 95th percentile is no bound, but close"
    assert engine.stop.failure is not None
    assert engine.stop.failure.kind is FailureKind.BUDGET
    assert "of the limit of 2,000 tokens" in engine.stop.failure.message


async def test_a_budget_of_nothing_sends_nothing(tmp_path: Path) -> None:
    engine = await spend(tmp_path / "journal.db", Budget(dollars=Decimal(0)), 50, 16)
    assert engine.progress.asked == 0
    assert engine.progress.failures == {FailureKind.BUDGET: engine.progress.failures.total()}


async def test_what_is_recorded_is_free_whatever_the_budget(tmp_path: Path) -> None:
    await spend(tmp_path / "journal.db", Budget(), 30, 16)
    engine = await spend(tmp_path / "journal.db", Budget(dollars=Decimal(0)), 30, 16)
    assert engine.progress.recorded == 30
    assert not engine.stop.thrown


async def test_the_cap_is_nearly_used_up_though_reserves_are_generous(tmp_path: Path) -> None:
    cap = Decimal("0.01")
    engine = await spend(tmp_path / "journal.db", Budget(dollars=cap), 600, 32, max_tokens=200)
    assert cap * Decimal("0.9") <= engine.progress.cost <= cap * Decimal("1.1")


async def test_who_came_first_is_served_first() -> None:
    """A small question does not slip past a large one that waits for the same money."""
    progress, stop, done = Progress(), Stop(), list[str]()
    purse = Purse(Budget(tokens=100), progress)
    large, small = Estimate(1, 80, 0), Estimate(1, 10, 0)
    first = await purse.reserve(large, None, stop)
    assert isinstance(first, Held)

    async def ask(name: str, estimate: Estimate) -> None:
        assert isinstance(await purse.reserve(estimate, None, stop), Held)
        done.append(name)

    async with asyncio.TaskGroup() as tasks:
        for name, estimate in (("large", large), ("small", small), ("smaller", small)):
            tasks.create_task(ask(name, estimate))
            await asyncio.sleep(0)
        assert done == []
        purse.settle(first)
    assert done == ["large", "small", "smaller"]
