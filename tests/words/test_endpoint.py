from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.endpoint import Endpoint, Limits, Prices
from penstock.errors import EndpointError
from penstock.secret import Secret

PROVIDERS = frozenset({"openai", "anthropic", "gemini", "simulated", "llamacpp"})


def at(url: str, **more: Any) -> Endpoint:
    return Endpoint("openai", "m", url=url, **more)


def refused(**given: Any) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        Endpoint(**({"provider": "openai", "model": "m"} | given))
    return caught.value


# What a person writes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "provider", "model", "url"),
    [
        ("gpt-4o-mini", "openai", "gpt-4o-mini", ""),
        ("o1", "openai", "o1", ""),
        ("o3-mini", "openai", "o3-mini", ""),
        ("chatgpt-4o-latest", "openai", "chatgpt-4o-latest", ""),
        ("ft:gpt-4o:org/name::id", "openai", "ft:gpt-4o:org/name::id", ""),
        ("claude-sonnet-4", "anthropic", "claude-sonnet-4", ""),
        ("gemini-2.5-flash", "gemini", "gemini-2.5-flash", ""),
        ("simulated", "simulated", "simulated", ""),
        ("simulated-slow", "simulated", "simulated-slow", ""),
        ("anthropic/claude-x", "anthropic", "claude-x", ""),
        ("openai/meta/llama-3", "openai", "meta/llama-3", ""),
        ("llamacpp/model.gguf", "llamacpp", "model.gguf", ""),
        ("  gpt-4o  ", "openai", "gpt-4o", ""),
        ("http://host:8000/v1#model", "openai", "model", "http://host:8000/v1"),
        ("https://host/v1/#org/model", "openai", "org/model", "https://host/v1"),
        ("http://host/v1#a#b", "openai", "a#b", "http://host/v1"),
        ("http://[::1]:8000/v1#m", "openai", "m", "http://[::1]:8000/v1"),
        ("http://localhost/v1?api-version=3#m", "openai", "m", "http://localhost/v1?api-version=3"),
    ],
)
def test_a_string_is_taken_apart(text: str, provider: str, model: str, url: str) -> None:
    made = Endpoint.parse(text, PROVIDERS)
    assert (made.provider, made.model, made.url) == (provider, model, url)


@pytest.mark.parametrize(
    "text", ["", "  ", "llama-3", "grok/grok-2", "openai/", "/model", "ftp://host/v1#m", "osmosis"]
)
def test_a_string_that_is_none_says_what_to_write(text: str) -> None:
    with pytest.raises(EndpointError) as caught:
        Endpoint.parse(text, PROVIDERS)
    assert repr(text.strip()) in caught.value.message
    for hint in ("provider/model", "anthropic", "http://host:port/v1#model", "simulated"):
        assert hint in caught.value.remedy


@pytest.mark.parametrize("text", ["http://host/v1", "https://host/v1#"])
def test_an_address_without_a_model_shows_how_to_add_one(text: str) -> None:
    with pytest.raises(EndpointError) as caught:
        Endpoint.parse(text)
    assert "names no model" in caught.value.message
    assert f"{text.rstrip('#')}#my-model" in caught.value.remedy


# Addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.169.254.",
        "169.254.170.2",
        "2852039166",
        "0xA9FEA9FE",
        "0xa9fea9fe",
        "025177524776",
        "0251.0376.0251.0376",
        "0xa9.0xfe.0xa9.0xfe",
        "169.254.43518",
        "169.16689662",
        "0xA9.0376.43518",
        "169%2E254%2E169%2E254",
        "%31%36%39.254.169.254",
        "１６９.254.169.254",
        "169。254。169。254",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[0:0:0:0:0:ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "[fd00:ec2:0:0:0:0:0:254]",
        "[FD00:0EC2::0254]",
        "[fd20:ce::254]",
        "100.100.100.200",
        "1684301000",
        "192.0.0.192",
        "168.63.129.16",
        "metadata",
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    ],
)
@pytest.mark.parametrize("form", ["http://{}/v1", "https://{}:8443/", "http://{}"])
def test_a_metadata_address_is_refused_in_every_spelling(host: str, form: str) -> None:
    assert "metadata address" in refused(url=form.format(host)).message


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254\\.example.org/v1",
        "http://169.254.169.254\\@example.org/v1",
        "http://exam\nple.org/v1",
        "http://169.254.\t169.254/v1",
        "http://example.org /v1",
        "\x00http://example.org",
    ],
)
def test_an_address_that_two_parsers_read_differently_is_refused(url: str) -> None:
    refused(url=url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://127.0.0.1:8000",
        "http://10.0.0.5/v1",
        "http://192.168.1.10/v1",
        "http://[::1]/v1",
        "http://[fd00::5]/v1",
        "https://api.openai.com/v1",
        "https://metadata.example.org/v1",
        "http://169.253.169.254/v1",
        "http://2852039.example.org",
        "http://gpu-1:8000/v1",
        "http://0x.example",
        "https://me.openai.azure.com/openai/v1?api-version=2024-10-21",
    ],
)
def test_an_ordinary_address_is_kept(url: str) -> None:
    assert at(url).url == url
    assert at(url).with_(model="other").url == url


def test_a_slash_at_the_end_makes_no_difference() -> None:
    assert at("http://host/v1/") == at("http://host/v1")


@pytest.mark.parametrize(
    "url",
    ["host/v1", "ftp://host", "http://", "http:///v1", "http:host", "file:///etc/passwd", "x"],
)
def test_what_is_no_address_is_named(url: str) -> None:
    error = refused(url=url)
    assert url in error.message
    assert "http(s)://host/path" in error.message


@pytest.mark.parametrize("url", ["http://host:port/v1", "http://host:99999/", "http://[::1/v1"])
def test_an_address_that_cannot_be_read_says_why(url: str) -> None:
    assert "cannot be read" in refused(url=url).message


@pytest.mark.parametrize(
    "url",
    [
        "https://user:canary@host/v1",
        "https://canary@host/v1",
        "https://:canary@host/",
        "ftp://user:canary@host/",
        "http://user:canary@host:port/v1",
    ],
)
def test_user_info_is_refused_and_not_repeated(url: str) -> None:
    assert "canary" not in str(refused(url=url))


@pytest.mark.parametrize(
    "name",
    [
        *("key", "api_key", "api-key", "apikey", "apiKey", "KEY", "access_token", "accessToken"),
        *("token", "client_secret", "password", "sig", "X-Amz-Signature", "subscription-key"),
    ],
)
def test_a_secret_in_the_query_is_refused_and_not_repeated(name: str) -> None:
    error = refused(url=f"https://host/v1?x=1&{name}=canary")
    assert f"({name}=...)" in error.message
    assert "env:NAME" in error.remedy
    assert "canary" not in str(error)


@pytest.mark.parametrize("name", ["api-version", "region", "keyboard", "x"])
def test_an_ordinary_query_is_kept(name: str) -> None:
    url = f"https://host/v1?{name}=1"
    assert at(url).url == url


def test_a_model_behind_the_address_belongs_elsewhere() -> None:
    assert "belongs into `model`" in refused(url="http://host/v1#model").message


@pytest.mark.parametrize(
    "header",
    [
        *("Authorization", "proxy-authorization", "Cookie", "X-Api-Key", "api_key", "apikey"),
        *("X-Auth-Token", "x-client-secret", "Ocp-Apim-Subscription-Key", "x-functions-key"),
    ],
)
def test_a_header_that_carries_a_secret_is_refused(header: str) -> None:
    error = refused(headers={header: "canary"})
    assert header in error.message
    assert "canary" not in str(error)


def test_an_ordinary_header_is_kept() -> None:
    made = Endpoint("openai", "m", headers={"OpenAI-Organization": "org", "x-team": "1"})
    assert made.spec()["headers"] == {"OpenAI-Organization": "org", "x-team": "1"}


# Keys -------------------------------------------------------------------------------------------


