"""Gemini's batches: a file of questions goes up, a batch is made of it, a file comes back.

Questions always go up as a file, never inside of the call that makes the batch: a file may be a
hundred times as large, and its answers lie in a file too, not in the reply to every look. Answers
that come inside of a reply all the same are read. The file goes up in two steps: the first asks
where to, with the key; the second carries the bytes, without it, and to no other host.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, urlsplit

import msgspec
import orjson

from penstock.outcome import FailureKind
from penstock.providers.batch import (
    Batches,
    BatchLimits,
    RemoteBatch,
    RemoteState,
    Result,
    Trouble,
    answered,
    refused,
)
from penstock.providers.transport import Call, Reply, Upload
from penstock.request import Request
from penstock.secret import mask

if TYPE_CHECKING:
    from penstock.providers.gemini import Gemini

__all__ = ["GeminiBatches"]

_KIND = "application/jsonl"
_PAGE = 100
_MOST_PAGES = 40
_BATCH = "batches/"
_FILE = "files/"
_NONSENSE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# The errors of a line and of a batch are numbered as gRPC does.
_GRPC = (200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401)
_EXHAUSTED = (8, 429)


_NOTHING = msgspec.Raw(b"null")


class _Error(msgspec.Struct):
    code: int | None = None
    message: str | None = None


class _Stats(msgspec.Struct, rename="camel"):
    request_count: int | str | None = None
    successful_request_count: int | str | None = None
    failed_request_count: int | str | None = None


class _Inlined(msgspec.Struct):
    response: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    metadata: dict[str, Any] | None = None


class _InlinedList(msgspec.Struct, rename="camel"):
    inlined_responses: list[_Inlined] | None = None


class _Output(msgspec.Struct, rename="camel"):
    responses_file: str | None = None
    inlined_responses: _InlinedList | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    state: str | None = None
    display_name: str | None = None
    batch_stats: _Stats | None = None
    output: _Output | None = None


class _Batch(msgspec.Struct):
    name: str
    metadata: _Metadata | None = None
    response: _Output | None = None
    error: _Error | None = None


class _Page(msgspec.Struct, rename="camel"):
    operations: list[_Batch] | None = None
    next_page_token: str | None = None


class _File(msgspec.Struct):
    name: str


class _Uploaded(msgspec.Struct):
    file: _File


class _Line(msgspec.Struct):
    key: str
    response: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    status: msgspec.Raw = _NOTHING


_batch = msgspec.json.Decoder(_Batch)
_page = msgspec.json.Decoder(_Page)
_uploaded = msgspec.json.Decoder(_Uploaded)
_line = msgspec.json.Decoder(_Line)
_error = msgspec.json.Decoder(_Error)


class GeminiBatches(Batches):
    """Batches of generateContent."""

    provider: Gemini
    limits: ClassVar[BatchLimits] = BatchLimits(
        requests=100_000,  # nobody says; a file of this many is within its limit
        bytes=2_000_000_000,
        open_batches=100,
        hours=48,
        source="ai.google.dev/gemini-api/docs/batch-api",
    )

    def item(self, id: str, request: Request) -> bytes:  # noqa: A002
        body = self.provider.body(request, stream=False)
        return orjson.dumps({"key": id, "request": body})

    async def submit(self, file: Path, tag: str) -> RemoteBatch | Trouble:
        uploaded = await self._upload(file, tag)
        if isinstance(uploaded, Trouble):
            return msgspec.structs.replace(uploaded, unknown=False)  # a file alone is no batch
        body = {"batch": {"inputConfig": {"fileName": uploaded}, "displayName": tag}}
        url = self.provider.model_address("batchGenerateContent")
        return self._batch(await self.call("POST", url, body))

    # The file ---------------------------------------------------------------------------------

    async def _upload(self, file: Path, tag: str) -> str | Trouble:
        started = await self._start(file, tag)
        if isinstance(started, Trouble):
            return started
        headers = {
            "content-type": _KIND,
            "user-agent": "penstock",
            "x-goog-upload-command": "upload, finalize",
            "x-goog-upload-offset": "0",
        }
        reply = await self.send(Call("POST", started, headers, upload=Upload(str(file))))
        if isinstance(reply, Trouble):
            return reply
        status = reply.headers.get("x-goog-upload-status", "")
        if status != "final":
            return self.misread("an upload", f"its status is {status[:50]!r}")
        try:
            return _uploaded.decode(reply.body).file.name
        except _NONSENSE as error:
            return self.misread("an upload", error)

    async def _start(self, file: Path, tag: str) -> str | Trouble:
        """Where the file may go: always to the host of the endpoint, as the official SDK does."""
        try:
            size = Upload(str(file)).size
        except OSError as error:
            return Trouble(FailureKind.STORAGE, f"the file of a batch cannot be read: {error}")
        url = self.provider.upload_address()
        reply = await self.call(
            "POST",
            url,
            {"file": {"displayName": tag, "mimeType": _KIND, "sizeBytes": size}},
            headers={
                "x-goog-upload-protocol": "resumable",
                "x-goog-upload-command": "start",
                "x-goog-upload-header-content-length": str(size),
                "x-goog-upload-header-content-type": _KIND,
            },
        )
        if isinstance(reply, Trouble):
            return reply
        home = urlsplit(url)
        try:
            told = urlsplit(reply.headers.get("x-goog-upload-url", ""))
        except ValueError as error:
            return self.misread("an upload", error)
        if not told.path.startswith("/"):
            return self.misread("an upload", "it does not say where to")
        query = f"?{told.query}" if told.query else ""
        return f"{home.scheme}://{home.netloc}{told.path}{query}"

    # The batch --------------------------------------------------------------------------------

    async def look(self, id: str) -> RemoteBatch | Trouble:  # noqa: A002
        return self._batch(await self.call("GET", self._at(id)))

    async def find(
        self, tag: str, count: int, known: frozenset[str]
    ) -> RemoteBatch | Trouble | None:
        token, size = "", _PAGE
        for _ in range(_MOST_PAGES):
            page = await self._listed(token, size)
            if isinstance(page, Trouble):
                if page.kind is not FailureKind.TOO_LARGE or size == 1:
                    return page
                size = max(1, size // 10)  # others' answers may lie inside of the list
                continue
            for batch in page.operations or ():
                if batch.metadata is not None and batch.metadata.display_name == tag:
                    return _remote(batch)
            if not page.next_page_token:
                return None
            token = page.next_page_token
        return None

    async def _listed(self, token: str, size: int) -> _Page | Trouble:
        url = self.provider.beside("/batches")
        url += f"{'&' if '?' in url else '?'}pageSize={size}"
        if token:
            url += f"&pageToken={quote(token, safe='')}"
        reply = await self.call("GET", url)
        if isinstance(reply, Trouble):
            return reply
        try:
            return _page.decode(reply.body)
        except _NONSENSE as error:
            return self.misread("the list of batches", error)

    async def cancel(self, id: str) -> Trouble | None:  # noqa: A002
        reply = await self.call("POST", self._at(id, ":cancel"))
        return reply if isinstance(reply, Trouble) else None

    def _at(self, id: str, more: str = "") -> str:  # noqa: A002
        name = quote(id.removeprefix(_BATCH), safe="")
        return self.provider.beside(f"/{_BATCH}{name}{more}")

    def _batch(self, reply: Reply | Trouble) -> RemoteBatch | Trouble:
        if isinstance(reply, Trouble):
            return reply
        try:
            return _remote(_batch.decode(reply.body))
        except _NONSENSE as error:
            return self.misread("a batch", error)

    # The results ------------------------------------------------------------------------------

    async def fetch(self, batch: RemoteBatch, file: Path) -> Trouble | None:
        if any(not result.startswith(_FILE) for result in batch.results):
            return await self._inlined(batch.id, file)
        names = [quote(result.removeprefix(_FILE), safe="") for result in batch.results]
        addresses = [self.provider.beside(f"/{_FILE}{name}:download") for name in names]
        urls = [f"{url}{'&' if '?' in url else '?'}alt=media" for url in addresses]
        return await self.download(urls, file)

    async def _inlined(self, id: str, file: Path) -> Trouble | None:  # noqa: A002
        """The answers that lie inside of the batch itself, as lines."""
        reply = await self.call("GET", self._at(id))
        if isinstance(reply, Trouble):
            return reply
        try:
            found = _output(_batch.decode(reply.body)).inlined_responses
            lines = [_as_line(each) for each in (found and found.inlined_responses) or ()]
        except _NONSENSE as error:
            return self.misread("a batch", error)
        return _written(lines, file)

    def read(self, line: bytes) -> Result | None:
        try:
            found = _line.decode(line)
        except _NONSENSE:
            return None
        if found.response != _NOTHING:
            return Result(found.key, answered(type(self.provider), bytes(found.response)))
        body = bytes(found.status if found.error == _NOTHING else found.error)
        if body == bytes(_NOTHING):
            return None
        status = _status(body)
        refusal = self.provider.refusal(Reply(status, {}, b'{"error":' + body + b"}"))
        return Result(found.key, refused(refusal, status, body))


def _written(lines: list[bytes], file: Path) -> Trouble | None:
    try:
        file.write_bytes(b"".join(lines))
    except OSError as error:
        return Trouble(FailureKind.STORAGE, f"the results cannot be written: {error}")
    return None


def _status(body: bytes) -> int:
    """The HTTP status of an error, which may be numbered as gRPC does."""
    try:
        code = _error.decode(body).code or 0
    except _NONSENSE:
        return 500
    if 0 < code < len(_GRPC):
        return _GRPC[code]
    return code if 400 <= code < 600 else 500


def _as_line(one: _Inlined) -> bytes:
    key = (one.metadata or {}).get("key")
    told = {"response": one.response, "error": one.error}
    line = {"key": key, **{name: each for name, each in told.items() if each != _NOTHING}}
    return msgspec.json.encode(line) + b"\n"


def _output(batch: _Batch) -> _Output:
    inside = batch.metadata.output if batch.metadata is not None else None
    return inside or batch.response or _Output()


_ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED"})


def _remote(batch: _Batch) -> RemoteBatch:
    metadata = batch.metadata or _Metadata()
    stats = metadata.batch_stats or _Stats()
    state = (metadata.state or "").rpartition("STATE_")[2]
    error, results = batch.error, _results(batch)
    found = RemoteState.RUNNING
    if state in _ENDED or (state == "FAILED" and results):
        found = RemoteState.ENDED
    elif state == "FAILED" or (error is not None and not state):
        found = RemoteState.FAILED
    why = "" if state in ("SUCCEEDED", "") or found is RemoteState.RUNNING else state.lower()
    if error is not None and found is not RemoteState.RUNNING:
        why = mask(error.message or f"code {error.code}")[:1000]
    return RemoteBatch(
        batch.name,
        found,
        _number(stats.request_count),
        _number(stats.successful_request_count),
        _number(stats.failed_request_count),
        why,
        results if found is RemoteState.ENDED else (),
        crowded=found is RemoteState.FAILED and error is not None and error.code in _EXHAUSTED,
    )


def _results(batch: _Batch) -> tuple[str, ...]:
    output = _output(batch)
    if output.responses_file:
        return (output.responses_file,)
    return (batch.name,) if output.inlined_responses is not None else ()


def _number(told: int | str | None) -> int:
    """Gemini writes whole numbers as text."""
    if isinstance(told, str):
        return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else 0
    return told or 0
