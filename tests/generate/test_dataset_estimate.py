"""What a dataset would take: counted as it would be asked, and nothing is sent."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

import penstock
from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from tests.generate.schema_kit import Gen, Schema, sent

PRICES = Prices(Decimal(2), Decimal(4), batch_input=Decimal(1), batch_output=Decimal(2))


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture
def priced(bench: Workbench, at: Any) -> penstock.generate.generator.Generator:
    endpoint: Endpoint = at("simulated", prices=PRICES)
    return penstock.generator(endpoint, workbench=bench, max_tokens=100)


def test_every_kind_of_question_is_counted_and_none_is_sent(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    ask = gen(max_tokens=50)
    columns = {
        "n": sample.sequence(),
        "who": ask("A person {n}", response_format=Person, expand=True),
        "whole": ask("Another", response_format=Person),
        "letter": ask("To {name}, {age}: {whole}", check=lambda text: False),
        "some": ask("For {n}", when=lambda n: n % 2 == 0),
        "talk": ask.conversation(["About {letter}", "More", "Less"]),
        "judged": penstock.eval.llm_judge("letter", "Good?", model=ask),
        "size": lambda letter: len(letter),
    }
    found = schema(columns, 10).estimate()
    assert (found.rows, found.counted) == (10, 10)
    assert (found.questions, found.recorded) == (10 * 7 + 5, 0)
    assert found.output_tokens == 50 * 75
    assert found.cost is None and "no price is known" in str(found)
    assert sent(simulator) == 0


def test_the_estimate_is_near_what_it_comes_to(
    schema: Schema, priced: Any, simulator: Simulator
) -> None:
    columns = {"n": sample.sequence(), "a": priced("Tell all of {n}"), "b": priced("More: {a}")}
    ds = schema(columns, 30)
    found = ds.estimate()
    assert found.questions == 60
    assert (
        found.cost == (Decimal(found.input_tokens) * 2 + Decimal(found.output_tokens) * 4) / 10**6
    )
    assert found.batch_cost == found.cost / 2
    table = ds.generate()
    assert table.run.counters["asked"] == 60
    assert Decimal("0.4") < table.run.cost / found.cost < Decimal("1.2")


def test_what_is_recorded_is_free(schema: Schema, priced: Any, simulator: Simulator) -> None:
    columns = {"n": sample.sequence(), "a": priced("Tell all of {n}"), "b": priced("More: {a}")}
    ds = schema(columns, 20)
    ds.generate(10)
    before = sent(simulator)
    found = ds.estimate()
    assert (found.questions, found.recorded) == (40, 20)
    half = ds.estimate(10)
    assert (half.questions, half.recorded, half.cost) == (20, 20, 0)
    assert half.input_tokens == half.output_tokens == 0
    assert sent(simulator) == before


def test_a_large_dataset_of_which_the_beginning_is_recorded_is_not_free(
    schema: Schema, priced: Any, simulator: Simulator
) -> None:
    columns = {"n": sample.sequence(), "a": priced("Tell all of {n}")}
    ds = schema(columns, 250)
    whole = ds.estimate(1000)
    assert (whole.rows, whole.questions, whole.recorded) == (1000, 1000, 0)
    assert whole.counted < 1000 and "of the rows" in str(whole)
    ds.generate()
    found = ds.estimate(1000)
    assert (found.questions, found.recorded) == (1000, 250)
    assert found.output_tokens == 75_000 == whole.output_tokens * 3 // 4
    assert abs(found.cost - whole.cost * 3 / 4) < whole.cost / 100
    assert sent(simulator) == 250


def test_a_function_that_cannot_do_with_what_stands_in_hides_no_question(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {
        "raw": gen()("Give JSON"),
        "parsed": lambda raw: json.loads(raw)["x"],
        "then": gen()("About {parsed}"),
        "asked": gen()(lambda then: then[10**9]),
        "last": gen()("Last: {asked}"),
    }
    assert schema(columns, 5).estimate().questions == 15
    assert sent(simulator) == 0


def test_until_is_at_least_so_many(schema: Schema, gen: Gen) -> None:
    columns = {"n": sample.sequence(), "a": gen()("{n}")}
    assert schema(columns, until=40).estimate().questions == 40
    assert schema(columns, until=40).estimate(7).questions == 7


def test_no_questions_are_no_dollars(schema: Schema) -> None:
    found = schema({"n": sample.sequence(), "x": lambda n: n}, 5000).estimate()
    assert (found.questions, found.cost, found.batch_cost) == (0, 0, 0)


def test_inside_a_loop_it_is_awaited_and_bad_options_are_said(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    ds = schema({"a": gen()("x")}, 3)

    async def main() -> Any:
        return await ds.estimate()

    assert asyncio.run(main()).questions == 3
    with pytest.raises(InputError):
        ds.estimate(0)
    with pytest.raises(InputError):
        ds.estimate(cach="off")  # type: ignore[call-arg]
    assert sent(simulator) == 0


def test_no_key_is_needed_to_estimate(schema: Schema) -> None:
    found = schema({"a": penstock.generator("openai", model="gpt-4o-mini")("Hi")}, 4).estimate()
    assert found.questions == 4 and found.cost is not None and found.cost > 0
