"""A workbench in a folder of its own; Prompters and generators that ask the simulator."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.generate.dataset import Dataset, dataset
from penstock.generate.generator import Generator, generator
from penstock.simulator import Simulator

Make: TypeAlias = Callable[..., Prompter]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench(workspace=tmp_path / "home") as bench:
        yield bench


@pytest.fixture
def at(simulator: Simulator) -> Callable[..., Endpoint]:
    """A model of the simulator's server."""

    def endpoint(model: str = "simulated", **more: Any) -> Endpoint:
        return Endpoint("openai", model, simulator.url, key="a-key-of-no-worth", **more)

    return endpoint


@pytest.fixture
def make(bench: Workbench, at: Callable[..., Endpoint]) -> Make:
    """A Prompter at the workbench; its model echoes the question unless another is named."""

    def prompter(
        prompt: Any = lambda row: row["text"], *, model: str = "simulated-echo", **more: Any
    ) -> Prompter:
        return Prompter(at(model), prompt, workbench=bench, **more)

    return prompter


@pytest.fixture
def gen(bench: Workbench, at: Callable[..., Endpoint]) -> Callable[..., Generator]:
    """A generator at the workbench, by the name of its model."""

    def generator_of(model: str = "simulated", **params: Any) -> Generator:
        return generator(at(model), workbench=bench, **params)

    return generator_of


@pytest.fixture
def schema(bench: Workbench) -> Callable[..., Dataset]:
    """A dataset at the workbench."""

    def dataset_of(columns: Any, n: int = 10, **options: Any) -> Dataset:
        return dataset(columns, n, workbench=bench, **options)

    return dataset_of


def texts(*words: str) -> list[dict[str, Any]]:
    return [{"text": word} for word in words]


def numbered(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [{"id": number, "text": f"row {number}"} for number in range(start, start + count)]


def wait_for_the_end(bench: Workbench, state: str = "cancelled") -> None:
    """Until the one run at a workbench has ended so."""
    for _ in range(200):
        [run] = bench.catalog.all_runs()
        if run["state"] == state:
            return
        time.sleep(0.05)
    raise AssertionError(f"the run is still {run['state']}")
