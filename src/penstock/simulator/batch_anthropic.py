"""Anthropic's Message Batches: requests in the body, results as a stream of lines.

What is wrong with the parameters of a request is told in its own result, as the real server does;
only ids, counts and sizes are judged when a batch is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import msgspec
import orjson

from penstock.simulator.anthropic_read import check_version
from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.apis import APIS
from penstock.simulator.batch import Batch
from penstock.simulator.batch_api import Answered, Errand, Item, Made, query_of, whole_number
from penstock.simulator.batches import Batches, tokens_in
from penstock.simulator.files import Stored
from penstock.simulator.http import Exchange
from penstock.simulator.pouring import Outflow
from penstock.simulator.problems import wrong_method
from penstock.simulator.spool import Lines

__all__ = ["AnthropicBatches"]

MOST_REQUESTS = 100_000
LARGEST = 256 * 1024 * 1024
_DAY = 86_400
_DAYS_KEPT = 29
_PATH = re.compile(r"/v1/messages/batches(?:/([^/]+)(/results|/cancel)?)?$")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PLACE = re.compile(r" - at `\$\.?([^`]*)`")


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    custom_id: str
    params: msgspec.Raw


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    requests: list[_Request]


_DECODER = msgspec.json.Decoder(_Body)


class AnthropicBatches:
    """The paths under /v1/messages/batches."""

    api: Api = next(api for api in APIS if api.name == "anthropic")

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request."""
        head = exchange.head
        found = _PATH.search(head.path)
        if found is None:
            return None
        name, action = found[1], found[2]
        works: dict[tuple[str, bool, str | None], tuple[Any, str]] = {
            ("POST", False, None): (self._create, "create"),
            ("GET", False, None): (self._list, "poll"),
            ("GET", True, None): (self._show, "poll"),
            ("DELETE", True, None): (self._delete, ""),
            ("POST", True, "/cancel"): (self._cancel, ""),
            ("GET", True, "/results"): (self._results, ""),
        }
        work, kind = works.get((head.method, name is not None, action), (_refuse_method, ""))

        def versioned(exchange: Exchange) -> Made | Outflow:
            check_version(_version(exchange))
            made: Made | Outflow = work(exchange)
            return made

        return Errand(self.api, versioned, kind)

    # The requests

    def _create(self, exchange: Exchange) -> Made:
        if len(exchange.body) > LARGEST:
            raise Problem(413, "request_too_large", "Request exceeds the maximum size")
        lines, model = _read(exchange.body)
        exchange.body = b""
        refused = self._batches.refuse(self, model, tokens_in(lines))
        if refused is not None:
            raise refused
        if self._batches.fails():
            raise Problem.invalid("requests: The batch could not be validated.")
        note = {"headers": _version(exchange)}
        batch = self._batches.make(f"msgbatch_{uuid4().hex[:24]}", self, lines, model, note)
        return self._made(exchange, batch)

    def _list(self, exchange: Exchange) -> Made:
        query = query_of(exchange)
        limit = whole_number(query.get("limit"), 20, 1000)
        if limit is None:
            raise Problem.invalid("limit: Input should be between 1 and 1000")
        after, before = query.get("after_id"), query.get("before_id")
        if after and before:
            raise Problem.invalid("Only one of after_id and before_id can be given")
        found = self._batches.all(self)
        names = [batch.id for batch in found]
        cursor = after or before
        if cursor and cursor not in names:
            raise Problem.invalid(f"{'after_id' if after else 'before_id'}: No such batch")
        if before:
            newer = found[: names.index(before)]
            page, more = newer[-limit:], len(newer) > limit
        else:
            rest = found[names.index(after) + 1 :] if after else found
            page, more = rest[:limit], len(rest) > limit
        return Made(
            orjson.dumps(
                {
                    "data": [self._shown(exchange, batch) for batch in page],
                    "has_more": more,
                    "first_id": page[0].id if page else None,
                    "last_id": page[-1].id if page else None,
                }
            )
        )

    def _show(self, exchange: Exchange) -> Made:
        return self._made(exchange, self._batch(exchange))

    def _cancel(self, exchange: Exchange) -> Made:
        batch = self._batch(exchange)
        if batch.end:
            raise Problem.invalid(f"Batch {batch.id} has already ended.")
        self._batches.cancel(batch)
        return self._made(exchange, batch)

    def _delete(self, exchange: Exchange) -> Made:
        batch = self._batch(exchange)
        if not batch.end:
            raise Problem.invalid(f"Batch {batch.id} cannot be deleted while it is in progress.")
        self._batches.drop(batch)
        return Made(orjson.dumps({"id": batch.id, "type": "message_batch_deleted"}))

    def _results(self, exchange: Exchange) -> Outflow:
        batch = self._batch(exchange)
        if not batch.end:
            raise Problem.invalid(f"Batch {batch.id} is still processing; no results yet.")
        if self._archived(batch):
            raise Problem(404, "not_found_error", f"The results of {batch.id} are archived.")
        cut = self._batches.cuts(batch.note["results"])
        return Outflow(batch.output.pieces(), batch.output.size, b"application/x-jsonl", cut)

    def _batch(self, exchange: Exchange) -> Batch:
        found = _PATH.search(exchange.head.path)
        name = found[1] if found else ""
        batch = self._batches.find(self, name)
        if batch is None:
            raise Problem(404, "not_found_error", f"Batch {name} not found.")
        return batch

    def _made(self, exchange: Exchange, batch: Batch) -> Made:
        return Made(orjson.dumps(self._shown(exchange, batch)))

    def _archived(self, batch: Batch) -> bool:
        return self._batches.now() >= batch.created + _DAYS_KEPT * _DAY

    def _shown(self, exchange: Exchange, batch: Batch) -> dict[str, Any]:
        times = batch.times
        archived = self._archived(batch)
        root = f"http://{exchange.head.header(b'host')}"
        url = f"{root}/v1/messages/batches/{batch.id}/results"
        state = "ended" if batch.end else "in_progress"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "canceling" if batch.state == "cancelling" else state,
            "request_counts": _counts(batch),
            "created_at": _time(batch.created),
            "expires_at": _time(batch.created + _DAY),
            "ended_at": _time(times.get("ended")),
            "cancel_initiated_at": _time(times.get("cancelling")),
            "archived_at": _time(batch.created + _DAYS_KEPT * _DAY) if archived else None,
            "results_url": url if batch.end and not archived else None,
        }

    # The lines

    def check(self, batch: Batch) -> Iterator[None]:
        """All that can be wrong was told when the batch was made."""
        yield from ()

    def item(self, batch: Batch, line: bytes) -> Item:
        """Read a line."""
        told = orjson.loads(line)
        params, problem = told["params"], None
        if params.get("stream"):
            problem = Problem.invalid("stream: Streaming is not supported in batches")
        elif params.get("speed") is not None:
            problem = Problem.invalid("speed: Extra inputs are not permitted")
        elif params.get("max_tokens") == 0:
            problem = Problem.invalid("max_tokens: Input should be greater than or equal to 1")
        headers = batch.note["headers"]
        return Item(told["custom_id"], params, "/v1/messages", headers, problem)

    def tiered(self, asked: Asked) -> Asked:
        """The same request, in the tier of batches."""
        return asked._replace(note=asked.note._replace(tier="batch"))

    def result(self, batch: Batch, item: Item, answered: Answered) -> None:
        """A line of the results."""
        kind, name = b"succeeded", b"message"
        if answered.problem is not None:
            kind, name = b"errored", b"error"
        parts = (orjson.dumps(item.id), kind, name, answered.body)
        batch.output.append(b'{"custom_id":%b,"result":{"type":"%b","%b":%b}}\n' % parts)

    def undone(self, batch: Batch, item: Item, why: str) -> None:
        """A line of the results for what was not asked."""
        kind = "canceled" if why == "cancelled" else why
        line = {"custom_id": item.id, "result": {"type": kind}}
        batch.output.append(orjson.dumps(line) + b"\n")

    def ended(self, batch: Batch) -> None:
        """Let the results be downloaded."""
        now = batch.times["ended"]
        batch.note["results"] = Stored(batch.id, "anthropic", "results", "results", now)


