"""OpenAI's batches: a file of requests in, a file of answers and a file of errors out.

The codes of what is wrong with a file are those that clients have reported; the real server
documents none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import orjson

from penstock.simulator.api import Api, Asked, Problem
from penstock.simulator.apis import DEFAULT
from penstock.simulator.batch import Batch
from penstock.simulator.batch_api import Answered, Errand, Item, Made, query_of, whole_number
from penstock.simulator.batches import Batches
from penstock.simulator.files import Files, Stored
from penstock.simulator.http import Exchange
from penstock.simulator.openai_files import DAYS_KEPT, OpenAIFiles, checked_expiry
from penstock.simulator.problems import wrong_method
from penstock.simulator.spool import Lines

__all__ = ["OpenAIBatches"]

MOST_REQUESTS = 50_000
MOST_ERRORS = 100
ENDPOINT = "/v1/chat/completions"
_DAY = 86_400
_PATH = re.compile(r"/batches(?:/([^/]+)(/cancel)?)?$")
_KNOWN = {"input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"}
_STATES = {"working": "in_progress"}
_TIMES = {
    "in_progress_at": "working",
    "finalizing_at": "finalizing",
    "completed_at": "completed",
    "failed_at": "failed",
    "expired_at": "expired",
    "cancelling_at": "cancelling",
    "cancelled_at": "cancelled",
}
_UNDONE = {
    "expired": "This request could not be executed before the completion window expired.",
    "cancelled": "This request was not executed because the batch was cancelled.",
}


class OpenAIBatches:
    """The paths that end in /batches and /files, unless another API claims them."""

    api: Api = DEFAULT

    def __init__(self, batches: Batches, files: Files) -> None:
        self._batches = batches
        self._files = files
        self._file_desk = OpenAIFiles(self.api, batches, files)

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request."""
        path, method = exchange.head.path, exchange.head.method
        found = _PATH.search(path)
        if found is None:
            return self._file_desk.route(exchange)
        name, cancels = found[1], found[2]
        if name is None and method == "POST":
            return Errand(self.api, self._create, "create")
        if name is None and method == "GET":
            return Errand(self.api, self._list, "poll")
        if name is not None and method == ("POST" if cancels else "GET"):
            work = self._cancel if cancels else self._show
            kind = "" if cancels else "poll"
            return Errand(self.api, lambda exchange: work(self._batch(name)), kind)
        return Errand(self.api, _refuse_method)

    # The requests

    def _create(self, exchange: Exchange) -> Made:
        body = _object(exchange.body)
        for name in body:
            if name not in _KNOWN:
                raise Problem.invalid(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        for name in ("input_file_id", "endpoint", "completion_window"):
            if not isinstance(body.get(name), str):
                message = f"Missing required parameter: '{name}'."
                raise Problem.invalid(message, name, "missing_required_parameter")
        if body["endpoint"] != ENDPOINT:
            message = f"Invalid value: '{body['endpoint']}'. Supported here: '{ENDPOINT}'."
            raise Problem.invalid(message, "endpoint", "invalid_value")
        if body["completion_window"] != "24h":
            message = f"Invalid value: '{body['completion_window']}'. Value must be '24h'."
            raise Problem.invalid(message, "completion_window", "invalid_value")
        _check_metadata(body.get("metadata"))
        kept = body.get("output_expires_after")
        seconds = DAYS_KEPT * _DAY if kept is None else checked_expiry(kept)
        file = self._input(body["input_file_id"])
        if refused := self._batches.refuse(self, ""):
            raise refused
        note = {"file": file.id, "metadata": body.get("metadata"), "kept": seconds}
        batch = self._batches.make(
            f"batch_{uuid4().hex}", self, Lines(file.spool), "", note | {"output": {}}
        )
        return self._show(batch)

    def _input(self, name: str) -> Stored:
        file = self._files.find("openai", name)
        if file is None:
            raise Problem.invalid(f"No such File object: {name}", "input_file_id")
        if file.kind != "batch":
            message = f"Invalid input file: its purpose is '{file.kind}' and must be 'batch'."
            raise Problem.invalid(message, "input_file_id", "invalid_file_purpose")
        return file

    def _list(self, exchange: Exchange) -> Made:
        query = query_of(exchange)
        limit = whole_number(query.get("limit"), 20, 100)
        if limit is None:
            raise Problem.invalid("Invalid 'limit': expected 1 to 100.", "limit", "invalid_value")
        found = self._batches.all(self)
        after = query.get("after")
        if after is not None:
            names = [batch.id for batch in found]
            if after not in names:
                raise _no_batch(after)
            found = found[names.index(after) + 1 :]
        page = [self._shown(batch) for batch in found[:limit]]
        more = len(found) > limit
        return Made(orjson.dumps({"object": "list", "data": page, "has_more": more}))

    def _cancel(self, batch: Batch) -> Made:
        if batch.end:
            message = f"Cannot cancel a batch with status '{batch.end}'."
            raise Problem(409, "invalid_request_error", message)
        self._batches.cancel(batch)
        return self._show(batch)

    def _batch(self, name: str) -> Batch:
        batch = self._batches.find(self, name)
        if batch is None:
            raise _no_batch(name)
        return batch

    def _show(self, batch: Batch) -> Made:
        return Made(orjson.dumps(self._shown(batch)))

    def _shown(self, batch: Batch) -> dict[str, Any]:
        files = batch.note["output"]
        times = {name: batch.times.get(state) for name, state in _TIMES.items()}
        checked = batch.checked and not batch.errors
        counts = {
            "total": batch.total if checked else 0,
            "completed": batch.succeeded,
            "failed": batch.errored,
        }
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": ENDPOINT,
            "model": batch.model or None,
            "errors": _errors(batch) if batch.end == "failed" else None,
            "input_file_id": batch.note["file"],
            "completion_window": "24h",
            "status": _STATES.get(batch.state, batch.state),
            "output_file_id": files.get("output"),
            "error_file_id": files.get("error"),
            "created_at": int(batch.created),
            "expires_at": int(batch.created) + _DAY,
            **{name: None if at is None else int(at) for name, at in times.items()},
            "request_counts": counts,
            "usage": _usage(batch) if batch.end and batch.done else None,
            "metadata": batch.note["metadata"],
        }

    # The lines

    def check(self, batch: Batch) -> Iterator[None]:
        """Read the whole file; the batch fails for what is wrong with it as a batch."""
        seen: set[str] = set()
        for at, line in enumerate(batch.lines.scan(), 1):
            if at > MOST_REQUESTS:
                message = f"The batch input file has more than {MOST_REQUESTS} requests."
                batch.errors.append({"code": "too_many_requests", "message": message})
                break
            if len(batch.errors) < MOST_ERRORS:
                for error in _wrong(batch, line, seen):
                    batch.errors.append(error | {"line": at})
            yield
        if not batch.total:
            message = "The batch input file is empty."
            batch.errors.append({"code": "empty_file", "message": message})

    def item(self, batch: Batch, line: bytes) -> Item:
        """Read a line."""
        told = orjson.loads(line)
        body, problem = told["body"], None
        if body.get("stream"):
            message = "Streaming is not supported in the Batch API."
            problem = Problem.invalid(message, "stream", "unsupported_parameter")
        return Item(told["custom_id"], body, ENDPOINT, problem=problem)

    def tiered(self, asked: Asked) -> Asked:
        """Nothing in an answer tells that it came by a batch."""
        return asked

    def result(self, batch: Batch, item: Item, answered: Answered) -> None:
        """A line of the output file, or of the error file."""
        spool = batch.output if answered.problem is None else batch.failures
        head = f'{{"id":"batch_req_{answered.number:024x}","custom_id":'.encode()
        told = f',"response":{{"status_code":{answered.status},"request_id":"req_'.encode()
        told += b'%032x","body":' % answered.number
        name = orjson.dumps(item.id)
        spool.append(b"".join((head, name, told, answered.body, b'},"error":null}\n')))

    def undone(self, batch: Batch, item: Item, why: str) -> None:
        """A line of the error file."""
        line = {
            "id": f"batch_req_{uuid4().hex[:24]}",
            "custom_id": item.id,
            "response": None,
            "error": {"code": f"batch_{why}", "message": _UNDONE[why]},
        }
        batch.failures.append(orjson.dumps(line) + b"\n")

    def ended(self, batch: Batch) -> None:
        """Make files of what was written, unless nothing was."""
        now = batch.times["ended"]
        for kind, spool in (("output", batch.output), ("error", batch.failures)):
            if spool.size and batch.end != "failed":
                name = f"file-{uuid4().hex[:24]}"
                title = f"{batch.id}_{kind}.jsonl"
                expires = now + batch.note["kept"]
                stored = Stored(
                    name, "openai", title, "batch_output", now, expires, made=True, spool=spool
                )
                batch.note["output"][kind] = self._files.add(stored).id


