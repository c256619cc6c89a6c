"""Google's own SDK works against the server unchanged, and finds nothing it does not know."""

from __future__ import annotations

import asyncio
import enum
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from penstock.simulator import Simulator, answer
from tests.simulator.raw import chat, connect, post, read_response, request_bytes

SKY = "Tell me about canals"
MODELS = "/v1/models"


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Person(BaseModel):
    name: str
    age: int
    mood: Mood
    nickname: str | None
    friends: list[str]


def weather(city: str, days: int) -> str:
    """The weather of some days at a place."""
    return f"{city}: sun for {days} days"


WEATHER = {
    "name": "weather",
    "description": "The weather somewhere.",
    "parameters_json_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
}
MUST_CALL: dict[str, Any] = {
    "tools": [{"function_declarations": [WEATHER]}],
    "tool_config": {"function_calling_config": {"mode": "ANY"}},
}


@pytest.fixture
def client(simulator: Simulator) -> Iterator[genai.Client]:
    made = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=simulator.root))
    yield made
    made.close()


def ask(client: genai.Client, contents: Any = SKY, model: str = "any", **config: Any) -> Any:
    given: Any = config or None
    return client.models.generate_content(model=model, contents=contents, config=given)


def stream(client: genai.Client, contents: Any = SKY, model: str = "any", **config: Any) -> Any:
    given: Any = config or None
    return list(client.models.generate_content_stream(model=model, contents=contents, config=given))


# The SDK's calls ------------------------------------------------------------------------------


def test_generate_content_returns_the_brains_answer(client: genai.Client) -> None:
    made = ask(client)
    assert made.text == answer(chat(SKY)).text
    usage = made.usage_metadata
    assert usage.total_token_count == usage.prompt_token_count + usage.candidates_token_count > 0
    assert made.candidates[0].finish_reason is types.FinishReason.STOP
    assert made.model_version == "any"


def test_a_stream_joins_to_the_same_text(client: genai.Client) -> None:
    whole, chunks = ask(client), stream(client)
    assert len(chunks) > 2
    assert "".join(chunk.text or "" for chunk in chunks) == whole.text
    reasons = [chunk.candidates[0].finish_reason for chunk in chunks]
    assert reasons[-1] is types.FinishReason.STOP and set(reasons[:-1]) == {None}
    assert chunks[-1].usage_metadata == whole.usage_metadata


@pytest.mark.filterwarnings("ignore:Inheritance class")  # of the SDK's own session
def test_the_asynchronous_client_works_too(simulator: Simulator) -> None:
    async def both() -> tuple[str | None, str]:
        options = types.HttpOptions(base_url=simulator.root)
        async with genai.Client(api_key="any", http_options=options).aio as client:
            whole = await client.models.generate_content(model="any", contents=SKY)
            chunks = await client.models.generate_content_stream(model="any", contents=SKY)
            return whole.text, "".join([chunk.text or "" async for chunk in chunks])

    whole, streamed = asyncio.run(both())
    assert whole == streamed == answer(chat(SKY)).text


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_are_served(version: str, simulator: Simulator) -> None:
    options = types.HttpOptions(base_url=simulator.root, api_version=version)
    client = genai.Client(api_key="any", http_options=options)
    assert ask(client).text
    assert [model.name for model in client.models.list()]
    client.close()
    assert simulator.ledger()[0]["path"] == f"/{version}/models/any:generateContent"


def test_a_pydantic_model_comes_back_filled(client: genai.Client) -> None:
    made = ask(
        client,
        "A person",
        response_mime_type="application/json",
        response_schema=Person,
    )
    assert isinstance(made.parsed, Person)
    assert list(json.loads(made.text)) == list(Person.model_fields)


def test_what_may_be_null_sometimes_is(client: genai.Client) -> None:
    people = [
        ask(client, response_mime_type="application/json", response_schema=Person, seed=seed).parsed
        for seed in range(40)
    ]
    assert {type(person.nickname) for person in people} == {str, type(None)}


@pytest.mark.parametrize("wanted", [list[Person], list[int], int, str])
def test_any_type_that_the_sdk_takes_comes_back(client: genai.Client, wanted: Any) -> None:
    made = ask(client, "Some", response_mime_type="application/json", response_schema=wanted)
    assert made.parsed is not None


