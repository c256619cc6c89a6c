"""What a run may spend: dollars and tokens, across its resumes.

The cap is checked before each question is sent and whenever an answer has been paid for; what is
in flight at that moment still comes back and is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from penstock.engine.progress import Progress
from penstock.errors import InputError
from penstock.outcome import Failure, FailureKind
from penstock.tokens import Price

__all__ = ["Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may spend; None where there is no cap."""

    dollars: Decimal | None = None
    tokens: int | None = None

    def check(self, price: Price | None, label: str) -> None:
        """A cap in dollars needs a price: refuse before anything is sent."""
        if self.dollars is not None and price is None:
            raise InputError(
                f"a budget of ${self.dollars} is set, but no price is known for {label}",
                remedy="Give the endpoint prices (penstock endpoints add ... --input-price ... "
                "--output-price ...) or a table of your own (token_management.prices).",
            )

    def spent(self, progress: Progress) -> Failure | None:
        """Why nothing more may be sent, if so."""
        if self.dollars is not None and progress.cost >= self.dollars:
            return Failure(
                FailureKind.BUDGET, f"the budget of ${self.dollars} is spent (${progress.cost})"
            )
        tokens = progress.input_tokens + progress.output_tokens
        if self.tokens is not None and tokens >= self.tokens:
            return Failure(
                FailureKind.BUDGET, f"the limit of {self.tokens:,} tokens is reached ({tokens:,})"
            )
        return None
