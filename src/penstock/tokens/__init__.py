"""Tokens: how many there are, and what they cost. Neither needs the network."""

from __future__ import annotations

from penstock.tokens.counting import (
    DEFAULT_VOCABULARY,
    count,
    count_messages,
    count_request,
    is_exact,
    vocabulary,
)
from penstock.tokens.prices import Lane, Price, PriceList, Tier

__all__ = [
    "DEFAULT_VOCABULARY",
    "Lane",
    "Price",
    "PriceList",
    "Tier",
    "count",
    "count_messages",
    "count_request",
    "is_exact",
    "vocabulary",
]
