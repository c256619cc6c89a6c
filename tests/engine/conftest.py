"""A station on a real journal, and endpoints to ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.station import Station
from penstock.simulator import Simulator
from penstock.store import Journal


@pytest.fixture
async def station(tmp_path: Path) -> AsyncIterator[Station]:
    async with Station(Journal(tmp_path / "journal.db"), concurrency=64, drain=5) as station:
        yield station


@pytest.fixture
def endpoint(simulator: Simulator) -> Endpoint:
    return Endpoint("openai", "simulated", simulator.url, key="a-key-of-no-worth")


@pytest.fixture
def offline() -> Endpoint:
    return Endpoint("simulated", "simulated")
