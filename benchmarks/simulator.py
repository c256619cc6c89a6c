"""How many requests a second the simulated server answers: raw sockets on uvloop against it.

    python benchmarks/simulator.py [--seconds 5] [--clients 64] [-- FLAGS OF THE SIMULATOR]

The server has one core to itself, this client the other. It reports the server's CPU time for a
request as well, which is the honest number when the client is the slower of the two.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import time
from pathlib import Path
from typing import Any, cast

import orjson
import uvloop

from penstock.simulator.child import Simulator

PROMPT = "Write one paragraph about the history of hydraulic engineering in the Alps."


def request(port: int, number: int) -> bytes:
    """One chat completion, different for every number."""
    message = {"role": "user", "content": f"{number} {PROMPT}"}
    body = orjson.dumps({"model": "simulated-fixed", "messages": [message]})
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\n"
        f"host: 127.0.0.1:{port}\r\n"
        "authorization: Bearer any\r\n"
        "content-type: application/json\r\n"
        "accept: */*\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Client(asyncio.Protocol):
    """Asks, waits for the whole answer, asks again."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state
        self._buffer = b""
        self._need = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        self._transport.write(next(self._state["requests"]))

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        if not self._need:
            end = data.find(b"\r\n\r\n")
            at = data.find(b"content-length: ", 0, end)
            if end < 0 or at < 0:
                self._buffer = data
                return
            self._need = end + 4 + int(data[at + 16 : data.index(b"\r", at)])
        if len(data) < self._need:
            self._buffer = data
            return
        self._buffer = b""
        self._need = 0
        self._state["answers"] += 1
        if time.perf_counter() < self._state["until"]:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._state["open"] -= 1
        if not self._state["open"]:
            self._state["done"].set_result(None)


async def drive(port: int, clients: int, seconds: float) -> dict[str, Any]:
    """Keep so many clients asking for so long."""
    loop = asyncio.get_running_loop()
    ready = [request(port, number) for number in range(2000)]
    state: dict[str, Any] = {
        "requests": itertools.cycle(ready),
        "answers": 0,
        "open": clients,
        "done": loop.create_future(),
        "until": time.perf_counter() + seconds,
    }
    start = time.perf_counter()
    for _ in range(clients):
        await loop.create_connection(lambda: Client(state), "127.0.0.1", port)
    await state["done"]
    return {"answers": state["answers"], "seconds": time.perf_counter() - start}


def cpu_seconds(pid: int) -> float:
    """The processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--brain", action="store_true", help="Real answers instead of --fixed.")
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    with Simulator(fixed=not given.brain) as simulator:
        if len(cores) > 1:
            os.sched_setaffinity(simulator.pid, {cores[1]})
            os.sched_setaffinity(0, {cores[0]})
        uvloop.run(drive(simulator.port, given.clients, 0.5))
        before = cpu_seconds(simulator.pid)
        result = uvloop.run(drive(simulator.port, given.clients, given.seconds))
        used = cpu_seconds(simulator.pid) - before
        summary = simulator.summary()
    rate = result["answers"] / result["seconds"]
    print(f"{rate:,.0f} requests/s with {given.clients} clients over {result['seconds']:.1f} s")
    print(
        f"{used / result['answers'] * 1e6:.1f} us of server CPU a request; "
        f"the server could do {result['answers'] / used:,.0f}/s"
    )
    print(f"ledger: {summary['requests']:,} requests, {summary['answered']:,} answered")


if __name__ == "__main__":
    main()
