"""What the tests of datasets have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from penstock.engine.exports import export_run
from penstock.engine.workbench import Workbench
from penstock.generate.dataset import Dataset
from penstock.generate.generator import Generator
from penstock.simulator import Simulator
from penstock.tables import Table

Gen: TypeAlias = Callable[..., Generator]
Schema: TypeAlias = Callable[..., Dataset]


def sent(simulator: Simulator) -> int:
    """How many questions the server has seen, by either lane; each of them must be new."""
    ledger = simulator.summary()
    assert ledger["repeated"] == 0, "a question was asked twice"
    return int(ledger["requests"]) - int(ledger["errands"])


def questions(bench: Workbench, table: Table, tmp_path: Path) -> dict[int, list[Any]]:
    """The messages of every question of a run, by the number of the row, in order of asking."""
    path = tmp_path / f"{table.run.id}.jsonl"
    export_run(bench, table.run.id, path)
    found: dict[int, list[Any]] = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        found.setdefault(record["row"], []).append(record["request"]["messages"])
    return found


def plain(table: Table) -> list[dict[str, Any]]:
    """The rows without their status, which must be ok."""
    rows = table.to_list()
    assert {row.pop("status") for row in rows} <= {"ok"}, table.failures.to_list()[:3]
    return rows


def failures(table: Table) -> list[tuple[int, str | None, str]]:
    """Row, column and kind of everything that failed."""
    return [(each["row"], each["column"], each["kind"]) for each in table.failures]
