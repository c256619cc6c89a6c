"""How a run will go on: rows a second, time left, and what it will have cost in the end.

Reckoned from the counters, a few times a second and never by the row. Speed and the share of rows
that must be asked are those of the last while, because a run that is taken up again races through
what is recorded and then slows down; what a question costs is the mean of all so far.
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from typing import NamedTuple

from penstock.engine.progress import Progress

__all__ = ["Moment", "Outlook", "Trend", "outlook"]

_OVER = 10.0
_EVERY = 0.25


class Moment(NamedTuple):
    """Where a run stood."""

    at: float
    rows: int
    asked: int
    """Questions that went out and came back."""

    @classmethod
    def of(cls, progress: Progress, at: float) -> Moment:
        return cls(at, progress.rows_done, progress.asked - progress.in_flight)


class Outlook(NamedTuple):
    """What is to be expected; None where nobody can say."""

    rate: float
    """Rows a second."""
    seconds: float | None
    """Until the end."""
    cost: Decimal | None
    """Dollars, of the whole run."""


def outlook(progress: Progress, then: Moment, now: Moment) -> Outlook:
    """What to expect if it goes on as between two moments."""
    rows, seconds = now.rows - then.rows, now.at - then.at
    rate = rows / seconds if seconds > 0 else 0.0
    if progress.rows_total is None or rows <= 0:
        return Outlook(rate, None, None)
    left = max(0, progress.rows_total - now.rows)
    cost = None
    if now.asked > 0 and not progress.unpriced:
        questions = Decimal(left) * max(0, now.asked - then.asked) / rows
        cost = progress.cost + questions * progress.cost / now.asked
    return Outlook(rate, left / rate if rate else None, cost)


class Trend:
    """The last moments of a run. Look now and then; each look is cheap."""

    def __init__(self, progress: Progress, began: float) -> None:
        self._progress = progress
        self._first = Moment.of(progress, began)
        self._moments: deque[Moment] = deque([self._first])

    def look(self, at: float) -> Outlook:
        """What to expect at this moment."""
        now = Moment.of(self._progress, at)
        moments = self._moments
        if at - moments[-1].at >= _EVERY:
            moments.append(now)
        # A slow run may not finish a row in that time: then as long as it takes for one.
        while len(moments) > 1 and moments[1].at <= at - _OVER and moments[1].rows < now.rows:
            moments.popleft()
        return outlook(self._progress, moments[0], now)

    def whole(self, at: float) -> Outlook:
        """The same over all of it, for the end."""
        return outlook(self._progress, self._first, Moment.of(self._progress, at))
