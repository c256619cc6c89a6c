"""A long file graded in a process of its own: `python -m tests.grade.grade_memory FILE OUT EARLY`.

Prints how many rows were graded, and the most memory it held, in KiB, when so many were and at the
end, when the output and the report are written. The model answers in this process.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable

from penstock.endpoint import Endpoint
from penstock.engine.progress import Progress
from penstock.engine.workbench import Workbench
from tests.grade.grade_kit import job


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    path, out, early = sys.argv[1], sys.argv[2], int(sys.argv[3])
    at_early = 0

    def watch(progress: Progress) -> Callable[[], None]:
        def tick() -> None:
            nonlocal at_early
            if not at_early and progress.rows_done >= early:
                at_early = peak()

        return tick

    rubric = {"criteria": [{"name": "clarity", "scale": [1, 5]}], "reasons": "none"}
    with Workbench() as bench:
        made = job(path, [Endpoint("simulated", "simulated")], rubric=rubric, out=out)
        done = made.run(bench, watch=watch)
    assert done.ok and done.report is not None
    print(done.counts["ok"], at_early, peak())


if __name__ == "__main__":
    main()
