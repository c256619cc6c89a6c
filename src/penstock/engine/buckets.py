"""Token buckets: so many a minute, known beforehand or learnt from what the provider says.

A bucket may go into debt: a request larger than the bucket passes alone, when it is full, and
what was estimated is put right when the true number is known. Every response corrects the level.
Servers count what remains when a question arrives, or when they answer, and answers overtake one
another: so the truth lies between what is said to remain and that less all that was sent since.
"""

from __future__ import annotations

from penstock.providers.ratelimits import Quota

__all__ = ["Bucket"]

# A hair below the limit: the server's clock is not ours, and a 429 costs more than a percent.
_CAUTION = 0.985
# Questions overtake one another too: some sent before had not arrived when this one was counted.
_OVERTAKEN = 1.25
_DAY = 86_400
_FIRST_BURST = 1.0  # seconds' worth, until the server has said what it holds


class Bucket:
    """One limit of one endpoint."""

    __slots__ = ("_known", "_own", "_when", "capacity", "level", "limit", "rate")

    def __init__(self, limit: float, now: float, *, own: bool = False) -> None:
        """`own`: the user's own limit, which no server can raise."""
        self.limit = limit
        self._own = limit if own else None
        self.rate = limit / 60 * _CAUTION
        self.capacity = max(1.0, self.rate * _FIRST_BURST)
        self.level = self.capacity
        self._when = now
        self._known = 0

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may pass."""
        self._refill(now)
        need = min(amount, self.capacity) - self.level
        return 0.0 if need <= 1e-9 else need / self.rate

    def take(self, amount: float) -> None:
        """Charge it; also gives back, when negative."""
        self.level = min(self.capacity, self.level - amount)

    def correct(self, amount: float, number: int) -> None:
        """Put right what was charged for the question of that number, unless the server's own
        count already did."""
        if number > self._known:
            self.take(amount)

    def learn(self, quota: Quota, number: int, since: float, now: float) -> None:
        """Take in what a response said: to the question of that number, after which so much was
        sent."""
        self._refill(now)
        if self._own is not None and quota.limit and quota.limit > self._own:
            if quota.remaining is not None:
                self.level = min(self.level, float(quota.remaining))
            return
        if quota.limit:
            self.limit = quota.limit
            self.rate = _rate(quota) * _CAUTION
        if quota.remaining is not None:
            self.capacity = max(self.capacity, quota.remaining, 1.0)
            least = min(self.capacity, quota.remaining - _OVERTAKEN * since)
            level = min(max(self.level, least), float(quota.remaining))
            if level != self.level:
                self.level = level
                self._known = max(self._known, number)

    def _refill(self, now: float) -> None:
        self.level = min(self.capacity, self.level + (now - self._when) * self.rate)
        self._when = now


def _rate(quota: Quota) -> float:
    """A second's share. Limits are by the minute; one that fills much more slowly is by the day,
    and slower than that is none."""
    assert quota.limit
    by_minute = quota.limit / 60
    used = quota.limit - (quota.limit if quota.remaining is None else quota.remaining)
    if not quota.reset or used < 3:
        return by_minute
    seen = used / quota.reset
    return max(seen, quota.limit / _DAY) if seen < by_minute / 5 else by_minute
