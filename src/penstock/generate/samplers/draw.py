"""Chance for the cells of a schema: one cheap generator that is set to each cell in turn.

A cell's numbers depend on the seed, the name of its column (or group) and its row number, and on
nothing else: not on the order of the work, not on the other columns. So the same seed gives the
same table, and a new column leaves the others as they are.

The numbers are SplitMix64, whose start is a hash. What is made of them is written out here and
not taken from `random`, whose methods may change between versions of Python. Logarithms only ever
decide whether a number is taken, they are never part of it: libraries of mathematics differ in
the last digit. What is lost for this cheapness: it is no cryptography.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from penstock.simulator.dice import Dice

__all__ = ["Draw", "permuted"]

T = TypeVar("T")

_WORD = 0xFFFFFFFFFFFFFFFF
_GAMMA = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_UNIT = 1.0 / (1 << 53)
_ROUNDS = 8
_COUNTED_ONE_BY_ONE = 12.0


class _Keys(NamedTuple):
    start: int
    turn: int


@lru_cache(maxsize=4096)
def _keys(seed: int | str, name: str) -> _Keys:
    digest = hashlib.blake2b(digest_size=16, person=b"penstock draw")
    for part in ("text" if isinstance(seed, str) else "number", str(seed), name):
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(raw) + raw)
    made = digest.digest()
    return _Keys(int.from_bytes(made[:8], "big"), int.from_bytes(made[8:], "big"))


def _mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * _FIRST) & _WORD
    word = ((word ^ (word >> 27)) * _SECOND) & _WORD
    return word ^ (word >> 31)


class Draw(Dice):
    """Numbers by chance; `at` sets it to a cell, a new one starts anywhere.

    `key` is a number of the seed and the name alone, the same for all rows.
    """

    __slots__ = ("_state", "key")

    key: int
    _state: int

    def at(self, seed: int | str, name: str, number: int) -> Draw:
        """Set to one cell: what is drawn next depends on these three only."""
        self.key, turn = _keys(seed, name)
        word = (self.key + number * _GAMMA) & _WORD
        word = ((word ^ (word >> 30)) * _FIRST) & _WORD
        word = ((word ^ (word >> 27)) * _SECOND) & _WORD
        self._state = word ^ (word >> 31) ^ turn
        return self

    def bits(self) -> int:
        """The next 64 bits; everything else is made of them."""
        self._state = word = (self._state + _GAMMA) & _WORD
        word = ((word ^ (word >> 30)) * _FIRST) & _WORD
        word = ((word ^ (word >> 27)) * _SECOND) & _WORD
        return word ^ (word >> 31)

    def random(self) -> float:
        """A number from 0 up to, but never, 1."""
        return (self.bits() >> 11) * _UNIT

    def getrandbits(self, k: int, /) -> int:
        """A whole number of `k` random bits."""
        if k <= 64:
            return self.bits() >> (64 - k) if k else 0
        made = 0
        for _ in range(-(-k // 64)):
            made = made << 64 | self.bits()
        return made >> (-k % 64)

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1, each equally likely."""
        if count > _WORD:
            return self._far_below(count)
        product = self.bits() * count
        if product & _WORD < count:  # seldom: the few numbers that would be too likely
            least = (_WORD + 1 - count) % count
            while product & _WORD < least:
                product = self.bits() * count
        return product >> 64

    def _far_below(self, count: int) -> int:
        size = (count - 1).bit_length()
        while (made := self.getrandbits(size)) >= count:
            pass
        return made

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        return items[self.below(len(items))]

    def normal(self) -> float:
        """A number of the standard normal distribution (ratio of uniforms, Leva 1992)."""
        while True:
            u = 1.0 - self.random()
            v = 1.7156 * (self.random() - 0.5)
            x, y = u - 0.449871, abs(v) + 0.386595
            q = x * x + y * (0.19600 * y - 0.25472 * x)
            if q < 0.27597 or (q < 0.27846 and v * v <= -4.0 * u * u * math.log(u)):
                return v / u

    def poisson(self, rate: float) -> int:
        """How often something happens that happens `rate` times on average."""
        return self._counted(rate) if rate < _COUNTED_ONE_BY_ONE else self._rejected(rate)

    def _counted(self, rate: float) -> int:
        least, product, count = math.exp(-rate), self.random(), 0
        while product > least:
            product *= self.random()
            count += 1
        return count

    def _rejected(self, rate: float) -> int:
        """Transformed rejection (Hörmann 1993, PTRS), in constant time for any rate."""
        b = 0.931 + 2.53 * math.sqrt(rate)
        a = -0.059 + 0.02483 * b
        scale = 1.1239 + 1.1328 / (b - 3.4)
        quick = 0.9277 - 3.6224 / (b - 2.0)
        log_rate = math.log(rate)
        while True:
            u, v = self.random() - 0.5, 1.0 - self.random()
            us = 0.5 - abs(u)
            if us == 0.0:
                continue
            count = math.floor((2.0 * a / us + b) * u + rate + 0.43)
            if us >= 0.07 and v <= quick:
                return count
            if count < 0 or (us < 0.013 and v > us):
                continue
            wanted = count * log_rate - rate - math.lgamma(count + 1)
            if math.log(v * scale / (a / (us * us) + b)) <= wanted:
                return count

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        """As in `random`, but nothing is kept over from one cell to the next."""
        return mu + sigma * self.normal()

    normalvariate = gauss

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Start at a number or text, or anywhere."""
        seed = int.from_bytes(os.urandom(16), "big") if a is None else a
        self.at(seed if isinstance(seed, (int, str)) else repr(seed), "", 0)

    def getstate(self) -> tuple[Any, ...]:
        """Where it stands, for `setstate`."""
        return (self.key, self._state)

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Go back to where it stood."""
        self.key, self._state = state


def permuted(key: int, size: int, number: int) -> int:
    """Where a number below `size` goes in a shuffle of all of them, without the shuffle.

    A Feistel network over the next power of four, walked until it falls below `size`: no memory,
    and each number comes once.
    """
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = number >> half, number & mask
        for turn in range(_ROUNDS):
            made = _mixed((key + (turn << half | right) * _GAMMA) & _WORD)
            left, right = right, left ^ (made & mask)
        number = left << half | right
        if number < size:
            return number
