"""Penstock: bulk work with language models. Every answer once, in order, on disk.

The public face. Everything is loaded when first used, so that importing it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.endpoint import Endpoint, Limits, Prices
    from penstock.engine.asking import ask
    from penstock.engine.bridge import Handle
    from penstock.engine.structured import Structured
    from penstock.engine.workbench import Workbench
    from penstock.errors import PenstockError
    from penstock.messages import audio, file, image
    from penstock.outcome import Answer, Failure, FailureKind, Finish, Outcome, Usage
    from penstock.plugins import register
    from penstock.request import Request
    from penstock.settings import Settings
    from penstock.simulator import Simulator

__all__ = [
    "Answer",
    "Endpoint",
    "Failure",
    "FailureKind",
    "Finish",
    "Handle",
    "Limits",
    "Outcome",
    "PenstockError",
    "Prices",
    "Request",
    "Settings",
    "Simulator",
    "Structured",
    "Usage",
    "Workbench",
    "ask",
    "audio",
    "file",
    "image",
    "register",
]

_ROOMS = {
    "Answer": "outcome",
    "Endpoint": "endpoint",
    "Failure": "outcome",
    "FailureKind": "outcome",
    "Finish": "outcome",
    "Handle": "engine.bridge",
    "Limits": "endpoint",
    "Outcome": "outcome",
    "PenstockError": "errors",
    "Prices": "endpoint",
    "Request": "request",
    "Settings": "settings",
    "Simulator": "simulator",
    "Structured": "engine.structured",
    "Usage": "outcome",
    "Workbench": "engine.workbench",
    "ask": "engine.asking",
    "audio": "messages",
    "file": "messages",
    "image": "messages",
    "register": "plugins",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("penstock")
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(f"penstock.{room}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
