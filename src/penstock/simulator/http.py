"""HTTP/1.1 on a bare asyncio Protocol: bytes in, exchanges out, bytes back.

It exists because a benchmark's server must be faster than what it measures: frameworks answer
some thousand requests a second on a core, this some ten thousand. It does what clients of model
APIs need (keep-alive, pipelining, content-length and chunked bodies, 100-continue, size limits)
and nothing else: no TLS, no compression, no HTTP/2.

One request at a time is in hand per connection; what is pipelined waits in the buffer, so
answers leave in the order of the requests.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import cast

from penstock.simulator.heads import BadRequestError, ChunkedBody, Head, parse_head

__all__ = ["Connection", "Exchange", "http_response"]

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024
MAX_UPLOAD = 520 * 1024 * 1024
MAX_PIPELINED = 256 * 1024
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_REASONS = {status.value: status.phrase for status in HTTPStatus} | {529: "Site Overloaded"}
_date_at = 0
_date = b""


def _date_line() -> bytes:
    global _date_at, _date
    now = int(time.time())
    if now != _date_at:
        _date_at = now
        _date = b"date: " + formatdate(now, usegmt=True).encode() + b"\r\n"
    return _date


def status_line(status: int) -> bytes:
    """The first line and the date."""
    reason = _REASONS.get(status, "Unknown")
    return f"HTTP/1.1 {status} {reason}\r\n".encode() + _date_line()


def http_response(
    status: int,
    body: bytes,
    headers: bytes = b"",
    content_type: bytes = b"application/json",
    length: int | None = None,
) -> bytes:
    """A whole response; `length` lies about the body's length where a fault wants it."""
    return b"".join(
        (
            status_line(status),
            b"content-type: ",
            content_type,
            b"\r\ncontent-length: %d\r\n" % (len(body) if length is None else length),
            headers,
            b"\r\n",
            body,
        )
    )


class Exchange:
    """One request and the way to answer it."""

    __slots__ = ("_connection", "body", "head", "on_drained", "on_gone")

    def __init__(self, connection: Connection, head: Head, body: bytes) -> None:
        self._connection: Connection | None = connection
        self.head = head
        self.body = body
        self.on_gone: Callable[[], None] | None = None
        self.on_drained: Callable[[], None] | None = None

    @property
    def full(self) -> bool:
        """Whether the client is slow to take what was written; `on_drained` tells when it has."""
        return self._connection is not None and self._connection.full

    @property
    def open(self) -> bool:
        """Whether the client is still there and the answer not yet finished."""
        return self._connection is not None

    def write(self, data: bytes) -> bool:
        """Send bytes as they are; False when the client has gone."""
        connection = self._connection
        return connection is not None and connection.send(data)

    def finish(self, *, close: bool = False) -> None:
        """The answer is complete: go on to the next request, or close."""
        connection, self._connection, self.on_gone = self._connection, None, None
        if connection is not None:
            # A HEAD request gets a body all the same, which would be taken for the next answer.
            last = close or not self.head.keep_alive or self.head.method == "HEAD"
            connection.finished(last)

    def reset(self) -> None:
        """Break the connection off so that the client sees a reset."""
        connection, self._connection, self.on_gone = self._connection, None, None
        if connection is not None:
            connection.reset()

    def gone(self) -> None:
        """Called by the connection when the client has left."""
        self._connection = None
        told, self.on_gone = self.on_gone, None
        if told is not None:
            told()


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, handle: Callable[[Exchange], None], connections: set[Connection]) -> None:
        self._handle = handle
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._head: Head | None = None
        self._chunked: ChunkedBody | None = None
        self._exchange: Exchange | None = None
        self._advancing = False
        self._paused = False
        self.full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own is no subclass
        self._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._connections.discard(self)
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.gone()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._exchange is None:
            self._advance()
        elif len(self._buffer) > MAX_PIPELINED and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        exchange = self._exchange
        if exchange is not None and exchange.on_drained is not None:
            told, exchange.on_drained = exchange.on_drained, None
            told()

    def send(self, data: bytes) -> bool:
        """Write to the client unless it has gone."""
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(data)
        return True

    def finished(self, close: bool) -> None:
        """The exchange in hand is answered."""
        self._exchange = None
        if close:
            self.close()
        elif not self._advancing:
            self._advance()

    def close(self) -> None:
        """Close once everything written has been sent."""
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        self._exchange = None
        if self._transport is not None:
            raw = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()

    def _advance(self) -> None:
        self._advancing = True
        try:
            while self._exchange is None and self._transport is not None:
                if self._transport.is_closing():
                    return
                exchange = self._next()
                if exchange is None:
                    break
                self._exchange = exchange
                self._handle(exchange)
        except BadRequestError as bad:
            self.send(http_response(bad.status, bad.body, b"connection: close\r\n"))
            self.close()
        finally:
            self._advancing = False
        if self._paused and self._exchange is None and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def _next(self) -> Exchange | None:
        """The next whole request of the buffer, if there is one."""
        buffer = self._buffer
        head = self._head
        if head is None:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(buffer) > MAX_HEAD:
                    raise BadRequestError(431, "The headers are too large.")
                return None
            head = parse_head(bytes(buffer[:end]))
            del buffer[: end + 4]
            self._begin_body(head)
        body = self._body(head)
        if body is None:
            self._head = head
            return None
        self._head = self._chunked = None
        return Exchange(self, head, body)

    def _begin_body(self, head: Head) -> None:
        most = MAX_UPLOAD if head.path.endswith(("/files", "/batches")) else MAX_BODY
        if head.length > most:
            raise BadRequestError(413, f"The body is larger than {most} bytes.")
        if head.chunked:
            self._chunked = ChunkedBody(most)
        if head.expects and (head.chunked or len(self._buffer) < head.length):
            self.send(_CONTINUE)

    def _body(self, head: Head) -> bytes | None:
        if self._chunked is not None:
            return self._chunked.feed(self._buffer)
        if len(self._buffer) < head.length:
            return None
        body = bytes(self._buffer[: head.length])
        del self._buffer[: head.length]
        return body
