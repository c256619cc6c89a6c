"""A long body on its way out, never more of it in memory than the client is ready to take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from penstock.simulator.http import Exchange, status_line
from penstock.simulator.ledger import Ledger

__all__ = ["Outflow", "Pouring"]


class Outflow(NamedTuple):
    """A body by its pieces; `cut` closes the connection when half of it is sent."""

    pieces: Iterator[bytes]
    length: int
    content_type: bytes = b"application/octet-stream"
    cut: bool = False


class Pouring:
    """Writes an outflow as fast as the client reads it."""

    __slots__ = ("_ended", "_exchange", "_ledger", "_left", "_number", "_outflow")

    def __init__(
        self,
        exchange: Exchange,
        outflow: Outflow,
        ledger: Ledger,
        number: int,
        ended: Callable[[], None],
    ) -> None:
        self._exchange = exchange
        self._outflow = outflow
        self._ledger = ledger
        self._number = number
        self._ended = ended
        self._left = outflow.length // 2 if outflow.cut else outflow.length
        exchange.on_gone = self._gone

    def start(self, headers: bytes) -> None:
        """Send the head and as much as fits."""
        outflow = self._outflow
        told = b"content-type: %b\r\ncontent-length: %d\r\n" % (
            outflow.content_type,
            outflow.length,
        )
        self._exchange.write(status_line(200) + told + headers + b"\r\n")
        self._go_on()

    def _go_on(self) -> None:
        exchange = self._exchange
        while self._left > 0:
            if not exchange.open:
                return
            if exchange.full:
                exchange.on_drained = self._go_on
                return
            piece = next(self._outflow.pieces)[: self._left]
            self._left -= len(piece)
            exchange.write(piece)
        exchange.on_gone = None
        cut = self._outflow.cut
        self._ledger.finish(self._number, 200, not cut)
        exchange.finish(close=cut)
        self._ended()

    def _gone(self) -> None:
        self._ledger.finish(self._number, 200, False)
        self._ended()