def _refuse_method(exchange: Exchange) -> Made:
    raise wrong_method(exchange.head.method, exchange.head.path)


def _no_batch(name: str) -> Problem:
    message = f"No batch found with id '{name}'."
    return Problem(404, "invalid_request_error", message)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise Problem.invalid("We could not parse the JSON body of your request.")
    return body


def _check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        message = "Invalid type for 'metadata': expected an object with strings."
        raise Problem.invalid(message, "metadata", "invalid_type")
    if len(metadata) > 16:
        message = "Invalid 'metadata': too many properties. Expected at most 16."
        raise Problem.invalid(message, "metadata", "object_above_max_properties")
    for name, value in metadata.items():
        if len(name) > 64 or len(value) > 512:
            message = f"Invalid 'metadata': '{name[:64]}' is too long (64 and 512 characters)."
            raise Problem.invalid(message, "metadata", "string_above_max_length")


def _wrong(batch: Batch, line: bytes, seen: set[str]) -> Iterator[dict[str, Any]]:
    """What is wrong with a line as a part of its batch."""
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError:
        told = None
    if not isinstance(told, dict):
        message = "This line is not parseable as valid JSON."
        yield {"code": "invalid_json_line", "message": message}
        return
    name, body = told.get("custom_id"), told.get("body")
    if not isinstance(name, str) or not name:
        message = "Missing required parameter: 'custom_id'."
        yield _missing("custom_id", message)
    elif name in seen:
        message = f"The custom_id '{name}' for this request is a duplicate of another request."
        yield {"code": "duplicate_custom_id", "message": message, "param": "custom_id"}
    else:
        seen.add(name)
    if told.get("method") != "POST":
        message = "The method provided for this request is invalid. It must be 'POST'."
        yield {"code": "invalid_method", "message": message, "param": "method"}
    if told.get("url") != ENDPOINT:
        message = "The URL provided for this request does not match the batch endpoint."
        yield {"code": "invalid_url", "message": message, "param": "url"}
    if not isinstance(body, dict):
        yield _missing("body", "Missing required parameter: 'body'.")
        return
    model = body.get("model")
    batch.model = batch.model or (model if isinstance(model, str) else "")
    if isinstance(model, str) and model != batch.model:
        message = (
            f"The provided model '{model}' does not match the model '{batch.model}' of the first "
            "request. All requests of a batch must have the same model."
        )
        yield {"code": "mismatched_model", "message": message, "param": "body.model"}


def _missing(param: str, message: str) -> dict[str, Any]:
    return {"code": "missing_required_parameter", "message": message, "param": param}


def _errors(batch: Batch) -> dict[str, Any]:
    empty = {"code": None, "line": None, "message": None, "param": None}
    return {"object": "list", "data": [empty | error for error in batch.errors]}


def _usage(batch: Batch) -> dict[str, Any]:
    used = batch.used
    return {
        "input_tokens": used["prompt"],
        "input_tokens_details": {"cached_tokens": used["cached"]},
        "output_tokens": used["completion"],
        "output_tokens_details": {"reasoning_tokens": used["reasoning"]},
        "total_tokens": used["prompt"] + used["completion"],
    }
