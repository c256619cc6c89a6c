"""The limiter against servers of every temper, on a virtual clock."""

from __future__ import annotations

import asyncio
import random

import pytest

from penstock.endpoint import Limits
from penstock.engine.clock import VirtualClock
from penstock.engine.lease import Settlement
from penstock.engine.limits import AdaptiveLimiter
from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind
from tests.engine.virtual import REQUEST, Server, drive

THROTTLED = FailureKind.RATE_LIMITED


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("burst", [1.0, 60.0])
@pytest.mark.parametrize("on_arrival", [True, False])
async def test_requests_a_minute_are_used_to_the_full_and_hardly_ever_exceeded(
    known: bool, burst: float, on_arrival: bool
) -> None:
    clock = VirtualClock()
    server = Server(clock, rpm=3000, burst=burst, counts_on_arrival=on_arrival)
    limits = Limits(requests_per_minute=3000) if known else Limits()
    limiter = AdaptiveLimiter(limits, clock, most=256)
    count = 6000
    took = await drive(clock, limiter, server, count, 400)
    ideal = (count - 50 * burst) / 50
    assert took <= 1.05 * ideal + 2 * server.latency
    assert server.share(THROTTLED) < 0.005


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("spread", [0, 100])
async def test_tokens_a_minute_are_used_to_the_full_and_hardly_ever_exceeded(
    known: bool, spread: int
) -> None:
    clock = VirtualClock()
    server = Server(clock, tpm=300_000, burst=2, spread=spread)
    limits = Limits(tokens_per_minute=300_000) if known else Limits()
    limiter = AdaptiveLimiter(limits, clock, most=256)
    count = 2000
    took = await drive(clock, limiter, server, count, 400)
    ideal = (count * server.tokens - 10_000) / 5000
    assert took <= 1.05 * ideal + 2 * server.latency
    assert server.share(THROTTLED) < 0.005


@pytest.mark.parametrize("burst", [0.1, 1.0])
@pytest.mark.parametrize("says_retry_after", [True, False])
@pytest.mark.parametrize("claimed", [None, 6000])
async def test_a_storm_of_429_calms_down_without_a_word_about_limits(
    burst: float, says_retry_after: bool, claimed: int | None
) -> None:
    clock = VirtualClock()
    server = Server(
        clock, rpm=3000, burst=burst, says_limits=False, says_retry_after=says_retry_after
    )
    limiter = AdaptiveLimiter(Limits(requests_per_minute=claimed), clock, most=256)
    await drive(clock, limiter, server, 2000, 400)
    end = server.log[-1][0]
    assert server.share(THROTTLED, since=10) <= 0.05
    assert server.answered(10, end) >= 0.9 * 50 * (end - 10)


async def test_a_few_refusals_that_are_not_about_speed_are_no_reason_to_slow_down() -> None:
    clock = VirtualClock()
    chance = random.Random(2)

    def moody(_: float) -> FailureKind | None:
        return THROTTLED if chance.random() < 0.02 else None

    server = Server(clock, broken=moody, says_limits=False, says_retry_after=False)
    limiter = AdaptiveLimiter(Limits(), clock, most=64)
    await drive(clock, limiter, server, 2500, 400)
    assert server.answered(10, 15) >= 0.85 * 5 * 64 / 0.5


async def test_slow_answers_do_not_keep_a_limit_from_being_used() -> None:
    clock = VirtualClock()
    server = Server(clock, latency=3.0, rpm=1200, burst=1, says_limits=False)
    limiter = AdaptiveLimiter(Limits(), clock, most=256)
    await drive(clock, limiter, server, 1000, 400)
    assert server.answered(15, 45) >= 0.9 * 20 * 30
    assert server.share(THROTTLED, since=10) <= 0.05


async def test_nobody_waits_for_hours() -> None:
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(concurrency=2), clock, most=2)
    lease = await limiter.lease(REQUEST, Stop())
    other = await limiter.lease(REQUEST, Stop())
    assert not isinstance(lease, Failure) and not isinstance(other, Failure)
    waiting = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    await clock.advance(0)
    lease.settle(Settlement.failed(THROTTLED, None, 6 * 3600.0, 0.1))
    refused = await waiting
    assert isinstance(refused, Failure) and refused.kind is THROTTLED
    assert "another 6.0 h" in refused.message
    assert isinstance(await limiter.lease(REQUEST, Stop()), Failure)
    await clock.advance(6 * 3600)
    assert not isinstance(await limiter.lease(REQUEST, Stop()), Failure)


