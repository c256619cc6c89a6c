"""A job in a process of its own, to be killed or interrupted by a test.

    python driver.py URL ROWS CONCURRENCY [GROUP]

It runs (or resumes) one job over ROWS rows in the workspace of PENSTOCK_HOME. With GROUP it kills
itself between a response and its commit: when the journal is about to write that many groups.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.jobs import Job, run_job
from penstock.engine.states import exit_code
from penstock.engine.workbench import Workbench
from penstock.store import Journal


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
        job = Job(
            kind="driver",
            id="driver-run",
            rows=[{"id": number} for number in range(int(rows))],
            endpoint=endpoint,
            prompt=lambda row: f"Say something about number {row['id']}, in ten words.",
            concurrency=int(concurrency),
        )
        sys.stderr.write("started\n")
        sys.stderr.flush()
        done = run_job(bench, job)
    sys.stderr.write(f"{done.run.state}\n")
    return exit_code(done.run.state)


if __name__ == "__main__":
    sys.exit(main())
