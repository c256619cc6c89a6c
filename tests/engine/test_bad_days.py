"""Promises L1 to L7: storms, outages, dead accounts, caps, time-outs and nonsense.

The judge is the ledger of a real server in another process; minutes are scaled to seconds.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.endpoint import Endpoint, Limits, Prices
from penstock.engine.budget import Budget
from penstock.engine.engine import Engine
from penstock.engine.progress import Progress
from penstock.engine.retries import RetryPolicy
from penstock.engine.station import Station
from penstock.outcome import Answer, Failure, FailureKind, Outcome
from penstock.request import Request
from penstock.simulator import Simulator
from penstock.store import Journal
from tests.engine.nonsense import NonsenseServer, replies

Entry = dict[str, Any]


@pytest.fixture(autouse=True)
def _calm_again(simulator: Simulator) -> Iterator[None]:
    yield
    simulator.set(burst=60.0)


@asynccontextmanager
async def engine_of(concurrency: int, retries: RetryPolicy | None = None) -> AsyncIterator[Engine]:
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.db")
        async with Station(journal, concurrency=concurrency, drain=5) as station:
            yield Engine(station, retries=retries)


async def ask_all(engine: Engine, endpoint: Endpoint, rows: Iterable[int]) -> list[Outcome]:
    """Every row once, more of them at hand than may be in flight."""

    async def work(row: int) -> Outcome:
        return await engine.ask(Request.of(endpoint, f"Say something about number {row}."))

    return [outcome async for _, _, outcome in engine.map(rows, work, window=600)]


def failures(outcomes: list[Outcome]) -> list[Failure]:
    return [outcome for outcome in outcomes if isinstance(outcome, Failure)]


def rate(ledger: list[Entry], since: float, until: float) -> float:
    """Answers a second, in seconds after the first request."""
    began = ledger[0]["time"]
    done: list[float] = [e["answered_at"] - began for e in ledger if e["status"] == 200]
    return sum(since <= when < until for when in done) / (until - since)


# L1: storms of 429 -----------------------------------------------------------------------------


async def test_a_429_storm_calms_down_and_the_limit_is_used(
    simulator: Simulator, endpoint: Endpoint
) -> None:
    simulator.set(rpm=3000, burst=0.2, latency="100-200")
    simulator.reset()
    async with engine_of(256) as engine:
        outcomes = await ask_all(engine, endpoint, range(350))
    assert not failures(outcomes)
    ledger = simulator.ledger()
    later = [entry["status"] for entry in ledger if entry["time"] > ledger[0]["time"] + 2]
    assert later.count(429) <= 0.05 * len(later)
    assert rate(ledger, 2, 6.5) >= 0.9 * 50


async def test_nothing_is_sent_before_retry_after_has_passed(
    simulator: Simulator, endpoint: Endpoint
) -> None:
    # A bucket of one: whoever is refused is told to wait until the next falls into it.
    between = 0.3
    simulator.set(rpm=int(60 / between), burst=between, latency="10")
    simulator.reset()
    async with engine_of(256) as engine:
        outcomes = await ask_all(engine, endpoint, range(16))
    assert not failures(outcomes)
    ledger = simulator.ledger()
    passed = [entry["time"] for entry in ledger if entry["status"] == 200]
    refused = [entry for entry in ledger if entry["status"] == 429]
    assert refused
    for entry in refused:
        may_come = max(when for when in passed if when <= entry["time"]) + between
        told = entry["answered_at"] + 0.03  # what was on its way to the server did not know
        early = [e for e in ledger if told < e["time"] < may_come - 0.01]
        assert not early, "it was told to wait"


async def test_refusals_for_no_reason_hold_everyone_as_long_as_they_say(
    simulator: Simulator, endpoint: Endpoint
) -> None:
    simulator.set(errors="429:0.03", latency="30")  # with a Retry-After of 100 ms
    simulator.reset()
    async with engine_of(64) as engine:
        outcomes = await ask_all(engine, endpoint, range(400))
    assert not failures(outcomes)
    ledger = simulator.ledger()
    refused = [entry["answered_at"] for entry in ledger if entry["status"] == 429]
    assert refused
    for when in refused:
        assert not [e for e in ledger if when + 0.04 < e["time"] < when + 0.095]


# L2: an outage ---------------------------------------------------------------------------------


async def test_an_outage_is_waited_out_with_few_requests_and_no_row_fails(
    simulator: Simulator, endpoint: Endpoint
) -> None:
    simulator.set(outages="1.5-5", latency="300")
    simulator.reset()
    once = RetryPolicy(max_retries=1)  # so that a row fails if attempts in the outage count
    async with engine_of(64, once) as engine:
        outcomes = await ask_all(engine, endpoint, range(1200))
        statistics = engine.station.statistics()[endpoint.label]
    assert not failures(outcomes)
    assert statistics["outages"] == 1
    ledger = simulator.ledger()
    down = [entry["time"] for entry in ledger if entry["status"] == 503]
    assert len(down) <= 140, "160 in a minute, less the probes of its other 56 seconds"
    back = min(e["time"] for e in ledger if e["time"] > down[-1] and e["status"] == 200)
    assert back - down[-1] <= 4.0
    since = back - ledger[0]["time"] + 1.5
    assert rate(ledger, since, since + 1) >= 0.9 * 64 / 0.3


# L3: what no retry can mend ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        ({"errors": "401:1"}, FailureKind.AUTHENTICATION),
        ({"errors": "403:1"}, FailureKind.PERMISSION),
        ({"quota": 100}, FailureKind.QUOTA),
    ],
)
async def test_fatal_errors_stop_their_endpoint_at_once_and_no_other(
    simulator: Simulator,
    endpoint: Endpoint,
    offline: Endpoint,
    trouble: dict[str, Any],
    kind: FailureKind,
) -> None:
    simulator.set(**trouble, latency="50")
    simulator.reset()
    async with engine_of(32) as engine, asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(ask_all(engine, endpoint, range(1000)))
        other = tasks.create_task(ask_all(engine, offline, range(100)))
    found = failures(asked.result())
    assert {failure.kind for failure in found} == {kind}
    assert len(found) == 1000 - trouble.get("quota", 0)
    assert all("was stopped" in failure.message for failure in found if not failure.attempts)
    assert not failures(other.result())
    refused = [entry for entry in simulator.ledger() if entry["status"] != 200]
    assert len(refused) <= 32, "no more than were in flight"
    told = min(entry["answered_at"] for entry in refused)
    assert not [entry for entry in refused if entry["time"] > told + 0.25]


# L4: spend -------------------------------------------------------------------------------------


@given(
    input_price=st.integers(0, 500),
    output_price=st.integers(1, 2000),
    cap=st.decimals("0.0001", "0.02", places=4),
    concurrency=st.integers(1, 24),
    lengths=st.lists(st.integers(1, 60), min_size=30, max_size=60),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_dollars_are_never_above_the_cap_and_what_was_in_flight(
    input_price: int, output_price: int, cap: Decimal, concurrency: int, lengths: list[int]
) -> None:
    prices = Prices(Decimal(input_price), Decimal(output_price))
    outcomes, progress = await spend(Budget(dollars=cap), concurrency, lengths, prices)
    costs = [outcome.cost or Decimal(0) for outcome in outcomes if isinstance(outcome, Answer)]
    assert progress.cost == sum(costs)
    assert progress.cost <= cap + concurrency * max(costs, default=Decimal(0))
    assert {failure.kind for failure in failures(outcomes)} <= {FailureKind.BUDGET}


@given(
    cap=st.integers(10, 4000),
    concurrency=st.integers(1, 24),
    lengths=st.lists(st.integers(1, 60), min_size=30, max_size=60),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_tokens_are_never_above_the_cap_and_what_was_in_flight(
    cap: int, concurrency: int, lengths: list[int]
) -> None:
    outcomes, progress = await spend(Budget(tokens=cap), concurrency, lengths, None)
    each = [outcome.usage.total_tokens for outcome in outcomes if isinstance(outcome, Answer)]
    spent = progress.input_tokens + progress.output_tokens
    assert spent == sum(each)
    assert spent <= cap + concurrency * max(each, default=0)


async def spend(
    budget: Budget, concurrency: int, lengths: list[int], prices: Prices | None
) -> tuple[list[Outcome], Progress]:
    """Ask for answers of so many words each, under a cap, and again by a resumed run."""
    endpoint = Endpoint("simulated", "simulated", prices=prices, params={"latency": 1})
    limited = endpoint.with_(limits=Limits(concurrency=concurrency))

    async def work(row: tuple[int, int]) -> Outcome:
        prompt = f"Number {row[0]}: write {row[1]} words."
        return await engine.ask(Request.of(limited, prompt, max_tokens=3 * row[1]))

    with tempfile.TemporaryDirectory() as folder:
        async with Station(Journal(Path(folder) / "journal.db"), drain=5) as station:
            engine = Engine(station, run="spender", budget=budget)
            rows = list(enumerate(lengths))
            outcomes = [outcome async for _, _, outcome in engine.map(rows, work, window=64)]
            progress = engine.progress
            if progress.asked < len(rows):
                resumed = Progress()
                resumed.add(progress.counters())
                engine = Engine(station, run="spender", budget=budget, progress=resumed)
                again = [o async for _, _, o in engine.map(rows, work, window=64)]
                outcomes += [o for o in again if isinstance(o, Answer) and not o.recorded]
                progress = resumed
    return outcomes, progress


# L6: ambiguity ---------------------------------------------------------------------------------


async def test_an_answer_that_comes_after_our_time_out_may_have_been_paid_for(
    simulator: Simulator, endpoint: Endpoint
) -> None:
    simulator.set(latency="1500")
    simulator.reset()
    hasty = endpoint.with_(timeout=0.4)
    async with engine_of(8, RetryPolicy(max_retries=1, first=0.01)) as engine:
        outcomes = await ask_all(engine, hasty, range(5))
    found = failures(outcomes)
    assert len(found) == 5
    assert {(failure.kind, failure.may_be_paid) for failure in found} == {
        (FailureKind.TIMEOUT, True)
    }
    assert {failure.attempts for failure in found} == {2}
    assert engine.progress.may_be_paid >= 5
    assert simulator.summary()["requests"] == 10


async def test_what_was_never_sent_was_not_paid_for(unused_tcp_port: int) -> None:
    nobody = Endpoint("openai", "simulated", f"http://127.0.0.1:{unused_tcp_port}/v1")
    async with engine_of(8, RetryPolicy(max_retries=0)) as engine:
        outcomes = await ask_all(engine, nobody, range(3))
    assert {(f.kind, f.may_be_paid) for f in failures(outcomes)} == {
        (FailureKind.CONNECTION, False)
    }
    assert engine.progress.may_be_paid == 0


# L7: malformed answers -------------------------------------------------------------------------


@pytest.mark.timeout(60)
async def test_a_thousand_malformed_answers_each_end_in_a_state(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bodies = replies(1000, seed=7)
    rows = 2200  # every second one is good, and some meet a connection that was just closed
    before = peak_mb()
    caplog.set_level(logging.ERROR)
    async with NonsenseServer(bodies) as server, engine_of(16, RetryPolicy(0)) as engine:
        endpoint = Endpoint("openai", "nonsense", server.url, timeout=5)
        outcomes = await ask_all(engine, endpoint, range(rows))
        again = await recorded_texts(engine, endpoint, rows)
    assert len(outcomes) == rows
    assert server.sent == len(bodies)
    kinds = {failure.kind for failure in failures(outcomes)}
    assert FailureKind.INTERNAL not in kinds
    assert {FailureKind.MALFORMED, FailureKind.CONNECTION, FailureKind.TOO_LARGE} <= kinds
    assert not [record for record in caplog.records if record.exc_info], "none is uncaught"
    answers = [outcome.text for outcome in outcomes if isinstance(outcome, Answer)]
    assert len(answers) >= len(bodies), "every good one was read"
    assert sorted(again) == sorted(answers), "whatever was taken for an answer is read again"
    assert peak_mb() - before < 400


async def recorded_texts(engine: Engine, endpoint: Endpoint, rows: int) -> list[str]:
    reading = Engine(engine.station, cache="read")
    outcomes = await ask_all(reading, endpoint, range(rows))
    return [outcome.text for outcome in outcomes if isinstance(outcome, Answer)]


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
