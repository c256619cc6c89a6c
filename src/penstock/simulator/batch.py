"""One batch: its lines, where it stands, and what has come of it so far."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.simulator.batch_faults import BatchFaults
from penstock.simulator.dice import Dice
from penstock.simulator.spool import Lines, Spool

if TYPE_CHECKING:
    from penstock.simulator.batch_api import BatchApi

__all__ = ["Batch"]

# A batch is validated in the first tenth of its time, and its results are put together in the last.
VALIDATED = 0.1
WORKED = 0.9
CANCELLED = 0.1


class Batch:
    """The state of a batch, in no provider's words.

    `state` is validating, working, finalizing or cancelling; then `end` says how it ended:
    completed, failed, expired or cancelled. `note` is what the API itself keeps.
    """

    def __init__(
        self,
        name: str,
        number: int,
        api: BatchApi,
        lines: Lines,
        note: dict[str, Any],
    ) -> None:
        self.id = name
        self.number = number
        self.api = api
        self.lines = lines
        self.note = note
        self.model = ""
        self.created = 0.0
        self.seconds = 0.0
        self.faults = BatchFaults({})
        self.tokens = 0
        self.errors: list[dict[str, Any]] = []
        self.checking: Iterator[None] | None = None
        self.checked = False
        self.order: array[int] | None = None
        self.done = 0
        self.written = 0
        self.succeeded = 0
        self.errored = 0
        self.used = {"prompt": 0, "completion": 0, "cached": 0, "reasoning": 0}
        self.times: dict[str, float] = {}
        self.end = ""
        self.output = Spool()
        self.failures = Spool()

    @property
    def total(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    @property
    def target(self) -> int:
        """How many of them will be asked before the batch expires."""
        return self.total - round(self.total * self.faults.share("expired"))

    @property
    def state(self) -> str:
        """Where it stands."""
        if self.end:
            return self.end
        states = ("cancelling", "finalizing", "working")
        return next((state for state in states if state in self.times), "validating")

    def due(self, part: float) -> float:
        """When so much of its time has passed."""
        return self.created + part * self.seconds

    def allowed(self, now: float) -> int:
        """How many lines may have been asked by now."""
        if now >= self.due(WORKED):
            return self.target
        start, stop = self.due(VALIDATED), self.due(WORKED)
        return int(self.target * max(0.0, now - start) / (stop - start))

    def wait_for_line(self, now: float) -> float:
        """Seconds until one more line may be asked."""
        start, stop = self.due(VALIDATED), self.due(WORKED)
        return max(0.0, start + (self.done + 1) * (stop - start) / self.target - now)

    def next_line(self, at: int) -> bytes:
        """The line at a place in the order of the work."""
        if self.order is None:
            self.order = array("I", range(self.total))
            if self.faults.strikes("shuffled", self.number):
                _shuffle(self.order, Dice(self.faults.seed * 1_000_003 + self.number))
        return self.lines[self.order[at]]

    def entered(self, state: str, now: float) -> None:
        """Note when a state began."""
        self.times.setdefault(state, now)

    def finish(self, end: str, now: float) -> None:
        """Come to an end."""
        self.end = end
        self.times[end] = self.times["ended"] = now
        self.order = self.checking = None
        self.api.ended(self)


def _shuffle(order: array[int], dice: Dice) -> None:
    for last in range(len(order) - 1, 0, -1):
        other = dice.below(last + 1)
        order[last], order[other] = order[other], order[last]
