"""Whether to ask again, and when: one decision, made in one place."""

from __future__ import annotations

import random
from typing import NamedTuple

from penstock.outcome import Failure
from penstock.providers.provider import Sent

__all__ = ["RetryBudget", "RetryDecision", "RetryPolicy"]


class RetryDecision(NamedTuple):
    """What to do about a failure."""

    again: bool
    wait: float = 0.0
    stop_endpoint: bool = False

    @classmethod
    def after(cls, seconds: float) -> RetryDecision:
        """Ask again after a while."""
        return cls(True, seconds)

    @classmethod
    def give_up(cls) -> RetryDecision:
        """This question failed; others go on."""
        return cls(False)

    @classmethod
    def stop(cls) -> RetryDecision:
        """No question to this endpoint can succeed."""
        return cls(False, stop_endpoint=True)


class RetryBudget:
    """Retries in proportion to answers, so that trouble is not answered with more of it.

    When it is spent a retry is not given up, only put off to the longest wait.
    """

    def __init__(self, reserve: float = 100.0, share: float = 0.2) -> None:
        self._reserve = reserve
        self._share = share
        self._left = reserve

    def answered(self) -> None:
        """An answer earns a part of a retry."""
        self._left = min(self._reserve, self._left + self._share)

    def take(self) -> bool:
        """Whether a retry may go soon."""
        if self._left < 1:
            return False
        self._left -= 1
        return True


class RetryPolicy(NamedTuple):
    """How often and how soon: full jitter under a doubling ceiling, or the server's own word."""

    max_retries: int = 3
    first: float = 0.5
    longest: float = 60.0
    patience: float = 900.0
    """The longest Retry-After that is waited for; after a longer one the question fails."""

    def decide(
        self,
        failure: Failure,
        sent: Sent,
        attempts: int,
        randomness: random.Random,
        budget: RetryBudget | None = None,
    ) -> RetryDecision:
        """What to do after the n-th attempt that counts has failed."""
        if failure.kind.stops:
            return RetryDecision.stop()
        heals = failure.kind.heals if sent.should_retry is None else sent.should_retry
        if not heals or attempts > self.max_retries:
            return RetryDecision.give_up()
        if sent.retry_after is not None:
            if sent.retry_after > self.patience:
                return RetryDecision.give_up()
            return RetryDecision.after(sent.retry_after)
        ceiling = min(self.longest, self.first * 2 ** max(0, attempts - 1))
        if budget is not None and not budget.take():
            ceiling = self.longest
        return RetryDecision.after(randomness.uniform(0, ceiling))
