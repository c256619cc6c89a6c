"""A server that answers with nonsense: whole HTTP responses, mutated, one for each question.

Every second answer is a good one, so that no limiter takes the endpoint for dead: what is tested
is that nonsense stays in its row.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

__all__ = ["NonsenseServer", "replies"]

_COMPLETION: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_750_000_000,
    "model": "nonsense",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Well said.", "refusal": None},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
}
_BODY = json.dumps(_COMPLETION).encode()
_MIB = 1024 * 1024


def response(
    body: bytes,
    *headers: bytes,
    status: bytes = b"HTTP/1.1 200 OK",
    length: bytes | None = None,
) -> bytes:
    """A response with a body; `length` for one that lies about it."""
    size = str(len(body)).encode() if length is None else length
    usual = (b"connection: close", b"content-type: application/json")
    head = b"\r\n".join((status, *usual, b"content-length: " + size, *headers))
    return head + b"\r\n\r\n" + body


GOOD = response(_BODY).replace(b"connection: close\r\n", b"")


def replies(count: int, seed: int) -> list[bytes]:
    """So many mutated responses, the same for the same seed."""
    chance = random.Random(seed)
    made = [_bomb(1100), _bomb(40), response(b" " * (33 * _MIB)), response(_deep(2_000_000))]
    while len(made) < count:
        made.append(chance.choice(_MUTATIONS)(chance))
    return made


def _cut(chance: random.Random) -> bytes:
    return response(_BODY[: chance.randrange(len(_BODY))])


def _flipped(chance: random.Random) -> bytes:
    body = bytearray(_BODY)
    for _ in range(chance.randint(1, 12)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return response(bytes(body))


def _junk(chance: random.Random) -> bytes:
    return response(chance.randbytes(chance.randint(0, 4000)))


def _not_http(chance: random.Random) -> bytes:
    return chance.choice((b"", b"\r\n\r\n", b"HTTP/1.1\r\n\r\n", chance.randbytes(200), _BODY))


def _deep(levels: int) -> bytes:
    return b'{"choices":' + b"[" * levels + b"]" * levels + b"}"


def _nested(chance: random.Random) -> bytes:
    levels = chance.choice((500, 5000, 100_000))
    inside = b'{"a":' * levels + b"1" + b"}" * levels
    places = (b'{"choices":[],"x":%s}', b'{"error":%s}', b'{"error":{"message":%s}}')
    calls = _BODY.replace(b'"refusal": null', b'"tool_calls": [%s]')
    return response(chance.choice((*places, calls)) % inside)


_VALUES: tuple[bytes, ...] = (
    *(b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 400, b"1.5e-400", b"0x10", b"007"),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b'"\\udfff\\ud800x"', b'"\\u0000"'),
    *(b'"\xed\xa0\x80"', b'"\xff\xfe"', b'"\\x41"', b"'single'", b"[[[]]]", b'{"text": []}'),
    *(b'[{"type": "text", "text": 5}]', b"[null]", b'"' + b"a" * 100_000 + b'"'),
)


def _wrong_value(chance: random.Random) -> bytes:
    """One value of the body, anywhere, is something else."""
    spots = list(re.finditer(rb': ("[^"]*"|[\d]+|null)', _BODY))
    spot = chance.choice(spots)
    return response(_BODY[: spot.start(1)] + chance.choice(_VALUES) + _BODY[spot.end(1) :])


def _wrong_shape(chance: random.Random) -> bytes:
    body = dict(_COMPLETION)
    name = chance.choice(("choices", "usage", "id", "model"))
    body[name] = chance.choice(([], {}, None, "x", [None], [[]], [{}], [{"message": None}], 7))
    return response(json.dumps(body).encode())


def _error_inside(chance: random.Random) -> bytes:
    said = chance.choice(("", None, 5, ["a"], {"b": 1}, "\ud800", "x" * 5000))
    code: Any = chance.choice((None, 500, "500", "server_error", [], {}, 10**30, "context"))
    inner = {"message": said, "code": code, "type": chance.choice((None, "server_error", 3))}
    error = chance.choice((inner, "plain", None, 5, [inner], {}))
    status = chance.choice((b"HTTP/1.1 200 OK", b"HTTP/1.1 500 Oh", b"HTTP/1.1 418 Tea"))
    return response(json.dumps({"error": error}).encode(), status=status)


def _wrong_length(chance: random.Random) -> bytes:
    size = len(_BODY)
    lengths = (size + 50, size - 7, 0, -5, 10**30, "many", "", "1, 2", f"+{size}", f"{size}.0")
    return response(_BODY, length=str(chance.choice(lengths)).encode())


def _wrong_header(chance: random.Random) -> bytes:
    headers = (
        b"x-request-id: \xff\xfe\xfd",
        b"x-request-id: " + b"a" * 60_000,
        b"no colon here",
        b": no name",
        b"bad name : x",
        b"x-folded: a\r\n b",
        b"x-nul: a\x00b",
        b"content-length: 3",
        b"content-encoding: klingon",
        b"content-encoding: gzip",
        b"content-encoding: br",
        b"transfer-encoding: chunked",
        b"transfer-encoding: gzip, chunked, nonsense",
        b"x-ratelimit-limit-requests: many\r\nx-ratelimit-remaining-requests: -4",
        b"x-ratelimit-limit-requests: 0\r\nx-ratelimit-remaining-requests: 99999999999999999999",
        b"x-ratelimit-limit-tokens: 1e9\r\nx-ratelimit-reset-tokens: 1h1h1h",
        b"x-ratelimit-limit-requests: 600000\r\nx-ratelimit-reset-requests: 1e400s",
        b"retry-after: never",
        b"\r\n".join(b"x-%d: y" % number for number in range(300)),
    )
    return response(_BODY, chance.choice(headers))


def _wrong_chunks(chance: random.Random) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    size = b"%x" % len(_BODY)
    return head + chance.choice(
        (
            size + b"\r\n" + _BODY,
            b"zz\r\n" + _BODY,
            b"ffffffffffffffffff\r\n" + _BODY,
            b"-1\r\n" + _BODY,
            b"5\r\n" + _BODY + b"\r\n0\r\n\r\n",
            b"0\r\n\r\n",
            size + b";ext=" + b"x" * 40_000 + b"\r\n" + _BODY + b"\r\n0\r\n\r\n",
        )
    )


def _refused(chance: random.Random) -> bytes:
    waits = (b"soon", b"-1", b"NaN", b"", b"0.001", b"Thu, 99 Foo 2020", b"\xc2\xb2")
    return response(b"", b"retry-after: " + chance.choice(waits), status=b"HTTP/1.1 429 No")


def _wrong_gzip(chance: random.Random) -> bytes:
    packed = bytearray(gzip.compress(_BODY))
    if chance.random() < 0.5:
        packed[chance.randrange(10, len(packed))] ^= 1 << chance.randrange(8)
    else:
        del packed[chance.randrange(10, len(packed)) :]
    return response(bytes(packed), b"content-encoding: gzip")


def _bomb(mib: int) -> bytes:
    return response(gzip.compress(bytes(mib * _MIB), 6), b"content-encoding: gzip")


_MUTATIONS: tuple[Callable[[random.Random], bytes], ...] = (
    *(_cut, _flipped, _junk, _not_http, _nested, _wrong_value, _wrong_value, _wrong_shape),
    *(_error_inside, _wrong_length, _wrong_header, _wrong_chunks, _refused, _wrong_gzip),
)


class NonsenseServer:
    """Answers with a good response and the next of the mutated ones, in turn."""

    def __init__(self, bodies: list[bytes]) -> None:
        self._bodies = bodies
        self._asked = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self.sent = 0
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._read(reader):
                self._asked += 1
                if self._asked % 2 or self.sent == len(self._bodies):
                    writer.write(GOOD)
                    await writer.drain()
                    continue
                self.sent += 1
                writer.write(self._bodies[self.sent - 1])
                await writer.drain()
                return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head, re.I)
        assert found is not None
        return bool(await reader.readexactly(int(found[1])))
