"""Other shapes of the same letters, which Unicode has for mathematicians and typists."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Literal

from pydantic import Field

from penstock.redteam.attacks.coded import Coded, Mapped

__all__ = ["Enclosed", "Fullwidth", "MathAlphabet", "UpsideDown", "Zalgo"]

_MATH = {  # where A, a and 0 stand; 0 for none
    "bold": (0x1D400, 0x1D41A, 0x1D7CE),
    "italic": (0x1D434, 0x1D44E, 0),
    "bold_italic": (0x1D468, 0x1D482, 0),
    "script": (0x1D49C, 0x1D4B6, 0),
    "fraktur": (0x1D504, 0x1D51E, 0),
    "double_struck": (0x1D538, 0x1D552, 0x1D7D8),
    "sans": (0x1D5A0, 0x1D5BA, 0x1D7E2),
    "monospace": (0x1D670, 0x1D68A, 0x1D7F6),
}
_ELSEWHERE = {  # letters that Unicode had before, and left out of the rows above
    "italic": dict(zip("h", "ℎ", strict=True)),
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "double_struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
_ENCLOSED = {  # where A, a and 1 stand; 0 for none
    "circled": (0x24B6, 0x24D0, 0x2460),
    "parenthesised": (0x1F110, 0x249C, 0x2474),
    "squared": (0x1F130, 0, 0),
    "filled_circle": (0x1F150, 0, 0),
    "filled_square": (0x1F170, 0, 0),
    "flag": (0x1F1E6, 0, 0),
}
_TURNED = dict(
    zip(
        "abcdefghijkmnprtvwyACDEFGJLMPTUVY69.,?!&_'()[]{}<>",
        "ɐqɔpǝɟƃɥᴉɾʞɯudɹʇʌʍʎ∀ƆᗡƎℲ⅁ſ⅂WԀ⊥∩Λ⅄96˙‘¿¡⅋‾‚)(][}{><",
        strict=True,
    )
)
_TURN = str.maketrans({turned: one for one, turned in _TURNED.items()} | _TURNED)
_MARKS = [chr(each) for each in range(0x0300, 0x0370) if each not in range(0x034F, 0x0363)]


class Fullwidth(Mapped):
    """ASCII in the full-width forms of East Asian typography."""

    name = "fullwidth"
    code = "full-width letters"

    def table(self) -> Mapping[str, str]:
        return {chr(each): chr(each + 0xFEE0) for each in range(0x21, 0x7F)} | {" ": "\u3000"}


class MathAlphabet(Mapped):
    """Letters, and digits where there are such, of a mathematical alphabet."""

    name = "math_alphabet"

    style: Literal[
        "bold", "italic", "bold_italic", "script", "fraktur", "double_struck", "sans", "monospace"
    ] = Field(default="bold", description="Which alphabet.")

    def told(self) -> str:
        return f"the {self.style.replace('_', '-')} letters of mathematics"

    def table(self) -> Mapping[str, str]:
        return _math(self.style)


class Enclosed(Mapped):
    """Letters in circles, brackets or squares. Those with squares and the like are all capitals."""

    name = "enclosed"

    style: Literal[
        "circled", "parenthesised", "squared", "filled_circle", "filled_square", "flag"
    ] = Field(default="circled", description="What is around the letters.")

    def told(self) -> str:
        shown = "regional indicator letters" if self.style == "flag" else "letters"
        return f"{shown} with a shape around each ({self.style.replace('_', ' ')})"

    def encode(self, prompt: str, random: Random) -> str:
        return super().encode(self._cased(prompt), random)

    def kept(self, prompt: str) -> str:
        return self.read(self._cased(prompt))

    def table(self) -> Mapping[str, str]:
        capital, small, one = _ENCLOSED[self.style]
        made = {each: chr(capital + at) for at, each in enumerate(ascii_uppercase)}
        if small:
            made |= {each: chr(small + at) for at, each in enumerate(ascii_lowercase)}
        if one:
            made |= {each: chr(one + at) for at, each in enumerate("123456789")}
        return made

    def _cased(self, prompt: str) -> str:
        if _ENCLOSED[self.style][1]:
            return prompt
        return prompt.translate(str.maketrans(ascii_lowercase, ascii_uppercase))


class UpsideDown(Coded):
    """Turned letters from right to left: to be read by turning the page."""

    name = "upside_down"
    code = "letters that are upside down, from right to left"

    def encode(self, prompt: str, random: Random) -> str:
        return prompt[::-1].translate(_TURN)

    def read(self, coded: str) -> str:
        return coded[::-1].translate(_TURN)


class Zalgo(Coded):
    """Combining marks above and below every letter."""

    name = "zalgo"
    code = "plain words under a heap of combining marks"

    marks: int = Field(default=2, ge=1, le=8, description="How many marks a letter gets.")

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(
            one + "".join(random.choices(_MARKS, k=self.marks)) if one.isalnum() else one
            for one in self.kept(prompt)
        )

    def read(self, coded: str) -> str:
        return coded.translate(dict.fromkeys(map(ord, _MARKS)))

    def kept(self, prompt: str) -> str:
        """Accents of the prompt's own that stand alone are lost."""
        return self.read(prompt)


@cache
def _math(style: str) -> Mapping[str, str]:
    capital, small, zero = _MATH[style]
    made = {each: chr(capital + at) for at, each in enumerate(ascii_uppercase)}
    made |= {each: chr(small + at) for at, each in enumerate(ascii_lowercase)}
    if zero:
        made |= {each: chr(zero + at) for at, each in enumerate(digits)}
    return made | _ELSEWHERE.get(style, {})
