"""A grading run in a process of its own, to be killed or interrupted by a test.

    python -m tests.grade.grade_driver '{"url": ..., "inputs": ..., "out": ..., "run": ...}'

`group`: kill itself between a response and its commit, when the journal is about to write that
many groups. `note`: kill itself when so many things have been noted about outputs, before the next
one is: with every second one a file has just been written. Further keys are wishes. When it comes
to its end it prints the state of the run and what became of the rows, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.grade.outputs import Outputs
from tests.engine.driver import die_before_commit
from tests.grade.grade_kit import job, settings

CONCURRENCY = 16


def die_before_noting(number: int) -> None:
    note = Outputs._note
    seen = 0

    def dying(self: Outputs, states: Any) -> None:
        nonlocal seen
        seen += 1
        if seen > number:
            os.kill(os.getpid(), signal.SIGKILL)
        note(self, states)

    setattr(Outputs, "_note", dying)  # noqa: B010 - what mypy would not let us assign


def main() -> None:
    given: dict[str, Any] = json.loads(sys.argv[1])
    if group := given.pop("group", None):
        die_before_commit(group)
    if note := given.pop("note", None):
        die_before_noting(note)
    endpoint = Endpoint("openai", "simulated", given.pop("url"), key="env:DRIVER_KEY")
    run, waits = given.pop("run", ""), given.pop("wait", True)
    made = settings(llm__concurrency=CONCURRENCY)
    with Workbench(made) as bench:
        done = job(given.pop("inputs"), [endpoint], **given).run(bench, run_id=run, waits=waits)
    print(json.dumps({"state": done.run.state, "counts": done.counts, "id": done.run.id}))


if __name__ == "__main__":
    main()
