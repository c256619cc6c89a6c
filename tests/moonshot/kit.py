"""What the walks through Moonshot's flows start from: a file of examples, an endpoint, a recipe."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock import moonshot
from penstock.simulator import Simulator

__all__ = ["SCALE", "echo", "examples", "recipe", "written"]

SCALE = {"A": [80, 100], "B": [60, 79], "C": [40, 59], "D": [20, 39], "E": [0, 19]}


def written(rows: Sequence[Sequence[str]], name: str = "given.csv") -> Path:
    """A CSV file in the folder of the test."""
    path = Path(name)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def examples(count: int, right: int | None = None, word: str = "Say") -> list[list[str]]:
    """Questions with their headers; whoever repeats them gives the first `right` right."""
    right = count if right is None else right
    asked = [[f"{word} {n}", f"{word} {n}" if n < right else "else"] for n in range(count)]
    return [["input", "target"], *asked]


def echo(simulator: Simulator, name: str = "Echo", **fields: Any) -> str:
    """An endpoint that repeats what it is asked, on the server with the ledger."""
    given = {"model": "simulated-echo", "params": {}, "max_calls_per_second": 1000, **fields}
    return moonshot.api_create_endpoint(name, "openai-connector", simulator.url, **given)


def recipe(count: int, right: int | None = None, name: str = "Repeating", **fields: Any) -> str:
    """A recipe with a dataset of its own."""
    path = written(examples(count, right, name))
    data = moonshot.api_create_dataset(f"{name} data", csv_file_path=path)
    given = {"metrics": ["exactstrmatch"], "grading_scale": SCALE, **fields}
    return moonshot.api_create_recipe(name, datasets=[data], **given)
