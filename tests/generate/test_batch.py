"""A Prompter in the batch lane gives what it gives online, for half the price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock.endpoint import Endpoint, Prices
from penstock.engine.batch import BatchWish
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, StorageFullError
from penstock.generate import Prompter
from penstock.generate.launch import launched
from penstock.outcome import FailureKind
from penstock.providers.batch import Trouble
from penstock.providers.openai_batch import OpenAIBatches
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import Make, numbered, texts

QUICK = {"batch_check_interval": 0.1}


@pytest.fixture(autouse=True)
def at_once(simulator: Simulator) -> None:
    simulator.set(batch_seconds=0)


def submitted(prompter: Prompter, rows: Any, run: str) -> Table:
    """Run it without waiting for batches, as one that can be taken up again."""
    launch = replace(prompter.launch(rows), id=run, batch=BatchWish(waits=False))
    made = launched(launch)
    assert isinstance(made, Table)
    return made


def test_the_table_is_the_same_as_online(make: Make, simulator: Simulator) -> None:
    online = make(cache="off")(numbered(50))
    table = make(batch=True, batch_size=20, backend_params=QUICK)(numbered(50))
    assert table.to_list() == online.to_list()
    assert table.run.state == "completed"
    assert (table.run.counters["asked"], table.run.counters["recorded"]) == (50, 0)
    assert simulator.summary()["lines"] == 50
    assert sorted(batch["lines"] for batch in simulator.batches()) == [10, 20, 20]


def test_what_one_lane_recorded_the_other_finds(make: Make, simulator: Simulator) -> None:
    make()(numbered(10))
    make(batch=True, backend_params=QUICK)(numbered(15))
    assert simulator.summary()["lines"] == 5, "ten were in the journal"
    again = make()(numbered(15))
    assert again.run.counters["recorded"] == 15


def test_rows_that_can_be_read_only_once_are_written_down(make: Make) -> None:
    table = make(batch=True, backend_params=QUICK)(row for row in numbered(12))
    assert [row["id"] for row in table] == list(range(12))


def test_equal_rows_draw_anew_and_several_samples_are_several_questions(
    make: Make, simulator: Simulator
) -> None:
    table = make(batch=True, n=2, backend_params=QUICK)(texts("A", "A", "B"))
    assert table["response"] == ["A", "A", "A", "A", "B", "B"]
    assert simulator.summary()["lines"] == 6


class Person(BaseModel):
    name: str
    age: int


def test_an_answer_that_does_not_fit_is_asked_again_in_the_next_batch(
    make: Make, simulator: Simulator
) -> None:
    table = make(
        batch=True, model="simulated-invalid", response_format=Person, backend_params=QUICK
    )(texts("A person", "Another"))
    assert len(table) == 2, table.failures.to_list()
    assert [batch["lines"] for batch in simulator.batches()] == [2, 2]
    assert table.run.counters["recorded"] == 0


def test_a_prompt_function_that_fails_fails_its_row_alone(make: Make) -> None:
    def prompt(row: dict[str, Any]) -> str:
        if row["id"] == 3:
            raise ValueError("no text")
        return str(row["text"])

    table = make(prompt, batch=True, backend_params=QUICK)(numbered(6))
    assert len(table) == 5
    assert table.failures["kind"] == ["input"]


def test_it_costs_the_batch_price(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    prices = Prices(Decimal("2"), Decimal("4"), batch_input=Decimal("1"), batch_output=Decimal("2"))
    endpoint = at("simulated-echo", prices=prices)
    table = Prompter(
        endpoint, lambda row: row["text"], batch=True, backend_params=QUICK, workbench=bench
    )(numbered(10))
    counters = table.run.counters
    cost = Decimal(counters["input_tokens"]) * 1 + Decimal(counters["output_tokens"]) * 2
    assert table.run.cost == cost / 1_000_000 > 0


def test_a_budget_stops_before_it_is_submitted(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    endpoint = at("simulated-echo", prices=Prices(Decimal("100"), Decimal("100")))
    table = Prompter(
        endpoint, lambda row: row["text"], batch=True, budget="0.10", backend_params=QUICK,
        generation_params={"max_tokens": 20}, workbench=bench,
    )(numbered(500))  # fmt: skip
    assert table.run.state == "stopped"
    assert table.run.cost <= Decimal("0.10")
    assert simulator.summary()["lines"] < 500


def test_submitted_today_collected_tomorrow(make: Make, simulator: Simulator) -> None:
    simulator.set(batch_seconds=3600)
    prompter = make(batch=True)
    first = submitted(prompter, numbered(30), "prompt-later")
    assert (len(first), first.run.state) == (0, "waiting")
    assert submitted(prompter, numbered(30), "prompt-later").run.state == "waiting"
    assert simulator.summary()["lines"] == 0 and len(simulator.batches()) == 1
    simulator.advance_batches()
    last = submitted(prompter, numbered(30), "prompt-later")
    assert (len(last), last.run.state) == (30, "completed")
    assert (simulator.summary()["lines"], simulator.summary()["repeated"]) == (30, 0)


def test_a_wrong_key_is_said_and_nothing_is_lost(make: Make, simulator: Simulator) -> None:
    simulator.set(errors="401:1")
    with pytest.raises(ApiError, match="authentication"):
        make(batch=True, backend_params=QUICK)(numbered(5))
    simulator.set(errors="")
    assert len(make(batch=True, backend_params=QUICK)(numbered(5))) == 5
    assert simulator.summary()["lines"] == 5


def test_a_workspace_may_move_and_be_called_anything(
    at: Callable[..., Endpoint], simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(batch_seconds=3600)
    here, there = tmp_path / "requests_of_mine", tmp_path / "moved"

    def make(home: Path) -> tuple[Workbench, Prompter]:
        bench = Workbench(workspace=home)
        endpoint = at("simulated-echo")
        return bench, Prompter(endpoint, lambda row: row["text"], batch=True, workbench=bench)

    bench, prompter = make(here)
    with bench:
        submitted(prompter, numbered(5), "prompt-moved")
    here.rename(there)
    simulator.advance_batches()
    bench, prompter = make(there)
    with bench:
        assert len(submitted(prompter, numbered(5), "prompt-moved")) == 5
    assert not here.exists()
    assert simulator.summary()["lines"] == 5


def test_a_disk_that_fails_fails_no_question(
    make: Make, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = Trouble(FailureKind.STORAGE, "the file of a batch cannot be read")

    async def broken(*_: object) -> Trouble:
        return trouble

    for step in ("submit", "fetch"):
        with monkeypatch.context() as patch:
            patch.setattr(OpenAIBatches, step, broken)
            with pytest.raises(StorageFullError, match="storage"):
                make(batch=True, backend_params=QUICK)(numbered(5))
    assert len(make(batch=True, backend_params=QUICK)(numbered(5))) == 5
    assert simulator.summary()["lines"] == 5


def test_a_key_that_a_server_says_back_is_nowhere_on_disk(
    bench: Workbench, simulator: Simulator
) -> None:
    canary = "sk-canary-in-a-batch-8c1d2e3f4a5b"
    endpoint = Endpoint("openai", "simulated-echo", simulator.url, key=canary)
    ask = Prompter(endpoint, lambda row: row["text"], batch=True, backend_params=QUICK,
                   workbench=bench)  # fmt: skip
    monkey = OpenAIBatches.item

    def told(self: OpenAIBatches, id: str, request: Any) -> bytes:  # noqa: A002
        return monkey(self, id, request).replace(b"tell", canary.encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenAIBatches, "item", told)  # the echo will say it back
        table = ask(texts("tell me"))
    assert len(table) == 1 and canary not in str(table.to_list())
    for file in bench.workspace.path.rglob("*"):
        if file.is_file() and not file.name.startswith("requests_"):
            assert canary.encode() not in file.read_bytes(), file


def test_an_endpoint_without_a_batch_lane_says_so(bench: Workbench) -> None:
    with pytest.raises(InputError, match="has no batch lane"):
        Prompter("simulated", lambda row: "Hi", batch=True, workbench=bench)(numbered(2))
    assert bench.catalog.all_runs() == [] or bench.catalog.all_runs()[0]["state"] == "failed"


def test_a_question_that_is_too_large_for_a_batch_fails_alone(
    make: Make, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = OpenAIBatches.limits._replace(bytes=4096 + 3000)
    monkeypatch.setattr(OpenAIBatches, "limits", limits)
    rows = [*texts("one", "word " * 1000), *texts("two", "three")]
    table = make(batch=True, backend_params=QUICK)(rows)
    assert table["response"] == ["one", "two", "three"]
    [failure] = table.failures.to_list()
    assert (failure["row"], failure["kind"]) == (1, "too_large")
    assert simulator.summary()["lines"] == 3


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_hundred_thousand_rows_in_several_batches(make: Make, simulator: Simulator) -> None:
    table = make(batch=True, batch_size=30_000, backend_params=QUICK)(numbered(100_000))
    assert len(table) == 100_000
    assert (simulator.summary()["lines"], simulator.summary()["repeated"]) == (100_000, 0)
    assert len(simulator.batches()) == 4
