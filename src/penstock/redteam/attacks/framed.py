"""What all framings share: the prompt, word for word, inside a text of ours.

The texts are about how to answer and never about what; nothing in them is harmful by itself. Each
attack has several wordings; `most` says how many of them are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from random import Random
from typing import ClassVar

from pydantic import Field

from penstock.errors import InputError
from penstock.redteam.attack import Rewrite

__all__ = ["PLACE", "Framed", "Quoted"]

PLACE = "{prompt}"


class Framed(Rewrite):
    """The prompt inside a text."""

    family = "framing"
    decodes = True
    texts: ClassVar[tuple[str, ...]] = ()
    """The wordings, each with `{prompt}` once."""

    most: int = Field(
        default=1, ge=1, le=20, description="How many wordings are used, drawn by chance."
    )

    def frames(self) -> Sequence[str]:
        """The wordings, with the parameters filled in."""
        return self.texts

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        frames = self.frames()
        for at in sorted(random.sample(range(len(frames)), min(self.most, len(frames)))):
            before, _, after = frames[at].partition(PLACE)
            yield before + self.placed(prompt) + after

    def placed(self, prompt: str) -> str:
        """The prompt as it is written in the text."""
        return prompt

    def read(self, placed: str) -> str:
        """The reverse of `placed`; ValueError where it is none."""
        return placed

    def decode(self, variant: str) -> str:
        for frame in self.frames():
            before, _, after = frame.partition(PLACE)
            fits = len(variant) >= len(before) + len(after)
            if fits and variant.startswith(before) and variant.endswith(after):
                try:
                    return self.read(variant[len(before) : len(variant) - len(after)])
                except ValueError:
                    break
        raise InputError(f"this was not made by {self.name}: {variant!r:.80}")


class Quoted(Framed):
    """A text in which the prompt is a quoted string of JSON, which is one of Python too."""

    def placed(self, prompt: str) -> str:
        return json.dumps(prompt, ensure_ascii=False)

    def read(self, placed: str) -> str:
        return str(json.loads(placed))
