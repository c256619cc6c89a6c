"""Reading what the Messages API sends back: answers, refusals, streams, and none of these."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from typing import Any

import orjson
import pytest
from anthropic.types import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.providers.servers import FakeTransport

from penstock.endpoint import Endpoint
from penstock.outcome import Answer, Failure, FailureKind, Finish, Usage
from penstock.providers.anthropic import Anthropic
from penstock.providers.anthropic_errors import read_refusal
from penstock.providers.anthropic_read import MessageStream, read_message
from penstock.providers.provider import MalformedReplyError, Sent
from penstock.providers.ratelimits import Quota, RateLimits, anthropic_limits
from penstock.providers.transport import Broken, Reply
from penstock.request import Request
from penstock.secret import Secret

CANARY = "canary-7d3a91f05c8e"
TEXT = {"type": "text", "text": "Hello", "citations": None}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}}


def message(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x-1",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        **more,
    }


def read(value: Any) -> Answer:
    return read_message(orjson.dumps(value))


async def sent(
    *replies: Reply | Broken, on_text: Callable[[str], None] | None = None, schema: Any = None
) -> Sent:
    endpoint = Endpoint("anthropic", "m", url="http://h", key=Secret(CANARY))
    provider = Anthropic(endpoint, FakeTransport(*replies))
    provider.open()
    return await provider.send(Request.of(endpoint, "Hi", schema=schema), on_text)


def failed(of: Sent) -> Failure:
    assert isinstance(of.outcome, Failure), of.outcome
    return of.outcome


def error_body(error: Any) -> bytes:
    return orjson.dumps({"type": "error", "error": error, "request_id": "req_1"})


def error_reply(status: int, error: Any, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, headers or {}, error_body(error))


# Answers --------------------------------------------------------------------------------------


def test_text_model_and_number_are_read() -> None:
    assert read(message(TEXT)) == Answer(
        "Hello", Finish.STOP, Usage(1, 2), (), "claude-x-1", "msg_1"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], ""),
        ([TEXT, {"type": "text", "text": " there"}], "Hello there"),
        ([THOUGHT, TEXT], "Hello"),
        ([{"type": "redacted_thinking", "data": "AAAA"}, TEXT], "Hello"),
        ([{"type": "thinking", "thinking": "", "signature": "x"}], ""),
        (
            [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "a"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"text": "no"}]},
                TEXT,
            ],
            "Hello",
        ),
        ([{"type": "of_tomorrow", "text": 5, "id": [1], "input": 7}, TEXT], "Hello"),
        ([{"type": "text", "text": "Zürich 東京 🏔 \u0000"}], "Zürich 東京 🏔 \u0000"),
    ],
)
def test_the_text_is_that_of_the_text_blocks_and_no_other(content: Any, text: str) -> None:
    answer = read(message(*content))
    assert (answer.text, answer.tool_calls) == (text, ())


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"input_tokens": 5}, Usage(5)),
        ({"input_tokens": 5, "output_tokens": 7}, Usage(5, 7)),
        (
            {
                "input_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 40},
                "service_tier": "standard",
            },
            Usage(125, 50, 100, 20, 40),
        ),
        (
            {
                "input_tokens": 5,
                "cache_read_input_tokens": None,
                "cache_creation_input_tokens": None,
                "output_tokens": 1,
                "output_tokens_details": None,
            },
            Usage(5, 1),
        ),
        ({"input_tokens": 0, "cache_read_input_tokens": 9, "output_tokens": 1}, Usage(9, 1, 9)),
    ],
)
def test_what_was_cached_is_part_of_the_input_and_thinking_of_the_output(
    usage: Any, read_as: Usage
) -> None:
    assert read(message(TEXT, usage=usage)).usage == read_as


@pytest.mark.parametrize("count", [-1, 2**53 + 1, 2**63, 1.5, "12", True, [], {"a": 1}])
@pytest.mark.parametrize("name", ["input_tokens", "cache_read_input_tokens", "output_tokens"])
def test_usage_that_cannot_be_is_malformed(name: str, count: Any) -> None:
    with pytest.raises(MalformedReplyError):
        read(message(TEXT, usage={name: count}))


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("tool_use", Finish.TOOL),
        ("refusal", Finish.REFUSAL),
        ("pause_turn", Finish.ERROR),
        ("of_tomorrow", Finish.ERROR),
        ("", Finish.ERROR),
        (None, Finish.ERROR),
    ],
)
def test_stop_reasons_are_in_the_vocabulary_of_all_providers(reason: Any, finish: Finish) -> None:
    assert read(message(TEXT, stop_reason=reason)).finish is finish


@pytest.mark.parametrize(
    ("content", "details", "text"),
    [
        ([], {"type": "refusal", "category": "bio", "explanation": "Not this."}, "Not this."),
        ([TEXT], {"type": "refusal", "category": None, "explanation": "Not this."}, "Hello"),
        ([], {"type": "refusal", "category": None, "explanation": None}, ""),
        ([], None, ""),
    ],
)
def test_a_refusal_is_an_answer(content: Any, details: Any, text: str) -> None:
    answer = read(message(*content, stop_reason="refusal", stop_details=details))
    assert (answer.text, answer.finish) == (text, Finish.REFUSAL)
    assert answer.refused


def test_tool_calls_have_the_form_of_all_providers() -> None:
    answer = read(message(TEXT, USE, {**USE, "id": "toolu_2"}, stop_reason="tool_use"))
    function = {"name": "weather", "arguments": '{"city":"Bern"}'}
    assert answer.tool_calls == (
        {"id": "toolu_1", "type": "function", "function": function},
        {"id": "toolu_2", "type": "function", "function": function},
    )
    assert (answer.text, answer.finish) == ("Hello", Finish.TOOL)


@pytest.mark.parametrize(
    "told", ["{}", '{"n":123456789012345678901234567890}', '{ "a" : [1.50, "\\u00fc"] }']
)
def test_a_tools_input_is_kept_as_the_model_wrote_it(told: str) -> None:
    body = orjson.dumps(message(USE)).replace(b'{"city":"Bern"}', told.encode())
    assert read_message(body).tool_calls[0]["function"]["arguments"] == told


def test_a_tool_without_input_is_called_with_none() -> None:
    block = {"type": "tool_use", "id": "t", "name": "now"}
    assert read(message(block)).tool_calls[0]["function"]["arguments"] == "{}"


MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "a page": b"<html>502</html>",
    "no content": b'{"type":"message","id":"x"}',
    "null content": b'{"content":null}',
    "a text for content": b'{"content":"Hello"}',
    "texts for blocks": b'{"content":["Hello"]}',
    "a block without a type": b'{"content":[{"text":"Hello"}]}',
    "a block of text without one": b'{"content":[{"type":"text"}]}',
    "a number for text": b'{"content":[{"type":"text","text":5}]}',
    "a call without a name": b'{"content":[{"type":"tool_use","id":"a","input":{}}]}',
    "a call without a number": b'{"content":[{"type":"tool_use","name":"a","input":{}}]}',
    "a number for a reason": b'{"content":[],"stop_reason":5}',
    "a text": b'"hello"',
    "a list": b"[]",
    "null": b"null",
    "NaN": b"NaN",
    "cut off": b'{"content":[{"type":"text","text":"Hel',
    "cut off in a call": b'{"content":[{"type":"tool_use","id":"a","name":"b","input":{"a":',
    "bad utf-8": b'{"content":[{"type":"text","text":"\xff\xfe"}]}',
    "bad utf-8 in a call": b'{"content":[{"type":"tool_use","id":"a","name":"b","input":"\xff"}]}',
    "lone surrogate": b'{"content":[{"type":"text","text":"\\ud800"}]}',
    "a byte order mark": b'\xef\xbb\xbf{"content":[]}',
    "deep": b'{"content":' + b"[" * 200_000,
    "deep elsewhere": b'{"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b',"content":[]}',
    "two bodies": b'{"content":[]}{}',
    "a chat completion": b'{"choices":[{"message":{"content":"Hello"}}]}',
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_message_is_malformed_heals_and_may_have_been_paid_for(name: str) -> None:
    with pytest.raises(MalformedReplyError):
        read_message(MALFORMED[name])
    got = await sent(Reply(200, {"request-id": "req_7"}, MALFORMED[name]))
    failure = failed(got)
    assert failure.kind is FailureKind.MALFORMED and failure.kind.heals
    assert failure.may_be_paid
    assert (failure.status, failure.id) == (200, "req_7")
    assert len(got.body) <= 4096 and len(failure.message) < 400


# Refusals -------------------------------------------------------------------------------------

K = FailureKind


def _coded(kind: str, code: str) -> dict[str, Any]:
    return {"type": kind, "message": "Said so.", "details": {"error_code": code}}


def _typed(kind: str, said: str = "Said so.") -> dict[str, Any]:
    return {"type": kind, "message": said}


REFUSALS: list[tuple[int, dict[str, Any], FailureKind]] = [
    (400, _typed("invalid_request_error"), K.INVALID_REQUEST),
    (
        400,
        _typed(
            "invalid_request_error",
            "You have reached your specified API usage limits. You will regain access on "
            "2026-12-01 at 00:00 UTC.",
        ),
        K.QUOTA,
    ),
    (
        400,
        _typed(
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & "
            "Billing to upgrade or purchase credits.",
        ),
        K.QUOTA,
    ),
    (400, _typed("invalid_request_error", "The workspace spend limit was reached."), K.QUOTA),
    (400, _typed("invalid_request_error", "This organization has been disabled."), K.PERMISSION),
    (
        400,
        _typed("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        K.TOO_LARGE,
    ),
    (
        400,
        _typed("invalid_request_error", "Output blocked by content filtering policy"),
        K.BLOCKED,
    ),
    (400, _typed("invalid_request_error", "max_tokens: 9 > 8, the limit"), K.INVALID_REQUEST),
    (400, _coded("invalid_request_error", "organization_on_hold"), K.PERMISSION),
    (400, _coded("invalid_request_error", "of_tomorrow"), K.INVALID_REQUEST),
    (401, _typed("authentication_error"), K.AUTHENTICATION),
    (401, {}, K.AUTHENTICATION),
    (402, _typed("billing_error"), K.QUOTA),
    (402, {}, K.QUOTA),
    (403, _typed("permission_error"), K.PERMISSION),
    (404, _typed("not_found_error", "model: claude-nobody"), K.NOT_FOUND),
    (404, _typed("not_found_error", "model: claude-file-1"), K.NOT_FOUND),
    (404, _typed("not_found_error", "Not Found"), K.NOT_FOUND),
    (404, _typed("not_found_error", "File not found: file_011"), K.INVALID_REQUEST),
    (404, _coded("not_found_error", "file_expired"), K.INVALID_REQUEST),
    (405, {}, K.INVALID_REQUEST),
    (408, {}, K.TIMEOUT),
    (409, _typed("conflict_error"), K.SERVER),
    (413, _typed("request_too_large"), K.TOO_LARGE),
    (413, _coded("invalid_request_error", "request_body_too_large_after_decoding"), K.TOO_LARGE),
    (413, {}, K.TOO_LARGE),
    (422, {}, K.INVALID_REQUEST),
    (429, _typed("rate_limit_error"), K.RATE_LIMITED),
    (429, _coded("rate_limit_error", "ramp_limit_exceeded"), K.RATE_LIMITED),
    (429, _coded("rate_limit_error", "enforced_spend_limit_reached"), K.QUOTA),
    (429, {}, K.RATE_LIMITED),
    (500, _typed("api_error"), K.SERVER),
    (500, {}, K.SERVER),
    (502, {}, K.SERVER),
    (503, _typed("api_error"), K.OVERLOADED),
    (504, _typed("timeout_error"), K.TIMEOUT),
    (504, {}, K.SERVER),
    (520, {}, K.SERVER),
    (529, _typed("overloaded_error"), K.OVERLOADED),
    (529, {}, K.OVERLOADED),
    (200, _typed("overloaded_error"), K.OVERLOADED),
    (200, _typed("rate_limit_error"), K.RATE_LIMITED),
    (200, _typed("api_error"), K.SERVER),
    (200, _typed("invalid_request_error"), K.INVALID_REQUEST),
    (200, _typed("of_tomorrow"), K.SERVER),
    (201, {}, K.MALFORMED),
    (301, {}, K.NOT_FOUND),
]
STOPS = {K.AUTHENTICATION, K.PERMISSION, K.NOT_FOUND, K.QUOTA}
HEALS = {K.TIMEOUT, K.RATE_LIMITED, K.SERVER, K.OVERLOADED, K.MALFORMED}


@pytest.mark.parametrize(("status", "error", "kind"), REFUSALS)
async def test_every_refusal_has_its_kind_and_with_it_what_to_do(
    status: int, error: dict[str, Any], kind: FailureKind
) -> None:
    failure = failed(await sent(error_reply(status, error, {"request-id": "req_9"})))
    assert failure.kind is kind
    assert (failure.kind.heals, failure.kind.stops) == (kind in HEALS, kind in STOPS)
    assert (failure.status, failure.id) == (status, "req_9")
    if "message" in error:
        assert failure.message == error["message"]


@pytest.mark.parametrize(
    ("status", "paid"),
    [(200, True), (201, True), (504, True)]
    + [(status, False) for status in (400, 402, 429, 500, 503, 529)],
)
async def test_only_a_success_or_a_gateway_that_gave_up_may_have_been_paid_for(
    status: int, paid: bool
) -> None:
    assert failed(await sent(error_reply(status, _typed("api_error")))).may_be_paid is paid


BODIES: dict[str, tuple[bytes, str]] = {
    "a text for an error": (b'{"error":"model is loading"}', "model is loading"),
    "an error on its own": (b'{"type":"invalid_request_error","message":"No."}', "No."),
    "FastAPI": (b'{"detail":"Not authenticated"}', "Not authenticated"),
    "a message of parts": (b'{"error":{"message":{"a":["b"]}}}', '{"a":["b"]}'),
    "a page": (b"<html><h1>Bad gateway</h1></html>", "HTTP 400: <html><h1>Bad gateway</h1></html>"),
    "nothing": (b"", "HTTP 400: "),
    "a list": (b'["no"]', 'HTTP 400: ["no"]'),
    "null": (b'{"error":null}', 'HTTP 400: {"error":null}'),
    "bad utf-8": (b"\xff no", "HTTP 400: \ufffd no"),
    "details that are none": (b'{"error":{"message":"No.","details":5,"type":[1]}}', "No."),
    "a code that is none": (b'{"error":{"message":"No.","details":{"error_code":7}}}', "No."),
}


@pytest.mark.parametrize("name", BODIES)
def test_errors_are_read_in_the_spellings_of_gateways_too(name: str) -> None:
    body, said = BODIES[name]
    refusal = read_refusal(Reply(400, {}, body))
    assert (refusal.kind, refusal.message) == (FailureKind.INVALID_REQUEST, said)


@pytest.mark.parametrize(
    "body",
    [
        b'{"detail":' + b"[" * 300 + b"]" * 300 + b"}",
        b"[" * 100_000,
        b'{"error":{"message":"' + b"x" * 5_000_000 + b'"}}',
        b'{"error":{"message":"' + b"reached your usage " * 200_000 + b'"}}',
    ],
)
async def test_a_strange_error_is_still_an_error_short_and_soon_read(body: bytes) -> None:
    began = time.perf_counter()
    got = await sent(Reply(400, {}, body))
    assert failed(got).kind is FailureKind.INVALID_REQUEST
    assert len(failed(got).message) <= 1000 and len(got.body) <= 4096
    assert time.perf_counter() - began < 1


def test_a_redirect_says_where_to_and_what_to_do() -> None:
    refusal = read_refusal(Reply(308, {"location": "https://new.example"}, b""))
    assert "https://new.example" in refusal.message
    assert "give that address" in refusal.message


@pytest.mark.parametrize(
    ("headers", "seconds", "again"),
    [
        ({}, None, None),
        ({"retry-after": "12"}, 12.0, None),
        ({"retry-after": "12", "retry-after-ms": "250"}, 0.25, None),
        ({"retry-after": "12", "x-should-retry": "false"}, 12.0, False),
        ({"x-should-retry": "true"}, None, True),
        ({"retry-after": "soon"}, None, None),
    ],
)
async def test_when_to_ask_again_is_passed_on(
    headers: dict[str, str], seconds: float | None, again: bool | None
) -> None:
    got = await sent(error_reply(429, _typed("rate_limit_error"), headers))
    assert (got.retry_after, got.should_retry) == (seconds, again)


# Limits ---------------------------------------------------------------------------------------

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z


def limit_headers(kind: str, limit: str, remaining: str, reset: str) -> dict[str, str]:
    values = {"limit": limit, "remaining": remaining, "reset": reset}
    return {f"anthropic-ratelimit-{kind}-{name}": value for name, value in values.items()}


def test_limits_of_input_and_output_are_read_apart() -> None:
    headers = (
        limit_headers("requests", "4000", "3999", "2027-01-15T08:00:01Z")
        | limit_headers("tokens", "480000", "470000", "2027-01-15T08:00:30Z")
        | limit_headers("input-tokens", "400000", "395000", "2027-01-15T08:01:00Z")
        | limit_headers("output-tokens", "80000", "75000", "2027-01-15T09:02:00+01:00")
    )
    assert anthropic_limits(headers, NOW) == RateLimits(
        Quota(4000, 3999, 1.0),
        Quota(480000, 470000, 30.0),
        Quota(400000, 395000, 60.0),
        Quota(80000, 75000, 120.0),
    )


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("2027-01-15T08:00:00.500Z", 0.5),
        ("2027-01-15T08:00:05", 5.0),
        ("2027-01-15T07:59:00Z", 0.0),
        (" 2027-01-15T08:00:05Z ", 5.0),
        ("soon", None),
        ("", None),
        ("12", None),
        ("99999-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", 0.0),
    ],
)
def test_a_reset_is_a_date_and_one_that_is_none_is_passed_over(
    reset: str, seconds: float | None
) -> None:
    found = anthropic_limits(limit_headers("requests", "5", "4", reset), NOW)
    assert found is not None and found.requests is not None
    assert found.requests.reset == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("limit", ["many", "-1", "", "9" * 5000, "5.5"])
def test_a_limit_that_is_none_is_passed_over(limit: str) -> None:
    assert anthropic_limits(limit_headers("requests", limit, "4", "x"), NOW) == RateLimits()


def test_a_clock_that_is_wrong_here_does_no_harm() -> None:
    there = time.time() - 86_400
    headers = limit_headers("requests", "5", "4", "") | {"date": formatdate(there, usegmt=True)}
    then = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(there) + 30))
    headers["anthropic-ratelimit-requests-reset"] = then
    found = anthropic_limits(headers)
    assert found is not None and found.requests is not None
    assert found.requests.reset == pytest.approx(30, abs=1)


async def test_limits_come_with_answers_and_with_refusals() -> None:
    headers = limit_headers("output-tokens", "80", "75", "soon") | {"request-id": "r"}
    wanted = RateLimits(output_tokens=Quota(80, 75, None))
    assert (await sent(Reply(200, headers, orjson.dumps(message(TEXT))))).limits == wanted
    assert (await sent(error_reply(429, _typed("rate_limit_error"), headers))).limits == wanted
    assert (await sent(Reply(200, {}, orjson.dumps(message(TEXT))))).limits is None


# Secrets --------------------------------------------------------------------------------------

ECHOES = {
    "in the message": error_body(_typed("authentication_error", f"invalid x-api-key {CANARY}")),
    "in a page": f"<html>authorization: Bearer {CANARY}</html>".encode(),
    "in a detail": orjson.dumps({"detail": [{"input": {"authorization": f"Bearer {CANARY}"}}]}),
    "in another field": error_body({"message": "x", "details": {"error_code": CANARY}}),
    "in a stream": b'event: error\ndata: {"type":"error","error":{"message":"%s"}}\n\n'
    % CANARY.encode(),
}


@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("name", ECHOES)
async def test_a_key_echoed_in_an_error_is_masked(name: str, status: int) -> None:
    for on_text in (None, lambda _: None):
        got = await sent(Reply(status, {"request-id": CANARY}, ECHOES[name]), on_text=on_text)
        assert CANARY not in repr(failed(got))
        assert CANARY.encode() not in got.body


async def test_no_half_of_a_key_remains_wherever_a_text_is_cut() -> None:
    for before in (*range(150, 210), *range(440, 505), *range(960, 1001), *range(4040, 4100)):
        text = "x" * before + " " + CANARY + " and so on" * 20
        for body in (text.encode(), error_body(_typed("x", text)), orjson.dumps([text])):
            got = await sent(Reply(400, {}, body))
            assert CANARY[:9] not in failed(got).message
            assert CANARY[:9].encode() not in got.body


async def test_a_key_echoed_in_an_answer_is_masked_before_anyone_sees_it() -> None:
    body = orjson.dumps(message({"type": "text", "text": f"It is {CANARY}!"}))
    got = await sent(Reply(200, {}, body))
    assert isinstance(got.outcome, Answer)
    assert got.outcome.text == "It is ****!"
    assert CANARY.encode() not in got.body


async def test_a_key_in_a_question_that_is_not_sent_is_not_told() -> None:
    endpoint = Endpoint("anthropic", "m", url="http://h", key=Secret(CANARY))
    provider = Anthropic(endpoint, None)
    provider.open()
    got = await provider.send(Request.of(endpoint, "Hi", seed=1))
    assert CANARY not in repr(got) and CANARY not in repr(provider.__dict__["endpoint"])


# Streams --------------------------------------------------------------------------------------


def event(name: str, **data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps({"type": name, **data}))


def block(index: int, begun: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    pieces = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return b"".join(
        (
            event("content_block_start", index=index, content_block=begun),
            *pieces,
            event("content_block_stop", index=index),
        )
    )


def text_block(index: int, *pieces: str) -> bytes:
    begun = {"type": "text", "text": "", "citations": None}
    return block(index, begun, *({"type": "text_delta", "text": piece} for piece in pieces))


def start(**more: Any) -> bytes:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 4, "output_tokens": 1}
    return event("message_start", message=message(stop_reason=None, usage=usage, **more))


def end(reason: str = "end_turn", output: int = 2, **more: Any) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    usage = {"output_tokens": output, "input_tokens": None}
    return event("message_delta", delta=delta, usage=usage) + event("message_stop")


THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "H"},
    {"type": "thinking_delta", "thinking": "m."},
    {"type": "signature_delta", "signature": "c2ln"},
)


def tool_block(index: int, *pieces: str) -> bytes:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, {**USE, "input": {}}, *deltas)


WHOLE = (
    start()
    + event("ping")
    + THINKING
    + text_block(1, "Hel", "lo")
    + tool_block(2, "", '{"ci', 'ty":"Bern"}')
    + end("tool_use", 9)
)


def streamed(body: bytes, step: int = 0) -> tuple[Answer, list[str], bytes]:
    shown: list[str] = []
    stream = MessageStream(shown.append)
    for at in range(0, len(body), step or len(body)):
        stream.feed(body[at : at + (step or len(body))])
    made = stream.body()
    return read_message(made), shown, made


@pytest.mark.parametrize("step", [0, 1, 7, 100])
def test_a_stream_becomes_the_body_that_would_have_come_whole(step: int) -> None:
    answer, shown, body = streamed(WHOLE, step)
    usage = {"input_tokens": 1, "cache_read_input_tokens": 4, "output_tokens": 9}
    whole = message(THOUGHT, TEXT, USE, stop_reason="tool_use", usage=usage)
    assert orjson.loads(body) == whole
    assert answer == read(whole)
    assert shown == ["Hel", "lo"]
    Message.model_validate(orjson.loads(body), strict=True)


def test_the_last_usage_holds_and_what_it_leaves_out_stands() -> None:
    body = start() + text_block(0, "a")
    delta = {"stop_reason": "end_turn"}
    last = {
        "output_tokens": 7,
        "input_tokens": 3,
        "cache_creation_input_tokens": 2,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    body += event("message_delta", delta=delta, usage=last)
    assert streamed(body)[0].usage == Usage(9, 7, 4, 2, 5)


def test_pings_comments_and_what_is_new_are_passed_over() -> None:
    body = (
        b": hello\n\n"
        + event("ping")
        + start()
        + event("of_tomorrow", index=0, delta={"text": "no"})
        + text_block(0, "a")
        + b"data: 5\n\ndata: null\n\n"
        + block(1, {"type": "of_tomorrow", "x": 1}, {"type": "x_delta", "x": 2})
        + end()
    )
    answer, shown, _ = streamed(body)
    assert (answer.text, shown) == ("a", ["a"])


def test_text_that_comes_with_the_beginning_of_a_block_is_not_lost() -> None:
    body = start() + block(0, TEXT, {"type": "text_delta", "text": "!"}) + end()
    answer, shown, _ = streamed(body)
    assert (answer.text, shown) == ("Hello!", ["Hello", "!"])


def test_citations_are_kept_in_the_body() -> None:
    one = {"type": "char_location", "cited_text": "x"}
    deltas: list[dict[str, Any]] = [
        {"type": "citations_delta", "citation": one},
        {"type": "text_delta", "text": "a"},
    ]
    _, _, body = streamed(start() + block(0, {"type": "text", "text": ""}, *deltas) + end())
    assert orjson.loads(body)["content"][0] == {"type": "text", "text": "a", "citations": [one]}


def test_a_refusal_while_streaming_is_an_answer_with_its_explanation() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    answer, shown, _ = streamed(start() + end("refusal", stop_details=details))
    assert (answer.text, answer.finish, shown) == ("Not this.", Finish.REFUSAL, [])


def test_a_call_that_max_tokens_cut_off_keeps_what_there_is_of_it() -> None:
    answer, _, body = streamed(start() + tool_block(0, '{"city": "Be') + end("max_tokens"))
    assert answer.finish is Finish.LENGTH
    assert answer.tool_calls[0]["function"]["arguments"] == '{"city": "Be'
    assert read_message(body) == answer


@pytest.mark.parametrize("told", ['{"n":123456789012345678901234567890}', "{}", '{ "a":1.50 }'])
def test_a_streamed_input_is_kept_as_the_model_wrote_it(told: str) -> None:
    answer, _, _ = streamed(start() + tool_block(0, *told) + end("tool_use"))
    assert answer.tool_calls[0]["function"]["arguments"] == told


def test_a_stream_that_ends_without_message_stop_is_whole_once_a_reason_was_given() -> None:
    body = WHOLE.removesuffix(event("message_stop"))
    assert body != WHOLE
    assert streamed(body)[0] == streamed(WHOLE)[0]


async def test_a_stream_that_breaks_off_anywhere_is_a_failure_and_never_a_short_answer() -> None:
    reason = WHOLE.index(b"event: message_delta")
    for cut in range(0, len(WHOLE) - len(event("message_stop")), 3):
        got = await sent(Reply(200, {}, WHOLE[:cut]), on_text=lambda _: None)
        assert failed(got).kind is FailureKind.MALFORMED, cut
        assert failed(got).may_be_paid
    assert cut > reason


@pytest.mark.parametrize(
    "body",
    [
        b"",
        event("message_stop"),
        event("ping") + end(),
        start() + event("content_block_delta", index=0, delta={"text": "a"}) + end(),
        start() + b"event: content_block_delta\ndata: {broken\n\n" + text_block(0, "b") + end(),
        start() + block(0, {"text": "a"}) + end(),
        start() + block(0, {"type": "tool_use", "id": 5}) + end(),
        start() + end(stop_reason=5),
        start() + event("message_delta", delta={"stop_reason": "x"}, usage={"output_tokens": "9"}),
        start(model={"a": 1}) + end(),
    ],
)
async def test_a_stream_that_is_none_is_malformed(body: bytes) -> None:
    got = await sent(Reply(200, {}, body), on_text=lambda _: None)
    assert failed(got).kind is FailureKind.MALFORMED
    assert failed(got).may_be_paid


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (_typed("overloaded_error", "Overloaded"), K.OVERLOADED),
        (_typed("api_error", "It broke."), K.SERVER),
        (_typed("rate_limit_error", "Slow."), K.RATE_LIMITED),
        (_typed("timeout_error", "Late."), K.TIMEOUT),
        (_coded("rate_limit_error", "enforced_spend_limit_reached"), K.QUOTA),
        (_typed("invalid_request_error", "No."), K.INVALID_REQUEST),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_an_error(
    error: dict[str, Any], kind: FailureKind
) -> None:
    shown: list[str] = []
    body = start() + text_block(0, "Half") + event("error", error=error)
    got = await sent(Reply(200, {}, body), on_text=shown.append)
    assert (failed(got).kind, failed(got).message) == (kind, error["message"])
    assert failed(got).may_be_paid
    assert shown == ["Half"]


async def test_an_error_is_known_by_its_events_name_alone() -> None:
    body = start() + b'event: error\ndata: {"error":{"type":"api_error","message":"x"}}\n\n' + end()
    assert failed(await sent(Reply(200, {}, body), on_text=lambda _: None)).kind is K.SERVER


async def test_a_server_that_does_not_stream_is_understood_and_shown() -> None:
    shown: list[str] = []
    got = await sent(Reply(200, {}, orjson.dumps(message(THOUGHT, TEXT))), on_text=shown.append)
    assert isinstance(got.outcome, Answer)
    assert (got.outcome.text, shown) == ("Hello", ["Hello"])


async def test_the_journal_gives_a_streamed_answer_back() -> None:
    got = await sent(Reply(200, {}, WHOLE), on_text=lambda _: None)
    assert isinstance(got.outcome, Answer)
    assert Anthropic.read(got.body) == got.outcome


# A day of mutations ---------------------------------------------------------------------------

ODD: list[bytes] = [
    *(b"null", b"true", b"-1", b"1e400", b"1" * 400, b"NaN", b'""', b'"\\ud800"', b'"\xff"'),
    *(b"[]", b"{}", b'{"a":1,"a":2}', b"[" * 300 + b"]" * 300, b"[" * 2000),
]


def _mutated(body: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(body) + 1)
        to = min(len(body), at + dice.randint(1, 12))
        colons = [i for i, byte in enumerate(body) if byte == 0x3A] or [0]
        value = dice.choice(colons) + 1
        after = value
        while after < len(body) and body[after] not in b",}]":
            after += 1
        body = dice.choice(
            [
                body[:at],
                body[:at] + bytes([dice.randrange(256)]) + body[at + 1 :],
                body[:at] + body[to:],
                body[:at] + dice.choice(ODD) + body[at:],
                body[:value] + dice.choice(ODD) + body[after:],
                body[:at] + body[at:to] * dice.randint(2, 50) + body[to:],
            ]
        )
    return body


async def test_two_thousand_mutated_replies_end_in_an_answer_or_a_failure() -> None:
    dice = random.Random(20261116)
    bases = [
        orjson.dumps(message(THOUGHT, TEXT, USE)),
        error_body(_coded("rate_limit_error", "ramp_limit_exceeded")),
        WHOLE,
    ]
    answered = 0
    for number in range(2000):
        reply = Reply(dice.choice([200, 200, 400, 529]), {}, _mutated(bases[number % 3], dice))
        got = await sent(reply, on_text=(lambda _: None) if number % 3 == 2 else None)
        if isinstance(got.outcome, Answer):
            answered += 1
            got.outcome.text.encode()  # whatever was read can be written again
            assert Anthropic.read(got.body) == got.outcome
        else:
            assert len(got.body) <= 4096
    assert 100 < answered < 1000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["type", "text", "thinking", "partial_json", "signature", "citation", "id", "name", "input"]
)
KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "error"]
)
PARTS = st.dictionaries(NAMES, JSON) | JSON


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(KINDS, st.integers(-1, 2) | JSON, PARTS, PARTS), max_size=6))
def test_a_stream_of_wrong_types_is_read_or_malformed(events: list[Any]) -> None:
    stream = MessageStream(lambda _: None)
    stream.feed(start())
    for kind, index, one, other in events:
        made = {"index": index, "delta": one, "content_block": other, "message": one}
        stream.feed(event(kind, usage=other, **made))
    stream.feed(end())
    with suppress(MalformedReplyError):
        read_message(stream.body())


# Breaks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "kind", "paid"),
    [
        (Broken("connection", "refused", sent=False), K.CONNECTION, False),
        (Broken("timeout", "late"), K.TIMEOUT, True),
        (Broken("too_large", "40 MiB"), K.TOO_LARGE, True),
    ],
)
async def test_a_break_becomes_a_failure_that_knows_whether_it_may_be_paid(
    broken: Broken, kind: FailureKind, paid: bool
) -> None:
    failure = failed(await sent(broken))
    assert (failure.kind, failure.may_be_paid, failure.message) == (kind, paid, broken.message)
