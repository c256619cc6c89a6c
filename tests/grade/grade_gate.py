"""A gate before the simulator's server: it sees every question, and refuses those it is told to.

The simulator's faults fall on arrivals, whatever they ask; here they fall on texts. All that is let
through is answered, and written into the ledger, by the simulator.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

Rule = Callable[[str], int | None]
"""The body of a question; the status it is refused with, or None."""


class Gate:
    """`url` instead of the simulator's; `bodies`: what came; `rule`: what is refused."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self.rule: Rule = lambda body: None
        self.bodies: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._target.path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def refuse(self, *words: str, status: int = 400) -> None:
        """Every question with one of these in it."""
        self.rule = lambda body: status if any(word in body for word in words) else None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                gate._pass(self)

            do_GET = do_POST = do_DELETE = _any  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def _pass(self, asked: BaseHTTPRequestHandler) -> None:
        body = asked.rfile.read(int(asked.headers.get("content-length") or 0))
        status, kind, answer = 0, "application/json", b""
        if asked.path.endswith("/chat/completions"):
            text = body.decode()
            self.bodies.append(text)
            status = self.rule(text) or 0
            answer = b'{"error": {"message": "the gate says no", "type": "gate"}}'
        if not status:
            status, kind, answer = self._forward(asked, body)
        asked.send_response(status)
        asked.send_header("content-type", kind)
        asked.send_header("content-length", str(len(answer)))
        asked.end_headers()
        asked.wfile.write(answer)

    def _forward(self, asked: BaseHTTPRequestHandler, body: bytes) -> tuple[int, str, bytes]:
        assert self._target.hostname is not None
        connection = HTTPConnection(self._target.hostname, self._target.port, timeout=30)
        try:
            headers = {k: v for k, v in asked.headers.items() if k.lower() not in _OWN}
            connection.request(asked.command, asked.path, body, headers)
            found = connection.getresponse()
            return found.status, found.headers["content-type"], found.read()
        finally:
            connection.close()


_OWN = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}
