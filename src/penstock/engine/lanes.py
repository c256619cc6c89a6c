"""Which lane a job takes when it is left to Penstock: small jobs online, large ones by batch.

A batch takes up to a day and costs about half. That pays for many questions, or for dear ones.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from penstock.endpoint import Endpoint
from penstock.providers import provider_of
from penstock.tokens import Lane

__all__ = ["MANY", "WORTH", "LaneWish", "Prospect", "has_batches", "lane_for"]

LaneWish = Literal["online", "batch", "auto"]

MANY = 5_000
"""Questions; more than these go by batch."""
WORTH = Decimal(1)
"""Dollars; a job that saves more than this goes by batch."""


_HOMES = (".openai.com", ".azure.com", ".anthropic.com", ".googleapis.com", ".groq.com")


class Prospect(NamedTuple):
    """What a job would send, as far as the choice of a lane needs it."""

    has_batches: bool
    """Whether the endpoint has a batch lane."""
    to_send: int
    """Questions without an answer in the journal."""
    waiting: int = 0
    """Of these, in a batch that is not collected yet."""
    saving: Decimal | None = None
    """Dollars that the batch lane would save; None where no price is known."""


def lane_for(prospect: Prospect) -> Lane:
    """The rule of `auto`."""
    if not prospect.has_batches:
        return "online"
    if prospect.waiting or prospect.to_send > MANY:
        return "batch"
    return "batch" if prospect.saving is not None and prospect.saving > WORTH else "online"


def has_batches(endpoint: Endpoint) -> bool:
    """Whether an endpoint surely has a batch lane. Nobody knows of a server that merely speaks a
    provider's protocol: there, prices for batches say that there is one."""
    if provider_of(endpoint)(endpoint).batches() is None:
        return False
    prices = endpoint.prices
    if prices is not None and not (prices.batch_input is None and prices.batch_output is None):
        return True
    host = urlsplit(endpoint.url).hostname or ""
    return f".{host}".endswith(_HOMES)
