"""The raw requests and responses of a run, as JSON lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from penstock.engine.run import row_keys
from penstock.engine.workbench import Workbench
from penstock.files import storage_errors
from penstock.store import Record
from penstock.store.file import COLUMNS

__all__ = ["export_run"]


def export_run(bench: Workbench, run_id: str, output: Path) -> int:
    """Write a line for every question of every row, answered or failed; how many there are."""
    journal = bench.journal()
    count = 0
    draft = output.with_name(output.name + ".new")
    with storage_errors(output), closing(sqlite3.connect(journal.path, timeout=30)) as connection:
        with draft.open("wb") as file:
            for row, keys in sorted(row_keys(bench.workspace.run(run_id)).items()):
                for key in keys:
                    for record in _records(connection, key, run_id):
                        file.write(orjson.dumps(_line(row, record)) + b"\n")
                        count += 1
        draft.replace(output)
    return count


def _records(connection: sqlite3.Connection, key: bytes, run_id: str) -> Iterator[Record]:
    """The answer under a key, or else the failures that this run met."""
    query = f"SELECT {COLUMNS} FROM records WHERE key = ? ORDER BY kind, id"  # noqa: S608
    found = [Record.from_row(*row) for row in connection.execute(query, (key,))]
    answers = [record for record in found if record.kind == 0]
    yield from answers or [record for record in found if record.run == run_id][-1:]


def _line(row: int, record: Record) -> dict[str, Any]:
    return {
        "row": row,
        "key": record.key.hex(),
        "kind": record.kind.name.lower(),
        "provider": record.provider,
        "model": record.model,
        "at": record.at,
        "latency": record.latency,
        "attempts": record.attempts,
        "cost": record.cost or None,
        "request": _body(record.request),
        "response": _body(record.response),
    }


def _body(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw.decode("utf-8", "replace")
