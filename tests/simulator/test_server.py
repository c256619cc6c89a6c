"""The server speaks HTTP/1.1 and OpenAI's API, errors included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.simulator import Simulator
from tests.simulator.raw import CHAT, chat, connect, post, read_response, request_bytes


def test_one_connection_serves_many_requests(simulator: Simulator) -> None:
    with connect(simulator) as connection:
        for number in range(5):
            connection.sendall(request_bytes(CHAT, chat(f"{number}", model="simulated-echo")))
            answered = read_response(connection).json
            assert answered["choices"][0]["message"]["content"] == str(number)


def test_pipelined_requests_are_answered_in_order(simulator: Simulator) -> None:
    simulator.set(latency="0-20")
    bodies = [chat(f"{number}", model="simulated-echo") for number in range(8)]
    with connect(simulator) as connection:
        connection.sendall(b"".join(request_bytes(CHAT, body) for body in bodies))
        data = b""
        while data.count(b'"finish_reason"') < len(bodies):
            data += connection.recv(65536)
    places = [data.index(f'"content":"{number}"'.encode()) for number in range(8)]
    assert places == sorted(places)


def test_a_request_may_come_byte_by_byte(simulator: Simulator) -> None:
    whole = request_bytes(CHAT, chat("slowly", model="simulated-echo"))
    with connect(simulator) as connection:
        for at in range(len(whole)):
            connection.sendall(whole[at : at + 1])
        assert read_response(connection).status == 200


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_chunked_body_is_put_together(simulator: Simulator, size: int) -> None:
    text = "word " * (5 if size < 100 else 100_000)
    body = json.dumps(chat(text, model="simulated-echo")).encode()
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    sent = b"".join(b"%x;note=1\r\n%b\r\n" % (len(each), each) for each in chunks)
    head = request_bytes(CHAT, headers={"content-length": "", "transfer-encoding": "chunked"})
    with connect(simulator) as connection:
        connection.sendall(head + sent + b"0\r\ntrailer: x\r\n\r\n" + head)
        assert read_response(connection).json["choices"][0]["message"]["content"] == text


def test_a_client_that_asks_whether_to_go_on_is_told_so(simulator: Simulator) -> None:
    body = json.dumps(chat("hi", model="simulated-echo")).encode()
    whole = request_bytes(CHAT, body, headers={"expect": "100-continue"})
    with connect(simulator) as connection:
        connection.sendall(whole[: -len(body)])
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert read_response(connection).status == 200


def test_a_connection_closes_when_the_client_wants_it(simulator: Simulator) -> None:
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, chat(), headers={"connection": "close"}))
        assert read_response(connection).status == 200
        assert connection.recv(10) == b""


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n", 413),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000, 431),
    ],
)
def test_what_is_no_request_is_refused_and_ends_the_connection(
    simulator: Simulator, data: bytes, status: int
) -> None:
    with connect(simulator) as connection:
        connection.sendall(data)
        response = read_response(connection)
        assert response.status == status
        assert response.error["type"] == "invalid_request_error"
        assert connection.recv(10) == b""


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions",
        "/chat/completions",
        "/openai/v1/chat/completions",
        "/any/prefix/chat/completions",
        "/openai/deployments/mine/chat/completions?api-version=2025-01-01",
    ],
)
def test_every_path_that_ends_in_chat_completions_answers(simulator: Simulator, path: str) -> None:
    response = post(simulator, chat(), path)
    assert response.status == 200
    assert response.json["model"] == "any"


def test_an_azure_deployment_names_the_model(simulator: Simulator) -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    headers = {"authorization": "", "api-key": "azure-key"}
    path = "/openai/deployments/mine/chat/completions"
    assert post(simulator, body, path, headers=headers).json["model"] == "mine"


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        (b"{not json", None, None),
        (b"[1]", None, None),
        ({"messages": []}, None, None),
        ({"model": "m"}, "messages", "missing_required_parameter"),
        ({"model": "m", "messages": []}, "messages", "empty_array"),
        ({"model": "m", "messages": "hi"}, "messages", "invalid_type"),
        ({"model": "m", "messages": ["hi"]}, "messages[0]", "invalid_type"),
        ({"model": "m", "messages": [{}]}, "messages[0].role", "missing_required_parameter"),
        (chat(max_tokens="5"), "max_tokens", "invalid_type"),
        (chat(max_tokens=0), "max_tokens", "integer_below_min_value"),
        (chat(n=500), "n", "integer_above_max_value"),
        (chat(stop=[1]), "stop", "invalid_type"),
        (chat(tools=[{}]), "tools[0].function.name", "missing_required_parameter"),
        (chat(response_format={"type": "xml"}), "response_format", None),
        (
            chat(
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": False},
                }
            ),
            "response_format",
            "invalid_schema",
        ),
    ],
)
def test_a_bad_body_is_refused_in_openai_words(
    simulator: Simulator, body: Any, param: str | None, code: str | None
) -> None:
    response = post(simulator, body)
    assert response.status == 400
    assert response.error.keys() == {"message", "type", "param", "code"}
    assert response.error["type"] == "invalid_request_error"
    assert (response.error["param"], response.error["code"]) == (param, code)


def test_unknown_paths_and_methods_have_their_own_errors(simulator: Simulator) -> None:
    missing = post(simulator, None, "/v1/nothing", "GET")
    assert missing.status == 404
    assert missing.error["message"] == "Invalid URL (GET /v1/nothing)"
    for path, method in ((CHAT, "GET"), ("/ledger", "POST"), ("/v1/models", "DELETE")):
        wrong = post(simulator, None, path, method)
        assert wrong.status == 405
        assert wrong.error["code"] == "method_not_supported"


def test_any_key_or_none_is_taken_unless_one_is_set(simulator: Simulator) -> None:
    keys = ("", "Bearer ", "Basic x", "bearer x", "Bearer sk-something")
    for key in keys:
        assert post(simulator, chat(), headers={"authorization": key}).status == 200
    simulator.set(key="sk-right")
    for key in keys:
        response = post(simulator, chat(), headers={"authorization": key})
        assert response.status == 401
        assert response.error["type"] == "invalid_request_error"
    assert post(simulator, chat(), headers={"authorization": "bearer sk-right"}).status == 200


def test_a_wrong_key_is_refused_and_part_of_it_echoed(simulator: Simulator) -> None:
    simulator.set(key="sk-right-one-0123456789")
    wrong = post(simulator, chat(), headers={"authorization": "Bearer sk-wrong-one-9876543210"})
    assert wrong.status == 401
    assert wrong.error["code"] == "invalid_api_key"
    assert "sk-wrong***" in wrong.error["message"]
    assert "one-98765" not in wrong.error["message"]
    right = {"authorization": "Bearer sk-right-one-0123456789"}
    assert post(simulator, chat(), headers=right).status == 200


def test_every_answer_carries_its_headers(simulator: Simulator) -> None:
    response = post(simulator, chat())
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    assert response.headers["openai-version"] == "2020-10-01"
    assert response.headers["openai-processing-ms"].isdigit()


def test_the_sample_header_draws_another_answer(simulator: Simulator) -> None:
    texts = [
        post(simulator, chat(), headers={"x-penstock-sample": str(number)}).json["choices"]
        for number in (0, 1, 1)
    ]
    assert texts[0] != texts[1] == texts[2]


def test_several_choices_differ(simulator: Simulator) -> None:
    answered = post(simulator, chat("Tell me about canals", n=4)).json
    assert [choice["index"] for choice in answered["choices"]] == [0, 1, 2, 3]
    assert len({choice["message"]["content"] for choice in answered["choices"]}) == 4
    alone = post(simulator, chat("Tell me about canals")).json
    assert alone["choices"][0]["message"] == answered["choices"][0]["message"]


def test_the_fixed_answer_is_the_same_for_all(simulator: Simulator) -> None:
    simulator.set(fixed=True)
    one, two = post(simulator, chat("a")).json, post(simulator, chat("b")).json
    assert one == two
    assert one["usage"]["completion_tokens"] > 180
    assert simulator.summary()["answered"] == 2
    simulator.set(latency="1")
    assert post(simulator, chat("c")).json["choices"] == one["choices"]


def test_health_and_models(simulator: Simulator) -> None:
    assert post(simulator, None, "/health", "GET").json == {"status": "ok"}
    names = [each["id"] for each in post(simulator, None, "/v1/models", "GET").json["data"]]
    assert "simulated-echo" in names
    assert post(simulator, None, "/v1/models/gpt-4o", "GET").json["id"] == "gpt-4o"


def test_strange_bodies_never_break_the_server(simulator: Simulator) -> None:
    strange: list[dict[str, Any]] = [
        {"messages": [{"role": 5, "content": [5, None, {"text": 5}, {"type": "image_url"}]}]},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": [1]}}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": {"type": 5}},
            }
        },
        {"tools": {"a": 1}},
        {"tools": [{"function": {"name": "f", "parameters": 7}}], "tool_choice": "required"},
        {"stream_options": 5},
        {"tool_choice": 9, "tools": [{"function": {"name": "f"}}]},
        {"reasoning_effort": {}},
        {"seed": 1 << 62},
    ]
    for more in strange:
        response = post(simulator, chat() | more)
        assert response.status in (200, 400)
    assert simulator.summary()["in_flight"] == 0
