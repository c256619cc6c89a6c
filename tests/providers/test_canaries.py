"""Canaries: keys planted everywhere a key may be, and looked for everywhere it must not be.

The server is hostile: it says the key back in answers, errors, headers and broken replies, plainly
and in disguise. Looked through are what a program is given, what is logged at the finest level,
what is printed, tracebacks with local variables, and every byte of the workspace.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import sqlite3
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock import logs, secret
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import PenstockError
from penstock.generate import Prompter
from penstock.outcome import Answer, Failure
from penstock.providers import openai, provider_of, resolve
from penstock.providers.compatible import COMPATIBLE
from penstock.providers.provider import HttpProvider, Sent
from penstock.providers.transport import TransportSettings, open_transport
from penstock.request import Request
from penstock.secret import Secret

CANARY = "cAnArY/0f1e2d3c+4b5a69788796a5b4"
FIRST, LAST = CANARY[:8], CANARY[-8:]
ESCAPED = "".join(f"\\u{ord(each):04x}" for each in FIRST)
NAMES = ("openai", "azure", "anthropic", "gemini", "groq")
OTHERS = sorted(set(COMPATIBLE) - set(NAMES))
URL_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    **{name: kind.url_variables[0] for name, kind in COMPATIBLE.items()},
}
KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    **{name: kind.key_variables[-1] for name, kind in COMPATIBLE.items()},
}
DISGUISES = {
    "plain": lambda text: json.dumps(text),
    "slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "escapes": lambda text: '"' + "".join(f"\\u{ord(each):04x}" for each in text) + '"',
    "quoted": lambda text: json.dumps(quote(text, safe=": ")),
}
MOODS = ("answers", "streams", "refuses", "starred", "fails", "breaks", "garbles", "redirects")


class Parrot:
    """A server that speaks every API and says every key back."""

    def __init__(self) -> None:
        self.mood = "answers"
        self.disguise = "plain"
        self.heard: list[str] = []
        parrot = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                key = _key_of(self.headers)
                parrot.heard.append(key)
                status, body = parrot.say(self.path, f"The key is {key} indeed", key)
                self.send_response(status)
                for name in ("x-request-id", "request-id", "server", "set-cookie"):
                    self.send_header(name, f"id-{key}")
                if status == 302:
                    self.send_header("location", f"http://127.0.0.1:1/?key={key}&token={key}")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/openai/v1"

    def __enter__(self) -> Parrot:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def say(self, path: str, text: str, key: str) -> tuple[int, bytes]:
        said = DISGUISES[self.disguise](text)
        match self.mood:
            case "answers":
                return 200, _answer(path, said).encode()
            case "streams":
                return 200, _stream(path, text)
            case "starred":
                said = json.dumps(f"Incorrect API key provided: {key[:8]}********{key[-4:]}.")
                return 401, _problem(said)
            case "refuses" | "fails":
                return (401 if self.mood == "refuses" else 500), _problem(said)
            case "breaks":
                return 200, b'{"choices": [' + said.encode()
            case "garbles":
                return 200, f'{{"answer": {said}}}'.encode()
        return 302, _problem(said)


def _key_of(headers: Any) -> str:
    for name in ("authorization", "api-key", "x-goog-api-key"):
        if value := headers.get(name):
            return str(value).removeprefix("Bearer ")
    return ""


def _problem(said: str) -> bytes:
    return f'{{"type": "error", "error": {{"message": {said}, "type": {said}}}}}'.encode()


def _answer(path: str, said: str) -> str:
    if path.endswith("/messages"):
        return (
            f'{{"id": {said}, "type": "message", "role": "assistant", "model": {said}, "content": '
            f'[{{"type": "text", "text": {said}}}], "stop_reason": "end_turn", '
            '"usage": {"input_tokens": 1, "output_tokens": 1}}'
        )
    if "enerateContent" in path:
        return (
            f'{{"candidates": [{{"content": {{"parts": [{{"text": {said}}}]}}, "finishReason": '
            f'"STOP"}}], "modelVersion": {said}, "responseId": {said}}}'
        )
    return (
        f'{{"id": {said}, "model": {said}, "choices": [{{"index": 0, "finish_reason": "stop", '
        f'"message": {{"role": "assistant", "content": {said}}}}}]}}'
    )


def _stream(path: str, text: str) -> bytes:
    """In pieces of three characters: no piece holds a key."""
    bits = [text[start : start + 3] for start in range(0, len(text), 3)]
    if path.endswith("/messages"):
        start = {"type": "message", "id": "m", "role": "assistant", "content": [], "usage": {}}
        block = {"type": "text", "text": ""}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": block},
        ]
        for bit in bits:
            delta = {"type": "text_delta", "text": bit}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
            {"type": "message_stop"},
        ]
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return "".join(lines).encode()
    if "enerateContent" in path:
        events = [{"candidates": [{"content": {"parts": [{"text": bit}]}}]} for bit in bits]
        events[-1]["candidates"][0]["finishReason"] = "STOP"
    else:
        events = [{"choices": [{"index": 0, "delta": {"content": bit}}]} for bit in bits]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows the key from another one."""
    monkeypatch.setattr(secret, "_known", [])


