"""Rate limits as the real ones keep them: token buckets that refill all the time.

A bucket holds `burst` seconds' worth of its limit (60 like the real ones, so a full minute may
be used at once). What a request is charged is what it really uses; the real servers charge
`max_tokens` in advance. A refused request is charged nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Admission", "Bucket", "Limits", "go_duration"]


class Admission(NamedTuple):
    """Whether a request may pass, and if not: which limit, and seconds until it may."""

    passed: bool
    what: str = ""
    limit: int = 0
    used: int = 0
    asked: int = 0
    wait: float = 0.0

    @property
    def never(self) -> bool:
        """True when no waiting would help."""
        return not self.passed and self.asked > self.limit


PASSED = Admission(True)


class Bucket:
    """One limit: a level that refills at limit / 60 a second."""

    __slots__ = ("capacity", "level", "limit", "rate", "when")

    def __init__(self, limit: int, burst: float, now: float) -> None:
        self.limit = limit
        self.rate = limit / 60
        self.capacity = max(1.0, self.rate * burst)
        self.level = self.capacity
        self.when = now

    def refill(self, now: float) -> None:
        """Let the time since the last look flow in."""
        self.level = min(self.capacity, self.level + (now - self.when) * self.rate)
        self.when = now

    def wait(self, amount: float) -> float:
        """Seconds until so much may pass. More than the bucket holds passes when it is full."""
        need = min(amount, self.capacity) - self.level
        return 0.0 if need <= 1e-9 else need / self.rate

    @property
    def remaining(self) -> int:
        """What may be used now."""
        return max(0, int(self.level + 1e-6))

    @property
    def reset(self) -> float:
        """Seconds until the bucket is full."""
        return max(0.0, (self.capacity - self.level) / self.rate)


class Limits:
    """The requests and the tokens a minute; either may be absent."""

    __slots__ = ("requests", "tokens")

    def __init__(self, rpm: int | None, tpm: int | None, burst: float, now: float) -> None:
        self.requests = Bucket(rpm, burst, now) if rpm else None
        self.tokens = Bucket(tpm, burst, now) if tpm else None

    @property
    def on(self) -> bool:
        """Whether any limit is set."""
        return self.requests is not None or self.tokens is not None

    def admit(self, tokens: int, now: float) -> Admission:
        """Charge a request, or refuse it and charge nothing."""
        for what, bucket, amount in (
            ("requests", self.requests, 1),
            ("tokens", self.tokens, tokens),
        ):
            if bucket is None:
                continue
            bucket.refill(now)
            wait = bucket.wait(amount)
            if wait > 0 or amount > bucket.limit:
                used = bucket.limit - bucket.remaining
                return Admission(False, what, bucket.limit, used, amount, max(wait, 0.001))
        if self.requests is not None:
            self.requests.level -= 1
        if self.tokens is not None:
            self.tokens.level -= tokens
        return PASSED

    def buckets(self, now: float) -> list[tuple[str, Bucket]]:
        """The limits that are set, refilled, by name."""
        both = (("requests", self.requests), ("tokens", self.tokens))
        found = [(name, bucket) for name, bucket in both if bucket is not None]
        for _, bucket in found:
            bucket.refill(now)
        return found


def go_duration(seconds: float) -> str:
    """A duration as Go prints it, to the millisecond: 12ms, 1.5s, 6m0s, 1h0m0s."""
    total = math.ceil(seconds * 1000 - 1e-6)
    if total < 1000:
        return f"{total}ms" if total else "0s"
    minutes, millis = divmod(total, 60_000)
    tail = f"{millis / 1000:g}s"
    if not minutes:
        return tail
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{tail}" if hours else f"{minutes}m{tail}"
