"""Every bad day of a batch does what it says, on all three APIs; and batches keep to their size."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InputError
from penstock.simulator import Simulator, answer
from penstock.simulator.batch_faults import BATCH_KINDS, BatchFaults
from penstock.simulator.spool import IN_MEMORY, PIECE, Lines, Spool
from tests.simulator.batch_clients import (
    CLIENTS,
    GOOGLE,
    VERSION,
    AnthropicClient,
    Client,
    GeminiClient,
    OpenAIClient,
)
from tests.simulator.raw import chat, connect, post, request_bytes

NAMES = [f"row{number}" for number in range(40)]
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}


@pytest.fixture(params=CLIENTS, ids=lambda kind: str(kind.__name__).removesuffix("Client"))
def client(request: pytest.FixtureRequest, simulator: Simulator) -> Client:
    simulator.set(batch_seconds=0)
    kind: type[Client] = request.param
    return kind(simulator)


def lines_of(simulator: Simulator) -> Counter[str]:
    return Counter(entry["custom_id"] for entry in simulator.ledger() if entry["lane"] == "batch")


# Without faults -------------------------------------------------------------------------------


def test_all_three_give_the_brains_answers_each_once(client: Client, simulator: Simulator) -> None:
    name = client.make(NAMES)
    results = client.results(name)
    assert [line.id for line in results] == NAMES
    assert {line.text for line in results} == {
        answer(chat(f"Tell me about {each}")).text for each in NAMES
    }
    assert lines_of(simulator) == Counter(NAMES)


def test_an_id_may_ask_for_another_draw(client: Client, simulator: Simulator) -> None:
    name = client.make(["a", "a-sample-1", "a-sample-2"])
    [first, second, third] = [line.text for line in client.results(name)]
    samples = [entry["sample"] for entry in simulator.ledger() if entry["lane"] == "batch"]
    assert samples == [0, 1, 2]
    assert first == answer(chat("Tell me about a")).text
    assert second == answer(chat("Tell me about a-sample-1"), sample=1).text
    assert len({first, second, third}) == 3


def test_batches_advance_by_the_real_clock_too(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=0.2)
    begun = time.monotonic()
    name = client.make(["a"])
    assert client.results_open(name)
    while client.results_open(name):
        assert time.monotonic() - begun < 5
        time.sleep(0.01)
    assert time.monotonic() - begun >= 0.2


def test_a_reset_forgets_batches_and_their_work(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=100)
    name = client.make(NAMES)
    simulator.advance_batches(50)
    assert simulator.summary()["lines"] == 20
    simulator.reset()
    simulator.advance_batches()
    assert client.look(name).status == 404
    assert client.listing() == []
    assert simulator.batches() == []
    assert simulator.summary()["lines"] == 0


def test_the_simulator_tells_of_all_batches(simulator: Simulator) -> None:
    simulator.set(batch_seconds=100)
    made = [kind(simulator).make(NAMES) for kind in CLIENTS]
    simulator.advance_batches(50)
    seen = simulator.batches()
    assert [each["id"] for each in seen] == made[::-1]
    assert {(each["state"], each["lines"], each["asked"]) for each in seen} == {("working", 40, 20)}
    assert [each["api"] for each in seen] == ["gemini", "anthropic", "openai"]
    simulator.advance_batches()
    assert {each["state"] for each in simulator.batches()} == {"completed"}


def test_time_goes_only_forward(simulator: Simulator) -> None:
    for wrong in (-1, "soon", True):
        with pytest.raises(InputError, match="seconds"):
            simulator.advance_batches(wrong)  # type: ignore[arg-type]
    assert post(simulator, b"[", "/advance").status == 400


# Faults of whole batches ----------------------------------------------------------------------


def test_a_batch_that_expires_keeps_what_was_done_except_geminis(
    client: Client, simulator: Simulator
) -> None:
    simulator.set(batch_faults="expired:0.25")
    name = client.make(NAMES)
    kinds = Counter(line.kind for line in client.results(name))
    if isinstance(client, GeminiClient):
        assert client.state(name) == "EXPIRED"
        assert not kinds
    else:
        assert client.state(name) in ("expired", "ended")
        assert kinds == {"done": 30, "expired": 10}
        assert [line.id for line in client.results(name)] == NAMES
    assert sum(lines_of(simulator).values()) == 30


def test_a_batch_can_fail_as_a_whole(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_faults="failed:1")
    response = client.create(NAMES)
    if isinstance(client, AnthropicClient):
        assert response.status == 400
        assert client.listing() == []
    else:
        name = response.json.get("id") or response.json["name"]
        assert client.state(name).lower() == "failed"
        assert client.results(name) == []
    assert simulator.summary()["lines"] == 0


def test_only_a_share_of_batches_fails(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_faults="failed:0.5", seed=4)
    for _ in range(40):
        client.create(["a"])
    simulator.advance_batches()
    assert 10 < simulator.summary()["lines"] < 30


def test_results_can_be_shuffled(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_faults="shuffled:1")
    orders = [[line.id for line in client.results(client.make(NAMES))] for _ in range(2)]
    assert sorted(orders[0]) == sorted(NAMES)
    assert orders[0] != orders[1] and NAMES not in orders
    assert lines_of(simulator) == Counter(NAMES * 2)


# Faults of lines ------------------------------------------------------------------------------


def test_a_share_of_lines_can_fail_and_another_batch_has_other_luck(
    client: Client, simulator: Simulator
) -> None:
    simulator.set(batch_faults="error:0.3", seed=2)
    failed = []
    for _ in range(2):
        results = client.results(client.make(NAMES))
        assert sorted(line.id for line in results) == sorted(NAMES)
        failed.append({line.id for line in results if line.kind == "error"})
    assert 3 < len(failed[0]) < 25 and failed[0] != failed[1]
    assert simulator.summary()["by_status"]["500"] == len(failed[0]) + len(failed[1])
    assert simulator.summary()["answered"] == 80 - len(failed[0]) - len(failed[1])


def test_lines_can_be_missing_though_they_were_answered(
    client: Client, simulator: Simulator
) -> None:
    simulator.set(batch_faults="missing:0.3", seed=2)
    found = {line.id for line in client.results(client.make(NAMES))}
    assert 15 < len(found) < 37
    assert lines_of(simulator) == Counter(NAMES)
    assert simulator.summary()["by_fault"]["missing"] == 40 - len(found)
    assert simulator.summary()["answered"] == len(found)


def test_lines_can_come_twice(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_faults="duplicate:0.3", seed=2)
    found = Counter(line.id for line in client.results(client.make(NAMES)))
    assert found.keys() == set(NAMES)
    assert 3 < sum(count == 2 for count in found.values()) < 25
    assert lines_of(simulator) == Counter(NAMES)
    assert simulator.summary()["answered"] == 40


def test_lines_can_come_that_nobody_asked_for(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_faults="unknown:0.3", seed=2)
    found = {line.id for line in client.results(client.make(NAMES))}
    assert found > set(NAMES)
    assert 3 < len(found - set(NAMES)) < 25
    assert lines_of(simulator) == Counter(NAMES)


def test_lines_can_break_their_schema(client: Client, simulator: Simulator) -> None:
    more: dict[str, Any] = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    if isinstance(client, OpenAIClient):
        wanted = {"name": "p", "schema": SCHEMA, "strict": True}
        more = {"response_format": {"type": "json_schema", "json_schema": wanted}}
    elif isinstance(client, GeminiClient):
        config = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
        more = {"generationConfig": config}
    right = client.results(client.make(NAMES, **more))
    assert all(_fits(line.text) for line in right)
    simulator.set(batch_faults="wrong_schema:1")
    wrong = client.results(client.make(NAMES, **more))
    assert len(wrong) == 40 and not any(_fits(line.text) for line in wrong)


def _fits(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.keys() == {"age"} and type(value["age"]) is int


# Faults on the wire ---------------------------------------------------------------------------


def test_a_share_of_polls_fails(client: Client, simulator: Simulator) -> None:
    name = client.make(["a"])
    simulator.set(batch_faults="poll:0.5", seed=3)
    statuses = [client.look(name).status for _ in range(30)]
    assert set(statuses) == {200, 500}
    assert simulator.summary()["by_fault"] == {"poll": statuses.count(500)}
    simulator.set(batch_faults="poll:1")
    with pytest.raises(KeyError):
        client.listing()
    client.make(["b"])


def test_a_creation_whose_answer_is_lost_has_made_a_batch(
    client: Client, simulator: Simulator
) -> None:
    simulator.set(batch_faults="lost:1")
    with pytest.raises(EOFError):
        client.create(NAMES)
    simulator.set(batch_faults="")
    [name] = client.listing()
    assert {line.id for line in client.results(name)} == set(NAMES)
    lost = [entry for entry in simulator.ledger() if entry["fault"] == "lost"]
    assert [(entry["status"], entry["complete"]) for entry in lost] == [(0, False)]


def test_the_first_download_is_cut_and_the_next_is_whole(
    client: Client, simulator: Simulator
) -> None:
    simulator.set(batch_faults="cut:1")
    name = client.make(NAMES)
    simulator.advance_batches()
    with pytest.raises(EOFError):
        client.results(name)
    assert [line.id for line in client.results(name)] == NAMES
    cut = [entry for entry in simulator.ledger() if entry["fault"] == "cut"]
    assert [(entry["status"], entry["complete"]) for entry in cut] == [(200, False)]


def test_geminis_file_is_cut_too_half_way(simulator: Simulator) -> None:
    simulator.set(batch_seconds=0, batch_faults="cut:1")
    begin = {
        **GOOGLE,
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
    }
    data = b'{"key": "a", "request": {"contents": [{"parts": [{"text": "a"}]}]}}\n' * 3
    begin["x-goog-upload-header-content-length"] = str(len(data))
    url = post(simulator, {}, "/upload/v1/files", headers=begin).headers["x-goog-upload-url"]
    last = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
    file = post(simulator, data, url.removeprefix("http://test"), headers=last).json["file"]["name"]
    body = {"batch": {"inputConfig": {"fileName": file}}}
    path = "/v1/models/any:batchGenerateContent"
    name = post(simulator, body, path, headers=GOOGLE).json["name"]
    output = post(simulator, None, f"/v1/{name}", "GET", GOOGLE).json["metadata"]["output"]
    path = f"/v1/{output['responsesFile']}:download?alt=media"
    with pytest.raises(EOFError):
        post(simulator, None, path, "GET", GOOGLE)
    assert post(simulator, None, path, "GET", GOOGLE).body.count(b"\n") == 3


def test_faults_and_outages_of_the_server_meet_batches_too(
    client: Client, simulator: Simulator
) -> None:
    name = client.make(["a"])
    simulator.set(errors="503:1")
    assert client.look(name).status == 503
    simulator.set(errors="reset:1")
    with pytest.raises(ConnectionError):
        client.look(name)
    simulator.set(errors="malformed:1")
    with pytest.raises((json.JSONDecodeError, EOFError)):
        json.loads(client.look(name).body)
    simulator.set(errors="empty_choices:1")
    assert client.look(name).status == 200
    assert "empty_choices" not in simulator.summary()["by_fault"]
    simulator.set(errors="", outages="0-1000")
    assert client.look(name).status == 503
    simulator.set(outages="", quota=1)
    assert client.look(name).status == 200
    assert post(simulator, chat()).status == 429


# Limits ---------------------------------------------------------------------------------------


def test_too_many_enqueued_tokens_are_refused_until_a_batch_has_ended(
    client: Client, simulator: Simulator
) -> None:
    room = 1500 if isinstance(client, GeminiClient) else 2000  # for one batch, not for two
    simulator.set(batch_seconds=100, batch_tokens=room)
    first, second = client.make(NAMES), client.create(NAMES)
    if isinstance(client, OpenAIClient):
        simulator.advance_batches(15)
        failed = client.look(second.json["id"]).json
        assert failed["status"] == "failed"
        assert [error["code"] for error in failed["errors"]["data"]] == ["token_limit_exceeded"]
        assert client.state(first) == "in_progress"
    else:
        assert second.status == 429
        assert client.listing() == [first]
    if isinstance(client, GeminiClient):
        kinds = [detail["@type"].rpartition(".")[2] for detail in second.error["details"]]
        assert kinds == ["QuotaFailure", "RetryInfo"]
    simulator.advance_batches()
    again = client.make(NAMES)
    simulator.advance_batches()
    assert len(client.results(again)) == 40


def test_only_so_many_batches_may_be_open(client: Client, simulator: Simulator) -> None:
    simulator.set(batch_seconds=100, max_batches=2)
    for _ in range(2):
        client.make(["a"])
    refused = client.create(["a"])
    assert refused.status == 429
    assert ("retry-after" in refused.headers) is not isinstance(client, GeminiClient)
    simulator.advance_batches()
    client.make(["a"])
    assert len(client.listing()) == 3
    simulator.set(batch_seconds=0, max_batches=1)
    simulator.advance_batches()
    for _ in range(3):
        name = client.make(["a"])
        assert not client.results_open(name)


# Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["none:0.1", "error", "error:x", "error:2", "error:-1"])
def test_faults_that_cannot_be_are_refused(simulator: Simulator, text: str) -> None:
    with pytest.raises(InputError, match="batch_faults"):
        simulator.set(batch_faults=text)


def test_numbers_that_cannot_be_are_refused(simulator: Simulator) -> None:
    for wrong in ({"batch_seconds": -1}, {"batch_tokens": 0}, {"max_batches": 0}):
        with pytest.raises(InputError):
            simulator.set(**wrong)


def test_shares_are_kept_and_kinds_do_not_hang_together() -> None:
    faults = BatchFaults.read(",".join(f"{kind}:0.25" for kind in BATCH_KINDS), 9)
    struck = {
        kind: {number for number in range(4000) if faults.strikes(kind, 1, number)}
        for kind in BATCH_KINDS
    }
    assert all(850 < len(numbers) < 1150 for numbers in struck.values())
    assert len(struck["error"] & struck["missing"]) < 400


# Size -----------------------------------------------------------------------------------------


def test_lines_are_found_in_any_spool() -> None:
    texts = [b"a", b"b" * (2 * PIECE + 7), b"", b"c" * IN_MEMORY, b"  ", b"d\r", b"e"]
    spool = Spool()
    spool.append(b"\n".join(texts))
    lines = Lines(spool)
    wanted = [text.strip() for text in texts if text.strip()]
    assert list(lines.scan()) == wanted
    assert [lines[index] for index in range(len(lines))] == wanted
    spool.append(b"more")
    assert b"".join(spool.pieces()) == b"\n".join(texts) + b"more"
    assert b"".join(spool.pieces(5)) == b"\n".join(texts)[:5]


def test_twenty_thousand_lines_stay_on_disk_and_polls_are_answered_meanwhile() -> None:
    names = [str(number) for number in range(20_000)]
    with Simulator(batch_seconds=0, fixed=True) as simulator:
        client = AnthropicClient(simulator)
        client.results(client.make(names[:100]))
        name = client.make(names)
        before = _memory(simulator.pid)
        slowest, polls = 0.0, 0
        while client.results_open(name):
            start = time.monotonic()
            assert post(simulator, chat()).status == 200
            slowest, polls = max(slowest, time.monotonic() - start), polls + 1
        size = int(
            post(simulator, None, f"{client.PATH}/{name}/results", "GET", VERSION).headers[
                "content-length"
            ]
        )
        assert size > 15_000_000
        # A third of the answers' size: the ledger's columns and marks, and none of the answers.
        assert _memory(simulator.pid) - before < 6_000_000
        assert polls > 2 and slowest < 1
        assert simulator.summary()["lines"] == 20_100


def _memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError


def test_results_go_no_faster_than_they_are_read() -> None:
    with Simulator(batch_seconds=0, fixed=True) as simulator:
        client = AnthropicClient(simulator)
        name = client.make([str(number) for number in range(16_000)])
        simulator.advance_batches()
        before = _memory(simulator.pid)
        with connect(simulator) as connection:
            path = f"{client.PATH}/{name}/results"
            connection.sendall(request_bytes(path, None, "GET", VERSION))
            first = connection.recv(1000)
            assert first.startswith(b"HTTP/1.1 200")
            time.sleep(0.1)
            assert simulator.summary()["in_flight"] == 1
            assert _memory(simulator.pid) - before < 3_000_000
        deadline = time.monotonic() + 5
        while simulator.summary()["in_flight"] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert simulator.ledger(since=16_000)[-1]["complete"] is False
