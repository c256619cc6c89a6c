"""What is put between words and letters: punctuation, spaces, emoji."""

from __future__ import annotations

from random import Random
from string import punctuation
from typing import Literal

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.perturbed import Perturbed, Words

__all__ = ["Emoji", "InsertPunctuation", "Spacing"]

_EMOJI = "😀😂😊😍🤔😴😎🥳🌞🌈🌻🍀🍎🍋🍩🎈🎉🎵🎲🚀🚲🐱🐶🐢🦋🐝⭐🔥💧📚"


class InsertPunctuation(Words):
    """A punctuation mark in front of some of the words."""

    name = "insert_punctuation"
    moonshot = "insert_punctuation_attack"

    def word(self, word: str, random: Random) -> str:
        return random.choice(punctuation) + word


class Spacing(Perturbed):
    """Spaces where none belong, or none where they do."""

    name = "spacing"

    style: Literal["letters", "random", "none"] = Field(
        default="letters",
        description="`letters` sets all of them apart, `random` some, `none` takes spaces away.",
    )
    share: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="With `random`: the share of characters followed by a space.",
    )
    most: int = Field(
        default=5, ge=1, le=100, description="How many variants `random` has at most."
    )

    def changed(self, prompt: str, random: Random) -> str:
        if self.style == "letters":
            return " ".join(prompt)
        if self.style == "none":
            return prompt.replace(" ", "")
        return "".join(f"{one} " if random.random() < self.share else one for one in prompt)


class Emoji(Words):
    """An emoji inside some of the words, or behind them."""

    name = "emoji"
    paper = papers.EMOJI_ATTACK

    share: float = Field(
        default=0.5, gt=0, le=1, description="The share of the words that gets one."
    )
    inside: bool = Field(default=True, description="Inside the words; else behind them.")
    most: int = Field(default=5, ge=1, le=100, description="How many variants there are at most.")

    def word(self, word: str, random: Random) -> str:
        at = random.randrange(1, len(word)) if self.inside and len(word) > 1 else len(word)
        return word[:at] + random.choice(_EMOJI) + word[at:]
