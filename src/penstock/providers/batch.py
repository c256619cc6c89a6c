"""The batch lane of a provider: many questions handed over at once, answered within a day, at about
half the price.

A provider says how a question stands in a batch (`item`) and gives five calls: submit, look, find,
fetch, cancel. Each of them ends in a value; none raises for what a network or a server did. Files
are read and written in pieces: a batch of any size takes no memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

import msgspec
import orjson

from penstock.outcome import Failure, FailureKind
from penstock.providers.provider import HttpProvider, MalformedReplyError, Refusal, Sent
from penstock.providers.transport import (
    LARGEST_BODY,
    Broken,
    Call,
    Reply,
    Transport,
    Upload,
)
from penstock.request import Request
from penstock.secret import mask, mask_bytes

__all__ = [
    "BatchLimits",
    "Batches",
    "RemoteBatch",
    "RemoteState",
    "Result",
    "Trouble",
    "answered",
    "at_host_of",
    "refused",
    "undone",
]

_LONGEST = 64 * 1024
_KEPT = 4096
# A file may take its time: ten minutes, and a second for so many bytes.
_PATIENCE = 600.0
_SLOWEST = 200_000
_LONGEST_DOWNLOAD = 3600.0
_DONE = (200, 201, 202)


class BatchLimits(NamedTuple):
    """What one batch may hold, as the provider says."""

    requests: int
    bytes: int
    """Of the file, or of the whole call where there is none."""
    open_batches: int | None
    """Batches that may be under way at once; None where nobody says."""
    hours: int
    """After which it is given up."""
    source: str


class RemoteState(StrEnum):
    """How a batch stands at the provider."""

    RUNNING = "running"
    ENDED = "ended"
    """Whatever is done can be fetched: all of it, or what an expiry or a cancelling left."""
    FAILED = "failed"
    """Refused as a whole: nothing was done, nothing is paid for."""


class RemoteBatch(msgspec.Struct, frozen=True):
    """A batch as the provider sees it."""

    id: str
    state: RemoteState
    total: int = 0
    done: int = 0
    failed: int = 0
    why: str = ""
    """Where it failed, expired or was cancelled."""
    results: tuple[str, ...] = ()
    """Where the results lie."""
    crowded: bool = False
    """Failed because too much is under way already: submit it again later."""
    certain: bool = True
    """False: it may be ours, and only its results can tell."""


class Trouble(msgspec.Struct, frozen=True):
    """A call that brought nothing."""

    kind: FailureKind
    message: str
    retry_after: float | None = None
    unknown: bool = False
    """It may have been carried out all the same."""

    @property
    def heals(self) -> bool:
        return self.kind.heals


class Result(NamedTuple):
    """What became of one question of a batch."""

    id: str
    sent: Sent


class Batches(ABC):
    """The batch lane to one endpoint."""

    limits: ClassVar[BatchLimits]
    separator: ClassVar[bytes] = b"\n"
    """Between the items of a file."""

    def __init__(self, provider: HttpProvider) -> None:
        self.provider = provider

    @abstractmethod
    def item(self, id: str, request: Request) -> bytes:  # noqa: A002
        """A question as it stands in a batch; RequestError where it cannot stand in one."""

    @abstractmethod
    async def submit(self, file: Path, tag: str) -> RemoteBatch | Trouble:
        """Hand over the items of a file; by `tag` the batch is found again."""

    @abstractmethod
    async def look(self, id: str) -> RemoteBatch | Trouble:  # noqa: A002
        """How a batch stands."""

    @abstractmethod
    async def find(
        self, tag: str, count: int, known: frozenset[str]
    ) -> RemoteBatch | Trouble | None:
        """A batch that was perhaps handed over: by its tag, or, where there is none, one of so many
        questions that nobody else here knows."""

    @abstractmethod
    async def fetch(self, batch: RemoteBatch, file: Path) -> Trouble | None:
        """Write the results of a batch to a file, one on a line."""

    @abstractmethod
    def read(self, line: bytes) -> Result | None:
        """What a line of the results says; None where it makes no sense."""

    @abstractmethod
    async def cancel(self, id: str) -> Trouble | None:  # noqa: A002
        """End a batch early; what is done can be fetched."""

    # How calls are made -----------------------------------------------------------------------

    async def call(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        upload: Upload | None = None,
    ) -> Reply | Trouble:
        """One call to the provider's API."""
        raw = b"" if body is None else orjson.dumps(body)
        made = {**self.provider.opened_headers, **(headers or {})}
        if method == "GET":
            made.pop("content-type", None)
        elif body is None and upload is None:
            made["content-length"] = "0"  # not every client says so, and some servers insist
        return await self.send(Call(method, url, made, raw, upload=upload))

    async def send(self, call: Call) -> Reply | Trouble:
        """A call with no other headers than its own; a file has the time it needs."""
        try:
            if call.upload is not None:
                patience = _PATIENCE + call.upload.size / _SLOWEST
                call = msgspec.structs.replace(call, timeout=patience)
            return self._judged(await self._transport.send(call))
        except OSError as error:
            return Trouble(FailureKind.STORAGE, f"the file of a batch cannot be read: {error}")

    async def download(self, urls: Sequence[str], file: Path) -> Trouble | None:
        """Write what lies there to a file, of any size, and end its last lines."""
        try:
            with file.open("wb") as out:
                for url in urls:
                    trouble = await self._poured(url, _Sink(out))
                    if trouble is not None:
                        return trouble
        except OSError as error:
            return Trouble(FailureKind.STORAGE, f"the results cannot be written: {error}")
        return None

    async def _poured(self, url: str, sink: _Sink) -> Trouble | None:
        headers = {**self.provider.opened_headers, "accept": "application/binary"}
        headers.pop("content-type", None)
        call = Call("GET", url, headers, timeout=_LONGEST_DOWNLOAD, keeps=False)
        reply = self._judged(await self._transport.send(call, sink.write))
        if sink.error is not None:
            raise sink.error
        if isinstance(reply, Trouble):
            return reply
        if reply.status != 200:
            message = f"HTTP {reply.status} in the place of results"
            return Trouble(FailureKind.MALFORMED, message)
        sink.end()
        return None

    @property
    def _transport(self) -> Transport:
        assert self.provider.transport is not None
        return self.provider.transport

    def _judged(self, reply: Reply | Broken) -> Reply | Trouble:
        if isinstance(reply, Broken):
            return Trouble(_BROKEN[reply.reason], mask(reply.message), unknown=reply.sent)
        if reply.status in _DONE:
            return reply
        found = self.provider.refusal(reply)
        # One that is overloaded says so before it does anything; any other fault may come after.
        lost = reply.status >= 500 and found.kind is not FailureKind.OVERLOADED
        return Trouble(found.kind, _said(found.message), found.retry_after, unknown=lost)

    def misread(self, what: str, error: object) -> Trouble:
        """A reply that makes no sense; what was asked for may have been done."""
        message = f"the reply about {what} cannot be read: {mask(str(error))[:300]}"
        return Trouble(FailureKind.MALFORMED, message, unknown=True)


