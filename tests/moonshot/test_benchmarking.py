"""The benchmarking flow: a runner is made, loaded, run over recipes, and stopped."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from penstock import moonshot
from penstock.bench import BenchRun
from penstock.errors import InputError, NotFoundError
from penstock.simulator import Simulator
from tests.moonshot.kit import echo, examples, recipe, written


def test_a_runner_is_made_and_runs_recipes_and_every_prompt_is_asked_once(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "a-key-of-the-lab")
    simulator.set(key="a-key-of-the-lab")
    # The runner is made, and is there.
    made = moonshot.api_create_runner(
        "My First Runner", [echo(simulator, token="env:LAB_KEY")], "to try"
    )
    assert made.id == "my-first-runner"
    assert made.status == "pending"
    assert moonshot.api_read_runner(made.id) == {
        "id": "my-first-runner",
        "name": "My First Runner",
        "database_file": str(Path.cwd() / ".penstock" / "journal.db"),
        "endpoints": ["echo"],
        "description": "to try",
    }
    assert [each["id"] for each in moonshot.api_get_all_runner()] == [made.id]
    # It is loaded by its id and run over two recipes with a dataset each.
    recipes = [recipe(4, 3), recipe(2, 0, "Wrong")]
    run = moonshot.run_recipes("my-first-runner", recipes)
    assert isinstance(run, BenchRun)
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["answered"], ledger["repeated"]) == (6, 6, 0)
    assert all(entry["authorization"] for entry in simulator.ledger())
    # The metric's scores, and the grades of the scale.
    assert run.grades() == {"repeating": {"echo": "B"}, "wrong": {"echo": "E"}}
    # The result is kept, in Moonshot's form.
    kept = moonshot.api_read_result(run.id)
    assert kept["metadata"]["id"] == run.id
    assert kept["metadata"]["status"] == "completed"
    assert kept["metadata"]["endpoints"] == ["echo"]
    assert kept["metadata"]["prompt_selection_percentage"] == 100
    first, second = kept["results"]["recipes"]
    assert (first["id"], second["id"]) == tuple(recipes)
    [detail] = first["details"]
    assert (detail["model_id"], detail["dataset_id"]) == ("echo", "repeating-data")
    assert detail["metrics"][0]["exactstrmatch"] == 75
    assert [each["prompt"] for each in detail["data"]] == [f"Repeating {n}" for n in range(4)]
    assert [each["predicted_result"] for each in detail["data"]] == [
        f"Repeating {n}" for n in range(4)
    ]
    assert [each["target"] for each in detail["data"]][-1] == "else"
    assert first["evaluation_summary"] == [
        {"model_id": "echo", "num_of_prompts": 4, "avg_grade_value": 75.0, "grade": "B"}
    ]


def test_a_run_again_asks_nothing_and_replaces_no_result(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Twice", [echo(simulator)])
    name = recipe(3)
    first = runner.run_recipes([name])
    second = moonshot.run_recipes(runner, name)
    assert simulator.summary()["requests"] == 3
    assert moonshot.api_get_all_result_name() == [second.id, first.id]
    assert [each["metadata"]["id"] for each in moonshot.api_get_all_result()] == [
        second.id,
        first.id,
    ]
    assert moonshot.api_read_result("twice")["metadata"]["id"] == second.id
    both = moonshot.api_read_results([first.id, second.id])
    assert both[0]["results"] == both[1]["results"]


def test_several_endpoints_are_asked_the_same(simulator: Simulator) -> None:
    names = [echo(simulator, "One"), echo(simulator, "Two", model="simulated-empty")]
    run = moonshot.api_create_runner("Both", names).run_recipes([recipe(3)])
    asked = [entry["model"] for entry in simulator.ledger()]
    assert sorted(asked) == ["simulated-echo"] * 3 + ["simulated-empty"] * 3
    assert run.grades() == {"repeating": {"one": "A", "two": "E"}}


@pytest.mark.parametrize(("percentage", "asked"), [(100, 20), (50, 10), (12.5, 2), (1, 1)])
def test_so_many_per_cent_of_a_dataset_are_asked_but_at_least_one(
    simulator: Simulator, percentage: float, asked: int
) -> None:
    runner = moonshot.api_create_runner("Some", [echo(simulator)])
    run = runner.run_recipes([recipe(20)], percentage, 7)
    assert simulator.summary()["requests"] == asked
    said = moonshot.api_read_result(run.id)["metadata"]
    assert (said["prompt_selection_percentage"], said["random_seed"]) == (percentage, 7)
    again = runner.run_recipes(["repeating"], percentage, 7)
    assert [item.id for item in again] == [item.id for item in run]
    assert simulator.summary()["requests"] == asked


@pytest.mark.parametrize("percentage", [0, -1, 101, 100.5, float("nan"), True, "10", None])
def test_a_percentage_out_of_bounds_is_refused_before_anything_is_sent(
    simulator: Simulator, percentage: Any
) -> None:
    runner = moonshot.api_create_runner("Some", [echo(simulator)])
    with pytest.raises(InputError, match=r"prompt_selection_percentage is .*\nA number above 0"):
        runner.run_recipes([recipe(2)], prompt_selection_percentage=percentage)
    assert simulator.summary()["requests"] == 0


def test_the_system_prompt_of_a_run_is_sent(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Systematic", [echo(simulator)])
    name = recipe(2)
    runner.run_recipes([name])
    plain = simulator.summary()["prompt_tokens"]
    run = runner.run_recipes([name], system_prompt="Repeat what you are told, word for word.")
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["distinct"]) == (4, 4)
    assert ledger["prompt_tokens"] - plain > plain
    said = moonshot.api_read_result(run.id)["metadata"]["system_prompt"]
    assert said == "Repeat what you are told, word for word."


def test_progress_is_told_in_moonshots_fields(simulator: Simulator) -> None:
    seen: list[moonshot.RunnerProgress] = []
    runner = moonshot.api_create_runner(
        "Watched", [echo(simulator)], progress_callback_func=seen.append
    )
    runner.run_recipes([recipe(3), recipe(2, name="Other")])
    assert set(seen[0]) == set(moonshot.RunnerProgress.__annotations__)
    assert seen[0] == {
        "current_runner_id": "watched",
        "current_runner_type": "benchmark",
        "current_duration": 0,
        "current_status": "running",
        "current_cookbook_index": -1,
        "current_cookbook_name": "",
        "current_cookbook_total": -1,
        "current_recipe_index": 0,
        "current_recipe_name": "Repeating",
        "current_recipe_total": 2,
        "current_progress": 0,
        "current_error_messages": [],
    }
    last = seen[-1]
    assert (last["current_status"], last["current_progress"]) == ("completed", 100)
    assert (last["current_recipe_index"], last["current_recipe_name"]) == (2, "Other")
    assert runner.status == "completed"


def test_progress_tells_what_failed(simulator: Simulator) -> None:
    simulator.set(errors="400:1")
    seen: list[moonshot.RunnerProgress] = []
    runner = moonshot.api_create_runner("Failing", [echo(simulator)])
    run = runner.run_recipes([recipe(2)], progress_callback_func=seen.append)
    assert seen[-1]["current_status"] == "completed_with_errors"
    assert "repeating, echo: " in seen[-1]["current_error_messages"][0]
    assert moonshot.api_read_result(run.id)["metadata"]["status"] == "completed_with_errors"


def test_a_progress_callback_that_raises_is_logged_and_the_run_goes_on(
    simulator: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    def callback(seen: moonshot.RunnerProgress) -> None:
        raise ValueError("a fault of the caller's")

    runner = moonshot.api_load_runner(
        moonshot.api_create_runner("Unlucky", [echo(simulator)]).id, callback
    )
    with caplog.at_level(logging.ERROR, logger="penstock"):
        run = runner.run_recipes([recipe(3)])
    assert len(run) == simulator.summary()["answered"] == 3
    assert "a fault of the caller's" in caplog.text


async def test_inside_a_running_loop_a_run_is_awaited(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Awaited", [echo(simulator)])
    name = recipe(2)
    run = await runner.run_recipes([name])
    again = await moonshot.run_recipes(runner.id, [name])
    await runner.close()
    assert isinstance(run, BenchRun)
    assert len(run) == len(again) == simulator.summary()["requests"] == 2


async def test_a_cancelled_run_stops_asking_and_goes_on_where_it_was(simulator: Simulator) -> None:
    simulator.set(latency="30")
    runner = moonshot.api_create_runner("Stopped", [echo(simulator, max_concurrency=1)])
    name = recipe(60)
    running = runner.run_recipes([name])
    while simulator.summary()["requests"] < 3:
        await asyncio.sleep(0.01)
    await runner.cancel()
    run = await running
    asked = simulator.summary()["requests"]
    assert 3 <= asked < 60
    assert runner.status == run.result.status == "cancelled"
    assert moonshot.api_read_result(run.id)["metadata"]["status"] == "cancelled"
    simulator.set(latency="0")
    again = await runner.run_recipes([name])
    assert len(again) == 60
    ledger = simulator.summary()
    assert (ledger["answered"], ledger["repeated"]) == (60, 0)


def test_a_runner_that_is_not_there_is_named_with_those_that_are(simulator: Simulator) -> None:
    moonshot.api_create_runner("Nightly", [echo(simulator)])
    for call in (moonshot.api_load_runner, moonshot.api_read_runner, moonshot.api_delete_runner):
        with pytest.raises(NotFoundError, match=r"no runner 'nightl'\nDid you mean 'nightly'"):
            call("nightl")
    with pytest.raises(NotFoundError, match="no runner 'nobody'"):
        moonshot.run_recipes("nobody", ["arithmetic"])
    with pytest.raises(InputError, match="there is a runner 'nightly' already"):
        moonshot.api_create_runner("Nightly", ["echo"])
    with pytest.raises(InputError, match="'nonsense' is no endpoint"):
        moonshot.api_create_runner("Other", ["nonsense"])
    with pytest.raises(NotFoundError, match="the runner 'nightly' has no result yet"):
        moonshot.api_read_result("nightly")
    assert moonshot.api_get_all_runner_name() == ["nightly"]


def test_a_runner_is_forgotten_and_its_results_stay(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Gone", [echo(simulator)])
    run = runner.run_recipes([recipe(2)])
    assert moonshot.api_delete_runner("gone")
    assert moonshot.api_get_all_runner() == []
    assert moonshot.api_read_result(run.id)["metadata"]["recipes"] == ["repeating"]


def test_recipes_and_results_that_are_not_there_are_told(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Some", [echo(simulator)])
    with pytest.raises(NotFoundError, match="no recipe 'arithmetics'"):
        runner.run_recipes(["arithmetics"])
    with pytest.raises(NotFoundError, match="no cookbook 'arithmetic'"):
        runner.run_cookbooks(["arithmetic"])
    with pytest.raises(InputError, match="nothing to run"):
        runner.run_recipes([])
    with pytest.raises(NotFoundError):
        moonshot.api_read_result("bench-of-nobody")
    assert simulator.summary()["requests"] == 0


def test_an_option_that_means_nothing_is_refused_with_those_there_are(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Some", [echo(simulator)])
    call: Any = runner.run_recipes
    with pytest.raises(InputError, match=r"no argument 'epoch'\nDid you mean 'epochs'\?") as told:
        call(["arithmetic"], epoch=2)
    assert "prompt_selection_percentage, random_seed, system_prompt" in told.value.remedy
    with pytest.raises(InputError, match="runner_processing_module is 'my-module'"):
        call(["arithmetic"], runner_processing_module="my-module")
    call(
        [recipe(1)],
        100,
        0,
        "",
        runner_processing_module="benchmarking",
        result_processing_module="benchmarking-result",
    )
    assert simulator.summary()["requests"] == 1


def test_what_penstock_can_beyond_moonshot_goes_along(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("More", [echo(simulator)])
    run = runner.run_recipes([recipe(2)], epochs=3, params={"temperature": 1}, name="Mine")
    assert simulator.summary()["requests"] == len(run) == 6
    assert run.result.name == "Mine"
    moonshot.api_create_dataset("Others", csv_file_path=written(examples(9), "others.csv"))
    moonshot.api_update_recipe("repeating", datasets=["others"])
    offline = runner.run_recipes(["repeating"], cache="read")
    assert simulator.summary()["requests"] == 6
    assert offline.result.status == "completed_with_errors"
