"""Prompts of a schema: templates whose names are columns, messages of templates, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from penstock.errors import InputError, RequestError
from penstock.generate.arguments import Needs, no_column, wanted
from penstock.messages import normalise
from penstock.templates import template_of

__all__ = ["Kind", "Prompt"]

Kind = Literal["bare", "jinja"]


class Filled(Protocol):
    """A template of either kind."""

    text: str

    @property
    def names(self) -> Sequence[str]: ...
    def fill(self, row: Mapping[str, Any]) -> str: ...


class Turn(NamedTuple):
    """A message whose text is a template."""

    role: str
    text: Filled


@dataclass(frozen=True)
class Prompt:
    """What a cell asks: turns to fill in, or a function that gives the messages."""

    turns: tuple[Turn, ...] = ()
    function: Callable[..., Any] | None = None
    system: Filled | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, system: str | None, kind: Kind, variables: Mapping[str, Any]) -> Prompt:
        """From what a person wrote."""
        made_system = None if system is None else _template(system, kind, "the system prompt")
        if callable(given):
            if variables:
                raise InputError(
                    f"the prompt is a function; {', '.join(variables)} would not be used"
                )
            return cls(function=given, system=made_system)
        turns = tuple(_turns(given, kind))
        made = cls(turns, None, made_system, dict(variables))
        unused = [name for name in variables if name not in made.names]
        if unused:
            raise InputError(
                f"the prompt has no {{{unused[0]}}}",
                remedy="Parameters of the model are given as params={'temperature': 0.5}.",
            )
        return made

    def needs(self, name: str, columns: Sequence[str]) -> Needs:
        """The columns it names; what is none of them is said, with what was probably meant."""
        what = f"column {name!r}"
        others = [column for column in columns if column != name]
        found = Needs()
        if self.function is not None:
            found = wanted(self.function, others, f"{what}, prompt").needs
        names = [each for each in self.names if each not in self.variables]
        for each in names:
            if each == name:
                raise InputError(f"{what}: its prompt names {{{name}}}, which is itself")
            if each not in others:
                raise no_column(what, f"{{{each}}}, which its prompt names,", each, others)
        return found | Needs(tuple(names))

    def messages(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages of a row; only where no function makes them."""
        values = {**row, **self.variables} if self.variables else row
        made = [{"role": turn.role, "content": turn.text.fill(values)} for turn in self.turns]
        return self.with_system(made, values)

    def with_system(
        self, messages: list[dict[str, Any]], row: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """The messages under the system prompt, unless they have one."""
        if self.system is None or messages[0]["role"] in ("system", "developer"):
            return messages
        return [{"role": "system", "content": self.system.fill(row)}, *messages]

    @property
    def identity(self) -> Any:
        """To be compared: equal ones ask the same of every row."""
        texts = tuple((turn.role, turn.text.text) for turn in self.turns)
        system = None if self.system is None else self.system.text
        return texts, self.function, system, tuple(map(str, self.variables.items()))

    @property
    def names(self) -> list[str]:
        """The names in its braces."""
        texts = [turn.text for turn in self.turns]
        if self.system is not None:
            texts.append(self.system)
        return list(dict.fromkeys(name for text in texts for name in text.names))


def _template(text: Any, kind: Kind, what: str) -> Filled:
    if not isinstance(text, str):
        raise InputError(f"{what} is a {type(text).__name__}; a text is wanted")
    if kind not in ("bare", "jinja"):
        raise InputError(f"template is {kind!r}", remedy="Allowed are 'bare' and 'jinja'.")
    return template_of(text, kind)


def _turns(given: Any, kind: Kind) -> list[Turn]:
    if isinstance(given, str):
        return [Turn("user", _template(given, kind, "the prompt"))]
    try:
        messages = normalise(given)
    except RequestError as error:
        raise InputError(error.message, remedy=error.remedy) from None
    turns = []
    for message in messages:
        content = message.get("content")
        if not isinstance(content, str) or len(message) != 2:
            raise InputError(
                "a prompt of messages has only texts",
                remedy="For pictures and files give a function that returns the messages.",
            )
        turns.append(Turn(str(message["role"]), _template(content, kind, "a message")))
    return turns
