"""The batch lane of OpenAI and of those who serve the same: calls as the SDK's, replies as told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
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
from tests.providers.servers import COMPLETION, FakeTransport

from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers import provider_of, resolve
from penstock.providers.batch import (
    Batches,
    RemoteBatch,
    RemoteState,
    Result,
    Trouble,
    at_host_of,
)
from penstock.providers.openai import OpenAI
from penstock.providers.openai_batch import AzureBatches, GroqBatches, OpenAIBatches
from penstock.providers.transport import Broken, Reply
from penstock.request import Request
from penstock.secret import Secret

KEY = "sk-batch-0123456789abcdef"
TAG = "run-7-part-2"
ITEMS = b'{"custom_id":"a"}\n{"custom_id":"b"}'
BATCH: dict[str, Any] = {
    "id": "batch_1",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "input_file_id": "file-1",
    "completion_window": "24h",
    "created_at": 1,
    "status": "validating",
    "metadata": {"penstock": TAG},
}
FILE = {
    "id": "file-1",
    "object": "file",
    "bytes": 1,
    "created_at": 1,
    "filename": "a.jsonl",
    "purpose": "batch",
    "status": "processed",
}
_MEANING = ("authorization", "api-key", "content-type", "accept")


@pytest.fixture(scope="module")
def server() -> Iterator[BatchServer]:
    with batch_server() as server:
        yield server


def answers(heard: Heard) -> Said:
    if heard.path.endswith("/content"):
        return Said(b"{}\n")
    if heard.path.endswith("/files"):
        return Said(FILE)
    if heard.path.endswith("/batches") and heard.method == "GET":
        return Said({"object": "list", "data": [], "has_more": False})
    return Said(BATCH)


def lane(*replies: Reply | Broken, url: str = "https://h/v1", **more: Any) -> OpenAIBatches:
    made = opened(OpenAI, "openai", url, KEY, FakeTransport(*replies), **more).batches()
    assert made is not None
    return made


@pytest.fixture
def items(tmp_path: Path) -> Path:
    file = tmp_path / "items.jsonl"
    file.write_bytes(ITEMS)
    return file


# Over the wire -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pyreqwest", "aiohttp"])
async def test_every_call_equals_the_sdks(server: BatchServer, items: Path, kind: str) -> None:
    server.answer = answers
    named = items.with_name(f"{TAG}.jsonl")
    named.write_bytes(ITEMS)

    def theirs() -> None:
        with openai.OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
            client.files.create(file=named, purpose="batch")
            client.batches.create(
                input_file_id="file-1",
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"penstock": TAG},
            )
            client.batches.retrieve("batch_1")
            client.batches.list(limit=100)
            client.batches.cancel("batch_1")
            client.files.content("file-2")

    await asyncio.to_thread(theirs)
    official = server.taken()
    async with a_transport(kind=kind) as transport:
        ours = lane_of(opened(OpenAI, "openai", f"{server.url}/v1", KEY, transport))
        await ours.submit(items, TAG)
        await ours.look("batch_1")
        await ours.find(TAG, 2, frozenset())
        await ours.cancel("batch_1")
        done = RemoteBatch("batch_1", RemoteState.ENDED, results=("file-2",))
        assert await ours.fetch(done, items.with_name("out")) is None
    mine = server.taken()
    assert [(each.method, each.path, each.query) for each in mine] == [
        (each.method, each.path, each.query) for each in official
    ]
    assert mine[0].parts == official[0].parts
    assert mine[0].parts[1].content == ITEMS
    assert mine[0].headers["authorization"] == official[0].headers["authorization"]
    for ours_, sdks in zip(mine[1:], official[1:], strict=True):
        assert ours_.json == sdks.json, ours_.path
        assert ours_.meaning(*_MEANING) == sdks.meaning(*_MEANING), ours_.path


async def test_further_pages_are_asked_for_as_the_sdk_does(server: BatchServer) -> None:
    pages = {"": [BATCH | {"id": "b/1", "metadata": None}], "b/1": [BATCH | {"id": "batch_2"}]}

    def listed(heard: Heard) -> Said:
        after = heard.query.get("after", "")
        return Said({"object": "list", "data": pages[after], "has_more": not after})

    server.answer = listed
    with openai.OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
        await asyncio.to_thread(lambda: list(client.batches.list(limit=100)))
    official = server.taken()
    async with a_transport() as transport:
        ours = lane_of(opened(OpenAI, "openai", f"{server.url}/v1", KEY, transport))
        found = await ours.find(TAG, 1, frozenset())
    assert isinstance(found, RemoteBatch)
    assert found.id == "batch_2"
    assert [each.query for each in server.taken()] == [each.query for each in official]


async def test_azures_calls_equal_the_sdks(server: BatchServer, items: Path) -> None:
    """The SDK is pointed to this machine; our own calls are caught before they leave."""
    server.answer = answers

    def theirs() -> None:
        with openai.AzureOpenAI(
            api_key=KEY, azure_endpoint=server.url, api_version="2025-04-01", max_retries=0
        ) as client:
            client.files.create(file=items, purpose="batch")
            client.batches.create(
                input_file_id="file-1",
                endpoint="/chat/completions",  # type: ignore[arg-type]
                completion_window="24h",
                metadata={"penstock": TAG},
            )
            client.batches.list(limit=100)
            client.files.content("file-2")

    await asyncio.to_thread(theirs)
    official = server.taken()
    page: dict[str, Any] = {"data": []}
    fake = FakeTransport(told(FILE, 201), told(BATCH), told(page), told(b""))
    url = "https://lab.openai.azure.com?api-version=2025-04-01"
    ours = lane_of(opened(OpenAI, "openai", url, KEY, fake, model="deployed"))
    assert isinstance(await ours.submit(items, TAG), RemoteBatch)
    await ours.find(TAG, 2, frozenset())
    await ours.fetch(
        RemoteBatch("batch_1", RemoteState.ENDED, results=("file-2",)), items.with_name("out")
    )
    home = "https://lab.openai.azure.com"
    for call, sdks in zip(fake.calls, official, strict=True):
        query = "&".join(f"{name}={value}" for name, value in sdks.query.items())
        assert call.url == f"{home}{sdks.path}?{query}"
        assert call.headers["api-key"] == sdks.headers["api-key"] == KEY
        assert "authorization" not in call.headers
    assert json.loads(fake.calls[1].body) == official[1].json


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://lab.openai.azure.com?api-version=1", "/chat/completions"),
        ("https://lab.openai.azure.com/openai/v1", "/v1/chat/completions"),
    ],
)
def test_an_item_of_azure_names_the_path_of_its_surface(url: str, path: str) -> None:
    made = lane(told({}), url=url, model="deployed")
    item = json.loads(made.item("a", Request.of(made.provider.endpoint, "Hi")))
    assert isinstance(made, AzureBatches)
    assert item["url"] == path
    assert item["body"]["model"] == "deployed"


def test_an_item_is_the_question_as_it_would_go_alone() -> None:
    made = lane(told({}))
    request = Request.of(made.provider.endpoint, "Zürich?\n", temperature=0.5, max_tokens=9)
    item = made.item("0" * 34, request)
    assert b"\n" not in item
    assert json.loads(item) == {
        "custom_id": "0" * 34,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": json.loads(made.provider.wire(request)),
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("openai", OpenAIBatches),
        ("azure", AzureBatches),
        ("groq", GroqBatches),
        *((name, None) for name in ("mistral", "together", "ollama", "vllm", "openrouter")),
        ("deepseek", None),
    ],
)
def test_only_those_who_serve_openais_batches_have_the_lane(
    name: str, kind: type[Batches] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://lab.openai.azure.com/openai/v1")
    endpoint = resolve(f"{name}/some-model").with_(key=Secret(KEY))
    provider = provider_of(endpoint)(endpoint, None)
    provider.open()
    made = provider.batches()
    assert type(made) is (kind or type(None))


def test_the_limits_are_those_of_each() -> None:
    assert OpenAIBatches.limits[:2] == (50_000, 200_000_000)
    assert GroqBatches.limits[:2] == (50_000, 100_000_000)
    assert AzureBatches.limits[:2] == (100_000, 200_000_000)


# Files ------------------------------------------------------------------------------------------


async def test_a_file_goes_up_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "large"
    content = bytes(range(256)) * (3 * MEGABYTE // 256) + b"end"
    file.write_bytes(content)
    transport = PieceTransport(told(FILE), told(BATCH))
    made = lane_of(opened(OpenAI, "openai", "https://h/v1", KEY, transport))
    assert isinstance(await made.submit(file, TAG), RemoteBatch)
    assert len(transport.pieces) == 6  # the head, three megabytes, the rest, the end
    assert max(map(len, transport.pieces)) == MEGABYTE
    headers = dict(transport.calls[0].headers)
    form = Heard("POST", "/", {}, headers, b"".join(transport.pieces))
    assert [(part.name, part.content) for part in form.parts] == [
        ("purpose", b"batch"),
        ("file", content),
    ]


@pytest.mark.parametrize("kind", ["pyreqwest", "aiohttp"])
async def test_results_of_any_size_are_written_and_not_kept(
    server: BatchServer, tmp_path: Path, kind: str
) -> None:
    line = b'{"custom_id":"a","text":"' + b"x" * 1000 + b'"}\n'
    content = line * (5 * MEGABYTE // len(line))
    server.answer = lambda _: Said(content)
    async with a_transport(kind=kind, largest_body=MEGABYTE) as transport:
        ours = lane_of(opened(OpenAI, "openai", f"{server.url}/v1", KEY, transport))
        done = RemoteBatch("b", RemoteState.ENDED, results=("file-1", "file-2"))
        assert await ours.fetch(done, tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == content * 2
    assert [each.path for each in server.taken()] == [
        "/v1/files/file-1/content",
        "/v1/files/file-2/content",
    ]


async def test_every_result_has_a_line_of_its_own(tmp_path: Path) -> None:
    made = lane(told(b'{"a":1}\n{"b":2}'), told(b""), told(b'{"c":3}'))
    done = RemoteBatch("b", RemoteState.ENDED, results=("f1", "f2", "f3"))
    assert await made.fetch(done, tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == b'{"a":1}\n{"b":2}\n{"c":3}\n'


async def test_a_batch_without_results_leaves_an_empty_file(tmp_path: Path) -> None:
    made = lane(told({}))
    assert await made.fetch(RemoteBatch("b", RemoteState.ENDED), tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == b""


@pytest.mark.parametrize("kind", ["pyreqwest", "aiohttp"])
@pytest.mark.parametrize("size", [10, MEGABYTE])
async def test_a_disk_that_is_full_is_no_fault_of_the_network(
    server: BatchServer, size: int, kind: str
) -> None:
    server.answer = lambda _: Said(b"x" * size)
    async with a_transport(kind=kind) as transport:
        ours = lane_of(opened(OpenAI, "openai", f"{server.url}/v1", KEY, transport))
        done = RemoteBatch("b", RemoteState.ENDED, results=("f1",))
        trouble = await ours.fetch(done, Path("/dev/full"))
    server.taken()
    assert trouble is not None
    assert (trouble.kind, trouble.heals) == (FailureKind.STORAGE, False)


async def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    trouble = await lane(told(FILE)).submit(tmp_path / "gone", TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (FailureKind.STORAGE, False)


@pytest.mark.parametrize("status", [201, 404])
async def test_results_that_do_not_come_are_a_trouble(tmp_path: Path, status: int) -> None:
    done = RemoteBatch("b", RemoteState.ENDED, results=("f1",))
    trouble = await lane(told(b"{}", status)).fetch(done, tmp_path / "out")
    assert trouble is not None
    assert trouble.kind is (FailureKind.MALFORMED if status == 201 else FailureKind.NOT_FOUND)


# How a batch stands -------------------------------------------------------------------------------

STANDS: dict[str, tuple[dict[str, Any], RemoteBatch]] = {
    "just made": ({}, RemoteBatch("batch_1", RemoteState.RUNNING)),
    "in progress": (
        {"status": "in_progress", "request_counts": {"total": 9, "completed": 3, "failed": 1}},
        RemoteBatch("batch_1", RemoteState.RUNNING, 9, 3, 1),
    ),
    "finalizing": ({"status": "finalizing"}, RemoteBatch("batch_1", RemoteState.RUNNING)),
    "cancelling": ({"status": "cancelling"}, RemoteBatch("batch_1", RemoteState.RUNNING)),
    "a status of tomorrow": ({"status": "resting"}, RemoteBatch("batch_1", RemoteState.RUNNING)),
    "completed": (
        {"status": "completed", "output_file_id": "o", "error_file_id": None},
        RemoteBatch("batch_1", RemoteState.ENDED, results=("o",)),
    ),
    "completed with errors": (
        {"status": "completed", "output_file_id": "o", "error_file_id": "e"},
        RemoteBatch("batch_1", RemoteState.ENDED, results=("o", "e")),
    ),
    "expired": (
        {"status": "expired", "output_file_id": "o", "error_file_id": "e"},
        RemoteBatch("batch_1", RemoteState.ENDED, why="expired", results=("o", "e")),
    ),
    "cancelled before anything was done": (
        {"status": "cancelled"},
        RemoteBatch("batch_1", RemoteState.ENDED, why="cancelled"),
    ),
    "failed": (
        {
            "status": "failed",
            "errors": {"data": [{"code": "invalid_json_line", "message": "Bad.", "line": 3}]},
        },
        RemoteBatch("batch_1", RemoteState.FAILED, why="invalid_json_line: Bad."),
    ),
    "failed without a word": (
        {"status": "failed", "errors": None},
        RemoteBatch("batch_1", RemoteState.FAILED, why="failed"),
    ),
    "too much enqueued": (
        {"status": "failed", "errors": {"data": [{"code": "token_limit_exceeded"}]}},
        RemoteBatch(
            "batch_1", RemoteState.FAILED, why="token_limit_exceeded: no reason", crowded=True
        ),
    ),
    "Azure's spelling, with counts and files that are nothing": (
        {
            "status": "Completed",
            "request_counts": {"total": None, "completed": None, "failed": None},
            "output_file_id": "o",
            "error_file_id": "",
            "created_at": "2024-07-19T17:13:57.2491382+00:00",
        },
        RemoteBatch("batch_1", RemoteState.ENDED, results=("o",)),
    ),
}


@pytest.mark.parametrize("name", STANDS)
async def test_how_a_batch_stands_is_understood(name: str) -> None:
    told_, expected = STANDS[name]
    assert await lane(told(BATCH | told_)).look("batch_1") == expected


NONSENSE = [b"", b"null", b"[]", b"<html>", b'{"id": 7}', b'{"id":"\xff"}', b"[" * 100_000]


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_reply_that_makes_no_sense_leaves_open_what_was_done(
    body: bytes, items: Path
) -> None:
    for trouble in (
        await lane(told(FILE), told(body)).submit(items, TAG),
        await lane(told(body)).look("batch_1"),
        await lane(told(body)).find(TAG, 2, frozenset()),
    ):
        assert isinstance(trouble, Trouble), body[:20]
        assert (trouble.kind, trouble.unknown) == (FailureKind.MALFORMED, True)


@pytest.mark.parametrize("body", NONSENSE)
async def test_an_upload_that_names_no_file_has_made_no_batch(body: bytes, items: Path) -> None:
    trouble = await lane(told(body)).submit(items, TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (FailureKind.MALFORMED, False)


@pytest.mark.parametrize(
    ("reply", "kind", "unknown"),
    [
        (Broken("connection", "cut"), FailureKind.CONNECTION, True),
        (Broken("connection", "refused", sent=False), FailureKind.CONNECTION, False),
        (Broken("timeout", "late"), FailureKind.TIMEOUT, True),
        (Broken("too_large", "large"), FailureKind.TOO_LARGE, True),
        (told({"error": {"message": "slow"}}, 429), FailureKind.RATE_LIMITED, False),
        (told({"error": {"code": "insufficient_quota"}}, 429), FailureKind.QUOTA, False),
        (told({"error": {"message": "key"}}, 401), FailureKind.AUTHENTICATION, False),
        (told({"error": {"message": "bad"}}, 400), FailureKind.INVALID_REQUEST, False),
        (told({}, 413), FailureKind.TOO_LARGE, False),
        (told({}, 503), FailureKind.OVERLOADED, False),
        (told({}, 500), FailureKind.SERVER, True),
        (told({}, 504), FailureKind.SERVER, True),
    ],
)
async def test_a_batch_that_was_not_made_is_told_from_one_that_may_be(
    reply: Reply | Broken, kind: FailureKind, unknown: bool, items: Path
) -> None:
    trouble = await lane(told(FILE), reply).submit(items, TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (kind, unknown)
    upload = await lane(reply, told(BATCH)).submit(items, TAG)
    assert isinstance(upload, Trouble)
    assert (upload.kind, upload.unknown) == (kind, False)


async def test_a_wait_that_was_asked_for_is_passed_on() -> None:
    reply = told({"error": {"message": "slow"}}, 429, {"retry-after": "7"})
    trouble = await lane(reply).cancel("batch_1")
    assert trouble is not None
    assert trouble.retry_after == 7


async def test_a_lost_batch_is_found_by_its_tag_alone() -> None:
    others = [
        BATCH | {"id": "b1", "metadata": {"penstock": "another"}},
        BATCH | {"id": "b2", "metadata": {"tag": TAG}},
        BATCH | {"id": "b3", "metadata": None},
    ]
    page = {"data": others, "has_more": False}
    assert await lane(told(page)).find(TAG, 2, frozenset()) is None
    page["data"] = [*others, BATCH]
    found = await lane(told(page)).find(TAG, 2, frozenset())
    assert found == RemoteBatch("batch_1", RemoteState.RUNNING)


async def test_a_list_that_never_ends_is_given_up() -> None:
    made = lane(told({"data": [BATCH | {"metadata": None}], "has_more": True}))
    assert await made.find(TAG, 2, frozenset()) is None
    assert isinstance(made.provider.transport, FakeTransport)
    assert 1 < len(made.provider.transport.calls) <= 100


# What a line says ---------------------------------------------------------------------------------


def line(**told_: Any) -> bytes:
    return json.dumps({"id": "r", "custom_id": "a", **told_}).encode()


def outcome_of(result: Result | None) -> Answer | Failure:
    assert result is not None
    assert result.id == "a"
    return result.sent.outcome


def test_an_answer_is_read_as_one_that_came_alone() -> None:
    said = line(response={"status_code": 200, "request_id": "q", "body": COMPLETION}, error=None)
    result = lane(told({})).read(said)
    answer = outcome_of(result)
    assert isinstance(answer, Answer)
    assert (answer.finish, answer.usage.input_tokens) == (Finish.REFUSAL, 1)
    assert result is not None
    assert OpenAI.read(result.sent.body) == answer


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"code": "context_length_exceeded"}, FailureKind.TOO_LARGE),
        (400, {"message": "bad"}, FailureKind.INVALID_REQUEST),
        (429, {"message": "slow"}, FailureKind.RATE_LIMITED),
        (429, {"type": "insufficient_quota"}, FailureKind.QUOTA),
        (500, {"message": "oh"}, FailureKind.SERVER),
    ],
)
def test_a_refused_line_is_judged_as_a_refused_call(
    status: int, error: dict[str, Any], kind: FailureKind
) -> None:
    said = line(response={"status_code": status, "body": {"error": error}}, error=None)
    failure = outcome_of(lane(told({})).read(said))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.status, failure.may_be_paid) == (kind, status, False)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "batch_expired", "message": "Late."}, FailureKind.OVERLOADED),
        ({"code": "batch_cancelled", "message": "Stopped."}, FailureKind.OVERLOADED),
        ({"code": "server_error"}, FailureKind.OVERLOADED),
        (None, FailureKind.OVERLOADED),
        ({"code": "invalid_body", "message": "Bad."}, FailureKind.INVALID_REQUEST),
        ({"code": 12}, FailureKind.INVALID_REQUEST),
        ({"code": "insufficient_quota"}, FailureKind.QUOTA),
    ],
)
def test_a_line_that_was_not_asked_heals_and_one_that_is_wrong_does_not(
    error: dict[str, Any] | None, kind: FailureKind
) -> None:
    failure = outcome_of(lane(told({})).read(line(response=None, error=error)))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.may_be_paid) == (kind, False)
    if error:
        assert str(error["code"]) in failure.message


@pytest.mark.parametrize("body", [None, {}, {"choices": []}, "text", 7])
def test_an_answer_that_cannot_be_read_may_be_paid_for(body: Any) -> None:
    failure = outcome_of(lane(told({})).read(line(response={"status_code": 200, "body": body})))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.may_be_paid) == (FailureKind.MALFORMED, True)


@pytest.mark.parametrize(
    "said",
    [*NONSENSE, b'{"custom_id": null}', b'{"response": {}}', b'{"custom_id":"a","response":7}'],
)
def test_a_line_that_makes_no_sense_is_none(said: bytes) -> None:
    assert lane(told({})).read(said) is None


# Secrets ------------------------------------------------------------------------------------------


async def test_no_secret_gets_into_what_is_said(items: Path) -> None:
    echo = f"Incorrect API key provided: {KEY}"
    refusal = told({"error": {"message": echo}}, 401)
    failed = BATCH | {"status": "failed", "errors": {"data": [{"code": KEY, "message": echo}]}}
    body = {"error": {"message": echo}}
    made = lane(refusal)
    seen = [
        await made.submit(items, TAG),
        await made.find(TAG, 2, frozenset()),
        await made.cancel("batch_1"),
        await made.fetch(RemoteBatch("b", RemoteState.ENDED, results=("f",)), items),
        await lane(Broken("connection", echo)).look("batch_1"),
        await lane(told(failed)).look("batch_1"),
        made.read(line(error={"code": "batch_expired", "message": echo})),
        made.read(line(error={"code": "other", "message": echo})),
        made.read(line(response={"status_code": 401, "body": body})),
        made.read(line(response={"status_code": 200, "body": body})),
    ]
    for each in seen:
        assert each is not None
        assert KEY not in repr(each)
        assert "****" in repr(each)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/results",
        "https://api.example@evil.example/results",
        "https://evil.example\\@api.example/results",
        "https://user@api.example/results",
        "https://api.example.evil.example/results",
        "http://api.example/results",
        "https://api.example:8443/results",
        "https://api.example:port/results",
        "//evil.example/results",
        "file:///etc/passwd",
        "https://[::1/results",
    ],
)
def test_an_address_on_another_host_is_none(url: str) -> None:
    assert at_host_of("https://api.example/v1/messages", url) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.example/r/1?a=b", "https://api.example/r/1?a=b"),
        ("https://API.example:443/r/1#x", "https://api.example/r/1"),
        ("/r/1", "https://api.example/r/1"),
        ("https://api.example\t/r", "https://api.example/r"),
    ],
)
def test_an_address_on_the_same_host_is_put_together_anew(url: str, expected: str) -> None:
    assert at_host_of("https://api.example/v1/messages", url) == expected