@pytest.fixture(scope="module")
def parrot_server() -> Iterator[Parrot]:
    with Parrot() as parrot:
        yield parrot


@pytest.fixture
def parrot(parrot_server: Parrot, monkeypatch: pytest.MonkeyPatch) -> Parrot:
    """The server, which also stands for Azure: its key has a header of its own."""
    monkeypatch.setattr(openai, "_AZURE", ("127.0.0.1",))
    parrot_server.heard.clear()
    parrot_server.mood, parrot_server.disguise = "answers", "plain"
    return parrot_server


@pytest.fixture
def noise() -> Iterator[io.StringIO]:
    """Everything that any library logs, at the finest level, as it was logged."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield heard
    root.removeHandler(handler)
    root.setLevel(before)


def clean(text: str | bytes, where: object = "") -> None:
    """No part of the key that anybody could use."""
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    for part in (FIRST, LAST, FIRST.replace("/", "\\/"), quote(FIRST, safe=""), ESCAPED):
        found = text.find(part)
        assert found < 0, f"{where}: {text[max(0, found - 100) : found + 60]!r}"


def shown(error: BaseException) -> str:
    """A traceback as a crash reporter writes it: with every local variable of ours."""
    found = traceback.TracebackException.from_exception(error, capture_locals=True)
    mine = [frame for frame in found.stack if "/tests/" not in frame.filename]
    found.stack[:] = mine
    return "".join(found.format())


# Ways of giving a key -------------------------------------------------------------------------


WAYS = ("variable", "env", "file", "secret")


def given(
    name: str, way: str, parrot: Parrot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Endpoint | str:
    if way == "variable":
        monkeypatch.setenv(URL_VARIABLES[name], parrot.url)
        monkeypatch.setenv(KEY_VARIABLES[name], CANARY)
        return f"{name}/some-model"
    if way == "env":
        monkeypatch.setenv("A_KEY_OF_MINE", f" {CANARY}\n")
        return Endpoint(name, "some-model", url=parrot.url, key="env:A_KEY_OF_MINE")
    if way == "file":
        (folder / "key.txt").write_text(CANARY + "\n")
        return Endpoint(name, "some-model", url=parrot.url, key=f"file:{folder / 'key.txt'}")
    return Endpoint(name, "some-model", url=parrot.url, key=Secret(CANARY))


def ask(endpoint: Endpoint | str, pieces: list[str] | None = None) -> Sent:
    async def send() -> Sent:
        found = resolve(endpoint)
        transport = open_transport(TransportSettings(timeout=10))
        provider = provider_of(found)(found, transport)
        provider.open()
        for each in (found, provider, provider.endpoint, Request.of(found, "Hi"), vars(found)):
            clean(repr(each), type(each))
        try:
            show = None if pieces is None else pieces.append
            return await provider.send(Request.of(found, "Hi"), show)
        finally:
            await transport.close()

    return asyncio.run(send())


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("name", NAMES)
def test_no_key_comes_back_from_a_server_that_says_it(
    name: str, mood: str, disguise: str, parrot: Parrot, noise: io.StringIO
) -> None:
    parrot.mood, parrot.disguise = mood, disguise
    endpoint = Endpoint(name, "some-model", url=parrot.url, key=Secret(CANARY))
    pieces: list[str] | None = [] if mood == "streams" else None
    sent = ask(endpoint, pieces)
    assert CANARY in parrot.heard
    assert isinstance(sent.outcome, Answer if mood in ("answers", "streams") else Failure)
    for each in (sent, sent.outcome, sent.body, sent.wire):
        clean(repr(each), type(each))
    if isinstance(sent.outcome, Answer):
        assert "The key is **** indeed" in sent.outcome.text
        assert provider_of(endpoint).read(sent.body) == sent.outcome
        if pieces is not None:
            assert "".join(pieces) == sent.outcome.text
    clean(noise.getvalue(), "a log")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mood", ["answers", "refuses", "fails"])
def test_no_byte_of_a_workspace_holds_a_key(
    name: str,
    way: str,
    mood: str,
    parrot: Parrot,
    noise: io.StringIO,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    parrot.mood = mood
    endpoint = given(name, way, parrot, tmp_path, monkeypatch)
    _run_a_job(endpoint, tmp_path / "home", mood, monkeypatch)
    assert CANARY in parrot.heard
    clean(noise.getvalue(), "a log")
    printed = capfd.readouterr()
    clean(printed.out + printed.err, "the terminal")
    assert _look_through(tmp_path / "home", tmp_path / "out.jsonl") >= 4


@pytest.mark.parametrize("name", OTHERS)
def test_nor_with_a_server_of_another_name(
    name: str, parrot: Parrot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mood in ("answers", "refuses"):
        parrot.mood = mood
        endpoint = given(name, "variable", parrot, tmp_path, monkeypatch)
        _run_a_job(endpoint, tmp_path / "home" / mood, mood, monkeypatch)
    assert CANARY in parrot.heard
    assert _look_through(tmp_path / "home") >= 8


def _run_a_job(
    endpoint: Endpoint | str, home: Path, mood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_LOGGING_LEVEL", "DEBUG")
    monkeypatch.setenv("PENSTOCK_LOGGING_FILE", str(home / "penstock.log"))
    rows = [{"name": "Aare"}, {"name": "Inn"}]
    with Workbench(workspace=home) as bench:
        prompter = Prompter(
            endpoint,
            lambda row: f"Hello, {row['name']}",
            workbench=bench,
            failures="keep",
            backend_params={"max_retries": 0},
        )
        for each in (prompter, bench, bench.settings, bench.workspace):
            clean(repr(each), type(each))
        try:
            table = prompter(rows)
        except PenstockError as error:
            assert mood == "refuses"
            clean(shown(error), "a traceback")
            _hooked(error)
        else:
            assert len(table) + len(table.failures) == 2
            for made in (table, table.failures, table.run, list(table), list(table.failures)):
                clean(repr(made), type(made))
            table.save(home.parent / "out.jsonl")
        # While it is open the write-ahead log is there too.
        _look_through(home)


def _hooked(error: BaseException) -> None:
    """What an uncaught error would print."""
    printed = io.StringIO()
    before, sys.stderr = sys.stderr, printed
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stderr = before
    assert printed.getvalue()
    clean(printed.getvalue(), "excepthook")


def _look_through(*places: Path) -> int:
    """Every byte of every file, and every value of every database. Counts the files."""
    count = 0
    for place in places:
        files = [place] if place.is_file() else list(place.rglob("*"))
        for file in filter(Path.is_file, files):
            count += 1
            clean(file.read_bytes(), file)
            clean(str(file), file)
            if file.suffix == ".db":
                _look_through_database(file)
    return count


def _look_through_database(file: Path) -> None:
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        assert tables
        for (table,) in tables:
            for row in database.execute(f'select * from "{table}"'):
                clean(repr(row), f"{file} {table}")
    finally:
        database.close()


def test_the_looking_finds_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "note.txt").write_text(f"the key is {CANARY}")
    with pytest.raises(AssertionError, match=r"note\.txt"):
        _look_through(tmp_path)
    (tmp_path / "run" / "note.txt").write_text("nothing")
    database = sqlite3.connect(tmp_path / "some.db")
    database.execute("create table notes (note text)")
    database.execute("insert into notes values (?)", (f"the key is {CANARY}",))
    database.commit()
    database.close()
    with pytest.raises(AssertionError, match=r"some\.db"):
        _look_through(tmp_path)


# Keys where they do not belong ----------------------------------------------------------------


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "api-key", "x-goog-api-key"])
@pytest.mark.parametrize("name", NAMES)
def test_a_key_in_a_header_is_refused_and_not_repeated(name: str, header: str) -> None:
    with pytest.raises(PenstockError) as raised:
        Endpoint(name, "m", url="http://localhost:1", headers={header: CANARY})
    clean(str(raised.value))
    clean("".join(traceback.format_exception(raised.value)))


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{CANARY.replace('/', '')}@localhost:1/v1",
        f"http://{CANARY.replace('/', '')}@localhost:1/v1",
        f"http://localhost:1/v1?key={quote(CANARY, safe='')}",
        f"http://localhost:1/v1?api-version=1&access_token={quote(CANARY, safe='')}",
        f"ftp://user:{CANARY.replace('/', '')}@localhost:1/v1",
        f"http://user:{CANARY.replace('/', '')}@[localhost:1/v1",
    ],
    ids=["password", "user", "key", "token", "ftp", "broken"],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_key_in_an_address_is_refused_and_not_repeated(
    name: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = (CANARY.replace("/", "")[:12], LAST, quote(LAST, safe=""))
    with pytest.raises(PenstockError) as raised:
        Endpoint(name, "m", url=url)
    assert not [part for part in parts if part in "".join(traceback.format_exception(raised.value))]
    monkeypatch.setenv(URL_VARIABLES[name], url)
    with pytest.raises(PenstockError, match=URL_VARIABLES[name]) as raised:
        resolve(f"{name}/some-model")
    assert not [part for part in parts if part in shown(raised.value)]


@pytest.mark.parametrize(
    "odd",
    [f"{CANARY}é", f"{CANARY}\u200b", f"{CANARY}\x01tail"],
    ids=["accent", "unseen", "control"],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_cannot_be_sent_is_not_repeated(
    name: str, odd: str, parrot: Parrot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AN_ODD_KEY", odd)
    endpoint = Endpoint(name, "m", url=parrot.url, key="env:AN_ODD_KEY")
    provider = provider_of(endpoint)(endpoint)
    with pytest.raises(PenstockError) as raised:
        provider.open()
    clean(shown(raised.value), "a traceback")


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_of_ours_shows_no_key_in_its_traceback(
    name: str, parrot: Parrot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something breaks where headers and replies are at hand, and a reporter shows all of it."""

    def faulty(*_: Any) -> Any:
        raise ZeroDivisionError("a fault of ours")

    endpoint = Endpoint(name, "m", url=parrot.url, key=Secret(CANARY))
    kind = provider_of(endpoint)
    assert issubclass(kind, HttpProvider)
    for method in ("read", "limits", "stream"):
        with monkeypatch.context() as patched:
            patched.setattr(kind, method, faulty)
            with pytest.raises(ZeroDivisionError) as raised:
                ask(endpoint, [] if method == "stream" else None)
        clean(shown(raised.value), f"a traceback of {method}")
    assert CANARY in parrot.heard


