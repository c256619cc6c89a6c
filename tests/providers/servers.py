"""Servers for the tests of this room: one that records, one that does exactly as it is told."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from penstock.providers.transport import Broken, Call, OnBytes, Reply

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "seen",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": None, "refusal": "No."},
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
STREAM = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"seen",'
    b'"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class Seen(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    def meaning(self) -> dict[str, str]:
        """The headers that carry meaning."""
        return {name: self.headers[name] for name in _MEANING if name in self.headers}


_MEANING = (
    "authorization",
    "api-key",
    "openai-organization",
    "openai-project",
    "content-type",
    "accept",
)


class Recorder:
    """An HTTP server in a thread of its own, for clients that block and clients that do not."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.replies: list[tuple[int, Any]] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                headers: dict[str, str] = {}
                for name, value in self.headers.items():  # one that came twice is seen to
                    before = headers.get(name.lower())
                    headers[name.lower()] = value if before is None else f"{before}, {value}"
                body = json.loads(raw)
                recorder.seen.append(Seen("POST", self.path, headers, body))
                status, told = recorder.replies.pop(0) if recorder.replies else (200, COMPLETION)
                streams = body.get("stream") and status == 200
                out = STREAM if streams else json.dumps(told).encode()
                self.send_response(status)
                kind = "text/event-stream" if streams else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def clear(self) -> None:
        self.seen.clear()
        self.replies.clear()

    def __enter__(self) -> Recorder:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Head(NamedTuple):
    """The head of a request to a `RawServer`, and its body."""

    line: str
    headers: dict[str, str]
    body: bytes


Answerer = Callable[[Head, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class RawServer:
    """What the contract suite talks to; `answer` writes the bytes of the response itself."""

    port: int = 0
    scheme: str = "http"
    heads: list[Head] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1/chat/completions"


@asynccontextmanager
async def raw_server(
    answer: Answerer, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawServer]:
    """A server on the loop of the test that gives each request to `answer`."""
    server = RawServer(scheme="https" if tls else "http")
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        open_writers.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                head = await _read_head(reader)
                server.heads.append(head)
                await answer(head, reader, writer)
                await writer.drain()
        writer.close()
        open_writers.discard(writer)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls, backlog=2048)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for writer in list(open_writers):
            writer.transport.abort()
        await asyncio.sleep(0.01)


async def _read_head(reader: asyncio.StreamReader) -> Head:
    raw = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = raw.rstrip("\r\n").split("\r\n")
    pairs = (each.split(":", 1) for each in lines)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Head(line, headers, body)


def says(
    body: bytes = b"{}", status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> Answerer:
    """The plain answer, again and again."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    whole = ("\r\n".join(lines) + "\r\n\r\n").encode() + body

    async def answer(_: Head, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(whole)

    return answer


class FakeTransport:
    """Gives back what it was given, and keeps the calls."""

    def __init__(self, *replies: Reply | Broken) -> None:
        self.calls: list[Call] = []
        self._replies = list(replies)

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        self.calls.append(call)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if on_bytes is not None and isinstance(reply, Reply) and reply.status == 200:
            on_bytes(reply.body)
        return reply

    async def close(self) -> None:
        return
