"""What every peer is measured by; runs in the peer's own environment, so it needs nothing."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
PROMPT = "Write three sentences about the number {}, for people who like rivers."


def measure(work: Callable[[str, int, int], int]) -> None:
    """Run `work(url, rows, concurrency)`, which counts the answers, and say what it took."""
    url, rows, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wall, cpu = time.perf_counter(), _cpu()
    answers = work(url, rows, concurrency)
    wall, cpu = time.perf_counter() - wall, _cpu() - cpu
    if answers != rows:
        sys.exit(f"{answers} answers to {rows} rows")
    found = {
        "per_second": rows / wall,
        "cpu_us": cpu / rows * 1e6,
        "peak_mb": max(resource.getrusage(who).ru_maxrss for who in _WHO) / 1024,
    }
    sys.stdout.write("\n" + json.dumps(found) + "\n")


def _cpu() -> float:
    """Seconds of this process and of those it started, which some do."""
    used = [resource.getrusage(who) for who in _WHO]
    return sum(each.ru_utime + each.ru_stime for each in used)