def test_a_json_schema_is_kept_in_the_order_that_it_asks_for(client: genai.Client) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "null"}},
        "required": ["a", "b", "c"],
        "propertyOrdering": ["c", "a", "b"],
    }
    made = ask(client, response_mime_type="application/json", response_json_schema=schema)
    assert list(json.loads(made.text)) == ["c", "a", "b"]


def test_json_may_be_asked_for_without_a_schema(client: genai.Client) -> None:
    made = ask(client, 'Give me "score" and "reason"', response_mime_type="application/json")
    assert json.loads(made.text).keys() == {"score", "reason"}


def test_a_function_is_called_whole_and_streamed(client: genai.Client) -> None:
    [call] = ask(client, **MUST_CALL).function_calls
    assert call.name == "weather" and call.args.keys() == {"city", "days"}
    streamed = [
        found for chunk in stream(client, **MUST_CALL) for found in chunk.function_calls or ()
    ]
    assert streamed == [call]


def test_the_sdk_calls_functions_by_itself(client: genai.Client) -> None:
    made = ask(client, "Use the weather tool for Bern", model="any", tools=[weather])
    turns = made.automatic_function_calling_history
    assert [turn.role for turn in turns] == ["user", "model", "user"]
    assert "sun for" in turns[2].parts[0].function_response.response["result"]
    assert made.text


def test_a_chat_goes_on(client: genai.Client, simulator: Simulator) -> None:
    talk = client.chats.create(model="any")
    first = talk.send_message("Hello")
    again = talk.send_message("Hello")
    assert first.text and again.text and first.text != again.text
    assert simulator.summary()["repeated"] == 0


def test_thoughts_come_when_they_are_asked_for(client: genai.Client) -> None:
    made = ask(client, thinking_config={"thinking_budget": 2000, "include_thoughts": True})
    thought, said = made.candidates[0].content.parts
    assert thought.thought and thought.text and not said.thought
    usage = made.usage_metadata
    assert usage.thoughts_token_count > 0
    assert usage.total_token_count == (
        usage.prompt_token_count + usage.candidates_token_count + usage.thoughts_token_count
    )
    assert "".join(
        part.text
        for chunk in stream(
            client, thinking_config={"thinking_level": "LOW", "include_thoughts": True}
        )
        for part in chunk.candidates[0].content.parts
        if part.thought
    ) == (thought.text)


@pytest.mark.parametrize(
    ("model", "thinking", "thinks"),
    [
        ("any", None, False),
        ("gemini-2.5-flash", None, True),
        ("gemini-3-pro", None, True),
        ("gemini-2.0-flash", None, False),
        ("gemini-2.5-flash", {"thinking_budget": 0}, False),
        ("any", {"thinking_budget": -1}, True),
        ("any", {"thinking_level": "MINIMAL"}, True),
    ],
)
def test_models_think_as_they_are_told(
    client: genai.Client, model: str, thinking: Any, thinks: bool
) -> None:
    config = {"thinking_config": thinking} if thinking else {}
    usage = ask(client, model=model, **config).usage_metadata
    assert bool(usage.thoughts_token_count) is thinks


@pytest.mark.parametrize("budget", [20, 128, 400, 1024, 5000])
def test_thoughts_stay_within_their_budget(client: genai.Client, budget: int) -> None:
    usage = ask(client, thinking_config={"thinking_budget": budget}).usage_metadata
    assert 0 < usage.thoughts_token_count <= max(budget, 32)


def test_an_answer_is_cut_and_says_so(client: genai.Client) -> None:
    made = ask(client, max_output_tokens=3)
    assert made.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS
    assert made.usage_metadata.candidates_token_count == 3
    silent = ask(client, model="gemini-2.5-flash", max_output_tokens=3)
    assert silent.text is None  # all of it was thought


def test_several_candidates_are_several_draws(client: genai.Client) -> None:
    made = ask(client, candidate_count=3)
    texts = [candidate.content.parts[0].text for candidate in made.candidates]
    assert len(set(texts)) == 3
    assert [candidate.index for candidate in made.candidates] == [0, 1, 2]


def test_a_refusal_is_a_blocked_prompt(client: genai.Client) -> None:
    made = ask(client, model="simulated-refuse")
    assert made.candidates is None
    assert made.prompt_feedback.block_reason is types.BlockedReason.SAFETY
    [only] = stream(client, model="simulated-refuse")
    assert only.prompt_feedback == made.prompt_feedback


