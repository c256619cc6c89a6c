"""Best of n: one prompt, many slight changes by chance, until one of them works."""

from __future__ import annotations

from pydantic import Field

from penstock.redteam.attacks.loops.augmenting import capitals, noise, shuffled
from penstock.redteam.attacks.loops.levels import Waves, room
from penstock.redteam.attacks.papers import BEST_OF_N
from penstock.redteam.target import Target

__all__ = ["BestOfN"]


class BestOfN(Waves):
    """The objective again and again, each time with letters shuffled inside words, capitals and
    noise by chance. No attacker's model is asked. At most `attempts` questions; with all shares at
    0 it is the same question drawn anew."""

    name = "best_of_n"
    family = "loop"
    paper = BEST_OF_N

    attempts: int = Field(
        default=100, ge=1, le=10_000, description="How many changed prompts are asked."
    )
    at_once: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="How many are asked side by side; none begins after a success.",
    )
    shuffled: float = Field(
        default=0.6, ge=0, le=1, description="The share of words that are shuffled."
    )
    capitals: float = Field(
        default=0.6, ge=0, le=1, description="The share of letters that change case."
    )
    noise: float = Field(
        default=0.06, ge=0, le=1, description="The share of characters that are changed."
    )

    async def drive(self, target: Target) -> None:
        goal = target.objective.goal
        begin = 0
        while begin < self.attempts:
            places = room(target, range(begin, min(begin + self.at_once, self.attempts)))
            changed = [self._changed(goal, target) for _ in places]
            await target.together(
                *(
                    target.ask(goal, said=said, draw=at)
                    for at, said in zip(places, changed, strict=True)
                )
            )
            begin += len(places)

    def _changed(self, text: str, target: Target) -> str:
        text = shuffled(text, self.shuffled, target.random)
        text = capitals(text, self.capitals, target.random)
        return noise(text, self.noise, target.random)