def test_a_fault_inside_the_transport_shows_no_key(
    parrot: Parrot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("a fault of ours")

    endpoint = Endpoint("openai", "m", url=parrot.url, key=Secret(CANARY))
    for kind, method in (("pyreqwest", "_request"), ("aiohttp", "_checked")):

        async def send(kind: Any = kind, method: str = method) -> None:
            transport = open_transport(TransportSettings(kind=kind))
            provider = provider_of(endpoint)(endpoint, transport)
            provider.open()
            with monkeypatch.context() as patched:
                patched.setattr(type(transport), method, faulty)
                try:
                    await provider.send(Request.of(endpoint, "Hi"))
                finally:
                    await transport.close()

        with pytest.raises(ZeroDivisionError) as raised:
            asyncio.run(send())
        clean(shown(raised.value), kind)


def test_logs_hide_a_key_that_was_logged_by_mistake(tmp_path: Path) -> None:
    key = Secret(CANARY)
    logs.configure(level="DEBUG", file=tmp_path / "penstock.log")
    log = logging.getLogger("penstock.engine")
    log.debug("sent %s", key.reveal())
    log.debug("to http://host/?x=%s", quote(key.reveal(), safe=""))
    log.debug("headers", extra={"headers": {"x-goog-api-key": key.reveal()}})
    try:
        raise ValueError(key.reveal())
    except ValueError:
        log.exception("failed")
    logs.reset()
    text = (tmp_path / "penstock.log").read_text()
    assert text.count("\n") == 4
    clean(text)


def test_the_environment_of_the_test_holds_no_key_of_its_own() -> None:
    clean(repr(dict(os.environ)))
