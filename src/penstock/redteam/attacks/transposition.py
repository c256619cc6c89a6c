"""Ciphers that move characters instead of changing them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from random import Random
from typing import Literal

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.coded import Coded

__all__ = ["Columnar", "Flip", "RailFence", "Reverse"]


class _Moved(Coded):
    """The characters in another order, which depends on their number alone."""

    @abstractmethod
    def order(self, length: int) -> Sequence[int]:
        """Which character stands first, second, and so on."""

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(prompt[at] for at in self.order(len(prompt)))

    def read(self, coded: str) -> str:
        plain = [""] * len(coded)
        for each, at in zip(coded, self.order(len(coded)), strict=True):
            plain[at] = each
        return "".join(plain)


class Reverse(_Moved):
    """The prompt from its last character to its first."""

    name = "reverse"
    paper = papers.FLIP_ATTACK
    code = "reverse, from the last character to the first"

    def order(self, length: int) -> Sequence[int]:
        return range(length - 1, -1, -1)


class RailFence(_Moved):
    """Written in a zigzag over some rails, read rail by rail."""

    name = "rail_fence"

    rails: int = Field(default=3, ge=2, le=50, description="The number of rails.")

    def told(self) -> str:
        return f"a rail fence cipher with {self.rails} rails"

    def order(self, length: int) -> Sequence[int]:
        turn = 2 * (self.rails - 1)
        lines: list[list[int]] = [[] for _ in range(self.rails)]
        for at in range(length):
            lines[min(at % turn, turn - at % turn)].append(at)
        return [at for line in lines for at in line]


class Columnar(_Moved):
    """Written in rows below a key word, read column by column in the order of its letters."""

    name = "columnar"

    key: str = Field(default="LANTERN", pattern="^[A-Za-z]{2,40}$", description="The key word.")

    def told(self) -> str:
        return (
            f"a columnar transposition cipher with the key {self.key.upper()} "
            "(the last row may be short)"
        )

    def order(self, length: int) -> Sequence[int]:
        key = self.key.upper()
        columns = sorted(range(len(key)), key=lambda column: (key[column], column))
        return [at for column in columns for at in range(column, length, len(key))]


class Flip(Coded):
    """The words in reverse order, or the letters within each word."""

    name = "flip"
    paper = papers.FLIP_ATTACK

    what: Literal["words", "letters"] = Field(
        default="letters", description="`words` turns their order, `letters` those of each word."
    )

    def told(self) -> str:
        if self.what == "words":
            return "plain words, but from the last word to the first"
        return "plain words in their order, but each word from its last letter to its first"

    def encode(self, prompt: str, random: Random) -> str:
        return self.read(prompt)

    def read(self, coded: str) -> str:
        if self.what == "words":
            return " ".join(reversed(coded.split(" ")))
        return re.sub(r"\S+", lambda found: found[0][::-1], coded)
