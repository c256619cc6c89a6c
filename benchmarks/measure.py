"""What the benchmarks share: a server on one core, a client on the other, honest clocks.

Figures are ratios to a baseline in the same run, because machines are noisy. A run in which the
server was the bottleneck says nothing about the client and is refused.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.simulator import Simulator

CLIENT_CORE = 0
SERVER_CORE = 1
BUSIEST_SERVER = 0.9


class ServerBusyError(Exception):
    """The server was the bottleneck: there is nothing to report."""


@contextmanager
def pinned_server(**settings: Any) -> Iterator[Simulator]:
    """The simulator, on a core of its own."""
    with Simulator(**settings) as simulator:
        os.sched_setaffinity(simulator.pid, {SERVER_CORE})
        yield simulator


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_child(script: str, *arguments: object) -> dict[str, Any]:
    """Run a client in a process of its own, pinned, and read its one line of JSON."""
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT_CORE}),
    )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if found["server_busy"] > BUSIEST_SERVER:
        raise ServerBusyError(f"the server was {found['server_busy']:.0%} busy")
    return found


class Meter:
    """Wall, CPU and memory of a piece of work in this process."""

    def __init__(self, server_pid: int) -> None:
        self._pid = server_pid
        self._wall = time.perf_counter()
        self._cpu = time.process_time()
        self._server = cpu_seconds(server_pid)

    def report(self, count: int) -> dict[str, Any]:
        """What one of them cost."""
        wall = time.perf_counter() - self._wall
        return {
            "per_second": count / wall,
            "cpu_us": (time.process_time() - self._cpu) / count * 1e6,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "server_busy": (cpu_seconds(self._pid) - self._server) / wall,
            "seconds": wall,
        }


def machine() -> str:
    """Where this was measured."""
    cores = os.cpu_count()
    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {python}"
