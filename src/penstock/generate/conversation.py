"""Conversations: several turns as one column.

    gen.conversation(["Explain {topic}.", "Shorter, please."])
    gen.conversation("My {device} is broken!", user=other("You own a {device} ..."), rounds=4)

The value is the list of messages, as fine-tuning wants them. Each turn is a question of its own in
the journal; a kill repeats none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.endpoint import Endpoint
from penstock.errors import InputError
from penstock.generate.arguments import Needs
from penstock.generate.columns import Attempt, Column, Make, Row, Scene
from penstock.generate.generator import Asking, Generator, GeneratorFunction, sample_of
from penstock.generate.models import Models
from penstock.generate.prompts import Kind, Prompt
from penstock.generate.rules import Check, Condition
from penstock.outcome import Failure
from penstock.request import merged_params

__all__ = ["Conversation", "conversation"]

_MOST_TURNS = 100
_ROLES = {"user": "assistant", "assistant": "user"}


@dataclass(frozen=True, kw_only=True)
class Conversation(Column):
    """A column of messages."""

    generator: Generator
    turns: tuple[Prompt, ...]
    """What the user says, as far as it is written."""
    user: GeneratorFunction | None = None
    """Who says the rest of it."""
    rounds: int = 1
    params: Mapping[str, Any] = field(default_factory=dict)

    def own_needs(self, name: str, columns: Sequence[str]) -> Needs:
        found = Needs()
        for turn in self.turns:
            found |= turn.needs(name, columns)
        return found if self.user is None else found | self.user.own_needs(name, columns)

    @property
    def repeats(self) -> bool:
        return True

    @property
    def question(self) -> Any:
        return self.generator, tuple(turn.identity for turn in self.turns)

    def endpoints(self, models: Models) -> tuple[Endpoint, ...]:
        own = (models.of(self.generator),)
        return own if self.user is None else own + self.user.endpoints(models)

    def maker(self, scene: Scene) -> Make:
        model = Asking.of(self.generator, self.params, scene)
        user = self.user
        person = None if user is None else Asking.of(user.generator, user.params, scene)

        async def make(number: int, row: Row, attempt: Attempt) -> Any:
            sample = sample_of(number, scene.twin, attempt.number)
            messages: list[dict[str, Any]] = []
            for round_ in range(self.rounds):
                said = await self._said(round_, messages, row, person, sample)
                if isinstance(said, Failure):
                    return said
                messages += said
                answer = await model.value(list(messages), sample)
                if isinstance(answer, Failure):
                    return answer
                messages.append({"role": "assistant", "content": answer})
            return messages

        return make

    async def _said(
        self,
        round_: int,
        messages: list[dict[str, Any]],
        row: Row,
        person: Asking | None,
        sample: int,
    ) -> Any:
        """What is said before the next answer: a written turn, or one of the user's own."""
        if round_ < len(self.turns):
            made = self.turns[round_].messages(row)
            return made if not messages else [m for m in made if m["role"] != "system"]
        assert person is not None and self.user is not None
        part = self.user.prompt.messages(row)[-1]["content"]
        seen = [
            {"role": _ROLES[message["role"]], "content": message["content"]}
            for message in messages
            if message["role"] in _ROLES
        ]
        text = await person.value([{"role": "system", "content": part}, *seen], sample)
        return text if isinstance(text, Failure) else [{"role": "user", "content": text}]


def conversation(
    generator: Generator,
    turns: Any,
    *,
    user: GeneratorFunction | None = None,
    rounds: int | None = None,
    system_prompt: str | None = None,
    template: Kind = "bare",
    params: Mapping[str, Any] | None = None,
    when: Any = None,
    check: Any = None,
    tries: int = 3,
    **variables: Any,
) -> Conversation:
    """A conversation from what a person wrote: a text or several; `user` says what they leave
    open, up to `rounds` turns in all."""
    written = [turns] if isinstance(turns, str) else list(turns)
    if not written or not all(isinstance(turn, str) for turn in written):
        raise InputError("a conversation wants texts: what the user says, one or several")
    many = len(written) if rounds is None else rounds
    if type(many) is not int or not 1 <= many <= _MOST_TURNS:
        raise InputError(f"rounds is {rounds!r}; 1 to {_MOST_TURNS} are allowed")
    if many > len(written) and user is None:
        raise InputError(
            f"rounds is {many}, but only {len(written)} turns are written",
            remedy="Give user=gen('You are ...'), who says the rest.",
        )
    if user is not None and (user.prompt.function is not None or user.schema is not None):
        raise InputError("user wants a prompt that is a text, and no response_format")
    merged_params({}, params or {})
    prompts = [_turn(text, system_prompt, template, variables) for text in written]
    unused = [name for name in variables if not any(name in each.variables for each in prompts)]
    if unused:
        raise InputError(
            f"no turn has {{{unused[0]}}}",
            remedy="Parameters of the model are given as params={'temperature': 0.5}.",
        )
    return Conversation(
        generator=generator,
        turns=tuple(prompts[:many]),
        user=user,
        rounds=many,
        params=dict(params or {}),
        when=Condition.of(when),
        check=Check.of(check),
        tries=tries,
    )


def _turn(text: str, system: str | None, kind: Kind, variables: Mapping[str, Any]) -> Prompt:
    named = Prompt.of(text, system, kind, {}).names
    return Prompt.of(text, system, kind, {k: v for k, v in variables.items() if k in named})
