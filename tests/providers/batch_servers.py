"""What the tests of the batch lanes share: a server that keeps whole files, and a lane to it."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from tests.providers.servers import FakeTransport

from penstock.endpoint import Endpoint
from penstock.providers.batch import Batches
from penstock.providers.provider import HttpProvider
from penstock.providers.transport import (
    Broken,
    Call,
    OnBytes,
    Reply,
    Transport,
    TransportSettings,
    open_transport,
)
from penstock.secret import Secret

MEGABYTE = 1 << 20
AnyProvider = TypeVar("AnyProvider", bound=HttpProvider)


class Part(NamedTuple):
    """One field of a form."""

    name: str
    filename: str
    kind: str
    content: bytes


class Heard(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw) if self.raw else None

    @property
    def parts(self) -> list[Part]:
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        form = BytesParser().parsebytes(head + self.raw)
        found = []
        for part in form.get_payload():
            assert not isinstance(part, str)
            told = dict(part.get_params(header="content-disposition") or [])
            kind = part.get_content_type() if part["content-type"] else ""
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            found.append(Part(told["name"], told.get("filename", ""), kind, content))
        return found

    def meaning(self, *names: str) -> dict[str, str | None]:
        return {name: self.headers.get(name) for name in names}


class Said(NamedTuple):
    """What a server answers."""

    body: bytes | dict[str, Any] = b"{}"
    headers: Mapping[str, str] = {}
    status: int = 200

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Answer = Callable[[Heard], Said]


class BatchServer:
    """Answers as `answer` says, and keeps what it heard."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.heard: list[Heard] = []
        self.answer: Answer = lambda _: Said()

    def taken(self) -> list[Heard]:
        taken, self.heard = self.heard, []
        return taken


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        return  # a client that goes away is what some tests are about


@contextmanager
def batch_server() -> Iterator[BatchServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            told = self.headers.get("content-length")
            if told is None and self.command == "POST":
                self.send_error(411)
                return
            raw = self.rfile.read(int(told or 0))
            split = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            heard = Heard(self.command, split.path, dict(parse_qsl(split.query)), headers, raw)
            server.heard.append(heard)
            said = server.answer(heard)
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(said.raw)))
            self.end_headers()
            self.wfile.write(said.raw)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: Any) -> None:
            return

    listening = _Quiet(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server = BatchServer(listening.server_port)
    threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


def opened(
    made: type[AnyProvider], name: str, url: str, key: str, transport: Transport, **more: Any
) -> AnyProvider:
    endpoint = Endpoint(name, more.pop("model", "some-model"), url=url, key=Secret(key), **more)
    provider = made(endpoint, transport)
    provider.open()
    return provider


def lane_of(provider: HttpProvider) -> Batches:
    lane = provider.batches()
    assert lane is not None
    return lane


@asynccontextmanager
async def a_transport(**settings: Any) -> AsyncIterator[Transport]:
    transport = open_transport(TransportSettings(**{"timeout": 5, **settings}))
    try:
        yield transport
    finally:
        await transport.close()


class PieceTransport(FakeTransport):
    """Takes uploads in the pieces they come in, and gives downloads in pieces."""

    def __init__(self, *replies: Reply | Broken, piece: int = MEGABYTE) -> None:
        super().__init__(*replies)
        self.pieces: list[bytes] = []
        self._piece = piece

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        if call.upload is not None:
            self.pieces = [piece async for piece in call.upload.pieces()]
        reply = await super().send(call)
        if on_bytes is not None and isinstance(reply, Reply) and reply.status == 200:
            for start in range(0, len(reply.body), self._piece):
                on_bytes(reply.body[start : start + self._piece])
            return Reply(200, reply.headers, b"")
        return reply


def told(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply of JSON, or of bytes as they are."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, headers or {}, raw)
