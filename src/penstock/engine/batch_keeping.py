"""What people do with batches: look at them, collect them, cancel them.

A run sees to its own batches while it goes on. This is for the time when it does not: what is
collected here is in the journal, so that the run finds it when it is taken up again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

from penstock.engine.attend import AT_PROVIDER, Attendant
from penstock.engine.batch import batches_of, endpoint_of
from penstock.engine.batch_states import BatchState
from penstock.engine.bridge import run as in_engine
from penstock.engine.engine import Engine
from penstock.engine.progress import Progress
from penstock.engine.run import is_held
from penstock.engine.station import Station
from penstock.engine.stop import Stop
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, NotFoundError, PenstockError
from penstock.store.batches import BatchRow, BatchStore

__all__ = ["Seen", "age", "cancel", "collect", "cost", "find", "listed", "opened", "parked"]

_ADDED = (
    "asked", "attempts", "input_tokens", "output_tokens", "cached_tokens", "cost", "unpriced",
    "price_sources",
)  # fmt: skip


class Seen(NamedTuple):
    """What collecting came to for one batch."""

    batch: BatchRow
    said: str = ""
    """Why it was not collected, where there is more to say than that it is not done yet."""
    code: Exit = Exit.OK


@contextmanager
def opened(bench: Workbench) -> Iterator[BatchStore | None]:
    """The store of batches; None in a workspace that has none."""
    path = bench.workspace.batches
    if not bench.workspace.check().exists or not path.exists():
        yield None
        return
    store = BatchStore(path)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def parked(bench: Workbench, engine: Engine) -> Iterator[None]:
    """Nothing is asked meanwhile that lies in an open batch: that would be paid for twice."""
    with opened(bench) as store:
        if store is not None and store.open():
            engine.parked = lambda key: any(w.batch for w in store.find([key]).values())
        try:
            yield
        finally:
            engine.parked = None


def listed(bench: Workbench, run: str = "", *, only_open: bool = False) -> list[BatchRow]:
    """Batches, oldest first: of one run, or all of them."""
    with opened(bench) as store:
        found = [] if store is None else store.all()
    return [
        batch
        for batch in found
        if (not run or batch.run == run) and (not only_open or BatchState(batch.state).open)
    ]


def find(bench: Workbench, name: str) -> BatchRow:
    """The batch of that id, or of an id that only one begins with."""
    [batch] = _named(bench, [name], several=False)
    return batch


def _named(bench: Workbench, names: Sequence[str], *, several: bool) -> list[BatchRow]:
    every = listed(bench)
    found: dict[str, BatchRow] = {}
    for name in names:
        fitting = [batch for batch in every if batch.id.startswith(name)] if name else []
        exact = [batch for batch in fitting if batch.id == name] or fitting
        if not exact or (len(exact) > 1 and not several):
            said = f"{name!r} fits several batches" if exact else f"there is no batch {name!r}"
            raise NotFoundError(said, remedy="See `penstock batches list`.")
        found.update((batch.id, batch) for batch in exact)
    return list(found.values())


def cost(bench: Workbench) -> Callable[[BatchRow], Decimal | None]:
    """What a batch has cost as far as it is collected; None where no price is known."""
    prices = bench.prices()
    tracked = bench.settings.token_management.cost_tracking

    def of(batch: BatchRow) -> Decimal | None:
        spent = Decimal(batch.cost)
        known = spent or (tracked and prices.price(endpoint_of(batch), "batch") is not None)
        return spent if known else None

    return of


def age(batch: BatchRow) -> float:
    """Seconds since it was submitted, or made; to its end, where it has ended."""
    return max(0.0, (batch.ended or time.time()) - (batch.submitted or batch.created))


def collect(
    bench: Workbench,
    names: Sequence[str] = (),
    *,
    waits: bool = False,
    on_interrupt: Callable[[], None] | None = None,
) -> list[Seen]:
    """Take in what has ended, of these batches (a run's id stands for all of its own) or of all.

    Nothing is submitted: what is not at its provider is left to its run, and so is all of a run
    that goes on.
    """
    chosen = _named(bench, names, several=True) if names else listed(bench)
    wanted = [batch for batch in chosen if BatchState(batch.state).open]
    stop = Stop()

    async def work(station: Station) -> list[Seen]:
        with opened(bench) as store:
            assert store is not None
            keeper = _Keeper(bench, station, store, stop, waits=waits)
            async with asyncio.TaskGroup() as tasks:
                made = [tasks.create_task(keeper.collect(batch)) for batch in wanted]
            return [task.result() for task in made]

    if not wanted:
        return []
    found: Any = in_engine(bench.thread, work, cancel=stop.throw, on_interrupt=on_interrupt)
    return found  # type: ignore[no-any-return]


def cancel(bench: Workbench, name: str) -> BatchRow:
    """Have the provider end a batch; what is finished is collected later, as of any other."""
    batch = find(bench, name)
    stop = Stop()

    async def work(station: Station) -> BatchRow:
        with opened(bench) as store:
            assert store is not None
            await _Keeper(bench, station, store, stop).attendant(batch, Progress()).cancel()
            return store.get(batch.id)

    found: Any = in_engine(bench.thread, work, cancel=stop.throw)
    return found  # type: ignore[no-any-return]


class _Keeper:
    """Sees to batches for nobody in particular. Used in the engine's loop."""

    def __init__(
        self,
        bench: Workbench,
        station: Station,
        store: BatchStore,
        stop: Stop,
        *,
        waits: bool = False,
    ) -> None:
        self._bench = bench
        self._station = station
        self._store = store
        self._stop = stop
        self._waits = waits
        self._lane = secrets.token_hex(8)

    def attendant(self, batch: BatchRow, progress: Progress) -> Attendant:
        endpoint = endpoint_of(batch)
        return Attendant(
            self._station,
            self._store,
            batch,
            endpoint,
            batches_of(self._station, endpoint),
            lane=self._lane,
            progress=progress,
            stop=self._stop,
            waits=self._waits,
            interval=self._bench.settings.batch_processing.check_interval,
        )

    async def collect(self, batch: BatchRow) -> Seen:
        if is_held(self._bench.workspace.run(batch.run)):
            return Seen(batch, "its run goes on and sees to it", Exit.SUBMITTED)
        if BatchState(batch.state) not in AT_PROVIDER:
            return Seen(batch, f"go on with: penstock runs resume {batch.run}", Exit.SUBMITTED)
        progress = Progress()
        try:
            done = await self.attendant(batch, progress).collect()
        except PenstockError as error:
            return Seen(self._store.get(batch.id), error.message, error.exit_code)
        finally:
            self._account(batch.run, progress)
        return Seen(self._store.get(batch.id), code=Exit.OK if done else Exit.SUBMITTED)

    def _account(self, run: str, spent: Progress) -> None:
        """Add what was spent to the run that asked."""
        found = self._bench.catalog.find_run(run)
        if found is None or not spent.asked:
            return
        earlier = found["counters"] or Progress().counters()
        spent.add(earlier)
        now = spent.counters()
        counters = {**earlier, **{name: now[name] for name in _ADDED}}
        self._bench.catalog.update_run(run, counters=counters)
