"""A job in a process of its own, to be killed or interrupted by a test.

    python driver.py URL ROWS CONCURRENCY [GROUP]

It runs (or resumes) one run of a Prompter over ROWS rows in the workspace of PENSTOCK_HOME. With
GROUP it kills itself between a response and its commit: when the journal is about to write that
many groups.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from dataclasses import replace
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.generate.launch import launched
from penstock.store import Journal
from penstock.tables import Table


def die_before_commit(group: int) -> None:
    """Kill this process when so many groups have been written and another one waits."""
    write = Journal._write
    seen = 0

    def dying(self: Journal, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        nonlocal seen
        seen += 1
        if seen > group:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(self, connection, items)

    setattr(Journal, "_write", dying)  # noqa: B010 - what mypy would not let us assign


def main() -> int:
    url, rows, concurrency, *group = sys.argv[1:]
    if group:
        die_before_commit(int(group[0]))
    endpoint = Endpoint("openai", "simulated", url, key="env:DRIVER_KEY")
    with Workbench() as bench:
        prompter = Prompter(
            endpoint,
            lambda row: f"Say something about number {row['id']}, in ten words.",
            concurrency=int(concurrency),
            workbench=bench,
        )
        launch = prompter.launch([{"id": number} for number in range(int(rows))])
        sys.stderr.write("started\n")
        sys.stderr.flush()
        table = launched(replace(launch, id="driver-run"))
    assert isinstance(table, Table)
    sys.stderr.write(f"{table.run.state}\n")
    return exit_code(RunState(table.run.state))


if __name__ == "__main__":
    sys.exit(main())
