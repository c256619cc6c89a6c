"""OpenAI's files: upload as a form, list, look, download, delete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import orjson

from penstock.simulator.api import Api, Problem
from penstock.simulator.batch_api import Errand, Made, query_of, whole_number
from penstock.simulator.batches import Batches
from penstock.simulator.files import Files, Stored
from penstock.simulator.http import Exchange
from penstock.simulator.multipart import Part, form
from penstock.simulator.pouring import Outflow
from penstock.simulator.problems import wrong_method

__all__ = ["DAYS_KEPT", "OpenAIFiles", "checked_expiry"]

DAYS_KEPT = 30
LARGEST = 512 * 1024 * 1024
LARGEST_BATCH = 200 * 1024 * 1024
_DAY = 86_400
_LEAST_KEPT = 3600
_MOST_LISTED = 10_000
_PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
_PATH = re.compile(r"/files(?:/([^/]+)(/content)?)?$")


class OpenAIFiles:
    """The paths that end in /files."""

    def __init__(self, api: Api, batches: Batches, files: Files) -> None:
        self._api = api
        self._batches = batches
        self._files = files

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request."""
        head = exchange.head
        found = _PATH.search(head.path)
        if found is None:
            return None
        name, content = found[1], found[2]
        works: dict[tuple[str, bool, str | None], Callable[[Exchange], Made | Outflow]] = {
            ("POST", False, None): self._upload,
            ("GET", False, None): self._list,
            ("GET", True, None): self._show,
            ("DELETE", True, None): self._delete,
            ("GET", True, "/content"): self._content,
        }
        work = works.get((head.method, name is not None, content))
        return Errand(self._api, work or _refuse_method)

    def _upload(self, exchange: Exchange) -> Made:
        fields = form(exchange.head.header(b"content-type"), exchange.body)
        if fields is None:
            message = "Could not parse multipart form."
            raise Problem.invalid(message)
        purpose, file = checked_upload(fields)
        now = self._batches.now()
        expires = _expiry(fields)
        if expires is None and purpose == "batch":
            expires = DAYS_KEPT * _DAY
        name = file.filename or "upload"
        until = None if expires is None else now + expires
        stored = Stored(f"file-{uuid4().hex[:24]}", "openai", name, purpose, now, until)
        stored.spool.append(file.data)
        exchange.body = b""
        return _json(shown(self._files.add(stored)))

    def _list(self, exchange: Exchange) -> Made:
        query = query_of(exchange)
        limit = whole_number(query.get("limit"), _MOST_LISTED, _MOST_LISTED)
        order = query.get("order", "desc")
        if limit is None or order not in ("asc", "desc"):
            raise Problem.invalid("Invalid 'limit' or 'order'.", "limit", "invalid_value")
        wanted = query.get("purpose")
        found = [f for f in self._files.all("openai") if wanted is None or f.kind == wanted]
        if order == "asc":
            found.reverse()
        after = query.get("after")
        if after is not None:
            names = [file.id for file in found]
            if after not in names:
                raise _no_file(after)
            found = found[names.index(after) + 1 :]
        page = [shown(file) for file in found[:limit]]
        return _json({"object": "list", "data": page, "has_more": len(found) > limit})

    def _show(self, exchange: Exchange) -> Made:
        return _json(shown(self._found(exchange)))

    def _delete(self, exchange: Exchange) -> Made:
        file = self._found(exchange)
        self._files.drop(file)
        return _json({"id": file.id, "object": "file", "deleted": True})

    def _content(self, exchange: Exchange) -> Outflow:
        file = self._found(exchange)
        cut = file.made and self._batches.cuts(file)
        return Outflow(file.spool.pieces(), file.spool.size, cut=cut)

    def _found(self, exchange: Exchange) -> Stored:
        found = _PATH.search(exchange.head.path)
        name = found[1] if found else ""
        file = self._files.find("openai", name)
        if file is None:
            raise _no_file(name)
        return file


def _json(value: dict[str, Any]) -> Made:
    return Made(orjson.dumps(value))


def _refuse_method(exchange: Exchange) -> Made:
    raise wrong_method(exchange.head.method, exchange.head.path)


def _no_file(name: str) -> Problem:
    message = f"No such File object: {name}"
    return Problem(404, "invalid_request_error", message, "id")


def shown(file: Stored) -> dict[str, Any]:
    """A file as the API tells of it."""
    return {
        "object": "file",
        "id": file.id,
        "purpose": file.kind,
        "filename": file.name,
        "bytes": file.spool.size,
        "created_at": int(file.created),
        "expires_at": None if file.expires is None else int(file.expires),
        "status": "processed",
        "status_details": None,
    }


def checked_upload(fields: dict[str, Part]) -> tuple[str, Part]:
    """The purpose and the file of a form, or a Problem that says what is wrong."""
    purpose = fields["purpose"].text if "purpose" in fields else ""
    if not purpose:
        message = "Missing required parameter: 'purpose'."
        raise Problem.invalid(message, "purpose", "missing_required_parameter")
    if purpose not in _PURPOSES:
        message = f"'{purpose}' is not one of {list(_PURPOSES)} - 'purpose'"
        raise Problem.invalid(message, "purpose", "invalid_value")
    file = fields.get("file")
    if file is None or file.filename is None:
        message = "Missing required parameter: 'file'."
        raise Problem.invalid(message, "file", "missing_required_parameter")
    if purpose == "batch" and not file.filename.endswith(".jsonl"):
        raise Problem.invalid("Invalid file format for Batch API. Must be .jsonl")
    most = LARGEST_BATCH if purpose == "batch" else LARGEST
    if len(file.data) > most:
        message = f"The file is larger than the {most // 1024 // 1024} MB that are allowed."
        raise Problem(413, "invalid_request_error", message, "file")
    return purpose, file


def checked_expiry(told: Any) -> int:
    """The seconds for which a file is to be kept."""
    anchor = told.get("anchor") if isinstance(told, dict) else None
    seconds = told.get("seconds") if isinstance(told, dict) else None
    if anchor != "created_at":
        message = "Invalid value for 'anchor'. Supported value: 'created_at'."
        raise Problem.invalid(message, "expires_after.anchor", "invalid_value")
    if not isinstance(seconds, int) or not _LEAST_KEPT <= seconds <= DAYS_KEPT * _DAY:
        message = "Invalid 'seconds': expected a number between 3600 and 2592000."
        raise Problem.invalid(message, "expires_after.seconds", "invalid_value")
    return seconds


def _expiry(fields: dict[str, Part]) -> int | None:
    names = ("anchor", "seconds")
    told: dict[str, Any] = {
        name: fields[f"expires_after[{name}]"].text
        for name in names
        if f"expires_after[{name}]" in fields
    }
    if not told:
        return None
    if told.get("seconds", "").isdigit():
        told["seconds"] = int(told["seconds"])
    return checked_expiry(told)
