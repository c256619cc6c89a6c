"""The official SDK works against the server unchanged, and finds nothing it does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from penstock.simulator import Simulator, answer
from tests.simulator.raw import CHAT, chat, connect, post, request_bytes
from tests.simulator.test_brain import TOOL

MESSAGES: list[Any] = [{"role": "user", "content": "Tell me about canals"}]


class Person(BaseModel):
    name: str
    age: int
    friends: list[str]


@pytest.fixture
def client(simulator: Simulator) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=simulator.url, api_key="any", max_retries=0) as client:
        yield client


def test_create_returns_the_brains_answer(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="any", messages=MESSAGES)
    assert made.choices[0].message.content == answer(chat("Tell me about canals")).text
    assert made.usage is not None
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens


def test_a_stream_joins_to_the_same_text(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="any", messages=MESSAGES)
    chunks = list(
        client.chat.completions.create(
            model="any", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage


def test_a_stream_without_options_has_no_usage(client: openai.OpenAI) -> None:
    chunks = client.chat.completions.create(model="any", messages=MESSAGES, stream=True)
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_parse_gives_the_model_back(client: openai.OpenAI) -> None:
    parsed = client.chat.completions.parse(
        model="any", messages=[{"role": "user", "content": "A person"}], response_format=Person
    )
    assert isinstance(parsed.choices[0].message.parsed, Person)


def test_a_refusal_is_not_parsed(client: openai.OpenAI) -> None:
    refused = client.chat.completions.parse(
        model="simulated-refuse", messages=MESSAGES, response_format=Person
    )
    assert refused.choices[0].message.refusal
    assert refused.choices[0].message.parsed is None
    with client.chat.completions.stream(model="simulated-refuse", messages=MESSAGES) as stream:
        assert stream.get_final_completion().choices[0].message.refusal


def test_a_truncated_answer_is_known_as_such(client: openai.OpenAI) -> None:
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(
            model="any", messages=MESSAGES, response_format=Person, max_completion_tokens=3
        )


def test_tools_are_called_whole_and_streamed(client: openai.OpenAI) -> None:
    tools: Any = [TOOL]
    made = client.chat.completions.create(
        model="any", messages=MESSAGES, tools=tools, tool_choice="required"
    )
    assert made.choices[0].finish_reason == "tool_calls"
    assert made.choices[0].message.tool_calls is not None
    call = made.choices[0].message.tool_calls[0]
    assert call.type == "function"
    with client.chat.completions.stream(
        model="any", messages=MESSAGES, tools=tools, tool_choice="required"
    ) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.tool_calls is not None
    streamed = final.choices[0].message.tool_calls[0]
    assert streamed.function.arguments == call.function.arguments
    assert streamed.id == call.id
    assert json.loads(call.function.arguments).keys() == {"city", "days"}


def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    listed = client.models.list()
    assert "simulated-echo" in [model.id for model in listed]
    assert client.models.retrieve("gpt-4o").id == "gpt-4o"
    assert _extras(listed) == []


def test_errors_arrive_as_the_sdks_own(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.set(errors="429:1")
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="any", messages=MESSAGES)
    assert caught.value.code == "rate_limit_exceeded"
    simulator.set(errors="error_in_200:1")
    with pytest.raises(openai.APIError):
        list(client.chat.completions.create(model="any", messages=MESSAGES, stream=True))
    simulator.set(errors="reset:1")
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="any", messages=MESSAGES)


def test_a_retry_of_the_sdk_succeeds(simulator: Simulator) -> None:
    simulator.set(errors="429:0.5", seed=5)
    with openai.OpenAI(base_url=simulator.url, api_key="any", max_retries=8) as client:
        for _ in range(3):
            client.chat.completions.create(model="any", messages=MESSAGES)
    assert simulator.summary()["answered"] == 3


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"n": 3},
        {"model": "simulated-refuse"},
        {"model": "simulated-empty"},
        {"model": "o3"},
        {"max_tokens": 5},
        {"tools": [TOOL], "tool_choice": "required"},
        {"response_format": {"type": "json_object"}},
    ],
)
def test_every_answer_passes_the_sdks_strict_types(
    simulator: Simulator, more: dict[str, Any]
) -> None:
    made = ChatCompletion.model_validate(post(simulator, chat("Hi", **more)).json, strict=True)
    assert _extras(made) == []
    body = chat("Hi", stream=True, stream_options={"include_usage": True}, **more)
    with connect(simulator) as connection:
        connection.sendall(request_bytes(CHAT, body, headers={"connection": "close"}))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    events = [line[6:] for line in data.splitlines() if line.startswith(b"data: ")]
    assert events.pop() == b"[DONE]"
    for event in events:
        chunk = ChatCompletionChunk.model_validate(json.loads(event), strict=True)
        assert _extras(chunk) == []


def _extras(value: Any) -> list[str]:
    """The names of fields that the SDK's types do not know, anywhere inside."""
    if isinstance(value, BaseModel):
        found = list(value.model_extra or {})
        for name in type(value).model_fields:
            found += _extras(getattr(value, name))
        return found
    if isinstance(value, list):
        return [name for each in value for name in _extras(each)]
    return []
