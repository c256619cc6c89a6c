"""The batch lane of Anthropic: calls as the SDK's, replies as told, the key at home."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
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
from tests.providers.servers import FakeTransport

from penstock.errors import RequestError
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers.anthropic import Anthropic
from penstock.providers.anthropic_batch import AnthropicBatches
from penstock.providers.batch import RemoteBatch, RemoteState, Result, Trouble
from penstock.providers.transport import Broken, Reply
from penstock.request import Request

KEY = "sk-ant-batch-0123456789abcdef"
TAG = "run-7-part-2"
HOME = "https://api.example"
COUNTS = {"processing": 2, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
BATCH: dict[str, Any] = {
    "id": "msgbatch_1",
    "type": "message_batch",
    "processing_status": "in_progress",
    "request_counts": COUNTS,
    "created_at": "2026-11-15T08:00:00Z",
    "expires_at": "2026-11-16T08:00:00Z",
    "ended_at": None,
    "archived_at": None,
    "cancel_initiated_at": None,
    "results_url": None,
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "seen",
    "content": [{"type": "text", "text": "Because."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
_MEANING = ("authorization", "x-api-key", "anthropic-version", "content-type", "accept")


@pytest.fixture(scope="module")
def server() -> Iterator[BatchServer]:
    with batch_server() as server:
        yield server


def lane(*replies: Reply | Broken, **more: Any) -> AnthropicBatches:
    return opened(Anthropic, "anthropic", HOME, KEY, FakeTransport(*replies), **more).batches()


def ended(**told_: Any) -> dict[str, Any]:
    return BATCH | {"processing_status": "ended", **told_}


@pytest.fixture
def items(tmp_path: Path) -> Path:
    file = tmp_path / "items"
    made = lane(told({}))
    request = Request.of(made.provider.endpoint, "Why?", system="Be brief.", max_tokens=9)
    pieces = (made.item(id_, request) for id_ in ("a" * 34, "b" * 34))
    file.write_bytes(made.separator.join(pieces))
    return file


# Over the wire -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pyreqwest", "aiohttp"])
async def test_every_call_equals_the_sdks(server: BatchServer, items: Path, kind: str) -> None:
    results = f"{server.url}/v1/messages/batches/msgbatch_1/results"

    def answers(heard: Heard) -> Said:
        if "limit" in heard.query:
            return Said({"data": [], "has_more": False, "first_id": None, "last_id": None})
        if heard.path.endswith("/results"):
            return Said(b"")
        return Said(ended(results_url=results))

    server.answer = answers
    params: Any = {
        "model": "some-model",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Why?"}],
    }

    def theirs() -> None:
        with anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
            requests: Any = [{"custom_id": id_ * 34, "params": params} for id_ in "ab"]
            client.messages.batches.create(requests=requests)
            client.messages.batches.list(limit=100)
            client.messages.batches.cancel("msgbatch_1")
            list(client.messages.batches.results("msgbatch_1"))  # looks first

    await asyncio.to_thread(theirs)
    official = server.taken()
    async with a_transport(kind=kind) as transport:
        ours = lane_of(opened(Anthropic, "anthropic", server.url, KEY, transport))
        await ours.submit(items, TAG)
        assert await ours.find(TAG, 2, frozenset()) is None
        assert await ours.cancel("msgbatch_1") is None
        batch = await ours.look("msgbatch_1")
        assert isinstance(batch, RemoteBatch)
        assert await ours.fetch(batch, items.with_name("out")) is None
    mine = server.taken()
    for call, sdks in zip(mine, official, strict=True):
        assert (call.method, call.path, call.query) == (sdks.method, sdks.path, sdks.query)
        assert call.json == sdks.json
        expected = sdks.meaning(*_MEANING)
        if call is mine[0]:  # one version for all questions, those with a temperature among them
            expected["anthropic-version"] = "2023-06-01"
        assert call.meaning(*_MEANING) == expected, call.path


async def test_a_version_of_the_endpoints_own_goes_before(items: Path) -> None:
    own = {"Anthropic-Version": "2024-01-01"}
    made = lane(told(BATCH), headers=own)
    await made.submit(items, TAG)
    await made.look("msgbatch_1")
    assert isinstance(made.provider.transport, FakeTransport)
    for call in made.provider.transport.calls:
        assert call.headers["anthropic-version"] == "2024-01-01"


async def test_further_pages_are_asked_for_as_the_sdk_does(server: BatchServer) -> None:
    def listed(heard: Heard) -> Said:
        last = heard.query.get("after_id", "")
        number = int(last.removeprefix("b/") or 0) + 1
        page = {"data": [BATCH | {"id": f"b/{number}"}], "has_more": number < 3}
        return Said({**page, "first_id": f"b/{number}", "last_id": f"b/{number}"})

    server.answer = listed
    with anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        await asyncio.to_thread(lambda: list(client.messages.batches.list(limit=100)))
    official = server.taken()
    async with a_transport() as transport:
        ours = lane_of(opened(Anthropic, "anthropic", server.url, KEY, transport))
        found = await ours.find(TAG, 2, frozenset({"b/1", "b/2"}))
    assert isinstance(found, RemoteBatch)
    assert (found.id, found.certain) == ("b/3", False)
    assert [each.query for each in server.taken()] == [each.query for each in official]


def test_an_item_is_the_question_as_it_would_go_alone() -> None:
    made = lane(told({}))
    request = Request.of(made.provider.endpoint, "Zürich?\n", temperature=0.5, stop="END")
    item = made.item("0" * 34, request)
    assert b"\n" not in item
    assert json.loads(item) == {
        "custom_id": "0" * 34,
        "params": json.loads(made.provider.wire(request)),
    }


@pytest.mark.parametrize("params", [{"speed": "fast"}, {"max_tokens": 0}])
def test_what_a_batch_does_not_take_is_found_before(params: dict[str, Any]) -> None:
    made = lane(told({}))
    with pytest.raises(RequestError, match=next(iter(params))):
        made.item("a", Request.of(made.provider.endpoint, "Hi", **params))


async def test_a_query_of_the_address_goes_along_with_every_call(items: Path) -> None:
    fake = FakeTransport(told(BATCH))
    made = opened(Anthropic, "anthropic", f"{HOME}/x/v1?team=7", KEY, fake).batches()
    await made.submit(items, TAG)
    await made.look("id/..")
    await made.find(TAG, 3, frozenset())
    assert [call.url for call in fake.calls][:2] == [
        f"{HOME}/x/v1/messages/batches?team=7",
        f"{HOME}/x/v1/messages/batches/id%2F..?team=7",
    ]
    assert fake.calls[2].url == f"{HOME}/x/v1/messages/batches?team=7&limit=100"


# Files ------------------------------------------------------------------------------------------


async def test_a_file_goes_up_in_pieces_and_is_one_list(tmp_path: Path) -> None:
    file = tmp_path / "large"
    item = json.dumps({"custom_id": "a", "params": {"text": "x" * 1000}}).encode()
    count = 3 * MEGABYTE // len(item)
    file.write_bytes(AnthropicBatches.separator.join([item] * count))
    transport = PieceTransport(told(BATCH))
    made = lane_of(opened(Anthropic, "anthropic", HOME, KEY, transport))
    assert isinstance(await made.submit(file, TAG), RemoteBatch)
    assert len(transport.pieces) >= 5
    assert max(map(len, transport.pieces)) == MEGABYTE
    assert json.loads(b"".join(transport.pieces)) == {"requests": [json.loads(item)] * count}
    [call] = transport.calls
    assert call.upload is not None
    assert call.upload.size == sum(map(len, transport.pieces))
    assert call.upload.size - file.stat().st_size == 256_000_000 - made.limits.bytes


async def test_results_of_any_size_are_written_and_not_kept(
    server: BatchServer, tmp_path: Path
) -> None:
    line_ = b'{"custom_id":"a","text":"' + b"x" * 1000 + b'"}\n'
    content = line_ * (4 * MEGABYTE // len(line_))
    server.answer = lambda _: Said(content)
    async with a_transport(largest_body=MEGABYTE) as transport:
        ours = lane_of(opened(Anthropic, "anthropic", server.url, KEY, transport))
        done = RemoteBatch("b", RemoteState.ENDED, results=(f"{server.url}/results/1",))
        assert await ours.fetch(done, tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == content
    [heard] = server.taken()
    assert (heard.path, heard.headers["authorization"]) == ("/results/1", f"Bearer {KEY}")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/results",
        "https://evil.example\\@api.example/results",
        "http://api.example/results",
        "https://api.example:444/results",
    ],
)
async def test_results_on_another_host_are_refused_and_nothing_is_sent(
    url: str, tmp_path: Path
) -> None:
    made = lane(told(ended(results_url=url)))
    batch = await made.look("msgbatch_1")
    assert isinstance(batch, RemoteBatch)
    trouble = await made.fetch(batch, tmp_path / "out")
    assert trouble is not None
    assert trouble.kind is FailureKind.PERMISSION
    assert "the key is not sent there" in trouble.message
    assert isinstance(made.provider.transport, FakeTransport)
    assert len(made.provider.transport.calls) == 1  # the look


async def test_another_server_of_this_machine_never_hears_of_results(
    server: BatchServer, tmp_path: Path
) -> None:
    with batch_server() as other:
        server.answer = lambda _: Said(ended(results_url=f"{other.url}/results"))
        async with a_transport() as transport:
            ours = lane_of(opened(Anthropic, "anthropic", server.url, KEY, transport))
            batch = await ours.look("msgbatch_1")
            assert isinstance(batch, RemoteBatch)
            assert await ours.fetch(batch, tmp_path / "out") is not None
        assert other.heard == []
    server.taken()


async def test_a_redirect_of_the_results_is_not_followed(
    server: BatchServer, tmp_path: Path
) -> None:
    with batch_server() as other:
        server.answer = lambda _: Said(b"", {"location": f"{other.url}/results"}, 302)
        async with a_transport() as transport:
            ours = lane_of(opened(Anthropic, "anthropic", server.url, KEY, transport))
            done = RemoteBatch("b", RemoteState.ENDED, results=(f"{server.url}/results",))
            trouble = await ours.fetch(done, tmp_path / "out")
        assert trouble is not None
        assert "redirect" in trouble.message
        assert other.heard == []
    server.taken()


# How a batch stands -------------------------------------------------------------------------------

URL = f"{HOME}/results"
STANDS: dict[str, tuple[dict[str, Any], RemoteBatch]] = {
    "in progress": (BATCH, RemoteBatch("msgbatch_1", RemoteState.RUNNING, 2)),
    "canceling": (
        BATCH | {"processing_status": "canceling", "cancel_initiated_at": "2026-11-15T08:00:00Z"},
        RemoteBatch("msgbatch_1", RemoteState.RUNNING, 2),
    ),
    "a status of tomorrow": (
        BATCH | {"processing_status": "resting"},
        RemoteBatch("msgbatch_1", RemoteState.RUNNING, 2),
    ),
    "ended": (
        ended(results_url=URL, request_counts=COUNTS | {"processing": 0, "succeeded": 2}),
        RemoteBatch("msgbatch_1", RemoteState.ENDED, 2, 2, results=(URL,)),
    ),
    "ended with all sorts": (
        ended(
            results_url=URL,
            request_counts={
                "processing": 0,
                "succeeded": 4,
                "errored": 3,
                "canceled": 0,
                "expired": 1,
            },
        ),
        RemoteBatch("msgbatch_1", RemoteState.ENDED, 8, 4, 4, "expired", (URL,)),
    ),
    "canceled": (
        ended(
            results_url=URL,
            cancel_initiated_at="2026-11-15T08:00:00Z",
            request_counts=COUNTS | {"processing": 0, "canceled": 2},
        ),
        RemoteBatch("msgbatch_1", RemoteState.ENDED, 2, 0, 2, "canceled", (URL,)),
    ),
    "archived": (
        ended(archived_at="2026-12-15T08:00:00Z"),
        RemoteBatch(
            "msgbatch_1", RemoteState.ENDED, 2, why="archived: its results are no longer kept"
        ),
    ),
}


@pytest.mark.parametrize("name", STANDS)
async def test_how_a_batch_stands_is_understood(name: str) -> None:
    told_, expected = STANDS[name]
    assert await lane(told(told_)).look("msgbatch_1") == expected


NONSENSE = [b"", b"null", b"[]", b"<html>", b'{"id": 7}', b'{"id":"\xff"}', b"[" * 100_000]


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_reply_that_makes_no_sense_leaves_open_what_was_done(
    body: bytes, items: Path
) -> None:
    made = lane(told(body))
    for trouble in (
        await made.submit(items, TAG),
        await made.look("msgbatch_1"),
        await made.find(TAG, 2, frozenset()),
    ):
        assert isinstance(trouble, Trouble), body[:20]
        assert (trouble.kind, trouble.unknown) == (FailureKind.MALFORMED, True)


def error(type_: str, message: str = "No.", **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": type_, "message": message, **more}}


@pytest.mark.parametrize(
    ("reply", "kind", "unknown"),
    [
        (Broken("connection", "cut"), FailureKind.CONNECTION, True),
        (Broken("connection", "refused", sent=False), FailureKind.CONNECTION, False),
        (told(error("rate_limit_error"), 429), FailureKind.RATE_LIMITED, False),
        (
            told(
                error("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
                429,
            ),
            FailureKind.QUOTA,
            False,
        ),
        (told(error("request_too_large"), 413), FailureKind.TOO_LARGE, False),
        (told(error("invalid_request_error"), 400), FailureKind.INVALID_REQUEST, False),
        (told(error("overloaded_error"), 529), FailureKind.OVERLOADED, False),
        (told(error("api_error"), 500), FailureKind.SERVER, True),
        (told(error("timeout_error"), 504), FailureKind.TIMEOUT, True),
    ],
)
async def test_a_batch_that_was_not_made_is_told_from_one_that_may_be(
    reply: Reply | Broken, kind: FailureKind, unknown: bool, items: Path
) -> None:
    trouble = await lane(reply).submit(items, TAG)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (kind, unknown)


async def test_a_lost_batch_is_the_newest_of_its_size_that_nobody_knows() -> None:
    page = {
        "data": [
            BATCH | {"id": "larger", "request_counts": COUNTS | {"processing": 3}},
            BATCH | {"id": "ours-and-known"},
            ended(id="archived", archived_at="2026-12-15T08:00:00Z"),
            ended(id="newer", request_counts=COUNTS | {"processing": 0, "errored": 2}),
            BATCH | {"id": "older"},
        ],
        "has_more": False,
    }
    known = {"ours-and-known"}
    found = []
    while isinstance(one := await lane(told(page)).find(TAG, 2, frozenset(known)), RemoteBatch):
        assert not one.certain
        found.append(one.id)
        known.add(one.id)
    assert found == ["newer", "older"]
    assert one is None


async def test_a_list_that_never_ends_is_given_up() -> None:
    made = lane(told({"data": [BATCH], "has_more": True}))
    assert await made.find(TAG, 7, frozenset()) is None
    assert isinstance(made.provider.transport, FakeTransport)
    assert 1 < len(made.provider.transport.calls) <= 100


# What a line says ---------------------------------------------------------------------------------


def line(**result: Any) -> bytes:
    return json.dumps({"custom_id": "a", "result": result}).encode()


def outcome_of(result: Result | None) -> Answer | Failure:
    assert result is not None
    assert result.id == "a"
    return result.sent.outcome


def test_an_answer_is_read_as_one_that_came_alone() -> None:
    result = lane(told({})).read(line(type="succeeded", message=MESSAGE))
    answer = outcome_of(result)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish, answer.usage.output_tokens) == ("Because.", Finish.STOP, 2)
    assert result is not None
    assert Anthropic.read(result.sent.body) == answer


@pytest.mark.parametrize(
    ("told_", "kind"),
    [
        (error("invalid_request_error", "max_tokens: required"), FailureKind.INVALID_REQUEST),
        (error("invalid_request_error", "prompt is too long: 9 > 8"), FailureKind.TOO_LARGE),
        (
            error("invalid_request_error", "Your credit balance is too low"),
            FailureKind.QUOTA,
        ),
        (error("not_found_error", "model: x"), FailureKind.NOT_FOUND),
        (error("rate_limit_error"), FailureKind.RATE_LIMITED),
        (error("overloaded_error"), FailureKind.OVERLOADED),
        (error("api_error"), FailureKind.SERVER),
        (error("of tomorrow"), FailureKind.SERVER),
        (None, FailureKind.SERVER),
        ("text", FailureKind.SERVER),
    ],
)
def test_a_line_that_failed_is_judged_as_a_refused_call(told_: Any, kind: FailureKind) -> None:
    failure = outcome_of(lane(told({})).read(line(type="errored", error=told_)))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.may_be_paid) == (kind, False)


@pytest.mark.parametrize("why", ["canceled", "expired"])
def test_a_line_that_was_not_asked_heals(why: str) -> None:
    failure = outcome_of(lane(told({})).read(line(type=why)))
    assert isinstance(failure, Failure)
    assert failure.kind.heals
    assert not failure.may_be_paid
    assert why in failure.message


@pytest.mark.parametrize("message", [None, {}, "text", 7, {"content": "x"}])
def test_an_answer_that_cannot_be_read_may_be_paid_for(message: Any) -> None:
    failure = outcome_of(lane(told({})).read(line(type="succeeded", message=message)))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.may_be_paid) == (FailureKind.MALFORMED, True)


@pytest.mark.parametrize(
    "said",
    [*NONSENSE, b'{"custom_id":"a"}', b'{"custom_id":"a","result":7}', line(type="resting")],
)
def test_a_line_that_makes_no_sense_is_none(said: bytes) -> None:
    assert lane(told({})).read(said) is None


async def test_no_secret_gets_into_what_is_said(items: Path) -> None:
    echo = error("authentication_error", f"invalid x-api-key: {KEY}")
    made = lane(told(echo, 401))
    seen = [
        await made.submit(items, TAG),
        await made.look("msgbatch_1"),
        await made.find(TAG, 2, frozenset()),
        await made.cancel("msgbatch_1"),
        await made.fetch(RemoteBatch("b", RemoteState.ENDED, results=(URL,)), items),
        await lane(Broken("connection", KEY)).look("msgbatch_1"),
        made.read(line(type="errored", error=echo)),
        made.read(line(type="succeeded", message=echo)),
    ]
    for each in seen:
        assert each is not None
        assert KEY not in repr(each)
        assert "****" in repr(each)
