"""An attack: either a pure rewriting of a prompt into variants, or a driver of a conversation.

A rewriting of one's own:

    class Shout(Rewrite):
        '''The prompt in capital letters.'''

        name = "shout"
        decodes = True

        times: int = Field(default=1, ge=1, le=5, description="How many exclamation marks follow.")

        def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
            yield prompt.upper() + "!" * self.times

Its parameters are its fields, checked when it is made, with a JSON schema like every document. The
same seed gives the same variants. Nothing that goes around it is its business: template, system
prompt, asking, scoring and recording are the engine's, for every attack alike.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from random import Random
from typing import Any, ClassVar, Literal, TypeAlias

from penstock.documents.models import Model
from penstock.errors import InputError

__all__ = ["Attack", "Family", "Rewrite", "seeded"]

Family: TypeAlias = Literal["encoding", "perturbation", "framing", "context", "model", "loop"]
Need: TypeAlias = Literal["attacker", "judge"]

_LONGEST = 1_000_000


class Attack(Model):
    """What every attack says of itself. Its docstring is its description."""

    name: ClassVar[str] = ""
    family: ClassVar[Family]
    paper: ClassVar[str] = ""
    """Where it was described: authors, title, year, and an address where there is one."""
    moonshot: ClassVar[str] = ""
    """Its id in Moonshot, where it has one."""
    needs: ClassVar[frozenset[Need]] = frozenset()
    """Endpoints beside the target."""

    @classmethod
    def about(cls) -> str:
        """What it does, in a line or two."""
        return " ".join((cls.__doc__ or "").split())

    def describe(self) -> dict[str, Any]:
        """What was done, as plain data for a report."""
        return {"name": self.name, "parameters": self.model_dump(mode="json")}


class Rewrite(Attack):
    """A pure function from a prompt to variants."""

    decodes: ClassVar[bool] = False
    """Whether the prompt can be read back from each variant; then `decode` does it."""

    @abstractmethod
    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        """The variants of a prompt."""

    def decode(self, variant: str) -> str:
        """The prompt that a variant was made of, for those that say they can."""
        raise InputError(f"what {self.name} makes cannot be read back")

    def variants(self, prompt: str, seed: int = 0) -> list[str]:
        """Each variant once, none of them empty; the prompt itself where there would be none."""
        made = self.rewrite(prompt, seeded(seed, self.name, prompt))
        found = dict.fromkeys(text[:_LONGEST] for text in made if text.strip())
        return list(found) or [prompt]


def seeded(seed: int, *names: str) -> Random:
    """A source of chance that is the same for the same seed and names, on every machine."""
    said = "\x1f".join([str(seed), *names]).encode("utf-8", "surrogatepass")
    return Random(said)  # noqa: S311 - not for secrets
