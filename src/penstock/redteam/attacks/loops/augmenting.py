"""Chance changes that leave a text readable: letters shuffled, capitals, slight noise."""

from __future__ import annotations

import re
from random import Random

__all__ = ["capitals", "noise", "shuffled"]

_WORD = re.compile(r"[^\W\d_]{4,}")
_FIRST, _LAST = 33, 126  # what is printed, without the space


def shuffled(text: str, share: float, random: Random) -> str:
    """The inner letters of a share of the words in any order."""

    def change(found: re.Match[str]) -> str:
        if random.random() >= share:
            return found[0]
        inner = list(found[0][1:-1])
        random.shuffle(inner)
        return found[0][0] + "".join(inner) + found[0][-1]

    return _WORD.sub(change, text)


def capitals(text: str, share: float, random: Random) -> str:
    """A share of the letters in the other case."""
    return "".join(
        one.swapcase() if one.isalpha() and random.random() < share else one for one in text
    )


def noise(text: str, share: float, random: Random) -> str:
    """A share of the plain characters replaced by a neighbour in ASCII."""
    return "".join(
        chr(_near(ord(one), random))
        if _FIRST <= ord(one) <= _LAST and random.random() < share
        else one
        for one in text
    )


def _near(code: int, random: Random) -> int:
    return min(max(code + random.choice((-1, 1)), _FIRST), _LAST)
