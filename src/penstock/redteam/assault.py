"""What is done to an objective: rewritings, a driver, or rewritings of all that a driver says."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import InputError
from penstock.redteam.attack import Attack, Rewrite
from penstock.redteam.chain import piped
from penstock.redteam.driver import Driver
from penstock.redteam.finding import find_attack
from penstock.redteam.notation import notation, parsed
from penstock.redteam.target import Target

__all__ = ["PLAIN", "Assault", "parse_assault"]

PLAIN = "plain"
"""No attack at all: the objective as it is written, to compare the others with."""


@dataclass(frozen=True)
class Assault:
    """`base64 | crescendo`: rewritings, then at most one driver, whose prompts they rewrite."""

    label: str
    rewrite: Rewrite | None = None
    driver: Driver | None = None

    @property
    def needs_attacker(self) -> bool:
        return self.driver is not None and "attacker" in self.driver.needs

    @property
    def parts(self) -> tuple[Attack, ...]:
        return tuple(part for part in (self.rewrite, self.driver) if part is not None)

    @property
    def around(self) -> Rewrite | None:
        """What rewrites a driver's prompts; variants of a rewriting alone are asked one by one."""
        return self.rewrite if self.driver is not None else None

    async def carry_out(self, target: Target, seed: int) -> None:
        """Try it, until the conversation ends."""
        if self.driver is not None:
            await self.driver.drive(target)
            return
        goal = target.objective.goal
        variants = [goal] if self.rewrite is None else self.rewrite.variants(goal, seed)
        for variant in variants:
            await target.ask(goal, said=variant)


def parse_assault(text: str) -> Assault:
    """From what a person writes: `base64`, `caesar(shift=3) | pair`, `plain`."""
    if text.strip() in ("", PLAIN, "none"):
        return Assault(PLAIN)
    made = [find_attack(part.name, **part.parameters) for part in parsed(text)]
    label = " | ".join(notation(each.name, each.to_dict()) for each in made)
    *before, last = made
    for attack in before:
        if not isinstance(attack, Rewrite):
            raise InputError(
                f"{attack.name} drives a conversation and can only stand last, in {text!r}",
                remedy=f"Write the rewritings first: ... | {attack.name}",
            )
    rewrites = [attack for attack in made if isinstance(attack, Rewrite)]
    chain = None
    if rewrites:
        chain = rewrites[0] if len(rewrites) == 1 else piped(*rewrites)
    return Assault(label, chain, last if isinstance(last, Driver) else None)
