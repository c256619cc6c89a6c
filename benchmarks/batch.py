"""The batch lane: questions prepared, split, uploaded and collected, rows a second and memory.

    python benchmarks/batch.py [--rows 100000] [--size 50000]

Against the simulated server, whose own work is taken off: a batch ends when it was given time.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import CLIENT_CORE, machine, pinned_server

_PROMPT = "Write three sentences about the number {}, for people who like rivers."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=50_000)
    given = parser.parse_args()
    os.sched_setaffinity(0, {CLIENT_CORE})
    from penstock import Endpoint, Prompter, Workbench
    from penstock.engine.batch import BatchWish
    from penstock.generate.launch import launched

    with pinned_server(fixed=True, batch_seconds=3600) as server:
        endpoint = Endpoint("openai", "simulated-fixed", server.url, key="a-key-of-no-worth")
        with (
            tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder,
            Workbench(workspace=folder) as bench,
        ):
            ask = Prompter(
                endpoint,
                lambda row: _PROMPT.format(row["number"]),
                lambda row, text: {"number": row["number"], "text": text},
                batch=True,
                workbench=bench,
            )
            rows = [{"number": number} for number in range(given.rows)]
            seconds = []
            for _ in range(2):  # submitted, then collected
                from dataclasses import replace

                began = time.perf_counter()
                launch = ask.launch(rows)
                wish = BatchWish(given.size, waits=False, interval=1)
                table = launched(replace(launch, id="batch-benchmark", batch=wish))
                seconds.append(time.perf_counter() - began)
                server.advance_batches()
            assert len(table) == given.rows, len(table)
            assert server.summary()["lines"] == given.rows
    total = sum(seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{machine()}; {given.rows:,} rows in batches of {given.size:,}")
    print(f"prepared and submitted  {given.rows / seconds[0]:9,.0f} rows/s")
    print(f"collected into a table  {given.rows / seconds[1]:9,.0f} rows/s")
    print(f"both                    {given.rows / total:9,.0f} rows/s  peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
