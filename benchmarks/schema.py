"""A schema of four columns, two of them generated, against chatan with the same schema and server.

    python benchmarks/schema.py [--rows 20000] [--latency 50] [--concurrency 256] [--peers]

The journal is the real one and the table goes to disk. `bare` is the transport alone with as many
questions. With --peers, chatan does the same job in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import Meter, ServerBusyError, in_child, machine, pinned_server
from benchmarks.peers.environments import run_peer
from benchmarks.throughput import bare

_QUESTIONS = 2


def schema(url: str, rows: int, concurrency: int, pid: int) -> dict[str, Any]:
    """The whole job: samplers, templates, keys, limiter, durable journal, Arrow table."""
    from penstock import Endpoint, Limits, Workbench, dataset, generator, sample

    endpoint = Endpoint(
        "openai", "simulated-fixed", url, key="a-key-of-no-worth",
        limits=Limits(concurrency=concurrency),
    )  # fmt: skip
    gen = generator(endpoint)
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder,
        Workbench(workspace=folder) as bench,
    ):
        ds = dataset(
            {
                "language": sample.choice(["Python", "JavaScript", "Rust"]),
                "difficulty": sample.weighted({"easy": 0.5, "medium": 0.3, "hard": 0.2}),
                "question": gen("Write a {difficulty} coding question about {language}"),
                "solution": gen("Provide a solution for: {question}"),
            },
            workbench=bench,
        )
        ds.generate(1)  # what is loaded when first used is loaded now
        meter = Meter(pid)
        table = ds.generate(rows, cache="off")
        report = meter.report(rows)
        assert len(table) == rows and not len(table.failures), len(table.failures)
        return report


def client(kind: str, url: str, rows: int, concurrency: int, pid: int) -> None:
    """One measurement in a process of its own, scheduled as bulk work."""
    import uvloop

    from penstock.threads import work_in_bulk

    work_in_bulk()
    if kind == "schema":
        found = schema(url, rows, concurrency, pid)
    else:
        found = uvloop.run(bare(url, _QUESTIONS * rows, concurrency, pid))
        found["per_second"] /= _QUESTIONS
        found["cpu_us"] *= _QUESTIONS
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--latency", default="50")
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-rows", type=int, default=2000, help="it is slower")
    parser.add_argument("--client", nargs=5)
    given = parser.parse_args()
    if given.client:
        kind, url, rows, concurrency, pid = given.client
        client(kind, url, int(rows), int(concurrency), int(pid))
        return
    best: dict[str, dict[str, Any]] = {}
    with pinned_server(fixed=True, latency=given.latency) as server:
        for kind in ("bare", "schema") * given.repeats:
            arguments = (kind, server.url, given.rows, given.concurrency, server.pid)
            try:
                found = in_child(__file__, "--client", *arguments)
            except ServerBusyError as error:
                sys.exit(f"refused to report: {error} while measuring {kind}")
            if kind not in best or found["per_second"] > best[kind]["per_second"]:
                best[kind] = found
        if given.peers:
            best["chatan"] = run_peer("chatan", server.url, given.peer_rows, given.concurrency)
    print(
        f"{machine()}; {given.rows} rows of {_QUESTIONS} questions, latency {given.latency} ms, "
        f"concurrency {given.concurrency}, best of {given.repeats}"
    )
    for kind, found in best.items():
        if "failed" in found:
            print(f"{kind}: failed: {found['failed']}")
            continue
        ratio = best["schema"]["per_second"] / found["per_second"]
        print(
            f"{kind:8} {found['per_second']:9,.0f} rows/s  {found['cpu_us']:6.0f} us CPU  "
            f"{found['peak_mb']:5.0f} MB  the schema is {ratio:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
