"""TextBugger's changes of words, those that need no model.

The fifth bug of the paper, a near word by embeddings, is left out; and which words matter most is
not asked of a classifier but drawn by chance.
"""

from __future__ import annotations

from random import Random

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.lookalikes import LOOKALIKES
from penstock.redteam.attacks.perturbed import Words, swapped

__all__ = ["TextBugger"]

_SEEN = {"a": "@", "e": "3", "i": "1", "l": "1", "o": "0", "s": "$"}


class TextBugger(Words):
    """Some words with a space in them, without a letter, with two swapped, or with a look-alike."""

    name = "textbugger"
    paper = papers.TEXTBUGGER
    moonshot = "textbugger_attack"

    most: int = Field(default=5, ge=1, le=100, description="How many variants there are at most.")

    def fits(self, word: str) -> bool:
        return len(word) > 2

    def word(self, word: str, random: Random) -> str:
        bug = random.choice((_spaced, _shortened, swapped, _seen))
        return bug(word, random)


def _spaced(word: str, random: Random) -> str:
    at = random.randrange(1, len(word))
    return f"{word[:at]} {word[at:]}"


def _shortened(word: str, random: Random) -> str:
    at = random.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1 :]


def _seen(word: str, random: Random) -> str:
    places = [at for at, one in enumerate(word) if one in LOOKALIKES]
    if not places:
        return word
    at = random.choice(places)
    return (
        word[:at] + random.choice(LOOKALIKES[word[at]] + _SEEN.get(word[at], "")) + word[at + 1 :]
    )
