"""What the desk asks of an API's batches: who answers a path, how a line is read and written.

An API per provider implements `BatchApi`; the machine that works a batch off knows none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import parse_qsl

from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.http import Exchange
from penstock.simulator.pouring import Outflow

if TYPE_CHECKING:
    from penstock.simulator.batch import Batch

__all__ = [
    "Answered",
    "BatchApi",
    "Errand",
    "Item",
    "Made",
    "query_of",
    "sample_of",
    "whole_number",
]

_SAMPLE = re.compile(r"-sample-(\d{1,18})$")


class Made(NamedTuple):
    """The answer to an errand."""

    body: bytes
    headers: bytes = b""


class Errand(NamedTuple):
    """A request around a batch: what answers it, and which faults may meet it."""

    api: Api
    work: Callable[[Exchange], Made | Outflow]
    kind: str = ""
    """`create`, `poll`, or neither."""
    keyed: bool = True


class Item(NamedTuple):
    """One line of a batch as a request: its id, the path and headers it would have had online."""

    id: str
    body: dict[str, Any]
    path: str
    headers: Mapping[bytes, bytes] = {}
    problem: Problem | None = None
    extra: Any = None
    """What the API itself keeps for the answer."""


class Answered(NamedTuple):
    """What became of a line: its number in the ledger, a status, and a body in the API's words."""

    number: int
    status: int
    body: bytes
    problem: Problem | None = None


class BatchApi(Protocol):
    """The batches of one wire protocol."""

    api: Api

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request, if it is for this API."""
        ...

    def check(self, batch: Batch) -> Iterator[None]:
        """Validate a batch after it was made, a little at a time; leaves `batch.errors`."""
        ...

    def item(self, batch: Batch, line: bytes) -> Item:
        """Read a line."""
        ...

    def tiered(self, asked: Asked) -> Asked:
        """The same request as a batch's."""
        ...

    def result(self, batch: Batch, item: Item, answered: Answered) -> None:
        """Write down what became of a line."""
        ...

    def undone(self, batch: Batch, item: Item, why: str) -> None:
        """Write down that a line was not asked: `expired` or `cancelled`."""
        ...

    def ended(self, batch: Batch) -> None:
        """The batch has come to its end."""
        ...


def query_of(exchange: Exchange) -> dict[str, str]:
    """The query of a request."""
    return dict(parse_qsl(exchange.head.query))


def whole_number(text: str | None, default: int, most: int) -> int | None:
    """A number from 1 to the most; None when it is none."""
    if text is None:
        return default
    return int(text) if text.isdigit() and 1 <= int(text) <= most else None


def sample_of(name: str) -> int:
    """The number of the draw that a line's id asks for, as in `row7-sample-2`."""
    found = _SAMPLE.search(name)
    return int(found[1]) if found else 0
