"""One contract for both transports: whatever a server does, a Reply or a Broken comes back."""

from __future__ import annotations

import asyncio
import gc
import gzip
import os
import resource
import socket
import ssl
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.providers.servers import Answerer, Head, RawServer, raw_server, says

from penstock.errors import SettingsError
from penstock.providers.transport import (
    Broken,
    Call,
    Reply,
    Transport,
    TransportSettings,
    Upload,
    open_transport,
)
from penstock.secret import Secret

KEY = "sk-canary-77f0b1c2d3e4f5"
MIB = 1 << 20
Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Open = Callable[..., Transport]


@pytest.fixture(params=["pyreqwest", "aiohttp"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def opened(kind: str) -> AsyncIterator[Open]:
    """Opens transports of the kind under test; all are closed at the end."""
    made: list[Transport] = []

    def make(**settings: Any) -> Transport:
        transport = open_transport(TransportSettings(kind=kind, **settings))  # type: ignore[arg-type]
        made.append(transport)
        return transport

    yield make
    for transport in made:
        await transport.close()


@pytest.fixture
def transport(opened: Open) -> Transport:
    return opened(timeout=5.0)


def call(url: str, **more: Any) -> Call:
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    return Call("POST", url, headers, **{"body": b'{"q":1}', **more})


def broken(outcome: Reply | Broken) -> Broken:
    assert isinstance(outcome, Broken), outcome
    return outcome


def whole(outcome: Reply | Broken) -> Reply:
    assert isinstance(outcome, Reply), outcome
    return outcome


async def _nothing(_: Head, reader: Reader, writer: Writer) -> None:
    await reader.read()  # until the client goes away
    writer.close()


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# A plain call ---------------------------------------------------------------------------------


async def test_method_headers_and_body_arrive_as_they_were_given(transport: Transport) -> None:
    async with raw_server(says(b'{"ok":1}')) as server:
        reply = whole(await transport.send(call(server.url)))
    assert (reply.status, reply.body) == (200, b'{"ok":1}')
    head = server.heads[0]
    assert head.line == "POST /v1/chat/completions HTTP/1.1"
    assert head.headers["authorization"] == f"Bearer {KEY}"
    assert head.headers["content-type"] == "application/json"
    assert head.body == b'{"q":1}'
    assert "transfer-encoding" not in head.headers
    assert "cookie" not in head.headers and "referer" not in head.headers


async def test_the_path_and_query_are_not_rewritten(transport: Transport) -> None:
    async with raw_server(says()) as server:
        url = f"http://127.0.0.1:{server.port}/a%2Fb/my%20gpt/%C3%BC?api-version=1&x=a%26b"
        whole(await transport.send(call(url)))
    path = server.heads[0].line.split(" ")[1]
    assert path == "/a%2Fb/my%20gpt/%C3%BC?api-version=1&x=a%26b"


async def test_a_call_without_a_body_is_a_plain_get(transport: Transport) -> None:
    async with raw_server(says()) as server:
        whole(await transport.send(Call("GET", server.url, {})))
    assert server.heads[0].line.startswith("GET ")
    assert server.heads[0].body == b""


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_a_reply_without_a_body_is_empty_and_at_once(
    status: str, transport: Transport
) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())

    async with raw_server(answer) as server:
        reply = whole(await transport.send(call(server.url, timeout=2.0)))
    assert (reply.status, reply.body) == (int(status[:3]), b"")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529, 599])
async def test_an_error_status_is_a_reply_like_any_other(status: int, transport: Transport) -> None:
    async with raw_server(says(b'{"error":{}}', f"{status} No", {"retry-after": "3"})) as server:
        reply = whole(await transport.send(call(server.url)))
    assert (reply.status, reply.body) == (status, b'{"error":{}}')
    assert reply.headers["retry-after"] == "3"


async def test_header_names_are_lower_case_and_the_first_of_equal_ones_counts(
    transport: Transport,
) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nX-Request-ID: one\r\nx-request-id: two\r\nX-Plain: a b\r\n"
            b"content-length: 2\r\n\r\n{}"
        )

    async with raw_server(answer) as server:
        reply = whole(await transport.send(call(server.url)))
    assert reply.headers["x-request-id"] == "one"
    assert reply.headers["x-plain"] == "a b"
    assert all(name == name.lower() for name in reply.headers)


