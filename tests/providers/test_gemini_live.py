"""The gemini provider against the simulated server in a process of its own."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, Field
from tests.providers.servers import Recorder

from penstock.endpoint import Endpoint
from penstock.messages import audio, file, image
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers import provider_of, resolve
from penstock.providers.gemini import Gemini
from penstock.providers.openai import OpenAI
from penstock.providers.provider import HttpProvider, Sent
from penstock.providers.transport import Transport, TransportSettings, open_transport
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret
from penstock.simulator import Simulator

KEY = "AIza-live-0123456789abcdef"


@pytest.fixture(scope="module")
def server() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(server: Simulator) -> Simulator:
    server.set(errors="", latency="0", key=None, quota=None, rpm=None, tpm=None, drip=10)
    server.reset()
    return server


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    opened = open_transport(TransportSettings(timeout=10))
    yield opened
    await opened.close()


async def ask(
    url: str, transport: Transport, prompt: Any, model: str = "simulated", **asked: Any
) -> Sent:
    on_text = asked.pop("on_text", None)
    key = asked.pop("key", Secret(KEY))
    endpoint = Endpoint("gemini", model, url=url, key=key, timeout=asked.pop("timeout", None))
    provider = Gemini(endpoint, transport)
    provider.open()
    return await provider.send(Request.of(endpoint, prompt, **asked), on_text)


def answered(sent: Sent) -> Answer:
    assert isinstance(sent.outcome, Answer), sent.outcome
    return sent.outcome


def failed(sent: Sent) -> Failure:
    assert isinstance(sent.outcome, Failure), sent.outcome
    return sent.outcome


class River(BaseModel):
    name: str = Field(description="Its name.")
    length: float = Field(ge=1)


class City(BaseModel):
    zip_code: str
    name: str
    people: int = Field(gt=0)
    longest: River = Field(description="The longest.")
    rivers: list[River] = Field(max_length=3)


class Node(BaseModel):
    value: int
    children: list[Node]


TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 9}},
            "required": ["city", "days"],
        },
    },
}
BOTH = pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])


def quiet(live: bool) -> Any:
    return (lambda _: None) if live else None


# Answers --------------------------------------------------------------------------------------


async def test_a_text_is_answered_and_counted(simulator: Simulator, transport: Transport) -> None:
    sent = await ask(simulator.root, transport, "Why is the sky blue?")
    answer = answered(sent)
    assert answer.text and answer.finish is Finish.STOP
    [entry] = simulator.ledger()
    assert answer.usage.input_tokens == entry["prompt_tokens"] > 0
    assert answer.usage.output_tokens == entry["completion_tokens"] > 0
    assert entry["path"] == "/v1/models/simulated:generateContent"
    assert entry["authorization"] and entry["complete"]
    assert answer.model == "simulated" and answer.id
    assert Gemini.read(sent.body) == answer


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_an_address_with_its_version_is_served(
    version: str, simulator: Simulator, transport: Transport
) -> None:
    answered(await ask(f"{simulator.root}/{version}", transport, "Hi"))
    assert simulator.ledger()[0]["path"].startswith(f"/{version}/models/")


@BOTH
async def test_thoughts_are_paid_for_and_not_said(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    shown: list[str] = []
    how: dict[str, Any] = {
        "reasoning_effort": "low",
        "thinking_config": {"include_thoughts": True},
    }
    sent = await ask(
        simulator.root, transport, "Why?", on_text=shown.append if live else None, **how
    )
    answer = answered(sent)
    [entry] = simulator.ledger()
    assert 0 < answer.usage.reasoning_tokens < answer.usage.output_tokens
    assert answer.usage.output_tokens == entry["completion_tokens"]
    assert b'"thought":true' in sent.body.replace(b" ", b"")
    assert "Considering" not in answer.text + "".join(shown)


async def test_a_cached_prompt_is_counted_inside_it(
    simulator: Simulator, transport: Transport
) -> None:
    usage = answered(await ask(simulator.root, transport, "Hi", system="word " * 2000)).usage
    assert 0 < usage.cached_tokens < usage.input_tokens == simulator.ledger()[0]["prompt_tokens"]


async def test_a_stream_is_shown_in_pieces_that_make_up_the_same_answer(
    simulator: Simulator, transport: Transport
) -> None:
    pieces: list[str] = []
    whole = answered(await ask(simulator.root, transport, "Tell me of rivers."))
    live = answered(
        await ask(simulator.root, transport, "Tell me of rivers.", on_text=pieces.append)
    )
    assert len(pieces) > 1
    assert "".join(pieces) == live.text == whole.text
    assert (live.finish, live.usage) == (whole.finish, whole.usage)
    assert simulator.ledger()[1]["path"].endswith(":streamGenerateContent")


async def test_a_slow_stream_is_shown_while_it_comes(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors="slow_body:1", drip=30)
    times: list[float] = []
    sent = await ask(
        simulator.root,
        transport,
        "Tell me of lakes.",
        on_text=lambda _: times.append(time.perf_counter()),
    )
    assert answered(sent).text
    assert times[-1] - times[0] > 0.1


async def test_the_same_question_gets_the_same_answer_as_over_openais_protocol(
    simulator: Simulator, transport: Transport
) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Tell me of weirs."},
    ]
    mine = answered(await ask(simulator.root, transport, turns, sample=2))
    endpoint = Endpoint("openai", "simulated", url=simulator.url, key=Secret(KEY))
    provider = OpenAI(endpoint, transport)
    provider.open()
    other = answered(await provider.send(Request.of(endpoint, turns, sample=2)))
    assert (mine.text, mine.usage, mine.finish) == (other.text, other.usage, other.finish)


@BOTH
async def test_a_schema_is_answered_by_what_fits_it_in_its_order(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    sent = await ask(simulator.root, transport, "A city, please.", schema=City, on_text=quiet(live))
    text = answered(sent).text
    assert isinstance(AnswerSchema.of(City).read(text), City)
    assert list(json.loads(text)) == list(City.model_fields)


async def test_a_schema_that_contains_itself_is_taken(
    simulator: Simulator, transport: Transport
) -> None:
    sent = await ask(simulator.root, transport, "A tree, please.", schema=Node)
    assert isinstance(json.loads(answered(sent).text)["value"], int)


@BOTH
async def test_a_tool_is_called_and_its_result_is_heard(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    prompt = [{"role": "user", "content": "Weather in Bern?"}]
    how = {"tools": [TOOL], "tool_choice": "required", "on_text": quiet(live)}
    answer = answered(await ask(simulator.root, transport, prompt, **how))
    assert answer.finish is Finish.TOOL
    [call] = answer.tool_calls
    assert call["function"]["name"] == "weather"
    assert json.loads(call["function"]["arguments"]).keys() == {"city", "days"}
    prompt += [
        {"role": "assistant", "content": None, "tool_calls": [call]},  # type: ignore[dict-item]
        {"role": "tool", "tool_call_id": call["id"], "content": "It rains."},
    ]
    told = answered(await ask(simulator.root, transport, prompt, tools=[TOOL]))
    assert told.finish is Finish.STOP and told.text


async def test_pictures_and_files_are_seen(simulator: Simulator, transport: Transport) -> None:
    async def look(*parts: Any) -> Answer:
        prompt = [{"role": "user", "content": ["What is this?", *parts]}]
        return answered(await ask(simulator.root, transport, prompt))

    first = await look(image(b"\x89PNG1"))
    assert first.text == (await look(image(b"\x89PNG1"))).text
    assert first.text != (await look(image(b"\x89PNG2"))).text
    assert first.text != (await look(image("https://e.org/a.png"))).text
    heavy = await look(file(b"%PDF", media_type="application/pdf"), audio(b"RIFF", format="wav"))
    assert heavy.usage.input_tokens > first.usage.input_tokens


@BOTH
async def test_a_blocked_prompt_and_a_cut_answer_are_answers(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    shown = quiet(live)
    blocked = answered(
        await ask(simulator.root, transport, "Hi", "simulated-refuse", on_text=shown)
    )
    assert (blocked.finish, blocked.refused) == (Finish.CONTENT_FILTER, True)
    off = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]
    stopped = answered(
        await ask(
            simulator.root,
            transport,
            "Hi",
            "simulated-refuse",
            safety_settings=off,
            on_text=shown,
        )
    )
    assert (stopped.finish, stopped.text) == (Finish.CONTENT_FILTER, "")
    cut = answered(
        await ask(simulator.root, transport, "Tell me all.", max_tokens=3, on_text=shown)
    )
    assert (cut.finish, cut.usage.output_tokens) == (Finish.LENGTH, 3)


async def test_an_answer_of_which_nothing_was_said_is_cut(
    simulator: Simulator, transport: Transport
) -> None:
    sent = await ask(simulator.root, transport, "Hi", reasoning_effort="high", max_tokens=5)
    answer = answered(sent)
    assert (answer.text, answer.finish) == ("", Finish.LENGTH)
    assert answer.usage.reasoning_tokens == 5


async def test_an_empty_answer_is_one(simulator: Simulator, transport: Transport) -> None:
    answer = answered(await ask(simulator.root, transport, "Hi", "simulated-empty"))
    assert (answer.text, answer.finish) == ("", Finish.STOP)


async def test_samples_are_told_apart_and_repeat(
    simulator: Simulator, transport: Transport
) -> None:
    texts = [
        answered(await ask(simulator.root, transport, "A word.", sample=sample)).text
        for sample in (0, 1, 1)
    ]
    assert texts[0] != texts[1] == texts[2]
    assert [entry["sample"] for entry in simulator.ledger()] == [0, 1, 1]


@pytest.mark.parametrize(
    "asked",
    [
        {"temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": 1, "stop": ["\n"]},
        {"presence_penalty": 0.1, "frequency_penalty": 0.1, "max_completion_tokens": 9},
        {"logprobs": True, "top_logprobs": 2, "response_format": {"type": "json_object"}},
        {"thinking_config": {"thinking_budget": 128}, "labels": {"a": "b"}, "store": False},
        {"response_modalities": ["TEXT"], "cached_content": "cachedContents/x"},
        {"tools": [TOOL, {"google_search": {}}], "tool_choice": "auto"},
        {"tools": [{"type": "function", "function": {**TOOL["function"], "strict": True}}]},
        {
            "tools": [TOOL],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
        },
    ],
)
async def test_whatever_is_translated_is_taken_by_a_strict_server(
    asked: dict[str, Any], simulator: Simulator, transport: Transport
) -> None:
    answered(await ask(simulator.root, transport, 'Say "hello"', **asked))


# Bad days -------------------------------------------------------------------------------------

K = FailureKind
FAULTS: dict[str, tuple[FailureKind, bool, int | None]] = {
    "400": (K.INVALID_REQUEST, False, 400),
    "401": (K.AUTHENTICATION, False, 400),  # a wrong key is a 400 here
    "403": (K.PERMISSION, False, 403),
    "404": (K.NOT_FOUND, False, 404),
    "408": (K.TIMEOUT, False, 408),
    "409": (K.SERVER, False, 409),
    "429": (K.RATE_LIMITED, False, 429),
    "500": (K.SERVER, False, 500),
    "502": (K.SERVER, False, 502),
    "503": (K.OVERLOADED, False, 503),
    "504": (K.SERVER, True, 504),
    "529": (K.OVERLOADED, False, 503),
    "timeout": (K.TIMEOUT, True, None),
    "reset": (K.CONNECTION, True, None),
    "cut": (K.CONNECTION, True, None),
    "malformed": (K.MALFORMED, True, 200),
    "empty_choices": (K.MALFORMED, True, 200),
    "error_in_200": (K.SERVER, True, 200),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_has_its_kind_and_says_whether_it_may_be_paid_for(
    fault: str, live: bool, simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors=f"{fault}:1")
    sent = await ask(
        simulator.root,
        transport,
        "Hi",
        on_text=quiet(live),
        timeout=0.3 if fault == "timeout" else None,
    )
    failure = failed(sent)
    assert (failure.kind, failure.may_be_paid, failure.status) == FAULTS[fault]
    assert failure.message
    [entry] = simulator.ledger()  # and nobody asked twice behind our back
    assert entry["fault"] == fault


async def test_a_rate_limit_tells_when_to_come_back(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(errors="429:1")
    sent = await ask(simulator.root, transport, "Hi")
    assert sent.retry_after == pytest.approx(0.1)
    assert sent.limits is None  # a fault that names no limit


async def test_a_limit_is_learnt_from_the_refusal_because_no_header_tells_it(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(rpm=1)
    first = await ask(simulator.root, transport, "Hi")
    assert answered(first) and first.limits is None
    sent = await ask(simulator.root, transport, "Hi again")
    assert failed(sent).kind is FailureKind.RATE_LIMITED
    assert sent.limits is not None and sent.limits.requests is not None
    assert sent.limits.requests.limit == 1
    assert sent.retry_after is not None and 50 < sent.retry_after <= 60


async def test_a_question_larger_than_a_minute_is_too_large(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(tpm=20)
    failure = failed(await ask(simulator.root, transport, "Hi"))
    assert failure.kind is FailureKind.TOO_LARGE and not failure.kind.heals


async def test_a_quota_of_the_day_stops_the_endpoint(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(quota=0)
    failure = failed(await ask(simulator.root, transport, "Hi"))
    assert failure.kind is FailureKind.QUOTA and failure.kind.stops


@BOTH
async def test_a_wrong_key_is_an_authentication_failure_and_is_not_shown(
    live: bool, simulator: Simulator, transport: Transport
) -> None:
    simulator.set(key="another")
    sent = await ask(simulator.root, transport, "Hi", on_text=quiet(live))
    failure = failed(sent)
    assert failure.kind is FailureKind.AUTHENTICATION and failure.kind.stops
    assert KEY not in repr(sent) and KEY[-8:] not in repr(sent)


async def test_without_a_key_the_server_refuses_and_nothing_breaks(
    simulator: Simulator, transport: Transport
) -> None:
    simulator.set(key="another")
    failure = failed(await ask(simulator.root, transport, "Hi", key=None))
    assert failure.kind is FailureKind.PERMISSION
    assert simulator.ledger()[0]["authorization"] is False


async def test_what_the_server_refuses_is_told_in_its_words(
    simulator: Simulator, transport: Transport
) -> None:
    failure = failed(await ask(simulator.root, transport, "Hi", temperature=3))
    assert failure.kind is FailureKind.INVALID_REQUEST
    assert "temperature" in failure.message and "[0, 2]" in failure.message


# Who is told what -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["simulated", "simulated-echo"])
async def test_a_simulator_is_told_the_sample(
    model: str, recorder: Recorder, transport: Transport
) -> None:
    await ask(recorder.url, transport, "Hi", model, sample=3)
    assert recorder.seen[0].headers["x-penstock-sample"] == "3"


@BOTH
@pytest.mark.parametrize("model", ["gemini-2.5-flash", "my-simulated", "Simulated"])
async def test_no_other_server_is_told_the_sample(
    model: str, live: bool, recorder: Recorder, transport: Transport
) -> None:
    await ask(recorder.url, transport, "Hi", model, sample=3, on_text=quiet(live))
    assert not [name for name in recorder.seen[0].headers if "penstock-" in name]


async def send_as_written(endpoint: Endpoint | str, transport: Transport) -> None:
    found = resolve(endpoint)
    provider = provider_of(found)(found, transport)
    assert isinstance(provider, HttpProvider)
    provider.open()
    await provider.send(Request.of(found, "Hi"))


async def test_the_usual_key_is_never_sent_to_an_address_that_was_given(
    recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    await send_as_written(Endpoint("gemini", "m", url=recorder.url), transport)
    assert KEY not in str(recorder.seen[0])


async def test_the_usual_key_is_sent_where_its_variable_points_and_only_in_its_header(
    recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", recorder.url)
    await send_as_written("gemini-2.5-flash", transport)
    [seen] = recorder.seen
    assert seen.headers.pop("x-goog-api-key") == KEY
    assert KEY not in str(seen)
