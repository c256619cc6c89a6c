"""Work over rows in the batch lane: pass after pass, until no row waits any more.

In each pass every row that is not done runs its work from the start. Questions that were answered
are found in the journal; the first that was not is spooled, and the row set aside. Then the batches
go out and are collected, and the next pass goes one question further.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from penstock.engine.rows import Rows, mapped, waiting
from penstock.errors import InputError
from penstock.outcome import Failure

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

__all__ = ["Marks", "in_passes"]

Row = TypeVar("Row")
Result = TypeVar("Result")


class Marks:
    """Which numbers are done; a bit each."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, number: int) -> None:
        byte = number >> 3
        if byte >= len(self._bits):
            self._bits.extend(bytes(max(1024, byte + 1 - len(self._bits))))
        self._bits[byte] |= 1 << (number & 7)

    def __contains__(self, number: int) -> bool:
        byte = number >> 3
        return byte < len(self._bits) and bool(self._bits[byte] & 1 << (number & 7))


async def in_passes(
    engine: Engine, rows: Rows[Row], work: Callable[[Row], Awaitable[Result]], window: int
) -> AsyncIterator[tuple[int, Row, Result | Failure]]:
    """See `Engine.map`; the rows are read once for each pass."""
    if not isinstance(rows, Iterable) or isinstance(rows, Iterator):
        raise InputError(
            "the batch lane reads the rows several times",
            remedy="Give a list, or something else that can be iterated again.",
        )
    assert engine.lane is not None
    done = Marks()

    async def numbered(item: tuple[int, Row]) -> Result:
        return await work(item[1])

    while True:
        aside = 0
        left = ((number, row) for number, row in enumerate(rows) if number not in done)
        async for _, (number, row), result in mapped(engine, left, numbered, window):
            if waiting(result):
                aside += 1
                continue
            done.add(number)
            yield number, row, result
        if not aside or not await engine.lane.attend():
            return
