"""How often an equal question has come before, in the order of the rows.

Equal rows draw anew: the second asks for sample 1, the third for sample 2. A million questions are
counted in some sixteen megabytes: only eight bytes of each key are kept, in flat arrays, and a true
count only for those that come again. There are several arrays, so that growing never needs much
more than what is there.
"""

from __future__ import annotations

from array import array

__all__ = ["Occurrences"]

_PARTS = 16
_FIRST_SIZE = 1 << 8
_FULLEST = 0.6


class Occurrences:
    """Counts keys. Memory is flat per key, whatever the key."""

    def __init__(self) -> None:
        self._parts = [_Part() for _ in range(_PARTS)]
        self._again: dict[int, int] = {}

    def next(self, key: bytes) -> int:
        """How many of this key came before this one."""
        short = int.from_bytes(key[-8:], "little") or 1
        if self._parts[short % _PARTS].add(short):
            return 0
        count = self._again.get(short, 0) + 1
        self._again[short] = count
        return count


class _Part:
    """A set of numbers, none of them 0."""

    __slots__ = ("_mask", "_slots", "_used")

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST_SIZE))
        self._mask = _FIRST_SIZE - 1
        self._used = 0

    def add(self, short: int) -> bool:
        """True when it is new."""
        slots, mask = self._slots, self._mask
        at = short // _PARTS & mask
        while slots[at]:
            if slots[at] == short:
                return False
            at = (at + 1) & mask
        slots[at] = short
        self._used += 1
        if self._used > _FULLEST * len(slots):
            self._grow()
        return True

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(8 * 2 * len(old)))
        self._mask = len(self._slots) - 1
        slots, mask = self._slots, self._mask
        for short in old:
            if short:
                at = short // _PARTS & mask
                while slots[at]:
                    at = (at + 1) & mask
                slots[at] = short
