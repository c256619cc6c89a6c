"""One batch from its file to the journal: submitted, looked at, fetched, collected.

Every step is on disk before the next is taken, so that a process may die anywhere and another goes
on. Before a batch is handed over it is noted that it will be; whoever finds that note, and no name,
looks for the batch at the provider first. One process sees to a batch at a time, by a lock that
dies with it.
"""

from __future__ import annotations

import fcntl
import logging
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.endpoint import Endpoint
from penstock.engine.batch_states import BatchEvent, BatchState, advance
from penstock.engine.collect import Collector
from penstock.engine.progress import Progress
from penstock.engine.station import Station
from penstock.engine.stop import Stop
from penstock.errors import ApiError, PenstockError, StorageFullError
from penstock.outcome import FailureKind
from penstock.providers.batch import Batches, RemoteBatch, RemoteState, Trouble
from penstock.store.batches import BatchRow, BatchStore
from penstock.tables.atomic import disk_errors, durable, put

__all__ = ["AT_PROVIDER", "Attendant"]

_log = logging.getLogger(__name__)

_FIRST_WAIT = 0.5
_GROWTH = 1.6
_MOST_SUBMITS = 5
_MOST_INTERVALS = 10
_LONGEST_WAIT = 3600.0
_SUBMIT_PATIENCE = 10.0  # where nobody waits
AT_PROVIDER = (BatchState.SUBMITTED, BatchState.FINISHED)


