"""How often each value comes, in bounded memory.

Up to a limit of different values all counts are exact. Beyond it the rare half is forgotten each
time, so that common values keep their counts (those that were rare at first lose a few), and the
number of different values is estimated from the 2,048 smallest hashes: within some 2 %.
"""

from __future__ import annotations

import heapq
from hashlib import blake2b

from penstock.generate.profile.results import Common

__all__ = ["Counts"]

_SMALLEST = 2_048
_HASHES = 1 << 64
_SHOWN_AT_ONCE = 32
_LONGEST = 200


class Counts:
    """Counts texts by their hash; the texts themselves are kept only where they come again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[int, int] = {}
        self._shown: dict[int, str] = {}
        self._smallest: _Smallest | None = None

    def add(self, text: str) -> None:
        """Count one."""
        digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
        key = int.from_bytes(digest, "little")
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        if count == 1 or (not count and len(self._shown) < _SHOWN_AT_ONCE):
            self._shown[key] = text[:_LONGEST]
        if self._smallest is not None:
            self._smallest.add(key)
        if len(self._counts) > self._limit:
            self._forget()

    @property
    def exact(self) -> bool:
        return self._smallest is None

    @property
    def distinct(self) -> int:
        """How many different ones there are."""
        return len(self._counts) if self._smallest is None else self._smallest.estimate()

    def common(self, most: int, least: int = 1) -> tuple[Common, ...]:
        """The most common ones that came at least so often; among equals the first."""
        shown = ((key, self._counts[key]) for key in self._shown)
        wanted = (pair for pair in shown if pair[1] >= least)
        best = heapq.nsmallest(most, wanted, key=lambda pair: -pair[1])
        return tuple(Common(self._shown[key], count) for key, count in best)

    def _forget(self) -> None:
        if self._smallest is None:
            self._smallest = _Smallest()
            for key in self._counts:
                self._smallest.add(key)
        cut = sorted(self._counts.values())[len(self._counts) // 2]
        self._counts = {key: count for key, count in self._counts.items() if count > cut}
        self._shown = {key: text for key, text in self._shown.items() if key in self._counts}


class _Smallest:
    """The smallest hashes of all: the nearer they lie together, the more there are."""

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._members: set[int] = set()

    def add(self, key: int) -> None:
        full = len(self._heap) == _SMALLEST
        if (full and key >= -self._heap[0]) or key in self._members:
            return
        self._members.add(key)
        if full:
            self._members.discard(-heapq.heappushpop(self._heap, -key))
        else:
            heapq.heappush(self._heap, -key)

    def estimate(self) -> int:
        if len(self._heap) < _SMALLEST:
            return len(self._heap)
        return round((_SMALLEST - 1) * _HASHES / -self._heap[0])