def test_a_literal_key_becomes_a_secret_and_is_never_stored() -> None:
    made = Endpoint("openai", "m", key="sk-canary-123456")
    assert isinstance(made.key, Secret)
    assert "canary" not in repr(made)
    with pytest.raises(EndpointError) as caught:
        made.spec()
    assert "env:NAME" in caught.value.remedy
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("key", ["env:A_KEY", "file:~/key", "command:pass show key"])
def test_a_reference_stays_a_reference(key: str) -> None:
    assert Endpoint("openai", "m", key=key).spec()["key"] == key


def test_an_imported_endpoint_never_has_a_command_for_its_key() -> None:
    error = refused(key="command:rm -rf /", trusted=False)
    assert "imported" in error.message
    with pytest.raises(EndpointError):
        Endpoint("openai", "m", key="command:x").with_(trusted=False)
    assert Endpoint("openai", "m", key="env:A", trusted=False).key == "env:A"


def test_a_secret_cannot_hide_in_the_parameters() -> None:
    for params in ({"x": Secret("canary-canary")}, {"x": [{"y": Secret("canary-canary")}]}):
        assert "holds a secret" in refused(params=params).message
    assert "x-team" in refused(headers={"x-team": Secret("canary-canary")}).message


# What may be wrong with the rest ----------------------------------------------------------------


@pytest.mark.parametrize("name", list(Limits.__slots__))
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3", math.nan, [1]])
def test_a_limit_is_a_whole_number_above_zero(name: str, value: Any) -> None:
    with pytest.raises(EndpointError, match=rf"limits\.{name} is "):
        Limits(**{name: value})


@pytest.mark.parametrize("name", list(Prices.__slots__))
@pytest.mark.parametrize("value", [-1, "-0.1", math.nan, math.inf, "NaN", True, "cheap", [1], {}])
def test_a_price_is_a_number_that_is_not_negative(name: str, value: Any) -> None:
    with pytest.raises(EndpointError, match=rf"prices\.{name} is "):
        Prices(**({"input": 1, "output": 1} | {name: value}))


def test_a_price_is_exact() -> None:
    made = Prices(0.1, "0.30", cached_input=0)  # type: ignore[arg-type]
    assert (made.input, made.output) == (Decimal("0.1"), Decimal("0.30"))
    assert made.cached_input == 0
    assert made.batch_input is None


@pytest.mark.parametrize("name", ["input", "output"])
def test_the_two_prices_are_both_wanted(name: str) -> None:
    with pytest.raises(EndpointError, match=rf"prices\.{name} is None"):
        Prices(**({"input": 1, "output": 1} | {name: None}))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, "5", []])
def test_a_timeout_is_a_number_above_zero(value: Any) -> None:
    assert "timeout is" in refused(timeout=value).message


@pytest.mark.parametrize(
    "given",
    [
        {"provider": ""},
        {"model": ""},
        {"provider": 5},
        {"model": None},
        {"url": 5},
        {"key": 123456},
        {"key": ["env:X"]},
        {"params": [1]},
        {"headers": ["a"]},
        {"headers": {"a": 1}},
        {"headers": {1: "a"}},
        {"cache_as": 1},
    ],
)
def test_a_value_of_the_wrong_type_is_an_endpoint_error(given: dict[str, Any]) -> None:
    refused(**given)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"provider": "openai"},
        {"provider": "openai", "model": "m", "colour": "red"},
        {"provider": "openai", "model": "m", "limits": {"colour": 1}},
        {"provider": "openai", "model": "m", "limits": [1]},
        {"provider": "openai", "model": "m", "limits": 5},
        {"provider": "openai", "model": "m", "prices": {"input": "1"}},
        {"provider": "openai", "model": "m", "prices": "cheap"},
        {"provider": "openai", "model": "m", "url": ["http://x"]},
        {"provider": "openai", "model": "m", "name": "twice"},
    ],
)
def test_a_spec_that_cannot_be_read_is_an_endpoint_error(spec: dict[str, Any]) -> None:
    with pytest.raises(EndpointError):
        Endpoint.from_spec(spec, "mine")