async def test_headers_that_are_not_ascii_are_left_out_and_harm_nobody(
    transport: Transport,
) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nx-city: Z\xc3\xbcrich\r\nx-latin: Z\xfcrich\r\nx-good: yes\r\n"
            b"content-length: 2\r\n\r\n{}"
        )

    async with raw_server(answer) as server:
        reply = whole(await transport.send(call(server.url)))
    assert reply.headers["x-good"] == "yes"
    assert "x-city" not in reply.headers and "x-latin" not in reply.headers
    assert reply.body == b"{}"


# Bodies ---------------------------------------------------------------------------------------


def _chunked(*chunks: bytes, head: bytes = b"") -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n" + head + b"\r\n" + body


async def test_a_chunked_body_is_put_together(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(_chunked(b'{"a":', b"1", b"}") + b"0\r\n\r\n")

    async with raw_server(answer) as server:
        assert whole(await transport.send(call(server.url))).body == b'{"a":1}'


async def test_a_body_that_ends_with_the_connection_is_whole(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"a":1}')
        writer.close()

    async with raw_server(answer) as server:
        assert whole(await transport.send(call(server.url))).body == b'{"a":1}'


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_compressed_body_is_opened(coding: str, transport: Transport) -> None:
    text = b'{"a":"' + b"long " * 1000 + b'"}'
    packed = gzip.compress(text) if coding == "gzip" else zlib.compress(text)
    async with raw_server(says(packed, headers={"content-encoding": coding})) as server:
        assert whole(await transport.send(call(server.url))).body == text
    assert "gzip" in server.heads[0].headers["accept-encoding"]


async def test_a_compressed_body_may_come_in_chunks(transport: Transport) -> None:
    text = os.urandom(5000).hex().encode()
    packed = gzip.compress(text)

    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        pieces = [packed[at : at + 777] for at in range(0, len(packed), 777)]
        writer.write(_chunked(*pieces, head=b"content-encoding: gzip\r\n") + b"0\r\n\r\n")

    async with raw_server(answer) as server:
        assert whole(await transport.send(call(server.url))).body == text


async def test_a_broken_compressed_body_is_a_break_that_may_have_been_paid_for(
    transport: Transport,
) -> None:
    packed = gzip.compress(b"x" * 1000)
    spoiled = packed[:12] + b"\xff\xff\xff\xff" + packed[16:]
    async with raw_server(says(spoiled, headers={"content-encoding": "gzip"})) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", True)


@cache
def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(MIB)
    packed = b"".join(packer.compress(zeros) for _ in range(size >> 20))
    return packed + packer.flush()


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
async def test_a_bomb_is_refused_and_memory_stays_bounded(chunked: bool, opened: Open) -> None:
    transport = opened(timeout=20.0, largest_body=4 * MIB)
    bomb = _bomb(256 * MIB)
    answer = says(bomb, headers={"content-encoding": "gzip"})
    if chunked:

        async def answer(_: Head, __: Reader, writer: Writer) -> None:
            writer.write(_chunked(bomb, head=b"content-encoding: gzip\r\n") + b"0\r\n\r\n")

    async with raw_server(answer) as server:
        gc.collect()
        before = most = _memory()

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, _memory())
                await asyncio.sleep(0.002)

        watcher = asyncio.ensure_future(watch())
        outcome = broken(await transport.send(call(server.url)))
        watcher.cancel()
    assert (outcome.reason, outcome.sent) == ("too_large", True)
    assert max(most, _memory()) - before < 48 * MIB