class Attendant:
    """Sees to one batch."""

    def __init__(
        self,
        station: Station,
        store: BatchStore,
        batch: BatchRow,
        endpoint: Endpoint,
        batches: Batches,
        *,
        lane: str,
        progress: Progress,
        stop: Stop,
        waits: bool,
        interval: float,
    ) -> None:
        self._station = station
        self._store = store
        self._batch = batch
        self._batches = batches
        self._stop = stop
        self._waits = waits
        self._interval = interval
        self._wait = min(_FIRST_WAIT, interval)
        self._foreign: set[str] = set()
        self._collector = Collector(station, store, endpoint, batches, lane, progress)

    async def see_through(self) -> bool:
        """Until it is collected; False when it is left for later: at its provider, or here, where
        that has no room for it and nobody waits."""
        until = self._station.clock.now() + _SUBMIT_PATIENCE
        while not self._stop.thrown:
            with _held(self._store.path, self._batch.id) as held:
                self._batch = self._store.get(self._batch.id)
                if held and await self._steps():
                    return True
                if not self._waits and self._state is BatchState.SUBMITTED:
                    return False
            if self._state is BatchState.DOWNLOADED:  # by another process
                return True
            if not self._waits and self._station.clock.now() + self._wait > until:
                return False
            await self._pause()
        return False

    async def collect(self) -> bool:
        """The same for one that lies at its provider, once or until it has ended: nothing is
        submitted. True when it is collected."""
        while not self._stop.thrown:
            with _held(self._store.path, self._batch.id) as held:
                self._batch = self._store.get(self._batch.id)
                if self._state not in AT_PROVIDER:
                    return not self._state.open
                if held and await self._steps():
                    return True
            if not self._waits:
                return False
            await self._pause()
        return False

    async def cancel(self) -> None:
        """Have the provider end it; one that is not there is let go at once, with its
        questions."""
        while not self._stop.thrown:
            with _held(self._store.path, self._batch.id) as held:
                self._batch = self._store.get(self._batch.id)
                if held:
                    return await self._cancel()
            await self._pause()
        return None

    @property
    def _state(self) -> BatchState:
        return BatchState(self._batch.state)

    async def _steps(self) -> bool:
        """As far as it goes without waiting; True when it is collected."""
        while True:
            before = self._state
            if before is BatchState.UNSUBMITTED:
                await self._submit()
            elif before is BatchState.SUBMITTED:
                await self._look()
            elif before is BatchState.FINISHED:
                await self._collect()
            elif before is BatchState.TO_RESUBMIT:
                self._move(BatchEvent.AGAIN, remote="", submitting=None)
                # Each time the whole file goes up again: the pauses grow, also beyond the interval.
                most = _MOST_INTERVALS * self._interval
                self._wait = min(most, _FIRST_WAIT * 2.0**self._batch.tries)
                return False
            else:
                return True
            if self._state is before or self._stop.thrown:
                return False

    # The steps --------------------------------------------------------------------------------

    async def _submit(self) -> None:
        batch = self._batch
        most = self._batches.limits.open_batches
        found: RemoteBatch | Trouble | None = None
        if batch.submitting is None:
            if most is not None and self._others_under_way() >= most:
                return  # one of them must end first
        else:
            known = self._store.remotes() | self._foreign
            found = await self._batches.find(batch.id, batch.count, known)
        if found is None:
            self._note(submitting=time.time(), tries=batch.tries + 1)
            found = await self._batches.submit(self._store.file_of(batch), batch.id)
        if isinstance(found, Trouble):
            self._not_submitted(found)
            return
        self._accepted(found)

    def _accepted(self, found: RemoteBatch) -> None:
        _log.info("batch submitted", extra={"batch": self._batch.id, "remote": found.id})
        self._move(
            BatchEvent.ACCEPTED, remote=found.id, certain=found.certain, submitted=time.time(),
            submitting=None,
        )  # fmt: skip

    def _not_submitted(self, trouble: Trouble) -> None:
        self._log_trouble("submit", trouble)
        if trouble.unknown:
            return  # it may be there: the next time it is looked for
        self._note(submitting=None)
        if trouble.heals:
            self._put_off_after(trouble)
        elif trouble.kind.stops or trouble.kind is FailureKind.STORAGE:
            raise self._refusal(trouble)
        else:
            self._give_up(trouble.message, trouble)

    async def _look(self) -> None:
        found = await self._batches.look(self._batch.remote)
        if isinstance(found, Trouble):
            self._log_trouble("look", found)
            if found.heals or found.unknown:
                self._put_off_after(found)
            elif found.kind is FailureKind.NOT_FOUND:
                self._resubmit(f"the provider no longer knows it: {found.message}")
            else:
                raise self._refusal(found)
            return
        if found.state is RemoteState.RUNNING:
            if (found.done, found.failed) != (self._batch.done, self._batch.failed):
                self._note(done=found.done, failed=found.failed)
        elif found.state is RemoteState.ENDED:
            self._move(BatchEvent.ENDED, why=found.why, done=found.done, failed=found.failed)
        elif found.crowded:
            self._resubmit(found.why)
        else:
            self._give_up(found.why or "the provider refused the batch", None)

    async def _collect(self) -> None:
        asked = self._store.file_of(self._batch)
        file = asked.with_name(asked.name.replace("requests_", "responses_"))
        if not _is_there(file) and not await self._fetch(file):
            return
        ours = await self._collector.collect(self._batch, file)
        if not ours and not self._batch.certain:
            self._foreign.add(self._batch.remote)
            os.unlink(file)  # noqa: PTH108
            # Another may be: it is looked for again before anything is submitted.
            self._move(BatchEvent.NOT_OURS, remote="", certain=True, submitting=time.time())
            return
        self._batch = self._store.get(self._batch.id)
        self._move(BatchEvent.COLLECTED, ended=time.time(), certain=True)

    async def _fetch(self, file: Path) -> bool:
        """Download the results; the file has its name only when it is whole."""
        found = await self._batches.look(self._batch.remote)
        if isinstance(found, Trouble):
            self._log_trouble("look", found)
            if not (found.heals or found.unknown):
                raise self._refusal(found)
            return False
        part = file.with_name(file.name + ".part")
        trouble = await self._batches.fetch(found, part)
        if trouble is None:
            with disk_errors(file):  # a half, after a power cut, would look like missing results
                os.chmod(part, 0o600)  # noqa: PTH101
                durable(part)
                put(part, file)
            return True
        self._log_trouble("fetch", trouble)
        if not (trouble.heals or trouble.unknown):
            raise self._refusal(trouble)
        return False

    async def _cancel(self) -> None:
        batch = self._batch
        if self._state is BatchState.TO_RESUBMIT:
            self._move(BatchEvent.AGAIN, remote="", submitting=None)
        if self._state is BatchState.UNSUBMITTED:
            found = None
            if batch.submitting is not None:
                known = self._store.remotes() | self._foreign
                found = await self._batches.find(batch.id, batch.count, known)
            if isinstance(found, Trouble):
                raise self._refusal(found)
            if found is None:
                self._let_go()
                return
            self._accepted(found)
        if self._state is not BatchState.SUBMITTED:
            return
        trouble = await self._batches.cancel(self._batch.remote)
        if trouble is not None:
            now = await self._batches.look(self._batch.remote)
            if isinstance(now, Trouble) or now.state is RemoteState.RUNNING:
                raise self._refusal(trouble)
        self._note(why="cancelling was asked for")

    def _let_go(self) -> None:
        free = list(self._store.left_in(self._batch.id))
        self._store.settle(self._batch.id, free, (), lane="")  # as if it had never been made
        why = "cancelled before it was submitted"
        self._move(BatchEvent.REFUSED, why=why, ended=time.time())

    # What comes of trouble --------------------------------------------------------------------

    def _resubmit(self, why: str) -> None:
        if self._batch.tries >= _MOST_SUBMITS and not self._others_under_way():
            self._give_up(f"submitted {self._batch.tries} times; the last time: {why}", None)
            return
        _log.warning("batch put off", extra={"batch": self._batch.id, "why": why})
        self._move(BatchEvent.PUT_OFF, why=why)

    def _others_under_way(self) -> int:
        """How many other batches of the same endpoint may make room when they end."""
        own = self._batch
        return sum(
            each.label == own.label and each.id != own.id
            for each in self._store.open()
            if each.state == BatchState.SUBMITTED or each.submitting is not None
        )

    def _give_up(self, why: str, trouble: Trouble | None) -> None:
        """All of it fails, and is not asked again by this run."""
        self._collector.give_up(self._batch, why, trouble)
        self._batch = self._store.get(self._batch.id)
        self._move(BatchEvent.REFUSED, why=why, ended=time.time(), failed=self._batch.count)

    def _put_off_after(self, trouble: Trouble) -> None:
        if trouble.retry_after:
            self._wait = max(self._wait, min(trouble.retry_after, _LONGEST_WAIT))

    def _refusal(self, trouble: Trouble) -> PenstockError:
        kind = StorageFullError if trouble.kind is FailureKind.STORAGE else ApiError
        return kind(
            f"the batch {self._batch.id} at {self._batch.label}: {trouble.kind}: {trouble.message}",
            remedy="Put that right, then run it again: nothing is lost.",
        )

    def _log_trouble(self, step: str, trouble: Trouble) -> None:
        facts = {"batch": self._batch.id, "step": step, "kind": trouble.kind.value}
        _log.warning("batch trouble", extra={**facts, "said": trouble.message})

    # On disk ----------------------------------------------------------------------------------

    def _move(self, event: BatchEvent, **changes: object) -> None:
        state = advance(self._state, event)
        self._wait = min(_FIRST_WAIT, self._interval)
        self._note(state=state, **changes)

    def _note(self, **changes: object) -> None:
        self._store.update(self._batch.id, **changes)
        self._batch = self._store.get(self._batch.id)

    async def _pause(self) -> None:
        jitter = random.uniform(0.8, 1.0)  # noqa: S311
        await self._stop.pause(self._station.clock, self._wait * jitter)
        self._wait = min(self._interval, self._wait * _GROWTH)


def _is_there(file: Path) -> bool:
    return file.exists()


@contextmanager
def _held(store: Path, batch: str) -> Iterator[bool]:
    """The lock of a batch; False where another process has it."""
    folder = store.with_name("locks")
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder / batch, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(handle)
