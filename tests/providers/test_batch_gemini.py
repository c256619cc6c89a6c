"""The batch lane of Gemini: calls as the SDK's, replies as told, the bytes without the key."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import types
from tests.providers.batch_servers import (
    MEGABYTE,
    BatchServer,
    Heard,
    PieceTransport,
    Said,
    a_transport,
    batch_server,
    lane_of,
    opened,
    told,
)
from tests.providers.servers import FakeTransport
from tests.providers.test_gemini_wire import REPLY, spelt

from penstock.errors import RequestError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.batch import RemoteBatch, RemoteState, Result, Trouble
from penstock.providers.gemini import Gemini
from penstock.providers.gemini_batch import GeminiBatches
from penstock.providers.transport import Broken, Reply
from penstock.request import Request

KEY = "AIza-batch-0123456789abcdef"
TAG = "run-7-part-2"
HOME = "https://api.example"
ITEMS = b'{"key":"a","request":{}}\n{"key":"b","request":{}}'
STARTED = told(b"", headers={"x-goog-upload-url": f"{HOME}/upload/v1/files?upload_id=u"})
NO_FILES: list[Any] = [b"", {}, {"file": {}}, {"file": {"name": 7}}, b"[" * 100_000]
UPLOADED = told({"file": {"name": "files/in"}}, headers={"x-goog-upload-status": "final"})
_KEY = "x-goog-api-key"


def batch(state: str = "BATCH_STATE_PENDING", **more: Any) -> dict[str, Any]:
    top: dict[str, Any] = {
        name: more.pop(name) for name in ("response", "error", "done") if name in more
    }
    return {"name": "batches/b1", "metadata": {"state": state, "displayName": TAG, **more}, **top}


@pytest.fixture(scope="module")
def server() -> Iterator[BatchServer]:
    with batch_server() as server:
        yield server


def answers(heard: Heard) -> Said:
    if "upload_id" in heard.query:
        name = {"name": "files/in", "state": "ACTIVE"}
        return Said({"file": name}, {"x-goog-upload-status": "final"})
    if heard.path.startswith("/upload/"):
        where = f"http://{heard.headers['host']}/upload/v1/files?upload_id=u&upload_protocol=x"
        return Said(b"", {"x-goog-upload-url": where})
    if heard.path.endswith("/batches"):
        return Said({"operations": []})
    return Said(batch())


def lane(*replies: Reply | Broken, **more: Any) -> GeminiBatches:
    return opened(Gemini, "gemini", HOME, KEY, FakeTransport(*replies), **more).batches()


def calls_of(made: GeminiBatches) -> list[Any]:
    assert isinstance(made.provider.transport, FakeTransport)
    return made.provider.transport.calls


@pytest.fixture
def items(tmp_path: Path) -> Path:
    file = tmp_path / "items.jsonl"
    file.write_bytes(ITEMS)
    return file


# Over the wire -----------------------------------------------------------------------------------


def upload_headers(heard: Heard) -> dict[str, str]:
    told_ = {name: text for name, text in heard.headers.items() if name.startswith("x-goog-upload")}
    told_.pop("x-goog-upload-file-name", None)  # of the path on this machine: nobody's business
    return told_


@pytest.mark.parametrize("kind", ["pyreqwest", "aiohttp"])
async def test_every_call_equals_the_sdks(server: BatchServer, items: Path, kind: str) -> None:
    server.answer = answers

    def theirs() -> None:
        options = types.HttpOptions(base_url=server.url)
        client = genai.Client(api_key=KEY, http_options=options)
        config: Any = {"mime_type": "application/jsonl", "display_name": TAG}
        client.files.upload(file=str(items), config=config)
        client.batches.create(model="some-model", src="files/in", config={"display_name": TAG})
        client.batches.get(name="batches/b1")
        client.batches.list(config={"page_size": 100})
        client.batches.cancel(name="batches/b1")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client.files.download(file="files/out")
        client.close()

    await asyncio.to_thread(theirs)
    official = server.taken()
    async with a_transport(kind=kind) as transport:
        ours = lane_of(opened(Gemini, "gemini", server.url, KEY, transport))
        assert isinstance(await ours.submit(items, TAG), RemoteBatch)
        await ours.look("batches/b1")
        assert await ours.find(TAG, 2, frozenset()) is None
        assert await ours.cancel("batches/b1") is None
        done = RemoteBatch("batches/b1", RemoteState.ENDED, results=("files/out",))
        assert await ours.fetch(done, items.with_name("out")) is None
    mine = server.taken()
    for call, sdks in zip(mine, official, strict=True):
        assert (call.method, call.path, call.query) == (sdks.method, sdks.path, sdks.query)
        assert call.headers.get(_KEY) == sdks.headers.get(_KEY), call.path
    assert upload_headers(mine[0]) == upload_headers(official[0])
    assert spelt(mine[0].json) == spelt(official[0].json)
    assert mine[1].raw == official[1].raw == ITEMS
    assert _KEY not in mine[1].headers
    for name in ("x-goog-upload-command", "x-goog-upload-offset", "content-length"):
        assert mine[1].headers[name] == official[1].headers[name]
    for call, sdks in zip(mine[2:], official[2:], strict=True):
        assert call.json == sdks.json, call.path


async def test_further_pages_are_asked_for_as_the_sdk_does(server: BatchServer) -> None:
    def listed(heard: Heard) -> Said:
        page = heard.query.get("pageToken", "")
        if page == "b+/=":
            return Said({"operations": [batch()]})
        other = {"name": "batches/other", "metadata": {"state": "BATCH_STATE_PENDING"}}
        return Said({"operations": [other], "nextPageToken": "b+/="})

    server.answer = listed
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=server.url))
    await asyncio.to_thread(lambda: list(client.batches.list(config={"page_size": 100})))
    client.close()
    official = server.taken()
    async with a_transport() as transport:
        ours = lane_of(opened(Gemini, "gemini", server.url, KEY, transport))
        found = await ours.find(TAG, 2, frozenset())
    assert found == RemoteBatch("batches/b1", RemoteState.RUNNING)
    assert [each.query for each in server.taken()] == [each.query for each in official]


async def test_an_item_holds_what_the_sdk_puts_into_a_batch(server: BatchServer) -> None:
    server.answer = answers
    config = {"temperature": 0.5, "max_output_tokens": 9, "system_instruction": "Be brief."}
    asked: Any = [{"contents": "Zürich?\n", "config": config, "metadata": {"key": "a"}}]
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=server.url))
    await asyncio.to_thread(lambda: client.batches.create(model="some-model", src=asked))
    client.close()
    [heard] = server.taken()
    [official] = heard.json["batch"]["inputConfig"]["requests"]["requests"]
    made = lane(told({}))
    prompt: dict[str, Any] = {"temperature": 0.5, "max_tokens": 9, "system": "Be brief."}
    item = made.item("a", Request.of(made.provider.endpoint, "Zürich?\n", **prompt))
    assert b"\n" not in item
    mine = json.loads(item)
    assert mine["key"] == official["metadata"]["key"] == "a"
    theirs = spelt(official["request"])
    theirs["systemInstruction"].pop("role", None)  # which means nothing there
    mine["request"]["systemInstruction"].pop("role", None)
    assert mine["request"] == theirs


def test_what_gemini_has_no_words_for_is_found_before() -> None:
    made = lane(told({}))
    with pytest.raises(RequestError):
        made.item("a", Request.of(made.provider.endpoint, "Hi", parallel_tool_calls=False))


async def test_the_version_and_the_query_of_the_address_are_kept(items: Path) -> None:
    fake = FakeTransport(STARTED, UPLOADED, told(batch()))
    url = f"{HOME}/google/v1beta?team=7"
    made = opened(Gemini, "gemini", url, KEY, fake, model="tunedModels/x").batches()
    await made.submit(items, TAG)
    await made.look("batches/a/..")
    await made.fetch(
        RemoteBatch("b", RemoteState.ENDED, results=("files/x/y",)), items.with_name("o")
    )
    assert [call.url for call in fake.calls] == [
        f"{HOME}/google/upload/v1beta/files?team=7",
        f"{HOME}/upload/v1/files?upload_id=u",
        f"{HOME}/google/v1beta/tunedModels/x:batchGenerateContent?team=7",
        f"{HOME}/google/v1beta/batches/a%2F..?team=7",
        f"{HOME}/google/v1beta/files/x%2Fy:download?team=7&alt=media",
    ]


# Files ------------------------------------------------------------------------------------------


async def test_a_file_goes_up_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "large"
    content = bytes(range(256)) * (3 * MEGABYTE // 256) + b"end"
    file.write_bytes(content)
    transport = PieceTransport(STARTED, UPLOADED, told(batch()))
    made = lane_of(opened(Gemini, "gemini", HOME, KEY, transport))
    assert isinstance(await made.submit(file, TAG), RemoteBatch)
    assert [len(piece) for piece in transport.pieces] == [MEGABYTE] * 3 + [3]
    assert b"".join(transport.pieces) == content
    start = transport.calls[0]
    assert start.headers["x-goog-upload-header-content-length"] == str(len(content))


async def test_results_of_any_size_are_written_and_not_kept(
    server: BatchServer, tmp_path: Path
) -> None:
    line_ = b'{"key":"a","text":"' + b"x" * 1000 + b'"}\n'
    content = line_ * (4 * MEGABYTE // len(line_))
    server.answer = lambda _: Said(content)
    async with a_transport(largest_body=MEGABYTE) as transport:
        ours = lane_of(opened(Gemini, "gemini", server.url, KEY, transport))
        done = RemoteBatch("b", RemoteState.ENDED, results=("files/out",))
        assert await ours.fetch(done, tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == content
    server.taken()


@pytest.mark.parametrize(
    "where",
    [
        "https://evil.example/upload/v1/files?upload_id=u",
        "https://evil.example\\@api.example/upload/v1/files?upload_id=u",
        "http://api.example/upload/v1/files?upload_id=u",
        "//evil.example/upload/v1/files?upload_id=u",
    ],
)
async def test_the_bytes_go_to_no_other_host_and_never_with_the_key(
    where: str, items: Path
) -> None:
    made = lane(told(b"", headers={"x-goog-upload-url": where}), UPLOADED, told(batch()))
    assert isinstance(await made.submit(items, TAG), RemoteBatch)
    sent = calls_of(made)[1]
    assert sent.url == f"{HOME}/upload/v1/files?upload_id=u"
    assert KEY not in str(sent.headers)


@pytest.mark.parametrize(
    "replies",
    [
        [told(b"")],
        [told(b"", headers={"x-goog-upload-url": ""})],
        [told(b"", headers={"x-goog-upload-url": "https://[::1"})],
        [told(b"", headers={"x-goog-upload-url": "mailto:a"})],
        [STARTED, told({"file": {"name": "files/in"}})],
        [STARTED, told({"file": {}}, headers={"x-goog-upload-status": "active"})],
        *([STARTED, told(body, headers={"x-goog-upload-status": "final"})] for body in NO_FILES),
    ],
)
async def test_an_upload_that_goes_wrong_has_made_no_batch(
    replies: list[Reply], items: Path
) -> None:
    made = lane(*replies)
    trouble = await made.submit(items, TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (FailureKind.MALFORMED, False)
    assert not any("batchGenerateContent" in call.url for call in calls_of(made))


async def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    trouble = await lane(STARTED).submit(tmp_path / "gone", TAG)
    assert isinstance(trouble, Trouble)
    assert trouble.kind is FailureKind.STORAGE


async def test_answers_inside_of_a_batch_become_lines(tmp_path: Path) -> None:
    inlined = [
        {"response": REPLY, "metadata": {"key": "a"}},
        {"error": {"code": 8, "message": "Slow."}, "metadata": {"key": "b"}},
        {"response": REPLY},
    ]
    output = {"inlinedResponses": {"inlinedResponses": inlined}}
    made = lane(told(batch("BATCH_STATE_SUCCEEDED", output=output)))
    found = await made.look("batches/b1")
    assert isinstance(found, RemoteBatch)
    assert await made.fetch(found, tmp_path / "out") is None
    read = [made.read(line_) for line_ in (tmp_path / "out").read_bytes().splitlines()]
    assert [each and each.id for each in read] == ["a", "b", None]
    assert isinstance(outcome_of(read[0], "a"), Answer)
    failure = outcome_of(read[1], "b")
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.RATE_LIMITED


# How a batch stands -------------------------------------------------------------------------------

RUNNING = RemoteBatch("batches/b1", RemoteState.RUNNING)
OUT = {"responsesFile": "files/out"}
STANDS: dict[str, tuple[dict[str, Any], RemoteBatch]] = {
    "pending": (batch(), RUNNING),
    "running, counted in text": (
        batch(
            "BATCH_STATE_RUNNING",
            batchStats={
                "requestCount": "9",
                "successfulRequestCount": "3",
                "failedRequestCount": "1",
                "pendingRequestCount": "5",
            },
        ),
        RemoteBatch("batches/b1", RemoteState.RUNNING, 9, 3, 1),
    ),
    "counts that are none": (
        batch(batchStats={"requestCount": "many", "failedRequestCount": None}),
        RUNNING,
    ),
    "a state of tomorrow": (batch("BATCH_STATE_RESTING"), RUNNING),
    "without a state": ({"name": "batches/b1"}, RUNNING),
    "succeeded": (
        batch("BATCH_STATE_SUCCEEDED", output=OUT),
        RemoteBatch("batches/b1", RemoteState.ENDED, results=("files/out",)),
    ),
    "succeeded, as the SDK calls it": (
        batch("JOB_STATE_SUCCEEDED", output=OUT),
        RemoteBatch("batches/b1", RemoteState.ENDED, results=("files/out",)),
    ),
    "succeeded, told in the operation's response": (
        batch("BATCH_STATE_SUCCEEDED", response={"@type": "x", **OUT}, done=True),
        RemoteBatch("batches/b1", RemoteState.ENDED, results=("files/out",)),
    ),
    "expired, with nothing": (
        batch("BATCH_STATE_EXPIRED"),
        RemoteBatch("batches/b1", RemoteState.ENDED, why="expired"),
    ),
    "cancelled, with nothing": (
        batch("BATCH_STATE_CANCELLED", error={"code": 1, "message": "Stopped."}),
        RemoteBatch("batches/b1", RemoteState.ENDED, why="Stopped."),
    ),
    "cancelled, with what was done": (
        batch("BATCH_STATE_CANCELLED", output=OUT),
        RemoteBatch("batches/b1", RemoteState.ENDED, why="cancelled", results=("files/out",)),
    ),
    "failed": (
        batch("BATCH_STATE_FAILED", error={"code": 3, "message": "Bad line."}),
        RemoteBatch("batches/b1", RemoteState.FAILED, why="Bad line."),
    ),
    "failed without a word": (
        batch("BATCH_STATE_FAILED"),
        RemoteBatch("batches/b1", RemoteState.FAILED, why="failed"),
    ),
    "failed, but some is done": (
        batch("BATCH_STATE_FAILED", output=OUT),
        RemoteBatch("batches/b1", RemoteState.ENDED, why="failed", results=("files/out",)),
    ),
    "failed, told by the operation alone": (
        {"name": "batches/b1", "done": True, "error": {"code": 13}},
        RemoteBatch("batches/b1", RemoteState.FAILED, why="code 13"),
    ),
    "too much enqueued": (
        batch("BATCH_STATE_FAILED", error={"code": 8, "message": "Too many tokens."}),
        RemoteBatch("batches/b1", RemoteState.FAILED, why="Too many tokens.", crowded=True),
    ),
}


@pytest.mark.parametrize("name", STANDS)
async def test_how_a_batch_stands_is_understood(name: str) -> None:
    told_, expected = STANDS[name]
    assert await lane(told(told_)).look("batches/b1") == expected


NONSENSE = [b"", b"null", b"[]", b"<html>", b'{"name": 7}', b'{"name":"\xff"}', b"[" * 100_000]


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_reply_that_makes_no_sense_leaves_open_what_was_done(
    body: bytes, items: Path
) -> None:
    for trouble in (
        await lane(STARTED, UPLOADED, told(body)).submit(items, TAG),
        await lane(told(body)).look("batches/b1"),
    ):
        assert isinstance(trouble, Trouble), body[:20]
        assert (trouble.kind, trouble.unknown) == (FailureKind.MALFORMED, True)


def error(code: int, message: str = "No.", *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": list(details)}}


DAILY = {"violations": [{"quotaId": "RequestsPerDay", "quotaValue": "9"}]}


@pytest.mark.parametrize(
    ("reply", "kind", "unknown"),
    [
        (Broken("connection", "cut"), FailureKind.CONNECTION, True),
        (Broken("timeout", "late", sent=False), FailureKind.TIMEOUT, False),
        (told(error(429), 429), FailureKind.RATE_LIMITED, False),
        (told(error(429, "No.", DAILY), 429), FailureKind.QUOTA, False),
        (told(error(400, "API key not valid."), 400), FailureKind.AUTHENTICATION, False),
        (told(error(400), 400), FailureKind.INVALID_REQUEST, False),
        (told(error(503), 503), FailureKind.OVERLOADED, False),
        (told(error(500), 500), FailureKind.SERVER, True),
        (told(error(504), 504), FailureKind.SERVER, True),
    ],
)
async def test_a_batch_that_was_not_made_is_told_from_one_that_may_be(
    reply: Reply | Broken, kind: FailureKind, unknown: bool, items: Path
) -> None:
    trouble = await lane(STARTED, UPLOADED, reply).submit(items, TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (kind, unknown)
    for replies in ([reply], [STARTED, reply]):
        upload = await lane(*replies).submit(items, TAG)
        assert isinstance(upload, Trouble)
        assert (upload.kind, upload.unknown) == (kind, False)


async def test_a_lost_batch_is_found_by_its_name_alone() -> None:
    others = [
        {"name": "batches/b2", "metadata": {"displayName": "another"}},
        {"name": "batches/b3"},
        {"name": TAG, "metadata": {}},
    ]
    assert await lane(told({"operations": others})).find(TAG, 2, frozenset()) is None
    assert await lane(told({})).find(TAG, 2, frozenset()) is None
    found = await lane(told({"operations": [*others, batch()]})).find(TAG, 2, frozenset())
    assert found == RUNNING


async def test_a_list_with_others_answers_in_it_is_read_in_smaller_pages() -> None:
    made = lane(
        Broken("too_large", "the reply is larger than 32 MiB"),
        told({"operations": [], "nextPageToken": "2"}),
        told({"operations": [batch()]}),
    )
    assert await made.find(TAG, 2, frozenset()) == RUNNING
    assert [call.url.partition("?")[2] for call in calls_of(made)] == [
        "pageSize=100",
        "pageSize=10",
        "pageSize=10&pageToken=2",
    ]
    hopeless = lane(Broken("too_large", "the reply is larger than 32 MiB"))
    trouble = await hopeless.find(TAG, 2, frozenset())
    assert isinstance(trouble, Trouble)
    assert trouble.kind is FailureKind.TOO_LARGE


async def test_a_list_that_never_ends_is_given_up() -> None:
    made = lane(told({"nextPageToken": "again"}))
    assert await made.find(TAG, 2, frozenset()) is None
    assert 1 < len(calls_of(made)) <= 100


# What a line says ---------------------------------------------------------------------------------


def line(**told_: Any) -> bytes:
    return json.dumps({"key": "a", **told_}).encode()


def outcome_of(result: Result | None, id_: str = "a") -> Answer | Failure:
    assert result is not None
    assert result.id == id_
    return result.sent.outcome


def test_an_answer_is_read_as_one_that_came_alone() -> None:
    result = lane(told({})).read(line(response=REPLY))
    answer = outcome_of(result)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.usage.input_tokens) == ("Hi", 1)
    assert result is not None
    assert Gemini.read(result.sent.body) == answer


def test_a_prompt_that_was_blocked_is_an_answer() -> None:
    said = line(response={"promptFeedback": {"blockReason": "SAFETY"}})
    answer = outcome_of(lane(told({})).read(said))
    assert isinstance(answer, Answer)
    assert answer.refused


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (3, 400, FailureKind.INVALID_REQUEST),
        (400, 400, FailureKind.INVALID_REQUEST),
        (4, 504, FailureKind.SERVER),
        (7, 403, FailureKind.PERMISSION),
        (8, 429, FailureKind.RATE_LIMITED),
        (429, 429, FailureKind.RATE_LIMITED),
        (13, 500, FailureKind.SERVER),
        (14, 503, FailureKind.OVERLOADED),
        (16, 401, FailureKind.AUTHENTICATION),
        (0, 500, FailureKind.SERVER),
        (99, 500, FailureKind.SERVER),
        (-3, 500, FailureKind.SERVER),
    ],
)
@pytest.mark.parametrize("name", ["error", "status"])
def test_a_line_that_failed_is_judged_as_a_refused_call(
    name: str, code: int, status: int, kind: FailureKind
) -> None:
    said = line(**{name: {"code": code, "message": "No."}})
    failure = outcome_of(lane(told({})).read(said))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.status, failure.message) == (kind, status, "No.")
    assert not failure.may_be_paid


@pytest.mark.parametrize("told_", ["text", 7, [], {"code": "three"}])
def test_an_error_that_cannot_be_read_is_the_servers(told_: Any) -> None:
    failure = outcome_of(lane(told({})).read(line(error=told_)))
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.SERVER


@pytest.mark.parametrize("response", [{}, "text", 7, {"candidates": []}])
def test_an_answer_that_cannot_be_read_may_be_paid_for(response: Any) -> None:
    failure = outcome_of(lane(told({})).read(line(response=response)))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.may_be_paid) == (FailureKind.MALFORMED, True)


@pytest.mark.parametrize(
    "said", [*NONSENSE, b'{"key":"a"}', b'{"response":{}}', b'{"key":null,"response":{}}']
)
def test_a_line_that_makes_no_sense_is_none(said: bytes) -> None:
    assert lane(told({})).read(said) is None


async def test_no_secret_gets_into_what_is_said(items: Path) -> None:
    echo = f"API key not valid: {KEY}"
    refusal = told(error(400, echo), 400)
    failed = batch("BATCH_STATE_FAILED", error={"code": 3, "message": echo})
    made = lane(refusal)
    seen = [
        await made.submit(items, TAG),
        await lane(STARTED, refusal).submit(items, TAG),
        await lane(STARTED, UPLOADED, refusal).submit(items, TAG),
        await made.look("batches/b1"),
        await made.find(TAG, 2, frozenset()),
        await made.cancel("batches/b1"),
        await made.fetch(RemoteBatch("b", RemoteState.ENDED, results=("files/o",)), items),
        await made.fetch(RemoteBatch("b", RemoteState.ENDED, results=("b",)), items),
        await lane(Broken("connection", echo)).look("batches/b1"),
        await lane(told(failed)).look("batches/b1"),
        made.read(line(error={"code": 3, "message": echo})),
        made.read(line(response={"error": echo})),
    ]
    for each in seen:
        assert each is not None
        assert KEY not in repr(each)
        assert "****" in repr(each)
