"""Endpoints: providers, addresses, parameters, limits; and tokens, which go nowhere."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from penstock.errors import EndpointError, NotFoundError
from penstock.providers import provider_of
from tests.bench.importing.moonshot_kit import CANARY, Moon, everything

AZURE = "https://lab.openai.azure.com"


@pytest.mark.parametrize(
    ("connector", "provider"),
    [
        ("openai-connector", "openai"),
        ("anthropic-connector", "anthropic"),
        ("google-gemini-connector", "gemini"),
        ("together-connector", "together"),
        ("azure-openai-connector", "azure"),
        ("azure-langchain-openai-chatopenai-connector", "azure"),
    ],
)
def test_a_connector_becomes_the_provider_that_speaks_the_same(
    moon: Moon, connector: str, provider: str
) -> None:
    moon.endpoint("mine", connector_type=connector, uri=AZURE if provider == "azure" else "")
    assert moon.brought().complete
    assert moon.saved("mine")["provider"] == provider
    assert provider_of(moon.bench.endpoint("mine")).uses_network


def test_an_endpoint_keeps_its_model_address_parameters_and_limits(moon: Moon) -> None:
    moon.endpoint(
        "ollama",
        uri="http://localhost:11434/v1/",
        model="llama3.1",
        max_calls_per_second=0.5,
        max_concurrency=4,
        params={"timeout": 60, "temperature": 0.2, "max_tokens": 100, "top_k": 5, "stop": ["X"]},
    )
    assert moon.brought().complete
    assert moon.saved("ollama") == {
        "provider": "openai",
        "model": "llama3.1",
        "url": "http://localhost:11434/v1",
        "params": {"temperature": 0.2, "max_tokens": 100, "top_k": 5, "stop": ["X"]},
        "limits": {"concurrency": 4, "requests_per_minute": 30},
        "timeout": 60,
        "trusted": False,
    }


def test_an_imported_endpoint_is_not_trusted_when_it_is_used_later(moon: Moon) -> None:
    moon.endpoint("mine")
    moon.brought()
    used = moon.bench.endpoint("mine")
    assert not used.trusted
    with pytest.raises(EndpointError, match="is a command"):
        used.with_(key="command:cat /etc/passwd")


def test_no_key_is_ever_named_for_an_address_from_a_file(
    moon: Moon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-1234567890")
    moon.endpoint("evil", uri="http://127.0.0.1:9/v1", token=CANARY)
    moon.brought()
    endpoint = moon.bench.endpoint("evil")
    assert endpoint.key is None
    provider = provider_of(endpoint)(endpoint)
    provider.open()
    assert "authorization" not in getattr(provider, "opened_headers", {})


def test_a_token_is_never_kept_shown_or_logged(
    moon: Moon, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    moon.endpoint("home", token=CANARY)
    moon.endpoint("away", token=CANARY, uri="https://llm.example/v1")
    moon.endpoint("claude", token=CANARY, connector_type="anthropic-connector", model="claude-x")
    moon.endpoint("odd", token={"a": [CANARY]}, connector_type="flageval-connector")
    moon.endpoint("nested", params={"token": CANARY, "api_key": CANARY, "temperature": 1})
    moon.endpoint("wrong", token=CANARY, model=42)
    body = json.dumps({"token": CANARY})[:-1]
    moon.write("connectors-endpoints/broken.json", body)
    moon.write("connectors-endpoints/unfinished.json", f'{{"token": "{CANARY}')
    moon.write("connectors-endpoints/yaml.json", f"token: &a {CANARY}\n")
    moon.write("connectors-endpoints/list.json", [CANARY])
    done = moon.brought()
    again = moon.brought(overwrite=True)
    assert set(done.imported["endpoint"]) == {"home", "away", "claude", "odd", "nested"}
    shown = json.dumps(done.to_dict()) + repr(done) + json.dumps(again.to_dict()) + caplog.text
    assert CANARY not in shown
    assert "canary" not in shown
    assert CANARY.encode() not in everything(moon.bench.workspace.path)
    notes = "\n".join(done.notes)
    assert "the token was left out: OPENAI_API_KEY is read instead (endpoint home)" in notes
    assert "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is read instead (endpoint claude)" in notes
    assert "--key env:NAME (endpoints away, odd)" in notes
    assert "params.token has no place in an endpoint (endpoint nested)" in notes


def test_an_address_that_carries_a_secret_is_refused_without_showing_it(moon: Moon) -> None:
    moon.endpoint("query", uri=f"https://llm.example/v1?api_key={CANARY}")
    moon.endpoint("user", uri=f"https://me:{CANARY}@llm.example/v1")
    moon.endpoint("cloud", uri="http://169.254.169.254/latest")
    done = moon.brought()
    assert [each.id for each in done.not_imported] == ["cloud", "query", "user"]
    assert {each.line for each in done.not_imported} == {4}
    assert CANARY not in json.dumps(done.to_dict())
    assert not moon.bench.catalog.all_endpoints()


@pytest.mark.parametrize(
    "connector",
    [
        *("amazon-bedrock-connector", "flageval-connector", "h2ogpte-connector"),
        *("openai-t2i-connector", "azure-openai-t2i-connector", "my-own-connector"),
        *("azure-langchain-openai-embedding-connector", "ollama-connector", "simulated"),
    ],
)
def test_a_connector_without_a_counterpart_is_kept_as_data_and_says_so_when_used(
    moon: Moon, connector: str
) -> None:
    moon.endpoint("mine", connector_type=connector, uri="DEFAULT", model="some.model:0")
    done = moon.brought()
    assert done.complete
    assert f"there is no provider for {connector} yet" in done.notes[0]
    with pytest.raises(NotFoundError, match=f"no provider named '{connector}"):
        moon.bench.endpoint("mine")


def test_hugging_faces_endpoints_are_told_apart_by_their_address(moon: Moon) -> None:
    kind = "huggingface-connector"
    chat = "https://router.huggingface.co/novita/v3/openai/chat/completions"
    moon.endpoint("chat", connector_type=kind, uri=chat)
    moon.endpoint("v1", connector_type=kind, uri="https://tgi.example/v1")
    moon.endpoint("old", connector_type=kind, uri="https://api.example/models/gpt2")
    moon.endpoint("odd", connector_type=kind, uri="https://[::1/v1")
    done = moon.brought()
    assert moon.saved("chat")["provider"] == moon.saved("v1")["provider"] == "openai"
    assert moon.saved("chat")["url"] == chat
    assert moon.saved("old")["provider"] == kind
    assert [each.id for each in done.not_imported] == ["odd"]


def test_azures_placeholder_is_no_address_and_its_version_goes_into_it(moon: Moon) -> None:
    kind = "azure-openai-connector"
    moon.endpoint("new", connector_type=kind, uri="https://<Your Name>.openai.azure.com")
    moon.endpoint(
        "dated", connector_type=kind, uri=f"{AZURE}/", params={"api_version": "2024-10-21"}
    )
    done = moon.brought()
    assert done.complete
    assert "url" not in moon.saved("new")
    assert moon.saved("dated")["url"] == f"{AZURE}?api-version=2024-10-21"
    assert any("AZURE_OPENAI_ENDPOINT" in note for note in done.notes)


def test_a_model_among_the_parameters_is_the_model(moon: Moon) -> None:
    older = {"model": "gemini-1.5-flash", "temperature": 0.5, "num_of_retries": 3}
    moon.endpoint("old", connector_type="google-gemini-connector", model=None, params=older)
    assert moon.brought().complete
    assert moon.saved("old")["model"] == "gemini-1.5-flash"
    assert moon.saved("old")["params"] == {"temperature": 0.5}


def test_what_has_no_place_is_noted_once_for_all(moon: Moon) -> None:
    params = {"max_attempts": 3, "system_prompt": "Be brief.", "pre_prompt": "", "session": "x"}
    moon.endpoint("one", params=params)
    moon.endpoint("two", params=params, colour="blue")
    notes = moon.brought().notes
    assert notes == (
        "params.max_attempts has no place in an endpoint: batch_processing.max_retries is the "
        "setting for all (endpoints one, two)",
        "params.system_prompt has no place in an endpoint: put it into the recipe or a template "
        "(endpoints one, two)",
        "params.session has no place in an endpoint (endpoints one, two)",
        "colour has no place here (endpoint two)",
    )


def test_only_parameters_of_the_provider_are_passed_on(moon: Moon) -> None:
    params = {"temperature": 0, "seed": 7, "top_k": 3, "stop_sequences": ["X"]}
    moon.endpoint("claude", connector_type="anthropic-connector", params=params)
    moon.endpoint("gpt", params=params)
    moon.endpoint("gemini", connector_type="google-gemini-connector", params=params)
    done = moon.brought()
    assert moon.saved("claude")["params"] == {"temperature": 0, "top_k": 3, "stop_sequences": ["X"]}
    assert moon.saved("gpt")["params"] == {"temperature": 0, "seed": 7}
    assert moon.saved("gemini")["params"] == params
    assert "params.seed has no place in an endpoint (endpoint claude)" in done.notes


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"connector_type": 5}, 3, "connector_type"),
    ({"connector_type": "../../evil"}, 3, "connector_type"),
    ({"connector_type": None}, 1, "connector_type is missing"),
    ({"uri": ["x"]}, 4, "uri"),
    ({"uri": "file:///etc/passwd"}, 4, "http"),
    ({"max_calls_per_second": "fast"}, 6, "max_calls_per_second"),
    ({"max_calls_per_second": 0}, 6, "above 0"),
    ({"max_calls_per_second": 10**400}, 6, "above 0"),
    ({"max_concurrency": True}, 7, "max_concurrency"),
    ({"model": {"a": 1}}, 8, "model"),
    ({"params": "none"}, 9, "params"),
    ({"params": {"temperature": "hot"}}, 10, "temperature: a number is wanted"),
    ({"params": {"temperature": 10**400}}, 10, "temperature"),
    ({"params": {"max_tokens": 1.5}}, 10, "whole number"),
    ({"params": {"timeout": -1}}, 10, "timeout"),
    ({"params": {"stop": {"a": 1}}}, 10, "a list of texts"),
    ({"params": {"reasoning_effort": ["high"]}}, 10, "a text is wanted"),
    ({"params": {"logprobs": 1}}, 10, "true or false"),
]


@pytest.mark.parametrize(("fields", "line", "said"), WRONG)
def test_a_wrong_value_is_told_at_its_line_and_takes_no_other_with_it(
    moon: Moon, fields: dict[str, Any], line: int, said: str
) -> None:
    moon.endpoint("bad", **fields)
    moon.endpoint("good")
    done = moon.brought()
    assert done.imported["endpoint"] == ("good",)
    [told] = done.not_imported
    assert (told.kind, told.id, told.file) == ("endpoint", "bad", "connectors-endpoints/bad.json")
    assert told.line == line
    assert said in told.reason


def test_all_that_is_wrong_with_a_file_is_told_at_once(moon: Moon) -> None:
    moon.endpoint("bad", max_concurrency=0, params={"temperature": "hot"})
    [told] = moon.brought().not_imported
    assert told.line == 7
    assert "2 mistakes" in told.reason
    assert "line 7: max_concurrency" in told.reason
    assert "line 10: params.temperature" in told.reason


def test_without_a_model_there_is_no_endpoint(moon: Moon) -> None:
    moon.endpoint("bad", model="")
    [told] = moon.brought().not_imported
    assert told.reason == "it names no model"
