"""A run that goes on without any model; its folder, its line in the catalog, its feed are real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.engine.run import Run
from penstock.engine.states import RunState
from penstock.live import Feed
from penstock.outcome import FailureKind
from penstock.store import Workspace
from penstock.store.catalog import Catalog

__all__ = ["Going"]


class Going:
    """Rows go in by `add`; what a page should show is on disk after `tell`."""

    def __init__(self, folder: Path, total: int | None = None) -> None:
        self.workspace = Workspace(folder / "penstock").prepare()
        self.catalog = Catalog(self.workspace.catalog)
        self.run = Run(self.workspace, self.catalog, kind="generate", id="generate-1")
        self.run.progress.rows_total = total
        self._number = 0

    def __enter__(self) -> Self:
        self.run.__enter__()
        self.feed = Feed(self.run.folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.feed.close()
        self.run.__exit__(kind, error, trace)
        self.catalog.close()

    def add(self, row: Mapping[str, Any], failure: str = "", message: str = "") -> None:
        failures: Sequence[Mapping[str, Any]] = ()
        progress = self.run.progress
        if failure:
            failures = [{"kind": failure, "message": message, "attempts": 3}]
            progress.failures[FailureKind(failure)] += 1
            progress.rows_failed += 1
        self.feed.add(self._number, row, "failed" if failure else "ok", failures)
        self._number += 1
        progress.rows_done += 1
        progress.asked += 1
        progress.input_tokens += 180
        progress.output_tokens += 64
        progress.cost += Decimal("0.0000654")

    def tell(self) -> None:
        """Let those who look on see it."""
        self.feed.flush()
        self.catalog.update_run(self.run.id, counters=self.run.progress.counters())

    def finish(self, state: RunState = RunState.COMPLETED, message: str = "") -> None:
        self.tell()
        self.run.finish(state, message)
