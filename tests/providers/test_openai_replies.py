"""Reading what servers send back: answers, refusals, streams, and what is none of these."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.providers.servers import FakeTransport, Recorder

from penstock.endpoint import Endpoint
from penstock.outcome import Answer, Failure, FailureKind, Finish, Usage
from penstock.providers.openai import OpenAI
from penstock.providers.openai_errors import read_refusal
from penstock.providers.openai_read import ChatStream, read_answer
from penstock.providers.provider import MalformedReplyError, Sent
from penstock.providers.ratelimits import Quota, duration, openai_limits, retry_after, should_retry
from penstock.providers.sse import Event, Events
from penstock.providers.transport import Broken, Reply, TransportSettings, open_transport
from penstock.request import Request
from penstock.secret import Secret

CANARY = "canary-5e1f9a7c3b2d"


def completion(message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "Hello", **(message or {})},
        "finish_reason": more.pop("finish_reason", "stop"),
    }
    return {"id": "chatcmpl-1", "model": "gpt-4o-2024", "choices": [choice], **more}


def read(value: Any) -> Answer:
    return read_answer(orjson.dumps(value))


async def sent(
    *replies: Reply | Broken,
    on_text: Callable[[str], None] | None = None,
    url: str = "http://h/v1",
    schema: Any = None,
    headers: dict[str, str] | None = None,
) -> Sent:
    endpoint = Endpoint("openai", "m", url=url, key=Secret(CANARY), headers=headers or {})
    provider = OpenAI(endpoint, FakeTransport(*replies))
    provider.open()
    return await provider.send(Request.of(endpoint, "Hi", schema=schema), on_text)


def failed(of: Sent) -> Failure:
    assert isinstance(of.outcome, Failure), of.outcome
    return of.outcome


def error_reply(status: int, error: Any, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, headers or {}, orjson.dumps({"error": error}))


# Answers --------------------------------------------------------------------------------------


def test_text_model_and_number_are_read() -> None:
    answer = read(completion())
    assert (answer.text, answer.finish) == ("Hello", Finish.STOP)
    assert (answer.model, answer.id) == ("gpt-4o-2024", "chatcmpl-1")


def test_usage_is_read_with_what_was_cached_written_and_reasoned() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 3, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 40, "audio_tokens": 0},
    }
    assert read(completion(usage=usage)).usage == Usage(100, 50, 64, 3, 40)


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 5}, Usage(5)),
        ({"prompt_tokens": 5, "completion_tokens": None}, Usage(5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": None}, Usage(5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": None}}, Usage(5)),
        ({"prompt_tokens": 5, "queue_time": 0.2, "prompt_time": 0.1}, Usage(5)),  # Groq
    ],
)
def test_usage_may_be_missing_in_part(usage: Any, read_as: Usage) -> None:
    assert read(completion(usage=usage)).usage == read_as


@pytest.mark.parametrize(
    "count", [-1, 2**53 + 1, 2**63, 10**30, 1e300, 1.5, "12", True, [], {"a": 1}]
)
def test_usage_that_cannot_be_is_malformed(count: Any) -> None:
    body = b'{"choices":[{"message":{"content":"x"}}],"usage":{"completion_tokens":%s}}'
    raw = str(count).encode() if isinstance(count, int) and count is not True else None
    with pytest.raises(MalformedReplyError):
        read_answer(body % (raw or orjson.dumps(count)))


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("eos", Finish.STOP),  # Together
        ("length", Finish.LENGTH),
        ("model_length", Finish.LENGTH),  # Mistral
        ("tool_calls", Finish.TOOL),
        ("function_call", Finish.TOOL),
        ("content_filter", Finish.CONTENT_FILTER),
        ("error", Finish.ERROR),  # Mistral, OpenRouter
        (None, Finish.ERROR),
        ("abort", Finish.ERROR),  # vLLM
        ("", Finish.ERROR),
    ],
)
def test_finish_reasons_of_all_servers_are_one_vocabulary(reason: Any, finish: Finish) -> None:
    assert read(completion(finish_reason=reason)).finish is finish


def test_a_refusal_is_an_answer() -> None:
    answer = read(completion({"content": None, "refusal": "I cannot."}))
    assert (answer.text, answer.finish) == ("I cannot.", Finish.REFUSAL)
    assert answer.refused


def test_a_filtered_answer_keeps_its_reason_beside_a_refusal() -> None:
    answer = read(completion({"content": "", "refusal": "No."}, finish_reason="content_filter"))
    assert answer.finish is Finish.CONTENT_FILTER


def test_tool_calls_are_kept_whole() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    answer = read(
        completion({"content": None, "tool_calls": [call, call]}, finish_reason="tool_calls")
    )
    assert answer.tool_calls == (call, call)
    assert (answer.text, answer.finish) == ("", Finish.TOOL)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "b"}], "b"),
        ([{"type": "text", "text": None}], ""),
        ("Zürich 東京 🏔 \u0000", "Zürich 東京 🏔 \u0000"),
    ],
)
def test_content_may_be_text_parts_or_nothing(content: Any, text: str) -> None:
    assert read(completion({"content": content})).text == text


def test_extra_fields_of_other_servers_are_no_matter() -> None:
    extra = {"x_groq": {"id": "r"}, "prompt_logprobs": None, "kv_transfer_params": {"a": [1]}}
    message = {"reasoning": "hm", "reasoning_content": "hm", "annotations": []}
    assert read(completion(message, **extra)).text == "Hello"


MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "a page": b"<html>502</html>",
    "no choices": b'{"choices":[]}',
    "null choices": b'{"choices":null}',
    "no choices at all": b'{"id":"x"}',
    "no message": b'{"choices":[{"index":0}]}',
    "null message": b'{"choices":[{"message":null}]}',
    "a number for content": b'{"choices":[{"message":{"content":5}}]}',
    "text for parts": b'{"choices":[{"message":{"content":["a"]}}]}',
    "a text": b'"hello"',
    "a list": b"[]",
    "null": b"null",
    "NaN": b"NaN",
    "NaN inside": b'{"choices":[{"message":{"content":NaN}}]}',
    "cut off": b'{"choices":[{"message":{"content":"Hel',
    "bad utf-8": b'{"choices":[{"message":{"content":"\xff\xfe"}}]}',
    "lone surrogate": b'{"choices":[{"message":{"content":"\\ud800"}}]}',
    "encoded surrogate": b'{"choices":[{"message":{"content":"\xed\xa0\x80"}}]}',
    "a byte order mark": b'\xef\xbb\xbf{"choices":[]}',
    "deep": b'{"choices":' + b"[" * 200_000,
    "deep and closed": b'{"choices":[{"message":{"tool_calls":[{"a":'
    + b"[" * 600
    + b"]" * 600
    + b"}]}}]}",
    "deep elsewhere": b'{"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b',"choices":[]}',
    "two bodies": b'{"choices":[{"message":{"content":"a"}}]}{}',
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_answer_is_malformed_and_nothing_else(name: str) -> None:
    with pytest.raises(MalformedReplyError):
        read_answer(MALFORMED[name])


@pytest.mark.parametrize("name", MALFORMED)
async def test_a_malformed_reply_heals_and_may_have_been_paid_for(name: str) -> None:
    got = await sent(Reply(200, {"x-request-id": "req_7"}, MALFORMED[name]))
    failure = failed(got)
    assert failure.kind is FailureKind.MALFORMED and failure.kind.heals
    assert failure.may_be_paid
    assert (failure.status, failure.id) == (200, "req_7")
    assert len(got.body) <= 4096 and len(failure.message) < 400


# Refusals -------------------------------------------------------------------------------------

K = FailureKind
REFUSALS: list[tuple[int, dict[str, Any], FailureKind]] = [
    (400, {"type": "invalid_request_error"}, K.INVALID_REQUEST),
    (400, {"code": "context_length_exceeded"}, K.TOO_LARGE),
    (400, {"code": "string_above_max_length"}, K.TOO_LARGE),
    (400, {"code": "content_filter", "innererror": {"code": "x"}}, K.BLOCKED),
    (400, {"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}, K.BLOCKED),
    (400, {"code": "invalid_api_key"}, K.AUTHENTICATION),
    (400, {"code": "billing_hard_limit_reached"}, K.QUOTA),
    (400, {"type": "BadRequestError", "code": 400}, K.INVALID_REQUEST),  # vLLM
    (401, {"code": "invalid_api_key"}, K.AUTHENTICATION),
    (401, {}, K.AUTHENTICATION),
    (402, {"code": 402}, K.QUOTA),
    (403, {"code": "unsupported_country_region_territory"}, K.PERMISSION),
    (404, {"code": "model_not_found"}, K.NOT_FOUND),
    (404, {"type": "NotFoundError", "code": 404}, K.NOT_FOUND),  # vLLM
    (405, {}, K.INVALID_REQUEST),
    (408, {}, K.TIMEOUT),
    (409, {}, K.SERVER),
    (413, {}, K.TOO_LARGE),
    (415, {}, K.INVALID_REQUEST),
    (422, {}, K.INVALID_REQUEST),
    (429, {"code": "rate_limit_exceeded", "type": "requests"}, K.RATE_LIMITED),
    (429, {"code": "rate_limit_exceeded", "type": "tokens"}, K.RATE_LIMITED),
    (429, {"code": "slow_down", "type": "rate_limit_error"}, K.RATE_LIMITED),
    (429, {"code": "429"}, K.RATE_LIMITED),
    (429, {}, K.RATE_LIMITED),
    (503, {"code": "slow_down"}, K.RATE_LIMITED),
    (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, K.QUOTA),
    (429, {"type": "insufficient_quota", "code": "credit_balance_exhausted"}, K.QUOTA),
    (429, {"type": "insufficient_quota", "code": "organization_spend_limit_exceeded"}, K.QUOTA),
    (429, {"type": "insufficient_quota", "code": "project_spend_limit_exceeded"}, K.QUOTA),
    (429, {"type": "insufficient_quota", "code": "organization_usage_limit_exceeded"}, K.QUOTA),
    (429, {"code": "credit_balance_exhausted"}, K.QUOTA),
    (500, {"type": "server_error"}, K.SERVER),
    (501, {}, K.SERVER),
    (502, {}, K.SERVER),
    (503, {"code": "server_is_overloaded", "type": "service_unavailable_error"}, K.OVERLOADED),
    (503, {}, K.OVERLOADED),
    (504, {}, K.SERVER),
    (520, {}, K.SERVER),
    (529, {"type": "overloaded_error"}, K.OVERLOADED),
    (201, {}, K.MALFORMED),
    (204, {}, K.MALFORMED),
    (301, {}, K.NOT_FOUND),
    (307, {}, K.NOT_FOUND),
]
HEALS = {K.TIMEOUT, K.RATE_LIMITED, K.SERVER, K.OVERLOADED, K.MALFORMED}
STOPS = {K.AUTHENTICATION, K.PERMISSION, K.NOT_FOUND, K.QUOTA}


@pytest.mark.parametrize(("status", "error", "kind"), REFUSALS)
async def test_every_refusal_has_its_kind_and_with_it_what_to_do(
    status: int, error: dict[str, Any], kind: FailureKind
) -> None:
    failure = failed(await sent(error_reply(status, {"message": "Said so.", **error})))
    assert failure.kind is kind
    assert (failure.kind.heals, failure.kind.stops) == (kind in HEALS, kind in STOPS)
    assert failure.status == status
    if not 300 <= status < 400:
        assert failure.message == "Said so."


@pytest.mark.parametrize(
    ("status", "paid"),
    [(200, True), (201, True), (504, True), (524, True)]
    + [(status, False) for status in (400, 429, 500, 502, 503)],
)
async def test_only_a_success_or_a_gateway_that_gave_up_may_have_been_paid_for(
    status: int, paid: bool
) -> None:
    assert failed(await sent(error_reply(status, {"message": "x"}))).may_be_paid is paid


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (None, K.SERVER),
        (429, K.RATE_LIMITED),  # OpenRouter puts the status it met into the body
        ("429", K.RATE_LIMITED),
        (402, K.QUOTA),
        (503, K.OVERLOADED),
        (400, K.INVALID_REQUEST),
        (12, K.SERVER),
        ("rate_limit_exceeded", K.RATE_LIMITED),
    ],
)
async def test_an_error_inside_a_success_is_read_by_its_code(code: Any, kind: FailureKind) -> None:
    failure = failed(await sent(error_reply(200, {"message": "The model failed.", "code": code})))
    assert (failure.kind, failure.may_be_paid, failure.status) == (kind, True, 200)
    assert failure.message == "The model failed."


BODIES: dict[str, tuple[bytes, str]] = {
    "old vLLM": (
        b'{"object":"error","message":"Too long.","type":"BadRequestError","code":400}',
        "Too long.",
    ),
    "a text for an error": (b'{"error":"model is loading"}', "model is loading"),
    "FastAPI text": (b'{"detail":"Not authenticated"}', "Not authenticated"),
    "FastAPI list": (
        b'{"detail":[{"loc":["body","messages"],"msg":"field required"}]}',
        '[{"loc":["body","messages"],"msg":"field required"}]',
    ),
    "Mistral": (
        b'{"object":"error","message":{"detail":[{"msg":"no"}]}}',
        '{"detail":[{"msg":"no"}]}',
    ),
    "a page": (b"<html><h1>Bad gateway</h1></html>", "HTTP 400: <html><h1>Bad gateway</h1></html>"),
    "nothing": (b"", "HTTP 400: "),
    "a list": (b'["no"]', 'HTTP 400: ["no"]'),
    "null": (b'{"error":null}', 'HTTP 400: {"error":null}'),
    "bad utf-8": (b"\xff\xfe no", "HTTP 400: \ufffd\ufffd no"),
    "no message": (b'{"error":{"type":"x"}}', 'HTTP 400: {"error":{"type":"x"}}'),
}


@pytest.mark.parametrize("name", BODIES)
def test_errors_are_read_in_all_the_spellings_that_are_about(name: str) -> None:
    body, message = BODIES[name]
    refusal = read_refusal(Reply(400, {}, body))
    assert refusal.message == message
    assert refusal.kind is FailureKind.INVALID_REQUEST


@pytest.mark.parametrize(
    "body",
    [
        b'{"detail":' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"error":{"message":' + b"[" * 900 + b"]" * 900 + b"}}",
        b"[" * 100_000,
        b'{"error":{"code":{"a":1},"type":[2],"message":5}}',
        b'{"error":{"code":1e400}}',
        b'{"error":{"message":"' + b"x" * 5_000_000 + b'"}}',
    ],
)
async def test_a_strange_error_is_still_an_error_and_short(body: bytes) -> None:
    began = time.perf_counter()
    got = await sent(Reply(500, {}, body))
    assert failed(got).kind is FailureKind.SERVER
    assert len(failed(got).message) <= 1000 and len(got.body) <= 4096
    assert time.perf_counter() - began < 1


def test_a_redirect_says_where_to_and_what_to_do() -> None:
    refusal = read_refusal(Reply(308, {"location": "https://new.example/v1"}, b""))
    assert "https://new.example/v1" in refusal.message
    assert "give that address" in refusal.message


# When to ask again ----------------------------------------------------------------------------

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "20s"}, 20.0),
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": "250ms"}, 0.25),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "-5", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "9" * 400 + "h"}, None),
        ({"retry-after-ms": "9" * 400}, None),
        ({"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == pytest.approx(seconds)


@given(st.text(max_size=40), st.text(max_size=40))
def test_retry_after_never_raises_and_is_never_endless(text: str, millis: str) -> None:
    seconds = retry_after({"retry-after": text, "retry-after-ms": millis}, NOW)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("12ms", 0.012),
        ("2m59.56s", 179.56),
        ("1h2m3s", 3723.0),
        ("1d", 86400.0),
        ("500us", 0.0005),
        ("500µs", 0.0005),
        ("59", 59.0),
        ("59.5", 59.5),
        ("0", 0.0),
        ("-1", 0.0),
        ("", None),
        ("1 s", None),
        ("s", None),
        ("1x", None),
    ],
)
def test_durations_are_gos_or_plain_seconds(text: str, seconds: float | None) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("said", "meant"), [("true", True), ("false", False), ("TRUE", True), ("", None), ("1", None)]
)
async def test_the_servers_own_word_on_asking_again_is_passed_on(said: str, meant: Any) -> None:
    headers = {"x-should-retry": said, "retry-after": "2"}
    assert should_retry(headers) is meant
    got = await sent(error_reply(500, {"message": "x"}, headers))
    assert (got.should_retry, got.retry_after) == (meant, 2.0)


def limit_headers(*values: str) -> dict[str, str]:
    names = ["limit-requests", "remaining-requests", "reset-requests"]
    names += ["limit-tokens", "remaining-tokens", "reset-tokens"]
    return {f"x-ratelimit-{name}": value for name, value in zip(names, values, strict=False)}


@pytest.mark.parametrize(
    ("headers", "requests", "tokens"),
    [
        (
            limit_headers("60", "59", "1s", "150000", "149984", "6m0s"),
            Quota(60, 59, 1.0),
            Quota(150000, 149984, 360.0),
        ),
        (limit_headers("60", "59", "30", "9", "8", "2"), Quota(60, 59, 30.0), Quota(9, 8, 2.0)),
        (
            limit_headers("14400", "14370", "2m59.56s", "6000", "5997", "7.66s"),
            Quota(14400, 14370, 179.56),
            Quota(6000, 5997, 7.66),
        ),
        (limit_headers("-1", "-1", "0", "100", "-1", "-1"), None, Quota(100, None, 0.0)),
        (limit_headers("60", "", "soon"), Quota(60, None, None), None),
        (limit_headers("many"), None, None),
        (limit_headers("9" * 5000, "9" * 5000, "9" * 5000), None, None),
    ],
)
async def test_limits_are_read_from_headers(
    headers: dict[str, str], requests: Quota | None, tokens: Quota | None
) -> None:
    got = await sent(Reply(200, headers, orjson.dumps(completion())))
    assert got.limits is not None
    assert (got.limits.requests, got.limits.tokens) == (requests, tokens)
    refused = await sent(error_reply(429, {"message": "x"}, headers))
    assert refused.limits == got.limits


def test_without_headers_no_limits_are_known() -> None:
    assert openai_limits({"x-request-id": "1"}) is None


# Secrets --------------------------------------------------------------------------------------

ECHOES = {
    "in the message": orjson.dumps({"error": {"message": f"Incorrect API key: {CANARY}."}}),
    "in a page": f"<html>authorization: Bearer {CANARY}</html>".encode(),
    "in a detail": orjson.dumps({"detail": [{"input": {"authorization": f"Bearer {CANARY}"}}]}),
    "in another field": orjson.dumps({"error": {"message": "x", "headers": {"k": CANARY}}}),
    "in a text": orjson.dumps({"error": CANARY}),
}


@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("name", ECHOES)
async def test_a_key_echoed_in_an_error_is_masked(name: str, status: int) -> None:
    got = await sent(Reply(status, {"x-request-id": CANARY}, ECHOES[name]))
    failure = failed(got)
    assert CANARY not in repr(failure)
    assert CANARY.encode() not in got.body


@pytest.mark.parametrize("shape", ["page", "message", "detail", "list"])
async def test_no_half_of_a_key_remains_wherever_a_text_is_cut(shape: str) -> None:
    for before in (*range(150, 210), *range(440, 505), *range(960, 1001), *range(4040, 4100)):
        text = "x " * (before // 2) + "x" * (before % 2) + CANARY + " and so on" * 20
        body = {
            "page": text.encode(),
            "message": orjson.dumps({"error": {"message": text}}),
            "detail": orjson.dumps({"detail": [text]}),
            "list": orjson.dumps([text]),
        }[shape]
        got = await sent(Reply(400, {}, body))
        assert CANARY[:9] not in failed(got).message
        assert CANARY[:9].encode() not in got.body


async def test_a_key_echoed_in_an_answer_is_masked_before_anyone_sees_it() -> None:
    got = await sent(Reply(200, {}, orjson.dumps(completion({"content": f"It is {CANARY}!"}))))
    assert isinstance(got.outcome, Answer)
    assert got.outcome.text == "It is ****!"
    assert CANARY.encode() not in got.body


async def test_a_key_cut_in_two_by_a_stream_is_masked_in_the_answer() -> None:
    pieces = [f"It is {CANARY[:7]}", f"{CANARY[7:]}!"]
    got = await sent(Reply(200, {}, stream_of(*pieces)), on_text=lambda _: None)
    assert isinstance(got.outcome, Answer)
    assert got.outcome.text == "It is ****!"
    assert CANARY.encode() not in got.body


async def test_a_redirect_that_carries_the_key_does_not_show_it() -> None:
    got = await sent(Reply(302, {"location": f"https://e.org/?k={CANARY}"}, b""))
    assert CANARY not in repr(got.outcome)


# Streams --------------------------------------------------------------------------------------


def event(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def chunk(delta: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    finish = more.pop("finish_reason", None)
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {
        "id": "c-1",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [choice],
    } | more


def stream_of(*texts: str, usage: bool = True) -> bytes:
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": text}) for text in texts]
    events.append(chunk(finish_reason="stop"))
    if usage:
        counted = {"prompt_tokens": 3, "completion_tokens": 2}
        events.append(chunk(choices=[], usage=counted))
    return b"".join(event(each) for each in events) + b"data: [DONE]\n\n"


def streamed(*pieces: bytes) -> tuple[Answer, list[str]]:
    shown: list[str] = []
    stream = ChatStream(shown.append)
    for piece in pieces:
        stream.feed(piece)
    return read_answer(stream.body()), shown


CALLS = b"".join(
    event(each)
    for each in (
        chunk({"role": "assistant", "content": None}),
        chunk(
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}
        ),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]}),
        chunk(
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]}
        ),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"ü"}'}}]}),
        chunk(finish_reason="tool_calls"),
    )
)


def test_a_stream_is_put_together_and_shown() -> None:
    answer, shown = streamed(stream_of("Zür", "ich ", "🏔"))
    assert (answer.text, answer.finish, answer.usage) == ("Zürich 🏔", Finish.STOP, Usage(3, 2))
    assert shown == ["Zür", "ich ", "🏔"]
    assert (answer.id, answer.model) == ("c-1", "m")


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("kind", ["text", "tools"])
def test_a_stream_cut_at_any_byte_gives_the_same(kind: str, ends: bytes) -> None:
    body = (stream_of("Zür", "東京 ", "🏔 \\n\u2028", "") if kind == "text" else CALLS).replace(
        b"\n", ends
    )
    right = streamed(body)
    for at in range(len(body) + 1):
        assert streamed(body[:at], body[at:]) == right
    assert streamed(*(bytes([byte]) for byte in body)) == right


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, len(CALLS)), max_size=12))
def test_a_stream_in_any_pieces_gives_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(CALLS)]
    pieces = [CALLS[a:b] for a, b in pairwise(places)]
    assert streamed(*pieces) == streamed(CALLS)


def test_streamed_tool_calls_are_put_together_by_their_number() -> None:
    answer, _ = streamed(CALLS)
    assert [call["function"] for call in answer.tool_calls] == [
        {"name": "f", "arguments": '{"x":"ü"}'},
        {"name": "g", "arguments": "{}"},
    ]
    assert [call["id"] for call in answer.tool_calls] == ["a", "b"]
    assert answer.finish is Finish.TOOL


def test_streamed_tool_calls_without_numbers_are_told_apart_by_their_ids() -> None:
    first = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
    second = {"id": "b", "function": {"name": "g", "arguments": '{"x":'}}
    more = {"function": {"arguments": "1}"}}
    answer, _ = streamed(
        event(chunk({"tool_calls": [first, second]})),
        event(chunk({"tool_calls": [more]}, finish_reason="tool_calls")),
    )
    assert [call["function"]["name"] for call in answer.tool_calls] == ["f", "g"]
    assert answer.tool_calls[1]["function"]["arguments"] == '{"x":1}'


def test_a_streamed_refusal_is_a_refusal() -> None:
    answer, shown = streamed(
        event(chunk({"refusal": "I can"})),
        event(chunk({"refusal": "not."}, finish_reason="stop")),
    )
    assert (answer.text, answer.finish, shown) == ("I cannot.", Finish.REFUSAL, [])


def test_comments_names_and_other_choices_in_a_stream_are_passed_over() -> None:
    other = chunk({"content": "other"})
    other["choices"][0]["index"] = 1
    body = (
        b": keep-alive\n\nevent: message\nid: 7\nretry: 10\n"
        + event(chunk({"content": "a", "obfuscation": "xyz"}))
        + event(other)
        + b"data: 5\n\ndata: null\n\n"
        + event({"choices": [], "prompt_filter_results": []})  # Azure's first
        + stream_of("b")
    )
    assert streamed(body)[0].text == "ab"


def test_a_stream_that_ends_without_done_is_whole_once_a_reason_was_given() -> None:
    body = stream_of("Hello").replace(b"data: [DONE]\n\n", b"")
    assert streamed(body)[0].text == "Hello"


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
async def test_a_stream_that_breaks_off_is_malformed(share: float) -> None:
    body = stream_of(*"abcdefghij", usage=False)
    cut = body[: int(len(body) * share)]
    got = await sent(Reply(200, {}, cut), on_text=lambda _: None)
    assert failed(got).kind is FailureKind.MALFORMED
    assert failed(got).may_be_paid


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"data: [DONE]\n\n",
        event({"choices": []}) + b"data: [DONE]\n\n",
        event(chunk({"content": "a"})) + b"data: {broken\n\n" + stream_of("b"),
        event(chunk({"content": "a"}, finish_reason=5)),
        event(chunk({"content": "a"}, finish_reason="stop", usage=[1])),
        event(chunk({"content": "a"}, finish_reason="stop") | {"model": {"a": 1}}),
        event(chunk({"content": "a"}, finish_reason="stop"))
        + b'data: {"usage":'
        + b"[" * 300
        + b"]" * 300
        + b"}\n\n",
    ],
)
async def test_a_stream_that_is_none_is_malformed(body: bytes) -> None:
    got = await sent(Reply(200, {}, body), on_text=lambda _: None)
    assert failed(got).kind is FailureKind.MALFORMED
    assert failed(got).may_be_paid


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ({"message": "It broke.", "type": "server_error"}, K.SERVER, "It broke."),
        ({"message": "Slow.", "code": "rate_limit_exceeded"}, K.RATE_LIMITED, "Slow."),
        ({"message": "Bad.", "type": "BadRequestError", "code": 400}, K.INVALID_REQUEST, "Bad."),
        ("It broke.", K.SERVER, "It broke."),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_an_error(
    error: Any, kind: FailureKind, message: str
) -> None:
    shown: list[str] = []
    body = event(chunk({"content": "Half"})) + event({"error": error}) + b"data: [DONE]\n\n"
    got = await sent(Reply(200, {}, body), on_text=shown.append)
    assert (failed(got).kind, failed(got).message) == (kind, message)
    assert failed(got).may_be_paid
    assert shown == ["Half"]


async def test_a_server_that_does_not_stream_is_understood_and_shown() -> None:
    shown: list[str] = []
    got = await sent(Reply(200, {}, orjson.dumps(completion())), on_text=shown.append)
    assert isinstance(got.outcome, Answer)
    assert (got.outcome.text, shown) == ("Hello", ["Hello"])


@pytest.mark.parametrize("problem", [ValueError, OSError, KeyError, BrokenPipeError])
async def test_a_display_that_fails_does_not_lose_the_answer(problem: type[Exception]) -> None:
    calls = 0

    def show(_: str) -> None:
        nonlocal calls
        calls += 1
        raise problem("the terminal is gone")

    got = await sent(Reply(200, {}, stream_of("a", "b", "c")), on_text=show)
    assert isinstance(got.outcome, Answer)
    assert (got.outcome.text, calls) == ("abc", 1)


async def test_a_stream_and_a_whole_reply_give_the_same_answer() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    one = orjson.dumps(completion({"content": "ab"}, usage=usage, id="c-1", model="m"))
    plain = await sent(Reply(200, {}, one))
    live = await sent(Reply(200, {}, stream_of("a", "b")), on_text=lambda _: None)
    assert plain.outcome == live.outcome
    assert OpenAI.read(live.body) == live.outcome  # and the journal gives it back


def test_events_are_cut_by_blank_lines_whatever_the_line_ends() -> None:
    body = b"event: a\r\ndata: 1\r\ndata: 2\r\n\r\n: x\n\n\ndata:3\n\ndata: unfinished"
    assert list(Events().send(body)) == [Event("1\n2", "a"), Event("3")]


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    events = Events()
    began = time.perf_counter()
    for _ in range(20_000):
        assert not list(events.send(b"x" * 1000))
    assert len(next(events.send(b"\ndata: 1\n\n")).data) == 1
    assert time.perf_counter() - began < 2


# A day of mutations ---------------------------------------------------------------------------

WHOLE = [
    orjson.dumps(completion(usage={"prompt_tokens": 1, "prompt_tokens_details": {}})),
    orjson.dumps(
        completion(
            {
                "content": [{"type": "text", "text": "Zürich"}],
                "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
            }
        )
    ),
    orjson.dumps({"error": {"message": "no", "type": "t", "param": None, "code": "c"}}),
    orjson.dumps({"detail": [{"loc": ["body"], "msg": "m"}]}),
]
ODD: list[bytes] = [
    b"null",
    b"true",
    b"-1",
    b"1e400",
    b"1" * 400,
    b"9" * 5000,
    b"NaN",
    b"-Infinity",
    b'""',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b'"\\u0000"',
    b"[]",
    b"{}",
    b"[[]]",
    b'{"a":1,"a":2}',
    b"[" * 300 + b"]" * 300,
    b'{"a":' * 300 + b"1" + b"}" * 300,
    b"[" * 5000,
    b"[" * 2000 + b"]" * 2000,
]


def _mutated(body: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 3)):
        how = dice.randrange(7)
        at = dice.randrange(len(body) + 1) if body else 0
        end = min(len(body), at + dice.randint(1, 12))
        if how == 0:
            body = body[:at]
        elif how == 1:
            body = body[:at] + bytes([dice.randrange(256)]) + body[at + 1 :]
        elif how == 2:
            body = body[:at] + body[end:]
        elif how == 3:
            body = body[:at] + dice.choice(ODD) + body[at:]
        elif how == 4:  # a value for another
            colons = [i for i, byte in enumerate(body) if byte == 0x3A]
            at = dice.choice(colons) + 1 if colons else 0
            end = at
            while end < len(body) and body[end] not in b",}]":
                end += 1
            body = body[:at] + dice.choice(ODD) + body[end:]
        elif how == 5:
            body = body[:at] + body[at:end] * dice.randint(2, 50) + body[end:]
        else:
            body = body[at:] + body[:at]
    return body


def test_a_thousand_mutated_answers_and_errors_are_read_or_malformed() -> None:
    dice = random.Random(20261115)
    read_whole = 0
    began = time.perf_counter()
    for number in range(2000):
        body = _mutated(WHOLE[number % len(WHOLE)], dice)
        try:
            answer = read_answer(body)
            assert isinstance(answer.text, str)
            answer.text.encode()  # whatever was read can be written again
            orjson.dumps(answer.tool_calls)
            read_whole += 1
        except MalformedReplyError:
            pass
        refusal = read_refusal(Reply(dice.choice([200, 400, 429, 500]), {}, body))
        assert isinstance(refusal.kind, FailureKind) and isinstance(refusal.message, str)
    assert 100 < read_whole < 1000
    assert time.perf_counter() - began < 20


async def test_a_thousand_mutated_replies_end_in_an_answer_or_a_failure() -> None:
    dice = random.Random(7)
    answered = 0
    for number in range(1000):
        reply = Reply(dice.choice([200, 200, 400, 503]), {}, _mutated(WHOLE[number % 4], dice))
        got = await sent(reply, on_text=(lambda _: None) if number % 8 < 4 else None)
        answered += isinstance(got.outcome, Answer)
        assert len(got.body) <= 4096 or isinstance(got.outcome, Answer)
    assert answered > 15


async def test_a_thousand_mutated_streams_end_in_an_answer_or_a_failure() -> None:
    dice = random.Random(11)
    bases = [stream_of("Zür", "ich", "🏔"), CALLS + b"data: [DONE]\n\n"]
    answered = 0
    for number in range(1000):
        body = _mutated(bases[number % 2], dice)
        got = await sent(Reply(200, {}, body), on_text=lambda _: None)
        answered += isinstance(got.outcome, Answer)
        if isinstance(got.outcome, Answer):
            assert OpenAI.read(got.body) == got.outcome
    assert 50 < answered < 950


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["id", "index", "function", "name", "arguments", "content", "refusal", "tool_calls", "text"]
)
DELTA = st.dictionaries(NAMES, JSON | st.lists(st.dictionaries(NAMES, JSON), max_size=3))


@settings(max_examples=60, deadline=None)
@given(st.lists(DELTA | JSON, max_size=4), JSON, JSON)
def test_a_stream_of_wrong_types_is_read_or_malformed(
    deltas: list[Any], finish: Any, usage: Any
) -> None:
    stream = ChatStream(lambda _: None)
    for delta in deltas:
        made = {"choices": [{"delta": delta, "finish_reason": finish}], "usage": usage}
        stream.feed(event(made))
    stream.feed(b"data: [DONE]\n\n")
    with suppress(MalformedReplyError):
        read_answer(stream.body())


# Structured answers where the server does not know them ---------------------------------------


class City(BaseModel):
    name: str
    people: int


def refuses(what: str) -> tuple[int, Any]:
    return 400, {"error": {"message": f"{what} is not supported", "type": "invalid_request_error"}}


def says_city() -> tuple[int, Any]:
    return 200, completion({"content": '{"name":"Bern","people":1}'})


def asked_for(body: Any) -> str:
    return str(body.get("response_format", {}).get("type", "prompt"))


async def test_a_server_that_refuses_schemas_ends_with_the_schema_in_the_prompt(
    recorder: Recorder,
) -> None:
    recorder.replies += [refuses("json_schema"), refuses("response_format"), says_city()]
    endpoint = Endpoint("openai", "m", url=recorder.url)
    transport = open_transport(TransportSettings(timeout=5))
    provider = OpenAI(endpoint, transport)
    provider.open()
    got = await provider.send(Request.of(endpoint, "Which?", schema=City))
    assert isinstance(got.outcome, Answer)
    assert [asked_for(seen.body) for seen in recorder.seen] == [
        "json_schema",
        "json_object",
        "prompt",
    ]
    for seen in recorder.seen[1:]:
        first, last = seen.body["messages"]
        assert first["role"] == "system" and '"people"' in first["content"]
        assert "JSON" in first["content"]
        assert last == {"role": "user", "content": "Which?"}
    assert orjson.loads(got.wire) == recorder.seen[-1].body

    recorder.clear()  # and it is remembered
    recorder.replies.append(says_city())
    await provider.send(Request.of(endpoint, "And now?", schema=City))
    assert [asked_for(seen.body) for seen in recorder.seen] == ["prompt"]
    await transport.close()


async def test_a_server_that_takes_plain_json_gets_no_further() -> None:
    transport = FakeTransport(
        Reply(400, {}, orjson.dumps(refuses("json_schema")[1])),
        Reply(200, {}, orjson.dumps(says_city()[1])),
    )
    endpoint = Endpoint("openai", "m", url="http://h/v1")
    provider = OpenAI(endpoint, transport)
    provider.open()
    for _ in range(2):
        got = await provider.send(Request.of(endpoint, "Which?", schema=City))
        assert isinstance(got.outcome, Answer)
    kinds = [asked_for(orjson.loads(call.body)) for call in transport.calls]
    assert kinds == ["json_schema", "json_object", "json_object"]


async def test_those_who_were_under_way_when_the_others_learnt_it_are_asked_again_too() -> None:
    class Slow(FakeTransport):
        """Refuses every schema; the calls of `late` are answered last of all."""

        async def send(self, call: Any, on_bytes: Any = None) -> Reply | Broken:
            self.calls.append(call)
            kind = asked_for(orjson.loads(call.body))
            if b"late" in call.body and kind == "json_schema":
                await asyncio.sleep(0.05)
            if kind != "prompt":
                return Reply(400, {}, orjson.dumps(refuses(kind)[1]))
            return Reply(200, {}, orjson.dumps(says_city()[1]))

    endpoint = Endpoint("openai", "m", url="http://h/v1")
    provider = OpenAI(endpoint, Slow(Broken("connection", "")))
    provider.open()
    late, early = await asyncio.gather(
        provider.send(Request.of(endpoint, "late", schema=City)),
        provider.send(Request.of(endpoint, "early", schema=City)),
    )
    assert isinstance(early.outcome, Answer)
    assert isinstance(late.outcome, Answer)


async def test_behind_openai_base_url_another_server_falls_back_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://vllm:8000/v1")
    got = await sent(
        Reply(400, {}, orjson.dumps(refuses("guided_json")[1])),
        Reply(200, {}, orjson.dumps(says_city()[1])),
        url="http://vllm:8000/v1",
        schema=City,
    )
    assert isinstance(got.outcome, Answer)


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://eu.api.openai.com/v1"])
async def test_openai_itself_means_what_it_says_about_a_schema(url: str) -> None:
    refused = Reply(400, {}, orjson.dumps(refuses("response_format")[1]))
    assert failed(await sent(refused, url=url, schema=City)).kind is FailureKind.INVALID_REQUEST


async def test_another_refusal_is_no_word_on_schemas() -> None:
    transport = FakeTransport(Reply(400, {}, b'{"error":{"message":"temperature is too high"}}'))
    endpoint = Endpoint("openai", "m", url="http://h/v1")
    provider = OpenAI(endpoint, transport)
    provider.open()
    got = await provider.send(Request.of(endpoint, "Which?", schema=City))
    assert failed(got).kind is FailureKind.INVALID_REQUEST
    assert len(transport.calls) == 1


# Breaks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "kind", "paid"),
    [
        (Broken("connection", "refused", sent=False), K.CONNECTION, False),
        (Broken("connection", "reset"), K.CONNECTION, True),
        (Broken("timeout", "late"), K.TIMEOUT, True),
        (Broken("timeout", "never connected", sent=False), K.TIMEOUT, False),
        (Broken("too_large", "40 MiB"), K.TOO_LARGE, True),
    ],
)
async def test_a_break_becomes_a_failure_that_knows_whether_it_may_be_paid(
    broken: Broken, kind: FailureKind, paid: bool
) -> None:
    failure = failed(await sent(broken))
    assert (failure.kind, failure.may_be_paid, failure.message) == (kind, paid, broken.message)
