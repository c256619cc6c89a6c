"""What goes wrong stays in its row, with a kind and a message."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, ProcessingError
from penstock.generate import Prompter
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import Make, numbered, texts


def raises_on_17(row: dict[str, Any]) -> str:
    if row["id"] == 17:
        raise ValueError("seventeen is no good")
    return str(row["text"])


async def raises_on_17_async(row: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    return raises_on_17(row)


@pytest.mark.parametrize("prompt", [raises_on_17, raises_on_17_async])
def test_a_prompt_function_that_raises_on_row_17_fails_row_17(
    make: Make, simulator: Simulator, prompt: Any
) -> None:
    table = make(prompt)(numbered(30))
    assert table["id"] == [n for n in range(30) if n != 17]
    assert table.failures.to_list() == [
        {
            "row": 17,
            "kind": "input",
            "message": "the prompt function raised ValueError: seventeen is no good",
            "attempts": 0,
            "may_be_paid": False,
            "input": {"id": 17, "text": "row 17"},
        }
    ]
    assert table.run.state == "completed with failures"
    assert simulator.summary()["requests"] == 29


def test_a_column_that_does_not_exist_is_named(make: Make, simulator: Simulator) -> None:
    table = make(lambda row: row["txt"])(texts("one", "two"))
    assert len(table) == 0
    assert table.failures["message"] == ["the prompt function raised KeyError: 'txt'"] * 2
    assert simulator.summary()["requests"] == 0


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (None, "not nothing (None)"),
        (7, "not a int"),
        ([], "at least one message"),
        ({"system": "x"}, "has the keys 'system' and 'user'"),
        ([{"role": "robot", "content": "x"}], "has the role 'robot'"),
        ([{"role": "user", "content": 7}], "the content of message 1 is a int"),
        ({"user": [{"type": "image", "url": "file:///etc/passwd"}]}, "an image address starts"),
        ([{"role": "user", "content": [{"type": "video"}]}], "a part of type 'video'"),
    ],
    ids=str,
)
def test_a_prompt_that_is_none_fails_its_row(make: Make, prompt: Any, said: str) -> None:
    table = make(lambda row: prompt if row["id"] else "fine")(numbered(2))
    assert len(table) == 1
    [failure] = table.failures
    assert failure["kind"] == "input" and said in failure["message"]


def leaves(row: dict[str, Any], *_: Any) -> Any:
    sys.exit("no more")


async def is_cancelled(row: dict[str, Any], *_: Any) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("prompt", leaves),
        ("prompt", is_cancelled),
        ("parse", leaves),
        ("parse", is_cancelled),
        ("generation_params", leaves),
    ],
)
def test_a_function_that_would_end_its_thread_fails_its_row(
    make: Make, name: str, function: Any
) -> None:
    given = {"prompt": "prompt", "parse": "parse_func", "generation_params": "generation_params"}
    table = make(**{given[name]: function})(texts("one", "two"))
    assert len(table) == 0
    for failure in table.failures:
        assert failure["message"].startswith(f"the {name} function r")
    assert len(table.failures) == 2
    assert len(make()(texts("three"))) == 1, "others go on"


def test_a_dataset_that_would_end_its_thread_ends_its_run(make: Make) -> None:
    def generator() -> Any:
        yield from numbered(3)
        sys.exit("no more")

    with pytest.raises(InputError, match="the dataset raised SystemExit: no more"):
        make()(generator())
    assert len(make()(texts("three"))) == 1, "others go on"


def test_parameters_the_provider_refuses_fail_only_their_rows(
    make: Make, simulator: Simulator
) -> None:
    def params(row: dict[str, Any]) -> dict[str, Any]:
        return {"max_tokens": "many"} if row["id"] % 3 == 0 else {"max_tokens": 50}

    table = make(generation_params=params)(numbered(9))
    assert table["id"] == [1, 2, 4, 5, 7, 8]
    assert table.failures["row"] == [0, 3, 6]
    assert table.failures["kind"] == ["invalid_request"] * 3
    assert "max_tokens" in table.failures[0]["message"]
    assert simulator.summary()["requests"] == 9, "what cannot heal is not asked again"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (lambda row: {"seed": row["absent"]}, "generation_params function raised KeyError"),
        (lambda row: ["seed"], "generation_params function returned a list"),
        (lambda row: {"seed": object()}, "cannot be written as JSON"),
    ],
    ids=["raises", "list", "object"],
)
def test_a_parameter_function_that_goes_wrong_is_named(make: Make, params: Any, said: str) -> None:
    table = make(generation_params=params)(texts("one"))
    assert said in table.failures[0]["message"]


def test_failures_raise_tells_at_the_end_and_keeps_the_rest(
    make: Make, bench: Workbench, simulator: Simulator
) -> None:
    with pytest.raises(ProcessingError) as error:
        make(raises_on_17, failures="raise")(numbered(30))
    assert "1 rows failed; the first, row 17: the prompt function raised" in error.value.message
    assert "penstock runs show prompt-" in error.value.remedy
    assert simulator.summary()["requests"] == 29
    [folder] = (bench.workspace.path / "runs").iterdir()
    assert len(Table.open(folder / "dataset.arrow")) == 29
    assert len((folder / "failures.jsonl").read_text().splitlines()) == 1


def test_failures_raise_is_silent_when_nothing_failed(make: Make) -> None:
    assert len(make(failures="raise")(numbered(5))) == 5


def test_failures_are_in_the_order_of_the_rows(make: Make, simulator: Simulator) -> None:
    simulator.set(errors="400:0.5", latency="0-20", seed=3)
    failures = make()(numbered(200)).failures
    assert 50 < len(failures) < 150
    assert failures["row"] == sorted(failures["row"])


def test_every_failure_of_a_row_with_several_draws_is_told(make: Make) -> None:
    table = make(n=3, generation_params=lambda row: {"max_tokens": "many"})(numbered(2))
    assert table.failures["row"] == [0, 0, 0, 1, 1, 1]


# An endpoint that serves nothing ---------------------------------------------------------------


@pytest.mark.parametrize("failing", ["keep", "raise"])
def test_a_wrong_key_is_raised_and_little_is_sent(
    bench: Workbench, simulator: Simulator, failing: Any
) -> None:
    simulator.set(key="the-right-key-12345", latency="5")
    wrong = Endpoint("openai", "simulated", simulator.url, key="the-wrong-key-12345")
    prompter = Prompter(wrong, lambda row: row["text"], failures=failing, workbench=bench)
    with pytest.raises(ApiError) as raised:
        prompter(numbered(2000))
    assert raised.value.message.startswith("openai/simulated answered nothing: authentication: ")
    assert "was stopped" not in raised.value.message
    assert raised.value.remedy == "Put its key right, then run it again."
    assert simulator.summary()["requests"] <= 64
    [run] = bench.catalog.all_runs()
    assert run["state"] == "failed" and "key" in run["message"]
    assert run["counters"]["rows_failed"] == 2000
    folder = bench.workspace.run(run["id"])
    lines = (folder / "failures.jsonl").read_text().splitlines()
    assert len(lines) == 2000, "the rows are in the record of the run"
    assert len(Table.open(folder / "failures.arrow")) == 2000


@pytest.mark.parametrize(
    ("kind", "faults", "remedy"),
    [
        ("authentication", {"errors": "401:1"}, "key right"),
        ("permission", {"errors": "403:1"}, "may do this"),
        ("not_found", {"errors": "404:1"}, "name of the model"),
        ("quota", {"quota": 0}, "quota or credit"),
    ],
)
def test_whatever_stops_an_endpoint_is_raised_when_nothing_was_answered(
    make: Make, simulator: Simulator, kind: str, faults: dict[str, Any], remedy: str
) -> None:
    simulator.set(**faults)
    with pytest.raises(ApiError, match=f"answered nothing: {kind}") as raised:
        make()(numbered(20))
    assert remedy in raised.value.remedy
    assert raised.value.exit_code == 3


def test_what_heals_and_what_is_a_row_s_own_fault_is_not_raised(
    make: Make, simulator: Simulator
) -> None:
    simulator.set(errors="400:1")
    table = make()(numbered(5))
    assert len(table) == 0 and set(table.failures["kind"]) == {"invalid_request"}


def test_an_endpoint_that_stops_half_way_leaves_a_table_and_names_the_cause(
    make: Make, bench: Workbench, simulator: Simulator
) -> None:
    simulator.set(quota=10)
    table = make(concurrency=2)(numbered(50))
    assert len(table) == 10
    assert set(table.failures["kind"]) == {"quota"} and len(table.failures) == 40
    assert table.run.state == "completed with failures"
    [run] = bench.catalog.all_runs()
    assert "quota" in run["message"]


def test_what_is_recorded_is_returned_also_where_nothing_can_be_asked(
    make: Make, simulator: Simulator
) -> None:
    make()(numbered(5))
    simulator.set(errors="401:1")
    table = make()(numbered(8))
    assert table["id"] == [0, 1, 2, 3, 4]
    assert table.failures["row"] == [5, 6, 7]


def test_when_the_key_has_been_put_right_the_same_program_goes_on(
    bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.set(key="the-right-key-12345")
    monkeypatch.setenv("LAB_KEY", "the-wrong-key-12345")
    endpoint = Endpoint("openai", "simulated", simulator.url, key="env:LAB_KEY")
    prompter = Prompter(endpoint, lambda row: row["text"], workbench=bench)
    for _ in range(2):
        with pytest.raises(ApiError):
            prompter(numbered(100))
    monkeypatch.setenv("LAB_KEY", "the-right-key-12345")
    assert len(prompter(numbered(100))) == 100


async def test_a_handle_and_a_stream_raise_it_too(make: Make, simulator: Simulator) -> None:
    simulator.set(errors="403:1")
    handle = make()(numbered(20))
    with pytest.raises(ApiError, match="permission"):
        await handle
    with pytest.raises(ApiError, match="permission"):
        list(make().stream(numbered(20)))


def test_an_outage_uses_up_no_attempts(make: Make, simulator: Simulator) -> None:
    simulator.set(outages="0-1.5")
    simulator.reset()
    table = make(backend_params={"max_retries": 1})(numbered(200))
    assert len(table) == 200
    assert len(table.failures) == 0


def test_a_full_disk_is_an_error_and_what_was_done_is_kept(
    make: Make, bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.errors import StorageFullError
    from penstock.tables import TableWriter

    def full(self: TableWriter, number: int, rows: Any) -> None:
        raise StorageFullError("dataset.arrow cannot be written: no space left")

    with monkeypatch.context() as patch:
        patch.setattr(TableWriter, "add", full)
        simulator.set(latency="5")
        with pytest.raises(StorageFullError, match="no space left"):
            make()(numbered(5000))
    sent = simulator.summary()["requests"]
    assert sent < 2000, "the run stopped"
    runs = bench.catalog.all_runs()
    assert runs[0]["state"] == "failed" and "no space left" in runs[0]["message"]
    assert len(make()(numbered(sent))) == sent
    assert simulator.summary()["requests"] <= sent + 256, "no more than was on its way"


def test_the_run_says_how_it_went(make: Make, at: Callable[..., Endpoint]) -> None:
    table = make(raises_on_17, name="a name")(numbered(20))
    run = table.run
    assert run.id.startswith("prompt-")
    assert Path(run.folder).name == run.id
    counters = run.counters
    assert (counters["rows_total"], counters["rows_done"], counters["rows_failed"]) == (20, 20, 1)
    assert counters["asked"] == 19
    assert run.tokens == counters["input_tokens"] + counters["output_tokens"] > 0
