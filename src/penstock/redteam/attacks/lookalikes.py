"""Letters by others that look like them, after the confusables of Unicode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from random import Random

from pydantic import Field

from penstock.redteam.attack import Rewrite
from penstock.redteam.attacks import papers
from penstock.redteam.attacks.perturbed import words

__all__ = ["LOOKALIKES", "Homoglyph", "HomoglyphV2"]

# Written as code points, for on the screen nobody could tell. Cyrillic, Greek, Armenian, Cherokee.
LOOKALIKES = {
    "a": "\u0430\u0251",
    "c": "\u0441\u03f2",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261",
    "h": "\u04bb",
    "i": "\u0456",
    "j": "\u0458\u03f3",
    "l": "\u04cf\u217c",
    "m": "\u217f",
    "n": "\u0578",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455",
    "u": "\u057d\u03c5",
    "v": "\u03bd\u0475",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443\u03b3",
    "z": "\u1d22",
    "A": "\u0410\u0391",
    "B": "\u0412\u0392",
    "C": "\u0421",
    "D": "\u13a0",
    "E": "\u0415\u0395",
    "F": "\u03dc",
    "G": "\u050c",
    "H": "\u041d\u0397",
    "I": "\u0406\u0399",
    "J": "\u0408",
    "K": "\u041a\u039a",
    "L": "\u13de",
    "M": "\u041c\u039c",
    "N": "\u039d",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "Q": "\u051a",
    "R": "\u13a1",
    "S": "\u0405",
    "T": "\u0422\u03a4",
    "U": "\u054d",
    "V": "\u0474",
    "W": "\u051c",
    "X": "\u0425\u03a7",
    "Y": "\u03a5\u04ae",
    "Z": "\u0396",
}
_LETTERS = 12
"""Letters of a word that change; a variant more for each way to choose of them."""


class Homoglyph(Rewrite):
    """Every way to write one word with look-alikes, word by word from the first on."""

    name = "homoglyph"
    family = "perturbation"
    paper = papers.BAD_CHARACTERS
    moonshot = "homoglyph_attack"

    most: int = Field(default=20, ge=1, le=1000, description="How many variants there are at most.")

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        return islice(_each_word(prompt), self.most)


class HomoglyphV2(Rewrite):
    """Look-alikes for more and more of the letters: from none, in equal steps, to nearly all."""

    name = "homoglyph_v2"
    family = "perturbation"
    paper = papers.BAD_CHARACTERS
    moonshot = "homoglyph_v2_attack"

    most: int = Field(
        default=20,
        ge=2,
        le=100,
        description="How many steps; with 20 the last changes 95 % of the letters.",
    )

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        places = [at for at, one in enumerate(prompt) if one in LOOKALIKES]
        random.shuffle(places)
        letters = list(prompt)
        done = 0
        for step in range(self.most):
            count = round(len(places) * step / self.most)
            for at in places[done:count]:
                letters[at] = random.choice(LOOKALIKES[prompt[at]])
            done = count
            yield "".join(letters)


def _each_word(prompt: str) -> Iterator[str]:
    for span in words(prompt):
        word = prompt[span]
        ways = [one + LOOKALIKES.get(one, "") for one in word[:_LETTERS]]
        made = ("".join(each) + word[_LETTERS:] for each in product(*ways))
        for new in islice(made, 1, None):  # the first is the word itself
            yield prompt[: span.start] + new + prompt[span.stop :]
