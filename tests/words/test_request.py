from __future__ import annotations

import datetime as dt
import hashlib
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.endpoint import Endpoint, Limits, Prices
from penstock.errors import RequestError
from penstock.messages import file, image
from penstock.request import KEY_SIZE, Request
from penstock.schema import AnswerSchema

HERE = Endpoint("openai", "gpt-4o-mini", url="http://localhost:8000/v1")
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
TOOL = {"type": "function", "function": {"name": "f", "parameters": PERSON}}

GOLDEN = {
    "text": "0124071131734b37e193c6f116f4a861df",
    "params": "0140d4f6bebe9417f5d009a1a87f6e7aee",
    "system": "01db1258169ac1844f5935f48e152a5017",
    "schema": "01144f7b10b27364097f86a4770196fa15",
    "tools": "0149959c1497c18596e13481ddc28f8313",
    "sample": "016deec2a43fb7feff4e3c0fe20ab33774",
    "image": "012c0d67fed73cb5fb191046e9866a02dc",
    "unicode": "017a8d5c2061a1116ffd7a3a7ec80a3341",
    "cache_as": "010bf571f49cd7573c3c9f0c046b0758a2",
}


def key(prompt: Any = "hi", *, endpoint: Endpoint = HERE, **more: Any) -> str:
    return Request.of(endpoint, prompt, **more).id


# The key never changes its making unnoticed -----------------------------------------------------


def test_keys_made_by_the_first_version_are_still_made() -> None:
    assert {
        "text": key(),
        "params": key(temperature=0.5, max_tokens=100, stop=["a", "b"]),
        "system": key("hi", system="be brief"),
        "schema": key(schema=PERSON),
        "tools": key(tools=[TOOL]),
        "sample": key(sample=7),
        "image": key([{"role": "user", "content": ["see", image(b"\x89PNG")]}]),
        "unicode": key("é \U0001f600 \x00 \u2028"),
        "cache_as": key(endpoint=HERE.with_(cache_as="lab")),
    } == GOLDEN


def test_the_making_of_a_key_can_be_followed_by_hand() -> None:
    parts = [
        b'["openai","http://localhost:8000/v1","gpt-4o-mini"]',
        b'[{"content":"hi","role":"user"}]',
        b'{"temperature":1}',
        b"",
        b"",
        b"3",
    ]
    lengths = ",".join(str(len(part)) for part in parts).encode()
    digest = hashlib.sha256(lengths + b";" + b"".join(parts)).hexdigest()
    assert key(temperature=1.0, sample=3) == "01" + digest[:32]


def test_a_key_is_a_version_and_128_bits() -> None:
    made = Request.of(HERE, "hi")
    assert len(made.key) == KEY_SIZE == 17
    assert made.key[0] == 1
    assert made.id == made.key.hex()
    assert made.key is made.key


# What does not change it ------------------------------------------------------------------------


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_whole_number_and_its_float_ask_the_same(number: int) -> None:
    assert key(x=number) == key(x=float(number))
    assert key(x=[{"y": number}]) == key(x=[{"y": float(number)}])


def test_a_float_that_is_not_whole_is_not_rounded() -> None:
    assert key(temperature=0.7) != key(temperature=0.70000001)
    assert key(x=1e300) != key(x=1e299)
    assert key(x=-0.0) == key(x=0)


_params = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=6).filter(lambda name: name != "n"),
    st.recursive(
        st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=5,
    ),
    max_size=3,
)


@given(_params, st.randoms())
def test_the_order_of_parameters_does_not_matter(params: dict[str, Any], random: Any) -> None:
    names = list(params)
    random.shuffle(names)
    assert key(**params) == key(**{name: params[name] for name in names})


@given(_params, _params)
def test_other_parameters_ask_something_else(one: dict[str, Any], other: dict[str, Any]) -> None:
    def typed(value: Any) -> Any:
        """Equal only where JSON is: True is not 1."""
        if isinstance(value, dict):
            return {name: typed(item) for name, item in value.items()}
        if isinstance(value, list):
            return [typed(item) for item in value]
        return (type(value).__name__, value)

    assume(typed(one) != typed(other))
    assert key(**one) != key(**other)


