"""The user thread: people's functions, sync or async, beside the engine and never in its way."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from penstock.engine.users import Raised, UserThread


@pytest.fixture
def users() -> Iterator[UserThread]:
    thread = UserThread()
    yield thread
    thread.close()


async def test_a_block_comes_back_in_order_with_what_was_raised_in_its_place(
    users: UserThread,
) -> None:
    def half(number: int) -> float:
        return 10 / number

    one, zero, five = await users.call(half, [(1,), (0,), (5,)])
    assert (one, five) == (10, 2)
    assert isinstance(zero, Raised) and isinstance(zero.error, ZeroDivisionError)


async def test_async_functions_of_a_block_run_side_by_side(users: UserThread) -> None:
    meeting: asyncio.Event | None = None
    here = 0

    async def meet(number: int) -> int:
        nonlocal meeting, here
        meeting = meeting or asyncio.Event()
        here += 1
        if here == 5:
            meeting.set()
        await asyncio.wait_for(meeting.wait(), 5)
        return number

    assert await users.call(meet, [(n,) for n in range(5)]) == [0, 1, 2, 3, 4]


async def test_a_function_that_blocks_does_not_block_the_caller_s_loop(users: UserThread) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.ensure_future(tick())
    await users.call(time.sleep, [(0.2,)])
    ticking.cancel()
    assert ticks >= 10


async def test_all_functions_run_in_one_thread_that_is_not_ours(users: UserThread) -> None:
    names = await users.call(lambda: threading.get_ident(), [()] * 3)
    more = await users.call(lambda: threading.get_ident(), [()])
    assert len({*names, *more}) == 1
    assert names[0] != threading.get_ident()


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_user_s_generator_is_taken_block_by_block(users: UserThread, kind: str) -> None:
    def numbers() -> Iterator[int]:
        yield from range(7)
        raise OSError("no more")

    async def async_numbers() -> AsyncIterator[int]:
        for number in numbers():
            yield number

    iterator = numbers() if kind == "sync" else async_numbers()
    assert await users.take(iterator, 5) == [0, 1, 2, 3, 4]
    *rest, last = await users.take(iterator, 5)
    assert rest == [5, 6]
    assert isinstance(last, Raised) and isinstance(last.error, OSError)


async def test_what_is_posted_may_fail_without_a_word(users: UserThread) -> None:
    seen: list[str] = []
    users.post(lambda: 1 / 0)
    users.post(seen.append, "shown")
    await users.call(lambda: None, [()])
    assert seen == ["shown"]
