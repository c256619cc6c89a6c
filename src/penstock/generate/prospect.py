"""What a dataset would take, before anything is sent.

The rows of a schema are made as in a run, but nobody is asked: an answer that is in the journal is
used, any other stands in as so many tokens. Of a large dataset some rows from all over it are
counted and the rest follows from them: those at its beginning may have been answered before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.bridge import run
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.generate.cells import Cells
from penstock.generate.models import Models
from penstock.outcome import Answer, Outcome, Usage
from penstock.providers import provider_of
from penstock.providers.provider import OnText
from penstock.request import Request
from penstock.tokens import Price, count_request

if TYPE_CHECKING:
    from penstock.generate.making import Making

__all__ = ["SchemaProjection", "projected"]

_COUNTED = 200
_GUESS = 512
_WORD = "something "
_SIMULATED = Endpoint("simulated", "simulated")


@dataclass(frozen=True)
class SchemaProjection:
    """What a dataset would take."""

    rows: int
    questions: int
    recorded: int
    """Of these, answered in the journal already: they cost nothing."""
    input_tokens: int
    output_tokens: int
    """The most where max_tokens is given, else a plain guess."""
    cost: Decimal | None
    """Dollars if they are asked online; None where a price is unknown."""
    batch_cost: Decimal | None
    """Dollars if they go by batch, where that can be."""
    counted: int
    """The rows that were counted; the rest follows from them."""

    def __str__(self) -> str:
        about = "" if self.counted == self.rows else f", by {self.counted:,} of the rows"
        known = f"{self.recorded:,} answered already"
        cost = "cost unknown: no price is known" if self.cost is None else f"cost ${self.cost:.4f}"
        batch = "" if self.batch_cost is None else f" (by batch ${self.batch_cost:.4f})"
        return (
            f"{self.rows:,} rows, {self.questions:,} questions ({known}), about "
            f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out; {cost}{batch}"
            f"{about}"
        )


def projected(making: Making) -> Any:
    """The projection; a handle to await inside a running loop."""
    bench = making.bench

    async def work(station: Station) -> SchemaProjection:
        return await _count(station, making)

    return run(bench.thread, work, cancel=lambda: None)


async def _count(station: Station, making: Making) -> SchemaProjection:
    prices = making.bench.prices()
    count = _Count(
        lambda request: prices.price(request.endpoint),
        lambda request: prices.price(request.endpoint, "batch"),
    )
    engine = _Unasked(station, count)
    cells = Cells(making.schema, engine, Models(making.bench), making.seed, pretends=True)
    rows = making.goal.n
    counted = [number * rows // min(rows, _COUNTED) for number in range(min(rows, _COUNTED))]
    async for _ in engine.map(counted, cells.row, window=32):
        pass
    return count.projection(rows, len(counted))


class _Count:
    def __init__(
        self,
        online: Callable[[Request], Price | None],
        batch: Callable[[Request], Price | None],
    ) -> None:
        self._online, self._batch = online, batch
        self.questions = self.recorded = 0
        self._input = self._output = 0
        self._cost: Decimal | None = Decimal(0)
        self._batch_cost: Decimal | None = Decimal(0)

    def add(self, request: Request) -> int:
        """Count a question that would be sent; how long its answer may be."""
        schema = None if request.schema is None else request.schema.schema
        taken = count_request(request.messages, request.endpoint.model, schema, request.tools)
        most = request.params.get("max_tokens") or request.params.get("max_completion_tokens")
        usage = Usage(taken, most if isinstance(most, int) else _GUESS)
        self._input += usage.input_tokens
        self._output += usage.output_tokens
        self._cost = _plus(self._cost, self._online(request), usage)
        self._batch_cost = _plus(self._batch_cost, self._batch(request), usage)
        return usage.output_tokens

    def projection(self, rows: int, counted: int) -> SchemaProjection:
        def all_of(number: int) -> int:
            return number if counted == rows else round(number * rows / counted)

        def all_dollars(cost: Decimal | None) -> Decimal | None:
            return None if cost is None else cost * rows / counted

        return SchemaProjection(
            rows,
            all_of(self.questions),
            all_of(self.recorded),
            all_of(self._input),
            all_of(self._output),
            all_dollars(self._cost),
            all_dollars(self._batch_cost),
            counted,
        )


def _plus(cost: Decimal | None, price: Price | None, usage: Usage) -> Decimal | None:
    return None if cost is None or price is None else cost + price.cost(usage)


class _Unasked(Engine):
    """An engine that finds what is recorded and sends nothing."""

    def __init__(self, station: Station, count: _Count) -> None:
        super().__init__(station)
        self._count = count
        self._stand_in = provider_of(_SIMULATED)(_SIMULATED)
        self._stand_in.open()

    async def ask(
        self, request: Request, *, on_text: OnText | None = None, recalled: bool = False
    ) -> Outcome:
        self._count.questions += 1
        [found] = await self.recall([request])
        if found is not None:
            self._count.recorded += 1
            return found
        tokens = self._count.add(request)
        if request.schema is None:
            return Answer(_WORD * tokens)
        pretended = msgspec.structs.replace(request, endpoint=_SIMULATED, params={}, _key=None)
        return (await self._stand_in.send(pretended)).outcome
