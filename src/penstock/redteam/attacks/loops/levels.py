"""Levels: what a loop does side by side before it goes on.

Loops go level by level, all attempts of a level together: first all are written, then all are
asked. So which questions there are, and which draw each is, never depends on who was faster, and
in the batch lane a level costs one batch. An attempt that the attacker's model spoils is lost
alone; a loop fails when none is left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from pydantic import Field

from penstock.redteam.driver import Driver
from penstock.redteam.target import AttackerError, Ended, Target

__all__ = ["Lost", "Waves", "none_left", "room", "tried"]

T = TypeVar("T")


class Lost(NamedTuple):
    """In the place of what the attacker's model spoilt."""

    why: str


def room(target: Target, attempts: Sequence[T]) -> list[T]:
    """As many of them as there are turns left; where there is none, nothing more is written."""
    if target.turns_left <= 0:
        raise Ended("no turn is left")
    return list(attempts[: target.turns_left])


async def tried(target: Target, work: Iterable[Awaitable[T]]) -> list[T | Lost]:
    """All of it, side by side; an error of the attacker's costs only what it spoilt."""
    return await target.together(*(_spared(target, each) for each in work))


def none_left(errors: Sequence[object]) -> AttackerError:
    """What is raised when every branch is lost."""
    told = list(dict.fromkeys(each.why for each in errors if isinstance(each, Lost)))
    more = " (and other errors)" if len(told) > 1 else ""
    return AttackerError(f"{told[0]}{more}" if told else "nothing was left to ask")


class Waves(Driver):
    """Attempts that know nothing of each other, some at a time."""

    at_once: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="How many are asked side by side; none begins after a success.",
    )

    async def waves(
        self,
        target: Target,
        attempts: Sequence[T],
        write: Callable[[T], Awaitable[str]],
    ) -> None:
        """Write and ask all of them, wave by wave. The place of each is its draw."""
        lost: list[Lost] = []
        begin = 0
        while begin < len(attempts):
            wave = room(target, attempts[begin : begin + self.at_once])
            texts = await tried(target, map(write, wave))
            asked = [(at, text) for at, text in enumerate(texts, begin) if isinstance(text, str)]
            lost += [text for text in texts if isinstance(text, Lost)]
            if asked:
                await target.together(*(target.ask(text, draw=at) for at, text in asked))
            begin += len(wave)
        if len(lost) == len(attempts):
            raise none_left(lost)


async def _spared(target: Target, work: Awaitable[T]) -> T | Lost:
    try:
        return await work
    except AttackerError as error:
        target.waste += 1
        return Lost(str(error))
