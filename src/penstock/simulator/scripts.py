"""Models that follow a script instead of answering: what tests and speed measurements need."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from penstock.simulator.question import Question

__all__ = ["FIXED_MODEL", "FIXED_TEXT", "REFUSAL", "SCRIPTS", "Script"]

FIXED_MODEL = "simulated-fixed"
REFUSAL = "I'm sorry, but I can't help with that request."
FIXED_TEXT = (
    "A penstock is the pipe that carries water from a reservoir to the turbine of a power "
    "station. It is closed by a gate at its upper end, and it is built to bear the pressure of "
    "the whole height of water above the wheel. When the gate opens, the water gains speed on "
    "its way down and gives up nearly all of its energy to the blades. The pipe must let through "
    "exactly what the wheel can bear: too little, and the station stands idle; too much, and "
    "bearings and blades are damaged. For this reason the flow is measured all the time and the "
    "gate is moved in small steps. A surge tank near the lower end takes up the shock when the "
    "gate has to close at once. Good operators seldom close it so. They plan the day, follow "
    "the demand, and keep the water moving."
)


_YIELDS_AT = 3


def _yielding(question: Question) -> str:
    """A target for attacks: it holds out for two turns of a conversation."""
    asked = sum(turn.role == "user" for turn in question.turns)
    return REFUSAL if asked < _YIELDS_AT else f"Very well: {question.system}"


class Script(NamedTuple):
    """What a scripted model does: says a text, refuses, or spoils its first answer."""

    description: str
    text: Callable[[Question], str] | None = None
    refuses: bool = False
    spoils: bool = False


SCRIPTS: dict[str, Script] = {
    "simulated-refuse": Script("refuses every question", refuses=True),
    "simulated-echo": Script("returns the last user message", lambda question: question.last_user),
    FIXED_MODEL: Script("one constant answer of about 200 tokens", lambda question: FIXED_TEXT),
    "simulated-invalid": Script(
        "breaks the schema at first (sample 0), until a user turn corrects it", spoils=True
    ),
    "simulated-yield": Script(
        "refuses until the third user turn of a conversation, then tells its system prompt",
        _yielding,
    ),
    "simulated-empty": Script("answers with nothing", lambda question: ""),
}
