"""How many questions may be in flight at once: found out by trying.

Slow start doubles it each round while all is well; after a cut it comes back to near the ceiling
it met, and from there grows by one a round. A 429 cuts it, once for all that was sent before the
cut. An error of the server does not: that is no sign of our speed. It grows only while it is used.

Servers that never say 429 slow down instead. There, each round's throughput is compared with the
round before: when more at once twice brings no more answers, it stays where that was so.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Concurrency"]

_CUT = 0.7
_NEAR = 0.9
_REGAIN = 0.25  # of what a cut took, each round
_GAIN = 0.3  # of the growth in concurrency must show in throughput, or it was for nothing
_ENOUGH_TO_TELL = 0.25
_SLACK = 1.15
_ROUNDS_AT_REST = 20
_ONE_BURST = 1.0
_SHORTEST_ROUND = 0.2


class Concurrency:
    """The window of one endpoint. Pure: told the time, asks nobody."""

    def __init__(self, most: int, now: float, first: int = 8) -> None:
        self.most = most
        self.window = float(min(first, most))
        self.ceiling: float | None = None
        self._slow_start = True
        self._cut_at = -1.0
        self._round = _Round(now, self.window)
        self._latency = 0.0
        self._reference: _Seen | None = None
        self._rest = 0
        self._doubts = False
        self.cuts = 0

    @property
    def limit(self) -> int:
        return max(1, int(self.window))

    def begin_at(self, count: float) -> None:
        """Begin with so many at once: what a server says it bears in a second, it bears at once.

        Nothing is changed when the window has been at its ceiling.
        """
        if self._slow_start and self.ceiling is None:
            self.window = min(float(self.most), max(self.window, count))

    def answered(self, now: float, in_flight: int, latency: float) -> None:
        """An answer came; `in_flight` counts it too."""
        used = in_flight >= _NEAR * self.limit
        if used and not self._rest and not self._doubts:
            self._grow()
        self._round.add(latency, used)
        if self._round.over(now):
            self._judge(now)

    def throttled(self, now: float, sent_at: float, rate: float = 0.0) -> None:
        """A 429 came for something sent at that time.

        What the rate needs, of answers a second that came or may come, is not cut away.
        """
        if sent_at <= self._cut_at or now - self._cut_at < _ONE_BURST:
            return
        self._cut_at = now
        self.cuts += 1
        self.ceiling = self.window
        needed = rate * (self._round.latency or self._latency) * _SLACK
        self.window = max(1.0, self.window * _CUT, min(self.window, needed))
        self._slow_start = False
        self._begin_round(now)

    def restart(self, now: float) -> None:
        """After an outage: from half of what was, growing fast again."""
        self.window = max(1.0, self.window / 2)
        self._slow_start = True
        self._reference = None
        self._rest = 0
        self._begin_round(now)

    def _grow(self) -> None:
        if self._slow_start and (self.ceiling is None or self.window < _NEAR * self.ceiling):
            self.window += 1.0
        else:
            self._slow_start = False
            lost = 0.0 if self.ceiling is None else _NEAR * self.ceiling - self.window
            self.window += max(1.0, lost * _REGAIN) / self.window
        self.window = min(self.window, float(self.most))

    def _judge(self, now: float) -> None:
        """Did more at once bring more answers?"""
        ended, self._round = self._round, _Round(now, self.window)
        self._latency = ended.latency
        if self._rest:
            self._rest -= 1
            if not self._rest:
                self._reference = None
            return
        if not ended.used:
            return
        throughput = ended.throughput(now)
        before = self._reference
        if before is None or ended.window < before.window:
            self._reference = _Seen(ended.window, throughput, ended.latency)
            return
        wider = ended.window / before.window - 1
        if wider < _ENOUGH_TO_TELL:
            return
        # By Little's law: what that throughput needs, had nobody stood in line.
        needed = throughput * before.latency * _SLACK
        if throughput / before.throughput - 1 >= _GAIN * wider or needed >= ended.window:
            self._reference = _Seen(ended.window, throughput, ended.latency)
            self._doubts = False
            return
        self._doubts = not self._doubts
        if self._doubts:  # one bad round may have been a stall of this machine: look again
            return
        self.window = min(float(self.most), max(1.0, before.window, needed))
        self.ceiling = self.window
        self._slow_start = False
        self._rest = _ROUNDS_AT_REST
        self._begin_round(now)

    def _begin_round(self, now: float) -> None:
        self._doubts = False
        self._round = _Round(now, self.window)


class _Seen(NamedTuple):
    """What a round brought."""

    window: float
    throughput: float
    latency: float


class _Round:
    """What is seen while the window is about the same: as long as two answers take."""

    __slots__ = ("_began", "_count", "_latency", "used", "window")

    def __init__(self, now: float, window: float) -> None:
        self.window = window
        self.used = False
        self._began = now
        self._count = 0
        self._latency = 0.0

    def add(self, latency: float, used: bool) -> None:
        self._count += 1
        self._latency += latency
        self.used |= used

    def over(self, now: float) -> bool:
        length = max(_SHORTEST_ROUND, 2 * self.latency)
        return now - self._began >= length and self._count >= self.window

    @property
    def latency(self) -> float:
        return self._latency / max(1, self._count)

    def throughput(self, now: float) -> float:
        return self._count / max(1e-9, now - self._began)
