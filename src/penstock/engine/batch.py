"""The batch lane: questions go to disk, then to the provider's batch API, and come back in a day.

It stands behind the same `ask`. A question that is not in the journal is spooled and its row set
aside (`SetAside`); when the pass over the rows has ended, the batches go out; when they have been
collected, the row's work runs again, finds its answer in the journal, and goes one question
further. So nothing is held in memory, and the process may end after submitting.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import msgspec
import orjson

from penstock.endpoint import Endpoint
from penstock.engine.attend import Attendant
from penstock.engine.batch_states import BatchState
from penstock.engine.budget import Budget
from penstock.engine.progress import Progress
from penstock.engine.spool import Spool
from penstock.engine.station import Station
from penstock.engine.stop import Stop
from penstock.errors import InputError, RequestError
from penstock.outcome import Failure, FailureKind, Usage
from penstock.providers.batch import Batches
from penstock.request import Request
from penstock.secret import Secret
from penstock.store.batches import BatchRow, BatchStore, Waiting

__all__ = ["BatchLane", "BatchWish", "Reserve", "Writing", "batches_of", "endpoint_of"]

_MOST_TRIES = 3


class BatchWish(NamedTuple):
    """How a run wants its batches."""

    size: int | None = None
    """The most questions in one; None: as many as the provider takes."""
    waits: bool = True
    """False: submit, and be done for now."""
    interval: float = 60.0
    """The most seconds between two looks."""


def batches_of(station: Station, endpoint: Endpoint) -> Batches:
    """The batch lane to an endpoint, or an error that says there is none."""
    found = station.line(endpoint).provider.batches()
    if found is None:
        raise InputError(
            f"{endpoint.label} has no batch lane", remedy="Leave out batch: ask it online."
        )
    return found


class Reserve:
    """What is held against a budget."""

    def __init__(self) -> None:
        self.dollars = Decimal(0)
        self.tokens = 0

    @classmethod
    def of(cls, store: BatchStore, run: str) -> Reserve:
        """What a run's open batches hold."""
        made = cls()
        for batch in store.open(run):
            made.add(Decimal(batch.reserve), batch.reserve_tokens)
        return made

    def add(self, dollars: Decimal, tokens: int) -> None:
        self.dollars += dollars
        self.tokens += tokens


class Writing:
    """Questions in files that are not whole yet, and whose they are: what one lane of a run has
    written, no other writes as well."""

    def __init__(self) -> None:
        self.owners: dict[bytes, str] = {}
        self._closed = asyncio.Event()

    def add(self, key: bytes, lane: str) -> None:
        self.owners[key] = lane

    def closed(self, spool: Spool) -> None:
        """Its questions lie in a batch now, or nowhere."""
        for key in spool.keys:
            self.owners.pop(key, None)
        self._closed.set()

    async def until_closed(self, keys: set[bytes]) -> None:
        """Until none of these is in a file that grows; it ends with the pass of its lane."""
        while not self.owners.keys().isdisjoint(keys):
            self._closed.clear()
            await self._closed.wait()


