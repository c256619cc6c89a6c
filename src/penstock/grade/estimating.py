"""What grading would cost, before anything is sent: tokens and dollars of every file.

A question that has an answer in the journal costs nothing, and tells how long answers are: an
estimate after a preview is a good one. Equal texts are one question, asked with the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from penstock.endpoint import Endpoint
from penstock.engine.lanes import has_batches
from penstock.engine.workbench import Workbench
from penstock.grade.carry import Unreadable
from penstock.grade.counting import over_limits, problems, texts
from penstock.grade.grader import Grader
from penstock.grade.grading import GradeJob
from penstock.grade.opening import OpenFile
from penstock.grade.rubric import Rubric
from penstock.outcome import Usage
from penstock.request import Request
from penstock.store import Record
from penstock.tokens import Lane, Price, count_request

__all__ = ["Estimate", "Estimates", "estimated"]

_BLOCK = 256
_ENOUGH = 3
"""Answers that tell how long the others will be."""
_PER_GRADE = 12
_PER_REASON = 50
_PER_FIELD = 60


class Estimate(NamedTuple):
    """What a file would take, or all of them."""

    rows: int
    questions: int
    """Those about equal texts count once."""
    recorded: int
    """Of these, answered in the journal already: they cost nothing."""
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """Dollars if they are asked online; None where a price is unknown."""
    batch_cost: Decimal | None
    """Dollars if they go by batch, where that can be."""


@dataclass(frozen=True)
class Estimates:
    """What every file would take, and those that cannot be graded."""

    files: tuple[tuple[Path, Estimate], ...]
    refused: tuple[Unreadable, ...]
    over: tuple[str, ...]
    """Which limits would be broken, in words."""
    left_now: int | None
    """Tokens that may still be used today; None: any."""
    price_sources: tuple[str, ...]
    unpriced: tuple[str, ...]
    """Endpoints for which no price is known."""
    seen: int
    """The answers in the journal that tell how long the others will be; 0: it is a guess, or
    max_tokens where that is given."""

    @property
    def total(self) -> Estimate:
        """All files together."""
        every = [estimate for _, estimate in self.files]
        return Estimate(
            sum(each.rows for each in every),
            sum(each.questions for each in every),
            sum(each.recorded for each in every),
            sum(each.input_tokens for each in every),
            sum(each.output_tokens for each in every),
            _sum(each.cost for each in every),
            _sum(each.batch_cost for each in every),
        )

    @property
    def left_after(self) -> int | None:
        """What the limit of the day leaves when all is done; below 0: it is not enough."""
        if self.left_now is None:
            return None
        return self.left_now - self.total.input_tokens - self.total.output_tokens

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            "files": [{"path": str(path), **each._asdict()} for path, each in self.files],
            "total": self.total._asdict(),
            "price_sources": list(self.price_sources),
            "unpriced": list(self.unpriced),
            "answers_seen": self.seen,
            "tokens_left_today": self.left_now,
            "tokens_left_after": self.left_after,
            "refused": problems(self.refused),
            "over": list(self.over),
        }


def estimated(job: GradeJob, bench: Workbench, folder: Path) -> Estimates:
    """What it would take; nothing is sent, and no key is needed."""
    limits = job.limits(bench)
    counts = limits.file is not None or limits.left_today is not None
    opening = job.opened(bench, folder, counts=counts)
    grader = job.grader(bench)
    recorded = _recorded(bench) if job.wishes.cache in ("use", "read") else None
    prices = _Prices(bench, by_batch=job.wishes.lane == "batch")
    lengths = _Lengths(grader.rubric)
    asked: set[bytes] = set()
    sums = []
    for file in opening.files:
        made = _Sum(prices, lengths, file.rows)
        for requests in _blocks(_questions(file, grader, asked)):
            keys = [request.key for request in requests]
            found = [None] * len(keys) if recorded is None else recorded(keys)
            made.add(requests, found)
        sums.append((file.input.path, made))
    return Estimates(
        tuple((path, made.estimate()) for path, made in sums),
        tuple(opening.refused),
        tuple(over_limits(limits, opening.files)),
        limits.left_today,
        tuple(sorted(prices.sources)),
        tuple(sorted(prices.unknown)),
        lengths.seen,
    )


def _questions(file: OpenFile, grader: Grader, asked: set[bytes]) -> Iterator[Request]:
    """Those that no row before has asked; a row over the limit is not asked about."""
    oversized = {each.row for each in file.plan.oversized}
    for number, text in enumerate(texts(file)):
        for request in grader.requests(None if number in oversized else text):
            if request.key not in asked:
                asked.add(request.key)
                yield request


def _blocks(requests: Iterator[Request]) -> Iterator[list[Request]]:
    while block := list(islice(requests, _BLOCK)):
        yield block


def _recorded(bench: Workbench) -> Callable[[list[bytes]], Sequence[Any]] | None:
    """How to find what has an answer; None in a workspace that has no journal."""
    if not bench.workspace.check().journal.exists():
        return None
    thread = bench.thread

    def find(keys: list[bytes]) -> Sequence[Any]:
        return thread.submit(lambda station: station.journal.find_many(keys)).result()

    return find


class _Prices:
    """What tokens cost in each lane, by endpoint."""

    def __init__(self, bench: Workbench, *, by_batch: bool) -> None:
        tracked = bench.settings.token_management.cost_tracking
        self._list = bench.prices() if tracked else None
        self._by_batch = by_batch
        self._known: dict[tuple[str, Lane], Price | None] = {}
        self.sources: set[str] = set()
        self.unknown: set[str] = set()

    def of(self, endpoint: Endpoint, lane: Lane) -> Price | None:
        key = (endpoint.label, lane)
        if key not in self._known:
            self._known[key] = self._look_up(endpoint, lane)
        return self._known[key]

    def _look_up(self, endpoint: Endpoint, lane: Lane) -> Price | None:
        there = lane == "online" or self._by_batch or has_batches(endpoint)
        price = self._list.price(endpoint, lane) if there and self._list is not None else None
        if price is not None:
            self.sources.add(price.source)
        elif lane == "online":
            self.unknown.add(endpoint.label)
        return price


class _Lengths:
    """How long answers are: as those in the journal, else as max_tokens allows, else a guess."""

    def __init__(self, rubric: Rubric) -> None:
        reasons = {"each": len(rubric.criteria), "overall": 1, "none": 0}[rubric.reasons]
        self._guess = _PER_GRADE * len(rubric.criteria) + _PER_REASON * reasons
        self._guess += _PER_FIELD * len(rubric.fields)
        self._tokens: dict[str, int] = defaultdict(int)
        self._answers: dict[str, int] = defaultdict(int)

    def saw(self, label: str, record: Record) -> None:
        if record.output_tokens:
            self._tokens[label] += record.output_tokens
            self._answers[label] += 1

    @property
    def seen(self) -> int:
        return sum(answers for answers in self._answers.values() if answers >= _ENOUGH)

    def of(self, label: str, most: int | None) -> int:
        answers = self._answers[label]
        if answers >= _ENOUGH:
            return round(self._tokens[label] / answers)
        return most or self._guess


@dataclass
class _Part:
    """The questions to one endpoint: what they cost without answers, and each token of those."""

    count: int = 0
    tokens: int = 0
    most: int | None = None
    asking: dict[Lane, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    answering: dict[Lane, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    unpriced: set[Lane] = field(default_factory=set)


_LANES: tuple[Lane, Lane] = ("online", "batch")


class _Sum:
    """The questions of a file so far. How long answers are is known when all are read."""

    def __init__(self, prices: _Prices, lengths: _Lengths, rows: int) -> None:
        self._prices = prices
        self._lengths = lengths
        self._rows = rows
        self._recorded = 0
        self._parts: dict[str, _Part] = defaultdict(_Part)
        self._last: tuple[Any, str, int] = (None, "", 0)

    def add(self, requests: Iterable[Request], found: Iterable[Any]) -> None:
        """Take in some questions, with what the journal has of each."""
        for request, record in zip(requests, found, strict=True):
            if isinstance(record, Record):
                self._recorded += 1
                self._lengths.saw(request.endpoint.label, record)
            else:
                self._send(request)

    def _send(self, request: Request) -> None:
        endpoint, tokens = request.endpoint, self._tokens(request)
        part = self._parts[endpoint.label]
        most = request.params.get("max_tokens") or request.params.get("max_completion_tokens")
        part.count += 1
        part.tokens += tokens
        part.most = most if isinstance(most, int) else None
        for lane in _LANES:
            price = self._prices.of(endpoint, lane)
            if price is None:
                part.unpriced.add(lane)
                continue
            # One by one: long questions may have a price of their own.
            asking = price.cost(Usage(tokens, 0))
            part.asking[lane] += asking
            part.answering[lane] += price.cost(Usage(tokens, 1)) - asking

    def _tokens(self, request: Request) -> int:
        """As `Grader.tokens` counts them; several graders are asked the same."""
        messages, model, tokens = self._last
        if request.messages is not messages or request.endpoint.model != model:
            schema = None if request.schema is None else request.schema.schema
            tokens = count_request(request.messages, request.endpoint.model, schema, None)
            self._last = (request.messages, request.endpoint.model, tokens)
        return tokens

    def estimate(self) -> Estimate:
        parts = self._parts
        lengths = {each: self._lengths.of(each, part.most) for each, part in parts.items()}
        costs: list[Decimal | None] = []
        for lane in _LANES:
            known = not any(lane in part.unpriced for part in parts.values())
            cost = sum(
                (
                    part.asking[lane] + part.answering[lane] * lengths[each]
                    for each, part in parts.items()
                ),
                Decimal(0),
            )
            costs.append(cost if known else None)
        sent = sum(part.count for part in parts.values())
        return Estimate(
            self._rows,
            sent + self._recorded,
            self._recorded,
            sum(part.tokens for part in parts.values()),
            sum(part.count * lengths[each] for each, part in parts.items()),
            *costs,
        )


def _sum(costs: Iterable[Decimal | None]) -> Decimal | None:
    known, total = True, Decimal(0)
    for cost in costs:
        known = known and cost is not None
        total += cost or 0
    return total if known else None
