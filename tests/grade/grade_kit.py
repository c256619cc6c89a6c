"""What the tests of grading runs have in common: essays, a rubric, a look at the outputs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from penstock.endpoint import Endpoint
from penstock.engine.exports import export_run
from penstock.engine.workbench import Workbench
from penstock.grade.grading import GradeJob
from penstock.grade.results import Grading
from penstock.grade.wishes import Wishes
from penstock.settings import Settings
from penstock.simulator import Simulator

RUBRIC: dict[str, Any] = {
    "name": "Short answers",
    "instructions": "Short answers by pupils.",
    "criteria": [
        {"name": "clarity", "scale": [1, 5], "weight": 2},
        {"name": "tone", "labels": {"rude": 0, "plain": 1, "kind": 2}},
    ],
}
QUIET = {"llm.outage_patience": 0.0, "batch_processing.check_interval": 0.05}
"""An endpoint that is down is given up at once; batches are looked at all the time."""


class Grade(Protocol):
    """Grade at the workbench of a test, by the simulator's model, into the folder `out`."""

    def __call__(self, inputs: Any, *, run: str = "", **wishes: Any) -> Grading: ...


def settings(**more: Any) -> Settings:
    """By their keys, with two underscores for the point: `llm__model="..."`."""
    given = {name.replace("__", "."): value for name, value in more.items()}
    return Settings.load({**QUIET, **given}, environ={})


def job(
    inputs: Sequence[Path | str] | Path | str, endpoints: Sequence[Endpoint] = (), **wishes: Any
) -> GradeJob:
    """A grading run as data, as the shell makes it."""
    paths = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    given: dict[str, Any] = {"rubric": RUBRIC, **wishes}
    out = given.pop("out", None)
    made = Wishes(tuple(map(str, paths)), out=None if out is None else str(out), **given)
    return GradeJob(made, tuple(endpoints))


def essays(count: int, start: int = 0, word: str = "essay") -> list[dict[str, Any]]:
    """Rows, each with a text of its own."""
    return [{"id": n, "text": f"{word} number {n}"} for n in range(start, start + count)]


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["id", "text"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def read(path: Path | None) -> list[dict[str, Any]]:
    """The rows of an output, whichever of the two it is."""
    assert path is not None
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def statuses(path: Path | None) -> list[str]:
    return [row["status"] for row in read(path)]


def states(grading: Grading) -> list[list[str]]:
    """The states of the chunks of each file."""
    return [[chunk.state.value for chunk in file.chunks] for file in grading.files]


def sent(simulator: Simulator) -> int:
    """How many questions the server has seen, by either lane; each of them must be new."""
    ledger = simulator.summary()
    assert ledger["repeated"] == 0, "a question was asked twice"
    return int(ledger["requests"]) - int(ledger["errands"])


def bodies(bench: Workbench, grading: Grading, tmp_path: Path) -> list[dict[str, Any]]:
    """What was sent for each row, in order, as the journal has it."""
    path = tmp_path / f"{grading.run.id}.export.jsonl"
    export_run(bench, grading.run.id, path)
    return [json.loads(line)["request"] for line in path.read_text().splitlines()]


def user_said(body: Mapping[str, Any]) -> str:
    """The user's message of a question."""
    return str(body["messages"][-1]["content"])
