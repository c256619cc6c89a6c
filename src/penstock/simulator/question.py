"""What the brain is asked and what it says, in no provider's words.

An adapter (`openai.py`, later others) turns a wire request into a `Question` and a `Reply` into
a wire answer, so that the brain knows no protocol and a new protocol needs no new brain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

__all__ = ["Question", "Reply", "Tool", "Turn"]


class Turn(NamedTuple):
    """One message: who speaks (system, user, assistant, tool) and the text of it."""

    role: str
    text: str


class Tool(msgspec.Struct, frozen=True):
    """A function the model may call."""

    name: str
    description: str = ""
    parameters: Any = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can change an answer, and nothing else.

    `schema` is None when free text is wanted, `True` when any JSON object will do.
    `tool_choice` is "auto", "none", "required" or the name of a tool. `reasoning` is the effort
    asked for ("" when the model does not reason). `media` is a digest of images and files, so
    that another picture gives another answer. `draw` tells apart the choices of one request.
    """

    model: str
    turns: list[Turn]
    images: int = 0
    files: int = 0
    media: str = ""
    schema: Any = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    reasoning: str = ""
    sample: int = 0
    draw: int = 0
    seed: int | None = None

    @property
    def last_user(self) -> str:
        """The text of the last user turn, or of the last turn where there is none."""
        for turn in reversed(self.turns):
            if turn.role == "user":
                return turn.text
        return self.turns[-1].text if self.turns else ""

    @property
    def system(self) -> str:
        """The text of all system turns."""
        return "\n".join([turn.text for turn in self.turns if turn.role == "system"])


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the model said. `tool_calls` are in OpenAI's form; tokens are approximate counts.

    `stopped` is the stop string that ended the text, if one did.
    """

    text: str
    refusal: str | None = None
    finish: str = "stop"
    stopped: str | None = None
    tool_calls: list[dict[str, Any]] = msgspec.field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
