"""OpenAI's own SDK lives through whole batches unchanged, and knows all that it finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types import Batch, FileDeleted, FileObject
from openai.types.chat import ChatCompletion
from pydantic import TypeAdapter

from penstock.simulator import Simulator, answer
from penstock.simulator.api import Problem
from penstock.simulator.multipart import Part, form
from penstock.simulator.openai_files import LARGEST_BATCH, checked_upload
from tests.simulator.batch_clients import upload
from tests.simulator.raw import chat, post
from tests.simulator.test_sdk import _extras

ENDPOINT: Any = "/v1/chat/completions"


@pytest.fixture
def client(simulator: Simulator) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=simulator.url, api_key="any", max_retries=0) as client:
        yield client


def line(name: Any, body: Any = None, **more: Any) -> dict[str, Any]:
    made = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body or chat(name)}
    return {key: value for key, value in (made | more).items() if value is not ...}


def jsonl(*lines: Any) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in lines).encode()


def start(client: openai.OpenAI, data: bytes, **more: Any) -> Batch:
    file = client.files.create(file=("in.jsonl", data), purpose="batch")
    return client.batches.create(
        input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", **more
    )


def fetched(client: openai.OpenAI, file: str | None) -> list[dict[str, Any]]:
    assert file is not None
    return [json.loads(each) for each in client.files.content(file).iter_lines() if each]


def test_a_batch_lives_from_its_file_to_its_answers(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=100)
    names = [f"row{number}" for number in range(10)]
    made = start(client, jsonl(*(line(name) for name in names)), metadata={"run": "7"})
    assert (made.status, made.metadata) == ("validating", {"run": "7"})
    seen = []
    for _ in range(4):
        simulator.advance_batches(30)
        batch = client.batches.retrieve(made.id)
        assert batch.request_counts is not None
        seen.append((batch.status, batch.request_counts.completed))
    assert seen == [("in_progress", 2), ("in_progress", 6), ("finalizing", 10), ("completed", 10)]
    times = [batch.created_at, batch.in_progress_at, batch.finalizing_at, batch.completed_at]
    gaps = [(later or 0) - made.created_at for later in times]
    assert gaps == sorted(gaps) and 30 <= gaps[1] < gaps[2] < gaps[3] <= 121
    assert batch.error_file_id is None and batch.model == "any"

    lines = fetched(client, batch.output_file_id)
    assert [each["custom_id"] for each in lines] == names
    for each in lines:
        assert each.keys() == {"id", "custom_id", "response", "error"}
        assert each["response"].keys() == {"status_code", "request_id", "body"}
        found = ChatCompletion.model_validate(each["response"]["body"], strict=True)
        assert _extras(found) == []
        assert found.choices[0].message.content == answer(chat(each["custom_id"])).text
    usages = [each["response"]["body"]["usage"]["total_tokens"] for each in lines]
    assert batch.usage is not None and batch.usage.total_tokens == sum(usages)


def test_each_line_stands_once_in_the_ledger(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    batch = start(client, jsonl(line("a"), line("b", {"model": "any"}), line("c")))
    client.batches.retrieve(batch.id)
    entries = [entry for entry in simulator.ledger() if entry["lane"] == "batch"]
    assert [entry["custom_id"] for entry in entries] == ["a", "b", "c"]
    assert [entry["status"] for entry in entries] == [200, 400, 200]
    assert {entry["batch"] for entry in entries} == {batch.id}
    assert {entry["path"] for entry in entries} == {ENDPOINT}
    post(simulator, chat("a"))
    last = simulator.ledger()[-1]
    assert (last["lane"], last["digest"]) == ("online", entries[0]["digest"])
    summary = simulator.summary()
    assert (summary["answered"], summary["lines"], summary["errands"]) == (3, 3, 3)
    assert (summary["distinct"], summary["repeated"]) == (3, 1)


def test_everything_shown_passes_the_sdks_strict_types(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0, batch_faults="expired:0.5")
    start(client, b"nothing")
    start(client, jsonl(line("a"), line("b")), metadata={"a": "b"})
    for path, kind in (("/v1/batches", Batch), ("/v1/files", FileObject)):
        page = post(simulator, None, path, "GET").json
        assert page.keys() == {"object", "data", "has_more"}
        for each in page["data"]:
            assert _extras(TypeAdapter(kind).validate_python(each, strict=True)) == []
        one = post(simulator, None, f"{path}/{page['data'][0]['id']}", "GET").json
        assert one == page["data"][0]
    statuses = [batch.status for batch in client.batches.list()]
    assert statuses == ["expired", "failed"]


def test_lists_are_paged_newest_first(client: openai.OpenAI) -> None:
    made = [start(client, jsonl(line("a"))).id for _ in range(5)]
    page = client.batches.list(limit=2)
    assert [batch.id for batch in page.data] == made[:2:-1] and page.has_more
    assert [batch.id for batch in page] == made[::-1]
    files = [file.id for file in client.files.list(limit=2, purpose="batch")]
    assert len(files) == 5
    assert [file.id for file in client.files.list(order="asc")] == files[::-1]
    assert list(client.files.list(purpose="vision")) == []
    with pytest.raises(openai.NotFoundError):
        client.batches.list(after="batch_none")
    with pytest.raises(openai.BadRequestError):
        client.batches.list(limit=101)


def test_a_cancelled_batch_keeps_what_was_done(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.set(batch_seconds=100)
    batch = start(client, jsonl(*(line(f"row{number}") for number in range(10))))
    simulator.advance_batches(50)
    assert client.batches.cancel(batch.id).status == "cancelling"
    simulator.advance_batches(5)
    assert client.batches.retrieve(batch.id).status == "cancelling"
    simulator.advance_batches(6)
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "cancelled" and batch.cancelled_at is not None
    done = [each["custom_id"] for each in fetched(client, batch.output_file_id)]
    left = fetched(client, batch.error_file_id)
    assert done == [f"row{number}" for number in range(5)]
    assert {each["error"]["code"] for each in left} == {"batch_cancelled"}
    assert [each["custom_id"] for each in left] == [f"row{number}" for number in range(5, 10)]
    assert simulator.summary()["lines"] == 5
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


def test_a_batch_can_be_cancelled_while_it_is_validated(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=100)
    batch = start(client, b"nothing\n" * 3)
    client.batches.cancel(batch.id)
    simulator.advance_batches()
    assert client.batches.retrieve(batch.id).status == "cancelled"
    assert simulator.summary()["lines"] == 0


def test_a_bad_line_becomes_a_line_of_the_error_file(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    bad = [
        line("none", {"model": "any"}),
        line("wrong", chat(n=0)),
        line("streams", chat(stream=True)),
        line("nameless", {"messages": chat()["messages"]}),
    ]
    batch = start(client, jsonl(line("good"), *bad))
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed" and batch.request_counts is not None
    assert (batch.request_counts.completed, batch.request_counts.failed) == (1, 4)
    assert [each["custom_id"] for each in fetched(client, batch.output_file_id)] == ["good"]
    lines = fetched(client, batch.error_file_id)
    assert [each["custom_id"] for each in lines] == ["none", "wrong", "streams", "nameless"]
    online = post(simulator, {"model": "any"}).json
    assert (lines[0]["error"], lines[0]["response"]["status_code"]) == (None, 400)
    assert lines[0]["response"]["body"] == online


@pytest.mark.parametrize(
    ("data", "code", "number"),
    [
        (b"", "empty_file", None),
        (b"\n\n", "empty_file", None),
        (jsonl(line("a")) + b"{broken\n", "invalid_json_line", 2),
        (jsonl(line("a"), [1]), "invalid_json_line", 2),
        (jsonl(line("a"), line("a")), "duplicate_custom_id", 2),
        (jsonl(line("a", custom_id=...)), "missing_required_parameter", 1),
        (jsonl(line("a", body=...)), "missing_required_parameter", 1),
        (jsonl(line("a", method="GET")), "invalid_method", 1),
        (jsonl(line("a", url="/v1/embeddings")), "invalid_url", 1),
        (jsonl(line("a"), line("b", chat(model="other"))), "mismatched_model", 2),
        (jsonl({}) * 50_001, "too_many_requests", None),
    ],
)
def test_a_bad_file_fails_the_batch_as_a_whole(
    client: openai.OpenAI, simulator: Simulator, data: bytes, code: str, number: int | None
) -> None:
    batch = start(client, data)
    simulator.advance_batches()
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "failed" and batch.failed_at is not None
    assert batch.errors is not None and batch.errors.data is not None
    assert (code, number) in [(error.code, error.line) for error in batch.errors.data]
    assert (batch.output_file_id, batch.error_file_id) == (None, None)
    assert simulator.summary()["lines"] == 0


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"input_file_id": "file-none"}, "input_file_id"),
        ({"input_file_id": None}, "input_file_id"),
        ({"endpoint": "/v1/nothing"}, "endpoint"),
        ({"completion_window": "48h"}, "completion_window"),
        ({"metadata": {str(number): "" for number in range(17)}}, "metadata"),
        ({"metadata": {"a": "b" * 513}}, "metadata"),
        ({"metadata": {"a" * 65: "b"}}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"priority": 1}, "priority"),
        ({"output_expires_after": {"anchor": "created_at", "seconds": 3599}}, None),
        ({"output_expires_after": {"anchor": "now", "seconds": 3600}}, None),
    ],
)
def test_a_wrong_creation_is_refused(
    simulator: Simulator, change: dict[str, Any], param: str | None
) -> None:
    file = upload(simulator, jsonl(line("a"))).json["id"]
    body = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
    response = post(simulator, body | change, "/v1/batches")
    assert response.status == 400
    assert param is None or response.error["param"] == param
    assert simulator.batches() == []


def test_files_have_purposes_and_come_to_an_end(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    other = client.files.create(file=("a.txt", b"abc"), purpose="user_data")
    with pytest.raises(openai.BadRequestError, match="purpose"):
        client.batches.create(input_file_id=other.id, endpoint=ENDPOINT, completion_window="24h")
    assert client.files.content(other.id).content == b"abc"
    expiry: Any = {"anchor": "created_at", "seconds": 3600}
    short = client.files.create(file=("a.jsonl", b"{}"), purpose="batch", expires_after=expiry)
    assert short.expires_at == short.created_at + 3600
    simulator.advance_batches(3601)
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(short.id)
    deleted = client.files.delete(other.id)
    assert deleted == FileDeleted(id=other.id, deleted=True, object="file")
    with pytest.raises(openai.NotFoundError):
        client.files.content(other.id)


@pytest.mark.parametrize(
    ("purpose", "name", "said"),
    [("", "a.jsonl", "purpose"), ("poetry", "a.jsonl", "purpose"), ("batch", "a.txt", ".jsonl")],
)
def test_a_wrong_upload_is_refused(
    simulator: Simulator, purpose: str, name: str, said: str
) -> None:
    response = upload(simulator, b"{}", purpose, name)
    assert response.status == 400 and said in response.error["message"]
    assert post(simulator, b"{}", "/v1/files").status == 400


def test_a_file_that_is_too_large_is_refused() -> None:
    data = memoryview(bytes(LARGEST_BATCH + 1))
    fields = {"purpose": Part(None, memoryview(b"batch")), "file": Part("a.jsonl", data)}
    with pytest.raises(Problem, match="200 MB") as caught:
        checked_upload(fields)
    assert caught.value.status == 413


def test_a_form_is_read_to_the_byte() -> None:
    content = b"\n--X\r\n\r\n\x00 --X\r\n"
    body = (
        b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X\r\n'
        b'Content-Disposition: form-data; name="f"; filename="n.jsonl"\r\n'
        b"Content-Type: application/jsonl\r\n\r\n" + content + b"\r\n--X--\r\n"
    )
    fields = form('multipart/form-data; boundary="X"', body)
    assert fields is not None and fields["a"].text == "1"
    assert (fields["f"].filename, bytes(fields["f"].data)) == ("n.jsonl", content)
    assert form("application/json", b"{}") is None


def test_a_deleted_input_does_not_stop_its_batch(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    batch = start(client, jsonl(line("a")))
    client.files.delete(batch.input_file_id)
    simulator.advance_batches()
    assert client.batches.retrieve(batch.id).status == "completed"


def test_a_key_is_wanted_everywhere(client: openai.OpenAI, simulator: Simulator) -> None:
    batch = start(client, jsonl(line("a")))
    simulator.set(key="sk-other")
    for call in (
        lambda: client.files.list(),
        lambda: client.batches.list(),
        lambda: client.batches.retrieve(batch.id),
        lambda: client.files.content(batch.input_file_id),
        lambda: client.batches.cancel(batch.id),
    ):
        with pytest.raises(openai.AuthenticationError):
            call()


def test_what_is_not_there_is_not_found(client: openai.OpenAI, simulator: Simulator) -> None:
    for call in (client.batches.retrieve, client.batches.cancel, client.files.content):
        with pytest.raises(openai.NotFoundError):
            call("none")
    assert post(simulator, None, "/v1/batches", "DELETE").status == 405
    assert post(simulator, None, "/v1/files/a", "PUT").status == 405
