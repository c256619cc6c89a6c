"""Live progress: one picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from decimal import Decimal
from types import TracebackType
from typing import Self

from penstock.cli.show import dollars, out
from penstock.engine.outlook import Outlook, Trend
from penstock.engine.progress import Progress

__all__ = ["ProgressView", "facts", "fitting"]

_LINE_EVERY = 5.0
_CENTS = Decimal("0.1")


class ProgressView:
    """Shows a Progress while work goes on; give its `tick` to whatever blocks."""

    def __init__(self, progress: Progress, title: str) -> None:
        began = time.monotonic()
        self._progress = progress
        self._title = title
        self._trend = Trend(progress, began)
        self._next_line = began + _LINE_EVERY
        self._live: _Bar | None = None

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
        self._show(self._trend.whole(time.monotonic())._replace(seconds=None, cost=None))
        if self._live is not None:
            self._live.stop()

    def tick(self) -> None:
        """Show what is there now."""
        now = time.monotonic()
        expected = self._trend.look(now)
        if self._live is not None or now >= self._next_line:
            self._next_line = now + _LINE_EVERY
            self._show(expected)

    def _show(self, expected: Outlook) -> None:
        said = facts(self._progress, expected)
        if self._live is not None:
            self._live.show(self._progress, said)
            return
        progress = self._progress
        total = "" if progress.rows_total is None else f"/{progress.rows_total:,}"
        rows = f"{progress.rows_done:,}{total} rows"
        sys.stderr.write(f"{self._title}: {', '.join([rows, *said])}\n")
        sys.stderr.flush()


def facts(progress: Progress, expected: Outlook) -> list[str]:
    """Speed, time left, cost so far and in the end, and more; the most important first."""
    said = [f"{expected.rate:,.1f} rows/s"]
    if expected.seconds is not None and expected.seconds >= 1:
        said.append(f"{_span(expected.seconds)} left")
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

    def start(self) -> None:
        self._bars.start()

    def show(self, progress: Progress, said: list[str]) -> None:
        done, total = progress.rows_done, progress.rows_total
        rows = f"{done:,}" if total is None else f"{done:,}/{total:,}"
        room = self._console.width - len(self._title) - self._bar - len(rows) - 3
        line = fitting(said, room)
        self._bars.update(self._task, completed=done, total=total, rows=rows, facts=line)

    def stop(self) -> None:
        self._bars.stop()


def fitting(said: list[str], room: int) -> str:
    """As many of the facts as have room in a line."""
    line = ""
    for fact in said:
        longer = f"{line}, {fact}" if line else fact
        if len(longer) > room:
            break
        line = longer
    return line


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
