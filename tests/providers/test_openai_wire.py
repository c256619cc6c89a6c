"""What goes over the wire equals what the official SDK sends for the same arguments.

Both talk to one real server on this machine, which writes down what arrives. Where ours differs on
purpose, the test's name says why.
"""

from __future__ import annotations

import asyncio
import datetime
import enum
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import httpx2
import openai
import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field, HttpUrl
from tests.providers.servers import COMPLETION, FakeTransport, Recorder, Seen

from penstock import messages
from penstock.endpoint import Endpoint
from penstock.errors import EndpointError
from penstock.providers.openai import OpenAI
from penstock.providers.transport import Reply, TransportSettings, open_transport
from penstock.request import Request
from penstock.secret import Secret

KEY = "sk-test-0123456789abcdef"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
QUESTION = [{"role": "user", "content": "Why is the sky blue?"}]


@pytest.fixture(scope="module")
def sdk(recorder_server: Recorder) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key=KEY, base_url=recorder_server.url, max_retries=0) as client:
        yield client


@asynccontextmanager
async def provider_at(url: str, model: str, **more: Any) -> AsyncIterator[OpenAI]:
    transport = open_transport(TransportSettings(timeout=5))
    endpoint = Endpoint("openai", model, url=url, key=more.pop("key", Secret(KEY)), **more)
    provider = OpenAI(endpoint, transport)
    provider.open()
    try:
        yield provider
    finally:
        await transport.close()


async def ours(recorder: Recorder, model: str, prompt: Any, **asked: Any) -> Seen:
    streams = asked.pop("stream", False)
    async with provider_at(recorder.url, model) as provider:
        await provider.send(
            Request.of(provider.endpoint, prompt, **asked), (lambda _: None) if streams else None
        )
    return recorder.seen.pop()


async def theirs(recorder: Recorder, client: openai.OpenAI, model: str, **asked: Any) -> Seen:
    create: Any = client.chat.completions.create
    made = await asyncio.to_thread(create, model=model, **asked)
    if asked.get("stream"):
        await asyncio.to_thread(list, made)
    return recorder.seen.pop()


def assert_same(mine: Seen, official: Seen) -> None:
    assert mine.body == official.body
    assert mine.meaning() == official.meaning()
    assert (mine.method, mine.path) == (official.method, official.path)


class Case(NamedTuple):
    """The same arguments for both."""

    prompt: list[dict[str, Any]] = QUESTION
    params: dict[str, Any] = {}  # noqa: RUF012
    tools: list[dict[str, Any]] | None = None
    model: str = "gpt-4o-mini"


def _user(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": "Look."}, *parts]}]


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather somewhere.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
STRICT = {"type": "function", "function": {**WEATHER["function"], "strict": True}}  # type: ignore[dict-item]
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Bern"}'},
}
TOOL_TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "Is it raining?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "It is."},
]