def test_a_spec_with_an_unknown_field_names_the_endpoint_and_the_field() -> None:
    with pytest.raises(EndpointError) as caught:
        Endpoint.from_spec({"provider": "openai", "model": "m", "colour": "red"}, "mine")
    assert "'mine'" in caught.value.message
    assert "colour" in caught.value.message


# There and back ---------------------------------------------------------------------------------

_words = st.text("abcdefghij-_.0123456789", min_size=1, max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)
_counts = st.none() | st.integers(1, 10**9)
_dollars = st.decimals(0, 1000, places=4)
endpoints = st.builds(
    Endpoint,
    provider=_words,
    model=st.text(min_size=1, max_size=20),
    url=st.sampled_from(["", "http://localhost:8000/v1", "https://host/v1?api-version=1"]),
    key=st.none() | st.builds("env:{}".format, _words),
    params=st.dictionaries(_words, _json, max_size=4),
    limits=st.builds(Limits, _counts, _counts, _counts, _counts, _counts),
    prices=st.none() | st.builds(Prices, _dollars, _dollars, st.none() | _dollars),
    headers=st.dictionaries(st.builds("x-{}".format, _words), _words, max_size=2),
    timeout=st.none() | st.floats(0.001, 1e6),
    cache_as=st.just("") | _words,
)


@given(endpoints)
def test_a_spec_is_json_and_gives_the_endpoint_back(endpoint: Endpoint) -> None:
    wire = orjson.dumps(endpoint.spec())
    assert Endpoint.from_spec(orjson.loads(wire)) == endpoint
    assert Endpoint.from_spec(orjson.loads(wire)).identity == endpoint.identity


@given(endpoints, st.text("abcdef0123456789", min_size=12, max_size=30))
def test_no_spec_holds_a_secret(endpoint: Endpoint, key: str) -> None:
    literal = endpoint.with_(key=f"sk-{key}")
    assert f"sk-{key}" not in repr(literal)
    with pytest.raises(EndpointError) as caught:
        literal.spec()
    assert f"sk-{key}" not in str(caught.value)


def test_a_spec_holds_only_what_was_said() -> None:
    assert Endpoint("openai", "m").spec() == {"provider": "openai", "model": "m"}


def test_a_name_is_not_part_of_the_spec_and_shows_in_the_label() -> None:
    made = Endpoint("openai", "m", name="mine")
    assert "name" not in made.spec()
    assert made.label == "mine"
    assert Endpoint("openai", "m").label == "openai/m"
    assert Endpoint.from_spec(made.spec(), "mine") == made


# Identity ---------------------------------------------------------------------------------------


def test_identity_is_provider_address_and_model() -> None:
    one = at("http://a/v1")
    others = [at("http://b/v1"), Endpoint("openai", "n", url="http://a/v1"), Endpoint("p", "m")]
    assert len({one.identity, *(other.identity for other in others)}) == 4


def test_cache_as_takes_the_place_of_the_address_and_of_nothing_else() -> None:
    old, new = at("http://a/v1", cache_as="lab"), at("http://b/v1", cache_as="lab")
    assert old.identity == new.identity
    assert old.identity != at("http://a/v1").identity
    assert old.identity != old.with_(cache_as="other").identity
    assert old.identity != old.with_(model="another-model").identity


def test_a_connection_is_shared_only_by_equal_keys_limits_and_headers() -> None:
    one = at("http://a/v1", key="env:A")
    assert one.connection == at("http://a/v1", key="env:A", params={"temperature": 1}).connection
    for other in (
        one.with_(key="env:B"),
        one.with_(limits=Limits(concurrency=2)),
        one.with_(headers={"x": "y"}),
        one.with_(timeout=5.0),
        one.with_(model="n"),
    ):
        assert other.connection != one.connection
    assert isinstance(hash(one.connection), int)


def test_an_endpoint_does_not_change() -> None:
    with pytest.raises(AttributeError):
        at("http://a/v1").model = "other"  # type: ignore[misc]
    assert re.fullmatch(r"Endpoint\(.*\)", repr(at("http://a/v1")))
