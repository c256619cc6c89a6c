"""A client that hides nothing: one socket, the bytes as they come."""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple

from penstock.simulator import Simulator

__all__ = ["Response", "chat", "connect", "post", "read_response", "request_bytes"]

CHAT = "/v1/chat/completions"


class Response(NamedTuple):
    """A response as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.json["error"])


def chat(text: str = "Hello", **more: Any) -> dict[str, Any]:
    """A body of a chat completion."""
    return {"model": "any", "messages": [{"role": "user", "content": text}], **more}


def request_bytes(
    path: str, body: Any = None, method: str = "POST", headers: dict[str, str] | None = None
) -> bytes:
    """A whole request."""
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"host": "test", "authorization": "Bearer any", "content-length": str(len(raw))}
    lines |= headers or {}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + raw


def connect(simulator: Simulator) -> socket.socket:
    """A connection that gives up after some seconds."""
    return socket.create_connection(("127.0.0.1", simulator.port), timeout=5)


def read_response(connection: socket.socket) -> Response:
    """One response by its content-length; raises EOFError when it is cut."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {n.lower(): v for n, v in (line.split(": ", 1) for line in lines[1:])}
    length = int(headers.get("content-length", 0))
    while len(body) < length:
        body += _more(connection)
    return Response(int(lines[0].split()[1]), headers, body[:length])


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise EOFError
    return data


def post(
    simulator: Simulator,
    body: Any = None,
    path: str = CHAT,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> Response:
    """Ask on a new connection."""
    with connect(simulator) as connection:
        connection.sendall(request_bytes(path, body, method, headers))
        return read_response(connection)
