"""A language model that needs no network and costs nothing, and a server that speaks with it.

`answer` is the model: deterministic, fast, plausible, and true to a schema. `Simulator` runs it
as a server that speaks the APIs of OpenAI, Anthropic and Gemini, in a child process, with latency,
limits, faults and a ledger of every request: the judge of Penstock's own promises, and yours to
test with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.simulator.brain import answer, reply_to
    from penstock.simulator.child import Simulator
    from penstock.simulator.counting import count
    from penstock.simulator.question import Question, Reply
    from penstock.simulator.settings import SimulatorSettings

__all__ = ["Question", "Reply", "Simulator", "SimulatorSettings", "answer", "count", "reply_to"]

_ROOMS = {
    "Question": "question",
    "Reply": "question",
    "Simulator": "child",
    "SimulatorSettings": "settings",
    "answer": "brain",
    "count": "counting",
    "reply_to": "brain",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
