"""Live progress: one picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.cli.batchview import BatchWatch, line
from penstock.cli.show import dollars, out, span
from penstock.engine.outlook import Outlook, Trend
from penstock.engine.progress import Progress

if TYPE_CHECKING:
    from penstock.engine.workbench import Workbench

__all__ = ["ProgressView", "facts", "fitting"]

_LINE_EVERY = 5.0
_LONG = 600.0  # between two lines that say the same
_MOST_BATCHES = 12
_CENTS = Decimal("0.1")


class ProgressView:
    """Shows a Progress while work goes on; give its `tick` to whatever blocks."""

    def __init__(self, progress: Progress, title: str, bench: Workbench | None = None) -> None:
        began = time.monotonic()
        self._progress = progress
        self._title = title
        self._trend = Trend(progress, began)
        self._next_line = began + _LINE_EVERY
        self._live: _Bar | None = None
        self._batches = None if bench is None else BatchWatch(bench)
        self._said = ""

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._live = _Bar(self._title)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._batches is not None and self._progress.batches and self._live is not None:
            self._show_batches(self._batches, time.monotonic(), fresh=True)
        else:
            self._show(self._trend.whole(time.monotonic())._replace(seconds=None, cost=None))
        if self._live is not None:
            self._live.stop()
        if self._batches is not None:
            self._batches.close()

    def tick(self) -> None:
        """Show what is there now."""
        now = time.monotonic()
        expected = self._trend.look(now)
        if self._batches is not None and self._progress.batches:
            self._show_batches(self._batches, now)
        elif self._live is not None or now >= self._next_line:
            self._next_line = now + _LINE_EVERY
            self._show(expected)

    def _show_batches(self, watch: BatchWatch, now: float, *, fresh: bool = False) -> None:
        """A table on a terminal, else a line when something has changed."""
        batches = watch.look(self._progress.batches, fresh=fresh)
        if not batches:
            return
        said = line(batches)
        if self._live is not None:
            self._live.show(self._progress, [said], watch.picture(batches, _MOST_BATCHES))
        elif now >= self._next_line and (said != self._said or now >= self._next_line + _LONG):
            self._next_line = now + _LINE_EVERY
            self._said = said
            self._write([said])

    def _show(self, expected: Outlook) -> None:
        said = facts(self._progress, expected)
        if self._live is not None:
            self._live.show(self._progress, said)
            return
        self._write(said)

    def _write(self, said: list[str]) -> None:
        progress = self._progress
        total = "" if progress.rows_total is None else f"/{progress.rows_total:,}"
        rows = f"{progress.rows_done:,}{total} rows"
        sys.stderr.write(f"{self._title}: {', '.join([rows, *said])}\n")
        sys.stderr.flush()


def facts(progress: Progress, expected: Outlook) -> list[str]:
    """Speed, time left, cost so far and in the end, and more; the most important first."""
    said = [progress.note] if progress.note else []
    said.append(f"{expected.rate:,.1f} rows/s")
    if expected.seconds is not None and expected.seconds >= 1:
        said.append(f"{span(expected.seconds)} left")
    said.append(_cost(progress, expected))
    said += [f"{count:,} {kind}" for kind, count in dict(progress.failures).items()]
    said.append(f"{progress.input_tokens + progress.output_tokens:,} tokens")
    if progress.recorded:
        said.append(f"{progress.recorded:,} from the journal")
    return said


def _cost(progress: Progress, expected: Outlook) -> str:
    if progress.unpriced:
        return "cost unknown"
    if not expected.cost:
        return dollars(progress.cost)
    return f"{_about(progress.cost)} of about {_about(expected.cost)}"


def _about(cost: Decimal) -> str:
    """A sum with no more digits than are known: cents, or two digits where that is less."""
    return f"${cost:.2f}" if cost >= _CENTS else dollars(Decimal(f"{cost:.2g}"))


class _Bar:
    """Rich's bar; loaded only where there is a terminal. What has no room is left out."""

    def __init__(self, title: str) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        self._console = out(stderr=True)
        self._bar = 24 if self._console.width >= 100 else 8
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=self._bar),
            TextColumn("{task.fields[rows]}"),
            TextColumn("{task.fields[facts]}", style="dim"),
            console=self._console,
        )
        self._title = title
        self._task = self._bars.add_task(title, total=None, rows="", facts="")
        self._live = Live(self._bars, console=self._console, refresh_per_second=10)

    def start(self) -> None:
        self._live.start()

    def show(self, progress: Progress, said: list[str], below: Sequence[Any] = ()) -> None:
        """The bar with its facts, and under it what else there is."""
        from rich.console import Group

        done, total = progress.rows_done, progress.rows_total
        rows = f"{done:,}" if total is None else f"{done:,}/{total:,}"
        room = self._console.width - len(self._title) - self._bar - len(rows) - 3
        fits = fitting(said, room)
        self._bars.update(self._task, completed=done, total=total, rows=rows, facts=fits)
        self._live.update(Group(self._bars, *below))

    def stop(self) -> None:
        self._live.stop()


def fitting(said: list[str], room: int) -> str:
    """As many of the facts as have room in a line."""
    line = ""
    for fact in said:
        longer = f"{line}, {fact}" if line else fact
        if len(longer) > room:
            break
        line = longer
    return line
