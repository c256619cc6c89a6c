"""What all perturbations share: several variants, each with another part of the prompt changed.

A word here is a run of letters, so that digits, marks and signs stay where they are. A prompt
without anything to change comes back as it is.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from random import Random

from pydantic import Field

from penstock.redteam.attack import Rewrite

__all__ = ["Perturbed", "Words", "drawn", "replaced", "swapped", "words"]

_TRIES = 3
_WORD = re.compile(r"[^\W\d_]+")


class Perturbed(Rewrite):
    """Several variants of the prompt, each changed anew."""

    family = "perturbation"

    most: int = Field(default=10, ge=1, le=100, description="How many variants there are at most.")

    @abstractmethod
    def changed(self, prompt: str, random: Random) -> str:
        """One variant."""

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        found: set[str] = set()
        for _ in range(_TRIES * self.most):  # chance may give the same again
            new = self.changed(prompt, random)
            if new != prompt and new not in found:
                found.add(new)
                yield new
            if len(found) == self.most:
                return


class Words(Perturbed):
    """A share of the words is changed, each by itself; never less than one."""

    share: float = Field(
        default=0.2, gt=0, le=1, description="The share of the words that is changed."
    )

    @abstractmethod
    def word(self, word: str, random: Random) -> str:
        """A word, changed."""

    def fits(self, word: str) -> bool:
        """Whether a word can be changed at all."""
        return True

    def changed(self, prompt: str, random: Random) -> str:
        spans = [each for each in words(prompt) if self.fits(prompt[each])]
        return replaced(
            prompt, drawn(spans, self.share, random), lambda old: self.word(old, random)
        )


def words(prompt: str) -> list[slice]:
    """Where the words stand."""
    return [slice(*each.span()) for each in _WORD.finditer(prompt)]


def drawn(spans: Sequence[slice], share: float, random: Random) -> list[slice]:
    """A share of the places by chance, rounded up, in their order."""
    count = ceil(len(spans) * share)
    return [spans[at] for at in sorted(random.sample(range(len(spans)), count))]


def replaced(prompt: str, spans: Iterable[slice], change: Callable[[str], str]) -> str:
    """The prompt with what stands at some places changed, in one pass."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += prompt[at : span.start], change(prompt[span])
        at = span.stop
    return "".join([*pieces, prompt[at:]])


def swapped(word: str, random: Random) -> str:
    """Two unequal neighbours within a word in each other's place; its ends stay."""
    places = [at for at in range(1, len(word) - 2) if word[at] != word[at + 1]]
    if not places:
        return word
    at = random.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
