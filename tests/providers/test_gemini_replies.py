"""Reading what Gemini sends back: answers, refusals, streams, and what is none of these."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import orjson
import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.providers.servers import FakeTransport

from penstock.endpoint import Endpoint
from penstock.outcome import Answer, Failure, FailureKind, Finish, Usage
from penstock.providers.gemini import Gemini
from penstock.providers.gemini_errors import read_limits, read_refusal
from penstock.providers.gemini_read import ContentStream, read_answer
from penstock.providers.provider import MalformedReplyError, Sent
from penstock.providers.ratelimits import Quota, RateLimits
from penstock.providers.transport import Broken, Reply
from penstock.request import Request
from penstock.secret import Secret

CANARY = "AIza-canary-5e1f9a7c3b2d"


def reply(*parts: dict[str, Any], finish: Any = "STOP", **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts or ({"text": "Hello"},))}
    candidate = {"content": content, "finishReason": finish, "index": 0}
    return {
        "candidates": [candidate],
        "modelVersion": "gemini-3-flash-001",
        "responseId": "r-1",
        **more,
    }


def read(value: Any) -> Answer:
    return read_answer(orjson.dumps(value))


async def sent(
    *replies: Reply | Broken, on_text: Callable[[str], None] | None = None, **asked: Any
) -> Sent:
    endpoint = Endpoint("gemini", "m", url="http://h", key=Secret(CANARY))
    transport = FakeTransport(*replies)
    provider = Gemini(endpoint, transport)
    provider.open()
    return await provider.send(Request.of(endpoint, "Hi", **asked), on_text)


def failed(of: Sent) -> Failure:
    assert isinstance(of.outcome, Failure), of.outcome
    return of.outcome


def answered(of: Sent) -> Answer:
    assert isinstance(of.outcome, Answer), of.outcome
    return of.outcome


def error_reply(status: int, error: Any, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, headers or {}, orjson.dumps({"error": error}))


# Answers --------------------------------------------------------------------------------------


def test_text_model_and_number_are_read() -> None:
    answer = read(reply())
    assert (answer.text, answer.finish) == ("Hello", Finish.STOP)
    assert (answer.model, answer.id) == ("gemini-3-flash-001", "r-1")


def test_the_parts_of_a_text_are_joined_without_the_thoughts() -> None:
    thought = {"text": "Hm. ", "thought": True, "thoughtSignature": "c2ln"}
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    answer = read(reply(thought, {"text": "Zür"}, code, {"text": "ich", "thought": False}))
    assert answer.text == "Zürich"


@pytest.mark.parametrize(
    "content",
    [None, {}, {"role": "model"}, {"role": "model", "parts": None}, {"parts": []}],
)
def test_an_answer_may_be_empty(content: Any) -> None:
    body = reply()
    body["candidates"][0]["content"] = content
    assert (read(body).text, read(body).finish) == ("", Finish.STOP)


def test_usage_counts_thoughts_into_the_answer_and_tools_into_the_prompt() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 64,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 40,
        "toolUsePromptTokenCount": 7,
        "totalTokenCount": 197,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
    }
    found = read(reply(usageMetadata=usage)).usage
    assert found == Usage(107, 90, 64, 0, 40)
    assert found.total_tokens == usage["totalTokenCount"]


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"promptTokenCount": 5}, Usage(5)),
        ({"promptTokenCount": 5, "candidatesTokenCount": None}, Usage(5)),
        ({"promptTokenCount": 5, "trafficType": "ON_DEMAND"}, Usage(5)),
    ],
)
def test_usage_may_be_missing_in_part(usage: Any, read_as: Usage) -> None:
    assert read(reply(usageMetadata=usage)).usage == read_as


@pytest.mark.parametrize("count", [-1, 2**53 + 1, 2**63, 1.5, "12", True, [], {"a": 1}])
@pytest.mark.parametrize("name", ["promptTokenCount", "thoughtsTokenCount"])
def test_usage_that_cannot_be_is_malformed(name: str, count: Any) -> None:
    with pytest.raises(MalformedReplyError):
        read(reply(usageMetadata={name: count}))


FINISHES: dict[str, Finish] = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    "CONTINUATION": Finish.LENGTH,
    "SAFETY": Finish.CONTENT_FILTER,
    "RECITATION": Finish.CONTENT_FILTER,
    "BLOCKLIST": Finish.CONTENT_FILTER,
    "PROHIBITED_CONTENT": Finish.CONTENT_FILTER,
    "SPII": Finish.CONTENT_FILTER,
    "IMAGE_SAFETY": Finish.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": Finish.CONTENT_FILTER,
    "IMAGE_RECITATION": Finish.CONTENT_FILTER,
    "LANGUAGE": Finish.ERROR,
    "OTHER": Finish.ERROR,
    "MALFORMED_FUNCTION_CALL": Finish.ERROR,
    "MALFORMED_RESPONSE": Finish.ERROR,
    "UNEXPECTED_TOOL_CALL": Finish.ERROR,
    "TOO_MANY_TOOL_CALLS": Finish.ERROR,
    "NO_IMAGE": Finish.ERROR,
    "IMAGE_OTHER": Finish.ERROR,
    "FINISH_REASON_UNSPECIFIED": Finish.ERROR,
}


@pytest.mark.parametrize("reason", [each.value for each in types.FinishReason])
def test_every_finish_reason_of_the_sdk_is_of_our_vocabulary(reason: str) -> None:
    assert read(reply(finish=reason)).finish is FINISHES[reason]


@pytest.mark.parametrize("reason", [None, "", "A_NEW_ONE", "stop"])
def test_a_reason_nobody_knows_is_an_error(reason: Any) -> None:
    assert read(reply(finish=reason)).finish is Finish.ERROR


def test_a_filtered_answer_is_a_refusal_that_was_paid_for() -> None:
    body = reply(finish="SAFETY", usageMetadata={"promptTokenCount": 5})
    del body["candidates"][0]["content"]
    answer = read(body)
    assert (answer.text, answer.refused, answer.usage) == ("", True, Usage(5))


@pytest.mark.parametrize("reason", [each.value for each in types.BlockedReason])
@pytest.mark.parametrize("candidates", [{}, {"candidates": []}, {"candidates": None}])
def test_a_blocked_prompt_is_an_answer_that_the_filter_gave(
    reason: str, candidates: dict[str, Any]
) -> None:
    answer = read(
        {
            "promptFeedback": {"blockReason": reason, "safetyRatings": []},
            "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5},
            "modelVersion": "m",
            "responseId": "r",
            **candidates,
        }
    )
    assert (answer.text, answer.finish) == ("", Finish.CONTENT_FILTER)
    assert (answer.usage, answer.model, answer.id) == (Usage(5), "m", "r")


# Calls ----------------------------------------------------------------------------------------


def test_calls_have_the_form_that_all_providers_share() -> None:
    answer = read(
        reply(
            {"text": "I look."},
            {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1, "b": "ü"}}},
            {"functionCall": {"name": "g"}, "thoughtSignature": "c2ln"},
        )
    )
    assert answer.finish is Finish.TOOL
    assert answer.text == "I look."
    assert answer.tool_calls == (
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "f", "arguments": '{"a":1,"b":"ü"}'},
        },
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "g", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "c2ln"}},
        },
    )


def test_a_cut_answer_with_a_call_is_cut() -> None:
    assert read(reply({"functionCall": {"name": "f"}}, finish="MAX_TOKENS")).finish is Finish.LENGTH


async def test_what_was_called_can_be_sent_back_as_it_came() -> None:
    part = {
        "functionCall": {"id": "c1", "name": "f", "args": {"a": 1}},
        "thoughtSignature": "c2ln",
    }
    answer = read(reply(part))
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": list(answer.tool_calls)},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    provider = Gemini(Endpoint("gemini", "m", url="http://h"))
    provider.open()
    body = provider.body(Request.of(provider.endpoint, turns), stream=False)
    assert body["contents"][1]["parts"] == [part]
    assert body["contents"][2]["parts"][0]["functionResponse"]["name"] == "f"


MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "a page": b"<html>502</html>",
    "no candidates": b'{"candidates":[]}',
    "null candidates": b'{"candidates":null}',
    "nothing but usage": b'{"usageMetadata":{"promptTokenCount":1}}',
    "feedback without a reason": b'{"promptFeedback":{"safetyRatings":[]}}',
    "a text for a candidate": b'{"candidates":["a"]}',
    "a text for parts": b'{"candidates":[{"content":{"parts":"a"}}]}',
    "a number for a text": b'{"candidates":[{"content":{"parts":[{"text":5}]}}]}',
    "a number for a reason": b'{"candidates":[{"finishReason":5}]}',
    "a call without a name": b'{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}',
    "arguments that are none": (
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":[1]}}]}}]}'
    ),
    "a text": b'"hello"',
    "a list": b"[]",
    "a list of answers": b'[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}]',
    "null": b"null",
    "cut off": b'{"candidates":[{"content":{"parts":[{"text":"Hel',
    "bad utf-8": b'{"candidates":[{"content":{"parts":[{"text":"\xff\xfe"}]}}]}',
    "lone surrogate": b'{"candidates":[{"content":{"parts":[{"text":"\\ud800"}]}}]}',
    "deep": b'{"candidates":' + b"[" * 200_000,
    "deep and closed": b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":'
    + b'{"a":'
    + b"[" * 600
    + b"]" * 600
    + b"}}}]}}]}",
    "two bodies": b'{"candidates":[{"content":{}}]}{}',
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_answer_is_malformed_heals_and_may_have_been_paid_for(name: str) -> None:
    with pytest.raises(MalformedReplyError):
        read_answer(MALFORMED[name])
    got = await sent(Reply(200, {}, MALFORMED[name]))
    failure = failed(got)
    assert failure.kind is FailureKind.MALFORMED and failure.kind.heals
    assert failure.may_be_paid and failure.status == 200
    assert len(got.body) <= 4096 and len(failure.message) < 400


# Refusals -------------------------------------------------------------------------------------

K = FailureKind


def detail(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **fields}


def quota(*names: str, value: str | None = "15") -> dict[str, Any]:
    return detail("QuotaFailure", violations=[{"quotaId": n, "quotaValue": value} for n in names])


PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
INPUT = "GenerateContentInputTokensPerModelPerMinute-FreeTier"

REFUSALS: list[tuple[int, str, list[Any], str, FailureKind]] = [
    (400, "INVALID_ARGUMENT", [], "Said so.", K.INVALID_REQUEST),
    (400, "INVALID_ARGUMENT", [detail("BadRequest")], "Unknown name", K.INVALID_REQUEST),
    (
        400,
        "INVALID_ARGUMENT",
        [detail("ErrorInfo", reason="API_KEY_INVALID")],
        "x",
        K.AUTHENTICATION,
    ),
    (400, "INVALID_ARGUMENT", [], "API key not valid. Pass a valid one.", K.AUTHENTICATION),
    (400, "INVALID_ARGUMENT", [], "API key expired. Please renew it.", K.AUTHENTICATION),
    (
        400,
        "INVALID_ARGUMENT",
        [],
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        K.TOO_LARGE,
    ),
    (400, "INVALID_ARGUMENT", [], "Request payload size exceeds the limit: 20 bytes.", K.TOO_LARGE),
    (400, "FAILED_PRECONDITION", [], "The file is not ACTIVE.", K.INVALID_REQUEST),
    (
        400,
        "FAILED_PRECONDITION",
        [],
        "User location is not supported for the API use.",
        K.PERMISSION,
    ),
    (401, "UNAUTHENTICATED", [], "x", K.AUTHENTICATION),
    (402, "RESOURCE_EXHAUSTED", [], "Your credits are gone.", K.QUOTA),
    (403, "PERMISSION_DENIED", [], "x", K.PERMISSION),
    (403, "PERMISSION_DENIED", [detail("ErrorInfo", reason="BILLING_DISABLED")], "x", K.QUOTA),
    (404, "NOT_FOUND", [], "models/x is not found for API version v1", K.NOT_FOUND),
    (404, "NOT_FOUND", [], "CachedContent not found", K.INVALID_REQUEST),
    (408, "DEADLINE_EXCEEDED", [], "x", K.TIMEOUT),
    (409, "ABORTED", [], "x", K.SERVER),
    (413, "", [], "x", K.TOO_LARGE),
    (429, "RESOURCE_EXHAUSTED", [], "Resource has been exhausted.", K.RATE_LIMITED),
    (429, "RESOURCE_EXHAUSTED", [quota(PER_MINUTE)], "x", K.RATE_LIMITED),
    (429, "RESOURCE_EXHAUSTED", [quota(INPUT)], "x", K.RATE_LIMITED),
    (429, "RESOURCE_EXHAUSTED", [quota(PER_DAY)], "x", K.QUOTA),
    (429, "RESOURCE_EXHAUSTED", [quota(PER_MINUTE, PER_DAY)], "x", K.QUOTA),
    (429, "RESOURCE_EXHAUSTED", [quota(PER_MINUTE, value="0")], "x", K.QUOTA),
    (429, "RESOURCE_EXHAUSTED", [], "Your prepayment credits are depleted.", K.QUOTA),
    (429, "RESOURCE_EXHAUSTED", [], "You exceeded your spending cap.", K.QUOTA),
    (499, "CANCELLED", [], "x", K.SERVER),
    (500, "INTERNAL", [], "x", K.SERVER),
    (501, "UNIMPLEMENTED", [], "x", K.SERVER),
    (502, "", [], "x", K.SERVER),
    (503, "UNAVAILABLE", [], "x", K.OVERLOADED),
    (504, "DEADLINE_EXCEEDED", [], "x", K.SERVER),
    (201, "", [], "x", K.MALFORMED),
    (418, "", [], "x", K.INVALID_REQUEST),
]
HEALS = {K.TIMEOUT, K.RATE_LIMITED, K.SERVER, K.OVERLOADED, K.MALFORMED}
STOPS = {K.AUTHENTICATION, K.PERMISSION, K.NOT_FOUND, K.QUOTA}


@pytest.mark.parametrize("in_a_list", [False, True], ids=["alone", "in a list"])
@pytest.mark.parametrize(("status", "name", "details", "message", "kind"), REFUSALS)
async def test_every_refusal_has_its_kind_and_with_it_what_to_do(
    status: int, name: str, details: list[Any], message: str, kind: FailureKind, in_a_list: bool
) -> None:
    told: Any = {"error": {"code": status, "message": message, "status": name, "details": details}}
    body = orjson.dumps([told] if in_a_list else told)
    failure = failed(await sent(Reply(status, {}, body)))
    assert failure.kind is kind
    assert (failure.kind.heals, failure.kind.stops) == (kind in HEALS, kind in STOPS)
    assert (failure.status, failure.message) == (status, message)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(None, K.SERVER), (429, K.RATE_LIMITED), (503, K.OVERLOADED), (400, K.INVALID_REQUEST)],
)
@pytest.mark.parametrize("in_a_list", [False, True], ids=["alone", "in a list"])
async def test_an_error_inside_a_success_is_read_by_its_code(
    code: Any, kind: FailureKind, in_a_list: bool
) -> None:
    told: Any = {"error": {"message": "The model failed.", "code": code}}
    failure = failed(await sent(Reply(200, {}, orjson.dumps([told] if in_a_list else told))))
    assert (failure.kind, failure.may_be_paid, failure.status) == (kind, True, 200)
    assert failure.message == "The model failed."


BODIES: dict[str, tuple[bytes, str]] = {
    "a text for an error": (b'{"error":"no"}', "no"),
    "a page": (b"<html><h1>Bad gateway</h1></html>", "HTTP 400: <html><h1>Bad gateway</h1></html>"),
    "nothing": (b"", "HTTP 400: "),
    "an empty list": (b"[]", "HTTP 400: []"),
    "null": (b'{"error":null}', 'HTTP 400: {"error":null}'),
    "bad utf-8": (b"\xff\xfe no", "HTTP 400: \ufffd\ufffd no"),
    "an object for a message": (b'{"error":{"message":{"a":1}}}', '{"a":1}'),
    "odd details": (b'{"error":{"message":"m","details":[5,{"violations":7}]}}', "m"),
    "details that are none": (b'{"error":{"message":"m","details":"d"}}', "m"),
}


@pytest.mark.parametrize("name", BODIES)
def test_an_odd_error_is_still_read(name: str) -> None:
    body, message = BODIES[name]
    refusal = read_refusal(Reply(400, {}, body))
    assert (refusal.message, refusal.kind) == (message, FailureKind.INVALID_REQUEST)


def test_a_redirect_says_where_to_and_what_to_do() -> None:
    refusal = read_refusal(Reply(308, {"location": "https://new.example"}, b""))
    assert refusal.kind is FailureKind.NOT_FOUND
    assert "https://new.example" in refusal.message and "give that address" in refusal.message


@pytest.mark.parametrize(
    ("delay", "headers", "seconds"),
    [
        ("27s", {}, 27.0),
        ("0.5s", {}, 0.5),
        ("27s", {"retry-after": "3"}, 27.0),
        (None, {"retry-after": "3"}, 3.0),
        ("soon", {"retry-after": "3"}, 3.0),
        ("-3s", {}, None),
        (5, {}, None),
        (None, {}, None),
    ],
)
async def test_when_to_come_back_is_read_from_the_body(
    delay: Any, headers: dict[str, str], seconds: float | None
) -> None:
    details = [quota(PER_MINUTE), detail("RetryInfo", retryDelay=delay)]
    error = {"code": 429, "message": "Slow.", "details": details}
    got = await sent(error_reply(429, error, headers))
    assert got.retry_after == seconds


@pytest.mark.parametrize(
    ("names", "value", "limits"),
    [
        ([PER_MINUTE], "15", RateLimits(requests=Quota(15, 0, 27.0))),
        ([INPUT], "250000", RateLimits(input_tokens=Quota(250000, 0, 27.0))),
        (["TokensPerMinute"], "9", RateLimits(tokens=Quota(9, 0, 27.0))),
        (
            [PER_MINUTE, INPUT],
            "15",
            RateLimits(requests=Quota(15, 0, 27.0), input_tokens=Quota(15, 0, 27.0)),
        ),
        ([PER_DAY], "50", None),
        ([PER_MINUTE], None, None),
        ([PER_MINUTE], "many", None),
        ([PER_MINUTE], "9" * 400, None),
        ([PER_MINUTE], "-1", None),
    ],
)
async def test_a_limit_that_a_refusal_names_is_learnt(
    names: list[str], value: Any, limits: RateLimits | None
) -> None:
    details = [quota(*names, value=value), detail("RetryInfo", retryDelay="27s")]
    told = error_reply(429, {"code": 429, "message": "Slow.", "details": details})
    assert read_limits(told) == limits
    assert (await sent(told)).limits == limits


async def test_an_answer_names_no_limits() -> None:
    headers = {"x-ratelimit-limit-requests": "5", "x-ratelimit-remaining-requests": "1"}
    assert (await sent(Reply(200, headers, orjson.dumps(reply())))).limits is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":' + b"[" * 900 + b"]" * 900 + b"}}",
        b"[" * 100_000,
        b'{"error":{"code":{"a":1},"status":[2],"message":5}}',
        b'{"error":{"message":"' + b"x" * 5_000_000 + b'"}}',
        b'{"error":{"details":' + b"[{}," * 100_000 + b"{}" + b"]" * 100_000 + b"}}",
    ],
)
async def test_a_strange_error_is_still_an_error_and_short(body: bytes) -> None:
    began = time.perf_counter()
    got = await sent(Reply(500, {}, body))
    assert failed(got).kind is FailureKind.SERVER
    assert len(failed(got).message) <= 1000 and len(got.body) <= 4096
    assert time.perf_counter() - began < 1


# Secrets --------------------------------------------------------------------------------------

ECHOES = {
    "in the message": orjson.dumps({"error": {"message": f"API key not valid: {CANARY}."}}),
    "in a page": f"<html>x-goog-api-key: {CANARY}</html>".encode(),
    "in a detail": orjson.dumps(
        {"error": {"message": "x", "details": [{"metadata": {"key": CANARY}}]}}
    ),
    "in a list": orjson.dumps([{"error": {"message": f"no {CANARY}"}}]),
    "in a text": orjson.dumps({"error": CANARY}),
}


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("name", ECHOES)
async def test_a_key_echoed_in_an_error_is_masked(name: str, status: int, live: bool) -> None:
    shown = (lambda _: None) if live else None
    got = await sent(Reply(status, {"x-request-id": CANARY}, ECHOES[name]), on_text=shown)
    assert CANARY not in repr(failed(got))
    assert CANARY.encode() not in got.body


async def test_no_half_of_a_key_remains_wherever_a_text_is_cut() -> None:
    for before in (*range(150, 210), *range(440, 505), *range(960, 1001), *range(4040, 4100)):
        text = "x " * (before // 2) + "x" * (before % 2) + CANARY + " and so on" * 20
        for body in (
            text.encode(),
            orjson.dumps({"error": {"message": text}}),
            orjson.dumps([{"error": {"message": [text]}}]),
        ):
            got = await sent(Reply(400, {}, body))
            assert CANARY[:12] not in failed(got).message
            assert CANARY[:12].encode() not in got.body


async def test_a_key_echoed_in_an_answer_is_masked_before_anyone_sees_it() -> None:
    got = await sent(Reply(200, {}, orjson.dumps(reply({"text": f"It is {CANARY}!"}))))
    assert answered(got).text == "It is ****!"
    assert CANARY.encode() not in got.body


async def test_a_key_cut_in_two_by_a_stream_is_masked_in_the_answer() -> None:
    body = stream_of(f"It is {CANARY[:7]}", f"{CANARY[7:]}!")
    got = await sent(Reply(200, {}, body), on_text=lambda _: None)
    assert answered(got).text == "It is ****!"
    assert CANARY.encode() not in got.body


# Streams --------------------------------------------------------------------------------------


def event(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\r\n\r\n"


def chunk(*parts: dict[str, Any], finish: Any = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "r-1", **more}


def stream_of(*texts: str) -> bytes:
    chunks = [
        chunk({"text": text}, usageMetadata={"promptTokenCount": 3, "candidatesTokenCount": number})
        for number, text in enumerate(texts)
    ]
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 4}
    chunks.append(chunk({"text": ""}, finish="STOP", usageMetadata=usage))
    return b"".join(map(event, chunks))


def streamed(*pieces: bytes) -> tuple[Answer, list[str]]:
    shown: list[str] = []
    stream = ContentStream(shown.append)
    for piece in pieces:
        stream.feed(piece)
    return read_answer(stream.body()), shown


CALLS = b"".join(
    event(each)
    for each in (
        chunk({"text": "Hm.", "thought": True}),
        chunk({"text": " So.", "thought": True}),
        chunk({"functionCall": {"id": "a", "name": "f", "args": {"x": "ü"}}}),
        chunk({"functionCall": {"name": "g", "args": {}}, "thoughtSignature": "c2ln"}),
        chunk(finish="STOP"),
    )
)


def test_a_stream_is_put_together_and_shown() -> None:
    answer, shown = streamed(stream_of("Zür", "ich ", "🏔"))
    assert (answer.text, answer.finish) == ("Zürich 🏔", Finish.STOP)
    assert answer.usage == Usage(3, 6, 0, 0, 4)  # the last count is the whole
    assert shown == ["Zür", "ich ", "🏔"]
    assert (answer.id, answer.model) == ("r-1", "m")


def test_thoughts_are_neither_shown_nor_said() -> None:
    answer, shown = streamed(event(chunk({"text": "Hm.", "thought": True})), stream_of("a", "b"))
    assert (answer.text, shown) == ("ab", ["a", "b"])


def test_streamed_calls_are_kept_whole() -> None:
    answer, shown = streamed(CALLS)
    assert [call["function"] for call in answer.tool_calls] == [
        {"name": "f", "arguments": '{"x":"ü"}'},
        {"name": "g", "arguments": "{}"},
    ]
    assert answer.tool_calls[1]["extra_content"] == {"google": {"thought_signature": "c2ln"}}
    assert (answer.finish, shown) == (Finish.TOOL, [])


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("kind", ["text", "calls"])
def test_a_stream_cut_at_any_byte_gives_the_same(kind: str, ends: bytes) -> None:
    body = (stream_of("Zür", "東京 ", "🏔 \\n\u2028", "") if kind == "text" else CALLS).replace(
        b"\r\n", ends
    )
    right = streamed(body)
    for at in range(len(body) + 1):
        assert streamed(body[:at], body[at:]) == right
    assert streamed(*(bytes([byte]) for byte in body)) == right


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, len(CALLS)), max_size=12))
def test_a_stream_in_any_pieces_gives_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(CALLS)]
    assert streamed(*(CALLS[a:b] for a, b in pairwise(places))) == streamed(CALLS)


def test_a_blocked_prompt_may_be_streamed() -> None:
    answer, shown = streamed(event({"promptFeedback": {"blockReason": "SAFETY"}}))
    assert (answer.finish, answer.text, shown) == (Finish.CONTENT_FILTER, "", [])


def test_a_stream_that_the_filter_stops_says_so() -> None:
    filtered = {"candidates": [{"finishReason": "SAFETY", "index": 0}]}
    answer, shown = streamed(event(chunk({"text": "How to"})), event(filtered))
    assert (answer.finish, answer.text, shown) == (Finish.CONTENT_FILTER, "How to", ["How to"])


def test_comments_and_other_candidates_in_a_stream_are_passed_over() -> None:
    other = chunk({"text": "other"})
    other["candidates"][0]["index"] = 1
    body = (
        b": keep-alive\n\nevent: message\nid: 7\n"
        + event(chunk({"text": "a"}))
        + event(other)
        + b"data: 5\n\ndata: null\n\n"
        + event({"usageMetadata": {"promptTokenCount": 1}})
        + stream_of("b")
    )
    assert streamed(body)[0].text == "ab"


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
async def test_a_stream_that_breaks_off_is_malformed_and_no_short_answer(share: float) -> None:
    body = stream_of(*"abcdefghij")
    got = await sent(Reply(200, {}, body[: int(len(body) * share)]), on_text=lambda _: None)
    assert failed(got).kind is FailureKind.MALFORMED
    assert failed(got).may_be_paid


@pytest.mark.parametrize(
    "body",
    [
        b"",
        event({"usageMetadata": {}}),
        event(chunk({"text": "a"})) + b"data: {broken\n\n" + stream_of("b"),
        event(chunk({"text": "a"}, finish=5)),
        event(chunk({"text": 5}, finish="STOP")),
        event(chunk({"text": "a"}, finish="STOP", usageMetadata=[1])),
        event(chunk({"text": "a"}, finish="STOP") | {"modelVersion": {"a": 1}}),
        event({"candidates": "a"}),
        b"[1, 2",
        b"[1, 2]",
        b"[]",
    ],
)
async def test_a_stream_that_is_none_is_malformed(body: bytes) -> None:
    got = await sent(Reply(200, {}, body), on_text=lambda _: None)
    assert failed(got).kind is FailureKind.MALFORMED
    assert failed(got).may_be_paid


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"},
            K.OVERLOADED,
            "Overloaded.",
        ),
        ({"code": 429, "message": "Slow."}, K.RATE_LIMITED, "Slow."),
        ({"message": "It broke."}, K.SERVER, "It broke."),
        ("It broke.", K.SERVER, "It broke."),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_an_error(
    error: Any, kind: FailureKind, message: str
) -> None:
    shown: list[str] = []
    body = event(chunk({"text": "Half"})) + event({"error": error})
    got = await sent(Reply(200, {}, body), on_text=shown.append)
    assert (failed(got).kind, failed(got).message) == (kind, message)
    assert failed(got).may_be_paid
    assert shown == ["Half"]


async def test_a_server_that_sends_a_list_of_pieces_is_understood_and_shown() -> None:
    shown: list[str] = []
    pieces = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    got = await sent(Reply(200, {}, orjson.dumps(pieces)), on_text=shown.append)
    assert (answered(got).text, "".join(shown)) == ("ab", "ab")


async def test_a_server_that_does_not_stream_is_understood_and_shown() -> None:
    shown: list[str] = []
    got = await sent(Reply(200, {}, orjson.dumps(reply())), on_text=shown.append)
    assert (answered(got).text, shown) == ("Hello", ["Hello"])


async def test_a_stream_and_a_whole_reply_give_the_same_answer() -> None:
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 4}
    one = reply({"text": "ab"}, usageMetadata=usage, modelVersion="m")
    plain = await sent(Reply(200, {}, orjson.dumps(one)))
    live = await sent(Reply(200, {}, stream_of("a", "b")), on_text=lambda _: None)
    assert plain.outcome == live.outcome
    assert Gemini.read(live.body) == live.outcome  # and the journal gives it back


def test_a_long_stream_takes_linear_time() -> None:
    piece = event(chunk({"text": "x" * 100}))
    began = time.perf_counter()
    answer, _ = streamed(*[piece] * 20_000, stream_of("end"))
    assert len(answer.text) == 2_000_003
    assert time.perf_counter() - began < 5


# Answers longer than one reply ----------------------------------------------------------------


def part_of(text: str, token: str, number: int = 5) -> Reply:
    usage = {"promptTokenCount": number, "candidatesTokenCount": 2, "totalTokenCount": number + 2}
    body = reply({"text": text}, finish="CONTINUATION", usageMetadata=usage)
    body["candidates"][0]["continuationToken"] = token
    return Reply(200, {}, orjson.dumps(body))


LAST = Reply(
    200,
    {},
    orjson.dumps(reply({"text": "c"}, usageMetadata={"promptTokenCount": 7, "totalTokenCount": 7})),
)


async def continued(*replies: Reply) -> tuple[Sent, list[Any]]:
    transport = FakeTransport(*replies)
    endpoint = Endpoint("gemini", "m", url="http://h")
    provider = Gemini(endpoint, transport)
    provider.open()
    got = await provider.send(Request.of(endpoint, "Hi", temperature=0))
    return got, [orjson.loads(call.body) for call in transport.calls]


async def test_an_answer_longer_than_one_reply_is_asked_for_to_its_end() -> None:
    got, bodies = await continued(part_of("a", "dDE="), part_of("b", "dDI=", 6), LAST)
    answer = answered(got)
    assert (answer.text, answer.finish) == ("abc", Finish.STOP)
    assert answer.usage == Usage(5 + 6 + 7, 2 + 2)  # each was a request and is paid for
    assert [body.pop("continuationToken", None) for body in bodies] == [None, "dDE=", "dDI="]
    assert bodies[0] == bodies[1] == bodies[2]
    assert Gemini.read(got.body) == answer


async def test_counts_that_are_none_are_no_matter_to_an_answer_in_two_replies() -> None:
    odd = reply({"text": "b"}, usageMetadata={"promptTokenCount": 1, "totalTokenCount": "x"})
    got, _ = await continued(part_of("a", "dDE="), Reply(200, {}, orjson.dumps(odd)))
    assert (answered(got).text, answered(got).usage) == ("ab", Usage(6, 2))


async def test_a_server_that_goes_round_in_circles_is_left() -> None:
    got, bodies = await continued(part_of("a", "dDE="))
    assert answered(got).finish is Finish.LENGTH
    assert len(bodies) == 2


async def test_an_answer_that_cannot_be_gone_on_with_is_cut() -> None:
    got, bodies = await continued(
        Reply(200, {}, orjson.dumps(reply({"text": "a"}, finish="CONTINUATION")))
    )
    assert (answered(got).finish, len(bodies)) == (Finish.LENGTH, 1)


async def test_when_the_rest_is_refused_what_came_before_may_be_paid_for() -> None:
    got, _ = await continued(part_of("a", "dDE="), error_reply(503, {"message": "Overloaded."}))
    assert failed(got).kind is FailureKind.OVERLOADED
    assert failed(got).may_be_paid


async def test_when_the_rest_is_blocked_the_answer_is() -> None:
    blocked = Reply(200, {}, orjson.dumps({"promptFeedback": {"blockReason": "SAFETY"}}))
    got, bodies = await continued(part_of("a", "dDE="), blocked)
    assert answered(got).finish is Finish.CONTENT_FILTER
    assert len(bodies) == 2


# Schemas that are refused ---------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TOO_MUCH = [
    "The specified schema produces a constraint that has too many states for serving.",
    "JSON mode is not enabled for models/gemma-3-27b-it",
    "Function calling with a response mime type: 'application/json' is unsupported",
    "A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.",
    "Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
]
FITS = Reply(200, {}, orjson.dumps(reply({"text": '{"a": "b"}'})))


async def structured(*replies: Reply, times: int = 1) -> tuple[Sent, list[Any]]:
    transport = FakeTransport(*replies)
    endpoint = Endpoint("gemini", "m", url="http://h")
    provider = Gemini(endpoint, transport)
    provider.open()
    for number in range(times):
        got = await provider.send(Request.of(endpoint, f"Number {number}", schema=SCHEMA))
    return got, [orjson.loads(call.body) for call in transport.calls]


@pytest.mark.parametrize("words", TOO_MUCH)
async def test_a_schema_that_is_refused_stands_in_the_prompt_from_then_on(words: str) -> None:
    no = error_reply(400, {"code": 400, "message": words, "status": "INVALID_ARGUMENT"})
    got, bodies = await structured(no, FITS, times=2)
    assert answered(got).text == '{"a": "b"}'
    assert "responseJsonSchema" in bodies[0]["generationConfig"]
    for body in bodies[1:]:
        assert "generationConfig" not in body
        said = body["contents"][0]["parts"][0]["text"]
        assert "JSON schema" in said and orjson.dumps(SCHEMA).decode() in said
    assert [body["contents"][-1]["parts"][0]["text"] for body in bodies] == [
        *["Number 0"] * 2,
        "Number 1",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "API key not valid. Please pass a valid API key.",
        "Unknown name at 'tools[0].function_declarations[0].parameters_json_schema'",
        "The request is wrong.",
    ],
)
async def test_another_refusal_is_not_asked_around(message: str) -> None:
    got, bodies = await structured(error_reply(400, {"code": 400, "message": message}))
    assert failed(got).message == message
    assert len(bodies) == 1


async def test_a_schema_refused_in_words_too_is_a_failure() -> None:
    got, bodies = await structured(error_reply(400, {"code": 400, "message": TOO_MUCH[0]}))
    assert failed(got).kind is FailureKind.INVALID_REQUEST
    assert len(bodies) == 2


# A day of mutations ---------------------------------------------------------------------------

WHOLE = [
    orjson.dumps(reply(usageMetadata={"promptTokenCount": 1, "thoughtsTokenCount": 2})),
    orjson.dumps(
        reply({"functionCall": {"name": "f", "args": {"a": [1]}}, "thoughtSignature": "s"})
    ),
    orjson.dumps({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}),
    orjson.dumps({"error": {"code": 429, "message": "m", "details": [quota(PER_MINUTE)]}}),
    orjson.dumps([{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}]),
]
ODD = [b"null", b"true", b"-1", b"1e400", b"9" * 5000, b"NaN", b'""', b"[]", b"{}", b'"\\ud800"']


def mutated(body: bytes, dice: random.Random) -> bytes:
    how = dice.randrange(4)
    at = dice.randrange(len(body))
    if how == 0:
        return body[:at]
    if how == 1:
        return body[:at] + bytes([dice.randrange(256)]) + body[at + 1 :]
    if how == 2:
        return body[:at] + dice.choice(ODD) + body[at:]
    start = body.find(b":", at)
    ends = [found for mark in (b",", b"}", b"]") if (found := body.find(mark, start)) > 0]
    return body[: start + 1] + dice.choice(ODD) + body[min(ends) :] if start > 0 and ends else b""


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("which", range(len(WHOLE)))
async def test_whatever_comes_back_is_an_outcome_and_never_an_exception(
    which: int, live: bool
) -> None:
    dice = random.Random(which)
    for _ in range(400):
        body = mutated(WHOLE[which], dice)
        status = dice.choice([200, 200, 400, 429, 500])
        told = b"data: " + body + b"\n\n" if live and status == 200 else body
        got = await sent(Reply(status, {}, told), on_text=(lambda _: None) if live else None)
        if isinstance(got.outcome, Answer):
            assert status == 200
            assert Gemini.read(got.body) == got.outcome
        else:
            assert got.outcome.message
            assert len(got.outcome.message) <= 1000


@pytest.mark.parametrize("reason", ["timeout", "connection", "too_large"])
async def test_what_the_network_does_is_a_failure(reason: Any) -> None:
    failure = failed(await sent(Broken(reason, "It broke.", sent=True)))
    assert failure.kind.value == reason
    assert failure.may_be_paid
