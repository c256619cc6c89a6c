"""A long benchmark in a process of its own: `python -m tests.bench.bench_memory RECIPE EARLY`.

Prints how many items there are, and the most memory it held, in KiB, when so many were done and at
the end, when the result is written. Both models answer in this process.
"""

from __future__ import annotations

import resource
import sys

from penstock import bench as benchmarks
from penstock.bench.progress import BenchProgress
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    what, early = sys.argv[1], int(sys.argv[2])
    at_early = 0

    def watch(progress: BenchProgress) -> None:
        nonlocal at_early
        if not at_early and progress.done >= early:
            at_early = peak()

    models = [Endpoint("simulated", model) for model in ("simulated-fixed", "simulated-echo")]
    with Workbench() as bench:
        done = benchmarks.run(what, endpoints=models, on_progress=watch, workbench=bench)
    assert done.result.state == "completed"
    print(len(done), at_early, peak())


if __name__ == "__main__":
    main()
