"""The answers of the viewer's little server: who may ask, for what, and what every answer says."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import parse_qs

import orjson

from penstock.errors import PenstockError
from penstock.live.look import MOST_ROWS

if TYPE_CHECKING:
    from penstock.live.look import Look

__all__ = ["POLICY", "STATIC", "Handler", "asset"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
STATIC = {
    "": ("page.html", "text/html; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        name: (name, "text/javascript; charset=utf-8")
        for name in ("app.js", "format.js", "grid.js", "panel.js", "rows.js", "summary.js")
    },
}
"""Addresses under the page's own, the files behind them, and their kinds."""

_HEADERS = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Connection", "close"),
)
_WHOLE = re.compile("[0-9]{1,15}")
_log = logging.getLogger(__name__)


class _Serving(Protocol):
    look: Look
    token: str
    port: int


class _Reply(NamedTuple):
    status: int
    body: bytes
    kind: str = "text/plain; charset=utf-8"


class Handler(BaseHTTPRequestHandler):
    """One request. HTTP/1.0 on purpose: a connection ends with its answer, nothing lingers."""

    timeout = 10
    server: Any

    def do_GET(self) -> None:
        self._send(self._reply())

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Whatever is not GET, or is no HTTP at all."""
        self.close_connection = True
        if code == 501:
            self._send(_Reply(405, b"only GET is answered here\n"), ("Allow", "GET"))
        else:
            self._send(_Reply(code, b"this cannot be understood\n"))

    def version_string(self) -> str:
        return "penstock"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: the address holds the token."""

    def _reply(self) -> _Reply:
        serving: _Serving = self.server
        hosts = (f"127.0.0.1:{serving.port}", f"localhost:{serving.port}")
        if self.headers.get_all("Host") not in ([hosts[0]], [hosts[1]]):
            return _Reply(403, b"this page is served to this machine alone\n")
        path, _, query = self.path.partition("?")
        folder, slash, name = path.rpartition("/")
        own = f"/{serving.token}".encode()
        if not slash or not secrets.compare_digest(folder.encode(), own):
            return _Reply(404, b"there is nothing here\n")
        try:
            return _answer(serving.look, name, query)
        except (PenstockError, OSError) as error:
            _log.warning("the viewer cannot read the run: %s", error)
            return _Reply(503, b"the run cannot be read\n")

    def _send(self, reply: _Reply, *more: tuple[str, str]) -> None:
        self.send_response(reply.status)
        size = ("Content-Length", str(len(reply.body)))
        for name, value in (("Content-Type", reply.kind), size, *_HEADERS, *more):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)


def _answer(look: Look, name: str, query: str) -> _Reply:
    if name in STATIC:
        file, kind = STATIC[name]
        return _Reply(200, asset(file), kind)
    if name not in _DATA:
        return _Reply(404, b"there is nothing here\n")
    try:
        found = _DATA[name](look, _numbers(query))
    except ValueError as error:
        return _Reply(400, f"{error}\n".encode())
    if found is None:
        return _Reply(404, b"there is no such row\n")
    return _Reply(200, orjson.dumps(found), "application/json")


def _rows(look: Look, asked: dict[str, int]) -> Any:
    count = min(asked.get("count", 100), MOST_ROWS)
    return look.rows(asked.get("start", 0), count, bool(asked.get("failed")))


def _row(look: Look, asked: dict[str, int]) -> Any:
    return look.row(asked.get("at", 0), bool(asked.get("failed")))


_DATA: dict[str, Callable[[Look, dict[str, int]], Any]] = {
    "state": lambda look, _asked: look.state(),
    "rows": _rows,
    "row": _row,
}


def _numbers(query: str) -> dict[str, int]:
    """What was asked for: names and whole numbers, nothing else."""
    found = {}
    for name, values in parse_qs(query, keep_blank_values=True, max_num_fields=8).items():
        if name not in ("start", "count", "failed", "at"):
            raise ValueError("start, count, failed and at can be given")
        if len(values) != 1 or not _WHOLE.fullmatch(values[0]):
            raise ValueError(f"{name} is a whole number")
        found[name] = int(values[0])
    return found


@cache
def asset(name: str) -> bytes:
    """A file of the page."""
    return (Path(__file__).parent / "static" / name).read_bytes()