CASES = {
    "plain text": Case(),
    "text of many scripts": Case([{"role": "user", "content": 'Zürich 東京 🏔️ \u0000 \u2028 \\ "'}]),
    "system and user": Case([{"role": "system", "content": "Be brief."}, *QUESTION]),
    "developer role": Case([{"role": "developer", "content": "Be brief."}, *QUESTION]),
    "several turns": Case(
        [*QUESTION, {"role": "assistant", "content": "Scattering."}, *QUESTION],
    ),
    "a named speaker": Case([{"role": "user", "name": "ada", "content": "Hello"}]),
    "an earlier refusal": Case(
        [*QUESTION, {"role": "assistant", "content": "", "refusal": "No."}, *QUESTION]
    ),
    "tool calls and their results": Case(TOOL_TURNS, tools=[WEATHER]),
    "tool results as parts": Case(
        [*TOOL_TURNS[:2], {**TOOL_TURNS[2], "content": [{"type": "text", "text": "It is."}]}],
        tools=[WEATHER],
    ),
    "an image by address": Case(
        _user({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})
    ),
    "an image in the message": Case(
        _user({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}})
    ),
    "an image with detail": Case(
        _user(
            {"type": "image_url", "image_url": {"url": "https://e.org/a.png", "detail": "low"}},
            {
                "type": "image_url",
                "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "high"},
            },
        )
    ),
    "a file by its number": Case(_user({"type": "file", "file": {"file_id": "file-1"}})),
    "a file in the message": Case(
        _user(
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            }
        )
    ),
    "audio": Case(
        _user({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}})
    ),
    "temperature and top_p": Case(params={"temperature": 0.2, "top_p": 0.9}),
    "temperature zero": Case(params={"temperature": 0}),
    "seed": Case(params={"seed": 7}),
    "one stop": Case(params={"stop": "\n"}),
    "several stops": Case(params={"stop": ["\n\n", "END"]}),
    "penalties": Case(params={"frequency_penalty": 0.5, "presence_penalty": -0.5}),
    "logit bias": Case(params={"logit_bias": {"50256": -100}}),
    "logprobs": Case(params={"logprobs": True, "top_logprobs": 3}),
    "user": Case(params={"user": "u-1"}),
    "safety identifier": Case(params={"safety_identifier": "s-1", "prompt_cache_key": "k"}),
    "metadata": Case(params={"metadata": {"run": "7"}, "store": True}),
    "service tier": Case(params={"service_tier": "flex"}),
    "reasoning effort": Case(params={"reasoning_effort": "low"}, model="o3"),
    "verbosity": Case(params={"verbosity": "low"}, model="gpt-5"),
    "prediction": Case(params={"prediction": {"type": "content", "content": "Because"}}),
    "modalities": Case(
        params={"modalities": ["text", "audio"], "audio": {"voice": "ash", "format": "wav"}}
    ),
    "web search": Case(params={"web_search_options": {"search_context_size": "low"}}),
    "max_tokens on an ordinary model": Case(params={"max_tokens": 50}),
    "max_tokens on gpt-oss, which is no o-series": Case(
        params={"max_tokens": 50}, model="gpt-oss-20b"
    ),
    "max_tokens on Azure's gpt-35, which is gpt-3.5": Case(
        params={"max_tokens": 50}, model="gpt-35-turbo"
    ),
    "max_completion_tokens": Case(params={"max_completion_tokens": 50}),
    "tools": Case(tools=[WEATHER]),
    "strict tools": Case(tools=[STRICT]),
    "tool choice none": Case(params={"tool_choice": "none"}, tools=[WEATHER]),
    "tool choice required": Case(params={"tool_choice": "required"}, tools=[WEATHER]),
    "tool choice named": Case(
        params={"tool_choice": {"type": "function", "function": {"name": "weather"}}},
        tools=[WEATHER],
    ),
    "one tool at a time": Case(params={"parallel_tool_calls": False}, tools=[WEATHER]),
    "a JSON object": Case(params={"response_format": {"type": "json_object"}}),
    "a response format by hand": Case(
        params={
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": False},
            }
        }
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_the_request_equals_the_sdks(
    name: str, recorder: Recorder, sdk: openai.OpenAI
) -> None:
    case = CASES[name]
    tools = {"tools": case.tools} if case.tools else {}
    official = await theirs(recorder, sdk, case.model, messages=case.prompt, **tools, **case.params)
    mine = await ours(recorder, case.model, case.prompt, **tools, **case.params)
    assert_same(mine, official)


@pytest.mark.parametrize("name", ["plain text", "tools", "an image with detail"])
async def test_a_stream_is_asked_for_as_the_sdk_does_with_usage(
    name: str, recorder: Recorder, sdk: openai.OpenAI
) -> None:
    case = CASES[name]
    tools = {"tools": case.tools} if case.tools else {}
    official = await theirs(
        recorder,
        sdk,
        case.model,
        messages=case.prompt,
        stream=True,
        stream_options={"include_usage": True},
        **tools,
    )
    assert_same(await ours(recorder, case.model, case.prompt, stream=True, **tools), official)


@pytest.mark.parametrize("model", ["o1", "o3", "o4-mini", "gpt-5", "gpt-5.6-mini", "gpt-10"])
async def test_a_reasoning_model_gets_max_tokens_under_the_name_it_takes(
    model: str, recorder: Recorder, sdk: openai.OpenAI
) -> None:
    official = await theirs(recorder, sdk, model, messages=QUESTION, max_completion_tokens=9)
    assert_same(await ours(recorder, model, QUESTION, max_tokens=9), official)


