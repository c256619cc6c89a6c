"""Webhooks: told in order, never in the way, and their address nowhere to be found."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from penstock.bench import webhook
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, KeyMissingError
from penstock.simulator import Simulator
from tests.bench.bench_kit import Run, recipe, sent, settings
from tests.grade.test_grading_secrets import CANARY, look_through


class Ear:
    """A server that keeps what it is told; `statuses` are its next answers, then 200."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.calls = 0
        self.statuses: list[int] = []
        self.hold = threading.Event()
        self.hold.set()
        ear = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                ear.hold.wait(30)
                ear.calls += 1
                status = ear.statuses.pop(0) if ear.statuses else 200
                if status == 200:
                    ear.events.append({"path": self.path, **json.loads(body)})
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def url(self, path: str = "hook") -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{path}"

    def close(self) -> None:
        self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def ear() -> Iterator[Ear]:
    ear = Ear()
    yield ear
    ear.close()


def test_events_come_in_order_from_the_first_to_the_last(
    run: Run, ear: Ear, tmp_path: Path
) -> None:
    what = [recipe(tmp_path, "one", count=3), recipe(tmp_path, "two", count=2)]
    done = run(what, webhooks=[ear.url()], name="nightly")
    first, last = ear.events[0], ear.events[-1]
    assert (first["status"], first["done"], first["current_recipe"]) == ("running", 0, "one")
    assert (last["status"], last["done"], last["percent"]) == ("completed", 5, 100)
    assert (last["run"], last["name"], last["recipe_total"]) == (done.id, "nightly", 2)
    counts = [event["done"] for event in ear.events]
    assert counts == sorted(counts)
    assert sorted(e["finished"] for e in ear.events if e["finished"]) == ["one", "two"]


def test_a_server_that_fails_is_tried_again_and_one_that_refuses_is_not(
    run: Run, ear: Ear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "_PAUSE", 0.01)
    ear.statuses = [500, 503, 200]
    run(recipe(tmp_path), webhooks=[ear.url()])
    assert ear.events[0]["done"] == 0, "the first event came with the third try"
    calls = ear.calls
    ear.statuses = [404]
    run(recipe(tmp_path), webhooks=[ear.url()])
    later = ear.events[-1]
    assert later["status"] == "completed" and ear.calls > calls + 1


@pytest.mark.parametrize("dead", ["refuses", "silent"])
def test_a_dead_address_delays_the_end_by_a_few_seconds_at_most(
    run: Run,
    ear: Ear,
    tmp_path: Path,
    dead: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.bench.listening.GRACE", 0.3)
    if dead == "silent":
        ear.hold.clear()
        url = ear.url()
    else:
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    began = time.monotonic()
    done = run([recipe(tmp_path, f"r{n}", count=1) for n in range(5)], webhooks=[url])
    assert done.result.state == "completed" and time.monotonic() - began < 4
    assert webhook.GRACE <= 5


def test_of_too_many_events_the_oldest_are_left_out_and_the_last_is_kept() -> None:
    hook = webhook.Webhook("http://127.0.0.1/x")
    for number in range(150):
        hook.put({"number": number})
    assert hook.lost == 50 and [event["number"] for event in hook._events] == list(range(50, 150))


@pytest.mark.parametrize("by", ["url", "query", "env"])
@pytest.mark.parametrize("fault", [False, True])
def test_the_address_of_a_webhook_is_nowhere(
    simulator: Simulator,
    ear: Ear,
    tmp_path: Path,
    by: str,
    fault: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from penstock import bench as benchmarks

    monkeypatch.setattr(webhook, "_PAUSE", 0.01)
    url = ear.url(f"?sig={CANARY}" if by == "query" else f"hooks/{CANARY}")
    if fault:
        ear.statuses = [500] * 50
    if by == "env":
        monkeypatch.setenv("MY_HOOK", url)
    with Workbench(settings(logging__level="DEBUG"), tmp_path / "home") as bench:
        what = recipe(tmp_path, count=2)
        given = "env:MY_HOOK" if by == "env" else url
        done = benchmarks.run(what, endpoints="simulated", webhooks=[given], workbench=bench)
        assert CANARY not in repr(done)
        look_through(tmp_path)
    assert fault or CANARY in ear.events[0]["path"], "it was really told"
    assert ear.calls and look_through(tmp_path) > 5
    assert not [text for text in capfd.readouterr() if CANARY in text]


def test_an_address_that_cannot_be_used_is_told_without_showing_it(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    for url in (
        f"http://user:{CANARY}@127.0.0.1/x",
        f"ftp://127.0.0.1/{CANARY}",
        f"http://169.254.169.254/{CANARY}",
    ):
        with pytest.raises(InputError, match="the address of the webhook") as caught:
            run(recipe(tmp_path), webhooks=[url])
        assert CANARY not in str(caught.value)
    with pytest.raises(KeyMissingError, match="NOT_THERE"):
        run(recipe(tmp_path), webhooks=["env:NOT_THERE"])
    assert sent(simulator) == 0
