"""The whole life of a batch, through each provider's lane, at the simulated server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.providers.batch_servers import a_transport, lane_of, opened

from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.anthropic import Anthropic
from penstock.providers.batch import Batches, RemoteBatch, RemoteState, Result, Trouble
from penstock.providers.gemini import Gemini
from penstock.providers.openai import OpenAI
from penstock.providers.provider import HttpProvider
from penstock.providers.transport import Transport
from penstock.request import Request
from penstock.simulator import Simulator

KEY = "key-live-0123456789abcdef"
TAG = "run-7-part-2"
NAMES: dict[str, type[HttpProvider]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "gemini": Gemini,
}
COUNT = 12
LONG = 3600.0


@pytest.fixture(scope="module")
def server() -> Iterator[Simulator]:
    with Simulator(port=0, key=KEY) as simulator:
        yield simulator


@pytest.fixture
def simulator(server: Simulator) -> Simulator:
    server.set(batch_seconds=LONG, batch_faults="", max_batches=None, batch_tokens=None, seed=0)
    server.reset()
    return server


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    async with a_transport(timeout=20) as transport:
        yield transport


@pytest.fixture(params=NAMES)
def lane(request: pytest.FixtureRequest, simulator: Simulator, transport: Transport) -> Batches:
    url = simulator.url if request.param == "openai" else simulator.root
    kind = NAMES[request.param]
    return lane_of(opened(kind, request.param, url, KEY, transport, model="simulated"))


def name_of(lane: Batches) -> str:
    return lane.provider.endpoint.provider


def ids(count: int = COUNT, start: int = 0) -> list[str]:
    return [f"{number:034x}" for number in range(start, start + count)]


def questions(lane: Batches, count: int = COUNT, **params: Any) -> list[Request]:
    endpoint = lane.provider.endpoint
    return [Request.of(endpoint, f"Tell me about {n}.", **params) for n in range(count)]


def written(lane: Batches, file: Path, requests: list[Request]) -> Path:
    pieces = map(lane.item, ids(len(requests)), requests)
    file.write_bytes(lane.separator.join(pieces))
    return file


async def submitted(lane: Batches, tmp_path: Path, count: int = COUNT) -> RemoteBatch:
    batch = await lane.submit(written(lane, tmp_path / "in", questions(lane, count)), TAG)
    assert isinstance(batch, RemoteBatch), batch
    return batch


async def ended(lane: Batches, simulator: Simulator, id_: str) -> RemoteBatch:
    await asyncio.to_thread(simulator.advance_batches)
    batch = await lane.look(id_)
    assert isinstance(batch, RemoteBatch), batch
    return batch


async def results(lane: Batches, batch: RemoteBatch, tmp_path: Path) -> list[Result]:
    assert await lane.fetch(batch, tmp_path / "out") is None
    lines = (tmp_path / "out").read_bytes().splitlines()
    read = [lane.read(line) for line in lines]
    found = [result for result in read if result is not None]
    assert len(found) == len(lines)
    return found


def outcomes(found: list[Result]) -> dict[str, Answer | Failure]:
    return {result.id: result.sent.outcome for result in found}


async def test_a_batch_is_answered_as_the_questions_alone_would_be(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    batch = await submitted(lane, tmp_path)
    assert batch.state is RemoteState.RUNNING
    looked = await lane.look(batch.id)
    assert isinstance(looked, RemoteBatch)
    assert (looked.state, looked.results) == (RemoteState.RUNNING, ())
    batch = await ended(lane, simulator, batch.id)
    assert batch.state is RemoteState.ENDED
    assert (batch.total, batch.done, batch.failed, batch.why) == (COUNT, COUNT, 0, "")
    found = outcomes(await results(lane, batch, tmp_path))
    assert list(found) == ids()
    for number, request in enumerate(questions(lane)):
        alone = (await lane.provider.send(request)).outcome
        answer = found[ids()[number]]
        assert isinstance(alone, Answer)
        assert isinstance(answer, Answer)
        assert (answer.text, answer.usage, answer.finish) == (alone.text, alone.usage, alone.finish)


async def test_sampling_parameters_may_stand_beside_questions_without(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    asked = [*questions(lane, 2), *questions(lane, 2, temperature=0.5, top_p=0.9)]
    batch = await lane.submit(written(lane, tmp_path / "in", asked), TAG)
    assert isinstance(batch, RemoteBatch)
    found = await results(lane, await ended(lane, simulator, batch.id), tmp_path)
    assert [type(outcome) for outcome in outcomes(found).values()] == [Answer] * 4


async def test_a_batch_whose_making_was_not_heard_of_is_found(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    others = [await submitted(lane, tmp_path, count) for count in (3, COUNT)]
    known = frozenset(other.id for other in others)
    tag = f"{TAG}-other"
    assert await lane.find(tag, COUNT, known) is None
    simulator.set(batch_faults="lost:1")
    trouble = await lane.submit(written(lane, tmp_path / "in", questions(lane)), tag)
    assert isinstance(trouble, Trouble)
    assert (trouble.kind, trouble.unknown) == (FailureKind.CONNECTION, True)
    simulator.set(batch_faults="")
    found = await lane.find(tag, COUNT, known)
    assert isinstance(found, RemoteBatch)
    assert found.id not in known
    assert found.certain is (name_of(lane) != "anthropic")
    batch = await ended(lane, simulator, found.id)
    assert set(outcomes(await results(lane, batch, tmp_path))) == set(ids())
    assert len(simulator.batches()) == 3


async def test_what_a_batch_left_undone_when_it_expired_can_be_asked_again(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="expired:0.5")
    batch = await ended(lane, simulator, (await submitted(lane, tmp_path)).id)
    assert batch.state is RemoteState.ENDED
    assert "expired" in batch.why
    found = outcomes(await results(lane, batch, tmp_path))
    if name_of(lane) == "gemini":
        assert found == {}
        return
    assert set(found) == set(ids())
    undone = [outcome for outcome in found.values() if isinstance(outcome, Failure)]
    assert len(undone) == COUNT // 2
    for failure in undone:
        assert (failure.kind, failure.may_be_paid) == (FailureKind.OVERLOADED, False)


async def test_a_batch_that_was_cancelled_ends_with_what_was_done(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    batch = await submitted(lane, tmp_path)
    await asyncio.to_thread(simulator.advance_batches, LONG / 2)
    assert await lane.cancel(batch.id) is None
    batch = await ended(lane, simulator, batch.id)
    assert batch.state is RemoteState.ENDED
    assert "cancel" in batch.why
    found = outcomes(await results(lane, batch, tmp_path))
    if name_of(lane) == "gemini":
        assert found == {}
        return
    kinds = [type(outcome) for outcome in found.values()]
    assert set(found) == set(ids())
    assert 0 < kinds.count(Answer) < COUNT


async def test_a_line_that_failed_fails_alone(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="error:0.3")
    batch = await ended(lane, simulator, (await submitted(lane, tmp_path)).id)
    found = outcomes(await results(lane, batch, tmp_path))
    failures = [outcome for outcome in found.values() if isinstance(outcome, Failure)]
    assert 0 < len(failures) == batch.failed < COUNT
    assert len(found) == COUNT
    assert {failure.kind for failure in failures} == {FailureKind.SERVER}


async def test_a_batch_that_fails_as_a_whole_says_so(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="failed:1")
    made = await lane.submit(written(lane, tmp_path / "in", questions(lane)), TAG)
    if name_of(lane) == "anthropic":  # which makes no such batch
        assert isinstance(made, Trouble)
        assert (made.kind, made.unknown) == (FailureKind.INVALID_REQUEST, False)
        return
    assert isinstance(made, RemoteBatch)
    batch = await ended(lane, simulator, made.id)
    assert batch.state is RemoteState.FAILED
    assert batch.why
    assert not batch.crowded
    assert await results(lane, batch, tmp_path) == []


async def test_too_much_at_once_is_told_as_something_that_passes(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_tokens=1)
    made = await lane.submit(written(lane, tmp_path / "in", questions(lane)), TAG)
    if isinstance(made, Trouble):
        assert (made.kind, made.unknown) == (FailureKind.RATE_LIMITED, False)
        return
    assert name_of(lane) == "openai"
    batch = await ended(lane, simulator, made.id)
    assert (batch.state, batch.crowded) == (RemoteState.FAILED, True)


async def test_too_many_batches_are_refused_for_now(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(max_batches=1)
    await submitted(lane, tmp_path)
    trouble = await lane.submit(tmp_path / "in", TAG)
    assert isinstance(trouble, Trouble)
    assert trouble.kind is FailureKind.RATE_LIMITED
    assert trouble.retry_after is not None


async def test_a_download_that_was_cut_is_a_trouble_and_the_next_is_whole(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="cut:1")
    batch = await ended(lane, simulator, (await submitted(lane, tmp_path)).id)
    trouble = await lane.fetch(batch, tmp_path / "out")
    assert isinstance(trouble, Trouble)
    assert trouble.kind is FailureKind.CONNECTION
    assert len(outcomes(await results(lane, batch, tmp_path))) == COUNT


async def test_a_look_that_fails_passes(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    batch = await submitted(lane, tmp_path)
    simulator.set(batch_faults="poll:1")
    for trouble in (await lane.look(batch.id), await lane.find(TAG, COUNT, frozenset())):
        assert isinstance(trouble, Trouble)
        assert (trouble.kind, trouble.heals) == (FailureKind.SERVER, True)


async def test_results_in_another_order_are_known_by_their_ids(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_faults="shuffled:1")
    batch = await ended(lane, simulator, (await submitted(lane, tmp_path)).id)
    found = outcomes(await results(lane, batch, tmp_path))
    assert list(found) != ids()
    assert sorted(found) == ids()
    for number, request in enumerate(questions(lane)):
        alone = (await lane.provider.send(request)).outcome
        answer = found[ids()[number]]
        assert isinstance(alone, Answer)
        assert isinstance(answer, Answer)
        assert answer.text == alone.text


async def test_a_batch_that_is_not_there_is_told(lane: Batches) -> None:
    id_ = "batches/none" if name_of(lane) == "gemini" else "none"
    for trouble in (await lane.look(id_), await lane.cancel(id_)):
        assert isinstance(trouble, Trouble)
        assert trouble.kind is FailureKind.NOT_FOUND


async def test_a_wrong_key_is_told_at_every_call(
    lane: Batches, simulator: Simulator, tmp_path: Path
) -> None:
    file = written(lane, tmp_path / "in", questions(lane))
    batch = await ended(lane, simulator, (await submitted(lane, tmp_path)).id)
    simulator.set(key="another-key-0123456789")
    try:
        troubles = [
            await lane.submit(file, TAG),
            await lane.look(batch.id),
            await lane.find(TAG, COUNT, frozenset()),
            await lane.cancel(batch.id),
            await lane.fetch(batch, tmp_path / "out"),
        ]
    finally:
        simulator.set(key=KEY)
    for trouble in troubles:
        assert isinstance(trouble, Trouble)
        assert trouble.kind is FailureKind.AUTHENTICATION
        assert not trouble.unknown
        assert KEY not in repr(trouble)
