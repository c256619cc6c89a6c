"""Gemini's batches: requests in the body or in a file, answers in the operation or in a file.

A batch is told as a long-running operation. One that expires or is cancelled has no results at
all. A list tells of batches without the answers that they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any
from uuid import uuid4

import orjson

from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.apis import APIS
from penstock.simulator.batch import Batch
from penstock.simulator.batch_api import Answered, Errand, Item, Made, query_of
from penstock.simulator.batches import Batches, tokens_in
from penstock.simulator.files import Files, Stored
from penstock.simulator.gemini_files import KEPT, GeminiFiles, missing_file, paged, timestamp
from penstock.simulator.gemini_problems import Refused
from penstock.simulator.gemini_shape import BATCH, shaped
from penstock.simulator.http import Exchange
from penstock.simulator.pouring import Outflow
from penstock.simulator.problems import wrong_method
from penstock.simulator.spool import Lines

__all__ = ["GeminiBatches"]

LARGEST_INLINE = 20 * 1024 * 1024
_MOST_LISTED = 1000
_CREATE = re.compile(r"/(v\w+)/models/([^/]+):batchGenerateContent$")
_PATH = re.compile(r"/batches(?:/([^/:]+)(:cancel)?)?$")
_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch"
_STATES = {
    "validating": "PENDING",
    "working": "RUNNING",
    "finalizing": "RUNNING",
    "cancelling": "RUNNING",
    "completed": "SUCCEEDED",
}
# What stands for a status's name in a message that is no answer of its own.
_CODES = {
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "ABORTED": 10,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
}


class GeminiBatches:
    """models/NAME:batchGenerateContent, /batches, and the files beside them."""

    api: Api = next(api for api in APIS if api.name == "gemini")

    def __init__(self, batches: Batches, files: Files) -> None:
        self._batches = batches
        self._files = files
        self._file_desk = GeminiFiles(self.api, batches, files)

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request; paths that OpenAI has too are told apart by the headers."""
        head = exchange.head
        if _CREATE.search(head.path) and head.method == "POST":
            return Errand(self.api, self._create, "create")
        own = head.path.startswith("/upload/") or self.api.lists(head.path, head.headers)
        if not own:
            return None
        found = _PATH.search(head.path)
        if found is None:
            return self._file_desk.route(exchange)
        works: dict[tuple[str, bool, bool], tuple[Any, str]] = {
            ("GET", False, False): (self._list, "poll"),
            ("GET", True, False): (self._show, "poll"),
            ("DELETE", True, False): (self._delete, ""),
            ("POST", True, True): (self._cancel, ""),
        }
        key = (head.method, found[1] is not None, found[2] is not None)
        work, kind = works.get(key, (_refuse_method, ""))
        return Errand(self.api, work, kind)

    # The requests

    def _create(self, exchange: Exchange) -> Made:
        found = _CREATE.search(exchange.head.path)
        assert found is not None
        version, model = found[1], found[2]
        told = _object(exchange.body).get("batch") or {}
        source = told.get("inputConfig") or {}
        if ("fileName" in source) == ("requests" in source):
            raise Problem.invalid("* BatchGenerateContentRequest.batch.input_config: one of them\n")
        inline = "requests" in source
        lines = self._inlined(exchange, source) if inline else self._from_file(source["fileName"])
        exchange.body = b""
        refused = self._batches.refuse(self, model, tokens_in(lines))
        if refused is not None:
            raise _exhausted(refused)
        note = {"title": told.get("displayName", ""), "inline": inline, "version": version}
        name = f"batches/{uuid4().hex}"
        return Made(orjson.dumps(_shown(self._batches.make(name, self, lines, model, note))))

    def _inlined(self, exchange: Exchange, source: dict[str, Any]) -> Lines:
        if len(exchange.body) > LARGEST_INLINE:
            said = f"Request payload size exceeds the limit: {LARGEST_INLINE} bytes."
            raise Problem.invalid(said)
        requests = source["requests"].get("requests") or []
        if not requests:
            where = "BatchGenerateContentRequest.batch.input_config.requests.requests"
            raise Problem.invalid(f"* {where}: requests is not specified\n", where)
        lines = Lines()
        for request in requests:
            lines.add(orjson.dumps(request))
        return lines

    def _from_file(self, name: str) -> Lines:
        file = self._files.find("gemini", name)
        if file is None:
            raise missing_file(name)
        return Lines(file.spool)

    def _list(self, exchange: Exchange) -> Made:
        batches = {batch.id: batch for batch in self._batches.all(self)}
        page, token = paged(query_of(exchange), list(batches), _MOST_LISTED)
        shown: dict[str, Any] = {"operations": [_shown(batches[name]) for name in page]}
        return Made(orjson.dumps(shown | ({"nextPageToken": token} if token else {})))

    def _show(self, exchange: Exchange) -> Made | Outflow:
        batch = self._batch(exchange)
        if batch.end == "completed" and batch.note["inline"]:
            return _with_answers(batch, self._batches.cuts(batch.note["results"]))
        return Made(orjson.dumps(_shown(batch)))

    def _cancel(self, exchange: Exchange) -> Made:
        batch = self._batch(exchange)
        if batch.end:
            raise Problem.invalid(f"The batch is in the final state {_state(batch)}.")
        self._batches.cancel(batch)
        return Made(b"{}")

    def _delete(self, exchange: Exchange) -> Made:
        self._batches.drop(self._batch(exchange))
        return Made(b"{}")

    def _batch(self, exchange: Exchange) -> Batch:
        found = _PATH.search(exchange.head.path)
        name = f"batches/{found[1]}" if found else ""
        batch = self._batches.find(self, name)
        if batch is None:
            raise Problem(404, "invalid_request_error", "Requested entity was not found.")
        return batch

    # The lines

    def check(self, batch: Batch) -> Iterator[None]:
        """Find the lines of a file."""
        if not batch.note["inline"]:
            for _ in batch.lines.scan():
                yield
            if not batch.total:
                batch.errors.append({"message": "The input file has no requests."})

    def item(self, batch: Batch, line: bytes) -> Item:
        """Read a line."""
        path = f"/{batch.note['version']}/models/{batch.model}:generateContent"
        try:
            told = orjson.loads(line)
        except orjson.JSONDecodeError:
            told = None
        if not isinstance(told, dict) or not isinstance(told.get("request"), dict):
            wrong = Problem.invalid("The line is no JSON object with a request.")
            return Item("", {"line": line.decode("utf-8", "replace")}, path, problem=wrong)
        metadata = told.get("metadata")
        key = (metadata or {}).get("key") if batch.note["inline"] else told.get("key")
        name = key if isinstance(key, str) else ""
        body = dict(told["request"])
        model, problem = body.pop("model", None), None
        if model is not None and str(model).removeprefix("models/") != batch.model:
            problem = Problem.invalid(f"The model {model} is not the batch's, {batch.model}.")
        return Item(name, body, path, {}, problem, metadata)

    def tiered(self, asked: Asked) -> Asked:
        """Nothing in an answer tells that it came by a batch."""
        return asked

    def result(self, batch: Batch, item: Item, answered: Answered) -> None:
        """A line of the file, or an item of the list."""
        name, body = b"response", answered.body
        if answered.problem is not None:
            told = {
                "code": _CODES.get(answered.problem.kind, 2),
                "message": answered.problem.message,
            }
            name, body = b"error", orjson.dumps(told)
        if batch.note["inline"]:
            metadata = b""
            if item.extra is not None:
                given = item.extra | ({"key": item.id} if "key" in item.extra else {})
                metadata = b',"metadata":' + orjson.dumps(given)
            batch.output.append(b'{"%b":%b%b},\n' % (name, body, metadata))
        else:
            batch.output.append(b'{"key":%b,"%b":%b}\n' % (orjson.dumps(item.id), name, body))

    def undone(self, batch: Batch, item: Item, why: str) -> None:
        """Nothing is told of what was not asked."""

    def ended(self, batch: Batch) -> None:
        """Make a file of the answers; it is shown where the requests came as one."""
        now = batch.times["ended"]
        name = f"files/batch-{batch.id.removeprefix('batches/')}"
        mime = "application/jsonl"
        file = Stored(name, "gemini", "", mime, now, now + KEPT, made=True, spool=batch.output)
        batch.note["results"] = file
        if batch.end == "completed" and not batch.note["inline"]:
            batch.note["file"] = self._files.add(file).id


