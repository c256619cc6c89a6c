"""All batches, the clock they run by, and who works on them and when.

The clock is the real one plus what `advance` has added, so that a test of a day needs no day.
One timer serves all batches; a poll takes the batch it looks at a step further itself, so that a
small batch whose time has come is done when it is looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any

from penstock.simulator.api import Problem
from penstock.simulator.batch import CANCELLED, Batch
from penstock.simulator.batch_api import Answered, BatchApi, Item
from penstock.simulator.batch_faults import BatchFaults
from penstock.simulator.batch_work import Worker
from penstock.simulator.files import Stored
from penstock.simulator.settings import SimulatorSettings
from penstock.simulator.spool import Lines

__all__ = ["Batches", "tokens_in"]

SLICE = 0.005
AT_A_POLL = 0.05
LONGEST_WAIT = 60.0


class Batches:
    """Makes, finds and works off batches."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: Callable[[], SimulatorSettings],
        ask: Callable[[Batch, Item, str], Answered],
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._worker = Worker(ask, self._admit)
        self._since = time.time() - loop.time()
        self._timer: asyncio.Handle | None = None
        self._settled: list[Callable[[], None]] = []
        self.clear()

    def clear(self) -> None:
        """Forget every batch, and the time that was added."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._ahead = 0.0
        self._made = self._fetched = 0
        self._all: dict[str, Batch] = {}
        self._open: list[Batch] = []
        self._tell_settled()

    def now(self) -> float:
        """Seconds since 1970 by the batches' clock."""
        return self._since + self._loop.time() + self._ahead

    def refuse(self, api: BatchApi, model: str, tokens: int | None = None) -> Problem | None:
        """Why one more batch cannot be taken now, if it cannot."""
        most, tokens_most = self._settings().max_batches, self._settings().batch_tokens
        wait = min([LONGEST_WAIT, *(_left(batch, self.now()) for batch in self._open)])
        said, kind = "", "requests"
        open_ones = sum(batch.api is api and not batch.end for batch in self._open)
        if most is not None and open_ones >= most:
            said = f"You have too many batches in progress. Limit {most}."
        elif tokens is not None and tokens_most is not None:
            queued, kind = self._enqueued(api, model), "tokens"
            if queued + tokens > tokens_most:
                said = (
                    f"Too many tokens are enqueued for {model}. Limit {tokens_most}, "
                    f"Enqueued {queued}, Requested {tokens}."
                )
        if not said:
            return None
        return Problem(429, kind, said, None, "rate_limit_exceeded", max(0.001, wait), most)

    def fails(self) -> bool:
        """Whether the next batch would fail as a whole, for an API that then makes none."""
        faults = self._faults()
        struck = faults.strikes("failed", self._made + 1)
        self._made += struck
        return struck

    def cuts(self, file: Stored) -> bool:
        """Whether this download of a file of results ends half-way: only the first one may."""
        file.fetched += 1
        self._fetched += file.fetched == 1
        return file.fetched == 1 and self._faults().strikes("cut", self._fetched)

    def make(
        self, name: str, api: BatchApi, lines: Lines, model: str, note: dict[str, Any]
    ) -> Batch:
        """A batch that begins now."""
        self._made += 1
        batch = Batch(name, self._made, api, lines, note)
        batch.model = model
        batch.created = self.now()
        batch.seconds = self._settings().batch_seconds
        batch.faults = self._faults()
        batch.tokens = tokens_in(lines)
        self._all[name] = batch
        self._open.append(batch)
        self._wake(0.0)
        return batch

    def find(self, api: BatchApi, name: str) -> Batch | None:
        """A batch of an API, taken as far as it can be now."""
        batch = self._all.get(name)
        if batch is None or batch.api is not api:
            return None
        self._worker.step(batch, self.now(), perf_counter() + AT_A_POLL)
        return batch

    def all(self, api: BatchApi | None = None) -> list[Batch]:
        """The batches of an API, or of all, newest first."""
        self._step(AT_A_POLL)
        return [b for b in reversed(self._all.values()) if api is None or b.api is api]

    def drop(self, batch: Batch) -> None:
        """Forget a batch; one that is open is worked off all the same."""
        self._all.pop(batch.id, None)

    def cancel(self, batch: Batch) -> None:
        """Ask no more of its lines."""
        batch.entered("cancelling", self.now())
        self._wake(0.0)

    def advance(self, seconds: float | None, then: Callable[[], None]) -> None:
        """Let time pass, enough for every batch to end where it is None; `then` when all is done
        that is due by then."""
        if seconds is None:
            seconds = max([0.0, *(_left(batch, self.now()) for batch in self._open)])
        self._ahead += seconds
        self._settled.append(then)
        self._wake(0.0)

    def _faults(self) -> BatchFaults:
        settings = self._settings()
        return BatchFaults.read(settings.batch_faults, settings.seed)

    def _enqueued(self, api: BatchApi, model: str) -> int:
        queued = [b for b in self._open if not b.end and not b.errors]
        return sum(b.tokens for b in queued if b.api is api and b.model == model)

    def _admit(self, batch: Batch) -> None:
        """Let a validated batch fail where a fault or the limit of tokens wants it."""
        if batch.errors:
            return
        if batch.faults.strikes("failed", batch.number):
            message = "The batch could not be validated."
            batch.errors.append({"code": "internal_error", "message": message})
            return
        most = self._settings().batch_tokens
        if most is not None and self._enqueued(batch.api, batch.model) > most:
            message = (
                f"Enqueued token limit reached for {batch.model} in organization org-simulated. "
                f"Limit: {most:,} enqueued tokens. Please try again once some in_progress batches "
                "have been completed."
            )
            batch.errors.append({"code": "token_limit_exceeded", "message": message})

    def _wake(self, wait: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if wait > 0:
            self._timer = self._loop.call_later(wait, self._tick)
        else:
            self._timer = self._loop.call_soon(self._tick)

    def _tick(self) -> None:
        self._timer = None
        wait = self._step(SLICE)
        if wait != 0:
            self._tell_settled()
        if wait is not None:
            self._wake(wait)

    def _step(self, seconds: float) -> float | None:
        until = perf_counter() + seconds
        waits = []
        for batch in list(self._open):
            wait = self._worker.step(batch, self.now(), until)
            if wait is None:
                self._open.remove(batch)
            else:
                waits.append(wait)
        return min(waits, default=None)

    def _tell_settled(self) -> None:
        told, self._settled = self._settled, []
        for each in told:
            each()


def _left(batch: Batch, now: float) -> float:
    """Seconds until a batch ends, if its work is done by then."""
    due = batch.due(1.0)
    if "cancelling" in batch.times:
        due = batch.times["cancelling"] + CANCELLED * batch.seconds
    return max(0.0, due - now)


def tokens_in(lines: Lines) -> int:
    """About how many tokens the lines have: a quarter of their bytes."""
    return lines.spool.size >> 2
