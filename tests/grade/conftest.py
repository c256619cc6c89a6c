"""A workbench in a folder of its own, and grading runs at it that ask the simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.grade.results import Grading
from penstock.simulator import Simulator
from tests.grade.grade_gate import Gate
from tests.grade.grade_kit import Grade, job, settings


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(settings(), tmp_path / "home") as bench:
        yield bench


@pytest.fixture
def at(simulator: Simulator) -> Callable[..., Endpoint]:
    """A model of the simulator's server."""

    def endpoint(model: str = "simulated", **more: Any) -> Endpoint:
        return Endpoint("openai", model, simulator.url, **{"key": "a-key-of-no-worth", **more})

    return endpoint


@pytest.fixture
def gate(simulator: Simulator) -> Iterator[Gate]:
    """Before the simulator's server; it refuses what it is told to."""
    with Gate(simulator.url) as gate:
        yield gate


@pytest.fixture
def grade(bench: Workbench, at: Callable[..., Endpoint], tmp_path: Path) -> Grade:
    def graded(inputs: Any, *, run: str = "", **wishes: Any) -> Grading:
        given = {"model": at(), "out": tmp_path / "out", "workbench": bench, **wishes}
        models = given.pop("model")
        endpoints = [models] if isinstance(models, Endpoint) else list(models)
        at_bench, waits = given.pop("workbench"), given.pop("wait", True)
        made = job(inputs, endpoints, **given).run(at_bench, run_id=run, waits=waits)
        assert isinstance(made, Grading)
        return made

    return graded
