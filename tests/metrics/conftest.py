"""A station on a real journal, for judges."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engine.station import Station
from penstock.store import Journal


@pytest.fixture
async def station(tmp_path: Path) -> AsyncIterator[Station]:
    async with Station(Journal(tmp_path / "journal.db"), concurrency=16, drain=5) as station:
        yield station
