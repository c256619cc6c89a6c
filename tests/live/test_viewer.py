"""The viewer's server: who is let in, and what they are told."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import sqlite3
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from penstock.engine.states import RunState
from penstock.errors import InputError
from penstock.live import Viewer
from penstock.live.handler import STATIC
from tests.live.going import Going


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Served(NamedTuple):
    going: Going
    viewer: Viewer
    port: int
    token: str

    def get(
        self, path: str = "", *, host: str | None = "", method: str = "GET", raw: bool = False
    ) -> Reply:
        """An answer; the path is under the token unless it is raw."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.putrequest(method, path if raw else f"/{self.token}/{path}", skip_host=True)
            if host is not None:
                connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            connection.endheaders()
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, headers, answer.read())
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        reply = self.get(path)
        assert reply.status == 200, reply.body
        return json.loads(reply.body)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with (
        Going(tmp_path, total=10) as going,
        Viewer(
            going.workspace, going.run.id, title="A <b>title</b>", catalog=going.catalog
        ) as viewer,
    ):
        port, token = viewer.url.removeprefix("http://127.0.0.1:").strip("/").split("/")
        yield Served(going, viewer, int(port), token)


# Who is let in --------------------------------------------------------------------------------


def test_the_address_is_on_this_machine_and_cannot_be_guessed(served: Served) -> None:
    assert served.viewer.url == f"http://127.0.0.1:{served.port}/{served.token}/"
    assert len(served.token) >= 32
    with Viewer(served.going.workspace, served.going.run.id, title="") as other:
        assert served.token not in other.url


def test_it_listens_on_no_other_address(served: Served) -> None:
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(2)
        other.connect(("127.0.0.2", served.port))


@pytest.mark.parametrize("name", [*STATIC, "state", "rows", "rows?start=0&count=5&failed=1"])
def test_every_answer_carries_the_strict_headers(served: Served, name: str) -> None:
    reply = served.get(name)
    assert reply.status == 200
    assert reply.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in reply.headers
    assert reply.headers["server"] == "penstock"


@pytest.mark.parametrize(
    "host",
    [
        None,
        "evil.test",
        "evil.test:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.test",
        "127.0.0.1:{port}, evil.test",
        "127.0.0.1.evil.test:{port}",
        "user@127.0.0.1:{port}",
        "[::1]:{port}",
        "0.0.0.0:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "LOCALHOST.:{port}",
    ],
)
def test_a_page_that_came_by_another_name_is_turned_away(served: Served, host: str | None) -> None:
    reply = served.get(host=host.format(port=served.port) if host else host)
    assert reply.status == 403
    assert served.token.encode() not in reply.body


def test_two_hosts_are_turned_away(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as line:
        hosts = f"Host: 127.0.0.1:{served.port}\r\nHost: evil.test\r\n"
        line.sendall(f"GET /{served.token}/ HTTP/1.1\r\n{hosts}\r\n".encode())
        assert line.recv(100).split()[1] == b"403"


def test_localhost_is_this_machine_too(served: Served) -> None:
    assert served.get(host=f"localhost:{served.port}").status == 200


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "X"]
)
def test_only_get_is_answered(served: Served, method: str) -> None:
    reply = served.get(method=method)
    assert reply.status == 405
    assert reply.headers["allow"] == "GET"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/state",
        "/rows",
        "//",
        "/{token}",
        "/{token}x/",
        "/x{token}/",
        "/{short}/",
        "/{upper}/",
        "/{token}//",
        "/{token}/state/",
        "/./{token}/state",
        "/x/../{token}/state",
        "/{encoded}/state",
        "state",
        "*",
        "http://127.0.0.1/{token}/state",
        "/é/",
        "/{token}/live.rows",
        "/{token}/page.html",
    ],
)
def test_everything_but_the_page_under_its_token_is_not_there(served: Served, path: str) -> None:
    token = served.token
    upper, encoded = token.swapcase(), "".join(f"%{ord(letter):02x}" for letter in token)
    asked = path.format(token=token, short=token[:-1], upper=upper, encoded=encoded)
    reply = served.get(quote(asked, safe="/%*:"), raw=True)
    assert reply.status == 404
    assert token.encode() not in reply.body


@pytest.mark.parametrize(
    "climb",
    [
        "../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "....//....//etc/passwd",
        "..\\..\\etc\\passwd",
        "%2e%2e%5c%2e%2e%5cetc",
        "..;/..;/etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "app.js/../../viewer.py",
        "app.js%00",
        "%00",
        "..",
        ".",
        "static/app.js",
        "../live/viewer.py",
        "__init__.py",
        "..%c0%af..%c0%afetc%c0%afpasswd",
        "%252e%252e%252fetc",
        "run.json",
    ],
)
def test_no_path_climbs_out_of_the_page(served: Served, climb: str) -> None:
    reply = served.get(climb)
    assert reply.status == 404
    assert b"root:" not in reply.body and b"import" not in reply.body


@pytest.mark.parametrize(
    "query",
    [
        "start=-1",
        "start=x",
        "start=",
        "start=1&start=2",
        "count=1.5",
        "count=1e3",
        "start=9999999999999999",
        "failed=true",
        "start=٣",
        "other=1",
        "a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1",
    ],
)
def test_a_question_that_makes_no_sense_is_refused(served: Served, query: str) -> None:
    assert served.get(f"rows?{quote(query, safe='=&')}").status == 400


