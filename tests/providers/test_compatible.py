"""Servers that speak OpenAI's protocol under a name of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.providers.servers import Recorder

from penstock.errors import EndpointError, KeyMissingError
from penstock.outcome import Answer
from penstock.providers import provider_of, resolve
from penstock.providers.compatible import COMPATIBLE
from penstock.providers.transport import Transport, TransportSettings, open_transport
from penstock.request import Request

KEY = "key-of-this-one-alone-123456"
OTHER = "key-of-another-654321"
NAMES = sorted(COMPATIBLE)


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = open_transport(TransportSettings())
    yield transport
    await transport.close()


@pytest.fixture
def at_home(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name's own variables point to the recorder, and everybody's keys are set."""
    monkeypatch.setenv("OPENAI_API_KEY", OTHER)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another")
    for kind in COMPATIBLE.values():
        monkeypatch.setenv(kind.url_variables[0], recorder.url)
        monkeypatch.setenv(kind.key_variables[-1], OTHER)


async def ask(name: str, transport: Transport, **params: Any) -> Answer:
    endpoint = resolve(f"{name}/some-model")
    provider = provider_of(endpoint)(endpoint, transport)
    provider.open()
    sent = await provider.send(Request.of(endpoint, "Hi", **params))
    assert isinstance(sent.outcome, Answer), sent
    return sent.outcome


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("at_home")
async def test_a_name_and_a_model_are_enough(
    name: str, recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPATIBLE[name].key_variables[-1], KEY)
    await ask(name, transport)
    [seen] = recorder.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body["model"] == "some-model"
    assert seen.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("at_home")
async def test_nobody_gets_what_belongs_to_another(
    name: str, recorder: Recorder, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPATIBLE[name].key_variables[-1], KEY)
    await ask(name, transport)
    assert OTHER not in str(recorder.seen[0])
    assert "org-of-another" not in str(recorder.seen[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_key_is_named_where_one_is_needed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = COMPATIBLE[name]
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://lab.openai.azure.com/openai/v1")
    endpoint = resolve(f"{name}/some-model")
    provider = kind(endpoint, None)
    if not kind.needs_key:
        provider.open()
        return
    with pytest.raises(KeyMissingError, match=kind.key_variables[-1]):
        provider.open()


def test_azure_needs_to_be_told_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(EndpointError, match="AZURE_OPENAI_ENDPOINT"):
        resolve("azure/some-deployment")


@pytest.mark.parametrize(
    ("name", "given", "sent"),
    [
        ("mistral", {"seed": 3}, {"random_seed": 3}),
        ("mistral", {"max_completion_tokens": 9}, {"max_tokens": 9}),
        ("mistral", {"tool_choice": "required"}, {"tool_choice": "any"}),
        ("ollama", {"max_completion_tokens": 9}, {"max_tokens": 9}),
        ("groq", {"seed": 3, "max_tokens": 9}, {"seed": 3, "max_tokens": 9}),
    ],
)
@pytest.mark.usefixtures("at_home")
async def test_a_parameter_is_called_as_it_is_called_there(
    name: str, given: dict[str, Any], sent: dict[str, Any],
    recorder: Recorder, transport: Transport,
) -> None:  # fmt: skip
    await ask(name, transport, **given)
    body = recorder.seen[0].body
    assert {k: v for k, v in body.items() if k not in ("model", "messages")} == sent


@pytest.mark.parametrize("name", sorted({"deepseek", "groq", "mistral", "openrouter", "together"}))
def test_their_prices_are_known(name: str) -> None:
    from penstock.tokens import PriceList

    models = {
        "deepseek": "deepseek-chat",
        "groq": "llama-3.3-70b-versatile",
        "mistral": "mistral-large-latest",
        "openrouter": "openai/gpt-4o-mini",
        "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    }
    assert PriceList().price(resolve(f"{name}/{models[name]}")) is not None
