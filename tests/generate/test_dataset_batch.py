"""A schema in the batch lane: column by column, half the price, every question once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

import penstock
from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from tests.generate.schema_kit import Gen, Schema, failures, plain, sent


@pytest.fixture(autouse=True)
def at_once(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator.set(batch_seconds=0)
    monkeypatch.setenv("PENSTOCK_BATCH_PROCESSING_CHECK_INTERVAL", "0.1")


@pytest.fixture
def columns(gen: Gen) -> dict[str, Any]:
    """Two columns of which one needs the other, and one by itself."""
    return {
        "n": sample.sequence(),
        "first": gen()("About {n}"),
        "second": gen()("More of {first}"),
        "alone": gen()("Alone {n}"),
        "size": lambda second: len(second),
    }


class Person(BaseModel):
    name: str
    age: int


def lines(simulator: Simulator) -> list[int]:
    """How many questions each batch had, oldest first."""
    return [batch["lines"] for batch in reversed(simulator.batches())]


def test_it_goes_column_by_column(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    table = schema(columns, 20, batch=True).generate()
    assert lines(simulator) == [40, 20], "what can be asked together goes together"
    assert (sent(simulator), simulator.summary()["lines"]) == (60, 60)
    assert table.run.state == "completed"
    assert (table.run.counters["asked"], table.run.counters["recorded"]) == (60, 0)
    assert plain(table) == plain(schema(columns, 20).generate()), "as it would be online"
    assert sent(simulator) == 60


def test_what_one_lane_recorded_the_other_finds(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    first = schema(columns, 10).generate()
    table = schema(columns, 15, batch=True).generate()
    assert table.to_list()[:10] == first.to_list()
    assert lines(simulator) == [10, 5]
    assert sent(simulator) == 45


def test_batches_are_cut_to_size(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    schema(columns, 20, batch=True, batch_size=15).generate()
    assert sorted(lines(simulator)) == [5, 10, 15, 15, 15]
    assert sent(simulator) == 60


def test_submitted_today_collected_tomorrow(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=3600)

    def again() -> Any:
        return schema(columns, 10, batch=True, wait=False).generate()

    first = again()
    assert (first.run.state, len(first)) == ("waiting", 0)
    assert again().run.state == "waiting"
    assert lines(simulator) == [20], "nothing is submitted twice"
    simulator.advance_batches()
    second = again()
    assert (second.run.state, lines(simulator)) == ("waiting", [20, 10])
    simulator.advance_batches()
    last = again()
    assert last.run.state == "completed" and len(plain(last)) == 10
    assert sent(simulator) == 30


def test_what_lies_in_a_batch_is_not_asked_online(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=3600)
    schema(columns, 5, batch=True, wait=False).generate()
    table = schema(columns, 8).generate()
    assert (len(table), table.run.state) == (3, "waiting"), "the rows that are not in it are made"
    assert table["n"] == [5, 6, 7]
    assert simulator.summary()["lines"] == 0
    simulator.advance_batches()
    schema(columns, 5, batch=True, wait=False).generate()
    simulator.advance_batches()
    assert len(plain(schema(columns, 8, batch=True).generate())) == 8
    assert sent(simulator) == 24


def test_checks_conditions_structures_and_conversations_go_by_batch_too(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    def even(text: str) -> bool:
        return sum(text.encode()) % 2 == 0

    columns = {
        "n": sample.sequence(),
        "x": gen()("Name {n}", check=even, tries=8, feedback=True),
        "some": gen()("Some {n}", when=lambda n: n % 2 == 0),
        "who": gen("simulated-invalid")("Who is {n}", response_format=Person, expand=True),
        "talk": gen().conversation(["One {n}", "Two"]),
        "score": penstock.eval.llm_judge("name", "Good?", model=gen()),
    }
    table = schema(columns, 6, batch=True).generate()
    assert (
        simulator.summary()["requests"] - simulator.summary()["errands"]
        == (simulator.summary()["lines"])
    ), "nothing went online"
    asked = sent(simulator)
    assert table.to_list() == schema(columns, 6).generate().to_list()
    assert sent(simulator) == asked
    assert [row["some"] is None for row in table] == [False, True] * 3
    assert all(len(row["talk"]) == 4 and row["name"] for row in table)


def test_a_failed_cell_fails_its_own_row_alone(
    schema: Schema, columns: dict[str, Any], gen: Gen, simulator: Simulator
) -> None:
    def picky(n: int) -> int:
        if n == 2:
            raise ValueError("not two")
        return n

    more = {
        "n": sample.sequence(),
        "ok": lambda n: picky(n),
        "x": gen()("{ok}"),
        "y": gen()("y {n}"),
    }
    table = schema(more, 4, batch=True).generate()
    assert failures(table) == [(2, "ok", "input"), (2, "x", "needed")]
    assert table["status"] == ["ok", "ok", "failed", "ok"] and all(table["y"])
    assert sent(simulator) == 7


def once(simulator: Simulator, bench: Workbench) -> int:
    """How many lines there were. A batch does not tell which draw a line is, so equal texts look
    alike to the server; but each must have become an answer of its own."""
    lines: int = simulator.summary()["lines"]
    assert lines == bench.journal().stats().answers
    return lines


def test_until_and_duplicates_by_batch(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench
) -> None:
    columns = {"k": sample.range(1, 12), "x": gen("simulated-echo")("number {k}")}
    options: dict[str, Any] = {"until": 10, "most": 200, "dedupe": "x"}
    table = schema(columns, **options, batch=True).generate()
    asked = once(simulator, bench)
    assert len(set(table["x"])) == len(table) == 10
    assert len(lines(simulator)) > 1, "more were made for those that fell out"
    again = schema(columns, **options, cache="read").generate()
    assert again.to_list() == table.to_list()
    assert once(simulator, bench) == asked


def test_until_is_submitted_today_and_goes_on_tomorrow(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench
) -> None:
    simulator.set(batch_seconds=3600)
    columns = {"k": sample.range(1, 12), "x": gen("simulated-echo")("number {k}")}
    options: dict[str, Any] = {"until": 10, "most": 200, "dedupe": "x"}
    states = []
    for _ in range(30):
        table = schema(columns, **options, batch=True, wait=False).generate()
        states.append(table.run.state)
        if table.run.state != "waiting":
            break
        simulator.advance_batches()
    assert states[0] == "waiting" and states[-1] == "completed"
    assert len(set(table["x"])) == 10
    assert schema(columns, **options, cache="read").generate().to_list() == table.to_list()
    once(simulator, bench)


def test_it_costs_the_batch_price_and_a_budget_holds(
    schema: Schema, bench: Workbench, at: Any, simulator: Simulator
) -> None:
    prices = Prices(Decimal(200), Decimal(200), batch_input=Decimal(100), batch_output=Decimal(100))
    endpoint: Endpoint = at("simulated", prices=prices)
    ask = penstock.generator(endpoint, workbench=bench, max_tokens=20)
    columns = {"n": sample.sequence(), "x": ask("About {n}"), "y": ask("More: {x}")}
    table = schema(columns, 10, batch=True).generate()
    counters = table.run.counters
    tokens = counters["input_tokens"] + counters["output_tokens"]
    assert table.run.cost == Decimal(tokens) / 10_000 > 0
    stopped = schema(columns, 500, batch=True, budget="0.2").generate()
    assert stopped.run.state == "stopped"
    assert stopped.run.cost <= Decimal("0.2")
    assert simulator.summary()["lines"] < 1000
    assert set(stopped["status"]) <= {"ok"}
    asked = sent(simulator)
    whole = schema(columns, 500, batch=True).generate()
    assert len(plain(whole)) == 500
    assert sent(simulator) == 1000 > asked


def test_two_endpoints_have_batches_of_their_own(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {
        "n": sample.sequence(),
        "a": gen("simulated-echo")("A {n}"),
        "b": gen("simulated-fixed")("{a}"),
    }
    table = schema(columns, 10, batch=True).generate()
    assert [batch["model"] for batch in reversed(simulator.batches())] == [
        "simulated-echo", "simulated-fixed",
    ]  # fmt: skip
    assert len(plain(table)) == 10 and sent(simulator) == 20


def test_a_wrong_key_is_told(schema: Schema, columns: dict[str, Any], simulator: Simulator) -> None:
    simulator.set(errors="401:1")
    with pytest.raises(ApiError, match="authentication"):
        schema(columns, 5, batch=True).generate()
    simulator.set(errors="")
    assert len(plain(schema(columns, 5, batch=True).generate())) == 5
    assert simulator.summary()["lines"] == 15


def test_rows_stream_as_their_batches_are_collected(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    rows = list(schema(columns, 12, batch=True).stream())
    assert sorted(row["n"] for row in rows) == list(range(12))
    assert sent(simulator) == 36
