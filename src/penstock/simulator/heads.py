"""Request heads and chunked bodies: the reading half of HTTP/1.1.

Clients that keep a connection send the same head again and again, so parsed heads are kept (a
bounded number) and looked up by their bytes.
"""

from __future__ import annotations

from urllib.parse import unquote

import orjson

__all__ = ["BadRequestError", "ChunkedBody", "Head", "parse_head"]

MAX_KEPT_HEADS = 4096
_LONGEST_KEPT = 4096
_CHUNK_LINE = 256
_LONGEST_NUMBER = 15


class BadRequestError(Exception):
    """Bytes that are no HTTP request we take; the connection ends with this answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        kind = "invalid_request_error"
        error = {"message": message, "type": kind, "param": None, "code": None}
        self.body = orjson.dumps({"error": error})


class Head:
    """The first line and the headers (names in lower case) of a request."""

    __slots__ = (
        *("chunked", "expects", "headers", "keep_alive", "length", "method", "path", "query"),
        "target",
    )

    def __init__(self, method: str, target: str, version: bytes, headers: dict[bytes, bytes]):
        self.method = method
        path, _, self.query = target.partition("?")
        self.path = unquote(path)
        self.target = f"{self.path}?{self.query}" if self.query else self.path
        self.headers = headers
        self.chunked = headers.get(b"transfer-encoding", b"").lower() == b"chunked"
        self.length = _length(headers, self.chunked)
        self.expects = headers.get(b"expect", b"").lower() == b"100-continue"
        wish = headers.get(b"connection", b"").lower()
        self.keep_alive = wish == b"keep-alive" if version == b"HTTP/1.0" else wish != b"close"

    def header(self, name: bytes) -> str:
        """A header's value, or ""."""
        return self.headers.get(name, b"").decode("latin-1")


def _length(headers: dict[bytes, bytes], chunked: bool) -> int:
    raw = headers.get(b"content-length")
    if raw is None:
        if b"transfer-encoding" in headers and not chunked:
            raise BadRequestError(501, "Only the transfer-encoding 'chunked' is understood.")
        return 0
    if b"transfer-encoding" in headers:
        raise BadRequestError(400, "Both content-length and transfer-encoding are given.")
    if not raw.isdigit() or len(raw) > _LONGEST_NUMBER:
        raise BadRequestError(400, "The content-length is no sensible number.")
    return int(raw)


_kept: dict[bytes, Head] = {}


def parse_head(raw: bytes) -> Head:
    """Read everything before the empty line."""
    head = _kept.get(raw)
    if head is not None:
        return head
    lines = raw.lstrip(b"\r\n").split(b"\r\n")
    parts = lines[0].split(b" ")
    if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
        raise BadRequestError(400, "The first line is no HTTP/1.1 request line.")
    headers: dict[bytes, bytes] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            raise BadRequestError(400, "A header line is malformed.")
        headers[name.lower()] = value.strip()
    head = Head(parts[0].decode("latin-1"), parts[1].decode("latin-1"), parts[2], headers)
    if len(raw) <= _LONGEST_KEPT:
        if len(_kept) >= MAX_KEPT_HEADS:
            _kept.clear()
        _kept[raw] = head
    return head


class ChunkedBody:
    """A chunked body as it arrives; `feed` takes what it can off the buffer."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._body = bytearray()
        self._left = 0
        self._state = "size"

    def feed(self, buffer: bytearray) -> bytes | None:
        """The whole body once its last chunk is there, else None."""
        while True:
            if self._state == "data":
                if len(buffer) < self._left + 2:
                    return None
                self._body += buffer[: self._left]
                del buffer[: self._left + 2]
                self._state = "size"
                continue
            line = self._line(buffer)
            if line is None:
                return None
            if self._state == "trailer":
                if not line:
                    return bytes(self._body)
                continue
            self._left = self._size(line)
            self._state = "data" if self._left else "trailer"

    def _line(self, buffer: bytearray) -> bytes | None:
        end = buffer.find(b"\r\n")
        if end < 0:
            if len(buffer) > _CHUNK_LINE:
                raise BadRequestError(400, "A chunk's size line is too long.")
            return None
        line = bytes(buffer[:end])
        del buffer[: end + 2]
        return line

    def _size(self, line: bytes) -> int:
        try:
            size = int(line.partition(b";")[0].strip(), 16)
        except ValueError:
            raise BadRequestError(400, "A chunk's size is no number.") from None
        if size < 0 or len(self._body) + size > self._most:
            raise BadRequestError(413, f"The body is larger than {self._most} bytes.")
        return size
