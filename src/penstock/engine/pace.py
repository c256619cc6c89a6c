"""A pace for servers that refuse without saying how much they bear.

After a 429 without a known limit, no more goes out than was lately let through. Then the pace
quickens: at first fast, for nothing is known yet; later by a few percent a second, and the more
the longer nobody was refused. It is dropped when it no longer holds anybody. A few refusals among
many answers are borne: some servers refuse now and then for reasons that are not our speed.
"""

from __future__ import annotations

from collections import deque

from penstock.engine.buckets import Bucket

__all__ = ["Pace"]

_SLOT = 0.1
_SPAN = 3.0
_LATELY = 1.5
_SHORTEST = 0.3  # seconds that must be seen before a pace is judged anew
_AGREE = 1.6  # two findings in a row that differ by no more
_BORNE = 0.03
_EASE = 0.92
_SEARCH = 1.0  # growth a second: while searching, and after
_QUICKEN = 0.02
_MOST = 0.5
_DOUBLES_IN = 3.0
_IDLE = 10.0
_LEAST = 0.5


class Pace:
    """Requests a second, found out by being refused. Pure: told the time."""

    def __init__(self) -> None:
        self._bucket: Bucket | None = None
        self._slots: deque[_Slot] = deque()
        self._searching = True
        self._found = 0.0
        self._eased_at = 0.0
        self._refused_at = 0.0
        self._quickened_at = 0.0
        self._held_at = 0.0

    @property
    def rate(self) -> float | None:
        """Requests a second; None when nobody is held."""
        return None if self._bucket is None else round(self._bucket.rate, 3)

    @property
    def holds(self) -> bool:
        """Whether there is a pace at all."""
        return self._bucket is not None

    def wait(self, now: float) -> float:
        """Seconds until the next may go."""
        if self._bucket is None:
            return 0.0
        if now - self._held_at > _IDLE:
            self._bucket = None
            return 0.0
        if now - self._quickened_at >= _SLOT:
            self._quicken(self._bucket, now)
        wait = self._bucket.wait(1, now)
        if wait > 0:
            self._held_at = now
        return wait

    def take(self, now: float) -> None:
        """One goes."""
        self._slot(now).sent += 1
        if self._bucket is not None:
            self._bucket.take(1)

    def answered(self, now: float) -> None:
        """One was answered."""
        self._slot(now).answered += 1

    def refused(self, now: float) -> bool:
        """One was refused; whether there are more of those than is usual at any speed."""
        self._slot(now).refused += 1
        self._refused_at = now
        sent, refused = self._lately(now - _SPAN)
        return refused > 1 + _BORNE * sent

    def ease(self, now: float, sent_at: float) -> None:
        """Too many are refused; one of them was sent at that time."""
        began = self._eased_at
        if sent_at <= began or now - began < _SHORTEST:
            return
        since = max(began, now - _LATELY)
        sent, refused = self._lately(since)
        seen = max(_SHORTEST, now - max(since, self._slots[0].when))
        found = max(_LEAST, (sent - refused) / seen * _EASE)
        agrees = self._found < _AGREE * found and found < _AGREE * self._found
        self._searching = self._bucket is None or (self._searching and not agrees)
        self._found = found
        self._bucket = Bucket(found * 60, now)
        self._bucket.level = 0.0
        self._eased_at = self._quickened_at = self._held_at = now

    def _lately(self, since: float) -> tuple[int, int]:
        slots = [slot for slot in self._slots if slot.when >= since]
        return sum(slot.sent for slot in slots), sum(slot.refused for slot in slots)

    def goodput(self, now: float) -> float:
        """Answers a second, lately."""
        if not self._slots:
            return 0.0
        span = min(_SPAN, max(1.0, now - self._slots[0].when))
        return sum(slot.answered for slot in self._slots if slot.when > now - _SPAN) / span

    def _quicken(self, bucket: Bucket, now: float) -> None:
        growth = _SEARCH
        if not self._searching:
            growth = min(_MOST, _QUICKEN * 2 ** min(10.0, (now - self._refused_at) / _DOUBLES_IN))
        if now - self._held_at < 1:
            bucket.rate *= 1 + growth * min(1.0, now - self._quickened_at)
            bucket.capacity = max(1.0, bucket.rate)
        self._quickened_at = now

    def _slot(self, now: float) -> _Slot:
        if self._slots and now - self._slots[-1].when < _SLOT:
            return self._slots[-1]
        while self._slots and self._slots[0].when < now - _SPAN:
            self._slots.popleft()
        slot = _Slot(now)
        self._slots.append(slot)
        return slot


class _Slot:
    """What happened within a tenth of a second."""

    __slots__ = ("answered", "refused", "sent", "when")

    def __init__(self, when: float) -> None:
        self.when = when
        self.sent = self.refused = self.answered = 0
