"""One question, one durable answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.engine import Engine
from penstock.engine.retries import RetryPolicy
from penstock.engine.station import Station
from penstock.outcome import Answer, Failure, FailureKind
from penstock.request import Request
from penstock.simulator import Simulator
from penstock.store import Journal

QUICK = RetryPolicy(max_retries=3, first=0.001)


async def answered(engine: Engine, request: Request) -> Answer:
    outcome = await engine.ask(request)
    assert isinstance(outcome, Answer), outcome
    return outcome


async def failed(engine: Engine, request: Request) -> Failure:
    outcome = await engine.ask(request)
    assert isinstance(outcome, Failure), outcome
    return outcome


async def test_an_answer_is_asked_once_and_found_in_the_journal_ever_after(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "What is a penstock?")
    first = await answered(Engine(station), request)
    again = await answered(Engine(station), request)
    assert not first.recorded
    assert again.recorded
    assert again.text == first.text
    assert again.usage == first.usage
    assert simulator.summary()["requests"] == 1


async def test_an_answer_survives_the_process_that_asked_it(
    tmp_path: Path, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "Will you remember?")
    texts = []
    for _ in range(2):
        async with Station(Journal(tmp_path / "journal.db")) as station:
            texts.append((await answered(Engine(station), request)).text)
    assert texts[0] == texts[1]
    assert simulator.summary()["requests"] == 1


async def test_a_thousand_equal_questions_at_once_are_one_request(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="50")
    engine = Engine(station)
    request = Request.of(endpoint, "Everyone asks this.")
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(answered(engine, request)) for _ in range(1000)]
    answers = [task.result() for task in asked]
    assert len({answer.text for answer in answers}) == 1
    assert sum(not answer.recorded for answer in answers) == 1
    assert simulator.summary()["requests"] == 1
    assert engine.progress.asked == 1


async def test_another_sample_is_another_draw(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    engine = Engine(station)
    texts = {
        (await answered(engine, Request.of(endpoint, "Toss a coin.", sample=n))).text
        for n in range(5)
    }
    assert len(texts) == 5
    assert simulator.summary()["requests"] == 5


async def test_off_asks_anew_but_finds_what_its_own_run_recorded(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "Fresh, please.")
    await answered(Engine(station), request)
    first = await answered(Engine(station, run="one", cache="off"), request)
    resumed = await answered(Engine(station, run="one", cache="off"), request)
    other = await answered(Engine(station, run="two", cache="off"), request)
    assert (first.recorded, resumed.recorded, other.recorded) == (False, True, False)
    assert simulator.summary()["requests"] == 3


async def test_refresh_replaces_what_was_recorded(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "Again, please.")
    await answered(Engine(station, run="one"), request)
    fresh = await answered(Engine(station, run="two", cache="refresh"), request)
    resumed = await answered(Engine(station, run="two", cache="refresh"), request)
    assert (fresh.recorded, resumed.recorded) == (False, True)
    assert simulator.summary()["requests"] == 2
    record = await station.journal.find(request.key)
    assert record is not None and record.run == "two"


async def test_read_sends_nothing(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    engine = Engine(station, cache="read")
    failure = await failed(engine, Request.of(endpoint, "Are you there?"))
    assert failure.kind is FailureKind.NOT_RECORDED
    assert simulator.summary()["requests"] == 0
    assert engine.progress.asked == 0


@pytest.mark.parametrize("fault", ["500", "503", "529", "429", "reset", "cut", "malformed"])
async def test_what_can_heal_is_asked_again_until_it_does(
    station: Station, endpoint: Endpoint, simulator: Simulator, fault: str
) -> None:
    simulator.set(errors=f"{fault}:0.5", seed=3)
    engine = Engine(station, retries=RetryPolicy(max_retries=12, first=0.001))
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(answered(engine, Request.of(endpoint, f"{fault} {n}")))
            for n in range(12)
        ]
    assert max(task.result().attempts for task in asked) > 1
    assert simulator.summary()["requests"] > 12


async def test_retries_are_bounded_and_the_failure_says_how_often(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(errors="500:1")
    engine = Engine(station, retries=QUICK)
    failure = await failed(engine, Request.of(endpoint, "Never."))
    assert failure.kind is FailureKind.SERVER
    assert failure.attempts == 4
    assert simulator.summary()["requests"] == 4


async def test_a_failure_is_kept_for_audit_and_asked_again_by_the_next_run(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    request = Request.of(endpoint, "First no, then yes.")
    simulator.set(errors="500:1")
    await failed(Engine(station, retries=QUICK), request)
    simulator.set(errors="")
    assert (await answered(Engine(station), request)).attempts == 1
    stats = station.journal.stats()
    assert (stats.answers, stats.failures) == (1, 1)


async def test_a_wrong_key_stops_the_endpoint_and_no_other(
    station: Station, simulator: Simulator, offline: Endpoint
) -> None:
    simulator.set(key="the-right-key-12345", latency="5")
    wrong = Endpoint("openai", "simulated", simulator.url, key="the-wrong-key-12345")
    engine = Engine(station)
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(failed(engine, Request.of(wrong, f"Question {n}")))
            for n in range(1000)
        ]
    kinds = {task.result().kind for task in asked}
    assert kinds == {FailureKind.AUTHENTICATION}
    assert simulator.summary()["requests"] <= 64
    assert await answered(engine, Request.of(offline, "You still work?"))


async def test_a_question_refused_as_it_stands_fails_alone(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    engine = Engine(station)
    failure = await failed(engine, Request.of(endpoint, "Hello", max_tokens="many"))
    assert failure.kind is FailureKind.INVALID_REQUEST
    assert failure.attempts == 1
    assert await answered(engine, Request.of(endpoint, "Hello"))


async def test_a_cost_is_exact_and_names_its_source(station: Station, endpoint: Endpoint) -> None:
    priced = endpoint.with_(prices=Prices(Decimal("0.15"), Decimal("0.60")))
    engine = Engine(station)
    answer = await answered(engine, Request.of(priced, "How much?"))
    usage = answer.usage
    expected = (
        usage.input_tokens * Decimal("0.15") + usage.output_tokens * Decimal("0.60")
    ) / 10**6
    assert answer.cost == expected
    assert answer.price_source == "endpoint"
    assert engine.progress.cost == expected
    again = await answered(engine, Request.of(priced, "How much?"))
    assert again.cost == expected
    assert engine.progress.cost == expected, "what is in the journal is not paid for twice"


async def test_text_is_shown_while_it_streams_and_the_whole_answer_is_recorded(
    station: Station, endpoint: Endpoint
) -> None:
    shown: list[str] = []
    request = Request.of(endpoint, "Tell me a story in 40 words.")
    outcome = await Engine(station).ask(request, on_text=shown.append)
    assert isinstance(outcome, Answer)
    await station.users.call(lambda: None, [()])
    assert "".join(shown) == outcome.text
    assert len(shown) > 3
    whole = await answered(Engine(station), request)
    assert whole.recorded and whole.text == outcome.text and whole.usage == outcome.usage


async def test_a_send_that_nobody_waits_for_is_recorded_all_the_same(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="100")
    engine = Engine(station)
    request = Request.of(endpoint, "Do not forget me.")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.ask(request), 0.03)
    assert await station.drain(5)
    assert (await answered(Engine(station), request)).recorded
    assert simulator.summary()["requests"] == 1


async def test_after_a_stop_nothing_new_is_sent(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="50")
    engine = Engine(station)
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(engine.ask(Request.of(endpoint, f"Question {n}"))) for n in range(500)
        ]
        await asyncio.sleep(0.02)
        engine.stop.throw()
    outcomes = [task.result() for task in asked]
    kinds = {o.kind for o in outcomes if isinstance(o, Failure)}
    assert kinds == {FailureKind.CANCELLED}
    in_time = sum(isinstance(o, Answer) for o in outcomes)
    assert in_time == simulator.summary()["requests"] <= 64


async def test_after_a_stop_the_wait_for_what_is_in_flight_is_bounded(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="3000")
    engine = Engine(station, drain=0.05)
    asked = asyncio.ensure_future(engine.ask(Request.of(endpoint, "Take your time.")))
    await asyncio.sleep(0.05)
    engine.stop.throw()
    outcome = await asyncio.wait_for(asked, 1)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.may_be_paid) == (FailureKind.CANCELLED, True)


async def test_what_one_run_gave_up_is_not_waited_for_and_everything_else_is(
    tmp_path: Path, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="3000")
    journal = Journal(tmp_path / "journal.db")
    async with Station(journal, drain=2) as station:
        given_up, patient = Engine(station, drain=0.05), Engine(station)
        lost = asyncio.ensure_future(given_up.ask(Request.of(endpoint, "Take your time.")))
        await asyncio.sleep(0.05)
        given_up.stop.throw()
        assert isinstance(await lost, Failure)
        assert given_up.progress.may_be_paid == 1
        simulator.set(latency="400")
        asked = asyncio.ensure_future(patient.ask(Request.of(endpoint, "Be quick.")))
        await asyncio.sleep(0.05)
    assert isinstance(await asked, Answer)


async def test_a_run_that_is_stopped_does_not_stop_another_that_asks_the_same(
    tmp_path: Path, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(latency="100")
    async with Station(Journal(tmp_path / "one.db"), concurrency=1) as station:
        first, second = Engine(station), Engine(station)
        request = Request.of(endpoint, "Shared.")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(second.ask(Request.of(endpoint, "In the way.")))
            await asyncio.sleep(0.01)
            stopped = tasks.create_task(first.ask(request))
            await asyncio.sleep(0.01)
            joined = tasks.create_task(second.ask(request))
            await asyncio.sleep(0.01)
            first.stop.throw()
        assert isinstance(stopped.result(), Failure)
        assert isinstance(joined.result(), Answer)


async def test_a_full_disk_stops_sending_at_once_and_loses_nothing_that_was_acknowledged(
    station: Station, endpoint: Endpoint, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.errors import StorageFullError

    kept = [await answered(Engine(station), Request.of(endpoint, f"Kept {n}")) for n in range(5)]
    write = station.journal._write

    def full(*_: object) -> list[object]:
        raise StorageFullError("journal.db cannot be written: database or disk is full")

    monkeypatch.setattr(station.journal._writer, "_serve", full)
    simulator.reset()
    simulator.set(latency="5")
    engine = Engine(station)
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(failed(engine, Request.of(endpoint, f"Lost {n}"))) for n in range(500)
        ]
    assert {task.result().kind for task in asked} == {FailureKind.STORAGE}
    assert isinstance(engine.error, StorageFullError)
    assert simulator.summary()["requests"] <= 64
    monkeypatch.setattr(station.journal._writer, "_serve", write)
    simulator.set(latency="0")
    for n, answer in enumerate(kept):
        assert (
            await answered(Engine(station), Request.of(endpoint, f"Kept {n}"))
        ).text == answer.text
    assert await answered(Engine(station), Request.of(endpoint, "Lost 1"))


async def test_too_little_room_is_noticed_before_anything_is_sent(
    tmp_path: Path, endpoint: Endpoint, simulator: Simulator
) -> None:
    journal = Journal(tmp_path / "journal.db", min_free=1 << 60)
    async with Station(journal) as station:
        engine = Engine(station)
        failure = await failed(engine, Request.of(endpoint, "Is there room?"))
    assert failure.kind is FailureKind.STORAGE
    assert "min_free_mb" in failure.message
    assert engine.error is not None
    assert simulator.summary()["requests"] == 0


async def test_attempts_that_may_have_been_paid_for_are_counted_also_when_a_retry_succeeds(
    station: Station, endpoint: Endpoint, simulator: Simulator
) -> None:
    simulator.set(errors="cut:0.5", seed=3)
    engine = Engine(station, retries=RetryPolicy(max_retries=12, first=0.001))
    async with asyncio.TaskGroup() as tasks:
        for number in range(12):
            tasks.create_task(answered(engine, Request.of(endpoint, f"Cut {number}")))
    cut = simulator.summary()["by_fault"]["cut"]
    assert cut > 0
    assert engine.progress.may_be_paid == cut


async def test_a_provider_that_raises_fails_its_row_and_says_so(
    station: Station, offline: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.providers.simulated import Simulated

    async def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Simulated, "send", broken)
    failure = await failed(Engine(station), Request.of(offline, "Hello"))
    assert failure.kind is FailureKind.INTERNAL
    assert "ZeroDivisionError" in failure.message


async def test_a_missing_key_is_a_failure_of_its_row(station: Station) -> None:
    endpoint = Endpoint("openai", "gpt-4o-mini", "https://api.openai.com/v1")
    failure = await failed(Engine(station), Request.of(endpoint, "Hello"))
    assert failure.kind is FailureKind.AUTHENTICATION
    assert "OPENAI_API_KEY" in failure.message


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Station]:
    async with Station(Journal(tmp_path / "fresh.db")) as station:
        yield station


async def test_a_damaged_record_fails_its_row_and_names_the_file(
    fresh: Station, offline: Endpoint, tmp_path: Path
) -> None:
    import sqlite3

    request = Request.of(offline, "Handle with care.")
    await answered(Engine(fresh), request)
    with sqlite3.connect(tmp_path / "fresh.db") as connection:
        connection.execute("UPDATE records SET response = replace(response, 'a', 'b')")
    connection.close()
    engine = Engine(fresh)
    failure = await failed(engine, request)
    assert failure.kind is FailureKind.STORAGE
    assert "fresh.db: record 1" in failure.message
    assert "penstock journal repair" in failure.message
    assert engine.error is None, "one bad record stops nobody else"


async def test_a_damaged_record_that_a_block_look_up_met_is_named_and_not_paid_for_again(
    fresh: Station, endpoint: Endpoint, simulator: Simulator, tmp_path: Path
) -> None:
    import sqlite3

    request = Request.of(endpoint, "Handle with care.")
    await answered(Engine(fresh), request)
    with sqlite3.connect(tmp_path / "fresh.db") as connection:
        connection.execute("UPDATE records SET response = replace(response, 'a', 'b')")
    connection.close()
    engine = Engine(fresh)
    assert await engine.recall([request]) == [None]
    outcome = await engine.ask(request, recalled=True)
    assert isinstance(outcome, Failure) and outcome.kind is FailureKind.STORAGE
    assert simulator.summary()["requests"] == 1