def _refuse_method(exchange: Exchange) -> Made:
    raise wrong_method(exchange.head.method, exchange.head.path)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise Problem.invalid("Invalid JSON payload received.")
    return shaped(body, BATCH)


def _exhausted(problem: Problem) -> Problem:
    """The limits of batches in Gemini's words."""
    kind = "type.googleapis.com/google.rpc."
    metric = "generativelanguage.googleapis.com/batch_enqueued_tokens"
    violations = [{"quotaMetric": metric, "quotaId": "BatchEnqueuedTokensPerModel"}]
    details: list[dict[str, Any]] = [
        {"@type": kind + "QuotaFailure", "violations": violations},
        {"@type": kind + "RetryInfo", "retryDelay": f"{problem.wait:.3f}s"},
    ]
    return Refused(429, problem.message, details)


def _state(batch: Batch) -> str:
    return "BATCH_STATE_" + _STATES.get(batch.state, batch.state.upper())


def _shown(batch: Batch) -> dict[str, Any]:
    metadata = {
        "@type": _TYPE,
        "name": batch.id,
        "model": f"models/{batch.model}",
        "createTime": timestamp(batch.created),
        "updateTime": timestamp(max([batch.created, *batch.times.values()])),
        "batchStats": _stats(batch),
        "state": _state(batch),
    }
    if batch.note["title"]:
        metadata["displayName"] = batch.note["title"]
    shown: dict[str, Any] = {"name": batch.id, "metadata": metadata}
    if not batch.end:
        return shown
    metadata["endTime"] = timestamp(batch.times["ended"])
    shown["done"] = True
    if "file" in batch.note:
        metadata["output"] = {"responsesFile": batch.note["file"]}
        shown["response"] = {"@type": f"{_TYPE}Output", "responsesFile": batch.note["file"]}
    elif batch.end != "completed":
        said = "; ".join(error["message"] for error in batch.errors) or f"The batch {batch.end}."
        shown["error"] = {"code": {"expired": 4, "cancelled": 1}.get(batch.end, 3), "message": said}
    return shown


def _stats(batch: Batch) -> dict[str, str]:
    counts = {
        "requestCount": batch.total,
        "successfulRequestCount": batch.succeeded,
        "failedRequestCount": batch.errored,
        "pendingRequestCount": 0 if batch.end else batch.total - batch.done,
    }
    return {name: str(count) for name, count in counts.items() if count}


def _with_answers(batch: Batch, cut: bool) -> Outflow:
    """The operation with its answers, which stand in it twice: in its metadata and by itself."""
    shown = _shown(batch)
    mark = "\0answers\0"
    answers = {"inlinedResponses": {"inlinedResponses": [mark]}}
    shown["metadata"]["output"] = answers
    shown["response"] = {"@type": f"{_TYPE}Output"} | answers
    first, middle, last = orjson.dumps(shown).split(orjson.dumps(mark))
    size = max(0, batch.output.size - len(b",\n"))
    pieces = chain([first], batch.output.pieces(size), [middle], batch.output.pieces(size), [last])
    length = len(first) + len(middle) + len(last) + 2 * size
    return Outflow(pieces, length, b"application/json", cut)