async def test_nothing_is_sent_before_retry_after_has_passed() -> None:
    clock = VirtualClock()
    server = Server(clock, rpm=600, burst=1, says_limits=False)
    limiter = AdaptiveLimiter(Limits(), clock, most=64)
    await drive(clock, limiter, server, 300, 400)
    refused = [when for when, kind in server.log if kind is THROTTLED]
    assert refused
    for when in refused:
        assert not [w for w, _ in server.log if when + 0.021 < w < when + 0.045]


async def test_a_server_that_never_says_429_is_paced_by_where_throughput_stops() -> None:
    clock = VirtualClock()
    server = Server(clock, latency=0.4, saturates_at=40)
    limiter = AdaptiveLimiter(Limits(), clock, most=1000)
    await drive(clock, limiter, server, 6000, 400)
    best = 40 / 0.4
    assert server.answered(30, 50) >= 0.9 * best * 20
    assert limiter.statistics()["concurrency"] < 160, "it does not pile up for nothing"


async def test_the_window_grows_to_what_is_allowed_when_nothing_holds_it() -> None:
    clock = VirtualClock()
    server = Server(clock, latency=0.5)
    limiter = AdaptiveLimiter(Limits(), clock, most=256)
    await drive(clock, limiter, server, 8000, 400)
    assert limiter.statistics()["concurrency"] == 256
    assert server.answered(10, 14) >= 0.9 * 4 * 256 / 0.5


async def test_the_window_does_not_grow_while_it_is_not_used() -> None:
    clock = VirtualClock()
    server = Server(clock, latency=0.1)
    limiter = AdaptiveLimiter(Limits(), clock, most=256)
    for _ in range(50):
        await drive(clock, limiter, server, 3, 10)
    assert limiter.statistics()["concurrency"] <= 8


async def test_an_outage_is_waited_out_with_single_probes_and_ends_at_once() -> None:
    clock = VirtualClock()

    def down(when: float) -> FailureKind | None:
        return FailureKind.OVERLOADED if 5 <= when < 65 else None

    server = Server(clock, latency=0.5, broken=down)
    limiter = AdaptiveLimiter(Limits(concurrency=64), clock, most=64)
    await drive(clock, limiter, server, 6000, 400)
    during = [when for when, _ in server.log if 5 <= when < 65]
    assert len(during) <= 160
    goodput = server.answered(80, 84) / 4
    assert goodput >= 0.9 * 64 / 0.5
    assert limiter.statistics()["outages"] == 1


async def test_the_beginning_of_an_outage_is_found_out_with_few_requests() -> None:
    clock = VirtualClock()

    def down(when: float) -> FailureKind | None:
        return FailureKind.OVERLOADED if 5 <= when < 8 else None

    server = Server(clock, latency=0.5, jitter=0.0, broken=down)  # all 64 at the same moment
    limiter = AdaptiveLimiter(Limits(concurrency=64), clock, most=64)
    await drive(clock, limiter, server, 2000, 400)
    assert len([when for when, kind in server.log if kind is not None]) <= 64 + 16
    assert server.answered(10, 14) >= 0.9 * 4 * 64 / 0.5, "and the window is not narrowed by it"


async def test_one_question_at_a_time_tells_an_endpoint_that_is_not_there() -> None:
    clock = VirtualClock()

    def gone(when: float) -> FailureKind | None:
        return FailureKind.CONNECTION if 5 <= when < 65 else None

    server = Server(clock, latency=0.5, broken=gone)
    limiter = AdaptiveLimiter(Limits(concurrency=1), clock, most=1)
    await drive(clock, limiter, server, 100, 400)
    assert limiter.statistics()["outages"] == 1
    assert len([when for when, _ in server.log if 5 <= when < 65]) <= 40


@pytest.mark.parametrize("spoken", [THROTTLED, FailureKind.INVALID_REQUEST, FailureKind.MALFORMED])
async def test_an_outage_is_over_when_the_server_speaks_whatever_it_says(
    spoken: FailureKind,
) -> None:
    clock = VirtualClock()

    def down(when: float) -> FailureKind | None:
        if 5 <= when < 8:
            return FailureKind.CONNECTION
        return spoken if 8 <= when < 10 else None

    server = Server(clock, broken=down, says_retry_after=False)
    limiter = AdaptiveLimiter(Limits(), clock, most=16)
    took = await drive(clock, limiter, server, 400, 60)
    assert took < 40


