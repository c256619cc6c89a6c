"""Anthropic's own SDK works against the server unchanged, and knows all that it finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, MessageTokensCount, ModelInfo, RawMessageStreamEvent
from anthropic.types.shared import ErrorResponse
from pydantic import BaseModel, TypeAdapter

from penstock.simulator import Simulator, answer
from tests.simulator.raw import Response, chat, connect, post, request_bytes
from tests.simulator.test_sdk import _extras

PATH = "/v1/messages"
VERSION = {"anthropic-version": "2026-10-21"}
OLDER = {"anthropic-version": "2023-06-01"}
ASKED: list[Any] = [{"role": "user", "content": "Tell me about canals"}]
TOOL: dict[str, Any] = {
    "name": "weather",
    "description": "The weather somewhere.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
}


class Person(BaseModel):
    name: str
    age: int
    friends: list[str]


@pytest.fixture
def client(simulator: Simulator) -> Iterator[anthropic.Anthropic]:
    url = simulator.url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        yield client


def body(**more: Any) -> dict[str, Any]:
    made = {"model": "any", "max_tokens": 1000, "messages": ASKED, **more}
    return {name: value for name, value in made.items() if value is not ...}


def ask(simulator: Simulator, asked: Any, headers: Any = VERSION, path: str = PATH) -> Response:
    return post(simulator, asked, path, headers=headers)


# The SDK --------------------------------------------------------------------------------------


def test_create_returns_the_brains_answer(client: anthropic.Anthropic) -> None:
    made = client.messages.create(model="any", max_tokens=1000, messages=ASKED)
    [block] = made.content
    assert block.type == "text"
    assert block.text == answer(chat("Tell me about canals")).text
    assert (made.stop_reason, made.stop_sequence) == ("end_turn", None)
    assert made.usage.input_tokens > 0 and made.usage.output_tokens > 0
    assert made._request_id is not None and made._request_id.startswith("req_")


def test_a_stream_comes_to_the_same_message(client: anthropic.Anthropic) -> None:
    thinking: Any = {"type": "adaptive"}
    asked: Any = {"model": "any", "max_tokens": 9000, "messages": ASKED, "thinking": thinking}
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop"
    assert {"thinking", "signature", "text", "content_block_stop", "message_delta"} <= set(kinds)
    assert [block.type for block in final.content] == ["thinking", "text"]
    assert final.usage == whole.usage
    one, other = whole.to_dict(), final.to_dict()
    assert one.pop("id") != other.pop("id")
    for block in other["content"]:  # type: ignore[attr-defined]
        block.pop("parsed_output", None)
    assert one == other


def test_text_comes_in_pieces(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="any", max_tokens=1000, messages=ASKED) as stream:
        pieces = list(stream.text_stream)
    assert len(pieces) > 5
    assert "".join(pieces) == answer(chat("Tell me about canals")).text


def test_parse_gives_the_model_back(client: anthropic.Anthropic) -> None:
    made = client.messages.parse(model="any", max_tokens=1000, messages=ASKED, output_format=Person)
    assert isinstance(made.parsed_output, Person)
    with client.messages.stream(
        model="any", max_tokens=1000, messages=ASKED, output_format=Person
    ) as stream:
        assert stream.get_final_message().parsed_output == made.parsed_output


def test_a_refusal_is_told_with_its_explanation(client: anthropic.Anthropic) -> None:
    made = client.messages.create(model="simulated-refuse", max_tokens=9, messages=ASKED)
    assert (made.stop_reason, made.content) == ("refusal", [])
    assert made.stop_details is not None and made.stop_details.explanation
    with client.messages.stream(model="simulated-refuse", max_tokens=9, messages=ASKED) as stream:
        assert stream.get_final_message().stop_details == made.stop_details


def test_a_cut_and_a_stopped_answer_are_known_as_such(client: anthropic.Anthropic) -> None:
    cut = client.messages.create(model="any", max_tokens=3, messages=ASKED)
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 3)
    warmed = client.messages.create(model="any", max_tokens=0, messages=ASKED)
    assert (warmed.stop_reason, warmed.content) == ("max_tokens", [])
    stopped = client.messages.create(
        model="simulated-echo", max_tokens=99, messages=ASKED, stop_sequences=["x", " about"]
    )
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", " about")
    assert [block.to_dict()["text"] for block in stopped.content] == ["Tell me"]


def test_tools_are_called_whole_and_streamed_and_their_results_taken(
    client: anthropic.Anthropic,
) -> None:
    asked: Any = {
        "model": "any",
        "max_tokens": 1000,
        "messages": ASKED,
        "tools": [TOOL],
        "tool_choice": {"type": "any"},
    }
    made = client.messages.create(**asked)
    assert made.stop_reason == "tool_use"
    [call] = made.content
    assert call.type == "tool_use" and call.id.startswith("toolu_")
    assert call.input.keys() == {"city", "days"}
    with client.messages.stream(**asked) as stream:
        assert stream.get_final_message().content == [call]
    result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "It rains."}
    last = client.messages.create(
        model="any",
        max_tokens=1000,
        messages=[*ASKED, made.to_param(), {"role": "user", "content": [result]}],
        tools=[TOOL],  # type: ignore[list-item]
    )
    assert last.stop_reason == "end_turn"


def test_thinking_can_be_hidden(client: anthropic.Anthropic) -> None:
    made = client.messages.create(
        model="any",
        max_tokens=9000,
        messages=ASKED,
        thinking={"type": "enabled", "budget_tokens": 2000, "display": "omitted"},
    )
    [thought, _] = made.content
    assert thought.type == "thinking" and thought.thinking == "" and thought.signature
    assert made.usage.output_tokens_details is not None
    assert 0 < made.usage.output_tokens_details.thinking_tokens < made.usage.output_tokens


def test_tokens_are_counted_as_an_answer_counts_them(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    counted = client.messages.count_tokens(model="any", messages=ASKED, system="Be brief.")
    made = client.messages.create(model="any", max_tokens=1000, messages=ASKED, system="Be brief.")
    assert counted.input_tokens == made.usage.input_tokens
    first, _ = simulator.ledger()
    assert (first["path"], first["completion_tokens"]) == (f"{PATH}/count_tokens", 0)


def test_models_are_listed_and_found(client: anthropic.Anthropic) -> None:
    listed = client.models.list()
    assert "simulated-echo" in [model.id for model in listed]
    found = client.models.retrieve("claude-x")
    assert found.id == "claude-x"
    assert _extras(found) == []


def test_a_cache_is_read_only_where_it_is_asked_for(client: anthropic.Anthropic) -> None:
    system = "Be brief. " * 1000
    plain = client.messages.create(model="any", max_tokens=9, messages=ASKED, system=system)
    cached = client.messages.create(
        model="any",
        max_tokens=9,
        messages=ASKED,
        system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
    )
    assert plain.usage.cache_read_input_tokens == 0
    assert cached.usage.cache_read_input_tokens
    total = cached.usage.cache_read_input_tokens + cached.usage.input_tokens
    assert total == plain.usage.input_tokens


ERRORS: dict[str, type[anthropic.APIStatusError]] = {
    "400": anthropic.BadRequestError,
    "401": anthropic.AuthenticationError,
    "403": anthropic.PermissionDeniedError,
    "404": anthropic.NotFoundError,
    "409": anthropic.ConflictError,
    "429": anthropic.RateLimitError,
    "500": anthropic.InternalServerError,
    "529": anthropic.APIStatusError,
}
TYPES = {
    "400": "invalid_request_error",
    "401": "authentication_error",
    "403": "permission_error",
    "404": "not_found_error",
    "409": "conflict_error",
    "429": "rate_limit_error",
    "500": "api_error",
    "529": "overloaded_error",
}


@pytest.mark.parametrize("fault", ERRORS)
def test_errors_arrive_as_the_sdks_own(
    fault: str, client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(errors=f"{fault}:1")
    with pytest.raises(ERRORS[fault]) as caught:
        client.messages.create(model="any", max_tokens=9, messages=ASKED)
    assert caught.value.status_code == int(fault)
    assert caught.value.type == TYPES[fault]
    assert isinstance(caught.value.body, dict)
    assert caught.value.request_id == caught.value.body["request_id"]


def test_an_overload_and_a_spend_limit_have_classes_of_their_own(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    simulator.set(errors="529:1")
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        client.messages.create(model="any", max_tokens=9, messages=ASKED)
    assert type(overloaded.value).__name__ == "OverloadedError"
    simulator.set(errors="", quota=0)
    with pytest.raises(anthropic.RateLimitError) as spent:
        client.messages.create(model="any", max_tokens=9, messages=ASKED)
    assert type(spent.value).__name__ == "EnforcedSpendLimitReachedError"
    assert "retry-after" not in spent.value.response.headers


def test_what_breaks_while_it_streams_is_an_error_for_the_sdk_too(
    client: anthropic.Anthropic, simulator: Simulator
) -> None:
    def stream() -> None:
        with client.messages.stream(model="any", max_tokens=99, messages=ASKED) as stream:
            stream.get_final_message()

    simulator.set(errors="error_in_200:1")
    with pytest.raises(anthropic.APIStatusError) as caught:
        stream()
    assert caught.value.type == "api_error"
    simulator.set(errors="malformed:1")
    with pytest.raises(json.JSONDecodeError):
        stream()
    simulator.set(errors="reset:1")
    with pytest.raises(anthropic.APIConnectionError):
        stream()


def test_a_wrong_key_is_refused_in_either_header(simulator: Simulator) -> None:
    simulator.set(key="right")
    for headers, status in (
        ({"authorization": "Bearer right"}, 200),
        ({"authorization": "", "x-api-key": "right"}, 200),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "", "x-api-key": "wrong"}, 401),
        ({"authorization": ""}, 401),
    ):
        assert ask(simulator, body(), VERSION | headers).status == status


def test_a_retry_of_the_sdk_succeeds(simulator: Simulator) -> None:
    simulator.set(errors="429:0.3,529:0.2", seed=5)
    url = simulator.url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=8) as client:
        for _ in range(3):
            client.messages.create(model="any", max_tokens=9, messages=ASKED)
    assert simulator.summary()["answered"] == 3


# Types ----------------------------------------------------------------------------------------


EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
KINDS = [
    {},
    {"model": "simulated-refuse"},
    {"model": "simulated-empty"},
    {"max_tokens": 5},
    {"max_tokens": 0},
    {"thinking": {"type": "adaptive"}, "max_tokens": 9000},
    {"tools": [TOOL], "tool_choice": {"type": "any"}},
    {"stop_sequences": ["canals"]},
    {"cache_control": {"type": "ephemeral"}, "system": "Be brief. " * 1000},
]


@pytest.mark.parametrize("more", KINDS)
def test_every_answer_passes_the_sdks_strict_types(
    simulator: Simulator, more: dict[str, Any]
) -> None:
    made = Message.model_validate(ask(simulator, body(**more)).json, strict=True)
    assert _extras(made) == []
    with connect(simulator) as connection:
        headers = {"connection": "close", **VERSION}
        connection.sendall(request_bytes(PATH, body(stream=True, **more), headers=headers))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    lines = data.splitlines()
    names = [line[7:].decode() for line in lines if line.startswith(b"event: ")]
    events = [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]
    assert names == [event["type"] for event in events]
    assert (names[0], names[1], names[-1]) == ("message_start", "ping", "message_stop")
    for event in events:
        if event["type"] != "ping":
            assert _extras(EVENT.validate_python(event, strict=True)) == []


def test_counts_models_and_errors_pass_the_sdks_strict_types(simulator: Simulator) -> None:
    counted = ask(simulator, body(max_tokens=...), path=f"{PATH}/count_tokens").json
    assert _extras(MessageTokensCount.model_validate(counted, strict=True)) == []
    listed = post(simulator, None, "/v1/models", "GET", VERSION).json
    assert set(listed) == {"data", "has_more", "first_id", "last_id"}
    for model in listed["data"]:
        assert _extras(ModelInfo.model_validate_json(json.dumps(model), strict=True)) == []
    for fault in TYPES:
        if fault != "409":  # the SDK's union of errors has no conflict
            simulator.set(errors=f"{fault}:1")
            error = ask(simulator, body()).json
            assert _extras(ErrorResponse.model_validate(error, strict=True)) == []


# What is refused ------------------------------------------------------------------------------


def _schema(**keywords: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", **keywords}},
        "additionalProperties": False,
    }
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _whole(schema: Any) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _turns(*contents: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    turns = [{"role": roles[at % 2], "content": c} for at, c in enumerate(contents)]
    return {"messages": turns}


USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
DOCUMENT = {"type": "document", "source": {"type": "url", "url": "https://e.org/a.pdf"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
RECURSIVE = {
    "$defs": {
        "n": {
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}},
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/n",
}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no max_tokens": ({"max_tokens": ...}, "max_tokens: Field required"),
    "max_tokens as a text": ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    "fewer than no tokens": ({"max_tokens": -1}, "max_tokens: Input should be greater"),
    "too many tokens": ({"max_tokens": 200_000}, "max_tokens: 200000 > 128000"),
    "no model": ({"model": ...}, "model: Field required"),
    "an empty model": ({"model": ""}, "model: "),
    "no messages": ({"messages": ...}, "messages: Field required"),
    "messages that are none": ({"messages": "Hi"}, "messages: Input should be a valid list"),
    "an empty list": ({"messages": []}, "messages: at least one message is required"),
    "a message that is none": ({"messages": ["Hi"]}, "messages.0: Input should be"),
    "no content": ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    "an empty content": (_turns(""), "messages.0: all messages must have non-empty content"),
    "an empty text": (_turns([{"type": "text", "text": ""}]), "must be non-empty"),
    "a name": (
        {"messages": [{"role": "user", "content": "Hi", "name": "ada"}]},
        "messages.0.name: Extra inputs are not permitted",
    ),
    "a tool's role": (
        {"messages": [{"role": "tool", "content": "x"}]},
        'messages: Unexpected role "tool"',
    ),
    "the assistant first": (
        {"messages": [{"role": "assistant", "content": "x"}]},
        'first message must use the "user" role',
    ),
    "a key of tomorrow": ({"of_tomorrow": 1}, "of_tomorrow: Extra inputs are not permitted"),
    "a key of OpenAI": ({"n": 2}, "n: Extra inputs are not permitted"),
    "temperature": ({"temperature": 1}, "temperature: Extra inputs are not permitted"),
    "top_p": ({"top_p": 1}, "top_p: Extra inputs are not permitted"),
    "top_k": ({"top_k": 1}, "top_k: Extra inputs are not permitted"),
    "a block of no kind": (_turns([{"type": "image_url"}]), "Input tag 'image_url'"),
    "a call by the user": (_turns([USE]), "Input tag 'tool_use'"),
    "a result without its call": (_turns([RESULT]), "unexpected `tool_use_id`"),
    "a call without its result": (_turns("a", [USE], "b"), "without `tool_result` blocks"),
    "a call at the end": (_turns("a", [USE]), "without `tool_result` blocks"),
    "input as a text": (_turns("a", [{**USE, "input": "{}"}], [RESULT]), ".input: "),
    "an odd id": (_turns("a", [{**USE, "id": "a b"}]), "should match pattern"),
    "a document by the assistant": (_turns("a", [DOCUMENT], "b"), "not allowed in assistant"),
    "citations by the user": (
        _turns([{"type": "text", "text": "a", "citations": [{}]}]),
        "citations: not allowed",
    ),
    "an image of another type": (
        _turns([{**IMAGE, "source": {**IMAGE["source"], "media_type": "image/bmp"}}]),  # type: ignore[dict-item]
        "media_type: Input should be 'image/jpeg'",
    ),
    "an image from nowhere": (_turns([{"type": "image"}]), "source: Field required"),
    "an image without data": (
        _turns([{"type": "image", "source": {"type": "base64", "media_type": "image/png"}}]),
        "source.data: Field required",
    ),
    "detail of an image": (_turns([{**IMAGE, "detail": "low"}]), "detail: Extra inputs"),
    "a system prompt of images": ({"system": [IMAGE]}, "system.0.text: "),
    "a system prompt that is a number": ({"system": 5}, "system: Input should be"),
    "one stop": ({"stop_sequences": "x"}, "stop_sequences: Input should be a valid list"),
    "a blank stop": ({"stop_sequences": [" "]}, "non-whitespace"),
    "a stream of words": ({"stream": "yes"}, "stream: Input should be a valid boolean"),
    "metadata of one's own": ({"metadata": {"run": "7"}}, "metadata.run: Extra inputs"),
    "a tier of one's own": ({"service_tier": "flex"}, "service_tier: Input should be"),
    "another cache": ({"cache_control": {"type": "eternal"}}, "cache_control.type: "),
    "thinking of no kind": ({"thinking": {"type": "deep"}}, "thinking: Input tag 'deep'"),
    "little thinking": (
        {"thinking": {"type": "enabled", "budget_tokens": 100}},
        "thinking.budget_tokens: Input should be at least 1024",
    ),
    "more thinking than tokens": (
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        "`max_tokens` must be greater than",
    ),
    "an effort of no kind": ({"output_config": {"effort": "minimal"}}, "output_config.effort: "),
    "a format of no kind": (
        {"output_config": {"format": {"type": "json_object"}}},
        "output_config.format.type: ",
    ),
    "a named format": (
        {"output_config": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
        "output_config.format.name: Extra inputs",
    ),
    "minLength": (_schema(minLength=1), "properties minLength are not supported"),
    "maxLength": (_schema(maxLength=1), "properties maxLength are not supported"),
    "minimum": (_schema(minimum=1), "properties minimum are not supported"),
    "multipleOf": (_schema(multipleOf=1), "properties multipleOf are not supported"),
    "maxItems": (_schema(maxItems=1), "properties maxItems are not supported"),
    "two items at least": (_schema(minItems=2), "'minItems' values other than 0 or 1"),
    "an unknown format": (_schema(format="iri"), "format 'iri' is not supported"),
    "a list of types": (_schema(type=["string", "null"]), "is not supported"),
    "an enum of lists": (_schema(enum=[[1]]), "Complex types within enums"),
    "one of": (_whole({"oneOf": [{"type": "string"}]}), "'oneOf' is not supported"),
    "an open object": (
        _whole({"type": "object", "properties": {}}),
        "'additionalProperties' must be explicitly set to false",
    ),
    "no type": (_whole({}), "Schema must have a 'type'"),
    "true": (_whole(True), "Input should be a valid dictionary"),
    "recursion": (_whole(RECURSIVE), "Recursive schemas are not supported"),
    "a reference to elsewhere": (_whole({"$ref": "https://e.org/s"}), "External $ref"),
    "a reference to nowhere": (_whole({"$ref": "#/$defs/x"}), "leads nowhere"),
    "a tool of OpenAI": (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools.0: Input tag 'function'",
    ),
    "a tool without a schema": ({"tools": [{"name": "f"}]}, "input_schema: Field required"),
    "a tool with an odd name": ({"tools": [{**TOOL, "name": "a b"}]}, "should match pattern"),
    "a tool with more keys": ({"tools": [{**TOOL, "parameters": {}}]}, "parameters: Extra inputs"),
    "a tool that takes no object": (
        {"tools": [{"name": "f", "input_schema": {"type": "string"}}]},
        "input_schema.type",
    ),
    "two tools of one name": ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
    "a strict tool that is open": (
        {"tools": [{**TOOL, "strict": True}]},
        "tools.0.custom.input_schema: For 'object' type",
    ),
    "a choice without tools": ({"tool_choice": {"type": "auto"}}, "while providing `tools`"),
    "a choice as a text": ({"tools": [TOOL], "tool_choice": "auto"}, "tool_choice: Input should"),
    "a choice of no kind": (
        {"tools": [TOOL], "tool_choice": {"type": "required"}},
        "tool_choice: Input tag 'required'",
    ),
    "a tool that is not there": (
        {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "x"}},
        "Tool 'x' not found",
    ),
    "a forced tool while thinking": (
        {
            "tools": [TOOL],
            "tool_choice": {"type": "any"},
            "max_tokens": 9000,
            "thinking": {"type": "enabled", "budget_tokens": 2000},
        },
        "Thinking may not be enabled",
    ),
    "a forced tool of a model that takes none": (
        {"model": "claude-opus-5-5", "tools": [TOOL], "tool_choice": {"type": "any"}},
        "does not support forced tool use",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_real_server_refuses_is_refused(name: str, simulator: Simulator) -> None:
    more, said = REFUSED[name]
    refused = ask(simulator, body(**more))
    assert refused.status == 400
    assert refused.error["type"] == "invalid_request_error"
    assert said in refused.error["message"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"temperature": 0.5}, None),
        ({"top_p": 0.9, "top_k": 40}, None),
        ({"temperature": 1.5}, "temperature: Input should be between 0 and 1"),
        ({"temperature": "warm"}, "temperature: Input should be a valid number"),
        ({"temperature": 0.5, "model": "claude-opus-4-8"}, "`temperature` is not supported"),
        ({"temperature": 1, "model": "claude-opus-4-8"}, None),
        ({"top_k": 5, "model": "claude-sonnet-5-5"}, "`top_k` is not supported"),
        ({"temperature": 0.5, "model": "claude-sonnet-4-5"}, None),
        (_turns("a", [DOCUMENT], "b"), None),
        (
            {
                "temperature": 0.5,
                "max_tokens": 9000,
                "thinking": {"type": "enabled", "budget_tokens": 2000},
            },
            "may only be set to 1 when thinking",
        ),
    ],
)
def test_the_older_version_has_rules_of_its_own(
    more: dict[str, Any], said: str | None, simulator: Simulator
) -> None:
    made = ask(simulator, body(**more), OLDER)
    assert made.status == (200 if said is None else 400)
    if said is not None:
        assert said in made.error["message"]


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "anthropic-version: header is required"),
        ({"anthropic-version": "2020-01-01"}, '"2020-01-01" is not a valid version'),
    ],
)
def test_a_request_must_name_a_version_that_there_is(
    headers: dict[str, str], said: str, simulator: Simulator
) -> None:
    refused = ask(simulator, body(), headers)
    assert refused.status == 400
    assert said in refused.error["message"]


def test_counting_takes_no_max_tokens_and_needs_none(simulator: Simulator) -> None:
    path = f"{PATH}/count_tokens"
    refused = ask(simulator, body(), path=path)
    assert refused.error["message"] == "max_tokens: Extra inputs are not permitted"
    counted = ask(simulator, body(max_tokens=...), path=path).json["input_tokens"]
    longer = ask(simulator, body(max_tokens=..., system="Be brief. " * 10), path=path).json
    assert 0 < counted < longer["input_tokens"]


def test_a_body_that_is_too_large_is_refused_as_such(simulator: Simulator) -> None:
    refused = ask(simulator, body(system="x" * (33 * 1024 * 1024)))
    assert (refused.status, refused.error["type"]) == (413, "request_too_large")


def test_a_wrong_method_or_body_is_answered_in_this_apis_words(simulator: Simulator) -> None:
    wrong = post(simulator, None, PATH, "GET", VERSION)
    assert (wrong.status, wrong.json["type"]) == (405, "error")
    broken = ask(simulator, b"{broken")
    assert (broken.status, broken.json["type"]) == (400, "error")


def test_system_turns_among_the_messages_are_taken(simulator: Simulator) -> None:
    turns = [*ASKED, {"role": "system", "content": "Be brief."}]
    assert ask(simulator, body(messages=turns)).status == 200


def test_limits_are_told_in_this_apis_headers(simulator: Simulator) -> None:
    simulator.set(rpm=100, tpm=10_000)
    headers = ask(simulator, body()).headers
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        assert int(headers[f"anthropic-ratelimit-{kind}-limit"]) in (100, 10_000)
        assert int(headers[f"anthropic-ratelimit-{kind}-remaining"]) >= 99
        assert headers[f"anthropic-ratelimit-{kind}-reset"].endswith("Z")
    assert not [name for name in headers if name.startswith("x-ratelimit")]


def test_a_fixed_server_answers_in_this_apis_words_too(simulator: Simulator) -> None:
    simulator.set(fixed=True)
    made = Message.model_validate(ask(simulator, body()).json, strict=True)
    assert made.content[0].to_dict()["text"] != answer(chat("Tell me about canals")).text
    assert post(simulator, chat()).json["object"] == "chat.completion"
