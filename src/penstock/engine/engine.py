"""The engine: `ask` one question, `map` work over rows. Everything else is built on these two.

`ask` is one straight way: key, journal, in flight already?, lane, journal, outcome. The part after
the key flies in a task of the station's own: once begun it ends and is recorded, also when nobody
waits for it any more. It never raises for what a model or a network did.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from penstock.engine.budget import Budget, Purse
from penstock.engine.flights import Flight, FlightName
from penstock.engine.online import Carried, Line
from penstock.engine.passes import in_passes
from penstock.engine.progress import Progress
from penstock.engine.retries import RetryPolicy
from penstock.engine.rows import Rows, SetAside, current_row, mapped, waiting
from penstock.engine.station import Station
from penstock.engine.stop import Stop
from penstock.errors import DamagedError, PenstockError, StoreError
from penstock.outcome import Answer, Failure, FailureKind, Outcome, Usage
from penstock.providers import provider_of
from penstock.providers.provider import MalformedReplyError, OnText
from penstock.request import Request
from penstock.store import Record, RecordKind
from penstock.tokens import Price

if TYPE_CHECKING:
    from penstock.engine.batch import BatchLane

__all__ = ["Cache", "Engine"]

_log = logging.getLogger(__name__)

Cache = Literal["use", "off", "refresh", "read"]
Row = TypeVar("Row")
Result = TypeVar("Result")

# What befalls the run that flies a question, and not the question itself.
_OWN_TROUBLE = frozenset(
    {FailureKind.CANCELLED, FailureKind.HALTED, FailureKind.BUDGET, FailureKind.NOT_RECORDED}
)


class Engine:
    """The engine as one run sees it: its own cache mode, retries, counters and switch."""

    def __init__(
        self,
        station: Station,
        *,
        run: str = "",
        cache: Cache = "use",
        retries: RetryPolicy | None = None,
        progress: Progress | None = None,
        budget: Budget | None = None,
        on_ask: Callable[[int | None, bytes], None] | None = None,
        drain: float = 30.0,
        lane: BatchLane | None = None,
    ) -> None:
        self.station = station
        self.lane = lane
        """The batch lane, where questions do not travel at once."""
        self.parked: Callable[[bytes], bool] | None = None
        """Whether a question lies in an open batch: it is not asked online as well."""
        self.run = run
        self.cache = cache
        self.retries = retries or RetryPolicy()
        self.progress = progress or Progress()
        self.budget = budget or Budget()
        self._purse: Purse | None = None
        self.stop = Stop(self._begin_drain)
        self.error: PenstockError | None = None
        """What made going on impossible, such as a full disk."""
        self._drain = drain
        self._waiting: dict[asyncio.Future[Outcome], Flight] = {}
        self._doubtful: set[bytes] = set()
        self._on_ask = on_ask
        self._salt = run.encode() or os.urandom(16)

    # One question -----------------------------------------------------------------------------

    async def ask(
        self, request: Request, *, on_text: OnText | None = None, recalled: bool = False
    ) -> Outcome:
        """What became of a question: an Answer or a Failure, on disk before you see it.

        `recalled`: a `recall` just now did not find it, so the journal need not be asked again.
        """
        key = self.key_of(request)
        if self._on_ask is not None:
            self._on_ask(current_row.get(), key)
        name = (key, "refresh" if self.cache == "refresh" else "")
        while True:
            flight = self.station.flights.get(name)
            joined = flight is not None
            if flight is None:
                flight = self._launch(request, key, name, on_text, recalled)
            outcome = await self._wait(flight)
            if not joined:
                break
            if isinstance(outcome, Answer) or outcome.kind not in _OWN_TROUBLE or self.stop.thrown:
                outcome = _shared(outcome)
                self.progress.count(outcome)
                break
        if waiting(outcome):
            raise SetAside
        if on_text is not None:
            await self._show(outcome, on_text)
        return outcome

    def key_of(self, request: Request) -> bytes:
        """The key under which this run keeps an answer."""
        key = request.key
        if self.cache != "off":
            return key
        # Answers of a run that does not share are kept where only that run looks.
        return key[:1] + sha256(key + self._salt).digest()[: len(key) - 1]

    async def _show(self, outcome: Outcome, on_text: OnText) -> None:
        """Show what did not stream, and see that all that did has been shown."""
        if isinstance(outcome, Answer) and outcome.recorded:
            self.station.users.post(on_text, outcome.text)
        await self.station.users.flush()

    async def _wait(self, flight: Flight) -> Outcome:
        future = flight.join()
        self._waiting[future] = flight
        try:
            return await future
        finally:
            del self._waiting[future]

    def _begin_drain(self) -> None:
        """After a stop, what is in flight has a bounded time to come back."""
        self.station.clock.call_later(self._drain, self._give_up)

    def _give_up(self) -> None:
        why = f"still in flight {self._drain:g} s after the run was stopped"
        for future, flight in self._waiting.items():
            if not future.done():
                future.set_result(Failure(FailureKind.CANCELLED, why, 1, may_be_paid=True))
                self.progress.may_be_paid += 1
                flight.abandoned = True

    def _launch(
        self,
        request: Request,
        key: bytes,
        name: FlightName,
        on_text: OnText | None,
        recalled: bool,
    ) -> Flight:
        flight = Flight()
        self.station.flights[name] = flight
        self.station.spawn(self._fly(request, key, name, flight, on_text, recalled))
        return flight

    async def _fly(
        self,
        request: Request,
        key: bytes,
        name: FlightName,
        flight: Flight,
        on_text: OnText | None,
        recalled: bool,
    ) -> None:
        """Never raises: whatever happens becomes the outcome of the flight."""
        outcome: Outcome = Failure(FailureKind.CANCELLED, "the engine was closed")
        counted = False
        try:
            found = await self._find(request, key, name, recalled)
            counted = isinstance(found, Answer) and not found.recorded
            outcome = found or await self._send(request, key, on_text)
        except PenstockError as error:
            outcome = self._trouble(error)
        except Exception as error:
            _log.exception("ask failed", extra={"request": request.id})
            outcome = Failure(FailureKind.INTERNAL, f"{type(error).__name__}: {error}")
        finally:
            self.station.landed(name, outcome)
            if not counted:
                self.progress.count(outcome)
            flight.land(outcome)

    async def _find(
        self, request: Request, key: bytes, name: FlightName, recalled: bool
    ) -> Outcome | None:
        if not recalled or key in self._doubtful:
            return await self._look_up(request, key)
        landed = self.station.remembered(name)
        return None if landed is None else _shared(landed)

    async def _look_up(self, request: Request, key: bytes) -> Outcome | None:
        if self.cache == "refresh" and not self.run:
            return None
        record = await self.station.journal.find(key)
        if record is not None and (self.cache != "refresh" or record.run == self.run):
            return self._recorded(request, record)
        if self.cache == "read":
            return Failure(
                FailureKind.NOT_RECORDED, "not in the journal, and cache='read' sends nothing"
            )
        return None

    async def recall(self, requests: Sequence[Request]) -> list[Answer | None]:
        """The recorded answers to many questions, in one block; None where there is none.

        Nothing is sent. What is not here is then asked, which looks again. Whoever uses an
        answer counts it.
        """
        if self.cache == "refresh":
            return [None] * len(requests)
        keys = [self.key_of(request) for request in requests]
        records = await self.station.journal.find_many(keys)
        answers: list[Answer | None] = []
        for key, request, record in zip(keys, requests, records, strict=True):
            answer = None
            if isinstance(record, Record):
                with suppress(DamagedError):
                    answer = self._recorded(request, record)
            if answer is None and record is not None:
                self._doubtful.add(key)  # `ask` looks again, and says what is wrong with it
            answers.append(answer)
        return answers

    def _recorded(self, request: Request, record: Record) -> Answer:
        reader = provider_of(request.endpoint)
        try:
            answer = reader.read(record.response)
        except MalformedReplyError as error:
            raise DamagedError(
                f"a recorded answer cannot be read: {error} (request {request.id})",
                remedy="Run with cache='refresh' to ask it again.",
            ) from None
        return msgspec.structs.replace(
            answer,
            cost=Decimal(record.cost) if record.cost else None,
            price_source=record.price_source,
            latency=record.latency,
            attempts=record.attempts,
            recorded=not self._just_collected(record),
        )

    def _just_collected(self, record: Record) -> bool:
        """Whether this run itself asked it, in a batch: paid for and counted when it came."""
        return self.lane is not None and record.lane == "batch" and record.run == self.run

    async def _send(self, request: Request, key: bytes, on_text: OnText | None) -> Outcome:
        if self.stop.failure is not None:
            return self.stop.failure
        self.station.journal.check_room()
        if self.lane is not None:
            return self.lane.put([request], [key])[0]
        if self.parked is not None and self.parked(key):
            return Failure(FailureKind.WAITING, "it lies in an open batch")
        line = self.station.line(request.endpoint)
        if not self.budget.capped:
            return await self._carry(request, key, line, on_text)
        price = self.station.price(request.endpoint)
        self.budget.check(price, request.endpoint.label)
        purse = self._purse = self._purse or Purse(self.budget, self.progress)
        held = await purse.reserve(line.estimator.of(request), price, self.stop)
        if isinstance(held, Failure):
            return held
        try:
            outcome = await self._carry(request, key, line, on_text)
        finally:
            purse.settle(held)
        if isinstance(outcome, Answer):
            line.estimator.saw(outcome.usage)
        return outcome

    async def _carry(
        self, request: Request, key: bytes, line: Line, on_text: OnText | None
    ) -> Outcome:
        progress = self.progress
        progress.asked += 1
        progress.in_flight += 1
        try:
            carried = await line.carry(request, self.retries, self.stop, self._shown(on_text))
        finally:
            progress.in_flight -= 1
        if not carried.attempts:
            progress.asked -= 1
            return carried.sent.outcome
        try:
            return await self._record(request, key, carried)
        finally:
            carried.settle()

    def _shown(self, on_text: OnText | None) -> OnText | None:
        """Text on its way to a person is shown from the user thread, for display only."""
        if on_text is None:
            return None
        users, shown = self.station.users, on_text
        return lambda text: users.post(shown, text)

    async def _record(self, request: Request, key: bytes, carried: Carried) -> Outcome:
        outcome, answered = priced(carried, self.station.price(request.endpoint))
        self.progress.may_be_paid += carried.lost
        sent = carried.sent
        usage = outcome.usage if isinstance(outcome, Answer) else Usage()
        cost = outcome.cost if isinstance(outcome, Answer) else None
        record = Record(
            key,
            sent.body,
            sent.wire,
            RecordKind.ANSWER if answered else RecordKind.FAILURE,
            request.endpoint.provider,
            request.endpoint.model,
            self.run,
            self.station.clock.time(),
            sent.latency,
            carried.attempts,
            "" if cost is None else str(cost),
            outcome.price_source if isinstance(outcome, Answer) else "",
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            kept = await self.station.journal.record(record, replace=self.cache == "refresh")
        except StoreError as error:
            return self._trouble(error, paid=answered)
        if kept.first:
            return outcome
        self.progress.count(outcome)  # another process was first, and this was paid for too
        return self._recorded(request, kept.record)

    def _trouble(self, error: PenstockError, *, paid: bool = False) -> Failure:
        """A store that cannot be written stops the run; anything else stays in its row."""
        kind = FailureKind.STORAGE if isinstance(error, StoreError) else FailureKind.INPUT
        if error.exit_code == 3:
            kind = FailureKind.AUTHENTICATION
        if isinstance(error, StoreError) and not isinstance(error, DamagedError):
            self.halt(error)
        return Failure(kind, str(error), may_be_paid=paid)

    def halt(self, error: PenstockError) -> None:
        """Stop admission because going on is impossible; the first reason stands."""
        if self.error is None:
            self.error = error
            _log.error("halted", extra={"run": self.run, "why": error.message})
        self.stop.throw(FailureKind.STORAGE, error.message)

    # Many rows --------------------------------------------------------------------------------

    def map(
        self,
        rows: Rows[Row],
        work: Callable[[Row], Awaitable[Result]],
        *,
        window: int = 256,
    ) -> AsyncIterator[tuple[int, Row, Result | Failure]]:
        """Run `work` over rows, `window` at a time; number, row and result as they complete.

        What `work` raises is a Failure in the place of its result. After a stop no new row is
        begun and those begun come to their end.
        """
        if self.lane is not None:
            return in_passes(self, rows, work, window)
        return mapped(self, rows, work, window)


def priced(carried: Carried, price: Price | None) -> tuple[Outcome, bool]:
    """The outcome with its cost and attempts, and whether it is an answer."""
    outcome = carried.sent.outcome
    if not isinstance(outcome, Answer):
        done = msgspec.structs.replace(
            outcome, attempts=carried.attempts, may_be_paid=carried.lost > 0
        )
        return done, False
    return (
        msgspec.structs.replace(
            outcome,
            cost=None if price is None else price.cost(outcome.usage),
            price_source="" if price is None else price.source,
            latency=carried.sent.latency,
            attempts=carried.attempts,
        ),
        True,
    )


def _shared(outcome: Outcome) -> Outcome:
    """An answer that somebody else is paying for."""
    return (
        msgspec.structs.replace(outcome, recorded=True) if isinstance(outcome, Answer) else outcome
    )
