"""The openai provider against the simulated server in a process of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from tests.providers.servers import Recorder

from penstock.endpoint import Endpoint
from penstock.messages import image
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers import provider_of, resolve
from penstock.providers.openai import OpenAI
from penstock.providers.provider import HttpProvider, Sent
from penstock.providers.simulated import Simulated
from penstock.providers.transport import Transport, TransportSettings, open_transport
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret
from penstock.simulator import Simulator

KEY = "sk-live-0123456789abcdef"


@pytest.fixture(scope="module")
def server() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(server: Simulator) -> Simulator:
    server.set(errors="", latency="0", key=None, quota=None, rpm=None, drip=10)
    server.reset()
    return server


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    opened = open_transport(TransportSettings(timeout=10))  # the contract suite tries both
    yield opened
    await opened.close()


async def ask(
    url: str, transport: Transport, prompt: Any, model: str = "simulated", **asked: Any
) -> Sent:
    on_text = asked.pop("on_text", None)
    key = asked.pop("key", Secret(KEY))
    endpoint = Endpoint("openai", model, url=url, key=key, timeout=asked.pop("timeout", None))
    provider = OpenAI(endpoint, transport)
    provider.open()
    return await provider.send(Request.of(endpoint, prompt, **asked), on_text)


def answered(sent: Sent) -> Answer:
    assert isinstance(sent.outcome, Answer), sent.outcome
    return sent.outcome


def failed(sent: Sent) -> Failure:
    assert isinstance(sent.outcome, Failure), sent.outcome
    return sent.outcome


class City(BaseModel):
    name: str
    people: int
    rivers: list[str]


TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


async def test_a_text_is_answered_and_counted(simulator: Simulator, transport: Transport) -> None:
    sent = await ask(simulator.url, transport, "Why is the sky blue?")
    answer = answered(sent)
    assert answer.text and answer.finish is Finish.STOP
    [entry] = simulator.ledger()
    assert answer.usage.input_tokens == entry["prompt_tokens"] > 0
    assert answer.usage.output_tokens == entry["completion_tokens"] > 0
    assert entry["authorization"] and entry["complete"]
    assert OpenAI.read(sent.body) == answer


async def test_a_stream_is_shown_in_pieces_that_make_up_the_same_answer(
    simulator: Simulator, transport: Transport
) -> None:
    pieces: list[str] = []
    whole = answered(await ask(simulator.url, transport, "Tell me of rivers."))
    live = answered(
        await ask(simulator.url, transport, "Tell me of rivers.", on_text=pieces.append)
    )
    assert len(pieces) > 1
    assert "".join(pieces) == live.text == whole.text
    assert (live.finish, live.usage) == (whole.finish, whole.usage)


async def test_a_slow_stream_is_shown_while_it_comes(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors="slow_body:1", drip=30)
    times: list[float] = []
    sent = await ask(
        simulator.url,
        transport,
        "Tell me of lakes.",
        on_text=lambda _: times.append(time.perf_counter()),
    )
    assert answered(sent).text
    assert times[-1] - times[0] > 0.1


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
async def test_a_schema_is_answered_by_what_fits_it(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    shown = (lambda _: None) if live else None
    sent = await ask(simulator.url, transport, "A city, please.", schema=City, on_text=shown)
    value = AnswerSchema.of(City).read(answered(sent).text)
    assert isinstance(value, City)


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
async def test_a_tool_is_called(live: bool, simulator: Simulator, transport: Transport) -> None:
    sent = await ask(
        simulator.url,
        transport,
        "Weather in Bern?",
        tools=[TOOL],
        tool_choice="required",
        on_text=(lambda _: None) if live else None,
    )
    answer = answered(sent)
    assert answer.finish is Finish.TOOL
    [call] = answer.tool_calls
    assert call["function"]["name"] == "weather"
    assert "city" in call["function"]["arguments"]


async def test_an_image_is_seen(simulator: Simulator, transport: Transport) -> None:
    def prompt(content: bytes) -> list[dict[str, Any]]:
        return [{"role": "user", "content": ["What is this?", image(content)]}]

    first = answered(await ask(simulator.url, transport, prompt(b"\x89PNG1")))
    again = answered(await ask(simulator.url, transport, prompt(b"\x89PNG1")))
    other = answered(await ask(simulator.url, transport, prompt(b"\x89PNG2")))
    assert first.text == again.text != other.text


async def test_a_refusal_and_a_cut_answer_are_answers(
    simulator: Simulator, transport: Transport
) -> None:
    refused = answered(await ask(simulator.url, transport, "Hi", "simulated-refuse"))
    assert refused.finish is Finish.REFUSAL and refused.text
    cut = answered(await ask(simulator.url, transport, "Tell me all.", max_tokens=3))
    assert cut.finish is Finish.LENGTH


async def test_samples_are_told_apart_and_repeat(
    simulator: Simulator, transport: Transport
) -> None:
    texts = [
        answered(await ask(simulator.url, transport, "A word.", sample=sample)).text
        for sample in (0, 1, 1)
    ]
    assert texts[0] != texts[1] == texts[2]
    assert [entry["sample"] for entry in simulator.ledger()] == [0, 1, 1]


async def test_the_simulated_provider_answers_as_its_server_does(
    simulator: Simulator, transport: Transport
) -> None:
    endpoint = Endpoint("simulated", "simulated")
    here = Simulated(endpoint)
    here.open()
    pieces: list[str] = []
    mine = answered(
        await here.send(Request.of(endpoint, "Why?", sample=2, temperature=1), pieces.append)
    )
    there = answered(await ask(simulator.url, transport, "Why?", sample=2, temperature=1))
    assert (mine.text, mine.usage, mine.finish) == (there.text, there.usage, there.finish)
    assert "".join(pieces) == mine.text


# Bad days -------------------------------------------------------------------------------------

K = FailureKind
FAULTS = {
    "400": (K.INVALID_REQUEST, False),
    "401": (K.AUTHENTICATION, False),
    "403": (K.PERMISSION, False),
    "404": (K.NOT_FOUND, False),
    "408": (K.TIMEOUT, False),
    "409": (K.SERVER, False),
    "429": (K.RATE_LIMITED, False),
    "500": (K.SERVER, False),
    "502": (K.SERVER, False),
    "503": (K.OVERLOADED, False),
    "504": (K.SERVER, True),
    "529": (K.OVERLOADED, False),
    "timeout": (K.TIMEOUT, True),
    "reset": (K.CONNECTION, True),
    "cut": (K.CONNECTION, True),
    "malformed": (K.MALFORMED, True),
    "empty_choices": (K.MALFORMED, True),
    "error_in_200": (K.SERVER, True),
}


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_has_its_kind_and_says_whether_it_may_be_paid_for(
    fault: str, live: bool, simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors=f"{fault}:1")
    sent = await ask(
        simulator.url,
        transport,
        "Hi",
        on_text=(lambda _: None) if live else None,
        timeout=0.3 if fault == "timeout" else None,
    )
    failure = failed(sent)
    assert (failure.kind, failure.may_be_paid) == FAULTS[fault]
    assert failure.message
    if fault.isdigit():
        assert failure.status == int(fault)
    [entry] = simulator.ledger()  # and nobody asked twice behind our back
    assert entry["fault"] == fault


async def test_a_rate_limit_tells_when_to_come_back(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors="429:1")
    sent = await ask(simulator.url, transport, "Hi")
    assert sent.retry_after == pytest.approx(0.1)


async def test_limits_come_with_every_answer(simulator: Simulator, transport: Transport) -> None:
    simulator.set(rpm=600)
    sent = await ask(simulator.url, transport, "Hi")
    assert sent.limits is not None and sent.limits.requests is not None
    assert sent.limits.requests.limit == 600


async def test_an_empty_account_stops_the_endpoint(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(quota=0)
    failure = failed(await ask(simulator.url, transport, "Hi"))
    assert failure.kind is FailureKind.QUOTA and failure.kind.stops
    simulator.set(quota=None)


async def test_a_wrong_key_is_not_shown_though_the_server_shows_a_part_of_it(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(key="another")
    sent = await ask(simulator.url, transport, "Hi")
    failure = failed(sent)
    assert failure.kind is FailureKind.AUTHENTICATION
    assert KEY[:8] not in failure.message and KEY[-4:] not in failure.message
    assert KEY[:8].encode() not in sent.body


async def test_without_a_key_the_server_refuses_and_nothing_breaks(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(key="another")
    failure = failed(await ask(simulator.url, transport, "Hi", key=None))
    assert failure.kind is FailureKind.AUTHENTICATION
    assert simulator.ledger()[0]["authorization"] is False


# Who is told what -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["simulated", "simulated-echo"])
async def test_a_simulator_is_told_the_sample(
    model: str, recorder: Recorder, transport: Transport
) -> None:
    await ask(recorder.url, transport, "Hi", model, sample=3)
    assert recorder.seen[0].headers["x-penstock-sample"] == "3"


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("model", ["gpt-4o", "o3", "my-simulated", "llama-3.1-8b", "Simulated"])
async def test_no_other_server_is_told_the_sample(
    model: str, live: bool, recorder: Recorder, transport: Transport
) -> None:
    shown = (lambda _: None) if live else None
    await ask(recorder.url, transport, "Hi", model, sample=3, on_text=shown)
    assert not [name for name in recorder.seen[0].headers if "penstock-" in name]


async def send_as_written(text: str, transport: Transport) -> None:
    endpoint = resolve(text)
    provider = provider_of(endpoint)(endpoint, transport)
    assert isinstance(provider, HttpProvider)
    provider.open()
    await provider.send(Request.of(endpoint, "Hi"))


async def test_the_usual_key_is_never_sent_to_an_address_that_was_given(
    recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    await send_as_written(f"{recorder.url}#gpt-4o", transport)
    assert "authorization" not in recorder.seen[0].headers
    assert KEY not in str(recorder.seen[0])


@pytest.mark.parametrize("slash", ["", "/"])
async def test_the_usual_key_is_sent_where_openai_base_url_points(
    slash: str, recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url + slash)
    await send_as_written("gpt-4o", transport)
    assert recorder.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert recorder.seen[0].path == "/v1/chat/completions"


async def test_another_path_of_the_same_host_is_another_address(
    recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url)
    await send_as_written(f"{recorder.url}/other#gpt-4o", transport)
    assert KEY not in str(recorder.seen[0])


async def test_a_key_of_ones_own_goes_with_its_address(
    recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_KEY", "my-own-key-1234")
    await ask(recorder.url, transport, "Hi", "m", key="env:MY_KEY")
    assert recorder.seen[0].headers["authorization"] == "Bearer my-own-key-1234"
