"""Penstock: bulk work with language models. Every answer once, in order, on disk.

The public face. Everything is loaded when first used, so that importing it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.endpoint import Endpoint, Limits, Prices
    from penstock.engine.accounts import usage
    from penstock.engine.asking import ask
    from penstock.engine.bridge import Handle
    from penstock.engine.structured import Structured
    from penstock.engine.workbench import Workbench, close
    from penstock.errors import PenstockError
    from penstock.generate import LLM, Prompter
    from penstock.generate.columns import column
    from penstock.generate.dataset import Dataset, dataset, generate_with_viewer
    from penstock.generate.estimating import estimate
    from penstock.generate.evaluation import evaluate
    from penstock.generate.generator import async_generator, generator
    from penstock.generate.measures import eval  # noqa: A004
    from penstock.generate.samplers import sample
    from penstock.grade.grading import grade
    from penstock.messages import audio, file, image
    from penstock.outcome import Answer, Failure, FailureKind, Finish, Outcome, Usage
    from penstock.plugins import register
    from penstock.request import Request
    from penstock.settings import Settings
    from penstock.simulator import Simulator
    from penstock.tables import Table

__all__ = [
    "LLM",
    "Answer",
    "Dataset",
    "Endpoint",
    "Failure",
    "FailureKind",
    "Finish",
    "Handle",
    "Limits",
    "Outcome",
    "PenstockError",
    "Prices",
    "Prompter",
    "Request",
    "Settings",
    "Simulator",
    "Structured",
    "Table",
    "Usage",
    "Workbench",
    "ask",
    "async_generator",
    "audio",
    "close",
    "column",
    "dataset",
    "estimate",
    "eval",
    "evaluate",
    "file",
    "generate_with_viewer",
    "generator",
    "grade",
    "image",
    "register",
    "sample",
    "usage",
]

_ROOMS = {
    "LLM": "generate",
    "Answer": "outcome",
    "Dataset": "generate.dataset",
    "Endpoint": "endpoint",
    "Failure": "outcome",
    "FailureKind": "outcome",
    "Finish": "outcome",
    "Handle": "engine.bridge",
    "Limits": "endpoint",
    "Outcome": "outcome",
    "PenstockError": "errors",
    "Prices": "endpoint",
    "Prompter": "generate",
    "Request": "request",
    "Settings": "settings",
    "Simulator": "simulator",
    "Structured": "engine.structured",
    "Table": "tables",
    "Usage": "outcome",
    "Workbench": "engine.workbench",
    "ask": "engine.asking",
    "async_generator": "generate.generator",
    "audio": "messages",
    "close": "engine.workbench",
    "column": "generate.columns",
    "dataset": "generate.dataset",
    "estimate": "generate.estimating",
    "eval": "generate.measures",
    "evaluate": "generate.evaluation",
    "file": "messages",
    "generate_with_viewer": "generate.dataset",
    "generator": "generate.generator",
    "grade": "grade.grading",
    "image": "messages",
    "register": "plugins",
    "sample": "generate.samplers",
    "usage": "engine.accounts",
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
