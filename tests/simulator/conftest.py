"""One server for the whole room; every test finds it as if it had just been started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from penstock.simulator import Simulator, SimulatorSettings
from penstock.simulator.settings import FIXED_AT_START

DEFAULTS = {
    name: value for name, value in asdict(SimulatorSettings()).items() if name not in FIXED_AT_START
}


@pytest.fixture(scope="package")
def _room() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(_room: Simulator) -> Simulator:
    """The server with its defaults and an empty ledger."""
    _room.set(**DEFAULTS)
    _room.reset()
    return _room
