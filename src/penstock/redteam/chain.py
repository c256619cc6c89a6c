"""Attacks one after the other: `base64 | payload_splitting`.

Each part rewrites what the one before it made. Their variants multiply; of too many, `most` are
drawn by chance after every part, so that a long chain costs no more than its parts one by one.
The parts get the seed that the chain gets: a chain of one part gives that part's own variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from pydantic import Field, field_serializer, field_validator

from penstock.documents.models import wrong
from penstock.errors import InputError
from penstock.redteam.attack import Attack, Family, Rewrite, seeded
from penstock.redteam.finding import find_attack
from penstock.redteam.notation import notation, parsed

__all__ = ["MOST", "Chain", "parse_chain", "piped"]

MOST = 20


class Chain(Rewrite):
    """Rewritings one after the other."""

    parts: tuple[Rewrite, ...] = Field(
        min_length=1, max_length=10, description="The rewritings, the first one first."
    )
    most: int = Field(
        default=MOST, ge=1, le=1000, description="How many variants there are at most."
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The chain as `parse_chain` reads it."""
        return " | ".join(notation(part.name, part.to_dict()) for part in self.parts)

    @property
    def family(self) -> Family:  # type: ignore[override]
        """That of its last part, which the model meets first."""
        return self.parts[-1].family

    @property
    def decodes(self) -> bool:  # type: ignore[override]
        """Whether every part can be read back."""
        return all(part.decodes for part in self.parts)

    def __str__(self) -> str:
        return self.name

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        return self.variants(prompt, random.getrandbits(63))

    def variants(self, prompt: str, seed: int = 0) -> list[str]:
        texts, random = [prompt], seeded(seed, self.name, prompt)
        for part in self.parts:
            made = (each for text in texts for each in part.variants(text, seed))
            texts = _drawn(made, self.most, random)
        return list(dict.fromkeys(texts))

    def decode(self, variant: str) -> str:
        for part in reversed(self.parts):
            variant = part.decode(variant)
        return variant

    @field_validator("parts", mode="before")
    @classmethod
    def _found(cls, parts: Any) -> Any:
        """Parts may be given by name, as `describe` tells them, or made; a chain as its parts."""
        if isinstance(parts, str):
            parts = [parts]
        if not isinstance(parts, list | tuple):
            return parts
        try:
            return tuple(each for part in parts for each in _parts(part))
        except InputError as error:
            raise wrong(error.message, error.remedy) from None

    @field_serializer("parts")
    def _told(self, parts: tuple[Rewrite, ...]) -> list[dict[str, Any]]:
        return [part.describe() for part in parts]


def parse_chain(text: str, most: int = MOST) -> Chain:
    """A chain from its text: names with parameters, a bar between them.

    `caesar(shift=5) | payload_splitting(parts=4)`; values are JSON, or a bare word for a text.
    """
    return piped(text, most=most)


def piped(*parts: Rewrite | str, most: int = MOST) -> Chain:
    """A chain of attacks that are already made, or of texts."""
    return Chain.made({"parts": parts, "most": most}, "chain")


def _parts(part: Any) -> Iterator[Rewrite]:
    if isinstance(part, str):
        yield from (_checked(find_attack(each.name, **each.parameters)) for each in parsed(part))
    elif isinstance(part, Chain):
        yield from part.parts
    elif isinstance(part, Attack):
        yield _checked(part)
    elif isinstance(part, dict) and isinstance(part.get("name"), str):
        yield _checked(find_attack(part["name"], **(part.get("parameters") or {})))
    else:
        raise InputError(f"{part!r:.80} is no attack, nor the name of one")


def _checked(attack: Attack) -> Rewrite:
    if not isinstance(attack, Rewrite):
        raise InputError(
            f"{attack.name} drives a conversation and cannot be part of a chain",
            remedy="Use it by itself; a chain is made of rewritings only.",
        )
    return attack


def _drawn(texts: Iterable[str], most: int, random: Random) -> list[str]:
    """At most so many, by chance, in their order; no more than those are ever held."""
    held: list[tuple[int, str]] = []
    for count, text in enumerate(texts):
        if count < most:
            held.append((count, text))
        elif (place := random.randrange(count + 1)) < most:
            held[place] = (count, text)
    return [text for _, text in sorted(held)]
