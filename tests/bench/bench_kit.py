"""What the tests of benchmark runs have in common: recipes in a folder, a look at what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from penstock.bench.item import Item
from penstock.bench.results import BenchRun
from penstock.engine.exports import export_run
from penstock.engine.workbench import Workbench
from penstock.settings import Settings
from penstock.simulator import Simulator

QUIET = {"llm.outage_patience": 0.0, "batch_processing.check_interval": 0.05}
"""An endpoint that is down is given up at once; batches are looked at all the time."""
GRADES = {"A": [80, 100], "B": [60, 79], "C": [40, 59], "D": [20, 39], "E": [0, 19]}
JUDGE = {"metric": "llm_judge", "params": {"rubric": "Is it clear?"}}


class Run(Protocol):
    """Run something at the workbench of a test, by the simulator's model."""

    def __call__(self, what: Any, **wishes: Any) -> BenchRun: ...


def settings(**more: Any) -> Settings:
    """By their keys, with two underscores for the point: `llm__model="..."`."""
    given = {name.replace("__", "."): value for name, value in more.items()}
    return Settings.load({**QUIET, **given}, environ={})


def written(path: Path, data: Mapping[str, Any]) -> Path:
    """A document, in JSON, which is YAML as well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    return path


def sums(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Examples, each with a question of its own."""
    return [
        {"input": f"What is {n} and {n}?", "target": str(2 * n), "hint": f"twice {n}"}
        for n in range(start, start + count)
    ]


def dataset(folder: Path, name: str, examples: Iterable[Mapping[str, Any]], **more: Any) -> str:
    """A dataset with its examples in it; the name by which a recipe beside it calls it."""
    written(folder / f"{name}.yaml", {"name": name, "examples": list(examples), **more})
    return f"./{name}.yaml"


def template(folder: Path, name: str, text: str) -> str:
    written(folder / f"{name}.yaml", {"name": name, "template": text})
    return f"./{name}.yaml"


def recipe(folder: Path, name: str = "sums", count: int = 5, **more: Any) -> str:
    """A recipe in a file, to be run; without `datasets` it has so many sums."""
    if "datasets" not in more:
        more["datasets"] = [dataset(folder, f"{name}-data", sums(count))]
    given = {"name": name, "metrics": ["exact_match"], **more}
    return str(written(folder / f"{name}.yaml", given))


def cookbook(folder: Path, name: str, recipes: Sequence[str]) -> str:
    return str(written(folder / f"{name}.yaml", {"name": name, "recipes": list(recipes)}))


def sent(simulator: Simulator) -> int:
    """How many questions the server has seen, by either lane; each of them must be new."""
    ledger = simulator.summary()
    assert ledger["repeated"] == 0, "a question was asked twice"
    return int(ledger["requests"]) - int(ledger["errands"])


def bodies(bench: Workbench, run: BenchRun, tmp_path: Path) -> list[dict[str, Any]]:
    """What was sent, in the order of the items, as the journal has it."""
    path = tmp_path / f"{run.id}.export.jsonl"
    path.unlink(missing_ok=True)
    export_run(bench, run.id, path)
    return [json.loads(line)["request"] for line in path.read_text().splitlines()]


def said(body: Mapping[str, Any], role: str = "user") -> list[str]:
    return [turn["content"] for turn in body["messages"] if turn["role"] == role]


def told(run: BenchRun) -> list[dict[str, Any]]:
    """Every item without what differs from run to run."""
    return [plain(item) for item in run]


def plain(item: Item) -> dict[str, Any]:
    row = item.row()
    for name in ("latency", "recorded", "attempts"):
        del row[name]
    return row


def statuses(run: BenchRun) -> list[str]:
    return [str(item.status) for item in run]


def values(run: BenchRun, metric: str) -> list[float | None]:
    return [
        score.value for item in run for score in item.scores if score.metric == metric
    ]  # fmt: skip