def test_without_filters_a_refusal_is_a_stopped_answer(client: genai.Client) -> None:
    off = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "threshold": "OFF"}]
    made = ask(client, model="simulated-refuse", safety_settings=off)
    assert made.candidates[0].finish_reason is types.FinishReason.PROHIBITED_CONTENT
    assert made.text is None
    last = stream(client, model="simulated-refuse", safety_settings=off)[-1]
    assert last.candidates[0].finish_reason is types.FinishReason.PROHIBITED_CONTENT


def test_tokens_are_counted_without_an_answer(client: genai.Client, simulator: Simulator) -> None:
    counted = client.models.count_tokens(model="any", contents=SKY)
    assert counted.total_tokens == ask(client).usage_metadata.prompt_token_count
    assert simulator.ledger()[0]["completion_tokens"] == 0
    assert simulator.summary()["repeated"] == 0


def test_models_are_listed_and_found(client: genai.Client) -> None:
    listed = {model.name: model for model in client.models.list()}
    assert "models/simulated-echo" in listed
    found = client.models.get(model="gemini-2.5-flash")
    assert found.name == "models/gemini-2.5-flash"
    assert found.supported_actions == ["generateContent", "countTokens"]


def test_the_models_of_openai_are_still_listed_at_the_same_address(simulator: Simulator) -> None:
    plain = post(simulator, None, MODELS, "GET")
    assert plain.json["object"] == "list"
    ours = post(simulator, None, MODELS, "GET", {"x-goog-api-key": "any"})
    assert ours.json["models"][0]["name"] == "models/simulated"
    assert post(simulator, None, "/v1beta/models", "GET").json == ours.json


def test_pictures_are_seen(client: genai.Client) -> None:
    def look(data: bytes) -> Any:
        return ask(client, [types.Part.from_bytes(data=data, mime_type="image/png"), "What?"])

    assert look(b"1").text == look(b"1").text != look(b"2").text
    assert look(b"1").usage_metadata.prompt_token_count > 85


def test_system_stop_and_seed_change_the_answer(client: genai.Client) -> None:
    plain = ask(client).text
    assert ask(client, system_instruction="Speak of boats.").text != plain
    assert ask(client, seed=3).text == ask(client, seed=3).text != plain
    assert ask(client, stop_sequences=["."]).text == plain.partition(".")[0]


# Errors ---------------------------------------------------------------------------------------


def refused(client: genai.Client, **config: Any) -> errors.APIError:
    with pytest.raises(errors.APIError) as caught:
        ask(client, **config)
    return caught.value


