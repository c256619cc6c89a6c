"""A server on a virtual clock, for limiters: minutes pass in milliseconds, the same every time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.endpoint import Endpoint
from penstock.engine.clock import VirtualClock
from penstock.engine.lease import Limiter, Settlement
from penstock.engine.stop import Stop
from penstock.outcome import Failure, FailureKind, Usage
from penstock.providers.ratelimits import Quota, RateLimits
from penstock.request import Request
from penstock.tokens import count_request

REQUEST = Request.of(Endpoint("simulated", "simulated"), "hello there", max_tokens=200)
INPUT = count_request(REQUEST.messages, "simulated")


@dataclass
class Server:
    """Answers after a latency; refuses over its limits; says what it is told to say."""

    clock: VirtualClock
    latency: float = 0.5
    jitter: float = 0.2
    rpm: int | None = None
    tpm: int | None = None
    burst: float = 60.0
    says_limits: bool = True
    counts_on_arrival: bool = True
    """What it says remains is as of the question's arrival; else as of its own answer."""
    says_retry_after: bool = True
    saturates_at: int | None = None
    broken: Callable[[float], FailureKind | None] = lambda _: None
    tokens: int = 150
    spread: int = 0
    """By how much answers are longer or shorter than that."""
    seed: int = 0
    log: list[tuple[float, FailureKind | None]] = field(default_factory=list)
    in_flight: int = 0

    def __post_init__(self) -> None:
        self.began = self.clock.now()
        self._when = self.began
        self._chance = random.Random(self.seed)
        self._free_at: list[float] = []
        self._levels = {"requests": self._capacity(self.rpm), "tokens": self._capacity(self.tpm)}

    def _capacity(self, limit: int | None) -> float:
        return 0.0 if limit is None else max(1.0, limit / 60 * self.burst)

    async def ask(self) -> Settlement:
        now = self.clock.now()
        tokens = self.tokens + self._chance.randint(-self.spread, self.spread)
        kind = self.broken(now - self.began) or self._refusal(now, tokens)
        self.log.append((now - self.began, kind))
        self.in_flight += 1
        limits = self._limits()
        await self._sleep(self._takes(now) if kind is None else 0.02)
        self.in_flight -= 1
        if not self.counts_on_arrival:
            self._refill(self.clock.now())
            limits = self._limits()
        if not self.says_limits:
            limits = None
        if kind is None:
            usage = Usage(INPUT, tokens - INPUT)
            return Settlement.answered(usage, limits, self.clock.now() - now)
        wait = self._wait() if kind is FailureKind.RATE_LIMITED and self.says_retry_after else None
        return Settlement.failed(kind, limits, wait, 0.02)

    def _refill(self, now: float) -> None:
        for name, limit in (("requests", self.rpm), ("tokens", self.tpm)):
            if limit is not None:
                full = self._levels[name] + (now - self._when) * limit / 60
                self._levels[name] = min(self._capacity(limit), full)
        self._when = now

    def _refusal(self, now: float, tokens: int) -> FailureKind | None:
        self._refill(now)
        wanted = {"requests": 1.0, "tokens": float(tokens)}
        for name, limit in (("requests", self.rpm), ("tokens", self.tpm)):
            if limit is not None and self._levels[name] < wanted[name]:
                return FailureKind.RATE_LIMITED
        for name, limit in (("requests", self.rpm), ("tokens", self.tpm)):
            if limit is not None:
                self._levels[name] -= wanted[name]
        return None

    def _takes(self, now: float) -> float:
        latency = self.latency * self._chance.uniform(1 - self.jitter, 1 + self.jitter)
        if self.saturates_at is None:
            return latency
        # So many are served at once; the others stand in line.
        self._free_at = [when for when in self._free_at if when > now]
        if len(self._free_at) < self.saturates_at:
            begin = now
        else:
            self._free_at.sort()
            begin = self._free_at[-self.saturates_at]
        self._free_at.append(begin + latency)
        return begin + latency - now

    def _limits(self) -> RateLimits | None:
        def quota(name: str, limit: int | None) -> Quota | None:
            if limit is None:
                return None
            level = self._levels[name]
            reset = (self._capacity(limit) - level) / (limit / 60)
            return Quota(limit, max(0, int(level)), reset)

        return RateLimits(quota("requests", self.rpm), quota("tokens", self.tpm))

    def _wait(self) -> float:
        waits = [0.05]
        if self.rpm is not None:
            waits.append((1 - self._levels["requests"]) / (self.rpm / 60))
        if self.tpm is not None:
            waits.append((self.tokens - self._levels["tokens"]) / (self.tpm / 60))
        return max(waits)

    async def _sleep(self, seconds: float) -> None:
        done = asyncio.get_running_loop().create_future()
        self.clock.call_later(seconds, lambda: done.set_result(None))
        await done

    def share(self, kind: FailureKind, since: float = 0.0) -> float:
        """Of what was asked since then, how much ended so."""
        seen = [k for when, k in self.log if when >= since]
        return seen.count(kind) / max(1, len(seen))

    def answered(self, since: float = 0.0, until: float = 1e9) -> int:
        return sum(k is None for when, k in self.log if since <= when < until)


async def drive(
    clock: VirtualClock, limiter: Limiter, server: Server, count: int, longest: float
) -> float:
    """Ask so many, each until it is answered; seconds of virtual time until all are."""
    left = count
    began = clock.now()
    ended = began

    async def one() -> None:
        nonlocal left, ended
        while True:
            lease = await limiter.lease(REQUEST, Stop())
            assert not isinstance(lease, Failure), lease
            settlement = await server.ask()
            lease.settle(settlement)
            if settlement.kind is None:
                left -= 1
                ended = clock.now()
                return
            if settlement.retry_after:
                await server._sleep(settlement.retry_after)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(count):
            tasks.create_task(one())
        while left and clock.now() - began < longest:
            await clock.advance(0.25)
        if left:
            raise TimeoutError(f"{left} of {count} were left after {longest} s")
    return ended - began
