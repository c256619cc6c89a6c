"""Longest common subsequences of words, in time that long texts bear.

The table of lengths is kept a row a time as the bits of one whole number: a step of the usual
recursion becomes an addition, and a row of ten thousand words takes about a kilobyte.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["common_length", "common_places"]


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words the longest common subsequence has."""
    from rapidfuzz.distance import LCSseq

    numbers: dict[str, int] = {}
    first = [numbers.setdefault(word, len(numbers)) for word in one]
    second = [numbers.setdefault(word, len(numbers)) for word in other]
    return LCSseq.similarity(first, second)


def common_places(one: Sequence[str], other: Sequence[str]) -> list[int]:
    """Where in `one` a longest common subsequence stands.

    There may be several; read from the end, the last word of `one` is given up first, unless only
    giving up that of `other` keeps the length.
    """
    rows = _rows(one, other)
    places: list[int] = []
    at, there = len(one), len(other)
    while at and there:
        if one[at - 1] == other[there - 1]:
            at, there = at - 1, there - 1
            places.append(at)
        elif _length(rows[at], there - 1) > _length(rows[at - 1], there):
            there -= 1
        else:
            at -= 1
    return places[::-1]


def _rows(one: Sequence[str], other: Sequence[str]) -> list[int]:
    """For each beginning of `one`: a bit for each word of `other` that makes it one longer."""
    where: dict[str, int] = {}
    for at, word in enumerate(other):
        where[word] = where.get(word, 0) | 1 << at
    full = (1 << len(other)) - 1
    free = full
    rows = [0]
    for word in one:
        hits = free & where.get(word, 0)
        free = ((free + hits) | (free - hits)) & full
        rows.append(full ^ free)
    return rows


def _length(row: int, words: int) -> int:
    return (row & ((1 << words) - 1)).bit_count()