FAULTS: dict[str, tuple[type[errors.APIError], int, str | None]] = {
    "400": (errors.ClientError, 400, "INVALID_ARGUMENT"),
    "401": (errors.ClientError, 400, "INVALID_ARGUMENT"),
    "403": (errors.ClientError, 403, "PERMISSION_DENIED"),
    "404": (errors.ClientError, 404, "NOT_FOUND"),
    "409": (errors.ClientError, 409, "ABORTED"),
    "429": (errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
    "500": (errors.ServerError, 500, "INTERNAL"),
    "503": (errors.ServerError, 503, "UNAVAILABLE"),
    "529": (errors.ServerError, 503, "UNAVAILABLE"),
    "502": (errors.ServerError, 502, "Bad Gateway"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_arrive_as_the_sdks_own_errors(
    fault: str, client: genai.Client, simulator: Simulator
) -> None:
    kind, code, status = FAULTS[fault]
    simulator.set(errors=f"{fault}:1")
    error = refused(client)
    assert isinstance(error, kind)
    assert (error.code, error.status) == (code, status)
    assert error.message


def test_an_error_in_the_middle_of_a_stream_is_raised(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(errors="error_in_200:1")
    with pytest.raises(errors.ServerError):
        stream(client)


def details(error: errors.APIError) -> dict[str, Any]:
    told: Any = error.details
    return {each["@type"].rpartition(".")[2]: each for each in told["error"].get("details", ())}


def test_a_limit_says_which_and_when_to_come_back(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(rpm=1)
    ask(client)
    told = details(refused(client))
    [violation] = told["QuotaFailure"]["violations"]
    assert "PerMinute" in violation["quotaId"] and violation["quotaValue"] == "1"
    assert 50 < float(told["RetryInfo"]["retryDelay"].removesuffix("s")) <= 60
    with connect(simulator) as connection:
        body = {"contents": [{"parts": [{"text": "Hi"}]}]}
        connection.sendall(request_bytes(f"{MODELS}/any:generateContent", body))
        headers = read_response(connection).headers
    assert not [name for name in headers if "ratelimit" in name or "retry" in name]


def test_a_token_limit_is_one_of_input_tokens(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(tpm=100)
    with pytest.raises(errors.ClientError) as caught:
        for _ in range(5):
            ask(client)
    [violation] = details(caught.value)["QuotaFailure"]["violations"]
    assert "InputTokensPerModelPerMinute" in violation["quotaId"]


def test_a_question_larger_than_a_minute_is_too_large(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(tpm=20)
    error = refused(client)
    assert error.code == 400 and "token count exceeds" in str(error.message)


def test_an_empty_account_says_per_day(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(quota=0)
    told = details(refused(client))
    assert "PerDay" in told["QuotaFailure"]["violations"][0]["quotaId"]
    assert "RetryInfo" not in told


def test_a_wrong_key_and_none(client: genai.Client, simulator: Simulator) -> None:
    simulator.set(key="another")
    error = refused(client)
    assert error.code == 400
    assert details(error)["ErrorInfo"]["reason"] == "API_KEY_INVALID"
    body = {"contents": [{"parts": [{"text": "Hi"}]}]}
    keyless = post(simulator, body, f"{MODELS}/any:generateContent", headers={"authorization": ""})
    assert (keyless.status, keyless.error["status"]) == (403, "PERMISSION_DENIED")
    simulator.set(key="any")
    assert ask(client).text


# What is no request ---------------------------------------------------------------------------

HI = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
CALL = {"functionCall": {"name": "f", "args": {}}}
CAME = {"functionResponse": {"name": "f", "response": {}}}


def configured(**config: Any) -> dict[str, Any]:
    return {**HI, "generationConfig": config}


def turns(*contents: tuple[str, Any]) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": parts} for role, parts in contents]}


def asked_for(schema: Any) -> dict[str, Any]:
    return configured(responseMimeType="application/json", responseJsonSchema=schema)


LOOP = {
    "$defs": {
        "n": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
            "required": ["next"],
        }
    },
    "$ref": "#/$defs/n",
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "contents is not specified"),
    "no contents": ({"contents": []}, "contents is not specified"),
    "no parts": ({"contents": [{"role": "user"}]}, "parts must not be empty"),
    "a part with nothing": (turns(("user", [{}])), "must have one initialized field"),
    "a part with two": (turns(("user", [{"text": "a", "fileData": {}}])), "one initialized field"),
    "another's role": (turns(("assistant", [{"text": "a"}])), "valid role"),
    "another's field": ({**HI, "messages": []}, 'Unknown name "messages": Cannot find field.'),
    "another's parameter": (
        configured(max_tokens=5),
        "Unknown name \"max_tokens\" at 'generation_config': Cannot find field.",
    ),
    "an unknown field inside": (
        turns(("user", [{"text": "a", "type": "text"}])),
        "at 'contents[0].parts[0]'",
    ),
    "a text for a number": (
        configured(temperature="hot"),
        "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"hot\"",
    ),
    "a number for a text": (configured(responseMimeType=5), "(TYPE_STRING), 5"),
    "half a token": (configured(maxOutputTokens=1.5), "(TYPE_INT32)"),
    "no tokens": (configured(maxOutputTokens=0), "maxOutputTokens: must be in the range"),
    "too hot": (configured(temperature=3), "temperature: must be in the range [0, 2]"),
    "too many candidates": (configured(candidateCount=9), "range [1, 8]"),
    "too many stops": (configured(stopSequences=list("abcdef")), "at most 5"),
    "both schemas": (
        configured(
            responseMimeType="application/json",
            responseSchema={"type": "STRING"},
            responseJsonSchema={"type": "string"},
        ),
        "Only one of response_schema and response_json_schema",
    ),
    "a schema for a text": (configured(responseJsonSchema={}), "wants response_mime_type"),
    "a type in small letters": (
        configured(responseMimeType="application/json", responseSchema={"type": "string"}),
        "(TYPE_ENUM)",
    ),
    "const in an OpenAPI schema": (
        configured(responseMimeType="application/json", responseSchema={"const": "a"}),
        "Unknown name \"const\" at 'generation_config.response_schema'",
    ),
    "something beside a reference": (
        asked_for({"$defs": {"a": {}}, "items": {"$ref": "#/$defs/a", "title": "x"}}),
        "beside '$ref'",
    ),
    "a required circle": (asked_for(LOOP), "contains itself"),
    "an odd format": (configured(responseMimeType="text/html"), "allowed mimetypes"),
    "budget and level": (
        configured(thinkingConfig={"thinkingBudget": 1, "thinkingLevel": "LOW"}),
        "only one of thinking budget and thinking level",
    ),
    "an unknown level": (configured(thinkingConfig={"thinkingLevel": "low"}), "(TYPE_ENUM)"),
    "bad base64": (
        turns(("user", [{"inlineData": {"mimeType": "image/png", "data": "%%%"}}])),
        "Base64 decoding failed",
    ),
    "an unanswered call": (
        turns(("user", [{"text": "a"}]), ("model", [CALL, CALL]), ("user", [CAME])),
        "number of function response parts",
    ),
    "an answer to no call": (turns(("user", [CAME])), "number of function response parts"),
    "a nameless call": (
        turns(("user", [{"text": "a"}]), ("model", [{"functionCall": {}}])),
        "Name cannot be empty",
    ),
    "a nameless function": ({**HI, "tools": [{"functionDeclarations": [{}]}]}, "Invalid name"),
    "both kinds of parameters": (
        {
            **HI,
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "f", "parameters": {}, "parametersJsonSchema": {}}
                    ]
                }
            ],
        },
        "Only one of parameters",
    ),
    "a mode without functions": (
        {**HI, "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "without function_declarations",
    ),
    "an unknown function": (
        {
            **HI,
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["g"]}},
        },
        "only known functions",
    ),
    "an unknown filter": (
        {**HI, "safetySettings": [{"category": "HARM", "threshold": "OFF"}]},
        "(TYPE_ENUM)",
    ),
    "a list for a message": ({**HI, "generationConfig": []}, "(Message)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_as_the_real_server_does(name: str, simulator: Simulator) -> None:
    body, words = WRONG[name]
    got = post(simulator, body, f"{MODELS}/any:generateContent")
    assert (got.status, got.error["status"]) == (400, "INVALID_ARGUMENT"), got.body
    assert words in got.error["message"]
    assert got.error["code"] == 400


def test_all_unknown_fields_are_told_at_once(simulator: Simulator) -> None:
    body = {**configured(max_tokens=5, n=2), "model_name": "x"}
    error = post(simulator, body, f"{MODELS}/any:generateContent").error
    [bad] = error["details"]
    fields = [each["field"] for each in bad["fieldViolations"]]
    assert fields == ["generation_config", "generation_config", ""]
    assert error["message"].count("Cannot find field.") == 3


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"a"'])
def test_a_body_that_is_none_is_refused_in_geminis_form(body: bytes, simulator: Simulator) -> None:
    got = post(simulator, body, f"{MODELS}/any:generateContent")
    assert (got.status, got.error["status"]) == (400, "INVALID_ARGUMENT")


def test_both_spellings_ask_the_same(simulator: Simulator) -> None:
    camel = {
        **HI,
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "maxOutputTokens": 50,
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "OBJECT",
                "properties": {
                    "my_key": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": 2}
                },
                "propertyOrdering": ["my_key"],
                "required": ["my_key"],
            },
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }
    snake = {
        **HI,
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "generation_config": {
            "max_output_tokens": 50,
            "response_mime_type": "application/json",
            "response_schema": {
                "type": "OBJECT",
                "properties": {
                    "my_key": {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": 2}
                },
                "property_ordering": ["my_key"],
                "required": ["my_key"],
            },
            "thinking_config": {"thinking_budget": 0},
        },
    }
    texts = [
        post(simulator, body, f"{MODELS}/any:generateContent").json["candidates"][0]["content"]
        for body in (camel, snake)
    ]
    assert texts[0] == texts[1]
    assert "my_key" in texts[0]["parts"][0]["text"]


# The types ------------------------------------------------------------------------------------

TYPED: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("any", HI),
    "thoughts": (
        "gemini-2.5-pro",
        configured(thinkingConfig={"includeThoughts": True}),
    ),
    "cut": ("gemini-2.5-pro", configured(maxOutputTokens=5)),
    "blocked": ("simulated-refuse", HI),
    "stopped": (
        "simulated-refuse",
        {
            **HI,
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        },
    ),
    "empty": ("simulated-empty", HI),
    "candidates": ("any", configured(candidateCount=2)),
    "a long system prompt": (
        "any",
        {**HI, "systemInstruction": {"parts": [{"text": "word " * 2000}]}},
    ),
    "a call": (
        "any",
        {
            **HI,
            "tools": [{"functionDeclarations": [WEATHER]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        },
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_every_answer_passes_the_sdks_strict_types(name: str, simulator: Simulator) -> None:
    model, body = TYPED[name]
    whole = post(simulator, body, f"/v1beta/models/{model}:generateContent")
    assert whole.status == 200
    strict(whole.body)
    listed = post(simulator, body, f"/v1beta/models/{model}:streamGenerateContent").json
    events = streamed(simulator, body, f"/v1beta/models/{model}:streamGenerateContent?alt=sse")
    for chunk in listed:
        strict(json.dumps(chunk).encode())
    numberless = [{k: v for k, v in each.items() if k != "responseId"} for each in events]
    assert numberless == [{k: v for k, v in each.items() if k != "responseId"} for each in listed]


def strict(body: bytes) -> None:
    assert types.GenerateContentResponse.model_config["extra"] == "forbid"
    types.GenerateContentResponse.model_validate_json(body, strict=True)


def streamed(simulator: Simulator, body: Any, path: str) -> list[dict[str, Any]]:
    with connect(simulator) as connection:
        connection.sendall(request_bytes(path, body, headers={"connection": "close"}))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    return [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: ")]


def test_models_and_counts_pass_the_sdks_strict_types(simulator: Simulator) -> None:
    for model in post(simulator, None, "/v1beta/models", "GET").json["models"]:
        model["supportedActions"] = model.pop("supportedGenerationMethods")  # as the SDK renames it
        types.Model.model_validate_json(json.dumps(model), strict=True)
    counted = post(simulator, HI, f"{MODELS}/any:countTokens")
    types.CountTokensResponse.model_validate_json(counted.body, strict=True)
    inside = post(
        simulator,
        {"generateContentRequest": {"model": "models/any", **HI}},
        f"{MODELS}/any:countTokens",
    )
    assert inside.json == counted.json


# The ledger and the faults --------------------------------------------------------------------


def test_the_ledger_knows_the_model_from_the_path(
    client: genai.Client, simulator: Simulator
) -> None:
    ask(client, model="gemini-2.5-flash")
    ask(client, model="gemini-2.5-pro")
    ask(client, model="gemini-2.5-pro")
    entries = simulator.ledger()
    assert [entry["model"] for entry in entries] == ["gemini-2.5-flash", *["gemini-2.5-pro"] * 2]
    assert [entry["repeated"] for entry in entries] == [False, False, True]
    assert all(entry["authorization"] for entry in entries)


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("fault", "model", "raised"),
    [
        ("malformed", "any", ValueError),
        ("cut", "any", httpx2.TransportError),
        ("cut", "simulated-refuse", httpx2.TransportError),  # a stream of one piece
        ("reset", "any", httpx2.TransportError),
    ],
)
def test_a_spoiled_answer_is_none_to_the_sdk(
    fault: str,
    model: str,
    raised: type[Exception],
    live: bool,
    client: genai.Client,
    simulator: Simulator,
) -> None:
    simulator.set(errors=f"{fault}:1")
    with pytest.raises(raised):
        (stream if live else ask)(client, model=model)


@pytest.mark.parametrize("live", [False, True], ids=["whole", "streamed"])
def test_an_answer_without_candidates_has_none(
    live: bool, client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(errors="empty_choices:1")
    [made] = stream(client) if live else [ask(client)]
    assert made.candidates is None and made.prompt_feedback is None


def test_the_one_fixed_answer_comes_in_geminis_form(
    client: genai.Client, simulator: Simulator
) -> None:
    simulator.set(fixed=True)
    assert ask(client).text.startswith("A penstock is")
