"""Rows through the engine and through a Prompter, against the bare transport, in one run.

    python benchmarks/throughput.py [--rows 20000] [--latency 0] [--concurrency 256] [--peers]

The journal is the real one: every answer is committed (synchronous=FULL) before it is used.
Nothing is reported when the server was the bottleneck. With --peers, other programs do the same job
against the same server, each in an environment of its own that is made when first needed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import Meter, ServerBusyError, in_child, machine, pinned_server
from benchmarks.peers.environments import PEERS, run_peer

_PROMPT = "Write three sentences about the number {}, for people who like rivers."


async def bare(url: str, rows: int, concurrency: int, pid: int) -> dict[str, Any]:
    """The transport alone: send, read the body, nothing else."""
    import orjson

    from penstock.providers.transport import Call, Reply, TransportSettings, open_transport

    transport = open_transport(TransportSettings())
    numbers = iter(range(rows))
    headers = {"content-type": "application/json", "authorization": "Bearer none"}

    async def worker() -> None:
        for number in numbers:
            message = {"role": "user", "content": _PROMPT.format(number)}
            body = orjson.dumps({"model": "simulated-fixed", "messages": [message]})
            reply = await transport.send(Call("POST", f"{url}/chat/completions", headers, body))
            assert isinstance(reply, Reply) and reply.status == 200, reply

    meter = Meter(pid)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(concurrency):
            tasks.create_task(worker())
    report = meter.report(rows)
    await transport.close()
    return report


async def engine(url: str, rows: int, concurrency: int, pid: int) -> dict[str, Any]:
    """The engine: key, journal look-up, lease, send, read, price, durable record."""
    from penstock.endpoint import Endpoint
    from penstock.engine.engine import Engine
    from penstock.engine.station import Station
    from penstock.outcome import Answer, Outcome
    from penstock.request import Request
    from penstock.store import Journal

    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        journal = Journal(Path(folder) / "journal.db")
        async with Station(journal, concurrency=concurrency) as station:
            running = Engine(station, run="benchmark")
            endpoint = Endpoint("openai", "simulated-fixed", url, key="a-key-of-no-worth")

            async def work(number: int) -> Outcome:
                return await running.ask(Request.of(endpoint, _PROMPT.format(number)))

            meter = Meter(pid)
            answered = 0
            async for _, _, outcome in running.map(range(rows), work, window=2 * concurrency + 64):
                answered += isinstance(outcome, Answer)
            report = meter.report(rows)
            assert answered == rows, (answered, rows)
            return report


def prompter(url: str, rows: int, concurrency: int, pid: int) -> dict[str, Any]:
    """A whole job: prompt function, key, limiter, durable journal, parse function, Arrow table."""
    from penstock import Endpoint, Limits, Prompter, Workbench

    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder,
        Workbench(workspace=folder) as bench,
    ):
        endpoint = Endpoint(
            "openai", "simulated-fixed", url, key="a-key-of-no-worth",
            limits=Limits(concurrency=concurrency),
        )  # fmt: skip
        ask = Prompter(
            endpoint,
            lambda row: _PROMPT.format(row["number"]),
            lambda row, text: {"number": row["number"], "text": text},
            workbench=bench,
        )
        ask([{"number": -1}])  # what is loaded when first used is loaded now
        meter = Meter(pid)
        table = ask({"number": number} for number in range(rows))
        report = meter.report(rows)
        assert len(table) == rows, len(table)
        return report


def client(kind: str, url: str, rows: int, concurrency: int, pid: int) -> None:
    """One measurement in a process of its own, all of them scheduled as bulk work."""
    import uvloop

    from penstock.threads import work_in_bulk

    work_in_bulk()

    if kind == "prompter":
        found = prompter(url, rows, concurrency, pid)
    else:
        work = {"bare": bare, "engine": engine}[kind]
        found = uvloop.run(work(url, rows, concurrency, pid))
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--latency", default="0")
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-rows", type=int, default=4000, help="they are slower")
    parser.add_argument("--client", nargs=5)
    given = parser.parse_args()
    if given.client:
        kind, url, rows, concurrency, pid = given.client
        client(kind, url, int(rows), int(concurrency), int(pid))
        return
    best: dict[str, dict[str, Any]] = {}
    with pinned_server(fixed=True, latency=given.latency) as server:
        for kind in ("bare", "engine", "prompter") * given.repeats:
            arguments = (kind, server.url, given.rows, given.concurrency, server.pid)
            try:
                found = in_child(__file__, "--client", *arguments)
            except ServerBusyError as error:
                sys.exit(f"refused to report: {error} while measuring {kind}")
            if kind not in best or found["per_second"] > best[kind]["per_second"]:
                best[kind] = found
        peers = PEERS if given.peers else {}
        others = {
            peer: run_peer(peer, server.url, given.peer_rows, given.concurrency) for peer in peers
        }
    print(
        f"{machine()}; {given.rows} rows, latency {given.latency} ms, "
        f"concurrency {given.concurrency}, best of {given.repeats}"
    )
    for kind, found in best.items():
        print(
            f"{kind:8} {found['per_second']:9,.0f}/s  {found['cpu_us']:6.0f} us CPU  "
            f"{found['peak_mb']:5.0f} MB  server {found['server_busy']:.0%} busy"
        )
    for kind in ("engine", "prompter"):
        ratio = best[kind]["per_second"] / best["bare"]["per_second"]
        print(f"{kind} / bare: {ratio:.2f}")
    for peer, found in others.items():
        if "per_second" not in found:
            print(f"{peer}: failed: {found['failed']}")
            continue
        ratio = best["prompter"]["per_second"] / found["per_second"]
        print(
            f"{peer:20} {found['per_second']:9,.0f}/s  {found['cpu_us']:6.0f} us CPU  "
            f"{found['peak_mb']:5.0f} MB  a Prompter is {ratio:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
