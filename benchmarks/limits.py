"""How well limits are used: known, discovered by headers, or not said at all.

    python benchmarks/limits.py [--seconds 30] [--only requests|tokens|saturation] [--repeats 1]

The first table is promise S4: from a cold start under so many requests or tokens a minute, the
time against the ideal (what the server would have let through at the earliest, plus one answer)
and the share of 429s. The second is S5: a server that serves so many at once, never says so and
never refuses; answers a second, after so many seconds, against the best it can do. The server's
ledger is the judge of both.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import uvloop
from benchmarks.measure import machine, pinned_server

from penstock.endpoint import Endpoint, Limits
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.outcome import Answer, Outcome
from penstock.request import Request
from penstock.simulator import Simulator
from penstock.store import Journal

_PROMPT = "Write three sentences about the number {}, for people who like rivers."
_CONCURRENCY = 512


class Case(NamedTuple):
    """A server, and what we are told about it."""

    name: str
    server: dict[str, Any]
    limits: Limits = Limits()


class Result(NamedTuple):
    """What one case brought, by the server's ledger."""

    seconds: float
    failed: int
    entries: list[dict[str, Any]]
    limiter: dict[str, Any]

    @property
    def refused(self) -> float:
        """The share of requests that were answered with 429."""
        return self._count(lambda status: status == 429) / len(self.entries)

    @property
    def errors(self) -> float:
        """The share of requests that were not answered."""
        return self._count(lambda status: status != 200) / len(self.entries)

    def _count(self, counts: Callable[[int], bool]) -> int:
        return len([entry for entry in self.entries if counts(entry["status"])])

    @property
    def tokens(self) -> int:
        """What the answered ones took."""
        return sum(entry["prompt_tokens"] + entry["completion_tokens"] for entry in self.entries)

    def rate(self, since: float, until: float) -> float:
        """Answers a second in a span of seconds after the first request."""
        began = self.entries[0]["time"]
        done: list[float] = [
            entry["answered_at"] - began for entry in self.entries if entry["status"] == 200
        ]
        return sum(since <= when < until for when in done) / (until - since)


def measure(server: Simulator, case: Case, rows: int, longest: float = 3600.0) -> Result:
    """Ask so many questions through the whole engine, or for so many seconds."""
    server.reset()
    return uvloop.run(_measure(server, case, rows, longest))


async def _measure(server: Simulator, case: Case, rows: int, longest: float) -> Result:
    endpoint = Endpoint(
        "openai", "simulated", server.url, key="a-key-of-no-worth", limits=case.limits
    )
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        journal = Journal(Path(folder) / "journal.db")
        async with Station(journal, concurrency=_CONCURRENCY, tracks_cost=False) as station:
            engine = Engine(station, run="benchmark")

            async def work(number: int) -> Outcome:
                return await engine.ask(Request.of(endpoint, _PROMPT.format(number)))

            asyncio.get_running_loop().call_later(longest, engine.stop.throw)
            began = time.perf_counter()
            answered = 0
            async for _, _, outcome in engine.map(range(rows), work, window=2 * _CONCURRENCY):
                answered += isinstance(outcome, Answer)
            seconds = time.perf_counter() - began
            limiter = station.statistics()[endpoint.label]
            failed = 0 if engine.stop.thrown else rows - answered
            return Result(seconds, failed, server.ledger(), limiter)


def limited(what: str, seconds: float, repeats: int) -> None:
    """S4: a limit by the minute."""
    for burst in (1, 60):
        for known in (True, False):
            for _ in range(repeats):
                _limited(what, burst, known, seconds)


def _limited(what: str, burst: int, known: bool, seconds: float) -> None:
    by_requests = what == "requests"
    per_minute = 3000 if by_requests else 300_000
    name = f"{per_minute:,} {what}, burst {burst} s, {'known' if known else 'discovered'}"
    given = Limits(**{f"{what}_per_minute": per_minute}) if known else Limits()
    server = {"rpm" if by_requests else "tpm": per_minute, "burst": burst}
    each = 1 if by_requests else 71  # tokens of a question and its answer, about
    rows = int((seconds + burst) * per_minute / 60 / each)
    with pinned_server(latency=_LATENCY, **server) as simulator:
        result = measure(simulator, Case(name, server, given), rows)
    used = rows if by_requests else result.tokens
    ideal = (used - burst * per_minute / 60) / (per_minute / 60) + 0.35
    print(
        f"{name:46} {rows:6,} rows {ideal:6.1f} s ideal {result.seconds:6.1f} s taken "
        f"= {result.seconds / ideal:5.3f}x, {result.refused:6.2%} refused, {result.failed} failed",
        flush=True,
    )


_LATENCY = "200-500"
_SPANS = (5, 10, 20, 30)


def saturated(seconds: float, repeats: int) -> None:
    """S5: a server that serves so many at once and says nothing."""
    for served, latency in ((8, 50), (40, 400), (200, 1000)):
        for _ in range(repeats):
            best = served / latency * 1000
            name = f"{served} at once, {latency} ms each"
            with pinned_server(max_concurrency=served, latency=str(latency)) as simulator:
                rows = int(2 * best * seconds) + 10 * _CONCURRENCY
                result = measure(simulator, Case(name, {}), rows, seconds)
            shares = [
                f"{result.rate(end - 5, end) / best:4.0%} at {end} s"
                for end in _SPANS
                if end <= seconds
            ]
            print(
                f"{name:30} best {best:4.0f}/s: {', '.join(shares)}; {result.errors:.1%} errors, "
                f"most in flight {result.limiter['most_in_flight']}, "
                f"at the end {result.limiter['concurrency']}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", choices=("requests", "tokens", "saturation"))
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    print(f"{machine()}; about {given.seconds:g} s each")
    for what in ("requests", "tokens"):
        if given.only in (None, what):
            limited(what, given.seconds, given.repeats)
    if given.only in (None, "saturation"):
        saturated(given.seconds, given.repeats)


if __name__ == "__main__":
    main()
