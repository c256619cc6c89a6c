"""Chance that repeats itself: the same words always throw the same numbers.

Seeds come from `hashlib`, never from `hash()`, and only `random()` is drawn from, whose sequence
Python guarantees; so answers agree between processes, platforms and versions.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Dice", "seed_of", "unit"]

T = TypeVar("T")


class Dice(random.Random):
    """A generator of plain choices."""

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        return int(self.random() * count)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        span = high - low + 1
        if span < 1 << 52:
            return low + int(self.random() * span)
        return low + int(self.random() * (1 << 52)) * (span >> 52)

    def chance(self, share: float) -> bool:
        """True in this share of throws."""
        return self.random() < share

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random() * len(items))]


def seed_of(*parts: str | bytes) -> int:
    """A 64-bit number made of all parts; no two lists of parts run together."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(raw))
        digest.update(raw)
    return int.from_bytes(digest.digest(), "big")


def unit(seed: int, number: int, salt: int = 0) -> float:
    """A number in [0, 1) for one arrival (splitmix64), without building a generator."""
    mask = 0xFFFFFFFFFFFFFFFF
    z = (seed * 0x9E3779B97F4A7C15 + number * 0xBF58476D1CE4E5B9 + salt * 0x94D049BB133111EB) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / (1 << 53)
