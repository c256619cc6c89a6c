"""Many files graded with few of them open: `python -m tests.grade.grade_many FOLDER OUT OPEN`.

OPEN is how many files and sockets this process may have open at once. Prints how many rows were
graded. The model answers in this process.
"""

from __future__ import annotations

import resource
import sys

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from tests.grade.grade_kit import job


def main() -> None:
    folder, out, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rubric = {"criteria": [{"name": "clarity", "scale": [1, 5]}], "reasons": "none"}
    with Workbench() as bench:
        done = job(folder, [Endpoint("simulated", "simulated")], rubric=rubric, out=out).run(bench)
    assert done.ok, [file.problem for file in done.files if file.problem]
    assert all(file.scores is not None and len(file.scores) == 2 for file in done.files)
    print(done.counts["ok"])


if __name__ == "__main__":
    main()
