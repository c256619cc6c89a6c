"""What a job would take, before it is run: questions, tokens, dollars."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from penstock.engine.station import Station
from penstock.engine.users import Raised, settle
from penstock.errors import InputError
from penstock.generate.functions import called
from penstock.generate.occurrences import Occurrences
from penstock.generate.plan import Plan
from penstock.outcome import Usage
from penstock.request import Request
from penstock.store import Record
from penstock.tables import RowSource
from penstock.tokens import Price, count_request

__all__ = ["Projection", "project", "project_all"]

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
    price_source: str
    faulty: int
    """Rows whose prompt cannot be made."""

    def __str__(self) -> str:
        cost = "unknown: no price is known" if self.cost is None else f"${self.cost:.4f}"
        faulty = f"; no prompt can be made of {self.faulty:,} rows" if self.faulty else ""
        return (
            f"{self.questions:,} questions ({self.recorded:,} answered already), about "
            f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out; cost {cost}{faulty}"
        )


async def project(
    station: Station, plan: Plan, source: RowSource, price: Price | None
) -> Projection:
    """Count every question of a source that can be read again; the recorded ones cost nothing."""
    if not source.repeatable:
        raise InputError(
            "an estimate reads the whole dataset, and a generator can be read only once",
            remedy="Give a list, a table or a file.",
        )
    count = _Count(plan, price)
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
    return count.projection()


def project_all(plan: Plan, source: RowSource, price: Price | None) -> Projection:
    """Count every question, as if none had been asked before; without a workspace, here and now.

    For prompts that are made by no function of the user's.
    """
    count = _Count(plan, price)
    seen = None if plan.dedupe else Occurrences()
    for rows in source.blocks(_BLOCK):
        made = [_requests(plan, row, called(plan.ask, row), seen) for row in rows]
        requests = count.questions(made)
        count.add(requests, [None] * len(requests))
    return count.projection()


class _Count:
    """The sums so far."""

    def __init__(self, plan: Plan, price: Price | None) -> None:
        self._price = price
        self._met = Occurrences() if plan.dedupe else None
        self._rows = self._faulty = 0
        self._questions = self._recorded = 0
        self._input = self._output = 0
        self._cost = Decimal(0)

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
        if self._price is not None:  # one by one: long questions may have a price of their own
            self._cost += self._price.cost(usage)

    def projection(self) -> Projection:
        price = self._price
        return Projection(
            self._rows,
            self._questions,
            self._recorded,
            self._input,
            self._output,
            None if price is None else self._cost,
            "" if price is None else price.source,
            self._faulty,
        )


def _most(request: Request) -> int:
    params = request.params
    most = params.get("max_tokens") or params.get("max_completion_tokens")
    return most if isinstance(most, int) else _GUESS


def _requests(plan: Plan, row: Any, prompt: Any, seen: Occurrences | None) -> Any:
    return prompt if isinstance(prompt, Raised) else called(plan.requests, row, prompt, seen)
