"""Leases: the right to send one question to an endpoint.

The limiter decides who may send and when; a lease is its leave, and every lease is settled with
what came of it. That is the whole interface between the online lane and any limiter.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import msgspec

from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind, Usage
from penstock.providers.ratelimits import RateLimits
from penstock.request import Request

__all__ = ["Granted", "Lease", "Limiter", "Settlement"]


class Settlement(msgspec.Struct, frozen=True, gc=False):
    """What came of a lease, as a limiter sees it."""

    kind: FailureKind | None
    """None: answered."""
    usage: Usage | None = None
    limits: RateLimits | None = None
    retry_after: float | None = None
    latency: float = 0.0

    @classmethod
    def answered(cls, usage: Usage, limits: RateLimits | None, latency: float) -> Settlement:
        """An answer came back."""
        return cls(None, usage, limits, None, latency)

    @classmethod
    def failed(
        cls, kind: FailureKind, limits: RateLimits | None, retry_after: float | None, latency: float
    ) -> Settlement:
        """No answer came back."""
        return cls(kind, None, limits, retry_after, latency)


class Lease(Protocol):
    """Leave to send one question."""

    def settle(self, settlement: Settlement) -> None:
        """Give it back, with what came of it."""
        ...


Granted: TypeAlias = Lease | Failure


class Limiter(Protocol):
    """Decides who may send to one endpoint, and when."""

    async def lease(self, request: Request, stop: Stop) -> Granted:
        """Wait for leave; a Failure when the run or the endpoint was stopped meanwhile."""
        ...

    @property
    def down(self) -> bool:
        """Whether the endpoint as a whole fails: no attempt counts now."""
        ...

    def close(self, failure: Failure) -> None:
        """Stop the endpoint: whoever waits, and whoever comes, gets this failure."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Its state, for people."""
        ...
