"""A stage for a protocol of one's own: a small HTTP server in a thread.

Only the words of the protocol are left to write, in `reply`. Keys, time-outs, broken connections
and the count of requests are done here.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from abc import abstractmethod
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from penstock.outcome import FailureKind
from penstock.testing.stage import CALM, Stage

__all__ = ["Arrived", "Said", "StubStage"]

_LONGEST_WAIT = 30.0


class Arrived(NamedTuple):
    """A request as it came; header names are lower case, the body is read as JSON."""

    path: str
    headers: Mapping[str, str]
    body: Any


class Said(NamedTuple):
    """What the server answers; a body that is not bytes is written as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}

    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class StubStage(Stage):
    """A server that speaks one protocol: subclass it and write `reply`."""

    def __init__(self) -> None:
        self._scenario = CALM
        self._count = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._server: ThreadingHTTPServer | None = None

    @abstractmethod
    def reply(self, scenario: str, arrived: Arrived) -> Said:
        """What the server says: to a question, or in words that fit the scenario.

        `timeout` and `connection` never come here, nor does a request with a wrong key when the
        scenario is not `authentication`.
        """

    def key_of(self, arrived: Arrived) -> str:
        """The key that a request carries; a bearer token unless it is overridden."""
        return arrived.headers.get("authorization", "").removeprefix("Bearer ")

    def start(self) -> None:
        stage = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                stage.serve(self)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def play(self, scenario: str) -> None:
        with self._lock:
            self._scenario, self._count = scenario, 0

    def requests(self) -> int:
        with self._lock:
            return self._count

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request, in a thread of its own."""
        arrived = _arrived(handler)
        with self._lock:
            self._count += 1
            scenario = self._scenario
        if scenario == FailureKind.TIMEOUT:
            self._ended.wait(_LONGEST_WAIT)
        if scenario in (FailureKind.TIMEOUT, FailureKind.CONNECTION):
            _reset(handler)
            return
        wrong = self.key_of(arrived) != self.key
        said = self.reply(FailureKind.AUTHENTICATION if wrong else scenario, arrived)
        body = said.raw()
        handler.send_response(said.status)
        for name, value in {"content-type": "application/json", **said.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def _arrived(handler: BaseHTTPRequestHandler) -> Arrived:
    headers = {name.lower(): value for name, value in handler.headers.items()}
    raw = handler.rfile.read(int(headers.get("content-length", "0")))
    return Arrived(handler.path, headers, json.loads(raw or b"null"))


def _reset(handler: BaseHTTPRequestHandler) -> None:
    """Break the connection off, as a crash of the server would."""
    handler.close_connection = True
    at_once = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    handler.connection.close()
