"""The results of a batch, from their file into the journal.

Matched by id, whatever their order. What is answered is recorded; what can heal, and what is
missing, is free to go into another batch; what cannot is given up. It may be done twice: an answer
that is recorded already stays as it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.progress import Progress
from penstock.engine.station import Station
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.batch import Batches, Result, Trouble
from penstock.providers.transport import LARGEST_BODY
from penstock.store import Record, RecordKind
from penstock.store.batches import BatchRow, BatchStore

__all__ = ["Collector"]

_log = logging.getLogger(__name__)

_BLOCK = 2048
_BLOCK_BYTES = 16 << 20
_SHOWN = 100


class Collector:
    """Takes in the results of one batch."""

    def __init__(
        self,
        station: Station,
        store: BatchStore,
        endpoint: Endpoint,
        batches: Batches,
        lane: str,
        progress: Progress,
    ) -> None:
        self._station = station
        self._store = store
        self._endpoint = endpoint
        self._batches = batches
        self._lane = lane
        self._progress = progress

    async def collect(self, batch: BatchRow, file: Path) -> bool:
        """Everything in a file; False when nothing in it was asked by this batch."""
        ours = unknown = 0
        for lines in _blocks(file):
            results = [self._batches.read(line) for line in lines]
            taken = await self._take(batch, [each for each in results if each is not None])
            ours += taken
            unknown += len(lines) - taken
        if not ours and not batch.certain:
            return False
        missing = list(self._store.left_in(batch.id))
        if missing or unknown:
            facts = {"batch": batch.id, "missing": len(missing), "unknown": unknown}
            _log.warning("batch results differ from what was asked", extra=facts)
        lost = _json(_lost(batch))
        self._store.settle(batch.id, (), [(key, lost) for key in missing], lane=self._lane)
        return True

    def give_up(self, batch: BatchRow, why: str, trouble: Trouble | None) -> None:
        """Every question of a batch fails for one reason."""
        kind = FailureKind.INVALID_REQUEST if trouble is None else trouble.kind
        failure = _json(Failure(kind, why, 1))
        left = [(key, failure) for key in self._store.left_in(batch.id)]
        self._store.settle(batch.id, (), left, lane=self._lane)

    async def _take(self, batch: BatchRow, results: list[Result]) -> int:
        """Record a block; how many of them this batch had asked."""
        by_key = {key: each.sent for each in results if (key := _key(each.id)) is not None}
        asked = self._store.owns(batch.id, list(by_key))
        found = {key: self._priced(by_key[key].outcome) for key in asked}
        records = [self._record(batch, key, by_key[key].body, found[key]) for key in asked]
        kept = await self._station.journal.record_many(records)
        spent = Decimal(0)
        for outcome, each in zip(found.values(), kept, strict=True):
            self._progress.asked += 1
            if each.first and isinstance(outcome, Answer):
                self._progress.count(outcome)
                spent += outcome.cost or 0
        failures = {key: each for key, each in found.items() if isinstance(each, Failure)}
        self._store.settle(
            batch.id,
            found.keys() - failures.keys(),
            [(key, _json(failure)) for key, failure in failures.items()],
            lane=self._lane,
            cost=str(Decimal(self._store.get(batch.id).cost) + spent),
        )
        return len(asked)

    def _priced(self, outcome: Answer | Failure) -> Answer | Failure:
        if isinstance(outcome, Failure):
            return msgspec.structs.replace(outcome, attempts=1)
        price = self._station.price(self._endpoint, "batch")
        if price is None:
            return outcome
        return msgspec.structs.replace(
            outcome, cost=price.cost(outcome.usage), price_source=price.source
        )

    def _record(
        self, batch: BatchRow, key: bytes, body: bytes, outcome: Answer | Failure
    ) -> Record:
        answer = outcome if isinstance(outcome, Answer) else None
        cost = None if answer is None else answer.cost
        return Record(
            key,
            body,
            b"",
            RecordKind.FAILURE if answer is None else RecordKind.ANSWER,
            self._endpoint.provider,
            self._endpoint.model,
            batch.run,
            time.time(),
            0.0,
            1,
            "" if cost is None else str(cost),
            "" if answer is None else answer.price_source,
            "batch",
            0 if answer is None else answer.usage.input_tokens,
            0 if answer is None else answer.usage.output_tokens,
        )


def _blocks(file: Path) -> Iterator[list[bytes]]:
    """The lines of a file, so many at a time as memory does not feel."""
    with file.open("rb") as results:
        block: list[bytes] = []
        size = 0
        for line in _lines(results):
            block.append(line)
            size += len(line)
            if len(block) >= _BLOCK or size >= _BLOCK_BYTES:
                yield block
                block, size = [], 0
        if block:
            yield block


def _lines(results: BinaryIO) -> Iterator[bytes]:
    """Lines that are not empty; of one longer than any answer only the beginning, which makes no
    sense and is counted as such."""
    while line := results.readline(LARGEST_BODY):
        rest = line
        while not rest.endswith(b"\n") and (rest := results.readline(LARGEST_BODY)):
            line = line[:_SHOWN]
        if written := line.strip():
            yield written


def _key(name: str) -> bytes | None:
    try:
        return bytes.fromhex(name)
    except ValueError:
        return None


def _lost(batch: BatchRow) -> Failure:
    """Why there is no result for a question of a batch."""
    if batch.why:  # it expired, or was cancelled, before its turn came
        return Failure(FailureKind.OVERLOADED, f"its batch was not finished: {batch.why}", 1)
    return Failure(FailureKind.MALFORMED, "its batch brought no result for it", 1)


def _json(failure: Failure) -> str:
    return msgspec.json.encode(failure).decode()
