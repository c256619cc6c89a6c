"""What goes over the wire equals what Google's own SDK sends for the same arguments.

Both talk to one real server on this machine, which writes down what arrives. The SDK mixes two
spellings of a field (`mimeType`, `mime_type`), which mean the same to the API: they are made one
here, and nothing else. Where ours differs on purpose, the test's name says why.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

import jsonschema_rs
import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.providers.servers import Recorder, Seen
from tests.providers.test_openai_wire import MODELS, RAW_SCHEMAS

from penstock import messages
from penstock.endpoint import Endpoint
from penstock.errors import EndpointError, KeyMissingError
from penstock.outcome import Failure, FailureKind
from penstock.providers import resolve
from penstock.providers.gemini import Gemini
from penstock.providers.gemini_schema import SCHEMA_RULES, wire_schema
from penstock.providers.transport import TransportSettings, open_transport
from penstock.request import Request
from penstock.secret import Secret
from penstock.simulator.asked import Wish
from penstock.simulator.dice import Dice
from penstock.simulator.gemini_schemas import from_json_schema
from penstock.simulator.schema import compiled

KEY = "AIza-test-0123456789abcdef"
MODEL = "gemini-3-flash"
PNG = b"\x89PNG\r\n\x1a\n-a-picture"
PNG64 = base64.b64encode(PNG).decode()
REPLY = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Hi"}]},
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "modelVersion": "seen",
    "responseId": "r-1",
}
_MEANING = ("x-goog-api-key", "content-type", "authorization", "x-goog-user-project")


def root(recorder: Recorder) -> str:
    return recorder.url.removesuffix("/v1")


@pytest.fixture(scope="module")
def sdk(recorder_server: Recorder) -> Iterator[genai.Client]:
    options = types.HttpOptions(base_url=root(recorder_server))
    client = genai.Client(api_key=KEY, http_options=options)
    yield client
    client.close()


@asynccontextmanager
async def provider_at(url: str, model: str = MODEL, **more: Any) -> AsyncIterator[Gemini]:
    transport = open_transport(TransportSettings(timeout=5))
    endpoint = Endpoint("gemini", model, url=url, key=more.pop("key", Secret(KEY)), **more)
    provider = Gemini(endpoint, transport)
    provider.open()
    try:
        yield provider
    finally:
        await transport.close()


async def ours(recorder: Recorder, prompt: Any, model: str = MODEL, **asked: Any) -> Seen:
    streams = asked.pop("stream", False)
    recorder.replies.append((200, REPLY))
    async with provider_at(root(recorder), model) as provider:
        sent = await provider.send(
            Request.of(provider.endpoint, prompt, **asked), (lambda _: None) if streams else None
        )
    assert sent.outcome.ok, sent.outcome
    return recorder.seen.pop()


async def theirs(
    recorder: Recorder,
    client: genai.Client,
    contents: Any,
    config: dict[str, Any] | None = None,
    model: str = MODEL,
    stream: bool = False,
) -> Seen:
    recorder.replies.append((200, REPLY))

    def call() -> None:
        given: Any = config
        if stream:
            list(
                client.models.generate_content_stream(model=model, contents=contents, config=given)
            )
        else:
            client.models.generate_content(model=model, contents=contents, config=given)

    await asyncio.to_thread(call)
    return recorder.seen.pop()


def spelt(value: Any) -> Any:
    """The same with every name in one spelling."""
    if isinstance(value, list):
        return [spelt(each) for each in value]
    if isinstance(value, dict):
        return {
            re.sub(r"_([a-z])", lambda found: found[1].upper(), name): spelt(each)
            for name, each in value.items()
        }
    return value


def assert_same(mine: Seen, official: Seen) -> None:
    assert spelt(mine.body) == spelt(official.body)
    assert meaning(mine) == meaning(official)
    assert (mine.method, mine.path) == (official.method, official.path)


def meaning(seen: Seen) -> dict[str, str]:
    return {name: seen.headers[name] for name in _MEANING if name in seen.headers}


class Case(NamedTuple):
    """The same question: as a Request has it, and as the SDK does."""

    prompt: Any
    contents: Any
    asked: dict[str, Any] = {}  # noqa: RUF012
    config: dict[str, Any] | None = None
    model: str = MODEL


SKY = "Why is the sky blue?"


def asking(asked: dict[str, Any], config: dict[str, Any], model: str = MODEL) -> Case:
    return Case(SKY, SKY, asked, config, model)


def user(*parts: Any) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text="Look."), *parts])


def looking(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": "Look."}, *parts]}]


def said(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather somewhere.",
        "parameters": PARAMETERS,
    },
}
NOW: dict[str, Any] = {"type": "function", "function": {"name": "now"}}
DECLARED = {
    "name": "weather",
    "description": "The weather somewhere.",
    "parameters_json_schema": PARAMETERS,
}
TOOLS = {"tools": [{"function_declarations": [DECLARED]}]}


def calling(**how: Any) -> dict[str, Any]:
    return {**TOOLS, "tool_config": {"function_calling_config": how}}


def call(number: str, city: str, **more: Any) -> dict[str, Any]:
    function = {"name": "weather", "arguments": f'{{"city":"{city}"}}'}
    return {"id": number, "type": "function", "function": function, **more}


def called(number: str, city: str, signature: bytes | None = None) -> types.Part:
    function = types.FunctionCall(id=number, name="weather", args={"city": city})
    return types.Part(function_call=function, thought_signature=signature)


def came(number: str, response: dict[str, Any]) -> types.Part:
    function = types.FunctionResponse(id=number, name="weather", response=response)
    return types.Part(function_response=function)


def tool(number: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "content": content}


RAIN = {"role": "user", "content": "Is it raining?"}
ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "propertyOrdering": ["name", "age"],
}
SAFETY = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]

CASES = {
    "plain text": Case(SKY, SKY),
    "text of many scripts": Case(
        'Zürich 東京 🏔️ \u0000 \u2028 \\ "', 'Zürich 東京 🏔️ \u0000 \u2028 \\ "'
    ),
    "a system prompt": asking({"system": "Be brief."}, {"system_instruction": "Be brief."}),
    "a developer message": Case(
        [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": SKY}],
        SKY,
        {},
        {"system_instruction": "Be brief."},
    ),
    "two system messages": Case(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": SKY},
            {"role": "system", "content": "Be kind."},
        ],
        SKY,
        {},
        {"system_instruction": [types.Part(text="Be brief."), types.Part(text="Be kind.")]},
    ),
    "several turns": Case(
        [
            {"role": "user", "content": SKY},
            {"role": "assistant", "content": "Scattering."},
            {"role": "user", "content": "Of what?"},
        ],
        [said("user", SKY), said("model", "Scattering."), said("user", "Of what?")],
    ),
    "an earlier refusal": Case(
        [
            {"role": "user", "content": SKY},
            {"role": "assistant", "content": "", "refusal": "No."},
            {"role": "user", "content": "Why not?"},
        ],
        [said("user", SKY), said("model", "No."), said("user", "Why not?")],
    ),
    "an image in the message": Case(
        looking({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG64}"}}),
        [user(types.Part.from_bytes(data=PNG, mime_type="image/png"))],
    ),
    "an image without its type": Case(
        looking({"type": "image", "data": PNG64}),
        [user(types.Part.from_bytes(data=PNG, mime_type="image/png"))],
    ),
    "an image by address": Case(
        looking({"type": "image_url", "image_url": {"url": "https://e.org/a.png?x=1"}}),
        [
            user(
                types.Part.from_uri(file_uri="https://e.org/a.png?x=1", mime_type="image/png"),
            )
        ],
    ),
    "an image with detail": Case(
        looking(
            messages.image(PNG, detail="low"),
            messages.image("https://e.org/a.png", detail="high"),
            messages.image(PNG, detail="auto"),
        ),
        [
            user(
                types.Part.from_bytes(
                    data=PNG, mime_type="image/png", media_resolution="MEDIA_RESOLUTION_LOW"
                ),
                types.Part.from_uri(
                    file_uri="https://e.org/a.png", media_resolution="MEDIA_RESOLUTION_HIGH"
                ),
                types.Part.from_bytes(data=PNG, mime_type="image/png"),
            )
        ],
    ),
    "a file in the message": Case(
        looking(messages.file(b"%PDF", media_type="application/pdf", name="a.pdf")),
        [user(types.Part.from_bytes(data=b"%PDF", mime_type="application/pdf"))],
    ),
    "a file by its address": Case(
        looking({"type": "file", "url": "https://e.org/a.pdf"}),
        [user(types.Part.from_uri(file_uri="https://e.org/a.pdf"))],
    ),
    "an uploaded file": Case(
        looking({"type": "file", "file": {"file_id": "https://g.co/v1/files/x"}}),
        [user(types.Part(file_data=types.FileData(file_uri="https://g.co/v1/files/x")))],
    ),
    "audio": Case(
        looking(messages.audio(b"RIFF", format="wav")),
        [user(types.Part.from_bytes(data=b"RIFF", mime_type="audio/wav"))],
    ),
    "temperature, top_p and top_k": asking(
        {"temperature": 0.2, "top_p": 0.9, "top_k": 5},
        {"temperature": 0.2, "top_p": 0.9, "top_k": 5},
    ),
    "temperature zero": asking({"temperature": 0}, {"temperature": 0}),
    "seed": asking({"seed": 7}, {"seed": 7}),
    "one stop": asking({"stop": "\n"}, {"stop_sequences": ["\n"]}),
    "several stops": asking({"stop": ["\n\n", "END"]}, {"stop_sequences": ["\n\n", "END"]}),
    "penalties": asking(
        {"frequency_penalty": 0.5, "presence_penalty": -0.5},
        {"frequency_penalty": 0.5, "presence_penalty": -0.5},
    ),
    "max_tokens": asking({"max_tokens": 50}, {"max_output_tokens": 50}),
    "max_completion_tokens": asking({"max_completion_tokens": 50}, {"max_output_tokens": 50}),
    "maxOutputTokens": asking({"maxOutputTokens": 50}, {"max_output_tokens": 50}),
    "logprobs as OpenAI has them": asking(
        {"logprobs": True, "top_logprobs": 3}, {"response_logprobs": True, "logprobs": 3}
    ),
    "logprobs as Gemini has them": asking(
        {"response_logprobs": True, "logprobs": 3}, {"response_logprobs": True, "logprobs": 3}
    ),
    "safety settings": asking({"safety_settings": SAFETY}, {"safety_settings": SAFETY}),
    "safetySettings": asking({"safetySettings": SAFETY}, {"safety_settings": SAFETY}),
    "a thinking budget": asking(
        {"thinking_config": {"thinking_budget": 0, "include_thoughts": False}},
        {"thinking_config": {"thinking_budget": 0, "include_thoughts": False}},
    ),
    "thinkingConfig": asking(
        {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}},
        {"thinking_config": {"thinking_level": "LOW", "include_thoughts": True}},
    ),
    "effort as a level": asking(
        {"reasoning_effort": "medium"}, {"thinking_config": {"thinking_level": "MEDIUM"}}
    ),
    "effort as a budget": asking(
        {"reasoning_effort": "medium"},
        {"thinking_config": {"thinking_budget": 8192}},
        "gemini-2.5-flash",
    ),
    "no effort": asking({"reasoning_effort": "none"}, {"thinking_config": {"thinking_budget": 0}}),
    "effort beside thinkingConfig": asking(
        {"reasoning_effort": "high", "thinking_config": {"include_thoughts": True}},
        {"thinking_config": {"thinking_level": "HIGH", "include_thoughts": True}},
    ),
    "cached content": asking(
        {"cached_content": "cachedContents/x"}, {"cached_content": "cachedContents/x"}
    ),
    "labels, tier and store": asking(
        {"labels": {"run": "7"}, "serviceTier": "flex", "store": False},
        {"labels": {"run": "7"}, "service_tier": "flex", "store": False},
    ),
    "modalities and resolution": asking(
        {"response_modalities": ["TEXT"], "mediaResolution": "MEDIA_RESOLUTION_LOW"},
        {"response_modalities": ["TEXT"], "media_resolution": "MEDIA_RESOLUTION_LOW"},
    ),
    "a generation config": asking(
        {"generation_config": {"top_k": 3, "maxOutputTokens": 9}, "temperature": 1},
        {"top_k": 3, "max_output_tokens": 9, "temperature": 1},
    ),
    "a JSON object": asking(
        {"response_format": {"type": "json_object"}}, {"response_mime_type": "application/json"}
    ),
    "a response format by hand": asking(
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": ANSWER_SCHEMA},
            }
        },
        {"response_mime_type": "application/json", "response_json_schema": ANSWER_SCHEMA},
    ),
    "a response schema of Gemini's own": asking(
        {"response_mime_type": "application/json", "response_schema": {"type": "STRING"}},
        {"response_mime_type": "application/json", "response_schema": {"type": "STRING"}},
    ),
    "a schema": asking(
        {"schema": {k: v for k, v in ANSWER_SCHEMA.items() if k != "propertyOrdering"}},
        {"response_mime_type": "application/json", "response_json_schema": ANSWER_SCHEMA},
    ),
    "tools": asking({"tools": [WEATHER]}, TOOLS),
    "two tools": asking(
        {"tools": [WEATHER, NOW]},
        {"tools": [{"function_declarations": [DECLARED, {"name": "now"}]}]},
    ),
    "tools of the newer spelling": asking(
        {"tools": [{"type": "function", **WEATHER["function"]}]}, TOOLS
    ),
    "tools in Gemini's form": asking({"tools": TOOLS["tools"]}, TOOLS),
    "Gemini's own tools": asking(
        {"tools": [{"google_search": {}}, {"codeExecution": {}}]},
        {"tools": [{"google_search": {}}, {"code_execution": {}}]},
    ),
    "tool choice none": asking({"tools": [WEATHER], "tool_choice": "none"}, calling(mode="NONE")),
    "tool choice auto": asking({"tools": [WEATHER], "tool_choice": "auto"}, calling(mode="AUTO")),
    "tool choice required": asking(
        {"tools": [WEATHER], "tool_choice": "required"}, calling(mode="ANY")
    ),
    "tool choice named": asking(
        {
            "tools": [WEATHER],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
        },
        calling(mode="ANY", allowed_function_names=["weather"]),
    ),
    "a tool config": asking(
        {"tools": [WEATHER], "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}},
        calling(mode="VALIDATED"),
    ),
    "strict tools are validated": asking(
        {"tools": [{"type": "function", "function": {**WEATHER["function"], "strict": True}}]},
        calling(mode="VALIDATED"),
    ),
    "several tools at once": asking({"tools": [WEATHER], "parallel_tool_calls": True}, TOOLS),
    "calls and their results": Case(
        [
            RAIN,
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [call("c1", "Bern"), call("c2", "Thun")],
            },
            tool("c1", "It is."),
            tool("c2", '{"rain": 0}'),
            {"role": "user", "content": "And now?"},
        ],
        [
            said("user", "Is it raining?"),
            types.Content(
                role="model",
                parts=[types.Part(text="I look."), called("c1", "Bern"), called("c2", "Thun")],
            ),
            types.Content(
                role="user", parts=[came("c1", {"output": "It is."}), came("c2", {"rain": 0})]
            ),
            said("user", "And now?"),
        ],
        {"tools": [WEATHER]},
        TOOLS,
    ),
    "two rounds of calls, with odd results": Case(
        [
            RAIN,
            {"role": "assistant", "content": None, "tool_calls": [call("c1", "Bern")]},
            tool("c1", "[1, 2]"),
            {"role": "assistant", "content": None, "tool_calls": [call("c1", "Thun")]},
            tool("c1", "5"),
        ],
        [
            said("user", "Is it raining?"),
            types.Content(role="model", parts=[called("c1", "Bern")]),
            types.Content(role="user", parts=[came("c1", {"output": "[1, 2]"})]),
            types.Content(role="model", parts=[called("c1", "Thun")]),
            types.Content(role="user", parts=[came("c1", {"output": "5"})]),
        ],
    ),
    "a signed call": Case(
        [
            RAIN,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    call(
                        "c1",
                        "Bern",
                        extra_content={"google": {"thought_signature": "c2lnbmVk"}},
                    )
                ],
            },
            tool("c1", [{"type": "text", "text": "It is."}]),
        ],
        [
            said("user", "Is it raining?"),
            types.Content(role="model", parts=[called("c1", "Bern", b"signed")]),
            types.Content(role="user", parts=[came("c1", {"output": "It is."})]),
        ],
    ),
    "a result with a picture": Case(
        [
            RAIN,
            {"role": "assistant", "content": None, "tool_calls": [call("c1", "Bern")]},
            tool("c1", ["A photo.", messages.image(PNG)]),
        ],
        [
            said("user", "Is it raining?"),
            types.Content(role="model", parts=[called("c1", "Bern")]),
            types.Content(
                role="user",
                parts=[
                    types.Part(
                        function_response=types.FunctionResponse(
                            id="c1",
                            name="weather",
                            response={"output": "A photo."},
                            parts=[
                                types.FunctionResponsePart.from_bytes(
                                    data=PNG, mime_type="image/png"
                                )
                            ],
                        )
                    )
                ],
            ),
        ],
    ),
    "a model by its whole name": Case(SKY, SKY, model="models/gemini-2.5-pro"),
    "a tuned model": Case(SKY, SKY, model="tunedModels/mine-1"),
}


@pytest.mark.parametrize("name", CASES)
async def test_the_request_equals_the_sdks(
    name: str, recorder: Recorder, sdk: genai.Client
) -> None:
    prompt, contents, asked, config, model = CASES[name]
    official = await theirs(recorder, sdk, contents, config, model)
    assert_same(await ours(recorder, prompt, model, **asked), official)


@pytest.mark.parametrize("name", ["plain text", "tools", "several turns", "a schema"])
async def test_a_stream_is_asked_for_as_the_sdk_does(
    name: str, recorder: Recorder, sdk: genai.Client
) -> None:
    prompt, contents, asked, config, model = CASES[name]
    official = await theirs(recorder, sdk, contents, config, model, stream=True)
    assert official.path.endswith(":streamGenerateContent?alt=sse")
    assert_same(await ours(recorder, prompt, model, stream=True, **asked), official)


# Where, and with which key --------------------------------------------------------------------


async def from_environment(recorder: Recorder) -> tuple[Seen, Seen]:
    client = genai.Client()
    official = await theirs(recorder, client, SKY)
    client.close()
    recorder.replies.append((200, REPLY))
    endpoint = resolve(MODEL)
    async with provider_at(endpoint.url, key=None) as provider:
        await provider.send(Request.of(provider.endpoint, SKY))
    return recorder.seen.pop(), official


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("version", ["", "v1beta", "v1alpha"])
async def test_address_and_version_come_from_the_environment_as_for_the_sdk(
    slash: str, version: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", root(recorder) + slash)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    if version:
        monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", version)
    mine, official = await from_environment(recorder)
    assert_same(mine, official)
    assert mine.path.startswith(f"/{version or 'v1'}/models/")


@pytest.mark.parametrize("names", [("GOOGLE_API_KEY", "GEMINI_API_KEY"), ("GEMINI_API_KEY",)])
async def test_of_two_keys_the_one_is_taken_that_the_sdk_takes(
    names: tuple[str, ...], recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", root(recorder))
    for name in names:
        monkeypatch.setenv(name, f"the-key-of-{name}")
    mine, official = await from_environment(recorder)
    assert mine.headers["x-goog-api-key"] == f"the-key-of-{names[0]}"
    assert_same(mine, official)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h", "http://h/v1/models/m:generateContent"),
        ("http://h/", "http://h/v1/models/m:generateContent"),
        ("http://h/v1", "http://h/v1/models/m:generateContent"),
        ("http://h/v1beta", "http://h/v1beta/models/m:generateContent"),
        ("http://h/v1beta1/", "http://h/v1beta1/models/m:generateContent"),
        ("http://h/gateway/v1/acct", "http://h/gateway/v1/acct/v1/models/m:generateContent"),
        ("http://h/?route=a", "http://h/v1/models/m:generateContent?route=a"),
    ],
)
def test_an_address_may_name_its_version(url: str, address: str) -> None:
    provider = Gemini(Endpoint("gemini", "m", url=url))
    provider.open()
    request = Request.of(provider.endpoint, "Hi")
    assert provider.address(request, stream=False) == address
    streamed = provider.address(request, stream=True)
    assert ":streamGenerateContent?" in streamed and streamed.endswith("alt=sse")


@pytest.mark.parametrize(
    ("url", "home"),
    [
        ("https://generativelanguage.googleapis.com", True),
        ("https://generativelanguage.googleapis.com/v1beta", True),
        ("https://generativelanguage.googleapis.com/v1/", True),
        ("http://generativelanguage.googleapis.com", False),
        ("https://generativelanguage.googleapis.com.evil.example", False),
        ("https://generativelanguage.googleapis.com/v1/other", False),
        ("https://evil.example/https://generativelanguage.googleapis.com", False),
    ],
)
def test_the_usual_key_stays_at_home(url: str, home: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    provider = Gemini(Endpoint("gemini", "m", url=url))
    provider.open()
    assert (provider._headers.get("x-goog-api-key") == KEY) is home
    assert KEY not in provider.address(Request.of(provider.endpoint, "Hi"), stream=True)


def test_a_missing_key_says_which_and_what_to_do() -> None:
    with pytest.raises(KeyMissingError) as raised:
        Gemini(resolve("gemini-2.5-flash")).open()
    assert "GOOGLE_API_KEY or GEMINI_API_KEY is not set" in raised.value.message
    assert "export GOOGLE_API_KEY=" in raised.value.remedy


@pytest.mark.parametrize("text", ["gemini-2.5-flash", "gemini/gemini-2.5-flash"])
def test_a_model_is_known_by_its_name_alone_or_with_its_provider(text: str) -> None:
    endpoint = resolve(text)
    assert (endpoint.provider, endpoint.model) == ("gemini", "gemini-2.5-flash")
    assert endpoint.url == "https://generativelanguage.googleapis.com"


@pytest.mark.parametrize("model", ["../secrets", "a?key=b", "a&b"])
def test_a_model_that_would_change_the_address_is_refused_as_by_the_sdk(model: str) -> None:
    with pytest.raises(EndpointError, match="no name of a model"):
        Gemini(Endpoint("gemini", model, url="http://h")).open()


async def test_a_model_with_odd_letters_is_quoted(recorder: Recorder) -> None:
    assert (await ours(recorder, "Hi", "my model/ü")).path == (
        "/v1/models/my%20model/%C3%BC:generateContent"
    )


async def test_headers_of_the_endpoint_replace_ours_whatever_their_case(
    recorder: Recorder,
) -> None:
    recorder.replies.append((200, REPLY))
    more = {"Accept": "application/x", "X-Goog-User-Project": "mine"}
    async with provider_at(root(recorder), headers=more) as provider:
        await provider.send(Request.of(provider.endpoint, "Hi"))
    seen = recorder.seen.pop()
    assert seen.headers["accept"] == "application/x"
    assert seen.headers["x-goog-user-project"] == "mine"


# What Gemini has no words for -----------------------------------------------------------------

ODD: dict[str, tuple[dict[str, Any], str]] = {
    "logit_bias": ({"logit_bias": {"1": 2}}, "no parameter 'logit_bias'"),
    "user": ({"user": "u-1"}, "no parameter 'user'"),
    "a name nobody knows": ({"temprature": 1}, "no parameter 'temprature'"),
    "candidate_count": ({"candidate_count": 2}, "samples"),
    "system_instruction": ({"system_instruction": "x"}, "system message"),
    "one tool at a time": ({"parallel_tool_calls": False}, "one tool at a time"),
    "the same twice": ({"max_tokens": 5, "maxOutputTokens": 6}, "given twice"),
    "two thoughts": (
        {"reasoning_effort": "low", "thinking_config": {"thinking_level": "HIGH"}},
        "given twice",
    ),
    "an effort beyond Gemini's": ({"reasoning_effort": "xhigh"}, "reasoning_effort is 'xhigh'"),
    "no effort at all": ({"reasoning_effort": 5}, "reasoning_effort is 5"),
    "a choice that is none": ({"tool_choice": "weather"}, "tool_choice is 'weather'"),
    "a format that is none": ({"response_format": {"type": "grammar"}}, "no such format"),
    "a text for a mapping": ({"thinking_config": "low"}, "a mapping is wanted"),
    "a schema twice": (
        {"schema": {"type": "object"}, "response_json_schema": {"type": "string"}},
        "given twice",
    ),
    "a tool of another house": ({"tools": [{"type": "web_search"}]}, "no tool of the type"),
    "a function without a name": ({"tools": [{"type": "function", "function": {}}]}, "no name"),
    "a broken schema of a function": (
        {"tools": [{"type": "function", "name": "f", "parameters": {"properties": ["a"]}}]},
        "cannot be written",
    ),
}


async def unsent(recorder: Recorder, prompt: Any, **asked: Any) -> Failure:
    async with provider_at(root(recorder)) as provider:
        sent = await provider.send(Request.of(provider.endpoint, prompt, **asked))
    assert isinstance(sent.outcome, Failure)
    assert recorder.seen == [] and not sent.outcome.may_be_paid
    return sent.outcome


@pytest.mark.parametrize("name", ODD)
async def test_what_gemini_has_no_words_for_is_a_failure_and_nothing_is_sent(
    name: str, recorder: Recorder
) -> None:
    asked, words = ODD[name]
    failure = await unsent(recorder, "Hi", **asked)
    assert failure.kind is FailureKind.INVALID_REQUEST
    assert words in failure.message


ODD_PROMPTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "only a system prompt": ([{"role": "system", "content": "x"}], "at least one message"),
    "a named speaker": ([{"role": "user", "name": "ada", "content": "x"}], "message 1: "),
    "an answer to no call": ([RAIN, tool("c9", "It is.")], "'c9'"),
    "arguments that are none": (
        [
            RAIN,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "[1]"}}],
            },
        ],
        "message 2: the arguments of 'f'",
    ),
    "a call without a function": (
        [RAIN, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}],
        "message 2: a tool call",
    ),
    "an image of no known type": (looking({"type": "image", "data": "AAAA"}), "media_type"),
}


@pytest.mark.parametrize("name", ODD_PROMPTS)
async def test_a_message_gemini_has_no_part_for_is_a_failure_that_names_it(
    name: str, recorder: Recorder
) -> None:
    prompt, words = ODD_PROMPTS[name]
    failure = await unsent(recorder, prompt)
    assert failure.kind is FailureKind.INVALID_REQUEST
    assert words in failure.message


@pytest.mark.parametrize("params", [{"logit_bias": {}}, {"reasoning_effort": "max"}])
def test_such_a_parameter_of_an_endpoint_is_told_when_it_is_opened(
    params: dict[str, Any],
) -> None:
    with pytest.raises(EndpointError, match="gemini/m: ") as raised:
        Gemini(Endpoint("gemini", "m", url="http://h", params=params)).open()
    assert next(iter(params)) in raised.value.message


def test_a_parameter_of_an_endpoint_that_was_taken_back_is_no_matter() -> None:
    Gemini(Endpoint("gemini", "m", url="http://h", params={"logit_bias": None})).open()


async def test_a_result_may_name_its_function_where_the_call_is_gone(recorder: Recorder) -> None:
    mine = await ours(recorder, [RAIN, {**tool("c9", "It is."), "name": "weather"}])
    assert mine.body["contents"][1]["parts"][0]["functionResponse"]["name"] == "weather"


async def test_a_turn_that_says_nothing_is_left_out_because_the_api_takes_none(
    recorder: Recorder,
) -> None:
    empty = {"role": "assistant", "content": ""}
    mine = await ours(recorder, [RAIN, empty, RAIN, {"role": "system", "content": ""}])
    assert [turn["role"] for turn in mine.body["contents"]] == ["user", "user"]
    assert "systemInstruction" not in mine.body


async def test_what_gemini_may_learn_later_can_be_given_in_the_config(recorder: Recorder) -> None:
    mine = await ours(recorder, "Hi", generation_config={"new_thing": 5})
    assert mine.body["generationConfig"] == {"newThing": 5}


# Schemas --------------------------------------------------------------------------------------

SUPPORTED = {
    *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum"),
    *("items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"),
    *("properties", "additionalProperties", "required", "propertyOrdering"),
}


class Animal(BaseModel):
    kind: Literal["cat"]
    legs: Literal[4]
    mood: Literal["good", 7, None, True]
    name: str = Field(pattern="^[A-Z]", min_length=2, max_length=9, examples=["Tom"])
    weight: float = Field(gt=0, multiple_of=0.5, default=1.5)
    age: int = Field(gt=0, lt=99)
    tags: set[str]
    point: tuple[float, float]
    friend: Animal | None = Field(description="Another.")
    kittens: list[Animal] = Field(max_length=2)


class Zoo(BaseModel):
    """Many animals."""

    star: Animal = Field(description="The best.")
    others: dict[str, Animal]


HAND: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "constraints become words": (
        {"type": "string", "description": "A code.", "pattern": "^[A-Z]$", "minLength": 3},
        {"type": "string", "description": "A code. (pattern: ^[A-Z]$; minLength: 3)"},
    ),
    "a default becomes words, but not that there is none": (
        {"type": "object", "properties": {"a": {"default": 3}, "b": {"default": None}}},
        {
            "type": "object",
            "properties": {"a": {"description": "default: 3"}, "b": {}},
            "propertyOrdering": ["a", "b"],
        },
    ),
    "a constant is an enum": ({"const": "a"}, {"type": "string", "enum": ["a"]}),
    "a constant number too": ({"const": 4, "type": "number"}, {"type": "number", "enum": [4]}),
    "null is a type": ({"const": None}, {"type": "null"}),
    "true is words": ({"const": True}, {"type": "boolean", "description": "one of: [true]"}),
    "a mixed enum is a choice": (
        {"enum": ["a", 1, None], "type": ["string", "integer", "null"]},
        {
            "anyOf": [
                {"type": "string", "enum": ["a"]},
                {"type": "integer", "enum": [1]},
                {"type": "null"},
            ]
        },
    ),
    "one of is any of": (
        {"oneOf": [{"type": "string"}, {"type": "null"}], "discriminator": {"propertyName": "k"}},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ),
    "all of is one": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "null"}}, "required": ["b"]},
            ]
        },
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "null"}},
            "propertyOrdering": ["a", "b"],
            "required": ["a", "b"],
        },
    ),
    "all of may repeat a property, but not change it": (
        {
            "properties": {"a": {"type": "string"}},
            "allOf": [
                {"properties": {"a": {"type": "string"}, "b": {"type": "null"}}},
                {"properties": {"a": {"maximum": 1}}},
            ],
        },
        {
            "properties": {"a": {"type": "string"}, "b": {"type": "null"}},
            "propertyOrdering": ["a", "b"],
            "description": 'allOf: {"properties":{"a":{"maximum":1}}}',
        },
    ),
    "what contradicts it is words": (
        {"type": "string", "allOf": [{"type": "integer"}]},
        {"type": "string", "description": 'allOf: {"type":"integer"}'},
    ),
    "a bound of whole numbers moves by one": (
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        {"type": "integer", "minimum": 1, "maximum": 9},
    ),
    "a bound of others is words too": (
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "number", "minimum": 0, "description": "exclusiveMinimum: 0"},
    ),
    "not and if are words": (
        {"not": {"type": "null"}, "if": {"minimum": 1}},
        {"description": 'not: {"type":"null"}; if: {"minimum":1}'},
    ),
    "a dialect is left out": ({"$schema": "https://x", "type": "null"}, {"type": "null"}),
    "nothing stands beside a reference": (
        {
            "$defs": {"word": {"type": "string"}, "unused": {"type": "null"}},
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/word", "description": "Mine."}},
        },
        {
            "type": "object",
            "properties": {"a": {"anyOf": [{"$ref": "#/$defs/word"}], "description": "Mine."}},
            "propertyOrdering": ["a"],
            "$defs": {"word": {"type": "string"}},
        },
    ),
    "old definitions are new": (
        {"definitions": {"w": {"type": "string"}}, "items": {"$ref": "#/definitions/w"}},
        {"items": {"$ref": "#/$defs/w"}, "$defs": {"w": {"type": "string"}}},
    ),
    "a list that contains itself is optional": (
        {
            "$defs": {
                "n": {
                    "type": "object",
                    "properties": {"v": {"type": "null"}, "next": {"$ref": "#/$defs/n"}},
                    "required": ["v", "next"],
                }
            },
            "$ref": "#/$defs/n",
        },
        {
            "$ref": "#/$defs/n",
            "$defs": {
                "n": {
                    "type": "object",
                    "properties": {
                        "v": {"type": "null"},
                        "next": {
                            "anyOf": [{"$ref": "#/$defs/n"}],
                            "description": "must be present",
                        },
                    },
                    "propertyOrdering": ["v", "next"],
                    "required": ["v"],
                }
            },
        },
    ),
    "an order that was given stays": (
        {"properties": {"a": {}, "b": {}}, "propertyOrdering": ["b", "a"]},
        {"properties": {"a": {}, "b": {}}, "propertyOrdering": ["b", "a"]},
    ),
    "a property may be called like a keyword": (
        {"properties": {"pattern": {"type": "string"}, "const": {"pattern": "x"}}},
        {
            "properties": {"pattern": {"type": "string"}, "const": {"description": "pattern: x"}},
            "propertyOrdering": ["pattern", "const"],
        },
    ),
}


@pytest.mark.parametrize("name", HAND)
def test_a_schema_is_said_in_the_words_that_gemini_knows(name: str) -> None:
    given_, wanted = HAND[name]
    before = repr(given_)
    assert wire_schema(given_) == wanted
    assert repr(given_) == before  # and the original is left alone


ALL_MODELS: list[type[BaseModel]] = [*MODELS, Animal, Zoo]
SCHEMAS: dict[str, dict[str, Any]] = {
    **{model.__name__: model.model_json_schema() for model in ALL_MODELS},
    **{name: schema for name, (schema, _) in RAW_SCHEMAS.items()},
    **{name: schema for name, (schema, _) in HAND.items()},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_translated_schema_holds_nothing_that_gemini_does_not_know(name: str) -> None:
    made = wire_schema(SCHEMAS[name])
    for node in nodes(made):
        assert set(node) <= SUPPORTED
    from_json_schema(made)  # nothing beside a reference, no required cycle


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(node, dict):
        return
    yield node
    for name in ("properties", "$defs"):
        for child in node.get(name, {}).values():
            yield from nodes(child)
    for name in ("anyOf", "prefixItems"):
        for child in node.get(name, ()):
            yield from nodes(child)
    for name in ("items", "additionalProperties"):
        yield from nodes(node.get(name))


# What nothing fits has no answers to try: a text that is a number, a list without an end.
ANSWERABLE = SCHEMAS.keys() - {
    "what contradicts it is words",
    "a list that contains itself is optional",
}


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", sorted(ANSWERABLE))
def test_a_translated_schema_allows_all_that_the_original_allows(name: str, seed: int) -> None:
    value = compiled(SCHEMAS[name]).make(Wish(), Dice(seed))
    jsonschema_rs.validator_for(wire_schema(SCHEMAS[name])).validate(value)


@pytest.mark.parametrize("model", ALL_MODELS, ids=lambda model: model.__name__)
def test_the_order_of_properties_is_told(model: type[BaseModel]) -> None:
    made = wire_schema(model.model_json_schema())
    ordered = [node for node in nodes(made) if node.get("properties")]
    assert ordered
    for node in ordered:
        assert node["propertyOrdering"] == list(node["properties"])


def test_a_function_needs_no_order() -> None:
    assert "propertyOrdering" not in wire_schema(PARAMETERS, ordered=False)
    assert wire_schema(PARAMETERS, ordered=True)["propertyOrdering"] == ["city"]


VALUES: dict[str, Any] = {
    "$defs": {"d": {}},
    "$ref": "#/$defs/d",
    "additionalProperties": False,
    "allOf": [{"title": "x"}],
    "anyOf": [{"type": "string"}],
    "definitions": {"d": {}},
    "enum": ["e"],
    "exclusiveMaximum": 1,
    "exclusiveMinimum": 1,
    "items": {},
    "oneOf": [{"type": "string"}],
    "prefixItems": [{}],
    "properties": {"p": {}},
    "required": ["p"],
}


@pytest.mark.parametrize("keyword", SCHEMA_RULES)
def test_the_table_of_keywords_says_what_is_done(keyword: str) -> None:
    node = {keyword: VALUES.get(keyword, "v")}
    used = {"items": {"$ref": "#/$defs/d"}} if keyword == "$defs" else {}
    made = wire_schema(node | used | ({"$defs": {"d": {}}} if keyword == "$ref" else {}))
    rule = SCHEMA_RULES[keyword]
    assert (keyword in made) is rule.startswith("kept")
    told = f"{keyword}: " in made.get("description", "")
    assert told is (rule.startswith("moved") or keyword.startswith("exclusive"))
