"""Live progress: one picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import Self

from penstock.cli.show import dollars, out
from penstock.engine.progress import Progress

__all__ = ["ProgressView"]

_LINE_EVERY = 5.0
_RATE_OVER = 10.0


class ProgressView:
    """Shows a Progress while work goes on; give its `tick` to whatever blocks."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._began = time.monotonic()
        self._seen: deque[tuple[float, int]] = deque()
        self._next_line = self._began + _LINE_EVERY
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
        if self._live is not None:
            self._live.show(self._progress, self._facts())
            self._live.stop()
        else:
            sys.stderr.write(self._line() + "\n")

    def tick(self) -> None:
        """Show what is there now."""
        now = time.monotonic()
        self._seen.append((now, self._progress.rows_done))
        while self._seen[0][0] < now - _RATE_OVER and len(self._seen) > 1:
            self._seen.popleft()
        if self._live is not None:
            self._live.show(self._progress, self._facts())
        elif now >= self._next_line:
            self._next_line = now + _LINE_EVERY
            sys.stderr.write(self._line() + "\n")
            sys.stderr.flush()

    def _rate(self) -> float:
        """Rows a second over the last while; over all of it at the end."""
        if len(self._seen) > 1 and self._seen[-1][0] - self._seen[0][0] > 1:
            (then, before), (now, done) = self._seen[0], self._seen[-1]
            return (done - before) / (now - then)
        return self._progress.rows_done / max(1e-3, time.monotonic() - self._began)

    def _facts(self) -> str:
        progress = self._progress
        rate = self._rate()
        facts = [f"{rate:,.1f} rows/s"]
        if progress.rows_total is not None and rate > 0 and progress.rows_done:
            left = (progress.rows_total - progress.rows_done) / rate
            if left >= 1:
                facts.append(f"{_span(left)} left")
        facts.append(f"{progress.input_tokens + progress.output_tokens:,} tokens")
        facts.append("cost unknown" if progress.unpriced else dollars(progress.cost))
        if progress.recorded:
            facts.append(f"{progress.recorded:,} from the journal")
        facts += [f"{count:,} {kind}" for kind, count in dict(progress.failures).items()]
        return ", ".join(facts)

    def _line(self) -> str:
        progress = self._progress
        total = "" if progress.rows_total is None else f"/{progress.rows_total:,}"
        return f"{self._title}: {progress.rows_done:,}{total} rows, {self._facts()}"


class _Bar:
    """Rich's bar; loaded only where there is a terminal."""

    def __init__(self, title: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}", style="dim"),
            console=out(stderr=True),
        )
        self._task = self._bars.add_task(title, total=None, facts="")

    def start(self) -> None:
        self._bars.start()

    def show(self, progress: Progress, facts: str) -> None:
        self._bars.update(
            self._task, completed=progress.rows_done, total=progress.rows_total, facts=facts
        )

    def stop(self) -> None:
        self._bars.stop()


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
