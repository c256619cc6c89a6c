"""From what a person writes to an endpoint with an address and a key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import plugins
from penstock.endpoint import Endpoint
from penstock.errors import EndpointError, InputError, KeyMissingError, NotFoundError, SettingsError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers import provider_of, resolve
from penstock.providers.openai import OpenAI
from penstock.providers.provider import Provider
from penstock.providers.simulated import Simulated
from penstock.request import Request
from penstock.secret import Secret

HOME = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("text", "provider", "model", "url"),
    [
        ("gpt-4o-mini", "openai", "gpt-4o-mini", HOME),
        ("  gpt-4o-mini ", "openai", "gpt-4o-mini", HOME),
        ("openai/gpt-4o", "openai", "gpt-4o", HOME),
        ("openai/anything/at/all", "openai", "anything/at/all", HOME),
        ("o3", "openai", "o3", HOME),
        ("o4-mini", "openai", "o4-mini", HOME),
        ("chatgpt-4o-latest", "openai", "chatgpt-4o-latest", HOME),
        ("ft:gpt-4o:org/x::id", "openai", "ft:gpt-4o:org/x::id", HOME),
        ("http://h:8000/v1#llama", "openai", "llama", "http://h:8000/v1"),
        ("http://h:8000/v1/#meta/llama-3", "openai", "meta/llama-3", "http://h:8000/v1"),
        ("https://h/v1?route=a#m", "openai", "m", "https://h/v1?route=a"),
        ("simulated", "simulated", "simulated", ""),
        ("simulated-echo", "simulated", "simulated-echo", ""),
        ("simulated/simulated-fixed", "simulated", "simulated-fixed", ""),
    ],
)
def test_what_a_person_writes_becomes_an_endpoint(
    text: str, provider: str, model: str, url: str
) -> None:
    endpoint = resolve(text)
    assert (endpoint.provider, endpoint.model, endpoint.url) == (provider, model, url)


@pytest.mark.parametrize("text", ["", "llama", "nobody/gpt", "openai/", "/gpt-4o", "olmo", "o"])
def test_what_nobody_knows_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(EndpointError) as raised:
        resolve(text)
    assert repr(text) in raised.value.message
    assert "http://host:port/v1#model" in raised.value.remedy
    assert "openai" in raised.value.remedy


def test_an_address_without_a_model_says_where_to_write_it() -> None:
    with pytest.raises(EndpointError, match="names no model") as raised:
        resolve("http://h:8000/v1")
    assert "http://h:8000/v1#my-model" in raised.value.remedy


def test_the_variable_of_the_provider_names_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", " http://mine:8000/v1/ ")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-home-12345678")
    endpoint = resolve("gpt-4o")
    assert endpoint.url == "http://mine:8000/v1"
    assert key_of(endpoint) == "Bearer sk-home-12345678"


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "  ")
    assert resolve("gpt-4o").url == HOME


def test_an_address_that_was_given_goes_before_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://mine:8000/v1")
    assert resolve("http://h/v1#m").url == "http://h/v1"
    assert resolve(Endpoint("openai", "m", url="http://h/v1")).url == "http://h/v1"


def test_a_bad_address_in_the_variable_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "mine:8000")
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL"):
        resolve("gpt-4o")


def test_an_endpoint_is_resolved_once_and_stays_itself() -> None:
    endpoint = Endpoint("openai", "m", key="env:K", params={"temperature": 0}, name="mine")
    found = resolve(endpoint)
    assert found == endpoint.with_(url=HOME)
    assert resolve(found) is found


def test_a_provider_that_needs_no_address_gets_none() -> None:
    assert resolve("simulated").url == ""


@pytest.mark.parametrize(("name", "hint"), [("opnai", "openai"), ("simulate", "simulated")])
def test_an_unknown_provider_is_answered_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError, match=f"no provider named '{name}'") as raised:
        resolve(Endpoint(name, "m"))
    assert f"'{hint}'" in raised.value.remedy
    assert "penstock.register" in raised.value.remedy


def test_a_provider_far_from_all_names_lists_what_there_is() -> None:
    with pytest.raises(NotFoundError) as raised:
        resolve(Endpoint("zzz", "m"))
    assert "Did you mean" not in raised.value.remedy
    assert "openai" in raised.value.remedy and "simulated" in raised.value.remedy


def test_the_classes_are_found_by_name() -> None:
    assert provider_of(Endpoint("openai", "m")) is OpenAI
    assert provider_of(Endpoint("simulated", "m")) is Simulated


@pytest.fixture
def registered() -> Iterator[str]:
    class Mine(Simulated):
        pass

    plugins.register("provider", "mine", Mine)
    yield "mine"
    plugins.unregister("provider", "mine")


def test_a_registered_provider_may_stand_before_the_slash(registered: str) -> None:
    endpoint = resolve("mine/model")
    assert (endpoint.provider, endpoint.model) == (registered, "model")
    assert provider_of(endpoint).__name__ == "Mine"


# Keys -----------------------------------------------------------------------------------------


def opened(endpoint: Endpoint) -> OpenAI:
    provider = OpenAI(endpoint)
    provider.open()
    return provider


def key_of(endpoint: Endpoint) -> str | None:
    return opened(endpoint)._headers.get("authorization")


def test_a_missing_key_says_which_and_what_to_do() -> None:
    with pytest.raises(KeyMissingError) as raised:
        opened(resolve("gpt-4o"))
    assert raised.value.message == "no key for openai/gpt-4o: OPENAI_API_KEY is not set"
    assert "export OPENAI_API_KEY=" in raised.value.remedy
    assert "simulated" in raised.value.remedy


def test_a_key_of_blanks_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    with pytest.raises(KeyMissingError):
        opened(resolve("gpt-4o"))


def test_the_usual_key_is_found_at_home_without_its_line_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-home-12345678\n")
    assert key_of(resolve("gpt-4o")) == "Bearer sk-home-12345678"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com:444/v1",
        "https://api.openai.com/v1/../x",
        "https://API.openai.com@evil.example/v1",
        "https://evil.example/https://api.openai.com/v1",
    ],
)
def test_the_usual_key_stays_at_home(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-home-12345678")
    try:
        endpoint = Endpoint("openai", "m", url=url)
    except EndpointError:
        return  # not even an address
    assert key_of(endpoint) is None


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert key_of(Endpoint("openai", "m", url="http://localhost:8000/v1")) is None


def test_a_reference_is_read_when_it_is_opened_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint = resolve(Endpoint("openai", "m", key="env:LATER"))
    provider = OpenAI(endpoint)
    with pytest.raises(KeyMissingError, match="LATER"):
        provider.open()
    monkeypatch.setenv("LATER", "sk-later-12345678")
    assert key_of(endpoint) == "Bearer sk-later-12345678"


def test_a_literal_key_is_a_secret_at_once() -> None:
    endpoint = Endpoint("openai", "m", key="sk-literal-12345678")
    assert isinstance(endpoint.key, Secret)
    assert "sk-literal" not in repr(endpoint)
    assert key_of(resolve(endpoint)) == "Bearer sk-literal-12345678"


def test_a_command_from_an_import_is_never_run(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        opened(Endpoint("openai", "m", url=HOME, key=f"command:touch {tmp_path}/x", trusted=False))
    assert not (tmp_path / "x").exists()


# The simulated provider -----------------------------------------------------------------------


async def simulated(prompt: str, **params: Any) -> Answer | Failure:
    endpoint = resolve("simulated")
    provider = provider_of(endpoint)(endpoint)
    provider.open()
    sent = await provider.send(Request.of(endpoint, prompt, **params))
    if isinstance(sent.outcome, Answer):
        assert provider.read(sent.body) == sent.outcome
    return sent.outcome


async def test_the_simulated_provider_needs_no_key_and_no_network() -> None:
    assert Simulated.uses_network is False
    first, again = await simulated("Hi"), await simulated("Hi")
    assert isinstance(first, Answer) and isinstance(again, Answer)
    assert first.text == again.text


async def test_a_question_that_the_simulated_provider_refuses_is_a_failure() -> None:
    outcome = await simulated("Hi", max_tokens=0)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.INVALID_REQUEST


async def test_the_latency_of_the_simulated_provider_is_not_part_of_the_question() -> None:
    endpoint = resolve("simulated")
    provider: Provider = Simulated(endpoint)
    provider.open()
    assert b"latency" not in provider.wire(Request.of(endpoint, "Hi", latency=1))
    slow, slower = await simulated("Hi", latency=1), await simulated("Hi", latency=2)
    assert isinstance(slow, Answer) and isinstance(slower, Answer)
    assert slow.text == slower.text


@pytest.mark.parametrize("text", ["a b", " a", "a ", "a\n\nb  c", "", " ", "ab"])
async def test_what_the_simulated_provider_shows_is_what_it_says(text: str) -> None:
    endpoint = resolve("simulated-echo")
    provider = Simulated(endpoint)
    provider.open()
    shown: list[str] = []
    sent = await provider.send(Request.of(endpoint, text), shown.append)
    assert isinstance(sent.outcome, Answer)
    assert "".join(shown) == sent.outcome.text


@pytest.mark.parametrize(
    ("named", "trusted", "expected"),
    [
        ("", True, True),
        ("", False, False),
        ("https://me.openai.azure.com", False, True),
        ("https://other.openai.azure.com", True, False),
    ],
)
def test_azure_credentials_go_only_to_the_resource_they_belong_to(
    monkeypatch: pytest.MonkeyPatch, named: str, trusted: bool, expected: bool
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-0123456789")
    if named:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", named)
    url = "https://me.openai.azure.com/openai/v1"
    provider = OpenAI(Endpoint("openai", "gpt-4o", url, trusted=trusted))
    provider.open()
    assert ("api-key" in provider._headers) is expected
