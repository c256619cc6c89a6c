"""What a job would take, before it is run: questions, tokens, dollars."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from penstock.engine.lanes import LaneWish, Prospect, has_batches, lane_for
from penstock.engine.station import Station
from penstock.engine.users import Raised, settle
from penstock.errors import InputError
from penstock.generate.functions import called
from penstock.generate.occurrences import Occurrences
from penstock.generate.plan import Plan
from penstock.outcome import Usage
from penstock.request import Request
from penstock.store import Record
from penstock.store.batches import BatchStore
from penstock.tables import RowSource
from penstock.tokens import Lane, Price, PriceList, count_request

__all__ = ["Projection", "Rates", "project", "project_all"]

_BLOCK = 256
_GUESS = 512


class Projection(NamedTuple):
    """What a job would take."""

    rows: int
    questions: int
    """With `dedupe`, equal ones count once."""
    recorded: int
    """Of these, answered in the journal already: they cost nothing."""
    input_tokens: int
    output_tokens: int
    """The most where max_tokens is given, else a plain guess."""
    cost: Decimal | None
    """Dollars if they are asked online."""
    price_source: str
    faulty: int
    """Rows whose prompt cannot be made."""
    waiting: int = 0
    """Of the others, in batches that are not collected yet."""
    batch_cost: Decimal | None = None
    """Dollars if they go by batch, where that can be."""
    lane: Lane = "online"
    """The one that the job takes."""

    def __str__(self) -> str:
        known = f"{self.recorded:,} answered already"
        known += f", {self.waiting:,} in batches" if self.waiting else ""
        faulty = f"; no prompt can be made of {self.faulty:,} rows" if self.faulty else ""
        return (
            f"{self.questions:,} questions ({known}), about {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out; {self._costs()}{faulty}"
        )

    def _costs(self) -> str:
        if self.cost is None:
            cost = "cost unknown: no price is known"
            return f"by batch; {cost}" if self.lane == "batch" else cost
        if self.batch_cost is None:
            return f"cost ${self.cost:.4f}"
        if self.lane == "batch":
            return f"by batch; cost ${self.batch_cost:.4f} (online ${self.cost:.4f})"
        return f"cost ${self.cost:.4f} (by batch ${self.batch_cost:.4f})"


class Rates(NamedTuple):
    """What tokens cost in each lane; None where nobody knows."""

    online: Price | None
    batch: Price | None
    """None also where there is no such lane."""
    has_batches: bool

    @classmethod
    def of(cls, prices: PriceList, plan: Plan, lane: LaneWish = "online") -> Rates:
        """Those of a plan; a batch lane that is demanded is taken to be there."""
        there = lane == "batch" or has_batches(plan.endpoint)
        batch = prices.price(plan.endpoint, "batch") if there else None
        return cls(prices.price(plan.endpoint), batch, there)


async def project(
    station: Station,
    plan: Plan,
    source: RowSource,
    rates: Rates,
    lane: LaneWish = "online",
    *,
    store: BatchStore | None = None,
    briefly: bool = False,
) -> Projection:
    """Count every question of a source that can be read again; the recorded ones cost nothing.

    `store` knows what lies in batches. `briefly`: only until the rule of `auto` says batch.
    """
    if not source.repeatable:
        raise InputError(
            "an estimate reads the whole dataset, and a generator can be read only once",
            remedy="Give a list, a table or a file.",
        )
    count = _Count(plan, rates)
    seen = None if plan.dedupe else Occurrences()
    blocks = source.blocks(_BLOCK)

    async def block() -> Any:
        rows = next(blocks, None)
        if rows is None:
            return None
        prompts = await settle([called(plan.ask, row) for row in rows])
        return [
            _requests(plan, row, prompt, seen) for row, prompt in zip(rows, prompts, strict=True)
        ]

    while (made := await station.users.run(block)) is not None:
        requests = count.questions(made)
        found: list[Any] = [None] * len(requests)
        if plan.cache in ("use", "read") and requests:
            found = await station.journal.find_many([request.key for request in requests])
        count.add(requests, found)
        if store is not None:
            count.waiting += _in_batches(store, requests, found)
        if briefly and lane_for(count.prospect) == "batch":
            break
    made_lane = lane_for(count.prospect) if lane == "auto" else lane
    return count.projection()._replace(lane=made_lane)


def _in_batches(store: BatchStore, requests: list[Request], found: list[Any]) -> int:
    keys = [r.key for r, record in zip(requests, found, strict=True) if record is None]
    return sum(bool(known.batch) for known in store.find(keys).values())


def project_all(plan: Plan, source: RowSource, rates: Rates) -> Projection:
    """Count every question, as if none had been asked before; without a workspace, here and now.

    For prompts that are made by no function of the user's.
    """
    count = _Count(plan, rates)
    seen = None if plan.dedupe else Occurrences()
    for rows in source.blocks(_BLOCK):
        made = [_requests(plan, row, called(plan.ask, row), seen) for row in rows]
        requests = count.questions(made)
        count.add(requests, [None] * len(requests))
    return count.projection()


class _Count:
    """The sums so far."""

    def __init__(self, plan: Plan, rates: Rates) -> None:
        self._rates = rates
        self._met = Occurrences() if plan.dedupe else None
        self._rows = self._faulty = 0
        self._questions = self._recorded = 0
        self._input = self._output = 0
        self._cost = self._batch_cost = Decimal(0)
        self.waiting = 0

    @property
    def prospect(self) -> Prospect:
        known = self._rates.online is not None and self._rates.batch is not None
        return Prospect(
            self._rates.has_batches,
            self._questions - self._recorded,
            self.waiting,
            self._cost - self._batch_cost if known else None,
        )

    def questions(self, made: list[Any]) -> list[Request]:
        """The questions of some rows, each once where equal ones share an answer."""
        good = [requests for requests in made if not isinstance(requests, Raised)]
        self._rows += len(made)
        self._faulty += len(made) - len(good)
        requests = [request for requests in good for request in requests]
        if self._met is not None:
            requests = [request for request in requests if not self._met.next(request.key)]
        self._questions += len(requests)
        return requests

    def add(self, requests: list[Request], found: list[Any]) -> None:
        """Count questions, with what the journal has of each."""
        for request, record in zip(requests, found, strict=True):
            if isinstance(record, Record):
                self._recorded += 1
            else:
                self._add(request)

    def _add(self, request: Request) -> None:
        schema = None if request.schema is None else request.schema.schema
        taken = count_request(request.messages, request.endpoint.model, schema, request.tools)
        usage = Usage(taken, _most(request))
        self._input += usage.input_tokens
        self._output += usage.output_tokens
        # One by one: long questions may have a price of their own.
        if self._rates.online is not None:
            self._cost += self._rates.online.cost(usage)
        if self._rates.batch is not None:
            self._batch_cost += self._rates.batch.cost(usage)

    def projection(self) -> Projection:
        price = self._rates.online
        return Projection(
            self._rows,
            self._questions,
            self._recorded,
            self._input,
            self._output,
            None if price is None else self._cost,
            "" if price is None else price.source,
            self._faulty,
            self.waiting,
            None if self._rates.batch is None else self._batch_cost,
        )


def _most(request: Request) -> int:
    params = request.params
    most = params.get("max_tokens") or params.get("max_completion_tokens")
    return most if isinstance(most, int) else _GUESS


def _requests(plan: Plan, row: Any, prompt: Any, seen: Occurrences | None) -> Any:
    return prompt if isinstance(prompt, Raised) else called(plan.requests, row, prompt, seen)
