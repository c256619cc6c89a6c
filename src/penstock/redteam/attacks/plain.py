"""The prompt as it is: what the other attacks are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from penstock.redteam.attack import Rewrite

__all__ = ["Unchanged"]


class Unchanged(Rewrite):
    """The prompt as it is, so that a session also shows what no attack at all achieves."""

    name = "unchanged"
    family = "framing"
    moonshot = "sample_attack_module"
    decodes = True

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        yield prompt

    def decode(self, variant: str) -> str:
        return variant