async def test_a_probe_that_is_given_back_does_not_leave_the_endpoint_down_for_ever() -> None:
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(), clock, most=32)
    while not limiter.down:
        lease = await limiter.lease(REQUEST, Stop())
        assert not isinstance(lease, Failure)
        await clock.advance(0.01)
        lease.settle(Settlement.failed(FailureKind.CONNECTION, None, None, 0.01))
    probe = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    await clock.advance(0.7)
    lease = probe.result()
    assert not isinstance(lease, Failure)
    lease.settle(Settlement.failed(FailureKind.CANCELLED, None, None, 0.0))
    after = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    await clock.advance(1.0)
    assert after.done() and not isinstance(after.result(), Failure)


@pytest.mark.parametrize(("answers_until", "patience"), [(0.6, 900), (0, 60)])
async def test_an_outage_that_outlasts_patience_fails_those_who_wait(
    answers_until: float, patience: float
) -> None:
    """With one that has never answered there is less of it."""
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(), clock, most=16, patience=900)
    server = Server(
        clock, broken=lambda when: FailureKind.CONNECTION if when >= answers_until else None
    )
    outcomes: list[Failure] = []

    async def one() -> None:
        while True:
            lease = await limiter.lease(REQUEST, Stop())
            if isinstance(lease, Failure):
                outcomes.append(lease)
                return
            lease.settle(await server.ask())

    async with asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(one())
        for _ in range(4000):
            await clock.advance(0.25)
            if len(outcomes) == 20:
                break
        assert len(outcomes) == 20
    assert patience - 10 <= clock.now() - server.began <= patience + 100
    assert f"down for {patience / 60:.0f} min" in outcomes[0].message


async def test_a_failing_server_is_no_reason_to_slow_down() -> None:
    clock = VirtualClock()
    flip = [0]

    def flaky(_: float) -> FailureKind | None:
        flip[0] += 1
        return FailureKind.SERVER if flip[0] % 5 == 0 else None

    server = Server(clock, latency=0.5, broken=flaky)
    limiter = AdaptiveLimiter(Limits(), clock, most=64)
    await drive(clock, limiter, server, 3000, 400)
    assert limiter.statistics()["concurrency"] == 64
    assert limiter.statistics()["cuts"] == 0


async def test_one_burst_of_429_is_one_cut() -> None:
    clock = VirtualClock()

    def burst(when: float) -> FailureKind | None:
        return THROTTLED if 5 <= when < 5.3 else None

    server = Server(clock, latency=0.5, broken=burst, says_retry_after=False)
    limiter = AdaptiveLimiter(Limits(), clock, most=64)
    await drive(clock, limiter, server, 2000, 400)
    assert 1 <= limiter.statistics()["cuts"] <= 2


async def test_a_request_larger_than_the_bucket_passes_alone() -> None:
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(tokens_per_minute=60), clock, most=8)
    server = Server(clock, tokens=150)
    took = await drive(clock, limiter, server, 3, 1000)
    assert took < 700


async def test_everyone_who_waits_is_told_when_the_endpoint_is_closed() -> None:
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(concurrency=1), clock, most=8)
    lease = await limiter.lease(REQUEST, Stop())
    assert not isinstance(lease, Failure)
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(limiter.lease(REQUEST, Stop())) for _ in range(5)]
        await clock.advance(0)
        limiter.close(Failure(FailureKind.QUOTA, "no credit"))
    assert {task.result().kind for task in waiting} == {FailureKind.QUOTA}  # type: ignore[union-attr]
    assert isinstance(await limiter.lease(REQUEST, Stop()), Failure)


async def test_cancelled_and_stopped_waiters_leave_no_hole() -> None:
    clock = VirtualClock()
    limiter = AdaptiveLimiter(Limits(concurrency=2), clock, most=2)
    stop = Stop()
    held = [await limiter.lease(REQUEST, Stop()) for _ in range(2)]
    cancelled = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    stopped = asyncio.ensure_future(limiter.lease(REQUEST, stop))
    patient = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    await clock.advance(0)
    cancelled.cancel()
    stop.throw()
    await clock.advance(0)
    server = Server(clock)
    settlement = asyncio.ensure_future(server.ask())
    await clock.advance(2)
    for lease in held:
        assert not isinstance(lease, Failure)
        lease.settle(await settlement)
    await clock.advance(0)
    assert isinstance(stopped.result(), Failure)
    assert not isinstance(patient.result(), Failure)
    assert limiter.statistics()["in_flight"] == 1
    await asyncio.gather(cancelled, return_exceptions=True)
