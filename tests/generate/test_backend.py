"""Curator's backend parameters: each of them changes what happens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Limits
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, EndpointError, InputError, ProcessingError
from penstock.generate import Prompter
from penstock.generate.backend import checked, understood
from penstock.simulator import Simulator
from tests.generate.conftest import Make, numbered, texts


def prompter(bench: Workbench, model: str = "gpt-4", **more: Any) -> Prompter:
    return Prompter(model, lambda row: row["text"], workbench=bench, **more)


def test_base_url_and_api_key_say_where_and_who(bench: Workbench, simulator: Simulator) -> None:
    simulator.set(key="the-right-key-12345")
    params = {"base_url": simulator.url, "api_key": "the-right-key-12345"}
    assert len(prompter(bench, backend_params=params)(texts("one"))) == 1
    wrong = {**params, "api_key": "the-wrong-key-12345"}
    with pytest.raises(ApiError, match="authentication"):
        prompter(bench, backend_params=wrong)(texts("two"))


def test_a_literal_key_is_never_written(bench: Workbench, simulator: Simulator) -> None:
    params = {"base_url": simulator.url, "api_key": "sk-a-very-secret-key-9876"}
    prompter(bench, backend_params=params)(texts("one"))
    bench.close()
    for path in bench.workspace.path.rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes(), path


def test_the_key_of_the_environment_does_not_go_to_a_base_url_of_ones_own(
    bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-openai-alone")
    prompter(bench, backend_params={"base_url": simulator.url})(texts("one"))
    assert simulator.ledger()[0]["authorization"] is False


def test_at_a_base_url_of_ones_own_a_model_has_any_name(
    bench: Workbench, simulator: Simulator
) -> None:
    params = {"base_url": simulator.url}
    prompter(bench, "meta-llama/Llama-3", backend_params=params)(texts("one"))
    assert simulator.ledger()[0]["model"] == "meta-llama/Llama-3"
    with pytest.raises(EndpointError, match="no endpoint that Penstock knows"):
        prompter(bench, "meta-llama/Llama-3")(texts("one"))


def test_backend_names_the_provider(bench: Workbench, simulator: Simulator) -> None:
    table = prompter(bench, "simulated-echo", backend="simulated")(texts("one"))
    assert table["response"] == ["one"]
    params = {"base_url": simulator.url}
    for model in ("llama", "openai/llama"):
        prompter(bench, model, backend="openai", backend_params=params)(texts("one"))
    assert {entry["model"] for entry in simulator.ledger()} == {"llama"}
    with pytest.raises(EndpointError):
        prompter(bench, "llama", backend="nobody")(texts("one"))


@pytest.mark.parametrize("retries", [0, 2])
def test_max_retries(make: Make, simulator: Simulator, retries: int) -> None:
    simulator.set(errors="500:1")
    table = make(backend_params={"max_retries": retries})(texts("one"))
    assert table.failures["attempts"] == [retries + 1]
    assert simulator.summary()["requests"] == retries + 1


def test_request_timeout(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="5000")
    began = time.monotonic()
    table = make(backend_params={"request_timeout": 0.2, "max_retries": 0})(texts("one"))
    assert table.failures["kind"] == ["timeout"]
    assert time.monotonic() - began < 2


def test_require_all_responses(make: Make, simulator: Simulator) -> None:
    simulator.set(errors="400:1")
    with pytest.raises(ProcessingError, match="1 rows failed"):
        make(backend_params={"require_all_responses": True})(texts("one"))
    table = make(backend_params={"require_all_responses": False})(texts("two"))
    assert len(table.failures) == 1


@pytest.mark.parametrize(
    "given", [{"concurrency": 5}, {"backend_params": {"max_concurrent_requests": 5}}], ids=str
)
def test_concurrency_is_never_exceeded_and_is_reached(
    make: Make, simulator: Simulator, given: dict[str, Any]
) -> None:
    simulator.set(latency="10")
    assert len(make(**given)(numbered(100))) == 100
    assert simulator.summary()["max_in_flight"] == 5


def test_max_requests_per_minute_is_kept(make: Make, simulator: Simulator) -> None:
    began = time.monotonic()
    table = make(backend_params={"max_requests_per_minute": 600})(numbered(25))
    assert len(table) == 25
    assert time.monotonic() - began > 1.2, "ten a second, after the first ten"


def test_a_limit_of_ones_own_holds_also_where_the_provider_allows_more(
    make: Make, simulator: Simulator
) -> None:
    simulator.set(rpm=60_000)
    began = time.monotonic()
    make(backend_params={"max_requests_per_minute": 600})(numbered(25))
    assert time.monotonic() - began > 1.2


@pytest.mark.parametrize(
    "name",
    ["max_tokens_per_minute", "max_input_tokens_per_minute", "max_output_tokens_per_minute"],
)
def test_tokens_a_minute_are_kept(make: Make, name: str) -> None:
    text = "word " * 100
    prompter = make(lambda row: f"{row['id']} {text}", generation_params={"max_tokens": 100},
                    backend_params={name: 60_000})  # fmt: skip
    began = time.monotonic()
    assert len(prompter(numbered(18))) == 18
    assert time.monotonic() - began > 0.6, "a thousand tokens a second"


def test_every_limit_becomes_one_of_the_endpoint() -> None:
    given = {
        "max_concurrent_requests": 1,
        "max_requests_per_minute": 2,
        "max_tokens_per_minute": 3,
        "max_input_tokens_per_minute": 4,
        "max_output_tokens_per_minute": 5,
    }
    endpoint = Endpoint("simulated", "simulated", limits=Limits(requests_per_minute=99))
    assert understood(endpoint, given).endpoint.limits == Limits(1, 2, 3, 4, 5)
    one = understood(endpoint, {"max_concurrent_requests": 7}).endpoint.limits
    assert one == Limits(concurrency=7, requests_per_minute=99), "the others stay"


@pytest.mark.parametrize(
    "given",
    [
        {"max_concurrent_requests": 0},
        {"max_requests_per_minute": "many"},
        {"request_timeout": -1},
        {"base_url": "ftp://somewhere"},
    ],
    ids=str,
)
def test_a_value_that_is_none_is_said_before_anything_is_sent(
    make: Make, simulator: Simulator, given: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        make(backend_params=given)(texts("one"))
    assert simulator.summary()["requests"] == 0


def test_the_interval_of_batches_is_accepted() -> None:
    assert checked({"batch_check_interval": 60}) == {"batch_check_interval": 60}


def test_an_endpoint_keeps_its_own_parameters(
    bench: Workbench, at: Callable[..., Endpoint]
) -> None:
    endpoint = at("simulated-echo", params={"max_tokens": 2})
    table = Prompter(endpoint, lambda row: "one two three four", workbench=bench)(texts("x"))
    assert table["response"][0] != "one two three four"
    longer = Prompter(
        endpoint, lambda row: "one two three four", generation_params={"max_tokens": None},
        workbench=bench,
    )  # fmt: skip
    assert longer(texts("x"))["response"] == ["one two three four"]
