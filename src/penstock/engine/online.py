"""The online lane: a question travels now.

A Line leads to one endpoint: its provider and its limiter. `carry` is lease, send,
classify, and retry with backoff or go on.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from typing import NamedTuple

from penstock.engine.clock import Clock
from penstock.engine.estimates import Estimator
from penstock.engine.lease import Lease, Limiter, Settlement
from penstock.engine.retries import RetryBudget, RetryDecision, RetryPolicy
from penstock.engine.stop import Stop
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.provider import OnText, Provider, Sent
from penstock.request import Request

__all__ = ["Carried", "Line"]

_log = logging.getLogger(__name__)


class Carried(NamedTuple):
    """What came back over a lane."""

    sent: Sent
    attempts: int
    lost: int
    """How many attempts without an answer may have been paid for."""
    lease: Lease | None = None
    """Still held when there is an answer: it is settled when that is on disk."""

    def settle(self) -> None:
        """Give back the lease of an answer."""
        outcome = self.sent.outcome
        if self.lease is not None and isinstance(outcome, Answer):
            sent = self.sent
            self.lease.settle(Settlement.answered(outcome.usage, sent.limits, sent.latency))


class Line:
    """The way to one endpoint, shared by everything in this process that asks it."""

    def __init__(
        self,
        provider: Provider,
        limiter: Limiter,
        clock: Clock,
        randomness: random.Random,
    ) -> None:
        self.provider = provider
        self.limiter = limiter
        self.clock = clock
        self.randomness = randomness
        self.estimator = Estimator()
        self._retries = RetryBudget()

    async def carry(
        self, request: Request, policy: RetryPolicy, stop: Stop, on_text: OnText | None
    ) -> Carried:
        """Bring a question to its endpoint and what comes back to us."""
        attempts = 0
        counted = _Counted()
        lost = 0
        while True:
            lease = await self.limiter.lease(request, stop)
            if isinstance(lease, Failure):
                return Carried(Sent(lease), attempts, lost)
            sent = await self._send(request, lease, on_text)
            attempts += 1
            outcome = sent.outcome
            if isinstance(outcome, Answer):
                self._retries.answered()
                return Carried(sent, attempts, lost, lease)
            lost += outcome.may_be_paid
            if not self.limiter.down:  # an outage is no fault of this question
                counted.add(outcome.kind)
            decision = policy.decide(outcome, sent, counted.total, self.randomness, self._retries)
            _log_attempt(request, outcome, attempts, decision)
            if decision.stop_endpoint:
                self.limiter.close(_stopped(outcome, request))
            if not decision.again or stop.thrown:
                return Carried(sent, attempts, lost)
            if not self.limiter.down:  # there the limiter holds everyone
                await stop.pause(self.clock, decision.wait)

    async def _send(self, request: Request, lease: Lease, on_text: OnText | None) -> Sent:
        try:
            sent = await self.provider.send(request, on_text)
        except asyncio.CancelledError:
            lease.settle(Settlement.failed(FailureKind.CANCELLED, None, None, 0.0))
            raise
        except Exception as error:  # a provider that raises is at fault, its row is not lost
            _log.exception("provider failed", extra={"request": request.id})
            message = f"the provider {self.provider.endpoint.provider!r} raised {error!r}"
            sent = Sent(Failure(FailureKind.INTERNAL, message, may_be_paid=True))
        outcome = sent.outcome
        if isinstance(outcome, Failure):
            lease.settle(
                Settlement.failed(outcome.kind, sent.limits, sent.retry_after, sent.latency)
            )
        return sent


_REFUSALS = 5


class _Counted:
    """Attempts that count against a question. To be told to slow down says little about it, so
    five of those count as one."""

    __slots__ = ("_failed", "_refused")

    def __init__(self) -> None:
        self._failed = self._refused = 0

    def add(self, kind: FailureKind) -> None:
        if kind is FailureKind.RATE_LIMITED:
            self._refused += 1
        else:
            self._failed += 1

    @property
    def total(self) -> int:
        return self._failed + math.ceil(self._refused / _REFUSALS)


def _log_attempt(request: Request, failure: Failure, attempt: int, decision: RetryDecision) -> None:
    facts = {
        "request": request.id,
        "endpoint": request.endpoint.label,
        "attempt": attempt,
        "kind": failure.kind.value,
        "status": failure.status,
        "provider_id": failure.id,
        "retry_in": round(decision.wait, 2) if decision.again else None,
        "said": failure.message,
    }
    level = logging.INFO if decision.again else logging.WARNING
    _log.log(level, "attempt failed", extra=facts)


def _stopped(failure: Failure, request: Request) -> Failure:
    """What everyone else at a stopped endpoint is told; nothing was sent for them."""
    message = f"{request.endpoint.label} was stopped: {failure.message}"
    return Failure(failure.kind, message, status=failure.status)
