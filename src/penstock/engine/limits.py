"""The limiter: who may send to an endpoint, and when.

Four things decide, each a small piece of its own: buckets for what the provider counts by the
minute, the window for how many at once, the gate for a Retry-After, and the outage. Waiters stand
in one line, first come first served, and are woken by events (an answer, a timer), never by
polling. Where nobody says a limit and a 429 comes all the same, a pace is set by the answers that
did come.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import Any

from penstock.endpoint import Limits
from penstock.engine.buckets import Bucket
from penstock.engine.clock import Clock, Timer
from penstock.engine.concurrency import Concurrency
from penstock.engine.estimates import Estimate, Estimator
from penstock.engine.lease import Granted, Settlement
from penstock.engine.outage import Outage
from penstock.engine.pace import Pace
from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind, Usage
from penstock.providers.ratelimits import RateLimits
from penstock.request import Request

__all__ = ["AdaptiveLimiter"]

_NAMES = ("requests", "tokens", "input_tokens", "output_tokens")
_FOREVER = math.inf
_TOO_LONG = 900.0  # who would have to wait longer, by the server's word, is told so instead
_DAY = 86_400.0
_AMPLE = 1.75
_ONE = Estimate(1, 0, 0)
_NOTHING = Estimate(0, 0, 0)


class AdaptiveLimiter:
    """The limiter of one endpoint, for all runs of a process."""

    def __init__(self, limits: Limits, clock: Clock, *, most: int, patience: float = 900.0) -> None:
        now = clock.now()
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        for name in _NAMES:
            given = getattr(limits, f"{name}_per_minute")
            if given is not None:
                self._buckets[name] = Bucket(given, now, own=True)
        self._window = Concurrency(limits.concurrency or most, now)
        if limits.requests_per_minute is not None:
            self._window.begin_at(limits.requests_per_minute / 60)
        self._pace = Pace()
        self._outage = Outage(patience)
        self._estimator = Estimator()
        self._gate = 0.0
        self._told = False  # whether the server itself says what it bears
        self._out = 0
        self._sent = Estimate(0, 0, 0)  # all that ever went out, by estimate
        self._line: deque[_Place] = deque()
        self._timer: Timer | None = None
        self._closed: Failure | None = None
        self._leases = self._throttled = self._most_in_flight = 0

    @property
    def down(self) -> bool:
        """Whether the endpoint as a whole fails: no attempt counts now."""
        return self._outage.down

    # Coming and going -------------------------------------------------------------------------

    async def lease(self, request: Request, stop: Stop) -> Granted:
        if self._closed is not None or stop.failure is not None:
            return self._closed or stop.failure  # type: ignore[return-value]
        place = _Place(self, request)
        now = self._clock.now()
        if self._free(now):
            self._grant(place, now)
            return place
        self._line.append(place)
        if len(self._line) == 1:  # behind others it would have to wait in any case
            self._admit()
        if not place.granted and place.failure is None:
            place.future = asyncio.get_running_loop().create_future()
            try:
                await stop.wait(place.future)
            except asyncio.CancelledError:
                self._leave(place)
                raise
        refused = self._closed or stop.failure or place.failure
        if refused is not None:
            self._leave(place)
            return refused
        return place

    def close(self, failure: Failure) -> None:
        self._closed = self._closed or failure
        self._refuse(failure)

    def settled(self, place: _Place, settlement: Settlement) -> None:
        """What came of a lease."""
        now = self._clock.now()
        self._release(place)
        if settlement.limits is not None:
            self._learn(settlement.limits, place, now)
        if settlement.kind is None:
            self._answered(place, settlement, now)
        else:
            self._correct(place, _NOTHING)
            self._failed(place, settlement, now)
        if self._line:
            self._admit()

    def _leave(self, place: _Place) -> None:
        """Give a place back unused."""
        if place.granted:
            self._release(place)
            self._correct(place, _NOTHING)
            self._outage.returned()
            self._admit()
        else:
            place.gone = True

    def _release(self, place: _Place) -> None:
        place.granted = False
        self._out -= 1

    # Who may go -------------------------------------------------------------------------------

    def _free(self, now: float) -> bool:
        """Whether nothing is counted and nobody is held: the usual case, and so a short way."""
        return not (
            self._line
            or self._buckets
            or self._out >= self._window.limit
            or self._gate > now
            or self._pace.holds
            or self._outage.suspects
        )

    def _admit(self) -> None:
        now = self._clock.now()
        if self._outage.over_patience(now):
            lasted = self._outage.lasted(now) / 60
            why = f"the endpoint has been down for {lasted:.0f} min"
            if not self._outage.known:
                why += "; nobody has ever answered there: is the address right?"
            self._refuse(Failure(FailureKind.OVERLOADED, why))
        while self._line:
            place = self._line[0]
            if place.gone or place.told:
                self._line.popleft()
                continue
            wait = self._wait(self._estimated(place), now)
            if _TOO_LONG < wait < _FOREVER and (self._told or self._gate > now):
                self._refuse(_put_off(wait))
                return
            if wait > 0:
                self._wake_in(wait)
                return
            self._line.popleft()
            self._grant(place, now)

    def _wait(self, estimate: Estimate, now: float) -> float:
        """Seconds until the first in line may go; for ever: until something happens."""
        if self._outage.down:
            probe = self._outage.probe_in(now)
            return _FOREVER if probe is None else probe
        if self._out >= self._window.limit or (self._out and self._outage.suspected):
            return _FOREVER
        wait = max(self._gate - now, self._pace.wait(now))
        for name, bucket in self._buckets.items():
            wait = max(wait, bucket.wait(estimate.of(name), now))
        return wait

    def _grant(self, place: _Place, now: float) -> None:
        self._outage.sent()
        self._out += 1
        self._sent = place.mark = self._sent.plus(place.estimate)
        for name, bucket in self._buckets.items():
            bucket.take(place.estimate.of(name))
        self._pace.take(now)
        self._leases += 1
        if self._out > self._most_in_flight:
            self._most_in_flight = self._out
        place.granted = True
        place.sent_at = now
        place.tell()

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._outage.down:
            seconds = min(seconds, 60.0)  # to notice when patience is over
        if seconds < _FOREVER:
            self._timer = self._clock.call_later(seconds + 0.001, self._admit)

    def _refuse(self, failure: Failure) -> None:
        for place in self._line:
            place.failure = failure
            place.tell()
        self._line.clear()

    # What was seen ----------------------------------------------------------------------------

    def _answered(self, place: _Place, settlement: Settlement, now: float) -> None:
        usage = settlement.usage or Usage()
        self._estimator.saw(usage)
        if self._buckets:
            self._correct(place, Estimate(1, usage.input_tokens, usage.output_tokens))
        self._pace.answered(now)
        if self._outage.answered(place.sent_at):
            self._window.restart(now)
        self._window.answered(now, self._out + 1, settlement.latency)

    def _failed(self, place: _Place, settlement: Settlement, now: float) -> None:
        kind, retry_after = settlement.kind, settlement.retry_after
        self._outage.failed(kind, place.sent_at, now, retry_after or 0.0)
        if kind is not FailureKind.RATE_LIMITED:
            return
        self._throttled += 1
        if retry_after is not None:
            self._gate = max(self._gate, now + min(retry_after, _DAY))
        if self._pace.refused(now):
            if not self._told:
                self._pace.ease(now, place.sent_at)
            self._window.throttled(now, place.sent_at, self._rate(now))

    def _rate(self, now: float) -> float:
        """Answers a second that the window must have room for: what came lately, and amply what
        a pace or the server allows, for then that decides and not the window."""
        requests = self._buckets.get("requests")
        allowed = self._pace.rate or (requests.rate if self._told and requests else 0.0)
        return max(self._pace.goodput(now), _AMPLE * allowed)

    def _learn(self, limits: RateLimits, place: _Place, now: float) -> None:
        since = self._sent.less(place.mark)
        for name in _NAMES:
            quota = getattr(limits, name)
            if quota is None or not quota.limit:
                continue
            self._told = True
            bucket = self._buckets.get(name)
            if bucket is None:
                bucket = self._buckets[name] = Bucket(quota.limit, now)
                bucket.level = 0.0
            bucket.learn(quota, place.mark.requests, since.of(name), now)
            if name == "requests":
                self._window.begin_at(bucket.rate)

    def _correct(self, place: _Place, actual: Estimate) -> None:
        """Put right what was charged when it went out."""
        for name, bucket in self._buckets.items():
            bucket.correct(actual.of(name) - place.estimate.of(name), place.mark.requests)

    def _estimated(self, place: _Place) -> Estimate:
        """Made when its turn comes: by then more may be known. Tokens are counted only where
        somebody limits them."""
        if len(self._buckets) == ("requests" in self._buckets):
            return _ONE
        if place.estimate is _ONE:
            place.estimate = self._estimator.of(place.request)
        return place.estimate

    def statistics(self) -> dict[str, Any]:
        return {
            "limiter": "adaptive",
            "concurrency": self._window.limit,
            "ceiling": None if self._window.ceiling is None else int(self._window.ceiling),
            "in_flight": self._out,
            "waiting": len(self._line),
            "cuts": self._window.cuts,
            "outages": self._outage.count,
            "down": self._outage.down,
            "per_minute": {name: int(bucket.limit) for name, bucket in self._buckets.items()},
            "pace_per_second": self._pace.rate,
            "stopped": None if self._closed is None else self._closed.message,
            "leases": self._leases,
            "throttled": self._throttled,
            "most_in_flight": self._most_in_flight,
        }


def _put_off(seconds: float) -> Failure:
    when = f"{seconds / 3600:.1f} h" if seconds > 7200 else f"{seconds / 60:.0f} min"
    message = f"the endpoint lets nobody through for another {when}; ask again then"
    return Failure(FailureKind.RATE_LIMITED, message)


class _Place:
    """A place in the line, and the lease it becomes."""

    __slots__ = (
        "_limiter",
        "estimate",
        "failure",
        "future",
        "gone",
        "granted",
        "mark",
        "request",
        "sent_at",
    )

    def __init__(self, limiter: AdaptiveLimiter, request: Request) -> None:
        self._limiter = limiter
        self.request = request
        self.estimate = _ONE
        self.mark = _ONE
        self.future: asyncio.Future[None] | None = None  # made where it has to wait
        self.failure: Failure | None = None
        self.granted = False
        self.gone = False
        self.sent_at = 0.0

    @property
    def told(self) -> bool:
        """Whether nobody waits here any more."""
        return self.future is not None and self.future.done()

    def tell(self) -> None:
        """Wake whoever waits here."""
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    def settle(self, settlement: Settlement) -> None:
        self._limiter.settled(self, settlement)