@pytest.mark.parametrize("model", ["openai/o3", "ft:o4-mini-2025-04-16:org::id", "openai/gpt-5"])
async def test_a_reasoning_model_is_known_behind_a_router_and_fine_tuned(
    model: str, recorder: Recorder
) -> None:
    mine = await ours(recorder, model, QUESTION, max_tokens=9)
    assert mine.body["max_completion_tokens"] == 9
    assert "max_tokens" not in mine.body


async def test_our_own_parts_become_the_sdks_spelling(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    parts = [
        {"type": "text", "text": "Look."},
        messages.image(b"\x89PNG12", detail="low"),
        messages.image("https://e.org/a.png"),
        messages.file(b"%PDF", media_type="application/pdf", name="a.pdf"),
        messages.audio(b"RIFF", format="wav"),
    ]
    spelled = [
        {"type": "text", "text": "Look."},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64,iVBORzEy", "detail": "low"},
        },
        {"type": "image_url", "image_url": {"url": "https://e.org/a.png"}},
        {
            "type": "file",
            "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"},
        },
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]
    said = [{"role": "user", "content": spelled}]
    official = await theirs(recorder, sdk, "gpt-4o", messages=said)
    assert_same(await ours(recorder, "gpt-4o", [{"role": "user", "content": parts}]), official)


async def test_unknown_parameters_travel_as_the_sdks_extra_body_does(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    extra = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}
    official = await theirs(recorder, sdk, "m", messages=QUESTION, extra_body=extra)
    assert_same(await ours(recorder, "m", QUESTION, **extra), official)


