"""Writings that a person does not see: characters without width, without shape, or out of order."""

from __future__ import annotations

import re
from random import Random
from typing import Literal

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.coded import Coded, octets, text_of

__all__ = ["Bidi", "UnicodeTags", "VariationSelectors", "ZeroWidth", "ZeroWidthBinary"]

_MARKS = {"space": "\u200b", "non_joiner": "\u200c", "joiner": "\u200d", "word_joiner": "\u2060"}
_ZERO, _ONE = "\u200b", "\u200c"
_OVERRIDE, _POP = "\u202e", "\u202c"
_TAGS = 0xE0000
_VISIBLE = "Thank you for reading this."


class ZeroWidth(Coded):
    """A character without width between all others, so that no word is found whole."""

    name = "zero_width"
    paper = papers.BAD_CHARACTERS
    code = "plain words with invisible characters between the letters"

    mark: Literal["space", "non_joiner", "joiner", "word_joiner"] = Field(
        default="space", description="Which character without width."
    )

    def encode(self, prompt: str, random: Random) -> str:
        return _MARKS[self.mark].join(self.kept(prompt))

    def read(self, coded: str) -> str:
        return coded.replace(_MARKS[self.mark], "")

    def kept(self, prompt: str) -> str:
        """Such characters of the prompt's own are lost."""
        return self.read(prompt)


class ZeroWidthBinary(Coded):
    """The prompt as bits in two characters without width, behind a harmless sentence."""

    name = "zero_width_binary"
    code = (
        "invisible characters at its end: the bits of UTF-8, "
        "U+200B for zero and U+200C for one, eight to a byte"
    )

    cover: str = Field(
        default=_VISIBLE, max_length=10_000, description="The sentence that is seen."
    )

    def encode(self, prompt: str, random: Random) -> str:
        bits = "".join(f"{each:08b}" for each in octets(prompt))
        return self.cover + bits.translate(str.maketrans("01", _ZERO + _ONE))

    def read(self, coded: str) -> str:
        hidden = coded.removeprefix(self.cover).translate(str.maketrans(_ZERO + _ONE, "01"))
        if len(hidden) % 8 or not re.fullmatch("[01]*", hidden):
            raise ValueError("these are not whole bytes")
        return text_of(bytes(int(hidden[at : at + 8], 2) for at in range(0, len(hidden), 8)))


class Bidi(Coded):
    """Stored backwards behind a right-to-left override, so that it is shown the right way round."""

    name = "bidi"
    paper = papers.BAD_CHARACTERS
    code = "characters stored from right to left (a Unicode override shows them in order)"

    def encode(self, prompt: str, random: Random) -> str:
        return f"{_OVERRIDE}{prompt[::-1]}{_POP}"

    def read(self, coded: str) -> str:
        if not (coded.startswith(_OVERRIDE) and coded.endswith(_POP)):
            raise ValueError("nothing is overridden")
        return coded[1:-1][::-1]


class UnicodeTags(Coded):
    """ASCII as the invisible tag characters of Unicode; other characters stay themselves."""

    name = "unicode_tags"
    code = "invisible Unicode tag characters (each is an ASCII character plus U+E0000)"

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(chr(_TAGS + ord(one)) if one.isascii() else one for one in prompt)

    def read(self, coded: str) -> str:
        return "".join(
            chr(ord(one) - _TAGS) if _TAGS <= ord(one) < _TAGS + 128 else one for one in coded
        )

    def kept(self, prompt: str) -> str:
        return self.read(prompt)


class VariationSelectors(Coded):
    """The prompt's bytes as variation selectors, all of them behind one visible character."""

    name = "variation_selectors"
    paper = papers.IMPERCEPTIBLE
    code = (
        "invisible variation selectors behind one character: U+FE00 to U+FE0F are the bytes 0 to "
        "15, U+E0100 to U+E01EF the bytes 16 to 255, and the bytes are UTF-8"
    )

    carrier: str = Field(
        default="😊", min_length=1, max_length=20, description="The character that is seen."
    )

    def encode(self, prompt: str, random: Random) -> str:
        return self.carrier + "".join(map(_selector, octets(prompt)))

    def read(self, coded: str) -> str:
        return text_of(bytes(map(_byte, coded.removeprefix(self.carrier))))


def _selector(byte: int) -> str:
    return chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16)


def _byte(selector: str) -> int:
    """Raises ValueError in `bytes` where it is no selector."""
    code = ord(selector)
    return code - 0xFE00 if code < 0xE0000 else code - 0xE0100 + 16
