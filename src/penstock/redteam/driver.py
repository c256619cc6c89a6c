"""A driving attack: it talks to the target through a narrow handle, turn by turn.

    class Insist(Driver):
        '''Asks the same again and again, in one conversation.'''

        name = "insist"

        async def drive(self, target: Target) -> None:
            chat = target.chat()
            while True:
                await chat.say(target.objective.goal)

It need not look whether it has succeeded or how many turns are left: the conversation ends by
itself. It must be deterministic but for `target.random` and what models say: a run that was killed
is begun again, and finds in the journal what it asked before.
"""

from __future__ import annotations

from abc import abstractmethod

from penstock.redteam.attack import Attack
from penstock.redteam.target import Target

__all__ = ["Driver"]


class Driver(Attack):
    """An attack that drives a conversation."""

    @abstractmethod
    async def drive(self, target: Target) -> None:
        """Try to reach `target.objective`. What it raises is counted as an error of the attack."""
