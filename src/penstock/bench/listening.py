"""Those who watch a run: callbacks by prompt and by recipe, and webhooks."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from penstock.bench.item import Item
from penstock.bench.plan import Plan
from penstock.bench.progress import BenchProgress, OnItem, OnProgress, Tally
from penstock.bench.webhook import GRACE, Webhook
from penstock.engine.job import Job
from penstock.engine.states import RunState
from penstock.errors import InputError

__all__ = ["Listeners", "Listening"]

_log = logging.getLogger(__name__)
_EVERY = 1.0


@dataclass(frozen=True)
class Listening:
    """What a caller asks to be told: `on_item` of every prompt, `on_progress` about once a second
    and at the end of every recipe, webhooks the latter. What they raise is logged, no more."""

    on_item: OnItem | None = None
    on_progress: OnProgress | None = None
    webhooks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("on_item", "on_progress"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise InputError(f"{name} is {function!r:.80}; a function is wanted")
            if inspect.iscoroutinefunction(function):
                raise InputError(
                    f"{name} is an async function",
                    remedy="A plain one is wanted: it is not awaited.",
                )

    def at(self, plan: Plan, job: Job) -> Listeners:
        """Those of one run."""
        return Listeners(self, plan, job)


class Listeners:
    """Tells them. Used in the engine's loop, but for `finished`."""

    def __init__(self, listening: Listening, plan: Plan, job: Job) -> None:
        self._listening = listening
        self._job = job
        self._tally = Tally(plan, job.run.id, job.terms.name)
        self._hooks = [Webhook(each) for each in listening.webhooks]
        self._tasks: list[asyncio.Task[None]] = []
        self._told = 0.0

    async def __aenter__(self) -> Self:
        station = self._job.station
        self._tasks = [station.spawn(hook.serve(station.transport)) for hook in self._hooks]
        self._tell(RunState.RUNNING)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._tell(RunState.FAILED)
        for hook in self._hooks:
            hook.end()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE)
            for task in late:
                task.cancel()
            if late:
                _log.warning("webhooks were given up at the end of the run")
        await self._job.station.users.flush()

    def finished(self, block: Sequence[Item]) -> None:
        """In the user thread: every item."""
        if self._listening.on_item is None:
            return
        for item in block:
            _called(self._listening.on_item, item)

    def counted(self, block: Sequence[Item]) -> None:
        """A block was finished."""
        before: Counter[str] = self._tally.counts
        for item in block:
            self._tally.add(item)
        for recipe in self._tally.ended(before):
            self._tell(RunState.RUNNING, recipe)
        if time.monotonic() - self._told >= _EVERY:
            self._tell(RunState.RUNNING)

    def ended(self, state: RunState) -> None:
        """The run has come to its end."""
        self._tell(state)

    def _tell(self, state: RunState, finished: str = "") -> None:
        self._told = time.monotonic()
        if self._listening.on_progress is None and not self._hooks:
            return
        seen: BenchProgress = self._tally.seen(state, finished)
        if self._listening.on_progress is not None:
            self._job.station.users.post(_called_with(self._listening.on_progress), seen)
        for hook in self._hooks:
            hook.put(seen.to_dict())


def _called(function: Any, value: Any) -> None:
    try:
        function(value)
    except Exception:
        _log.exception("a callback failed")


def _called_with(function: Any) -> Any:
    return lambda value: _called(function, value)