async def test_organisation_and_project_travel_as_the_sdks_do(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with openai.OpenAI(max_retries=0) as client:
        official = await theirs(recorder, client, "gpt-4o", messages=QUESTION)
    async with provider_at(recorder.url, "gpt-4o", key=None) as provider:
        await provider.send(Request.of(provider.endpoint, QUESTION))
    assert official.meaning()["openai-project"] == "proj-1"
    assert_same(recorder.seen.pop(), official)


async def test_organisation_and_project_stay_at_home_because_they_are_nobody_elses(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    mine = await ours(recorder, "gpt-4o", QUESTION)
    assert not {"openai-organization", "openai-project"} & mine.headers.keys()


async def test_headers_of_the_endpoint_replace_ours_whatever_their_case(recorder: Recorder) -> None:
    async with provider_at(
        recorder.url, "m", headers={"Accept": "application/x", "X-Team": "blue"}
    ) as provider:
        await provider.send(Request.of(provider.endpoint, "Hi"))
    seen = recorder.seen.pop()
    assert seen.headers["accept"] == "application/x"
    assert seen.headers["x-team"] == "blue"


async def test_an_assistant_turn_without_content_says_null_which_means_the_same(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    turns = [TOOL_TURNS[0], {"role": "assistant", "tool_calls": [CALL]}, TOOL_TURNS[2]]
    official = await theirs(recorder, sdk, "gpt-4o", messages=turns)
    mine = await ours(recorder, "gpt-4o", turns)
    assert mine.body["messages"][1].pop("content", "absent") is None
    assert_same(mine, official)


# Structured answers ---------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Address(BaseModel):
    """Where someone lives."""

    street: str
    number: int


class Flat(BaseModel):
    name: str
    age: int
    weight: float
    alive: bool


class Nested(BaseModel):
    home: Address
    others: list[Address]


class Enums(BaseModel):
    colour: Colour
    size: Size
    colours: list[Colour]


class Optionals(BaseModel):
    nickname: str | None = None
    home: Address | None = None
    required_but_nullable: int | None


class Unions(BaseModel):
    value: int | str | Address
    many: list[int | Address]


class Dates(BaseModel):
    day: datetime.date
    moment: datetime.datetime
    at: datetime.time
    span: datetime.timedelta
    number: uuid.UUID


class Literals(BaseModel):
    one: Literal["only"]
    mood: Literal["good", "bad"]
    mixed: Literal[1, "two"]


class Described(BaseModel):
    """A thing with words around it."""

    name: str = Field(description="What it is called.", examples=["Ada"])
    home: Address = Field(description="A reference with a sibling is written out.")
    colour: Colour = Field(description="So is this one.", title="Paint")


class Defaults(BaseModel):
    name: str = "Ada"
    tags: list[str] = []
    home: Address = Address(street="Main", number=1)
    size: int = Field(default=3, description="How large.")


class Bounded(BaseModel):
    score: int = Field(ge=0, le=10)
    ratio: float = Field(gt=0, lt=1, multiple_of=0.1)
    code: str = Field(pattern="^[A-Z]{3}$", min_length=3, max_length=3)
    few: list[str] = Field(min_length=1, max_length=5)


class Node(BaseModel):
    value: int
    children: list[Node]


class Chain(BaseModel):
    value: int
    next: Chain | None


class Deep(BaseModel):
    node: Node
    chains: list[Chain]


class Aliased(BaseModel):
    given: str = Field(alias="givenName")
    family: str = Field(serialization_alias="familyName", validation_alias="familyName")


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid", title="A Title of Its Own")
    name: str


class ListOfLists(BaseModel):
    grid: list[list[int]]


class Name_With_Ünïcode(BaseModel):  # noqa: N801
    a: str


MODELS: list[type[BaseModel]] = [
    Flat,
    Nested,
    Enums,
    Optionals,
    Unions,
    Dates,
    Literals,
    Described,
    Defaults,
    Bounded,
    Node,
    Chain,
    Deep,
    Aliased,
    Forbidding,
    ListOfLists,
]


async def parsed(recorder: Recorder, client: openai.OpenAI, model: type[BaseModel]) -> Seen:
    parse: Any = client.chat.completions.parse
    await asyncio.to_thread(parse, model="gpt-4o", messages=QUESTION, response_format=model)
    seen = recorder.seen.pop()
    assert seen.body.pop("stream") is False  # parse says the default aloud
    return seen


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
async def test_a_pydantic_model_is_asked_for_as_the_sdks_parse_does(
    model: type[BaseModel], recorder: Recorder, sdk: openai.OpenAI
) -> None:
    official = await parsed(recorder, sdk, model)
    mine = await ours(recorder, "gpt-4o", QUESTION, schema=model)
    assert mine.body["response_format"]["json_schema"]["strict"] is True
    assert_same(mine, official)
    assert sorted(_orders(mine.body)) == sorted(_orders(official.body))


def _orders(node: Any) -> Iterator[list[str]]:
    """The order of properties everywhere: models write them in it."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield list(node["properties"])
        for child in node.values():
            yield from _orders(child)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Discriminated(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


async def test_one_of_becomes_any_of_because_strict_mode_refuses_it(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    official = (await parsed(recorder, sdk, Discriminated)).body["response_format"]
    mine = (await ours(recorder, "gpt-4o", QUESTION, schema=Discriminated)).body["response_format"]
    pet = official["json_schema"]["schema"]["properties"]["pet"]
    assert pet.pop("discriminator")
    pet["anyOf"] = pet.pop("oneOf")
    assert mine == official
    assert mine["json_schema"]["strict"] is True


class AnyValue(BaseModel):
    value: Any


class OpenMap(BaseModel):
    counts: dict[str, int]


class Pair(BaseModel):
    point: tuple[float, float]


class Unique(BaseModel):
    tags: set[str]


class Link(BaseModel):
    url: HttpUrl


class Money(BaseModel):
    amount: Decimal


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Empty(BaseModel):
    pass


@pytest.mark.parametrize(
    "model", [AnyValue, OpenMap, Pair, Unique, Link, Loose, Empty], ids=lambda m: m.__name__
)
async def test_what_strict_mode_refuses_is_sent_unchanged_and_not_strict(
    model: type[BaseModel], recorder: Recorder, sdk: openai.OpenAI
) -> None:
    official = (await parsed(recorder, sdk, model)).body["response_format"]["json_schema"]
    mine = (await ours(recorder, "gpt-4o", QUESTION, schema=model)).body["response_format"]
    assert official["strict"] is True  # and the API answers 400 to it
    assert mine["json_schema"] == {
        "name": official["name"],
        "schema": model.model_json_schema(),
        "strict": False,
    }


async def test_a_decimal_is_strict_because_its_pattern_is_allowed(recorder: Recorder) -> None:
    mine = await ours(recorder, "gpt-4o", QUESTION, schema=Money)
    assert mine.body["response_format"]["json_schema"]["strict"] is True


class Tree(BaseModel):
    left: Tree | None
    twin: Tree = Field(description="Another of the same.")


async def test_a_described_recursion_ends_where_the_sdk_recurses_for_ever(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    with pytest.raises(RecursionError):
        await parsed(recorder, sdk, Tree)
    mine = (await ours(recorder, "gpt-4o", QUESTION, schema=Tree)).body["response_format"]
    assert mine["json_schema"]["strict"] is True
    twin = mine["json_schema"]["schema"]["$defs"]["Tree"]["properties"]["twin"]
    assert twin["description"] == "Another of the same."


async def test_a_schema_name_is_made_fit_where_the_sdk_lets_the_server_refuse_it(
    recorder: Recorder, sdk: openai.OpenAI
) -> None:
    official = (await parsed(recorder, sdk, Name_With_Ünïcode)).body["response_format"]
    mine = (await ours(recorder, "gpt-4o", QUESTION, schema=Name_With_Ünïcode)).body
    assert official["json_schema"]["name"] == "Name_With_Ünïcode"
    assert mine["response_format"]["json_schema"]["name"] == "Name_With__n_code"


def _lists_in_lists(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        inner = {"type": "array", "items": inner}
    return inner


RAW_SCHEMAS: dict[str, tuple[dict[str, Any], bool]] = {
    "strict by itself": (
        {
            "title": "person",
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
            "required": ["name", "age"],
            "additionalProperties": False,
        },
        True,
    ),
    "with definitions": (
        {
            "type": "object",
            "$defs": {"word": {"type": "string"}},
            "properties": {"words": {"type": "array", "items": {"$ref": "#/$defs/word"}}},
            "required": ["words"],
            "additionalProperties": False,
        },
        True,
    ),
    "optional property": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "required": ["a"],
            "additionalProperties": False,
        },
        False,
    ),
    "open object": ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
    "all of": (
        {
            "type": "object",
            "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 2}]}},
            "required": ["a"],
            "additionalProperties": False,
        },
        False,
    ),
    "true as a schema": (
        {
            "type": "object",
            "properties": {"a": True},
            "required": ["a"],
            "additionalProperties": False,
        },
        False,
    ),
    "any of at the root": (
        {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {}},
        False,
    ),
    "too deep": (
        {
            "type": "object",
            "properties": {"a": _lists_in_lists(12)},
            "required": ["a"],
            "additionalProperties": False,
        },
        False,
    ),
}


@pytest.mark.parametrize("name", RAW_SCHEMAS)
async def test_a_schema_by_hand_is_never_changed_and_strict_only_where_that_is_taken(
    name: str, recorder: Recorder, sdk: openai.OpenAI
) -> None:
    schema, strict = RAW_SCHEMAS[name]
    wanted = {"name": schema.get("title", "answer"), "schema": schema, "strict": strict}
    official = await theirs(
        recorder,
        sdk,
        "gpt-4o",
        messages=QUESTION,
        response_format={"type": "json_schema", "json_schema": wanted},
    )
    assert_same(await ours(recorder, "gpt-4o", QUESTION, schema=schema), official)


# Azure ----------------------------------------------------------------------------------------
# An Azure host cannot be served on this machine, so both requests are stopped on their way out.

AZURE = "https://team.openai.azure.com"
TOKEN = "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl"


def azure_sdk(**how: Any) -> Seen:
    caught: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        caught.append(request)
        return httpx2.Response(200, json=COMPLETION)

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    with openai.AzureOpenAI(http_client=http, max_retries=0, **how) as client:
        client.chat.completions.create(model="my-gpt", messages=QUESTION, temperature=0)  # type: ignore[arg-type]
    request = caught[0]
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Seen(request.method, str(request.url), headers, orjson.loads(request.content))


async def azure_ours(url: str, model: str = "my-gpt", **more: Any) -> Seen:
    transport = FakeTransport(Reply(200, {}, orjson.dumps(COMPLETION)))
    provider = OpenAI(Endpoint("openai", model, url=url, **more), transport)
    provider.open()
    await provider.send(Request.of(provider.endpoint, QUESTION, temperature=0))
    call = transport.calls[0]
    return Seen(call.method, call.url, dict(call.headers), orjson.loads(call.body))


@pytest.mark.parametrize("url", [AZURE, AZURE + "/", AZURE + "/openai"])
async def test_azure_gets_path_version_and_key_as_from_the_sdk(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    official = azure_sdk(azure_endpoint=AZURE, api_key="azure-key-1")
    assert_same(await azure_ours(url, key=Secret("azure-key-1")), official)
    assert official.headers["api-key"] == "azure-key-1"


async def test_azure_takes_the_version_from_the_address() -> None:
    official = azure_sdk(azure_endpoint=AZURE, api_key="azure-key-1", api_version="2025-01-01")
    mine = await azure_ours(f"{AZURE}?api-version=2025-01-01", key=Secret("azure-key-1"))
    assert_same(mine, official)


async def test_azure_takes_a_deployment_from_the_address() -> None:
    official = azure_sdk(
        azure_endpoint=AZURE, azure_deployment="other", api_key="azure-key-1", api_version="1"
    )
    url = f"{AZURE}/openai/deployments/other?api-version=1"
    assert_same(await azure_ours(url, key=Secret("azure-key-1")), official)


@pytest.mark.parametrize("token", [TOKEN, "opaque-token-of-entra"])
async def test_azure_takes_an_entra_token_from_the_environment_before_the_key(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", token)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-1")
    official = azure_sdk(azure_endpoint=AZURE)
    mine = await azure_ours(AZURE)
    assert mine.headers["authorization"] == f"Bearer {token}"
    assert_same(mine, official)


async def test_azure_takes_its_own_key_from_the_environment_and_never_openais(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-1")
    official = azure_sdk(azure_endpoint=AZURE)
    mine = await azure_ours(AZURE)
    assert_same(mine, official)
    assert KEY not in str(mine.headers)


async def test_azure_gets_an_entra_token_given_as_the_key_as_a_bearer() -> None:
    official = azure_sdk(azure_endpoint=AZURE, azure_ad_token=TOKEN, api_version="1")
    assert_same(await azure_ours(f"{AZURE}?api-version=1", key=Secret(TOKEN)), official)


async def test_azures_new_surface_is_addressed_as_the_plain_sdk_does() -> None:
    mine = await azure_ours(f"{AZURE}/openai/v1", key=Secret("azure-key-1"))
    assert mine.path == f"{AZURE}/openai/v1/chat/completions"
    assert mine.headers["api-key"] == "azure-key-1"


async def test_azures_model_inference_keeps_its_own_path() -> None:
    url = "https://team.services.ai.azure.com/models"
    mine = await azure_ours(f"{url}?api-version=1", key=Secret("azure-key-1"))
    assert mine.path == f"{url}/chat/completions?api-version=1"


async def test_a_deployment_with_odd_letters_is_quoted_as_the_sdk_does() -> None:
    official = azure_sdk(azure_endpoint=AZURE, api_key="azure-key-1", api_version="1")
    mine = await azure_ours(f"{AZURE}?api-version=1", "my gpt/ü", key=Secret("azure-key-1"))
    assert mine.path == official.path.replace("my-gpt", "my%20gpt%2F%C3%BC")


async def test_azure_without_a_version_is_refused_before_sending_as_the_sdk_does() -> None:
    with pytest.raises(ValueError, match="api_version"):
        azure_sdk(azure_endpoint=AZURE, api_key="azure-key-1")
    with pytest.raises(EndpointError, match="api-version") as raised:
        await azure_ours(AZURE, key=Secret("azure-key-1"))
    assert "OPENAI_API_VERSION" in raised.value.remedy


async def test_a_host_that_only_looks_like_azure_is_not_azure() -> None:
    mine = await azure_ours("https://openai.azure.com.example.org/v1", key=Secret("a-key-1234"))
    assert mine.path == "https://openai.azure.com.example.org/v1/chat/completions"
    assert "api-key" not in mine.headers


# Addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h:1", "http://h:1/chat/completions"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1?route=a", "http://h:1/v1/chat/completions?route=a"),
        ("https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1/chat/completions"),
    ],
)
async def test_the_address_is_made_of_the_base_address(url: str, address: str) -> None:
    assert (await azure_ours(url, key=Secret("a-key-1234"))).path == address


@pytest.mark.parametrize("key", ["sk-line\nbreak", "sk-zero\u200bwidth", "sk-tab\tulator"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    provider = OpenAI(Endpoint("openai", "m", url="http://h/v1", key=Secret(key)))
    with pytest.raises(EndpointError, match="authorization") as raised:
        provider.open()
    assert key not in str(raised.value)