@pytest.mark.parametrize(
    "line", [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x00\r\n\r\n"]
)
def test_what_is_no_http_gets_no_page(served: Served, line: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        said = connection.recv(10_000)
    assert b"200" not in said.split(b"\r\n")[0]
    assert served.get("state").status == 200


# What they are told ---------------------------------------------------------------------------


def test_the_state_says_what_the_catalog_and_the_feed_say(served: Served) -> None:
    for number in range(4):
        served.going.add({"question": "why", "n": number}, "timeout" if number == 2 else "")
    served.going.tell()
    state = served.json("state")
    assert state["title"] == "A <b>title</b>"
    assert (state["run"], state["state"], state["ended"]) == ("generate-1", "running", False)
    assert (state["rows"], state["failed_rows"]) == (4, 1)
    assert (state["done"], state["total"]) == (4, 10)
    assert state["columns"] == ["question", "n"]
    assert state["failures"] == {"timeout": 1}
    assert (state["input_tokens"], state["output_tokens"]) == (720, 256)
    assert state["cost"] == "0.0002616"
    assert state["elapsed"] >= 0


def test_rows_come_in_pages_and_failed_rows_alone(served: Served) -> None:
    for number in range(20):
        served.going.add({"n": number}, "timeout" if number % 5 == 0 else "", "late")
    served.going.tell()
    page = served.json("rows?start=3&count=2")
    assert page == [
        {"number": 3, "status": "ok", "kinds": [], "cells": {"n": 3}},
        {"number": 4, "status": "ok", "kinds": [], "cells": {"n": 4}},
    ]
    failed = served.json("rows?start=1&count=100&failed=1")
    assert [row["number"] for row in failed] == [5, 10, 15]
    assert served.json("rows?start=999") == []
    whole = served.json("row?at=1&failed=1")
    assert whole["number"] == 5
    assert whole["failures"] == [{"kind": "timeout", "message": "late", "attempts": 3}]
    assert served.get("row?at=999").status == 404


def test_a_page_is_never_larger_than_its_bound(served: Served) -> None:
    for number in range(600):
        served.going.add({"n": number})
    served.going.tell()
    assert len(served.json("rows?start=0&count=100000")) == 500


def test_long_cells_are_cut_in_the_page_and_whole_in_the_row(served: Served) -> None:
    text = "a long answer " * 1000
    served.going.add({"answer": text, "large": 2**60, "list": [1, {"a": None}], "none": None})
    served.going.tell()
    cells = served.json("rows")[0]["cells"]
    assert cells["answer"] == text[:300] + "…"
    # Numbers that a browser would round are sent as text.
    assert cells["large"] == str(2**60)
    assert cells["list"] == '[1, {"a": null}]'
    assert cells["none"] is None
    whole = {cell["name"]: cell["value"] for cell in served.json("row?at=0")["cells"]}
    assert whole["answer"] == text


def test_it_keeps_serving_after_the_run_has_ended(served: Served) -> None:
    served.going.add({"n": 1})
    served.going.finish(RunState.STOPPED, "the budget is spent")
    state = served.json("state")
    assert (state["state"], state["ended"]) == ("stopped", True)
    assert state["message"] == "the budget is spent"
    assert state["left"] is None
    assert served.json("rows")[0]["cells"] == {"n": 1}


def test_a_run_whose_process_was_killed_is_said_to_be(served: Served) -> None:
    served.going.add({"n": 1})
    served.going.tell()
    served.going.run._free_lock()  # as when the process dies
    state = served.json("state")
    assert (state["state"], state["ended"]) == ("killed", True)


def test_a_run_that_has_not_begun_is_pending(tmp_path: Path) -> None:
    with Going(tmp_path) as going, Viewer(going.workspace, "later-1", title="x") as viewer:
        port, token = viewer.url.removeprefix("http://127.0.0.1:").strip("/").split("/")
        state = Served(going, viewer, int(port), token).json("state")
    assert (state["state"], state["rows"], state["elapsed"]) == ("pending", 0, None)


def test_a_catalog_that_cannot_be_read_is_said_and_the_server_goes_on(served: Served) -> None:
    with contextlib.closing(sqlite3.connect(served.going.workspace.catalog)) as catalog:
        catalog.execute("ALTER TABLE runs RENAME TO lost")
        assert served.get("state").status == 503
        catalog.execute("ALTER TABLE lost RENAME TO runs")
    assert served.get("state").status == 200
    assert served.get("").status == 200


# Coming and going -----------------------------------------------------------------------------


def test_closing_frees_the_port_and_may_be_done_twice(served: Served) -> None:
    served.viewer.close()
    served.viewer.close()
    with pytest.raises(ConnectionRefusedError):
        served.get("state")


def test_a_port_that_is_taken_is_named(served: Served) -> None:
    with pytest.raises(InputError, match=f"port {served.port}") as caught:
        Viewer(served.going.workspace, "x-1", title="", port=served.port)
    assert "0 for one that is free" in caught.value.remedy
    with pytest.raises(InputError, match="port 99999"):
        Viewer(served.going.workspace, "x-1", title="", port=99_999)


def test_where_there_is_no_browser_open_says_so_quietly(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert served.viewer.open() is False
    assert capfd.readouterr() == ("", "")


def test_open_gives_the_address_to_the_browser(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setitem(os.environ, "DISPLAY", ":0")

    def opens(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", opens)
    assert served.viewer.open() is True
    assert opened == [served.viewer.url]
