"""Leases: never more than allowed, first come first served, nobody forgotten."""

from __future__ import annotations

import asyncio
import random

import pytest

from penstock.endpoint import Endpoint, Limits
from penstock.engine.clock import RealClock
from penstock.engine.lease import Lease, Settlement
from penstock.engine.limits import AdaptiveLimiter
from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind, Usage
from penstock.request import Request

REQUEST = Request.of(Endpoint("simulated", "simulated"), "hello")
DONE = Settlement.answered(Usage(), None, 0.1)
AUTH = Failure(FailureKind.AUTHENTICATION, "wrong key")


def limiter_for(most: int) -> AdaptiveLimiter:
    return AdaptiveLimiter(Limits(concurrency=most), RealClock(), most=most)


async def granted(limiter: AdaptiveLimiter, stop: Stop | None = None) -> Lease:
    lease = await limiter.lease(REQUEST, stop or Stop())
    assert not isinstance(lease, Failure)
    return lease


async def settle_all(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(5))
async def test_never_more_than_allowed_are_out_and_none_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    limiter = limiter_for(5)
    out = most = served = 0

    async def one() -> None:
        nonlocal out, most, served
        lease = await granted(limiter)
        out += 1
        most = max(most, out)
        try:
            for _ in range(chance.randint(0, 4)):
                await asyncio.sleep(0)
            served += 1
        finally:
            out -= 1
            lease.settle(DONE)

    async def impatient() -> None:
        task = asyncio.ensure_future(one())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async with asyncio.TaskGroup() as tasks:
        for number in range(200):
            tasks.create_task(impatient() if number % 7 == 0 else one())
    assert most <= 5
    assert served >= 171, "every patient one was served"
    assert limiter.statistics()["in_flight"] == out == 0


async def test_a_place_goes_to_the_one_who_waited_longest() -> None:
    limiter = limiter_for(1)
    first = await granted(limiter)
    order: list[int] = []

    async def wait(number: int) -> None:
        lease = await granted(limiter)
        order.append(number)
        lease.settle(DONE)

    async with asyncio.TaskGroup() as tasks:
        for number in range(10):
            tasks.create_task(wait(number))
        await settle_all()
        first.settle(DONE)
    assert order == list(range(10))


async def test_a_stop_sends_home_its_own_waiters_and_no_others() -> None:
    limiter = limiter_for(1)
    first = await granted(limiter)
    mine, other = Stop(), Stop()
    async with asyncio.TaskGroup() as tasks:
        sent_home = tasks.create_task(limiter.lease(REQUEST, mine))
        stays = tasks.create_task(limiter.lease(REQUEST, other))
        await settle_all()
        mine.throw()
        await settle_all()
        assert sent_home.done() and not stays.done()
        first.settle(DONE)
    assert isinstance(sent_home.result(), Failure)
    lease = stays.result()
    assert not isinstance(lease, Failure)
    lease.settle(DONE)
    assert limiter.statistics()["in_flight"] == 0


async def test_a_closed_limiter_tells_everyone_why() -> None:
    limiter = limiter_for(1)
    first = await granted(limiter)
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(limiter.lease(REQUEST, Stop())) for _ in range(5)]
        await settle_all()
        limiter.close(AUTH)
    assert [task.result() for task in waiting] == [AUTH] * 5
    assert await limiter.lease(REQUEST, Stop()) == AUTH
    first.settle(DONE)
    assert limiter.statistics()["in_flight"] == 0
    assert limiter.statistics()["stopped"] == "wrong key"


async def test_a_waiter_that_is_cancelled_passes_its_place_on() -> None:
    limiter = limiter_for(1)
    first = await granted(limiter)
    impatient = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    patient = asyncio.ensure_future(limiter.lease(REQUEST, Stop()))
    await settle_all()
    first.settle(DONE)  # the place is handed to the impatient one ...
    impatient.cancel()  # ... who leaves before taking it
    lease = await asyncio.wait_for(patient, 1)
    assert not isinstance(lease, Failure)
    await asyncio.gather(impatient, return_exceptions=True)
