"""OpenAI's batches: a file of questions goes up, a batch is made of it, two files come back.

Azure and Groq serve the same; they differ in what a batch may hold, and Azure in the path that a
question names, in the spelling of a status and in counts that are null at first.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import msgspec
import orjson

from penstock.providers.batch import (
    Batches,
    BatchLimits,
    RemoteBatch,
    RemoteState,
    Result,
    Trouble,
    answered,
    refused,
    undone,
)
from penstock.providers.transport import Reply, Upload
from penstock.request import Request
from penstock.secret import mask

if TYPE_CHECKING:
    from penstock.providers.openai import OpenAI

__all__ = ["AzureBatches", "GroqBatches", "OpenAIBatches"]

_TAG = "penstock"
_WINDOW = "24h"
_PAGE = 100
_MOST_PAGES = 20
_CROWDED = frozenset({"token_limit_exceeded", "batch_limit_exceeded"})


class _Counts(msgspec.Struct):
    total: int | None = None
    completed: int | None = None
    failed: int | None = None


class _Error(msgspec.Struct):
    code: str | int | None = None
    message: str | None = None

    def __str__(self) -> str:
        return f"{self.code or 'no code'}: {self.message or 'no reason'}"


class _Errors(msgspec.Struct):
    data: list[_Error] | None = None


class _Batch(msgspec.Struct):
    id: str
    status: str
    request_counts: _Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Errors | None = None
    metadata: dict[str, Any] | None = None


class _Page(msgspec.Struct):
    data: list[_Batch]
    has_more: bool | None = False


class _File(msgspec.Struct):
    id: str


class _Response(msgspec.Struct):
    status_code: int
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


_batch = msgspec.json.Decoder(_Batch)
_page = msgspec.json.Decoder(_Page)
_file = msgspec.json.Decoder(_File)
_line = msgspec.json.Decoder(_Line)


class OpenAIBatches(Batches):
    """Batches of OpenAI, and of those who speak its protocol."""

    provider: OpenAI
    limits: ClassVar[BatchLimits] = BatchLimits(
        requests=50_000,
        bytes=200_000_000,
        open_batches=None,
        hours=24,
        source="developers.openai.com/api/docs/guides/batch",
    )

    def item(self, id: str, request: Request) -> bytes:  # noqa: A002
        body = self.provider.body(request, stream=False)
        return orjson.dumps({"custom_id": id, "method": "POST", "url": self._path, "body": body})

    @property
    def _path(self) -> str:
        """What a question is asked of."""
        return "/v1/chat/completions"

    @property
    def _endpoint(self) -> str:
        """The same, as the making of a batch spells it."""
        return self._path

    async def submit(self, file: Path, tag: str) -> RemoteBatch | Trouble:
        uploaded = await self._upload(file, tag)
        if isinstance(uploaded, Trouble):
            return msgspec.structs.replace(uploaded, unknown=False)  # a file alone is no batch
        body = {
            "input_file_id": uploaded,
            "endpoint": self._endpoint,
            "completion_window": _WINDOW,
            "metadata": {_TAG: tag},
        }
        return self._batch(await self.call("POST", self.provider.beside("/batches"), body))

    async def _upload(self, file: Path, tag: str) -> str | Trouble:
        boundary = f"penstock-{secrets.token_hex(16)}"
        before = (
            f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; '
            f'filename="{quote(tag, safe="")}.jsonl"\r\n'
            "content-type: application/octet-stream\r\n\r\n"
        )
        reply = await self.call(
            "POST",
            self.provider.beside("/files"),
            headers={"content-type": f"multipart/form-data; boundary={boundary}"},
            upload=Upload(str(file), before.encode(), f"\r\n--{boundary}--\r\n".encode()),
        )
        if isinstance(reply, Trouble):
            return reply
        try:
            return _file.decode(reply.body).id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self.misread("an upload", error)

    async def look(self, id: str) -> RemoteBatch | Trouble:  # noqa: A002
        return self._batch(await self.call("GET", self._at(id)))

    async def find(
        self, tag: str, count: int, known: frozenset[str]
    ) -> RemoteBatch | Trouble | None:
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._listed(after)
            if isinstance(page, Trouble):
                return page
            for batch in page.data:
                if (batch.metadata or {}).get(_TAG) == tag:
                    return _remote(batch)
            if not page.has_more or not page.data:
                return None
            after = page.data[-1].id
        return None

    async def _listed(self, after: str) -> _Page | Trouble:
        url = self.provider.beside("/batches")
        url += f"{'&' if '?' in url else '?'}limit={_PAGE}"
        if after:
            url += f"&after={quote(after, safe='')}"
        reply = await self.call("GET", url)
        if isinstance(reply, Trouble):
            return reply
        try:
            return _page.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self.misread("the list of batches", error)

    async def fetch(self, batch: RemoteBatch, file: Path) -> Trouble | None:
        beside = self.provider.beside
        urls = [beside(f"/files/{quote(each, safe='')}/content") for each in batch.results]
        return await self.download(urls, file)

    def read(self, line: bytes) -> Result | None:
        try:
            found = _line.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        response, error = found.response, found.error
        if response is not None and response.status_code == 200:
            return Result(found.custom_id, answered(type(self.provider), bytes(response.body)))
        if response is not None:
            body = bytes(response.body)
            refusal = self.provider.refusal(Reply(response.status_code, {}, body))
            return Result(found.custom_id, refused(refusal, response.status_code, body))
        if error is None or error.code in _UNDONE:
            return Result(found.custom_id, undone(str(error or "no answer, no reason"), line))
        told = orjson.dumps({"error": {"code": error.code, "message": str(error)}})
        refusal = self.provider.refusal(Reply(400, {}, told))
        return Result(found.custom_id, refused(refusal, None, line))

    async def cancel(self, id: str) -> Trouble | None:  # noqa: A002
        reply = await self.call("POST", self._at(id, "/cancel"))
        return reply if isinstance(reply, Trouble) else None

    def _at(self, id: str, more: str = "") -> str:  # noqa: A002
        return self.provider.beside(f"/batches/{quote(id, safe='')}{more}")

    def _batch(self, reply: Reply | Trouble) -> RemoteBatch | Trouble:
        if isinstance(reply, Trouble):
            return reply
        try:
            return _remote(_batch.decode(reply.body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self.misread("a batch", error)


class AzureBatches(OpenAIBatches):
    """Batches of Azure: of one deployment, which must be made for them."""

    limits: ClassVar[BatchLimits] = BatchLimits(
        requests=100_000,
        bytes=200_000_000,
        open_batches=None,
        hours=30 * 24,  # none expires; an output is kept so long
        source="learn.microsoft.com/azure/ai-foundry/openai/how-to/batch",
    )

    @property
    def _path(self) -> str:
        base, _, _ = self.provider.beside("").partition("?")
        return "/v1/chat/completions" if base.endswith("/v1") else self._endpoint

    @property
    def _endpoint(self) -> str:
        return "/chat/completions"


class GroqBatches(OpenAIBatches):
    """Batches of Groq."""

    limits: ClassVar[BatchLimits] = OpenAIBatches.limits._replace(
        bytes=100_000_000, source="console.groq.com/docs/batch"
    )


# Not done, and not paid for: it can be asked again.
_UNDONE = frozenset(
    {
        "batch_expired",
        "batch_cancelled",
        "request_timeout",
        "server_error",
        "rate_limit_exceeded",
    }
)
_ENDED = frozenset({"completed", "expired", "cancelled", "canceled"})


def _remote(batch: _Batch) -> RemoteBatch:
    counts = batch.request_counts or _Counts()
    problems = (batch.errors and batch.errors.data) or []
    status = batch.status.lower()
    state = RemoteState.RUNNING
    if status == "failed":
        state = RemoteState.FAILED
    elif status in _ENDED:
        state = RemoteState.ENDED
    why = mask("; ".join(str(each) for each in problems[:3]))[:1000]
    if state is RemoteState.FAILED or (state is RemoteState.ENDED and status != "completed"):
        why = why or status
    return RemoteBatch(
        batch.id,
        state,
        counts.total or 0,
        counts.completed or 0,
        counts.failed or 0,
        why,
        tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        crowded=any(each.code in _CROWDED for each in problems),
    )
