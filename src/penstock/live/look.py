"""What a page shows of a run: its state in numbers, and rows as text that fits.

Reckoned from the catalog's line of the run and from its feed, so that whoever shows it may be
another process than the one at work.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from penstock.engine.outlook import Outlook, Trend
from penstock.engine.progress import Progress
from penstock.engine.run import is_held
from penstock.engine.states import RunState
from penstock.live.reader import FeedReader, Size
from penstock.store import Workspace
from penstock.tables.plain import clean, text_of

if TYPE_CHECKING:
    from penstock.store.catalog import Catalog

__all__ = ["MOST_ROWS", "Look"]

MOST_ROWS = 500
_FRESH = 0.2
_CUT = 300
_WHOLE = 1_000_000
_EXACT = 2**53
_NUMBERS = ("asked", "attempts", "input_tokens", "output_tokens", "recorded", "may_be_paid")


class Look:
    """One run, as a page sees it. Several threads may ask."""

    def __init__(
        self,
        workspace: Workspace,
        catalog: Catalog,
        run_id: str,
        *,
        title: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = workspace.run(run_id)
        self._catalog = catalog
        self._run_id = run_id
        self._title = clean(title)
        self._clock = clock
        self._reader = FeedReader(self._folder)
        self._lock = threading.Lock()
        self._progress = Progress()
        self._trend: Trend | None = None
        self._last: tuple[float, dict[str, Any]] | None = None

    def state(self) -> dict[str, Any]:
        """The run in numbers; the same for all who ask within a moment."""
        with self._lock:
            now = self._clock()
            if self._last is None or now - self._last[0] >= _FRESH:
                self._last = (now, self._state(now))
            return self._last[1]

    def rows(self, start: int, count: int, failed_only: bool) -> list[dict[str, Any]]:
        """A page of rows, their cells cut; one of them whole is `row`."""
        found = self._reader.page(start, min(count, MOST_ROWS), failed_only)
        return [
            {
                "number": each["number"],
                "status": each["status"],
                "kinds": [str(failure.get("kind", "")) for failure in each["failures"]],
                "cells": {name: _shown(value, _CUT) for name, value in each["row"].items()},
            }
            for each in found
        ]

    def row(self, place: int, failed_only: bool) -> dict[str, Any] | None:
        """One row whole; a cell of more than a million characters is cut there."""
        found = self._reader.page(place, 1, failed_only)
        if not found:
            return None
        laid_out = ((name, _laid_out(value)) for name, value in found[0]["row"].items())
        cells = [
            {"name": name, "value": _shown(value, _WHOLE), "length": len(text_of(value) or "")}
            for name, value in laid_out
        ]
        failures = [
            {name: _shown(value, _WHOLE) for name, value in failure.items()}
            for failure in found[0]["failures"]
        ]
        facts = {"number": found[0]["number"], "status": found[0]["status"]}
        return {**facts, "failures": failures, "cells": cells}

    def _state(self, now: float) -> dict[str, Any]:
        today = time.time()
        run = self._catalog.find_run(self._run_id) or {}
        size = self._reader.size()
        state = self._named(run.get("state", RunState.PENDING))
        ended = state not in (RunState.PENDING, RunState.RUNNING)
        counters = run.get("counters") or {}
        self._take(counters, size, ended)
        began = run.get("started")
        until = (run.get("ended") or today) if ended else today
        elapsed = None if began is None else max(0.0, until - began)
        expected = self._expected(now, elapsed, ended)
        progress = self._progress
        return {
            "title": self._title,
            "run": self._run_id,
            "state": state,
            "ended": ended,
            "message": clean(run.get("message") or ""),
            "feed": size.mark,
            "rows": size.rows,
            "failed_rows": size.failed,
            "columns": self._reader.columns(),
            "done": progress.rows_done,
            "total": progress.rows_total,
            "elapsed": elapsed,
            "rate": expected.rate,
            "left": None if ended else expected.seconds,
            "cost": None if progress.unpriced else str(progress.cost),
            "cost_expected": None if ended or expected.cost is None else str(expected.cost),
            "failures": counters.get("failures") or {},
            **{name: counters.get(name) or 0 for name in _NUMBERS},
        }

    def _named(self, state: str) -> str:
        """A run that was killed could not say so itself."""
        killed = state == RunState.RUNNING and not is_held(self._folder)
        return "killed" if killed else str(state)

    def _take(self, counters: dict[str, Any], size: Size, ended: bool) -> None:
        """The counters are written now and then; the feed may be ahead of them."""
        progress = self._progress
        progress.rows_total = counters.get("rows_total")
        done = counters.get("rows_done") or 0
        ahead = min(size.rows, size.rows if progress.rows_total is None else progress.rows_total)
        progress.rows_done = done if ended and counters else max(done, ahead)
        progress.asked = counters.get("asked") or 0
        progress.unpriced = counters.get("unpriced") or 0
        progress.cost = Decimal(counters.get("cost") or "0")

    def _expected(self, now: float, elapsed: float | None, ended: bool) -> Outlook:
        if self._trend is None or ended:
            self._trend = Trend(self._progress, now)
        if ended:
            rate = self._progress.rows_done / elapsed if elapsed else 0.0
            return Outlook(rate, None, None)
        return self._trend.look(now)


def _laid_out(value: Any) -> Any:
    """Lists and objects over several lines, as people read them; the rest as it is."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return value


def _shown(value: Any, most: int) -> Any:
    """A number as it is where a browser keeps it exactly, anything else as text."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT:
        return value
    text = clean(text_of(value) or "")
    return text if len(text) <= most else f"{text[:most]}…"
