"""Letters swapped, mistyped, left out, added, shuffled, or in the wrong case."""

from __future__ import annotations

from math import ceil
from random import Random
from string import ascii_lowercase

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.perturbed import Perturbed, Words, swapped

__all__ = [
    "Charswap",
    "DeleteCharacters",
    "InsertCharacters",
    "RandomCapitals",
    "ShuffleLetters",
    "Typos",
]

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLACES = {one: (row, at) for row, keys in enumerate(_ROWS) for at, one in enumerate(keys)}


class Charswap(Words):
    """Two neighbouring letters inside some of the words in each other's place."""

    name = "charswap"
    moonshot = "charswap_attack"

    def fits(self, word: str) -> bool:
        return len(word) > 3

    def word(self, word: str, random: Random) -> str:
        return swapped(word, random)


class Typos(Words):
    """Slips of the fingers: a neighbouring key, a letter twice, left out, or too early."""

    name = "typos"

    def fits(self, word: str) -> bool:
        return len(word) > 1

    def word(self, word: str, random: Random) -> str:
        slip = random.choice((_beside, _twice, _left_out, swapped))
        return slip(word, random)


class ShuffleLetters(Words):
    """The inner letters of some words in any order; first and last letter stay."""

    name = "shuffle_letters"
    paper = papers.BEST_OF_N

    share: float = Field(
        default=0.6, gt=0, le=1, description="The share of the words that is changed."
    )

    def fits(self, word: str) -> bool:
        return len(word) > 3

    def word(self, word: str, random: Random) -> str:
        inner = list(word[1:-1])
        random.shuffle(inner)
        return word[0] + "".join(inner) + word[-1]


class RandomCapitals(Perturbed):
    """Capital letters and small ones by chance."""

    name = "random_capitals"
    paper = papers.BEST_OF_N

    share: float = Field(
        default=0.6, gt=0, le=1, description="The share of the letters that is changed."
    )

    def changed(self, prompt: str, random: Random) -> str:
        return "".join(
            one.swapcase() if one.isalpha() and random.random() < self.share else one
            for one in prompt
        )


class DeleteCharacters(Perturbed):
    """Some characters left out, but never all of them."""

    name = "delete_characters"
    paper = papers.BAD_CHARACTERS

    share: float = Field(
        default=0.05, gt=0, le=0.5, description="The share of characters left out."
    )

    def changed(self, prompt: str, random: Random) -> str:
        places = [at for at, one in enumerate(prompt) if not one.isspace()]
        gone = set(random.sample(places, ceil((len(places) - 1) * self.share)))
        return "".join(one for at, one in enumerate(prompt) if at not in gone)


class InsertCharacters(Perturbed):
    """Small letters by chance between the characters."""

    name = "insert_characters"

    share: float = Field(
        default=0.05, gt=0, le=1, description="How many letters come to a character."
    )

    def changed(self, prompt: str, random: Random) -> str:
        if not prompt:
            return prompt
        after = set(random.sample(range(len(prompt)), ceil(len(prompt) * self.share)))
        return "".join(
            one + random.choice(ascii_lowercase) if at in after else one
            for at, one in enumerate(prompt)
        )


def _beside(word: str, random: Random) -> str:
    """One letter by its neighbour on the keyboard."""
    places = [at for at, one in enumerate(word) if one.lower() in _PLACES]
    if not places:
        return word
    at = random.choice(places)
    new = random.choice(_neighbours(word[at].lower()))
    return word[:at] + (new.upper() if word[at].isupper() else new) + word[at + 1 :]


def _neighbours(key: str) -> list[str]:
    row, at = _PLACES[key]
    return [one for one, (r, a) in _PLACES.items() if abs(r - row) + abs(a - at) == 1]


def _twice(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[: at + 1] + word[at:]


def _left_out(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[:at] + word[at + 1 :]