_BROKEN = {
    "timeout": FailureKind.TIMEOUT,
    "connection": FailureKind.CONNECTION,
    "too_large": FailureKind.TOO_LARGE,
}


class _Sink:
    """Writes lines as they come, without secrets that a server says back; a disk that fails is no
    network that does."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._held = bytearray()
        self.error: OSError | None = None

    def write(self, piece: bytes) -> None:
        lines, newline, rest = piece.rpartition(b"\n")
        if newline or len(self._held) > LARGEST_BODY:
            self._put(bytes(self._held) + lines + newline)
            self._held.clear()
        self._held += rest

    def end(self) -> None:
        if self._held:
            self._put(bytes(self._held) + b"\n")
            self._held.clear()

    def _put(self, lines: bytes) -> None:
        try:
            self._out.write(mask_bytes(lines))
        except OSError as error:
            self.error = error
            raise


def answered(provider: type[HttpProvider], body: bytes) -> Sent:
    """What a body that came with a result says, read as one that came alone."""
    body = mask_bytes(body)
    try:
        return Sent(provider.read(body), body)
    except MalformedReplyError as error:
        failure = Failure(
            FailureKind.MALFORMED,
            f"the reply cannot be read: {mask(str(error))[:300]}",
            may_be_paid=True,
            status=200,
        )
        return Sent(failure, body[:_KEPT])


def refused(found: Refusal, status: int | None, body: bytes) -> Sent:
    """An error that came with a result; nothing is paid for it."""
    failure = Failure(found.kind, _said(found.message), status=status)
    return Sent(failure, _kept(body), retry_after=found.retry_after)


def undone(why: str, line: bytes) -> Sent:
    """A question that was not asked, and is not paid for: it can be asked again."""
    return Sent(Failure(FailureKind.OVERLOADED, _said(why)), _kept(line))


def at_host_of(base: str, url: str) -> str | None:
    """An address as it stands on the host of `base`; None where it is on another one.

    It is put together anew: what one reader of addresses takes for a host is a path to another.
    """
    home = urlsplit(base)
    try:
        found = urlsplit(urljoin(base, url))
        if "@" in found.netloc or _origin(found) != _origin(home):
            return None
    except ValueError:
        return None
    query = f"?{found.query}" if found.query else ""
    return f"{home.scheme}://{home.netloc}{found.path}{query}"


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _said(message: str) -> str:
    """Masked before it is cut: no half of a secret remains."""
    return mask(message[:_LONGEST])[:1000]


def _kept(body: bytes) -> bytes:
    return mask(body[:_LONGEST].decode("utf-8", "replace")).encode()[:_KEPT]