@pytest.mark.parametrize(
    "change",
    [
        {"key": "env:OTHER"},
        {"key": "sk-literal-key-value"},
        {"limits": Limits(concurrency=3)},
        {"timeout": 5.0},
        {"name": "mine"},
        {"prices": Prices(Decimal(1), Decimal(2))},
        {"headers": {"x-team": "a"}},
        {"trusted": False},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_cannot_change_the_answer_is_not_in_the_key(change: dict[str, Any]) -> None:
    assert key(endpoint=HERE.with_(**change)) == key()


@pytest.mark.parametrize(
    "other",
    [
        key("ho"),
        key(endpoint=HERE.with_(model="gpt-4o")),
        key(endpoint=HERE.with_(url="http://localhost:8001/v1")),
        key(endpoint=HERE.with_(provider="simulated")),
        key(endpoint=HERE.with_(params={"temperature": 1})),
        key(temperature=0),
        key(system="be brief"),
        key(schema=PERSON),
        key(tools=[TOOL]),
        key(sample=1),
        key([{"role": "system", "content": "hi"}]),
        key([{"role": "user", "content": "hi", "name": "ann"}]),
        key([{"role": "user", "content": ["hi"]}]),
        key(endpoint=HERE.with_(cache_as="lab")),
    ],
)
def test_everything_that_can_change_the_answer_is_in_the_key(other: str) -> None:
    assert other != key()


def test_the_parameters_of_the_endpoint_are_those_of_the_question() -> None:
    warm = HERE.with_(params={"temperature": 1, "top_p": 0.5})
    assert key(endpoint=warm) == key(temperature=1, top_p=0.5)
    assert key(endpoint=warm, temperature=0) == key(temperature=0, top_p=0.5)
    assert key(endpoint=warm, temperature=None) == key(top_p=0.5)


def test_cache_as_keeps_answers_when_only_the_address_moved() -> None:
    old = HERE.with_(cache_as="lab")
    assert key(endpoint=old) == key(endpoint=old.with_(url="http://elsewhere/v1"))
    assert key(endpoint=old) != key(endpoint=old.with_(model="another"))


def test_equal_forms_of_a_prompt_ask_the_same() -> None:
    forms: list[Any] = [
        "hi",
        {"user": "hi"},
        {"role": "user", "content": "hi"},
        [{"content": "hi", "role": "user"}],
    ]
    assert len({key(form) for form in forms}) == 1
    assert key({"system": "s", "user": "hi"}) == key("hi", system="s")


# Order and place --------------------------------------------------------------------------------


def test_the_order_of_properties_in_a_schema_matters() -> None:
    turned = PERSON | {"properties": dict(reversed(list(PERSON["properties"].items())))}  # type: ignore[attr-defined]
    assert turned == PERSON
    assert key(schema=turned) != key(schema=PERSON)
    assert key(tools=[TOOL | {"function": {"parameters": turned}}]) != key(
        tools=[TOOL | {"function": {"parameters": PERSON}}]
    )


def test_the_order_of_messages_and_tools_matters() -> None:
    a, b = {"role": "user", "content": "a"}, {"role": "user", "content": "b"}
    assert key([a, b]) != key([b, a])
    other = {"type": "function", "function": {"name": "g"}}
    assert key(tools=[TOOL, other]) != key(tools=[other, TOOL])


_texts = st.text(st.sampled_from('ab{}[]",:;\\ \n0é'), max_size=6)
_talks = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": _texts}),
    min_size=1,
    max_size=3,
)


@given(_talks, _talks)
def test_no_two_different_conversations_have_one_key(one: list[Any], other: list[Any]) -> None:
    assert (key(one) == key(other)) == (one == other)


@given(_texts, _texts, st.integers(0, 3))
def test_text_moved_to_another_place_asks_something_else(a: str, b: str, cut: int) -> None:
    assume(a and b)
    moved = a[:cut] + b, a[cut:]
    one = key([{"role": "user", "content": a}, {"role": "user", "content": b}])
    places = {
        key([{"role": "user", "content": a + b}]),
        key(b, system=a),
        key([{"role": "user", "content": [a, b]}]),
        key(a, x=b),
        key([{"role": "user", "content": a, "name": b}]),
    }
    assert one not in places
    assert len(places) == 5
    if moved != (a, b):
        assert one != key([{"role": "user", "content": text} for text in moved])


def test_a_schema_a_tool_and_a_parameter_of_one_content_differ() -> None:
    assert len({key(schema=PERSON), key(tools=[PERSON]), key(schema_=PERSON), key()}) == 4


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_sample_is_a_question_of_its_own(one: int, other: int) -> None:
    assert (key(sample=one) == key(sample=other)) == (one == other)


# What cannot be asked ---------------------------------------------------------------------------


class Odd:
    pass


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "\ud800", 2**64, -(2**63) - 1, {1: 2}, {"a"}, b"x", Odd(), 1j],
)
def test_what_json_cannot_carry_is_a_request_error_wherever_it_stands(value: Any) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": value}}
    places: list[dict[str, Any]] = [
        {"x": value},
        {"x": [{"y": value}]},
        {"tools": [{"x": value}]},
        {"prompt": [{"role": "assistant", "content": None, "tool_calls": [call]}]},
    ]
    for place in places:
        with pytest.raises(RequestError):
            key(**place)


