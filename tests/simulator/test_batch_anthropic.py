"""Anthropic's own SDK lives through whole batches unchanged, and knows all that it finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic.types.messages import (
    DeletedMessageBatch,
    MessageBatch,
    MessageBatchIndividualResponse,
)

from penstock.simulator import Simulator, answer
from tests.simulator.batch_clients import VERSION
from tests.simulator.raw import chat, post
from tests.simulator.test_sdk import _extras

PATH = "/v1/messages/batches"
DAY = 86_400


@pytest.fixture
def client(simulator: Simulator) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=simulator.root, api_key="any", max_retries=0) as client:
        yield client


def params(text: str = "Hello", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "any", "max_tokens": 1000, "messages": messages, **more}


def requests(*names: str) -> list[Any]:
    return [{"custom_id": name, "params": params(name)} for name in names]


def start(client: anthropic.Anthropic, *names: str) -> MessageBatch:
    return client.messages.batches.create(requests=requests(*names))


def test_a_batch_lives_from_its_requests_to_its_results(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=100)
    names = [f"row{number}" for number in range(10)]
    made = start(client, *names)
    assert (made.processing_status, made.results_url) == ("in_progress", None)
    assert (made.expires_at - made.created_at).total_seconds() == DAY
    simulator.advance_batches(80)
    going = client.messages.batches.retrieve(made.id)
    counts = going.request_counts
    assert (going.processing_status, counts.processing, counts.succeeded) == ("in_progress", 10, 0)
    assert simulator.summary()["lines"] == 8
    with pytest.raises(anthropic.AnthropicError, match="results"):
        client.messages.batches.results(made.id)
    assert post(simulator, None, f"{PATH}/{made.id}/results", "GET", VERSION).status == 400
    simulator.advance_batches(21)
    done = client.messages.batches.retrieve(made.id)
    counts = done.request_counts
    assert (done.processing_status, counts.processing, counts.succeeded) == ("ended", 0, 10)
    assert done.ended_at is not None and done.ended_at > done.created_at
    results = list(client.messages.batches.results(made.id))
    assert [each.custom_id for each in results] == names
    for each in results:
        assert each.result.type == "succeeded"
        [block] = each.result.message.content
        assert block.type == "text" and block.text == answer(chat(each.custom_id)).text
        assert each.result.message.usage.service_tier == "batch"


def test_each_line_stands_once_in_the_ledger(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    batch = start(client, "a", "b")
    client.messages.batches.retrieve(batch.id)
    client.messages.create(**params("b"))
    entries = simulator.ledger()
    lines = [entry for entry in entries if entry["lane"] == "batch"]
    assert [(entry["batch"], entry["custom_id"]) for entry in lines] == [
        (batch.id, "a"),
        (batch.id, "b"),
    ]
    assert entries[-1]["digest"] == lines[1]["digest"] and entries[-1]["repeated"]
    assert {entry["path"] for entry in lines} == {"/v1/messages"}


def test_everything_shown_passes_the_sdks_strict_types(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0, batch_faults="expired:0.5,error:0.5", seed=1)
    batch = start(client, *(f"row{number}" for number in range(12)))
    bad = [{"custom_id": "bad", "params": {"model": "any"}}]
    post(simulator, {"requests": bad}, PATH, headers=VERSION)
    simulator.set(batch_seconds=100)
    client.messages.batches.cancel(start(client, "x").id)
    page = post(simulator, None, PATH, "GET", VERSION).json
    assert page.keys() == {"data", "has_more", "first_id", "last_id"}
    for each in page["data"]:
        found = MessageBatch.model_validate_json(json.dumps(each), strict=True)
        assert _extras(found) == []
    states = [each["processing_status"] for each in page["data"]]
    assert states == ["canceling", "ended", "ended"]
    kinds = set()
    for name in (batch.id, page["data"][1]["id"]):
        raw = post(simulator, None, f"{PATH}/{name}/results", "GET", VERSION).body
        for line in raw.splitlines():
            result = MessageBatchIndividualResponse.model_validate_json(line, strict=True)
            assert _extras(result) == []
            kinds.add(result.result.type)
    assert kinds == {"succeeded", "errored", "expired"}


def test_lists_are_paged_in_both_directions(client: anthropic.Anthropic) -> None:
    made = [start(client, "a").id for _ in range(5)][::-1]
    page = client.messages.batches.list(limit=2)
    assert ([batch.id for batch in page.data], page.has_more) == (made[:2], True)
    assert [batch.id for batch in page] == made
    older = client.messages.batches.list(limit=2, after_id=made[2])
    assert ([batch.id for batch in older.data], older.has_more) == (made[3:], False)
    newer = client.messages.batches.list(limit=2, before_id=made[3])
    assert ([batch.id for batch in newer.data], newer.has_more) == (made[1:3], True)
    assert client.messages.batches.list(before_id=made[0]).data == []
    wrongs: list[dict[str, Any]] = [{"limit": 1001}, {"after_id": "none"}]
    for wrong in wrongs:
        with pytest.raises(anthropic.BadRequestError):
            client.messages.batches.list(**wrong)


def test_a_cancelled_batch_mixes_its_results(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=100)
    batch = start(client, *"abcd")
    simulator.advance_batches(50)
    canceling = client.messages.batches.cancel(batch.id)
    assert canceling.processing_status == "canceling"
    assert canceling.cancel_initiated_at is not None and canceling.results_url is None
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.delete(batch.id)
    simulator.advance_batches()
    done = client.messages.batches.retrieve(batch.id)
    assert (done.request_counts.succeeded, done.request_counts.canceled) == (2, 2)
    kinds = [each.result.type for each in client.messages.batches.results(batch.id)]
    assert kinds == ["succeeded", "succeeded", "canceled", "canceled"]
    assert simulator.summary()["lines"] == 2
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.cancel(batch.id)


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "any"},
        params(stream=True),
        params(speed="fast"),
        params() | {"max_tokens": 0},
        params(temperature=1.0),
    ],
)
def test_bad_parameters_become_an_errored_result(
    client: anthropic.Anthropic, simulator: Simulator, bad: Any
) -> None:
    simulator.set(batch_seconds=0)
    given = [*requests("good"), {"custom_id": "bad", "params": bad}]
    batch = client.messages.batches.create(requests=given)
    counts = client.messages.batches.retrieve(batch.id).request_counts
    assert (counts.succeeded, counts.errored) == (1, 1)
    _, wrong = client.messages.batches.results(batch.id)
    assert wrong.custom_id == "bad" and wrong.result.type == "errored"
    assert wrong.result.error.error.type == "invalid_request_error"


def test_an_ended_batch_can_be_deleted(client: anthropic.Anthropic, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    batch = start(client, "a")
    client.messages.batches.retrieve(batch.id)
    gone = client.messages.batches.delete(batch.id)
    assert gone == DeletedMessageBatch(id=batch.id, type="message_batch_deleted")
    for call in (client.messages.batches.retrieve, client.messages.batches.delete):
        with pytest.raises(anthropic.NotFoundError):
            call(batch.id)
    assert client.messages.batches.list().data == []


def test_results_are_archived_after_twenty_nine_days(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    batch = start(client, "a")
    simulator.advance_batches(28 * DAY)
    assert client.messages.batches.retrieve(batch.id).results_url is not None
    simulator.advance_batches(DAY)
    old = client.messages.batches.retrieve(batch.id)
    assert old.archived_at is not None and old.results_url is None
    assert post(simulator, None, f"{PATH}/{batch.id}/results", "GET", VERSION).status == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "requests"),
        ({"requests": []}, "at least 1"),
        ({"requests": {}}, "requests"),
        ({"requests": [{"params": {}}]}, "requests.0: Object missing required field `custom_id`"),
        ({"requests": [{"custom_id": "a"}]}, "params"),
        ({"requests": [{"custom_id": "a", "params": []}]}, "requests.0.params"),
        ({"requests": [{"custom_id": "a b", "params": {}}]}, "pattern"),
        ({"requests": [{"custom_id": "", "params": {}}]}, "pattern"),
        ({"requests": [{"custom_id": "a" * 65, "params": {}}]}, "pattern"),
        ({"requests": [{"custom_id": 7, "params": {}}]}, "requests.0.custom_id"),
        ({"requests": [{"custom_id": "a", "params": {}}] * 2}, "more than once"),
        ({"requests": [{"custom_id": "a", "params": {}, "x": 1}]}, "x"),
        ({"requests": [{"custom_id": "a", "params": {}}], "metadata": {}}, "metadata"),
        (b"{", "JSON"),
    ],
)
def test_a_wrong_batch_is_refused(simulator: Simulator, body: Any, said: str) -> None:
    response = post(simulator, body, PATH, headers=VERSION)
    assert (response.status, response.error["type"]) == (400, "invalid_request_error")
    assert said in response.error["message"]
    assert simulator.batches() == []


def test_there_are_at_most_a_hundred_thousand_requests(simulator: Simulator) -> None:
    given = [{"custom_id": str(number), "params": {}} for number in range(100_001)]
    response = post(simulator, {"requests": given}, PATH, headers=VERSION)
    assert response.status == 400 and "100000" in response.error["message"]


def test_a_version_and_a_key_are_wanted(client: anthropic.Anthropic, simulator: Simulator) -> None:
    assert post(simulator, None, PATH, "GET").status == 400
    assert post(simulator, {"requests": requests("a")}, PATH).status == 400
    assert post(simulator, None, PATH, "PUT", VERSION).status == 405
    batch = start(client, "a")
    simulator.set(key="sk-other")
    for call in (client.messages.batches.retrieve, client.messages.batches.cancel):
        with pytest.raises(anthropic.AuthenticationError):
            call(batch.id)
    with pytest.raises(anthropic.AuthenticationError):
        start(client, "a")


def test_the_version_of_a_batch_is_that_of_its_lines(simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    given = {"requests": [{"custom_id": "a", "params": params(temperature=0.5)}]}
    older = {"anthropic-version": "2023-06-01"}
    for version, kind in ((older, "succeeded"), (VERSION, "errored")):
        name = post(simulator, given, PATH, headers=version).json["id"]
        raw = post(simulator, None, f"{PATH}/{name}/results", "GET", older).body
        assert json.loads(raw)["result"]["type"] == kind