class BatchLane:
    """The batch lane as one run sees it. Used in the engine's loop."""

    def __init__(
        self,
        station: Station,
        store: BatchStore,
        folder: Path,
        *,
        run: str,
        wish: BatchWish,
        progress: Progress,
        stop: Stop,
        budget: Budget | None = None,
        part: str = "",
        reserve: Reserve | None = None,
        writing: Writing | None = None,
    ) -> None:
        """`part`: one of several lanes of a run, each of which sees to its own batches; they share
        one `reserve` and one `writing`."""
        self.id = secrets.token_hex(8)
        self.store = store
        self._station = station
        self._folder = folder
        self._run = run
        self._wish = wish
        self._progress = progress
        self._stop = stop
        self._budget = budget or Budget()
        self._spools: dict[object, Spool] = {}
        self._others: set[str] = set()
        self._endpoints: dict[bytes, Endpoint] = {}  # as they were given: with keys kept nowhere
        self._part = part
        self._made: set[str] = set()
        self._reserve = reserve or Reserve.of(store, run)
        self._spooled = Reserve()
        self._writing = writing or Writing()
        self._elsewhere: set[bytes] = set()
        self._number = len(store.all("WHERE run = ?", (run,)))

    def put(self, requests: Sequence[Request], keys: Sequence[bytes]) -> list[Failure]:
        """Questions that are not in the journal: where each stands now. `waiting`: in a batch."""
        found = self.store.find(keys)
        results: list[Failure] = []
        for request, key in zip(requests, keys, strict=True):
            self._endpoints.setdefault(request.endpoint.identity, request.endpoint)
            known = found.get(key)
            if known is not None and known.batch:
                self._others.add(known.batch)
                results.append(_WAITING)
            elif known is not None and (ended := self._ended(known)) is not None:
                results.append(ended)
            else:
                results.append(self._spool(request, key))
        return results

    def _ended(self, known: Waiting) -> Failure | None:
        """Why a question is not asked again by this run; None where it is."""
        if known.lane != self.id or not known.failure:
            return None
        failure = msgspec.json.decode(known.failure, type=Failure)
        if failure.kind.heals and known.tries < _MOST_TRIES:
            return None
        return msgspec.structs.replace(failure, attempts=known.tries)

    def _spool(self, request: Request, key: bytes) -> Failure:
        if self._stop.failure is not None:
            return self._stop.failure
        endpoint = request.endpoint
        spool = self._spools.get(endpoint.connection)
        owner = self._writing.owners.get(key)
        if owner is not None:
            if owner != self.id:
                self._elsewhere.add(key)
            return _WAITING
        refused = self._hold(request)
        if refused is not None:
            return refused
        spool = spool or self._new_spool(endpoint)
        try:
            added = spool.add(request, key)
            if added is False:
                self._close(spool)
                added = self._new_spool(endpoint).add(request, key)
        except RequestError as error:  # it cannot be asked at this provider
            return Failure(FailureKind.INVALID_REQUEST, str(error))
        if isinstance(added, Failure):
            return added
        self._writing.add(key, self.id)
        return _WAITING

    def _hold(self, request: Request) -> Failure | None:
        """Reserve what a question will probably take; the run stops where it does not fit."""
        if not self._budget.capped:
            return None
        line = self._station.line(request.endpoint)
        price = self._station.price(request.endpoint, "batch")
        self._budget.check(price, request.endpoint.label)
        taken = line.estimator.of(request)
        usage = Usage(taken.input_tokens, taken.output_tokens)
        dollars = Decimal(0) if price is None else price.cost(usage)
        spent = self._progress.cost + self._reserve.dollars + dollars
        tokens = self._progress.input_tokens + self._progress.output_tokens + usage.total_tokens
        tokens += self._reserve.tokens
        budget = self._budget
        over = budget.dollars is not None and spent > budget.dollars
        if over or (budget.tokens is not None and tokens > budget.tokens):
            self._stop.throw(FailureKind.BUDGET, "the next question would exceed the budget")
            return self._stop.failure
        self._spooled.add(dollars, usage.total_tokens)
        self._reserve.add(dollars, usage.total_tokens)
        return None

    def _new_spool(self, endpoint: Endpoint) -> Spool:
        self._number += 1
        part = f"{self._part}_" if self._part else ""
        path = self._folder / f"requests_{part}{self._number:04d}.jsonl"
        spool = Spool(endpoint, batches_of(self._station, endpoint), path, self._wish.size)
        self._spools[endpoint.connection] = spool
        return spool

    def _close(self, spool: Spool) -> None:
        """A file is whole: from now on it is a batch."""
        del self._spools[spool.endpoint.connection]
        spool.close()
        held, self._spooled = self._spooled, Reserve()
        batch = BatchRow(
            id=f"{self._run}-{self._number:04d}-{secrets.token_hex(3)}",
            run=self._run,
            endpoint=orjson.dumps(_stored(spool.endpoint)).decode(),
            label=spool.endpoint.label,
            state=BatchState.UNSUBMITTED,
            file=spool.path.name,
            count=len(spool.keys),
            size=spool.size,
            created=time.time(),
            reserve=str(held.dollars),
            reserve_tokens=held.tokens,
        )
        self.store.add(batch, list(spool.keys))
        self._made.add(batch.id)
        self._writing.closed(spool)

    def abandon(self) -> None:
        """What was spooled and is not yet a batch is written again by the next run."""
        for spool in self._spools.values():
            spool.abandon()
            self._writing.closed(spool)
        self._spools.clear()
        self._reserve.add(-self._spooled.dollars, -self._spooled.tokens)
        self._spooled = Reserve()

    async def attend(self) -> bool:
        """Submit what is spooled and see every batch through; False when some are left at their
        provider, because nobody waits for them or the run was stopped."""
        for spool in list(self._spools.values()):
            self._close(spool)
        await self._find_elsewhere()
        wanted = {
            batch.id: batch
            for batch in self.store.open(self._run)
            if not self._part or batch.id in self._made
        }
        for name in self._others:
            other = self.store.get(name)
            if BatchState(other.state).open:
                wanted[other.id] = other
        self._others.clear()
        self._progress.batches = tuple(dict.fromkeys((*self._progress.batches, *wanted)))
        seen = [self._see_to(batch) for batch in wanted.values()]
        ends = await asyncio.gather(*seen, return_exceptions=True)
        for end in ends:  # each was seen to as far as it goes
            if isinstance(end, BaseException):
                raise end
        return all(ends)

    async def _find_elsewhere(self) -> None:
        """The batches of questions that another lane of this run was about to send."""
        if self._elsewhere:
            await self._writing.until_closed(self._elsewhere)
            found = self.store.find(list(self._elsewhere))
            self._others.update(each.batch for each in found.values() if each.batch)
            self._elsewhere.clear()

    async def _see_to(self, batch: BatchRow) -> bool:
        stored = endpoint_of(batch)
        endpoint = self._endpoints.get(stored.identity, stored)
        attendant = Attendant(
            self._station,
            self.store,
            batch,
            endpoint,
            batches_of(self._station, endpoint),
            lane=self.id,
            progress=self._progress,
            stop=self._stop,
            waits=self._wish.waits,
            interval=self._wish.interval,
        )
        done = await attendant.see_through()
        if done and batch.run == self._run:
            self._reserve.add(-Decimal(batch.reserve), -batch.reserve_tokens)
        return done


_WAITING = Failure(FailureKind.WAITING, "it lies in a batch")


def _stored(endpoint: Endpoint) -> dict[str, object]:
    """Without a key that was given literally: whoever collects finds the usual one."""
    if isinstance(endpoint.key, Secret):
        endpoint = endpoint.with_(key=None)
    return endpoint.spec()


def endpoint_of(batch: BatchRow) -> Endpoint:
    """The endpoint that a batch lies at."""
    return Endpoint.from_spec(orjson.loads(batch.endpoint), "")