def test_a_lone_surrogate_in_a_text_is_a_request_error() -> None:
    with pytest.raises(RequestError, match="cannot be written as JSON"):
        key("a\ud800b")
    with pytest.raises(RequestError):
        key("hi", system="\udfff")


@pytest.mark.parametrize("sample", [1.5, "1", None])
def test_a_sample_is_a_whole_number(sample: Any) -> None:
    with pytest.raises(RequestError):
        key(sample=sample)


def test_a_bottomless_parameter_is_a_request_error() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RequestError):
        key(x=deep)
    loop: dict[str, Any] = {}
    loop["x"] = loop
    with pytest.raises(RequestError):
        key(x=loop)


def test_what_json_can_carry_as_text_is_carried() -> None:
    assert key(x=dt.date(2026, 1, 2)) == key(x="2026-01-02")


@pytest.mark.parametrize("name", ["model", "messages", "stream", "stream_options", "n"])
def test_what_penstock_sets_itself_cannot_be_a_parameter(name: str) -> None:
    with pytest.raises(RequestError, match=f"{name} cannot be given as a parameter"):
        key(**{name: 1})  # type: ignore[arg-type]
    with pytest.raises(RequestError):
        key(endpoint=HERE.with_(params={name: 1}))


@pytest.mark.parametrize("name", ["api_key", "Authorization", "apikey"])
def test_a_key_given_as_a_parameter_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(RequestError) as caught:
        key(**{name: "sk-canary-123456"})  # type: ignore[arg-type]
    assert "would be recorded" in caught.value.message
    assert "env:NAME" in caught.value.remedy
    assert "canary" not in str(caught.value)


# Files ------------------------------------------------------------------------------------------


def test_a_file_is_known_by_its_content_and_not_by_its_path(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "x.png", tmp_path / "b" / "y.png"
    for path in (one, other):
        path.parent.mkdir()
        path.write_bytes(b"\x89PNG same")

    def ask(path: Path, make: Any = image) -> str:
        return key([{"role": "user", "content": ["what is this?", make(path)]}])

    before = ask(one)
    assert before == ask(other)
    assert ask(one, lambda p: file(p, name="z")) == ask(other, lambda p: file(p, name="z"))
    one.write_bytes(b"\x89PNG other")
    assert ask(one) != before


# The rest ---------------------------------------------------------------------------------------


def test_a_changed_copy_has_a_key_of_its_own() -> None:
    first = Request.of(HERE, "hi")
    assert first.key
    assert msgspec.structs.replace(first, sample=1, _key=None).key != first.key


def test_a_request_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Request.of(HERE, "hi").sample = 2  # type: ignore[misc]


def test_a_request_takes_a_schema_that_is_made_already() -> None:
    made = AnswerSchema.of(PERSON)
    assert Request.of(HERE, "hi", schema=made).schema is made
    assert key(schema=made) == key(schema=PERSON)
