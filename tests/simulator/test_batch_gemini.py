"""Google's own SDK lives through whole batches unchanged, and finds nothing it does not know."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from penstock.simulator import Simulator, answer
from tests.simulator.batch_clients import GOOGLE
from tests.simulator.raw import chat, post

STATES = types.JobState
MIME = "application/jsonl"


@pytest.fixture
def client(simulator: Simulator) -> Iterator[genai.Client]:
    made = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=simulator.root))
    yield made
    made.close()


def inlined(*names: str) -> list[Any]:
    return [{"contents": name, "metadata": {"key": name}} for name in names]


def start(client: genai.Client, *names: str, title: str = "mine") -> types.BatchJob:
    config: Any = {"display_name": title}
    return client.batches.create(model="any", src=inlined(*names), config=config)


def named(job: types.BatchJob) -> str:
    assert job.name is not None
    return job.name


def get(client: genai.Client, job: types.BatchJob) -> types.BatchJob:
    return client.batches.get(name=named(job))


def answers(job: types.BatchJob) -> list[types.InlinedResponse]:
    assert job.dest is not None and job.dest.inlined_responses is not None
    return job.dest.inlined_responses


def send(client: genai.Client, data: bytes, **config: Any) -> types.File:
    given: Any = {"mime_type": MIME, **config}
    return client.files.upload(file=io.BytesIO(data), config=given)


def jsonl(*names: str) -> bytes:
    lines = [
        {"key": name, "request": {"contents": [{"parts": [{"text": name}]}]}} for name in names
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_an_inlined_batch_lives_from_its_requests_to_its_answers(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=100)
    names = [f"row{number}" for number in range(10)]
    job = start(client, *names)
    assert (job.state, job.display_name) == (STATES.JOB_STATE_PENDING, "mine")
    assert job.model == "models/any"
    simulator.advance_batches(50)
    job = get(client, job)
    assert (job.state, job.dest, job.done) == (STATES.JOB_STATE_RUNNING, None, False)
    raw = post(simulator, None, f"/v1/{job.name}", "GET", GOOGLE).json
    assert raw["metadata"]["batchStats"] == {
        "requestCount": "10",
        "successfulRequestCount": "5",
        "pendingRequestCount": "5",
    }
    assert "done" not in raw
    simulator.advance_batches(51)
    job = get(client, job)
    assert (job.state, job.done) == (STATES.JOB_STATE_SUCCEEDED, True)
    found = answers(job)
    assert [each.metadata for each in found] == [{"key": name} for name in names]
    for each, name in zip(found, names, strict=True):
        assert each.response is not None and each.response.text == answer(chat(name)).text
    raw = post(simulator, None, f"/v1/{job.name}", "GET", GOOGLE).json
    assert raw["done"] is True
    assert raw["response"]["inlinedResponses"] == raw["metadata"]["output"]["inlinedResponses"]
    assert raw["metadata"]["batchStats"] == {"requestCount": "10", "successfulRequestCount": "10"}


def test_a_batch_from_a_file_answers_into_a_file(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    file = send(client, jsonl("a", "b"), display_name="in")
    assert (file.state, file.source) == (types.FileState.ACTIVE, types.FileSource.UPLOADED)
    assert (file.size_bytes, file.display_name) == (len(jsonl("a", "b")), "in")
    assert client.files.get(name=file.name or "") == file
    job = get(client, client.batches.create(model="any", src=file.name or ""))
    assert job.state is STATES.JOB_STATE_SUCCEEDED
    assert job.dest is not None and job.dest.file_name is not None
    made = client.files.get(name=job.dest.file_name)
    assert made.source is types.FileSource.GENERATED and made.download_uri is not None
    lines = [json.loads(each) for each in client.files.download(file=made).splitlines()]
    assert [line["key"] for line in lines] == ["a", "b"]
    for line in lines:
        whole = types.GenerateContentResponse.model_validate(line["response"])
        assert whole.text == answer(chat(line["key"])).text
    listed = [each.name for each in client.files.list()]
    assert listed == [job.dest.file_name, file.name]
    client.files.delete(name=file.name or "")
    with pytest.raises(errors.ClientError) as caught:
        client.files.get(name=file.name or "")
    assert caught.value.code == 403


def test_each_line_stands_once_in_the_ledger(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    job = get(client, start(client, "a", "b"))
    lines = [entry for entry in simulator.ledger() if entry["lane"] == "batch"]
    assert [(entry["batch"], entry["custom_id"]) for entry in lines] == [
        (job.name, "a"),
        (job.name, "b"),
    ]
    assert {entry["path"] for entry in lines} == {"/v1/models/any:generateContent"}
    client.models.generate_content(model="any", contents="a")
    assert simulator.ledger()[-1]["digest"] == lines[0]["digest"]


def test_a_configuration_reaches_its_line(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    config = {"system_instruction": "Be kind", "max_output_tokens": 3, "temperature": 0.5}
    src: Any = [{"contents": "Tell me about canals", "config": config}]
    [one] = answers(get(client, client.batches.create(model="any", src=src)))
    assert one.response is not None and one.response.candidates is not None
    assert one.response.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_are_served(version: str, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    options = types.HttpOptions(base_url=simulator.root, api_version=version)
    client = genai.Client(api_key="any", http_options=options)
    assert get(client, start(client, "a")).done
    file = send(client, jsonl("a"))
    assert get(client, client.batches.create(model="any", src=file.name or "")).done
    client.close()
    lines = [entry for entry in simulator.ledger() if entry["lane"] == "batch"]
    assert {entry["path"] for entry in lines} == {f"/{version}/models/any:generateContent"}


def test_lists_are_paged_newest_first(client: genai.Client, simulator: Simulator) -> None:
    made = [start(client, "a", title=str(number)).name for number in range(4)]
    pager = client.batches.list(config={"page_size": 2})
    assert [job.name for job in pager.page] == made[:1:-1]
    assert [job.name for job in pager] == made[::-1]
    assert [job.display_name for job in client.batches.list()] == ["3", "2", "1", "0"]
    for number in range(4):
        send(client, b"{}", display_name=str(number))
    names = [file.display_name for file in client.files.list(config={"page_size": 3})]
    assert names == ["3", "2", "1", "0"]
    with pytest.raises(errors.ClientError):
        client.batches.list(config={"page_token": "none"})


def test_a_cancelled_batch_has_no_results(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=100)
    job = start(client, *"abcd")
    simulator.advance_batches(50)
    client.batches.cancel(name=named(job))
    assert get(client, job).state is STATES.JOB_STATE_RUNNING
    simulator.advance_batches()
    job = get(client, job)
    assert (job.state, job.dest) == (STATES.JOB_STATE_CANCELLED, None)
    assert simulator.summary()["lines"] == 2
    with pytest.raises(errors.ClientError):
        client.batches.cancel(name=named(job))


def test_a_deleted_batch_is_not_found(client: genai.Client) -> None:
    job = start(client, "a")
    client.batches.delete(name=named(job))
    for call in (client.batches.get, client.batches.cancel, client.batches.delete):
        with pytest.raises(errors.ClientError) as caught:
            call(name=named(job))
        assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")


def test_bad_lines_become_errors(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)
    src: Any = [*inlined("good"), {"contents": "x", "model": "other"}]
    job = get(client, client.batches.create(model="any", src=src))
    good, bad = answers(job)
    assert good.error is None and good.response is not None
    assert bad.response is None and bad.error is not None
    assert bad.error.code == 3 and "other" in (bad.error.message or "")

    data = jsonl("a") + b'{"key": "b", "request": {"contents": [], "x": 1}}\nbroken\n'
    file = send(client, data)
    job = get(client, client.batches.create(model="any", src=file.name or ""))
    assert job.dest is not None
    lines = client.files.download(file=job.dest.file_name or "").splitlines()
    told = [json.loads(line) for line in lines]
    assert [(line["key"], "error" in line) for line in told] == [
        ("a", False),
        ("b", True),
        ("", True),
    ]
    assert "Unknown name" in told[1]["error"]["message"]


def test_an_empty_file_fails_the_batch(client: genai.Client, simulator: Simulator) -> None:
    job = client.batches.create(model="any", src=send(client, b"\n").name or "")
    simulator.advance_batches()
    job = get(client, job)
    assert (job.state, job.dest) == (STATES.JOB_STATE_FAILED, None)
    raw = post(simulator, None, f"/v1/{job.name}", "GET", GOOGLE).json
    assert raw["error"]["code"] == 3


@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({}, 400),
        ({"fileName": "files/none"}, 403),
        ({"fileName": "files/none", "requests": {"requests": []}}, 400),
        ({"requests": {"requests": []}}, 400),
        ({"requests": {"requests": [{"question": {}}]}}, 400),
        ({"inputs": {}}, 400),
    ],
)
def test_a_wrong_creation_is_refused(simulator: Simulator, config: Any, status: int) -> None:
    path = "/v1/models/any:batchGenerateContent"
    response = post(simulator, {"batch": {"inputConfig": config}}, path, headers=GOOGLE)
    assert response.status == response.error["code"] == status
    assert simulator.batches() == []


def test_both_spellings_are_taken(simulator: Simulator) -> None:
    request = {"request": {"contents": [{"parts": [{"text": "a"}]}]}}
    source = {"requests": {"requests": [request]}}
    body = {"batch": {"display_name": "d", "input_config": source}}
    response = post(simulator, body, "/v1beta/models/any:batchGenerateContent", headers=GOOGLE)
    assert response.json["metadata"]["displayName"] == "d"


def test_what_is_inlined_has_a_limit(simulator: Simulator) -> None:
    text = "a" * (20 * 1024 * 1024)
    request = {"request": {"contents": [{"parts": [{"text": text}]}]}}
    body = {"batch": {"inputConfig": {"requests": {"requests": [request]}}}}
    response = post(simulator, body, "/v1/models/any:batchGenerateContent", headers=GOOGLE)
    assert response.status == 400 and "payload size" in response.error["message"]


def test_a_large_file_comes_in_several_pieces(client: genai.Client, simulator: Simulator) -> None:
    data = jsonl(*(f"{number}{'x' * 1000}" for number in range(4500)))
    assert len(data) > 8 * 1024 * 1024
    file = send(client, data)
    assert file.size_bytes == len(data)
    uploads = [entry for entry in simulator.ledger() if entry["path"] == "/upload/v1/files"]
    assert len(uploads) == 3
    with pytest.raises(errors.ClientError) as caught:
        client.files.download(file=file.name or "")
    assert caught.value.code == 400


def test_an_upload_goes_on_where_it_was_broken_off(simulator: Simulator) -> None:
    begin = {
        **GOOGLE,
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": "6",
        "x-goog-upload-header-content-type": MIME,
    }
    started = post(simulator, {"file": {"name": "files/my-own"}}, "/upload/v1/files", headers=begin)
    path = started.headers["x-goog-upload-url"].removeprefix("http://test")

    def put(data: bytes, command: str, offset: int) -> Any:
        headers = {"x-goog-upload-command": command, "x-goog-upload-offset": str(offset)}
        return post(simulator, data, path, headers=headers | {"authorization": ""})

    assert put(b"abc", "upload", 0).headers["x-goog-upload-status"] == "active"
    assert put(b"abc", "upload", 0).status == 400
    assert put(b"", "query", 0).headers["x-goog-upload-size-received"] == "3"
    assert put(b"de", "upload, finalize", 3).status == 400
    last = put(b"f", "upload, finalize", 5)
    assert last.headers["x-goog-upload-status"] == "final"
    assert last.json["file"]["name"] == "files/my-own"
    assert put(b"", "query", 6).status == 404
    again = post(simulator, {"file": {"name": "files/my-own"}}, "/upload/v1/files", headers=begin)
    assert again.status == 409


def test_a_key_is_wanted(client: genai.Client, simulator: Simulator) -> None:
    job = start(client, "a")
    simulator.set(key="other")
    for call in (
        lambda: get(client, job),
        lambda: start(client, "a"),
        lambda: send(client, b"{}"),
        lambda: client.files.list(),
    ):
        with pytest.raises((errors.ClientError, KeyError)):
            call()
    assert {entry["status"] for entry in simulator.ledger()[-4:]} == {400}


def test_gemini_and_openai_do_not_see_each_other(
    client: genai.Client, simulator: Simulator
) -> None:
    job, file = start(client, "a"), send(client, b"{}")
    assert post(simulator, None, "/v1/batches", "GET").json["data"] == []
    assert post(simulator, None, "/v1/files", "GET").json["data"] == []
    assert post(simulator, None, f"/v1/{job.name}", "GET").status == 404
    assert post(simulator, None, f"/v1/{file.name}", "GET").status == 404
