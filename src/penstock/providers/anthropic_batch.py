"""Anthropic's batches: one call hands over all questions, one address gives back all answers.

A batch has one version of the API for all of its questions. It is made under 2023-06-01, which
takes whatever is sent here; the newest refuses a question that carries a temperature. Everything
else is asked under the newest, and a version among the endpoint's own headers goes before both.

There is nothing to know a batch by: it has no name and no metadata. One that was perhaps made is
looked for among those of as many questions that nobody here knows, and only its results tell.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

import msgspec
import orjson

from penstock.errors import RequestError
from penstock.outcome import FailureKind
from penstock.providers.batch import (
    Batches,
    BatchLimits,
    RemoteBatch,
    RemoteState,
    Result,
    Trouble,
    answered,
    at_host_of,
    refused,
    undone,
)
from penstock.providers.transport import Reply, Upload
from penstock.request import Request

if TYPE_CHECKING:
    from penstock.providers.anthropic import Anthropic

__all__ = ["AnthropicBatches"]

_BEFORE = b'{"requests":['
_AFTER = b"]}"
_PAGE = 100
_MOST_PAGES = 20
_NONSENSE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Counts(msgspec.Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def total(self) -> int:
        return self.processing + self.succeeded + self.failed

    @property
    def failed(self) -> int:
        return self.errored + self.canceled + self.expired


class _Batch(msgspec.Struct):
    id: str
    processing_status: str
    request_counts: _Counts
    results_url: str | None = None
    cancel_initiated_at: str | None = None
    archived_at: str | None = None


class _Page(msgspec.Struct):
    data: list[_Batch]
    has_more: bool = False
    last_id: str | None = None


class _Outcome(msgspec.Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    result: _Outcome


_batch = msgspec.json.Decoder(_Batch)
_page = msgspec.json.Decoder(_Page)
_line = msgspec.json.Decoder(_Line)


class AnthropicBatches(Batches):
    """Message batches."""

    provider: Anthropic
    separator: ClassVar[bytes] = b",\n"
    limits: ClassVar[BatchLimits] = BatchLimits(
        requests=100_000,
        bytes=256_000_000 - len(_BEFORE + _AFTER),
        open_batches=None,
        hours=24,
        source="platform.claude.com/docs/en/build-with-claude/batch-processing",
    )

    def item(self, id: str, request: Request) -> bytes:  # noqa: A002
        body = self.provider.body(request, stream=False)
        if body.get("speed"):
            raise RequestError(
                "a batch of Anthropic takes no speed", remedy="take it back with speed=None"
            )
        if body["max_tokens"] == 0:
            raise RequestError("a batch of Anthropic takes no max_tokens of 0")
        return orjson.dumps({"custom_id": id, "params": body})

    async def submit(self, file: Path, tag: str) -> RemoteBatch | Trouble:
        reply = await self.call(
            "POST",
            self.provider.beside("/batches"),
            headers=self.provider.version_for_all(),
            upload=Upload(str(file), _BEFORE, _AFTER),
        )
        return self._batch(reply)

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
            for batch in page.data:  # the newest first
                if _may_be(batch, count) and batch.id not in known:
                    return msgspec.structs.replace(_remote(batch), certain=False)
            if not page.has_more or not page.data:
                return None
            after = page.last_id or page.data[-1].id
        return None

    async def _listed(self, after: str) -> _Page | Trouble:
        url = self.provider.beside("/batches")
        url += f"{'&' if '?' in url else '?'}limit={_PAGE}"
        if after:
            url += f"&after_id={quote(after, safe='')}"
        reply = await self.call("GET", url)
        if isinstance(reply, Trouble):
            return reply
        try:
            return _page.decode(reply.body)
        except _NONSENSE as error:
            return self.misread("the list of batches", error)

    async def fetch(self, batch: RemoteBatch, file: Path) -> Trouble | None:
        home = self.provider.beside("")
        urls = [at_host_of(home, result) for result in batch.results]
        if None in urls:
            where = (
                f"the results of a batch lie on another host than {self.provider.endpoint.label}"
            )
            return Trouble(FailureKind.PERMISSION, f"{where}; the key is not sent there")
        return await self.download([url for url in urls if url is not None], file)

    def read(self, line: bytes) -> Result | None:
        try:
            found = _line.decode(line)
        except _NONSENSE:
            return None
        outcome = found.result
        if outcome.type == "succeeded":
            return Result(found.custom_id, answered(type(self.provider), bytes(outcome.message)))
        if outcome.type == "errored":
            body = bytes(outcome.error)
            # Its type tells what it is; one that is not known is the server's own.
            refusal = self.provider.refusal(Reply(500, {}, body))
            return Result(found.custom_id, refused(refusal, None, body))
        if outcome.type in ("canceled", "expired"):
            why = f"the batch was {outcome.type} before this was asked"
            return Result(found.custom_id, undone(why, line))
        return None

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
        except _NONSENSE as error:
            return self.misread("a batch", error)


def _may_be(batch: _Batch, count: int) -> bool:
    return batch.request_counts.total == count and batch.archived_at is None


def _remote(batch: _Batch) -> RemoteBatch:
    counts = batch.request_counts
    ended = batch.processing_status == "ended"
    return RemoteBatch(
        batch.id,
        RemoteState.ENDED if ended else RemoteState.RUNNING,
        counts.total,
        counts.succeeded,
        counts.failed,
        _why(batch) if ended else "",
        (batch.results_url,) if ended and batch.results_url else (),
    )


def _why(batch: _Batch) -> str:
    if batch.archived_at is not None and not batch.results_url:
        return "archived: its results are no longer kept"
    if batch.cancel_initiated_at is not None:
        return "canceled"
    return "expired" if batch.request_counts.expired else ""
