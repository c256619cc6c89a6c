"""Gemini's files: resumable upload, list, look, download, delete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson

from penstock.simulator.api import Api, Problem
from penstock.simulator.batch_api import Errand, Made, query_of
from penstock.simulator.batches import Batches
from penstock.simulator.files import Files, Stored
from penstock.simulator.gemini_problems import Refused
from penstock.simulator.http import Exchange
from penstock.simulator.pouring import Outflow
from penstock.simulator.problems import wrong_method

__all__ = ["KEPT", "GeminiFiles", "missing_file", "paged", "timestamp"]

KEPT = 48 * 3600
LARGEST = 2 * 1024 * 1024 * 1024
_MOST_LISTED = 100
_ID = re.compile(r"files/[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_PATH = re.compile(r"/files(?:/([^/:]+)(:download)?)?$")
_UPLOAD = re.compile(r"/upload/(v\w+)/files$")


@dataclass(slots=True)
class _Upload:
    """A file on its way in."""

    stored: Stored
    size: int
    version: str


class GeminiFiles:
    """The paths under /upload and /files."""

    def __init__(self, api: Api, batches: Batches, files: Files) -> None:
        self._api = api
        self._batches = batches
        self._files = files
        self._uploads: dict[str, _Upload] = {}

    def route(self, exchange: Exchange) -> Errand | None:
        """Who answers a request."""
        head = exchange.head
        if _UPLOAD.search(head.path) and head.method == "POST":
            if "upload_id" in query_of(exchange):  # whoever knows the address needs no key
                return Errand(self._api, self._take, keyed=False)
            return Errand(self._api, self._start)
        found = _PATH.search(head.path)
        if found is None:
            return None
        works: dict[tuple[str, bool, bool], Any] = {
            ("GET", False, False): self._list,
            ("GET", True, False): self._show,
            ("DELETE", True, False): self._delete,
            ("GET", True, True): self._download,
        }
        key = (head.method, found[1] is not None, found[2] is not None)
        return Errand(self._api, works.get(key, _refuse_method))

    def _start(self, exchange: Exchange) -> Made:
        head = exchange.head
        size = head.header(b"x-goog-upload-header-content-length")
        protocol = head.header(b"x-goog-upload-protocol")
        command = head.header(b"x-goog-upload-command")
        if protocol != "resumable" or command != "start" or not size.isdigit():
            raise Problem.invalid("The upload must be resumable and begin with 'start'.")
        if int(size) > LARGEST:
            raise Problem.invalid(f"The file is larger than {LARGEST} bytes.")
        told = _told(exchange.body)
        name = told.get("name") or f"files/{uuid4().hex[:12]}"
        if not _ID.fullmatch(name):
            raise Problem.invalid(f"* CreateFileRequest.file.name: {name} is no name of a file\n")
        if self._files.find("gemini", name) is not None:
            raise Refused(409, f"File {name} already exists.", [])
        now = self._batches.now()
        mime = head.header(b"x-goog-upload-header-content-type") or "application/octet-stream"
        stored = Stored(name, "gemini", told.get("displayName", ""), mime, now, now + KEPT)
        token = uuid4().hex
        path = head.path
        version = path.split("/")[-2]
        self._uploads[token] = _Upload(stored, int(size), version)
        url = f"http://{head.header(b'host')}{path}?upload_id={token}&upload_protocol=resumable"
        headers = f"x-goog-upload-url: {url}\r\nx-goog-upload-status: active\r\n"
        return Made(b"{}", headers.encode())

    def _take(self, exchange: Exchange) -> Made:
        head = exchange.head
        token = query_of(exchange)["upload_id"]
        upload = self._uploads.get(token)
        if upload is None:
            raise Problem(404, "invalid_request_error", "There is no such upload.")
        spool = upload.stored.spool
        commands = {each.strip() for each in head.header(b"x-goog-upload-command").split(",")}
        if "query" in commands:
            status = (
                f"x-goog-upload-status: active\r\nx-goog-upload-size-received: {spool.size}\r\n"
            )
            return Made(b"{}", status.encode())
        if "upload" in commands:
            if head.header(b"x-goog-upload-offset") != str(spool.size):
                raise Problem.invalid(f"The upload is at offset {spool.size}.")
            spool.append(exchange.body)
            exchange.body = b""
        if "finalize" not in commands:
            return Made(b"{}", b"x-goog-upload-status: active\r\n")
        if spool.size != upload.size:
            raise Problem.invalid(f"{upload.size} bytes were announced, {spool.size} have come.")
        del self._uploads[token]
        file = self._files.add(upload.stored)
        body = {"file": _shown(exchange, file, upload.version)}
        return Made(orjson.dumps(body), b"x-goog-upload-status: final\r\n")

    def _list(self, exchange: Exchange) -> Made:
        files = {file.id: file for file in self._files.all("gemini")}
        page, token = paged(query_of(exchange), list(files), _MOST_LISTED)
        version = exchange.head.path.split("/")[-2]
        shown: dict[str, Any] = {"files": [_shown(exchange, files[n], version) for n in page]}
        return Made(orjson.dumps(shown | ({"nextPageToken": token} if token else {})))

    def _show(self, exchange: Exchange) -> Made:
        version = exchange.head.path.split("/")[-3]
        return Made(orjson.dumps(_shown(exchange, self._found(exchange), version)))

    def _delete(self, exchange: Exchange) -> Made:
        self._files.drop(self._found(exchange))
        return Made(b"{}")

    def _download(self, exchange: Exchange) -> Outflow:
        file = self._found(exchange)
        if not file.made:
            raise Problem.invalid(f"File {file.id} was uploaded, and cannot be downloaded.")
        if query_of(exchange).get("alt") != "media":
            raise Problem.invalid("A download wants alt=media.")
        cut = self._batches.cuts(file)
        return Outflow(file.spool.pieces(), file.spool.size, file.kind.encode(), cut)

    def _found(self, exchange: Exchange) -> Stored:
        found = _PATH.search(exchange.head.path)
        name = f"files/{found[1]}" if found else ""
        file = self._files.find("gemini", name)
        if file is None:
            raise missing_file(name)
        return file


def _refuse_method(exchange: Exchange) -> Made:
    raise wrong_method(exchange.head.method, exchange.head.path)


def missing_file(name: str) -> Problem:
    """Of a file that is not there nothing more is told than of one that is another's."""
    said = f"You do not have permission to access the File {name.removeprefix('files/')}"
    return Refused(403, f"{said} or it may not exist.", [])


