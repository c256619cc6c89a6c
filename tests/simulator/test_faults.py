"""Each kind of fault is what a real client sees on a bad day."""

from __future__ import annotations

import json
import socket
import time

import pytest

from penstock.errors import InputError
from penstock.simulator import Simulator
from penstock.simulator.faults import KINDS, Faults, Outages
from tests.simulator.raw import CHAT, chat, connect, post, read_response, request_bytes

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
FORM = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.isdigit()])
def test_a_status_fault_answers_with_its_status(simulator: Simulator, kind: str) -> None:
    simulator.set(errors=f"{kind}:1")
    response = post(simulator, chat())
    assert response.status == int(kind)
    if kind in ("502", "504"):
        assert response.body.startswith(b"<html>")
    else:
        assert response.error["message"]
    assert ("retry-after-ms" in response.headers) == (kind == "429")
    entry = simulator.ledger()[0]
    assert (entry["status"], entry["fault"], entry["complete"]) == (int(kind), kind, True)


def test_timeout_never_answers(simulator: Simulator) -> None:
    simulator.set(errors="timeout:1")
    with connect(simulator) as connection:
        connection.settimeout(0.2)
        connection.sendall(request_bytes(CHAT, chat()))
        with pytest.raises(TimeoutError):
            connection.recv(1)
        assert simulator.summary()["in_flight"] == 1
    _until_idle(simulator)
    entry = simulator.ledger()[0]
    assert (entry["status"], entry["fault"], entry["complete"]) == (0, "timeout", False)


def test_reset_breaks_the_connection_off(simulator: Simulator) -> None:
    simulator.set(errors="reset:1")
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, chat()))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    assert simulator.ledger()[0]["fault"] == "reset"


def test_cut_promises_more_than_it_sends(simulator: Simulator) -> None:
    simulator.set(errors="cut:1")
    with connect(simulator) as connection, pytest.raises(EOFError):
        connection.sendall(request_bytes(CHAT, chat()))
        read_response(connection)
    entry = simulator.ledger()[0]
    assert (entry["status"], entry["complete"]) == (200, False)
    assert simulator.summary()["answered"] == 0


def test_cut_ends_a_stream_in_its_middle(simulator: Simulator) -> None:
    simulator.set(errors="cut:1")
    data = _everything(simulator, chat("Tell me about canals", stream=True))
    assert data.count(b"data: {") > 3
    assert b"[DONE]" not in data


def test_malformed_is_a_success_without_json(simulator: Simulator) -> None:
    simulator.set(errors="malformed:1")
    response = post(simulator, chat())
    assert response.status == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(response.body)
    data = _everything(simulator, chat(stream=True), close=True)
    assert b'data: {"id": "chatcmpl-\n' in data


def test_wrong_schema_does_not_fit(simulator: Simulator) -> None:
    simulator.set(errors="wrong_schema:1")
    for number in range(10):
        body = chat(f"A person, {number}", response_format=FORM)
        text = post(simulator, body).json["choices"][0]["message"]["content"]
        with pytest.raises((ValueError, TypeError, KeyError)):
            _person(text)


def test_empty_choices_and_errors_hide_in_a_success(simulator: Simulator) -> None:
    simulator.set(errors="empty_choices:1")
    response = post(simulator, chat())
    assert (response.status, response.json["choices"]) == (200, [])
    simulator.set(errors="error_in_200:1")
    response = post(simulator, chat())
    assert response.status == 200
    assert response.error["type"] == "server_error"
    data = _everything(simulator, chat(stream=True), close=True)
    assert b'data: {"error":' in data
    assert simulator.summary()["answered"] == 0


@pytest.mark.parametrize("stream", [False, True])
def test_slow_body_comes_in_pieces_and_whole(simulator: Simulator, stream: bool) -> None:
    simulator.set(errors="slow_body:1", drip=15)
    start = time.monotonic()
    data = _everything(simulator, chat(stream=stream), close=True)
    assert time.monotonic() - start >= 0.12
    assert b'"finish_reason":"stop"' in data
    assert simulator.summary()["answered"] == 1


def test_a_client_that_leaves_a_slow_body_is_noted(simulator: Simulator) -> None:
    simulator.set(errors="slow_body:1", drip=50)
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, chat()))
        connection.recv(10)
    _until_idle(simulator)
    assert simulator.ledger()[0]["complete"] is False


def test_faults_follow_the_seed_and_the_number_so_a_retry_can_succeed(
    simulator: Simulator,
) -> None:
    def run(seed: int) -> list[int]:
        simulator.set(errors="500:0.2,503:0.2", seed=seed)
        simulator.reset()
        return [post(simulator, chat()).status for _ in range(40)]

    first = run(1)
    assert first == run(1) != run(2)
    assert {200, 500, 503} == set(first)
    shares = Faults.read("500:0.25")
    assert 2200 < sum(shares.of(9, number) == "500" for number in range(10_000)) < 2800


def test_an_outage_answers_503_and_passes(simulator: Simulator) -> None:
    simulator.set(outages="0-0.3")
    simulator.reset()
    response = post(simulator, chat())
    assert (response.status, response.error["code"]) == (503, "server_is_overloaded")
    deadline = time.monotonic() + 3
    while post(simulator, chat()).status == 503 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert post(simulator, chat()).status == 200
    assert simulator.summary()["by_fault"]["outage"] >= 1


def test_a_spent_quota_stays_spent(simulator: Simulator) -> None:
    simulator.set(quota=2)
    statuses = [post(simulator, chat()).status for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    error = post(simulator, chat()).error
    assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    assert "retry-after" not in post(simulator, chat()).headers


@pytest.mark.parametrize("text", ["foo:0.1", "500", "500:x", "500:2", "500:-1", "500:0.6,503:0.6"])
def test_faults_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="errors"):
        Faults.read(text)


@pytest.mark.parametrize("text", ["5", "7-3", "a-b", "-1-4"])
def test_outages_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="outages"):
        Outages.read(text)


def _person(text: str) -> tuple[str, int]:
    value = json.loads(text)
    if not isinstance(value["name"], str) or not isinstance(value["age"], int):
        raise TypeError
    return value["name"], value["age"]


def _everything(simulator: Simulator, body: object, close: bool = False) -> bytes:
    headers = {"connection": "close"} if close else {}
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, body, headers=headers))
        return _drain(connection)


def _drain(connection: socket.socket) -> bytes:
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


def _until_idle(simulator: Simulator) -> None:
    deadline = time.monotonic() + 3
    while simulator.summary()["in_flight"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert simulator.summary()["in_flight"] == 0
