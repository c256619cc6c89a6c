"""What every provider is held to, and the servers to hold it to it with.

`ProviderContract` is a class of tests: subclass it in a test file, say which endpoint is meant and
what the provider lacks, and pytest does the rest; `check` runs it without pytest. It is the suite
that Penstock's own providers pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.abilities import ABILITIES
    from penstock.testing.checking import Checked, check
    from penstock.testing.contract import ProviderContract
    from penstock.testing.stage import SimulatorStage, Stage
    from penstock.testing.stub import Arrived, Said, StubStage

__all__ = [
    "ABILITIES",
    "Arrived",
    "Checked",
    "ProviderContract",
    "Said",
    "SimulatorStage",
    "Stage",
    "StubStage",
    "check",
]

_ROOMS = {
    "ABILITIES": "abilities",
    "Arrived": "stub",
    "Checked": "checking",
    "ProviderContract": "contract",
    "Said": "stub",
    "SimulatorStage": "stage",
    "Stage": "stage",
    "StubStage": "stub",
    "check": "checking",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
