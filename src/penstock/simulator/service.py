"""The simulated server's behaviour: what becomes of each request.

Every request is written into the ledger first; then, in this order: key, outage, quota, fault,
question, limits, line, latency, answer. It is callbacks on one loop rather than tasks, because
an answer without latency must not cost a task. Faults, limits and latencies come from the
settings, which may change while it runs.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from penstock.errors import InputError
from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.apis import DEFAULT, api_for
from penstock.simulator.batch import Batch
from penstock.simulator.batch_api import Answered, Errand, Item, sample_of
from penstock.simulator.batch_faults import BatchFaults
from penstock.simulator.brain import reply_to, spoiled
from penstock.simulator.delivery import (
    Delivery,
    answer_delivery,
    errand_delivery,
    problem_delivery,
    stream_delivery,
)
from penstock.simulator.faults import Faults, Outages
from penstock.simulator.heads import Head
from penstock.simulator.http import Exchange, http_response
from penstock.simulator.latency import Latency
from penstock.simulator.ledger import Ledger
from penstock.simulator.limits import Limits
from penstock.simulator.pouring import Outflow, Pouring
from penstock.simulator.problems import (
    fault_problem,
    no_quota,
    outage,
    over_limit,
    unknown_path,
    wrong_key,
    wrong_method,
)
from penstock.simulator.question import Question, Reply, Turn
from penstock.simulator.scripts import FIXED_MODEL
from penstock.simulator.serving import Serving
from penstock.simulator.settings import SimulatorSettings, changed

__all__ = ["Service"]

_SORTED = orjson.OPT_SORT_KEYS
_LONGEST_SAMPLE = 18
# Faults that only a model's answer can have, and those by which a long download is cut.
_OF_ANSWERS = ("wrong_schema", "empty_choices")
_CUTTING = ("cut", "malformed", "error_in_200")


class Service:
    """One server's state: settings in force, ledger, buckets, the line of waiting requests."""

    def __init__(self, settings: SimulatorSettings, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.ledger = Ledger.open(settings.ledger)
        self._waiting: deque[tuple[Exchange, int, Delivery, float]] = deque()
        self._active = 0
        self._bounds: tuple[int | None, int | None, float] | None = None
        self.started = loop.time()
        self.apply(settings)

    def apply(self, settings: SimulatorSettings) -> None:
        """Take settings into force; changed limits start with full buckets."""
        self.settings = settings
        self._latency = Latency.read(settings.latency)
        self._faults = Faults.read(settings.errors)
        self._outages = Outages.read(settings.outages)
        self._batch_faults = BatchFaults.read(settings.batch_faults, settings.seed)
        bounds = (settings.rpm, settings.tpm, settings.burst)
        if bounds != self._bounds:
            self._bounds = bounds
            self._limits = Limits(*bounds, self._loop.time())
        self._quick = b""
        plain = self._latency.none and not self._faults.steps and not self._outages.spans
        free = not self._limits.on and settings.quota is None and settings.max_concurrency is None
        if settings.fixed:
            question = Question(model=FIXED_MODEL, turns=[Turn("user", "")])
            self._fixed = reply_to(question)
            if plain and free:
                body = DEFAULT.render(Asked(FIXED_MODEL, [question]), [self._fixed], 0)
                self._quick = http_response(200, body, DEFAULT.headers(0, 0.0))

    def change(self, changes: Mapping[str, Any]) -> None:
        """Replace some settings while running, or raise InputError."""
        self.apply(changed(self.settings, changes))
        self._let_in()

    def reset(self) -> None:
        """Forget what was seen: numbers, outages and buckets start anew."""
        self.ledger = self.ledger.fresh()
        self.started = self._loop.time()
        self._bounds = None
        self.apply(self.settings)

    def ask(self, exchange: Exchange, api: Api) -> None:
        """Answer a question to a model."""
        head = exchange.head
        try:
            body = orjson.loads(exchange.body)
        except orjson.JSONDecodeError:
            body = None
        if type(body) is not dict:
            self._refuse_body(exchange, api)
            return
        name, told = _named(body, head.path)
        digest = hashlib.sha256(orjson.dumps(told, option=_SORTED)).digest()
        sample = _sample(head.headers.get(b"x-penstock-sample"))
        key = _key(head.headers)
        ledger = self.ledger
        number = ledger.arrive(head.method, head.path, name, digest, sample, bool(key))
        wanted = self.settings.key
        if wanted is not None and key != wanted:
            self._fail(exchange, api, number, wrong_key(key))
        elif self._quick and api is DEFAULT and not body.get("stream"):
            done = exchange.write(self._quick)
            fixed = self._fixed
            ledger.finish(number, 200, done, fixed.prompt_tokens, fixed.completion_tokens)
            exchange.finish()
        else:
            self._consider(exchange, api, number, body, sample)

    def _refuse_body(self, exchange: Exchange, api: Api) -> None:
        head = exchange.head
        digest = hashlib.sha256(exchange.body).digest()
        auth = bool(_key(head.headers))
        number = self.ledger.arrive(head.method, head.path, "", digest, 0, auth)
        message = "We could not parse the JSON body of your request."
        self._fail(exchange, api, number, Problem.invalid(message))

    def _consider(
        self, exchange: Exchange, api: Api, number: int, body: dict[str, Any], sample: int
    ) -> None:
        fault = self._faults.of(self.settings.seed, number)
        if not self._passes(exchange, api, number, fault):
            return
        delay = self._latency.seconds(self.settings.seed, number)
        try:
            delivery = self._prepare(api, number, body, exchange.head, sample, fault, delay)
        except Problem as problem:
            self._fail(exchange, api, number, problem, delay)
            return
        self._queue(exchange, number, delivery, delay)

    def _passes(
        self, exchange: Exchange, api: Api, number: int, fault: str, paid: bool = True
    ) -> bool:
        """Whether a request goes on; False where an outage, the quota or a fault was its answer."""
        settings = self.settings
        if self._outages.now(self._loop.time() - self.started):
            self.ledger.fault(number, "outage")
            self._fail(exchange, api, number, outage())
            return False
        if paid and settings.quota is not None and number > settings.quota:
            self.ledger.rejected += 1
            self._fail(exchange, api, number, no_quota())
            return False
        if fault:
            self.ledger.fault(number, fault)
        if fault == "reset":
            self.ledger.finish(number, 0, False)
            exchange.reset()
            return False
        if fault == "timeout":
            exchange.on_gone = partial(self.ledger.finish, number, 0, False)
            return False
        return True

    def _prepare(
        self,
        api: Api,
        number: int,
        body: dict[str, Any],
        head: Head,
        sample: int,
        fault: str,
        delay: float,
    ) -> Delivery:
        if fault.isdigit():
            raise fault_problem(int(fault))
        asked, replies = self._understood(api, body, head.target, head.headers, sample, fault)
        used = replies[0].prompt_tokens + sum(reply.completion_tokens for reply in replies)
        admission = self._limits.admit(used, self._loop.time())
        if not admission.passed:
            self.ledger.rejected += 1
            raise over_limit(asked.model, admission)
        headers = api.headers(number, delay) + self._limit_headers(api)
        make = stream_delivery if asked.stream else answer_delivery
        return make(api, asked, replies, number, headers, fault, self.settings.drip / 1000)

    def _understood(
        self,
        api: Api,
        body: dict[str, Any],
        target: str,
        headers: Mapping[bytes, bytes],
        sample: int,
        fault: str,
    ) -> tuple[Asked, list[Reply]]:
        """The request read and answered, or a Problem that tells why not."""
        try:
            asked = api.read(body, target, sample, headers)
            if self.settings.fixed:
                return asked, [self._fixed for _ in asked.questions]
            make = spoiled if fault == "wrong_schema" else reply_to
            return asked, [make(question) for question in asked.questions]
        except Problem:
            raise
        except (InputError, RecursionError) as error:
            message = str(error) or "The schema is nested too deeply."
            raise Problem.invalid(message, "response_format", "invalid_schema") from None
        except Exception as error:
            # Any body may come; one that was not foreseen must not take the connection down.
            message = f"The simulator cannot read this request: {error!r}"
            raise Problem.invalid(message) from error

    def _limit_headers(self, api: Api) -> bytes:
        if not self._limits.on:
            return b""
        return api.limit_headers(self._limits.buckets(self._loop.time()))

    def _fail(
        self, exchange: Exchange, api: Api, number: int, problem: Problem, delay: float = 0.0
    ) -> None:
        headers = api.headers(number, delay) + self._limit_headers(api)
        problem.number = number
        delivery = problem_delivery(api, problem, headers)
        if problem.status == 429:
            delay = 0.0
        self._queue(exchange, number, delivery, delay)

    def _queue(self, exchange: Exchange, number: int, delivery: Delivery, delay: float) -> None:
        """Serve now, or stand in line where only so many are served at once."""
        most = self.settings.max_concurrency
        if most is not None and self._active >= most:
            exchange.on_gone = partial(self.ledger.finish, number, 0, False)
            self._waiting.append((exchange, number, delivery, delay))
            return
        self._serve(exchange, number, delivery, delay)

    def _serve(self, exchange: Exchange, number: int, delivery: Delivery, delay: float) -> None:
        self._active += 1
        serving = Serving(exchange, delivery, self.ledger, number, self._ended)
        serving.start(self._loop, delay)

    def _ended(self) -> None:
        """One of those being served is done; the next in line may come."""
        self._active -= 1
        if self._waiting:
            self._let_in()

    def _let_in(self) -> None:
        most = self.settings.max_concurrency
        while self._waiting and (most is None or self._active < most):
            exchange, number, delivery, delay = self._waiting.popleft()
            if exchange.open:
                self._serve(exchange, number, delivery, delay)

    def errand(self, exchange: Exchange, errand: Errand) -> None:
        """Answer a request around a batch."""
        head, api = exchange.head, errand.api
        key = _key(head.headers)
        number = self.ledger.errand(head.method, head.path, bool(key))
        wanted = self.settings.key
        if errand.keyed and wanted is not None and key != wanted:
            self._fail(exchange, api, number, wrong_key(key))
            return
        seed = self.settings.seed
        fault = self._faults.of(seed, number)
        fault = "" if fault in _OF_ANSWERS else fault
        if not self._passes(exchange, api, number, fault, errand.kind == "create"):
            return
        delay = self._latency.seconds(seed, number)
        try:
            if errand.kind == "poll" and self._batch_faults.strikes("poll", number):
                self.ledger.fault(number, "poll")
                raise fault_problem(500)
            if fault.isdigit():
                raise fault_problem(int(fault))
            made = errand.work(exchange)
        except Problem as problem:
            self._fail(exchange, api, number, problem, delay)
            return
        headers = api.headers(number, delay)
        if isinstance(made, Outflow):
            if made.cut:
                self.ledger.fault(number, "cut")
            self._active += 1
            outflow = made._replace(cut=made.cut or fault in _CUTTING)
            Pouring(exchange, outflow, self.ledger, number, self._ended).start(headers)
            return
        if errand.kind == "create" and self._batch_faults.strikes("lost", number):
            fault = "lost"
            self.ledger.fault(number, fault)
        gap = self.settings.drip / 1000
        delivery = errand_delivery(api, made.body, headers + made.headers, fault, gap)
        self._queue(exchange, number, delivery, delay)

    def line(self, batch: Batch, item: Item, fault: str) -> Answered:
        """Answer one line of a batch, as its request would have been answered online."""
        api = batch.api.api
        name, told = _named(item.body, item.path)
        digest = hashlib.sha256(orjson.dumps(told, option=_SORTED)).digest()
        sample = sample_of(item.id)
        number = self.ledger.line(item.path, name, digest, sample, batch.id, item.id)
        if fault:
            self.ledger.fault(number, fault)
        try:
            if item.problem is not None:
                raise item.problem
            if fault == "error":
                raise fault_problem(500)
            asked, replies = self._understood(
                api, item.body, item.path, item.headers, sample, fault
            )
        except Problem as problem:
            problem.number = number
            problem = api.own(problem)
            self.ledger.finish(number, problem.status, True)
            return Answered(number, problem.status, api.problem(problem), problem)
        prompt = replies[0].prompt_tokens
        completion = sum(reply.completion_tokens for reply in replies)
        batch.used["prompt"] += prompt
        batch.used["completion"] += completion
        batch.used["cached"] += replies[0].cached_tokens
        batch.used["reasoning"] += sum(reply.reasoning_tokens for reply in replies)
        self.ledger.finish(number, 200, True, prompt, completion)
        return Answered(number, 200, api.render(batch.api.tiered(asked), replies, number))

    def stray(self, exchange: Exchange, known: bool) -> None:
        """A path or a method that no one answers; it is in the ledger too."""
        head = exchange.head
        number = self.note(exchange)
        make = wrong_method if known else unknown_path
        self._fail(exchange, api_for(head.path) or DEFAULT, number, make(head.method, head.path))

    def note(self, exchange: Exchange) -> int:
        """Write a request without a question into the ledger."""
        head = exchange.head
        body = exchange.body
        digest = hashlib.sha256(body).digest() if body else bytes(32)
        return self.ledger.arrive(head.method, head.path, "", digest, 0, bool(_key(head.headers)))


def _sample(raw: bytes | None) -> int:
    if raw is None or not raw.isdigit() or len(raw) > _LONGEST_SAMPLE:
        return 0
    return int(raw)


def _named(body: dict[str, Any], path: str) -> tuple[str, dict[str, Any]]:
    """The model that a request names, and all that was said, where a part of it is in the path
    (`models/NAME:action`)."""
    model = body.get("model")
    action = path.rpartition("/models/")[2] if "/models/" in path else ""
    if type(model) is str or ":" not in action:
        return model if type(model) is str else "", body
    return action.rpartition(":")[0], {**body, "model": action}


def _key(headers: dict[bytes, bytes]) -> str:
    raw = headers.get(b"authorization", b"")
    if raw[:7].lower() == b"bearer ":
        return raw[7:].strip().decode("latin-1")
    for name in (b"api-key", b"x-api-key", b"x-goog-api-key"):
        if name in headers:
            return headers[name].decode("latin-1")
    return ""
