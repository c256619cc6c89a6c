"""The ledger sees every request, before any fault, and never a key."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import orjson

from penstock.simulator import Simulator
from penstock.simulator.ledger import Ledger
from tests.simulator.raw import CHAT, chat, connect, post, request_bytes


def test_an_entry_tells_the_whole_story(simulator: Simulator) -> None:
    body = chat("Tell me")
    usage = post(simulator, body, headers={"x-penstock-sample": "7"}).json["usage"]
    (entry,) = simulator.ledger()
    canonical = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    expected = {
        "number": 1,
        "method": "POST",
        "path": CHAT,
        "digest": hashlib.sha256(canonical).hexdigest(),
        "sample": 7,
        "model": "any",
        "authorization": True,
        "repeated": False,
        "status": 200,
        "fault": "",
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "done": True,
        "complete": True,
    }
    assert {key: entry[key] for key in expected} == expected
    assert entry["time"] <= entry["answered_at"]


def test_repeats_are_the_same_body_and_sample_in_any_key_order(simulator: Simulator) -> None:
    body = chat("Again")
    turned = dict(reversed(body.items()))
    for sent, sample in ((body, "0"), (turned, "0"), (body, "1"), (chat("Else"), "0")):
        post(simulator, sent, headers={"x-penstock-sample": sample})
    summary = simulator.summary()
    assert (summary["requests"], summary["distinct"], summary["repeated"]) == (4, 3, 1)
    assert [entry["repeated"] for entry in simulator.ledger()] == [False, True, False, False]


def test_strays_and_bad_requests_are_seen_too(simulator: Simulator) -> None:
    post(simulator, b"{broken")
    post(simulator, None, "/v1/nothing", "GET")
    simulator.set(key="sk-only")
    post(simulator, chat(), headers={"authorization": ""})
    entries = simulator.ledger()
    assert [entry["status"] for entry in entries] == [400, 404, 401]
    assert [entry["authorization"] for entry in entries] == [True, True, False]
    assert simulator.summary()["by_status"] == {"400": 1, "401": 1, "404": 1}


def test_looking_at_the_ledger_leaves_no_trace(simulator: Simulator) -> None:
    simulator.ledger()
    simulator.summary()
    post(simulator, None, "/health", "GET")
    post(simulator, None, "/settings", "GET")
    assert simulator.summary()["requests"] == 0


def test_no_key_is_ever_shown(simulator: Simulator) -> None:
    simulator.set(key="sk-canary-123456789")
    post(simulator, chat(), headers={"authorization": "Bearer sk-canary-123456789"})
    shown = [post(simulator, None, path, "GET").body for path in ("/ledger", "/settings")]
    assert b"canary" not in b"".join(shown)


def test_since_and_limit_page_through(simulator: Simulator) -> None:
    for number in range(5):
        post(simulator, chat(str(number)))
    numbers = [entry["number"] for entry in simulator.ledger(since=2)]
    assert numbers == [3, 4, 5]
    page = post(simulator, None, "/ledger?since=1&limit=2", "GET").body
    assert [json.loads(line)["number"] for line in page.splitlines()] == [2, 3]
    assert post(simulator, None, "/ledger?since=x", "GET").status == 400


def test_a_reset_empties_it_while_requests_are_in_flight(simulator: Simulator) -> None:
    simulator.set(errors="timeout:1")
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, chat()))
        while simulator.summary()["in_flight"] == 0:
            pass
        simulator.reset()
        assert simulator.summary()["in_flight"] == 0
    simulator.set(errors="")
    post(simulator, chat())
    assert [entry["number"] for entry in simulator.ledger()] == [1]


def test_a_ledger_file_survives_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "seen.jsonl"
    with Simulator(ledger=str(file), errors="timeout:0.5", seed=3) as simulator:
        connections = [connect(simulator) for _ in range(6)]
        for number, connection in enumerate(connections):
            connection.sendall(request_bytes(CHAT, chat(str(number))))
        while simulator.summary()["requests"] < 6:
            pass
        summary = simulator.summary()
        simulator.kill()
        for connection in connections:
            connection.close()
    lines: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    last = {line["number"]: line for line in lines}
    assert len(last) == 6
    assert sum(line["done"] for line in last.values()) == summary["answered"]
    assert 0 < summary["answered"] < 6


def test_a_hundred_thousand_entries_stay_small() -> None:
    ledger = Ledger()
    for number in range(100_000):
        digest = hashlib.sha256(str(number).encode()).digest()
        ledger.finish(ledger.arrive("POST", CHAT, "m", digest, 0, True), 200, True, 10, 20)
    summary = ledger.summary()
    assert summary["answered"] == summary["distinct"] == 100_000
    assert summary["tokens"] == 3_000_000
    columns = [value for value in vars(ledger).values() if hasattr(value, "__len__")]
    size = sum(len(each) * getattr(each, "itemsize", 1) for each in columns)
    assert size < 12_000_000
