"""How a batch is worked off: step by step, each bounded, so that others are answered meanwhile.

Time and work both have their say: no more lines are asked than the passed share of the batch's
time allows, and it does not end before the last of them is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from penstock.simulator.batch import CANCELLED, VALIDATED, WORKED, Batch
from penstock.simulator.batch_api import Answered, Item

__all__ = ["Worker"]

LEAST_WAIT = 0.005


class Worker:
    """Takes batches a step further. `ask` answers a line; `admit` judges a validated batch."""

    def __init__(
        self,
        ask: Callable[[Batch, Item, str], Answered],
        admit: Callable[[Batch], None],
    ) -> None:
        self._ask = ask
        self._admit = admit

    def step(self, batch: Batch, now: float, until: float) -> float | None:
        """Do what is due, but not beyond `until` (by perf_counter).

        Returns the seconds until something is due; 0 for now, None for a batch at its end.
        """
        if batch.end:
            return None
        if "cancelling" in batch.times:
            return self._cancel(batch, now, until)
        if not self._check(batch, until):
            return 0.0
        if now < batch.due(VALIDATED):
            return _wait(batch.due(VALIDATED) - now)
        if batch.errors:
            batch.finish("failed", now)
            return None
        batch.entered("working", now)
        return self._work(batch, now, until)

    def _check(self, batch: Batch, until: float) -> bool:
        if batch.checked:
            return True
        if batch.checking is None:
            batch.checking = batch.api.check(batch)
        for _ in batch.checking:
            if perf_counter() >= until:
                return False
        batch.checked = True
        self._admit(batch)
        return True

    def _work(self, batch: Batch, now: float, until: float) -> float | None:
        allowed = batch.allowed(now)
        while batch.done < allowed:
            self._line(batch)
            if perf_counter() >= until:
                return 0.0
        if batch.done < batch.target:
            return _wait(batch.wait_for_line(now))
        if now < batch.due(WORKED):
            return _wait(batch.due(WORKED) - now)
        batch.entered("finalizing", now)
        if now < batch.due(1.0):
            return _wait(batch.due(1.0) - now)
        expired = batch.target < batch.total
        if expired and not self._leave(batch, "expired", until):
            return 0.0
        batch.finish("expired" if expired else "completed", now)
        return None

    def _cancel(self, batch: Batch, now: float, until: float) -> float | None:
        due = batch.times["cancelling"] + CANCELLED * batch.seconds
        if now < due:
            return _wait(due - now)
        asked = batch.checked and not batch.errors
        if asked and not self._leave(batch, "cancelled", until):
            return 0.0
        batch.finish("cancelled", now)
        return None

    def _leave(self, batch: Batch, why: str, until: float) -> bool:
        """Write down the lines that were not asked; False when there are more."""
        batch.written = max(batch.written, batch.done)
        while batch.written < batch.total:
            item = batch.api.item(batch, batch.next_line(batch.written))
            batch.api.undone(batch, item, why)
            batch.written += 1
            if perf_counter() >= until:
                return False
        return True

    def _line(self, batch: Batch) -> None:
        at = batch.done
        item = batch.api.item(batch, batch.next_line(at))
        batch.done += 1
        fault = _fault(batch, at)
        answered = self._ask(batch, item, fault)
        if answered.problem is None:
            batch.succeeded += 1
        else:
            batch.errored += 1
        if fault == "missing":
            return
        batch.api.result(batch, item, answered)
        if fault == "duplicate":
            batch.api.result(batch, item, answered)
        elif fault == "unknown":
            batch.api.result(batch, item._replace(id=f"unknown-{at}"), answered)


def _fault(batch: Batch, at: int) -> str:
    if not batch.faults.shares:
        return ""
    for kind in ("error", "missing", "duplicate", "unknown", "wrong_schema"):
        if batch.faults.strikes(kind, batch.number, at + 1):
            return kind
    return ""


def _wait(seconds: float) -> float:
    return max(LEAST_WAIT, seconds)
