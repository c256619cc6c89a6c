"""A workbench in a folder of its own, and benchmark runs at it that ask the simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import bench as benchmarks
from penstock.bench.results import BenchRun
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.simulator import Simulator
from tests.bench.bench_kit import Run, settings
from tests.grade.grade_gate import Gate


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(settings(), tmp_path / "home") as bench:
        yield bench


@pytest.fixture
def at(simulator: Simulator) -> Callable[..., Endpoint]:
    """A model of the simulator's server."""

    def endpoint(model: str = "simulated", **more: Any) -> Endpoint:
        return Endpoint("openai", model, **{"url": simulator.url, "key": "no-worth", **more})

    return endpoint


@pytest.fixture
def saved(bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Saves a model of the simulator's server under a name."""
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")

    def save(name: str, model: str = "simulated", **more: Any) -> str:
        spec = {"provider": "openai", "model": model, "url": simulator.url, "key": "env:LAB_KEY"}
        bench.catalog.save_endpoint(name, {**spec, **more})
        return name

    return save


@pytest.fixture
def gate(simulator: Simulator) -> Iterator[Gate]:
    """Before the simulator's server; it refuses what it is told to."""
    with Gate(simulator.url) as gate:
        yield gate


@pytest.fixture
def run(bench: Workbench, at: Callable[..., Endpoint]) -> Run:
    def ran(what: Any, **wishes: Any) -> BenchRun:
        given = {"endpoints": at(), "workbench": bench, **wishes}
        made = benchmarks.run(what, **given)
        assert isinstance(made, BenchRun)
        return made

    return ran
