"""Attacks for which the attacker's model writes a list beforehand, each entry of which is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import Any

from pydantic import Field

from penstock.redteam.attacks.loops.levels import Waves, none_left, room, tried
from penstock.redteam.attacks.loops.material import message, objective_of
from penstock.redteam.attacks.loops.writing import form, instructed, usable
from penstock.redteam.target import AttackerError, Target

__all__ = ["Listed"]

_BLOCK = 10
_WANTED = "Write {count} of them."


class Listed(Waves):
    """A list by the attacker's model, and a question for each entry."""

    needs = frozenset({"attacker"})

    count: int = Field(default=10, ge=1, le=200, description="How many there are at most.")

    @abstractmethod
    def task(self) -> str:
        """What the entries of the list are, for the attacker's model."""

    def asked(self, entry: str) -> str:
        """The question that is made of an entry."""
        return entry

    async def drive(self, target: Target) -> None:
        entries = await self._listed(target)

        async def write(entry: str) -> str:
            return self.asked(entry)

        await self.waves(target, entries, write)

    async def _listed(self, target: Target) -> Sequence[str]:
        """The entries, each once; written in blocks, side by side, no more than can be asked."""
        sizes = [min(_BLOCK, self.count - begin) for begin in range(0, self.count, _BLOCK)]
        sizes = sizes[: ceil(len(room(target, range(self.count))) / _BLOCK)]
        made = await tried(
            target, [self._block(target, size, number) for number, size in enumerate(sizes)]
        )
        found = [text for block in made if isinstance(block, list) for text in block]
        entries = list(dict.fromkeys(found))[: self.count]
        if not entries:
            raise none_left(made)
        return entries

    async def _block(self, target: Target, size: int, number: int) -> list[str]:
        shown = message(_WANTED.format(count=size), objective_of(target.objective))
        filled = await target.attacker_form(
            shown, _form(size), system=instructed(self.task()), draw=number
        )
        kept = [text for text in map(usable, filled["entries"]) if text is not None]
        if not kept:
            raise AttackerError("the attacker's model declined to write a list")
        return kept[:size]


def _form(size: int) -> dict[str, Any]:
    listed = {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "description": f"{size} entries.",
    }
    return form("entries", {"entries": listed})
