"""Batches as people see them: cells of a table, and a line for many."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from penstock.cli.show import dollars, safe, span
from penstock.engine.batch_keeping import age, cost, opened
from penstock.engine.batch_states import BatchState
from penstock.store.batches import BatchRow, BatchStore

if TYPE_CHECKING:
    from rich.table import Table

    from penstock.engine.workbench import Workbench

__all__ = ["HEADINGS", "BatchWatch", "cells", "line", "table"]

HEADINGS = ("batch", "state", "done", "failed", "of", "age", "cost")
_EVERY = 1.0


def cells(batch: BatchRow, spent: Decimal | None) -> tuple[str, ...]:
    """One batch, under HEADINGS. What it costs is known when it is collected."""
    collected = not BatchState(batch.state).open
    return (
        batch.id,
        batch.state,
        f"{batch.done:,}",
        f"{batch.failed:,}",
        f"{batch.count:,}",
        span(age(batch)),
        dollars(spent) if collected or spent else "",
    )


def line(batches: Sequence[BatchRow]) -> str:
    """Many batches in a line: `3 batches (2 submitted, 1 downloaded), 80 of 120 done, 1 failed`."""
    states = Counter(batch.state for batch in batches)
    said = ", ".join(f"{n:,} {state}" for state, n in states.items())
    done, failed = (sum(getattr(each, name) for each in batches) for name in ("done", "failed"))
    total = sum(batch.count for batch in batches)
    many = "batch" if len(batches) == 1 else "batches"
    return (
        f"{len(batches):,} {many} ({said}), {done:,} of {total:,} done"
        + (f", {failed:,} failed" if failed else "")
    )  # fmt: skip


def table(batches: Sequence[BatchRow], of: Callable[[BatchRow], Decimal | None]) -> Table:
    """A table for a picture that changes; the ids without that of the run, where it is one."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="dim")
    for heading in HEADINGS:
        right = heading not in ("batch", "state")
        made.add_column(heading, justify="right" if right else "left", no_wrap=True)
    common = f"{batches[0].run}-" if len({batch.run for batch in batches}) == 1 else ""
    for batch in batches:
        name, *rest = cells(batch, of(batch))
        made.add_row(*(Text(safe(cell)) for cell in (name.removeprefix(common), *rest)))
    return made


class BatchWatch:
    """Reads batches from the store, once a second at most. Used in one thread."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._stack = ExitStack()
        self._store: BatchStore | None = None
        self._read = 0.0
        self._last: list[BatchRow] = []
        self._cost: Callable[[BatchRow], Decimal | None] | None = None

    def look(self, ids: Sequence[str], *, fresh: bool = False) -> list[BatchRow]:
        """These batches, those first that are not collected."""
        now = time.monotonic()
        if not ids or (now - self._read < _EVERY and not fresh):
            return self._last
        self._read = now
        if self._store is None:
            self._store = self._stack.enter_context(opened(self._bench))
        if self._store is not None:
            wanted = set(ids)
            found = [batch for batch in self._store.all() if batch.id in wanted]
            self._last = sorted(found, key=lambda batch: not BatchState(batch.state).open)
        return self._last

    def picture(self, batches: Sequence[BatchRow], most: int) -> list[Any]:
        """What fits into so many lines: a table, and a line for what it leaves out."""
        self._cost = self._cost or cost(self._bench)
        shown = batches if len(batches) <= most else batches[: most - 1]
        rest = batches[len(shown) :]
        return [table(shown, self._cost), *([f"and {line(rest)}"] if rest else [])]

    def close(self) -> None:
        self._stack.close()
