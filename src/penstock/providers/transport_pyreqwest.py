"""The transport over pyreqwest, with the guards that its behaviour asks for.

* `pyreqwest.exceptions` is imported here: without it the process aborts when descriptors run out.
* Its error classes mislead: only a cause `client error (Connect)` means that nothing was sent.
* A body without a length (chunked, compressed) is read in pieces and counted; one with a length is
  judged by it and read at once, which is a third cheaper.
* Idle connections are dropped before servers usually do it, so that a reused one is rarely dead.
"""

from __future__ import annotations

from datetime import timedelta

import pyreqwest.exceptions as errors
from pyreqwest.client import Client, ClientBuilder
from pyreqwest.proxy import ProxyBuilder
from pyreqwest.request import StreamRequest
from pyreqwest.response import Response

from penstock.providers.transport import (
    Broken,
    Call,
    OnBytes,
    Reply,
    TransportSettings,
    certificates,
    checked_proxy,
    too_large,
)
from penstock.secret import mask

__all__ = ["PyreqwestTransport"]

_IDLE = timedelta(seconds=4)


class PyreqwestTransport:
    """One client for all endpoints of an engine; connections are pooled by host."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._timeout = timedelta(seconds=settings.timeout)
        self._client: Client | None = _build(settings)

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        try:
            request = self._request(call, streams=on_bytes is not None)
        except (errors.PyreqwestError, OSError, RuntimeError, ValueError) as error:
            return Broken("connection", f"the call was not begun: {mask(str(error))}", sent=False)
        try:
            async with request as response:
                status = response.status
                shown = on_bytes if status == 200 else None
                body = await self._read(response, shown, keeps=call.keeps or shown is None)
                if body is None:
                    return too_large(self._settings)
                return Reply(status, _headers(response), body)
        except errors.BuilderError as error:
            return Broken("connection", _say(error, "was not begun"), sent=False)
        except errors.RequestTimeoutError as error:
            return Broken("timeout", _say(error, "timed out"), sent=not _unsent(error))
        except errors.DetailedPyreqwestError as error:
            return Broken("connection", _say(error, "broke"), sent=not _unsent(error))
        except (errors.PyreqwestError, OSError, RuntimeError, ValueError) as error:
            return Broken("connection", mask(str(error)) or type(error).__name__)

    def _request(self, call: Call, *, streams: bool) -> StreamRequest:
        if self._client is None:
            raise RuntimeError("the transport is closed")
        builder = self._client.request(call.method, call.url).headers(call.headers)
        if call.timeout is not None:
            builder = builder.timeout(timedelta(seconds=call.timeout))
        if call.upload is not None:
            builder = builder.header("content-length", str(call.upload.size))
            builder = builder.body_stream(call.upload.pieces())
        elif call.body:
            builder = builder.body_bytes(call.body)
        if streams:
            builder = builder.streamed_read_buffer_limit(0)
        return builder.build_streamed()

    async def _read(
        self, response: Response, on_bytes: OnBytes | None, *, keeps: bool
    ) -> bytes | None:
        limit = self._settings.largest_body
        length = response.get_header("content-length")
        if on_bytes is None and length is not None and length.isdigit():
            return (await response.bytes()).to_bytes() if int(length) <= limit else None
        pieces: list[bytes] = []
        size = 0
        reader = response.body_reader
        while (chunk := await reader.read_chunk()) is not None:
            piece = bytes(chunk)
            if keeps:
                size += len(piece)
                pieces.append(piece)
            if size > limit:
                return None
            if on_bytes is not None:
                on_bytes(piece)
        return b"".join(pieces)

    async def close(self) -> None:
        client, self._client = self._client, None  # idle connections end with the last reference
        if client is not None:
            await client.close()


def _build(settings: TransportSettings) -> Client:
    builder = (
        ClientBuilder()
        .follow_redirects(False)
        .referer(False)
        .timeout(timedelta(seconds=settings.timeout))
        .connect_timeout(timedelta(seconds=settings.connect_timeout))
        .pool_idle_timeout(_IDLE)
        .http2(settings.http2)
    )
    if settings.http2:
        builder = builder.http2_adaptive_window(True)
    for pem in certificates(settings) or ():
        builder = builder.add_root_certificate_pem(pem.encode())
    proxy = checked_proxy(settings)
    if proxy:
        builder = builder.proxy(ProxyBuilder.all(proxy))
    return builder.build()


def _headers(response: Response) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in response.headers:
        try:
            value = response.get_header(name)
        except ValueError:
            continue  # not ASCII: no header of ours
        if value is not None:
            found[name] = value
    return found


def _unsent(error: errors.DetailedPyreqwestError) -> bool:
    return any("client error (Connect)" in cause["message"] for cause in _causes(error))


def _causes(error: errors.DetailedPyreqwestError) -> list[errors.Cause]:
    return error.details.get("causes") or []


def _say(error: errors.DetailedPyreqwestError, verb: str) -> str:
    causes = [cause["message"] for cause in _causes(error)]
    last = causes[-1] if causes else error.message
    return mask(f"the connection {verb}: {last}")