async def test_a_body_over_the_limit_by_its_length_is_refused_unread(opened: Open) -> None:
    transport = opened(timeout=5.0, largest_body=MIB)

    async def answer(_: Head, reader: Reader, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (MIB + 1))
        writer.write(bytes(MIB // 8))
        await reader.read()  # the rest never comes; nobody should wait for it

    async with raw_server(answer) as server:
        began = time.perf_counter()
        outcome = broken(await transport.send(call(server.url)))
    assert outcome.reason == "too_large" and outcome.sent
    assert "1 MiB" in outcome.message
    assert time.perf_counter() - began < 2


async def test_a_body_over_the_limit_by_its_chunks_is_refused(opened: Open) -> None:
    transport = opened(timeout=5.0, largest_body=MIB)

    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(_chunked())
        chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
        while not writer.is_closing():  # for ever
            writer.write(chunk)
            await writer.drain()

    async with raw_server(answer) as server:
        outcome = broken(await transport.send(call(server.url)))
        streamed = broken(await transport.send(call(server.url), lambda _: None))
    assert outcome.reason == streamed.reason == "too_large"


async def test_a_body_just_at_the_limit_is_taken(opened: Open) -> None:
    transport = opened(timeout=5.0, largest_body=MIB)
    async with raw_server(says(bytes(MIB))) as server:
        assert len(whole(await transport.send(call(server.url))).body) == MIB


async def test_a_slow_body_within_the_time_is_whole(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n")
        for letter in b'{"a":12}':
            writer.write(bytes([letter]))
            await asyncio.sleep(0.02)

    async with raw_server(answer) as server:
        assert whole(await transport.send(call(server.url))).body == b'{"a":12}'


# Breaks ---------------------------------------------------------------------------------------


async def test_a_refused_connection_was_not_sent(transport: Transport) -> None:
    outcome = broken(await transport.send(call(f"http://127.0.0.1:{_free_port()}/v1")))
    assert (outcome.reason, outcome.sent) == ("connection", False)
    assert outcome.message


async def test_a_name_that_nobody_knows_was_not_sent(transport: Transport) -> None:
    outcome = broken(await transport.send(call("http://nobody.invalid/v1", timeout=3.0)))
    assert outcome.sent is False


async def _reset(_: Head, __: Reader, writer: Writer) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


async def test_a_reset_after_the_request_was_sent(transport: Transport) -> None:
    async with raw_server(_reset) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", True)
    assert len(server.heads) == 1  # it is not asked again behind our back


async def test_a_close_without_an_answer_was_sent(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.close()

    async with raw_server(answer) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", True)
    assert len(server.heads) == 1


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", _chunked(b'{"a"')])
async def test_silence_ends_with_the_time_out_within_twice_its_time(
    said: bytes, transport: Transport
) -> None:
    async def answer(head: Head, reader: Reader, writer: Writer) -> None:
        writer.write(said)
        await _nothing(head, reader, writer)

    async with raw_server(answer) as server:
        began = time.perf_counter()
        outcome = broken(await transport.send(call(server.url, timeout=0.5)))
        took = time.perf_counter() - began
    assert (outcome.reason, outcome.sent) == ("timeout", True)
    assert 0.4 < took < 1.0


async def test_a_body_that_drips_for_ever_ends_with_the_time_out(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(_chunked())
        while not writer.is_closing():
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with raw_server(answer) as server:
        for shown in (None, lambda _: None):
            began = time.perf_counter()
            outcome = broken(await transport.send(call(server.url, timeout=0.5), shown))
            assert (outcome.reason, outcome.sent) == ("timeout", True)
            assert time.perf_counter() - began < 1.0


async def test_the_time_out_of_the_settings_holds_where_the_call_has_none(opened: Open) -> None:
    transport = opened(timeout=0.3)
    async with raw_server(_nothing) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert outcome.reason == "timeout"


@pytest.fixture
def blackhole() -> Iterator[str]:
    """A port whose queue is full: a connection to it is neither taken nor refused."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    waiting = [socket.socket() for _ in range(4)]
    for each in waiting:
        each.setblocking(False)
        each.connect_ex(listening.getsockname())
    time.sleep(0.05)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    for each in (*waiting, listening):
        each.close()


async def test_a_connection_that_never_comes_about_times_out_unsent(
    blackhole: str, opened: Open
) -> None:
    transport = opened(timeout=10.0, connect_timeout=0.5)
    began = time.perf_counter()
    outcome = broken(await transport.send(call(blackhole)))
    assert (outcome.reason, outcome.sent) == ("timeout", False)
    assert time.perf_counter() - began < 1.0


async def test_half_a_body_is_a_break_that_may_have_been_paid_for(transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"choices":[')
        writer.close()

    async with raw_server(answer) as server:
        for shown in (None, lambda _: None):
            outcome = broken(await transport.send(call(server.url), shown))
            assert (outcome.reason, outcome.sent) == ("connection", True)


async def test_chunks_that_stop_are_a_break_and_never_half_an_answer(
    transport: Transport,
) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(_chunked(b'{"a":', b"1}"))  # the last chunk, of no length, is missing
        writer.close()

    async with raw_server(answer) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", True)


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"\x00\xff\xfe\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbroken header line\r\n\r\n{}",
    ],
)
async def test_what_is_no_http_is_a_break(said: bytes, transport: Transport) -> None:
    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(said)
        writer.close()

    async with raw_server(answer) as server:
        outcome = broken(await transport.send(call(server.url, timeout=2.0)))
    assert (outcome.reason, outcome.sent) == ("connection", True)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:99999/v1", "http://[::1/v1", "ftp://127.0.0.1/", "not an address"]
)
async def test_an_address_that_is_none_is_a_break_and_not_sent(
    url: str, transport: Transport
) -> None:
    outcome = broken(await transport.send(call(url)))
    assert (outcome.reason, outcome.sent) == ("connection", False)


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0b"])
async def test_a_header_that_cannot_be_sent_is_a_break_and_not_sent(
    value: str, transport: Transport
) -> None:
    async with raw_server(says()) as server:
        made = Call("POST", server.url, {"x-odd": value}, b"{}")
        outcome = broken(await transport.send(made))
    assert (outcome.reason, outcome.sent) == ("connection", False)
    assert server.heads == []


async def test_a_break_never_shows_a_secret(transport: Transport) -> None:
    secret = Secret("canary-9d8c7b6a5f")
    url = f"http://127.0.0.1:{_free_port()}/v1?route={secret.reveal()}"
    outcome = broken(await transport.send(call(url)))
    assert secret.reveal() not in outcome.message


async def test_after_its_end_a_transport_breaks_and_does_not_raise(opened: Open) -> None:
    transport = opened(timeout=2.0)
    async with raw_server(says()) as server:
        whole(await transport.send(call(server.url)))
        await transport.close()
        outcome = broken(await transport.send(call(server.url)))
    assert outcome.sent is False


# Redirects ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_the_key_goes_nowhere(
    status: int, transport: Transport
) -> None:
    async with raw_server(says()) as elsewhere:
        where = {"location": elsewhere.url}
        async with raw_server(says(b"", f"{status} Elsewhere", where)) as server:
            reply = whole(await transport.send(call(server.url)))
    assert reply.status == status
    assert reply.headers["location"] == elsewhere.url
    assert elsewhere.connections == 0


async def test_cookies_are_not_kept(transport: Transport) -> None:
    async with raw_server(says(headers={"set-cookie": "track=1; Path=/"})) as server:
        for _ in range(2):
            whole(await transport.send(call(server.url)))
    assert all("cookie" not in head.headers for head in server.heads)


async def test_passwords_of_netrc_are_not_used(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ada password canary-netrc-1\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    transport = opened(timeout=5.0)
    async with raw_server(says()) as server:
        whole(await transport.send(call(server.url)))
        whole(await transport.send(Call("POST", server.url, {}, b"{}")))
    assert server.heads[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in server.heads[1].headers


# Connections ----------------------------------------------------------------------------------


async def test_a_connection_is_used_again(transport: Transport) -> None:
    async with raw_server(says()) as server:
        for _ in range(20):
            whole(await transport.send(call(server.url)))
    assert (server.connections, len(server.heads)) == (1, 20)


async def test_a_server_that_closes_idle_connections_is_asked_over_a_new_one(
    transport: Transport,
) -> None:
    async def answer(head: Head, reader: Reader, writer: Writer) -> None:
        await says()(head, reader, writer)
        await writer.drain()
        writer.close()  # without a word of warning

    async with raw_server(answer) as server:
        for _ in range(5):
            whole(await transport.send(call(server.url)))
            await asyncio.sleep(0.03)
    assert server.connections == 5


async def test_a_connection_with_an_unread_body_is_not_used_again(opened: Open) -> None:
    transport = opened(timeout=5.0, largest_body=10)
    answers = iter([says(b"x" * 100_000), says(b"{}")])

    async def answer(head: Head, reader: Reader, writer: Writer) -> None:
        await next(answers)(head, reader, writer)

    async with raw_server(answer) as server:
        assert broken(await transport.send(call(server.url))).reason == "too_large"
        assert whole(await transport.send(call(server.url))).body == b"{}"


async def test_a_thousand_calls_at_once_all_come_back(transport: Transport) -> None:
    arrived = 0
    all_there = asyncio.Event()

    async def answer(head: Head, _: Reader, writer: Writer) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 1000:
            all_there.set()
        await all_there.wait()  # nothing limits how many are under way
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(head.body) + head.body)

    async with raw_server(answer) as server:
        bodies = [b"%d" % number for number in range(1000)]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(transport.send(call(server.url, body=body, timeout=30.0)))
                for body in bodies
            ]
    assert [whole(task.result()).body for task in tasks] == bodies


def _sockets() -> int:
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += entry.readlink().name.startswith("socket:")
        except OSError:
            continue
    return count


async def test_no_socket_is_left_after_the_end(kind: str) -> None:
    async def moody(head: Head, reader: Reader, writer: Writer) -> None:
        moods: list[Answerer] = [says(), _reset, _nothing, says(b"x" * 10_000)]
        await moods[int(head.body) % 4](head, reader, writer)

    async with raw_server(says()) as server:  # what the loop and the client keep for themselves
        first = open_transport(TransportSettings(kind=kind, timeout=2.0))  # type: ignore[arg-type]
        await first.send(call(server.url))
        await first.close()
    await asyncio.sleep(0.05)
    before = _sockets()
    async with raw_server(moody) as server:
        settings = TransportSettings(kind=kind, timeout=0.5, largest_body=5000)  # type: ignore[arg-type]
        transport = open_transport(settings)
        async with asyncio.TaskGroup() as group:
            for number in range(80):
                group.create_task(transport.send(call(server.url, body=b"%d" % number)))
        await transport.close()
        for _ in range(40):
            if _sockets() <= before + 1:
                break
            await asyncio.sleep(0.02)
        assert _sockets() <= before + 1  # the one that listens
    assert len(asyncio.all_tasks()) == 1


_NO_DESCRIPTORS = """
import asyncio, resource, socket, sys
from penstock.providers.transport import Call, TransportSettings, open_transport

async def main(kind, port):
    transport = open_transport(TransportSettings(kind=kind, timeout=3))
    calls = [Call("POST", f"http://127.0.0.1:{port}/", {}, b"{}")] * 60
    kept = [socket.socket() for _ in range(20)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (45, 45))
    outcomes = await asyncio.gather(*(transport.send(call) for call in calls))
    refused = [each for each in outcomes if not hasattr(each, "status")]
    assert refused and all(each.reason == "connection" and not each.sent for each in refused)
    await transport.close()
    print("alive", len(refused))

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def test_without_file_descriptors_calls_break_and_the_process_lives(kind: str) -> None:
    async def slow(head: Head, reader: Reader, writer: Writer) -> None:
        await asyncio.sleep(0.1)
        await says()(head, reader, writer)

    async with raw_server(slow) as server:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _NO_DESCRIPTORS, kind, str(server.port)],
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert done.stdout.startswith("alive"), done.stderr


# Shown as it comes ----------------------------------------------------------------------------


async def test_pieces_are_shown_as_they_come_and_make_up_the_body(transport: Transport) -> None:
    go_on = asyncio.Event()
    shown: list[bytes] = []

    def show(piece: bytes) -> None:
        shown.append(piece)
        go_on.set()

    async def answer(_: Head, __: Reader, writer: Writer) -> None:
        writer.write(_chunked(head=b"content-type: text/event-stream\r\n"))
        for number in range(5):  # each is sent only after the one before was shown
            go_on.clear()
            writer.write(b"9\r\ndata: %d\n\n\r\n" % number)
            await asyncio.wait_for(go_on.wait(), 2)
        writer.write(b"0\r\n\r\n")

    async with raw_server(answer) as server:
        reply = whole(await transport.send(call(server.url), show))
    assert shown == [b"data: %d\n\n" % number for number in range(5)]
    assert reply.body == b"".join(shown)


async def test_a_body_with_a_length_is_shown_too(transport: Transport) -> None:
    shown: list[bytes] = []
    async with raw_server(says(b"data: 1\n\n")) as server:
        reply = whole(await transport.send(call(server.url), shown.append))
    assert b"".join(shown) == reply.body == b"data: 1\n\n"


async def test_a_file_is_sent_with_its_length_between_what_stands_around_it(
    transport: Transport, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 20_000  # several pieces
    (tmp_path / "body").write_bytes(content)
    body = Upload(str(tmp_path / "body"), b"before", b"after")
    async with raw_server(says()) as server:
        whole(await transport.send(Call("POST", server.url, {"x-a": "1"}, upload=body)))
    [head] = server.heads
    assert head.body == b"before" + content + b"after"
    assert head.headers["content-length"] == str(len(content) + 11)
    assert head.headers["x-a"] == "1"


async def test_a_body_that_is_only_shown_may_be_of_any_size_and_is_not_kept(opened: Open) -> None:
    transport = opened(timeout=5.0, largest_body=1000)
    sizes: list[int] = []
    async with raw_server(says(b"x" * 3_000_000)) as server:
        wanted = Call("GET", server.url, {}, keeps=False)
        reply = whole(await transport.send(wanted, lambda piece: sizes.append(len(piece))))
    assert reply.body == b""
    assert sum(sizes) == 3_000_000 and len(sizes) > 1


@pytest.mark.parametrize("status", ["201 Made", "400 Bad", "429 Slow", "500 Broken"])
async def test_what_is_not_200_is_not_shown(status: str, transport: Transport) -> None:
    shown: list[bytes] = []
    async with raw_server(says(b'{"error":{}}', status)) as server:
        reply = whole(await transport.send(call(server.url), shown.append))
    assert shown == []
    assert reply.body == b'{"error":{}}'


# Certificates ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@asynccontextmanager
async def tls_server(authority: trustme.CA, host: str = "127.0.0.1") -> AsyncIterator[RawServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    async with raw_server(says(), context) as server:
        yield server


async def test_an_unknown_authority_is_not_trusted(
    transport: Transport, authority: trustme.CA
) -> None:
    async with tls_server(authority) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", False)
    assert "certificate" in outcome.message.lower()
    assert server.heads == []


async def test_the_users_own_authority_is_trusted(
    opened: Open, authority: trustme.CA, bundle: Path
) -> None:
    transport = opened(timeout=5.0, ca_bundle=str(bundle))
    async with tls_server(authority) as server:
        assert whole(await transport.send(call(server.url))).status == 200


async def test_a_certificate_for_another_host_is_not_trusted(
    opened: Open, authority: trustme.CA, bundle: Path
) -> None:
    transport = opened(timeout=5.0, ca_bundle=str(bundle))
    async with tls_server(authority, "example.org") as server:
        outcome = broken(await transport.send(call(server.url)))
    assert outcome.sent is False
    assert server.heads == []


async def test_another_authority_in_the_bundle_does_not_help(
    opened: Open, authority: trustme.CA, tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    transport = opened(timeout=5.0, ca_bundle=str(other))
    async with tls_server(authority) as server:
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", False)


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_the_bundle_of_the_environment_is_honoured(
    name: str,
    opened: Open,
    authority: trustme.CA,
    bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, str(bundle))
    transport = opened(timeout=5.0)
    async with tls_server(authority) as server:
        assert whole(await transport.send(call(server.url))).status == 200


async def test_a_bundle_with_names_in_any_language_and_several_authorities_is_taken(
    opened: Open, authority: trustme.CA, tmp_path: Path
) -> None:
    other = trustme.CA().cert_pem.bytes()
    comment = "# Label: NetLock Arany (Class Gold) Főtanúsítvány\n".encode()
    path = tmp_path / "many.pem"
    path.write_bytes(comment + other + comment + authority.cert_pem.bytes())
    transport = opened(timeout=5.0, ca_bundle=str(path))
    async with tls_server(authority) as server:
        assert whole(await transport.send(call(server.url))).status == 200


GARBAGE = {
    "nothing in it": b"",
    "no certificate": b"hello\n",
    "not a text": b"\x00\xff\x00\xff",
    "garbage between the lines": (
        b"-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydA==\n-----END CERTIFICATE-----\n"
    ),
    "cut off": b"-----BEGIN CERTIFICATE-----\nMIIB",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_a_bundle_of_garbage_is_refused_and_never_ignored(
    name: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "garbage.pem"
    path.write_bytes(GARBAGE[name])
    with pytest.raises(SettingsError, match=r"garbage\.pem"):
        open_transport(TransportSettings(kind=kind, ca_bundle=str(path)))  # type: ignore[arg-type]


def test_a_bundle_that_is_half_garbage_is_refused(
    kind: str, authority: trustme.CA, tmp_path: Path
) -> None:
    path = tmp_path / "half.pem"
    path.write_bytes(authority.cert_pem.bytes() + GARBAGE["garbage between the lines"])
    with pytest.raises(SettingsError, match=r"half\.pem"):
        open_transport(TransportSettings(kind=kind, ca_bundle=str(path)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_bundle_that_is_missing_is_refused_also_from_the_environment(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "missing.pem"))
    with pytest.raises(SettingsError, match=r"missing\.pem"):
        open_transport(TransportSettings(kind=kind))  # type: ignore[arg-type]


# HTTP/2 ---------------------------------------------------------------------------------------


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


async def _http2(reader: Reader, writer: Writer, body: bytes) -> int:
    """Just enough of HTTP/2 to answer every stream with 200; headers are not even read."""
    await reader.readexactly(24)
    writer.write(_frame(4, 0, 0))
    asked = 0
    while True:
        try:
            head = await reader.readexactly(9)
        except (OSError, asyncio.IncompleteReadError):
            return asked
        await reader.readexactly(int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        if kind == 4 and not flags & 1:
            writer.write(_frame(4, 1, 0))
        if kind in (0, 1) and flags & 1:  # the end of a request
            asked += 1
            writer.write(_frame(1, 4, stream, b"\x88") + _frame(0, 1, stream, body))


async def test_http2_is_spoken_over_tls_where_it_is_asked_for(
    kind: str, opened: Open, authority: trustme.CA, bundle: Path
) -> None:
    if kind == "aiohttp":
        pytest.skip("aiohttp speaks HTTP/1.1 only")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    counts: list[asyncio.Future[int]] = []

    async def serve(reader: Reader, writer: Writer) -> None:
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        counts.append(done)
        done.set_result(await _http2(reader, writer, b'{"ok":2}'))
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        transport = opened(timeout=5.0, ca_bundle=str(bundle), http2=True)
        first = whole(await transport.send(call(url)))
        async with asyncio.TaskGroup() as group:
            rest = [group.create_task(transport.send(call(url))) for _ in range(20)]
        assert {whole(each.result()).body for each in rest} == {first.body} == {b'{"ok":2}'}
        await transport.close()
        assert await asyncio.wait_for(counts[0], 2) == 21  # all over one connection
    finally:
        listening.close()
        await asyncio.sleep(0.01)


# Proxies --------------------------------------------------------------------------------------


@asynccontextmanager
async def proxy_server() -> AsyncIterator[RawServer]:
    """A proxy that answers for every host itself, and tunnels where it is asked to."""

    async def answer(head: Head, reader: Reader, writer: Writer) -> None:
        if not head.line.startswith("CONNECT "):
            await says(b'{"by":"proxy"}')(head, reader, writer)
            return
        host, port = head.line.split(" ")[1].split(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")

        async def pump(source: Reader, target: Writer) -> None:
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
            target.close()

        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    async with raw_server(answer) as server:
        yield server


async def test_the_proxy_of_the_settings_is_used(opened: Open) -> None:
    async with proxy_server() as proxy:
        transport = opened(timeout=5.0, proxy=f"http://127.0.0.1:{proxy.port}")
        reply = whole(await transport.send(call("http://far.example/v1")))
    assert reply.body == b'{"by":"proxy"}'
    assert proxy.heads[0].line == "POST http://far.example/v1 HTTP/1.1"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_the_proxy_of_the_environment_is_used(
    name: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server() as proxy:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        transport = opened(timeout=5.0)
        whole(await transport.send(call("http://far.example/v1")))
    assert proxy.heads[0].line == "POST http://far.example/v1 HTTP/1.1"


async def test_hosts_that_need_no_proxy_are_asked_directly(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server() as proxy, raw_server(says(b'{"by":"server"}')) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        transport = opened(timeout=5.0)
        reply = whole(await transport.send(call(server.url)))
    assert reply.body == b'{"by":"server"}'
    assert proxy.heads == []


async def test_the_proxy_of_the_settings_goes_before_the_environments(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server() as proxy, proxy_server() as other:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{other.port}")
        transport = opened(timeout=5.0, proxy=f"http://127.0.0.1:{proxy.port}")
        whole(await transport.send(call("http://far.example/v1")))
    assert (len(proxy.heads), len(other.heads)) == (1, 0)


async def test_the_user_of_a_proxy_is_told_to_the_proxy_alone(opened: Open) -> None:
    async with proxy_server() as proxy:
        transport = opened(timeout=5.0, proxy=f"http://ada:pass@127.0.0.1:{proxy.port}")
        whole(await transport.send(call("http://far.example/v1")))
    head = proxy.heads[0]
    assert head.headers["proxy-authorization"] == "Basic YWRhOnBhc3M="
    assert head.headers["authorization"] == f"Bearer {KEY}"
    assert "ada" not in head.line


async def test_through_a_proxy_tls_is_a_tunnel_and_the_key_stays_inside(
    opened: Open, authority: trustme.CA, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server() as proxy, tls_server(authority) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        transport = opened(timeout=5.0, ca_bundle=str(bundle))
        whole(await transport.send(call(server.url)))
        await transport.close()
    assert proxy.heads[0].line == f"CONNECT 127.0.0.1:{server.port} HTTP/1.1"
    assert KEY not in str(proxy.heads)
    assert server.heads[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_proxy_that_refuses_the_tunnel_has_sent_nothing(
    opened: Open, authority: trustme.CA
) -> None:
    refuses = says(b"", "407 Proxy Authentication Required")
    async with raw_server(refuses) as proxy, tls_server(authority) as server:
        transport = opened(timeout=5.0, proxy=f"http://127.0.0.1:{proxy.port}")
        outcome = broken(await transport.send(call(server.url)))
    assert (outcome.reason, outcome.sent) == ("connection", False)
    assert server.connections == 0


async def test_a_proxy_that_is_not_there_has_sent_nothing(opened: Open) -> None:
    transport = opened(timeout=5.0, proxy=f"http://127.0.0.1:{_free_port()}")
    outcome = broken(await transport.send(call("http://far.example/v1")))
    assert (outcome.reason, outcome.sent) == ("connection", False)


def test_a_proxy_that_is_none_is_refused_without_showing_its_password(kind: str) -> None:
    proxy = "ftp://ada:canary-pass-1@proxy.example"
    with pytest.raises(SettingsError, match=r"llm\.proxy") as raised:
        open_transport(TransportSettings(kind=kind, proxy=proxy))  # type: ignore[arg-type]
    assert "canary-pass-1" not in str(raised.value)


def test_a_socks_proxy_is_refused_where_it_cannot_be_used() -> None:
    settings = TransportSettings(kind="aiohttp", proxy="socks5://127.0.0.1:1")
    with pytest.raises(SettingsError, match="SOCKS"):
        open_transport(settings)


# Which transport ------------------------------------------------------------------------------


def test_the_fast_transport_is_taken_where_it_is_installed() -> None:
    assert type(open_transport(TransportSettings())).__name__ == "PyreqwestTransport"


def test_without_the_fast_transport_the_other_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "penstock.providers.transport_pyreqwest", None)
    assert type(open_transport(TransportSettings())).__name__ == "AiohttpTransport"


def test_a_transport_that_is_named_but_missing_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "penstock.providers.transport_pyreqwest", None)
    monkeypatch.setitem(sys.modules, "penstock.providers.transport_aiohttp", None)
    from penstock.errors import InputError

    with pytest.raises(InputError, match="pip install pyreqwest"):
        open_transport(TransportSettings(kind="pyreqwest"))
    with pytest.raises(InputError, match="pip install"):
        open_transport(TransportSettings())
