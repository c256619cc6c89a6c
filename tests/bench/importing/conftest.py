from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engine.workbench import Workbench
from tests.bench.importing.moonshot_kit import Moon


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(workspace=tmp_path / "workspace") as bench:
        yield bench


@pytest.fixture
def moon(tmp_path: Path, bench: Workbench) -> Moon:
    folder = tmp_path / "moonshot-data"
    folder.mkdir()
    return Moon(folder, bench)
