"""A wholly recorded run, asked again: rows a second, against reading the same rows from SQLite.

python benchmarks/resume.py [--rows 200000]
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import CLIENT_CORE, machine

_PROMPT = "Write three sentences about the number {}, for people who like rivers."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    os.sched_setaffinity(0, {CLIENT_CORE})
    from penstock import Endpoint, Prompter, Workbench

    endpoint = Endpoint("simulated", "simulated-fixed")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        with Workbench(workspace=folder) as bench:
            ask = Prompter(
                endpoint,
                lambda row: _PROMPT.format(row["number"]),
                lambda row, text: {"number": row["number"], "text": text},
                workbench=bench,
            )
            ask({"number": number} for number in range(rows))
            began = time.perf_counter()
            table = ask({"number": number} for number in range(rows))
            recorded = rows / (time.perf_counter() - began)
            assert table.run.counters["recorded"] == rows, json.dumps(table.run.counters)
            journal = bench.workspace.journal
        bare = _bare(journal, rows)
    print(f"{machine()}; {rows:,} rows")
    print(f"bare SQLite, by key in blocks  {bare:9,.0f} rows/s")
    print(f"a recorded run of a Prompter   {recorded:9,.0f} rows/s  ({recorded / bare:.2f})")


def _bare(journal: Path, rows: int) -> float:
    """Every record by its key, 500 at a time, nothing else."""
    connection = sqlite3.connect(journal)
    keys = [key for (key,) in connection.execute("SELECT key FROM records WHERE kind = 0")]
    marks = ",".join("?" * 500)
    query = f"SELECT * FROM records WHERE kind = 0 AND key IN ({marks})"
    began = time.perf_counter()
    for start in range(0, len(keys) - 499, 500):
        connection.execute(query, keys[start : start + 500]).fetchall()
    seconds = time.perf_counter() - began
    connection.close()
    return rows / seconds


if __name__ == "__main__":
    main()