def _refuse_method(exchange: Exchange) -> Made:
    raise wrong_method(exchange.head.method, exchange.head.path)


def _version(exchange: Exchange) -> dict[bytes, bytes]:
    return {b"anthropic-version": exchange.head.headers.get(b"anthropic-version", b"")}


def _read(raw: bytes) -> tuple[Lines, str]:
    """The requests of a body, on disk, and the first of their models."""
    try:
        requests = _DECODER.decode(raw).requests
    except msgspec.ValidationError as error:
        raise Problem.invalid(_placed(str(error))) from None
    except msgspec.DecodeError:
        raise Problem.invalid("The request body is not valid JSON.") from None
    if not requests:
        raise Problem.invalid("requests: List should have at least 1 item after validation")
    if len(requests) > MOST_REQUESTS:
        raise Problem.invalid(f"requests: List should have at most {MOST_REQUESTS} items")
    lines = Lines()
    seen: set[str] = set()
    for at, request in enumerate(requests):
        name, params = request.custom_id, bytes(request.params)
        if not _ID.fullmatch(name):
            message = f"requests.{at}.custom_id: String should match pattern '^{_ID.pattern}$'"
            raise Problem.invalid(message)
        if name in seen:
            raise Problem.invalid(f"requests.{at}.custom_id: `{name}` is used more than once")
        if not params.startswith(b"{"):
            raise Problem.invalid(f"requests.{at}.params: Input should be a valid dictionary")
        seen.add(name)
        lines.add(b'{"custom_id":"%b","params":%b}' % (name.encode(), params))
    model = orjson.loads(bytes(requests[0].params)).get("model")
    return lines, model if isinstance(model, str) else ""


def _placed(message: str) -> str:
    """A complaint with its place before it."""
    found = _PLACE.search(message)
    if found is None:
        return message
    place = found[1].replace("[", ".").replace("]", "")
    return f"{place or 'body'}: {_PLACE.sub('', message)}"


def _counts(batch: Batch) -> dict[str, int]:
    left = batch.total - batch.done
    if not batch.end:
        return {
            "processing": batch.total,
            **dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0),
        }
    return {
        "processing": 0,
        "succeeded": batch.succeeded,
        "errored": batch.errored,
        "canceled": left if batch.end == "cancelled" else 0,
        "expired": left if batch.end == "expired" else 0,
    }


def _time(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat()
