"""One answer on its way out, piece by piece, until it is sent or the client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.simulator.delivery import Delivery
from penstock.simulator.http import Exchange
from penstock.simulator.ledger import Ledger

__all__ = ["Serving"]


class Serving:
    """Writes a delivery. It keeps to the ledger it was noted in, should that be emptied."""

    __slots__ = ("_delivery", "_ended", "_exchange", "_ledger", "_next", "_number", "_timer")

    def __init__(
        self,
        exchange: Exchange,
        delivery: Delivery,
        ledger: Ledger,
        number: int,
        ended: Callable[[], None],
    ) -> None:
        self._exchange = exchange
        self._delivery = delivery
        self._ledger = ledger
        self._number = number
        self._ended = ended
        self._next = 0
        self._timer: asyncio.TimerHandle | None = None
        exchange.on_gone = self._gone

    def start(self, loop: asyncio.AbstractEventLoop, delay: float) -> None:
        """Begin now or after a delay."""
        if delay > 0:
            self._timer = loop.call_later(delay, self._step, loop)
        else:
            self._step(loop)

    def _step(self, loop: asyncio.AbstractEventLoop) -> None:
        delivery = self._delivery
        written = self._exchange.write(delivery.pieces[self._next])
        self._next += 1
        if written and self._next < len(delivery.pieces):
            self._timer = loop.call_later(delivery.gap, self._step, loop)
            return
        self._end(written and not delivery.close)
        self._exchange.finish(close=delivery.close)

    def _gone(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._end(False)

    def _end(self, complete: bool) -> None:
        delivery = self._delivery
        status = delivery.status if self._next else 0
        self._ledger.finish(self._number, status, complete, delivery.prompt, delivery.completion)
        self._ended()
