"""What a driving attack may do: ask the target, ask its own model, draw by chance. No more.

Everything else happens around it. Each question goes the way of every turn; the conversation ends,
whatever the attack would still do, when it has succeeded, when its turns are used up, or when the
endpoint cannot be asked.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside
from penstock.engine.structured import ask_structured
from penstock.messages import Message
from penstock.outcome import Failure, FailureKind
from penstock.redteam.attack import Rewrite, seeded
from penstock.redteam.objective import Objective
from penstock.redteam.pipeline import Lineup, Prompt, take_turn
from penstock.redteam.turn import Turn, TurnStatus
from penstock.request import Request
from penstock.schema import AnswerSchema

__all__ = ["AttackerError", "Chat", "Ended", "Halted", "Target"]

_MOST_FAILURES = 3
T = TypeVar("T")


class Ended(BaseException):
    """The conversation is over. Not an Exception: no attack takes it for an error of its own."""


class Halted(Ended):
    """The run was stopped before the conversation was done: whoever goes on asks again."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class AttackerError(Exception):
    """The attacker's model gave nothing that can be used."""


class Target:
    """One endpoint, as one attack with one objective sees it."""

    def __init__(
        self,
        engine: Engine,
        lineup: Lineup,
        objective: Objective,
        *,
        name: str,
        seed: int = 0,
        max_turns: int = 10,
        stops: bool = True,
        attacker: Endpoint | None = None,
        rewrite: Rewrite | None = None,
        on_turn: Callable[[Turn], Awaitable[None]] | None = None,
        history: Sequence[Turn] = (),
        draw: int = 0,
    ) -> None:
        """`name` tells this conversation from all others. `rewrite`: what else is done to every
        prompt. `stops`: whether it is over with the first success. `on_turn` is called with every
        turn before the next one. `history`: earlier turns, for the strategy. `draw`: from where
        on draws are counted, so that what was tried before is asked anew."""
        self.objective = objective
        self.max_turns = max_turns
        self.random: Random = seeded(seed, name)
        self.turns: list[Turn] = []
        """All that were taken, in order."""
        self.waste = 0
        """What the attacker's model was asked in vain."""
        self._engine = engine
        self._lineup = lineup
        self._name = name
        self._seed = seed
        self._stops = stops
        self._attacker = attacker
        self._rewrite = rewrite
        self._on_turn = on_turn
        self._history = tuple(history)
        self._draw = draw
        self._asked: Counter[tuple[Any, ...]] = Counter()
        self._taken = 0

    @property
    def turns_left(self) -> int:
        return self.max_turns - self._taken

    @property
    def succeeded(self) -> bool:
        return any(turn.success for turn in self.turns)

    def chat(self) -> Chat:
        """A new conversation, with nothing said yet."""
        return Chat(self, ())

    async def ask(self, prompt: str, *, said: str | None = None, draw: int | None = None) -> Turn:
        """One question that stands alone; `said` is what is sent in the place of `prompt`. `draw`
        tells equal questions apart that are asked side by side; else their order does."""
        return await self._take(prompt, (), draw, said)

    async def attacker(
        self,
        prompt: str | Sequence[Message],
        *,
        system: str | None = None,
        draw: int = 0,
        **params: Any,
    ) -> str:
        """What the attacker's own model says; AttackerError where it says nothing."""
        outcome = await self._engine.ask(
            Request.of(self._helper(), prompt, system=system, sample=draw + self._draw, **params)
        )
        if isinstance(outcome, Failure):
            raise self._trouble(outcome)
        if not outcome.text.strip():
            raise AttackerError("the attacker's model answered with nothing")
        return outcome.text

    async def attacker_form(
        self,
        prompt: str | Sequence[Message],
        schema: Mapping[str, Any],
        *,
        system: str | None = None,
        draw: int = 0,
        **params: Any,
    ) -> Any:
        """The same, as JSON that fits a schema."""
        form = AnswerSchema.of(dict(schema))
        request = Request.of(
            self._helper(), prompt, system=system, schema=form, sample=draw + self._draw, **params
        )
        found = await ask_structured(self._engine, request)
        if isinstance(found, Failure):
            raise self._trouble(found)
        if found.value is None:
            raise AttackerError("the attacker's model refused")
        return found.value

    async def together(self, *work: Awaitable[T]) -> list[T]:
        """Side by side. All of them are asked before the conversation waits for a batch, and it
        waits before it ends. What one of them raises is raised when all are done."""
        done = await asyncio.gather(*work, return_exceptions=True)
        for kind in (Halted, SetAside, Ended, BaseException):
            for each in done:
                if isinstance(each, kind):
                    raise each
        return [each for each in done if not isinstance(each, BaseException)]

    # Inside -----------------------------------------------------------------------------------

    async def _take(
        self,
        prompt: str,
        before: tuple[Message, ...],
        draw: int | None,
        attacked: str | None = None,
    ) -> Turn:
        if self._taken >= self.max_turns or (self._stops and self.succeeded):
            raise Ended("no turn is left")
        self._taken += 1
        number = self._taken
        if self._rewrite is not None:
            attacked = self._rewrite.variants(attacked or prompt, self._seed)[0]
        if draw is None:
            same = (attacked or prompt, *(message["content"] for message in before))
            draw = self._asked[same]
            self._asked[same] += 1
        said = Prompt(prompt, attacked, before, number, self._name, draw + self._draw)
        # A conversation that goes on brings its own context; the strategy's is for the others.
        history = () if before else (*self._history, *self.turns)
        turn = await take_turn(
            self._engine, self._lineup, said, history=history, objective=self.objective
        )
        if turn.status is TurnStatus.FAILED:
            kind = FailureKind(turn.failure)
            if kind.undecided:
                raise Halted(Failure(kind, turn.error))
        unjudged = None if turn.verdict is None else turn.verdict.failure
        if unjudged is not None and unjudged.undecided:
            raise Halted(Failure(unjudged, "its judge was not asked"))
        insort(self.turns, turn, key=lambda each: each.number)
        if self._on_turn is not None:
            await self._on_turn(turn)
        if turn.success and self._stops:
            raise Ended("it succeeded")
        if _hopeless(self.turns):
            raise Ended("the endpoint does not answer")
        return turn

    def _helper(self) -> Endpoint:
        if self._attacker is None:
            raise AttackerError("no attacker is named")
        return self._attacker

    def _trouble(self, failure: Failure) -> BaseException:
        if failure.kind.undecided:
            return Halted(failure)
        return AttackerError(f"the attacker's model: {failure.kind}: {failure.message}")


class Chat:
    """A conversation that goes on: the model sees what was said before."""

    def __init__(self, target: Target, messages: tuple[Message, ...]) -> None:
        self._target = target
        self.messages = messages
        """What the model has seen and said, without the system prompt."""

    async def say(self, prompt: str, *, draw: int | None = None) -> Turn:
        """The next turn; an answer becomes part of the conversation."""
        turn = await self._target._take(prompt, self.messages, draw)
        if turn.text.strip():  # some providers refuse an answer of nothing in what went before
            asked = Message(role="user", content=turn.prepared)
            answered = Message(role="assistant", content=turn.text)
            self.messages = (*self.messages, asked, answered)
        return turn

    def back(self) -> None:
        """Take the last exchange back: the model has never seen it."""
        self.messages = self.messages[:-2]

    def branch(self) -> Chat:
        """A second conversation from here on."""
        return Chat(self._target, self.messages)


def _hopeless(turns: Sequence[Turn]) -> bool:
    last = turns[-_MOST_FAILURES:]
    return len(last) == _MOST_FAILURES and all(t.status is TurnStatus.FAILED for t in last)
