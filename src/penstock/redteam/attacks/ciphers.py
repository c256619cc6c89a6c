"""Ciphers that put one letter for another. Only the letters of English are changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from random import Random
from string import ascii_lowercase, ascii_uppercase

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.coded import Coded, Mapped, translated

__all__ = ["Atbash", "Caesar", "KeyboardShift", "Rot13", "Substitution", "Vigenere"]

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM")


class _Cipher(Mapped):
    """Letters for letters within one alphabet: nothing is lost."""

    def kept(self, prompt: str) -> str:
        return prompt


class Rot13(_Cipher):
    """Each letter thirteen places on, which is its own reverse."""

    name = "rot13"
    paper = papers.JAILBROKEN
    code = "ROT13"

    def table(self) -> Mapping[str, str]:
        return _alphabet(_shifted(13))


class Caesar(_Cipher):
    """Each letter some places on in the alphabet."""

    name = "caesar"
    paper = papers.CIPHERCHAT

    shift: int = Field(default=3, ge=1, le=25, description="How many places on.")

    def told(self) -> str:
        return f"a Caesar cipher that moved each letter {self.shift} places on in the alphabet"

    def table(self) -> Mapping[str, str]:
        return _alphabet(_shifted(self.shift))


class Atbash(_Cipher):
    """The alphabet backwards: A for Z, B for Y."""

    name = "atbash"
    code = "the Atbash cipher (A stands for Z, B for Y, and so on)"

    def table(self) -> Mapping[str, str]:
        return _alphabet(ascii_lowercase[::-1])


class KeyboardShift(_Cipher):
    """Each letter typed one key too far to the right, round at the end of the row."""

    name = "keyboard_shift"
    code = (
        "text typed on a QWERTY keyboard one key too far to the right "
        "(the last key of a row became its first)"
    )

    def table(self) -> Mapping[str, str]:
        return {one: row[(at + 1) % len(row)] for row in _ROWS for at, one in enumerate(row)}


class Vigenere(Coded):
    """Letters moved on by the letters of a key word, in turn."""

    name = "vigenere"

    key: str = Field(default="LANTERN", pattern="^[A-Za-z]{1,40}$", description="The key word.")

    def told(self) -> str:
        return f"a Vigenère cipher with the key {self.key.upper()}"

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(self._moved(prompt, 1))

    def read(self, coded: str) -> str:
        return "".join(self._moved(coded, -1))

    def _moved(self, text: str, sign: int) -> Iterator[str]:
        moves = cycle([ascii_lowercase.index(each) * sign for each in self.key.lower()])
        for each in text:
            alphabet = ascii_lowercase if each in ascii_lowercase else ascii_uppercase
            at = alphabet.find(each)
            yield each if at < 0 else alphabet[(at + next(moves)) % 26]


class Substitution(Coded):
    """Each letter by another, after a key drawn by chance that stands above the text."""

    name = "substitution"
    paper = papers.COMPLEX_CIPHERS
    code = "a substitution cipher; its key stands first, letter below letter"

    def encode(self, prompt: str, random: Random) -> str:
        key = "".join(random.sample(ascii_lowercase, 26))
        text = translated(prompt, _alphabet(key))
        return f"plain:  {ascii_lowercase}\ncipher: {key}\n\n{text}"

    def read(self, coded: str) -> str:
        plain, cipher, _, text = coded.split("\n", 3)
        key = cipher.removeprefix("cipher: ")
        if plain != f"plain:  {ascii_lowercase}" or sorted(key) != sorted(ascii_lowercase):
            raise ValueError("it has no key")
        return translated(text, {after: one for one, after in _alphabet(key).items()})


def _shifted(places: int) -> str:
    return ascii_lowercase[places:] + ascii_lowercase[:places]


def _alphabet(key: str) -> dict[str, str]:
    """Each small and capital letter with the one that stands for it."""
    return dict(zip(ascii_lowercase + ascii_uppercase, key + key.upper(), strict=True))
