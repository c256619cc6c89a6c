"""The connector flow: an endpoint is made and read, and asked at its rate, again where it helps."""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from penstock import moonshot
from penstock.errors import ApiError, InputError, NotFoundError, PenstockError, ProcessingError
from penstock.moonshot import endpoints
from penstock.simulator import Simulator
from penstock.simulator.faults import Faults
from tests.moonshot.kit import echo, recipe

TOKEN = "sk-a-token-that-nobody-may-see"
HELD = "the token of .* is held by this process and stored nowhere"


def faulty_at_first(errors: str, times: int) -> int:
    """A seed by which the server fails so many times, and then does not."""
    faults = Faults.read(errors)
    wanted = [True] * times + [False]
    return next(
        seed
        for seed in range(10_000)
        if [bool(faults.of(seed, n)) for n in range(1, times + 2)] == wanted
    )


def test_an_endpoint_is_made_read_and_asked_and_the_callback_is_called(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", TOKEN)
    simulator.set(key=TOKEN)
    # Made: its id is made of its name.
    began = time.time()
    name = moonshot.api_create_endpoint(
        "My Echo (v2)", "openai-connector", simulator.url, "env:LAB_KEY", "simulated-echo",
        {"temperature": 0.5, "timeout": 30}, 5, 2,
    )  # fmt: skip
    assert name == "my-echo-v2"
    # Read: with the time of its making.
    found = moonshot.api_read_endpoint(name)
    created = datetime.fromisoformat(found.pop("created_date"))
    assert abs(created.timestamp() - began) < 2
    assert found == {
        "id": "my-echo-v2",
        "name": "my-echo-v2",
        "connector_type": "openai-connector",
        "uri": simulator.url,
        "token": "env:LAB_KEY",
        "max_calls_per_second": 5,
        "max_concurrency": 2,
        "model": "simulated-echo",
        "params": {"temperature": 0.5, "timeout": 30},
    }
    # Asked, with an error on the way that heals, and the callback called once with what came.
    simulator.set(errors="500:0.5", seed=faulty_at_first("500:0.5", 1))
    called: list[tuple[moonshot.Prediction, str]] = []
    made = moonshot.get_prediction("Hello there", name, lambda *given: called.append(given))
    assert (made.prompt, made.predicted_result) == ("Hello there", "Hello there")
    assert 0 < made.duration < 10
    assert made.answer.attempts == 2
    assert called == [(made, "my-echo-v2")]
    ledger = simulator.ledger()
    assert [entry["status"] for entry in ledger] == [500, 200]
    assert all(entry["authorization"] for entry in ledger)
    # The same again is found recorded.
    simulator.set(errors="")
    assert moonshot.get_prediction("Hello there", name).answer.recorded
    assert simulator.summary()["requests"] == 2


async def test_the_rate_and_the_concurrency_of_an_endpoint_are_kept(simulator: Simulator) -> None:
    simulator.set(latency="5")
    name = echo(simulator, max_calls_per_second=20, max_concurrency=2)
    handles = [moonshot.get_prediction(f"Say {n}", name) for n in range(30)]
    found = await asyncio.gather(*handles)
    assert [each.predicted_result for each in found] == [f"Say {n}" for n in range(30)]
    assert simulator.summary()["max_in_flight"] == 2
    times = sorted(entry["time"] for entry in simulator.ledger())
    assert len(times) == 30
    # A second's worth may go at once, the other ten at twenty a second.
    assert times[-1] - times[0] > 0.45


async def test_inside_a_loop_a_prediction_is_awaited_and_told_once(simulator: Simulator) -> None:
    called: list[str] = []
    name = echo(simulator)
    handle = moonshot.get_prediction("Once", name, lambda made, _: called.append(made.prompt))
    assert isinstance(handle, moonshot.PredictionHandle)
    first, second = await handle, await handle
    assert first is second
    assert handle.result() is first
    assert handle.done
    assert called == ["Once"]
    assert simulator.summary()["requests"] == 1


def test_a_callback_that_raises_is_heard_and_the_answer_is_kept(simulator: Simulator) -> None:
    def callback(made: moonshot.Prediction, endpoint: str) -> None:
        raise ValueError(f"{endpoint} said {made.predicted_result}")

    name = echo(simulator)
    with pytest.raises(ValueError, match="echo said Hello"):
        moonshot.get_prediction("Hello", name, callback)
    assert moonshot.get_prediction("Hello", name).predicted_result == "Hello"
    assert simulator.summary()["requests"] == 1


@pytest.mark.parametrize(
    ("fault", "error", "said", "asked"),
    [
        ("401", ApiError, "echo: authentication: ", 1),
        ("404", ApiError, "echo: not_found: ", 1),
        ("400", ProcessingError, "echo: invalid_request: ", 1),
    ],
)
def test_a_question_without_answer_is_an_error_that_names_the_endpoint(
    simulator: Simulator, fault: str, error: type[PenstockError], said: str, asked: int
) -> None:
    simulator.set(errors=f"{fault}:1")
    name = echo(simulator)
    called: list[Any] = []
    with pytest.raises(error, match=said):
        moonshot.get_prediction("Hello", name, lambda *given: called.append(given))
    assert called == []
    assert simulator.summary()["requests"] == asked


def test_a_literal_token_works_in_this_process_and_is_stored_nowhere(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.set(key=TOKEN)
    with pytest.warns(UserWarning, match=HELD):
        name = echo(simulator, token=TOKEN)
    assert moonshot.get_prediction("Hello", name).predicted_result == "Hello"
    run = moonshot.api_create_runner("Held", [name]).run_recipes([recipe(2)])
    assert run.grades() == {"repeating": {"echo": "A"}}
    assert simulator.summary()["by_status"] == {"200": 3}
    assert moonshot.api_read_endpoint(name)["token"] == "****"
    moonshot.api_read_result(run.id)
    files = [path for path in Path(".penstock").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
    # Another process knows the endpoint, without its token.
    monkeypatch.setattr(endpoints, "_tokens", {})
    assert moonshot.api_read_endpoint(name)["token"] == ""
    with pytest.raises(ApiError, match="echo: authentication"):
        moonshot.get_prediction("Hello again", name)


def test_a_token_can_be_changed_for_a_reference_and_taken_away(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.set(key=TOKEN)
    with pytest.warns(UserWarning, match=HELD):
        name = echo(simulator, token="a-token-that-is-wrong")
    with pytest.raises(ApiError):
        moonshot.get_prediction("One", name)
    monkeypatch.setenv("LAB_KEY", TOKEN)
    assert moonshot.api_update_endpoint(name, token="env:LAB_KEY")
    assert moonshot.api_read_endpoint(name)["token"] == "env:LAB_KEY"
    assert moonshot.get_prediction("Two", name).predicted_result == "Two"
    moonshot.api_update_endpoint(name, max_concurrency=3)
    assert moonshot.api_read_endpoint(name)["token"] == "env:LAB_KEY"
    with pytest.warns(UserWarning, match=HELD):
        moonshot.api_update_endpoint(name, token=TOKEN)
    moonshot.api_update_endpoint(name, max_concurrency=4)
    assert moonshot.get_prediction("Three", name).predicted_result == "Three"
    moonshot.api_update_endpoint(name, token="")
    assert moonshot.api_read_endpoint(name)["token"] == ""
    with pytest.raises(ApiError):
        moonshot.get_prediction("Four", name)
    assert moonshot.api_delete_endpoint(name)


def test_some_fields_are_changed_and_the_others_stay(simulator: Simulator) -> None:
    name = echo(simulator, params={"temperature": 0.5})
    before = moonshot.api_read_endpoint(name)
    assert moonshot.api_update_endpoint(name, model="simulated-empty", max_calls_per_second=0.5)
    after = moonshot.api_read_endpoint(name)
    changes = {"model": "simulated-empty", "max_calls_per_second": 0.5}
    assert {**after, "created_date": ""} == {**before, **changes, "created_date": ""}
    moonshot.api_update_endpoint(name, params={"max_tokens": 5, "timeout": 3})
    assert moonshot.api_read_endpoint(name)["params"] == {"max_tokens": 5, "timeout": 3}
    assert moonshot.get_prediction("Hello", name).predicted_result == ""


def test_what_moonshot_has_no_word_for_survives_a_change(simulator: Simulator) -> None:
    from penstock import Endpoint, Limits
    from penstock.engine.workbench import default_workbench

    spec = Endpoint(
        "openai",
        "simulated-echo",
        simulator.url,
        headers={"x-team": "lab"},
        limits=Limits(tokens_per_minute=90_000),
    ).spec()
    default_workbench().catalog.save_endpoint("lab", spec)
    assert moonshot.api_read_endpoint("lab")["max_concurrency"] is None
    moonshot.api_update_endpoint("lab", max_concurrency=7)
    row = default_workbench().catalog.endpoint("lab")
    assert row is not None
    limits = {"tokens_per_minute": 90_000, "concurrency": 7}
    assert row["spec"] == {**spec, "limits": limits}


@pytest.mark.parametrize(
    ("kind", "provider"),
    [
        ("openai-connector", "openai-connector"),
        ("anthropic-connector", "anthropic-connector"),
        ("google-gemini-connector", "google-gemini-connector"),
        ("together-connector", "together-connector"),
        ("simulated", "simulated"),
        ("simulated-connector", "simulated"),
        ("ollama", "ollama"),
    ],
)
def test_connector_types_and_providers_are_known_by_their_names(kind: str, provider: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        name = moonshot.api_create_endpoint("One", kind, model="a-model", params={})
    assert moonshot.api_read_endpoint(name)["connector_type"] == provider


def test_a_connector_without_counterpart_is_kept_and_told() -> None:
    with pytest.warns(UserWarning, match="no provider for amazon-bedrock-connector yet"):
        name = moonshot.api_create_endpoint("Rock", "amazon-bedrock-connector", model="m")
    assert moonshot.api_read_endpoint(name)["connector_type"] == "amazon-bedrock-connector"
    with pytest.raises(InputError, match="amazon-bedrock-connector"):
        moonshot.get_prediction("Hello", name)


def test_a_parameter_that_has_no_place_is_told(simulator: Simulator) -> None:
    with pytest.warns(UserWarning, match=r"params\.max_attempts has no place .*max_retries"):
        name = echo(simulator, params={"max_attempts": 3, "temperature": 1})
    assert moonshot.api_read_endpoint(name)["params"] == {"temperature": 1}


def test_an_offline_endpoint_needs_no_server() -> None:
    name = moonshot.api_create_endpoint("Offline", "simulated", model="simulated-echo")
    assert moonshot.get_prediction("Hello", name).predicted_result == "Hello"
    assert moonshot.get_prediction("Hello", "simulated").predicted_result != "Hello"


def test_endpoints_are_listed_and_forgotten(simulator: Simulator) -> None:
    assert moonshot.api_get_all_endpoint() == []
    names = [echo(simulator, name) for name in ("Two", "One")]
    assert moonshot.api_get_all_endpoint_name() == sorted(names)
    assert moonshot.api_get_all_endpoint()[0] == moonshot.api_read_endpoint("one")
    with pytest.raises(InputError, match="there is an endpoint 'one' already"):
        echo(simulator, "One")
    assert moonshot.api_delete_endpoint("one")
    assert moonshot.api_get_all_endpoint_name() == ["two"]
    for call in (
        moonshot.api_read_endpoint,
        moonshot.api_update_endpoint,
        moonshot.api_delete_endpoint,
    ):
        with pytest.raises(NotFoundError, match=r"no endpoint 'one'\nThere are: two"):
            call("one")
    with pytest.raises(InputError, match="'one' is no endpoint"):
        moonshot.get_prediction("Hello", "one")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_calls_per_second": 0}, "max_calls_per_second: a number above 0"),
        ({"max_concurrency": "many"}, "max_concurrency: a number above 0"),
        ({"model": ""}, "names no model"),
        ({"params": {"temperature": "hot"}}, "params.temperature: a number"),
        ({"uri": "http://169.254.169.254/v1"}, "metadata address"),
        ({"connector_type": ""}, "connector_type: the name of a connector"),
    ],
)
def test_a_wrong_field_of_an_endpoint_is_named(fields: dict[str, Any], said: str) -> None:
    given = {"connector_type": "openai-connector", "uri": "", "model": "gpt-4o", **fields}
    with pytest.raises(InputError, match=re.escape(said)):
        moonshot.api_create_endpoint("Wrong", **given)
    assert moonshot.api_get_all_endpoint() == []


def test_an_unknown_field_of_an_endpoint_is_refused_with_those_there_are(
    simulator: Simulator,
) -> None:
    update: Any = moonshot.api_update_endpoint
    with pytest.raises(InputError, match=r"no argument 'url'\nDid you mean 'uri'\?") as told:
        update(echo(simulator), url="http://127.0.0.1/v1")
    assert told.value.remedy.endswith("max_calls_per_second, max_concurrency.")
