"""Retry decisions, run states, the clock: small pure pieces."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.clock import VirtualClock
from penstock.engine.retries import RetryPolicy
from penstock.engine.states import RunState, advance, exit_code
from penstock.engine.stop import Stop
from penstock.errors import Exit, PenstockError
from penstock.outcome import Failure, FailureKind
from penstock.providers.provider import Sent

kinds = st.sampled_from(list(FailureKind))


@given(kinds, st.integers(1, 50), st.integers(0, 10), st.integers())
def test_a_retry_is_for_what_heals_and_bounded_in_number_and_time(
    kind: FailureKind, attempts: int, most: int, seed: int
) -> None:
    failure = Failure(kind, "")
    policy = RetryPolicy(most)
    decision = policy.decide(failure, Sent(failure), attempts, random.Random(seed))
    assert decision.again == (kind.heals and attempts <= most)
    assert 0 <= decision.wait <= policy.longest
    assert decision.stop_endpoint == kind.stops


@given(st.floats(0, 1e9))
def test_the_server_decides_how_long_to_wait_within_patience(seconds: float) -> None:
    failure = Failure(FailureKind.RATE_LIMITED, "")
    sent = Sent(failure, retry_after=seconds)
    decision = RetryPolicy(patience=900).decide(failure, sent, 1, random.Random(0))
    assert decision.again == (seconds <= 900)
    assert decision.wait == (seconds if decision.again else 0)


@pytest.mark.parametrize("word", [True, False])
def test_the_server_decides_whether_to_ask_again(word: bool) -> None:
    kind = FailureKind.INVALID_REQUEST if word else FailureKind.SERVER
    failure = Failure(kind, "")
    sent = Sent(failure, should_retry=word)
    assert RetryPolicy().decide(failure, sent, 1, random.Random(0)).again is word


def test_waits_grow_and_are_spread_over_their_whole_span() -> None:
    failure = Failure(FailureKind.SERVER, "")
    policy = RetryPolicy(20, first=1.0, longest=8.0)
    chance = random.Random(1)
    for attempts, ceiling in ((1, 1), (2, 2), (3, 4), (4, 8), (9, 8)):
        waits = [policy.decide(failure, Sent(failure), attempts, chance).wait for _ in range(500)]
        assert max(waits) <= ceiling
        assert max(waits) > 0.9 * ceiling and min(waits) < 0.1 * ceiling


def test_the_states_of_a_run_allow_what_can_happen_and_nothing_else() -> None:
    assert advance(RunState.PENDING, RunState.RUNNING) is RunState.RUNNING
    for state in RunState:
        if state.ended:
            assert advance(RunState.RUNNING, state) is state
            assert advance(state, RunState.RUNNING) is RunState.RUNNING, "any run can be resumed"
            with pytest.raises(PenstockError):
                advance(RunState.PENDING, RunState.COMPLETED)
            with pytest.raises(PenstockError):
                advance(state, RunState.PENDING)


def test_every_state_has_its_exit_code() -> None:
    codes = {state: exit_code(state) for state in RunState}
    assert codes[RunState.COMPLETED] == Exit.OK
    assert codes[RunState.COMPLETED_WITH_FAILURES] == Exit.FAILURES
    assert codes[RunState.STOPPED] == Exit.STOPPED
    assert codes[RunState.CANCELLED] == Exit.CANCELLED
    assert all(codes[state] for state in RunState if state is not RunState.COMPLETED)


async def test_a_virtual_clock_moves_only_when_it_is_turned() -> None:
    clock = VirtualClock()
    rung: list[float] = []
    start = clock.now()
    for seconds in (5, 1, 3):
        clock.call_later(seconds, lambda: rung.append(clock.now() - start))
    clock.call_later(2, lambda: rung.append(-1)).cancel()
    await clock.advance(4)
    assert rung == [1, 3]
    assert clock.next_alarm == 1
    await clock.advance(1)
    assert rung == [1, 3, 5]
    assert clock.next_alarm is None


async def test_a_pause_ends_by_the_clock_or_by_the_stop() -> None:
    clock, stop = VirtualClock(), Stop()
    async with asyncio.TaskGroup() as tasks:
        short = tasks.create_task(stop.pause(clock, 10))
        long = tasks.create_task(stop.pause(clock, 10_000))
        await clock.advance(11)
        assert short.done() and not long.done()
        stop.throw(FailureKind.BUDGET, "spent")
        stop.throw(FailureKind.CANCELLED, "later")
    assert stop.failure == Failure(FailureKind.BUDGET, "spent"), "the first reason stands"
    await stop.pause(clock, 10_000)