def timestamp(at: float) -> str:
    """A time as Google writes it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")[:26] + "Z"


def paged(query: dict[str, str], names: list[str], most: int) -> tuple[list[str], str]:
    """The names of a page, and the token of the next one, which is never empty."""
    told, token = query.get("pageSize", ""), query.get("pageToken")
    size = int(told) if told.isdigit() and int(told) else most
    if token is not None:
        if token not in names:
            raise Problem.invalid("The page token is not valid.")
        names = names[names.index(token) :]
    size = min(size, most)
    return names[:size], names[size] if len(names) > size else ""


def _told(raw: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(raw) if raw else {}
    except orjson.JSONDecodeError:
        told = None
    file = told.get("file", {}) if isinstance(told, dict) else None
    if not isinstance(file, dict):
        raise Problem.invalid("Invalid JSON payload received.")
    return {"displayName": file.get("display_name", ""), **file}


def _shown(exchange: Exchange, file: Stored, version: str) -> dict[str, Any]:
    uri = f"http://{exchange.head.header(b'host')}/{version}/{file.id}"
    shown = {
        "name": file.id,
        "mimeType": file.kind,
        "sizeBytes": str(file.spool.size),
        "createTime": timestamp(file.created),
        "updateTime": timestamp(file.created),
        "expirationTime": timestamp(file.expires or 0),
        "uri": uri,
        "state": "ACTIVE",
        "source": "GENERATED" if file.made else "UPLOADED",
    }
    if file.name:
        shown["displayName"] = file.name
    if file.made:
        shown["downloadUri"] = f"{uri}:download?alt=media"
    return shown
