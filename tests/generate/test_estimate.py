"""`penstock.estimate`: what it would take, with nothing there but the questions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate import Prompter
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import numbered

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.fixture
def model(at: Callable[..., Endpoint]) -> Endpoint:
    return at("llama", prices=Prices(Decimal("0.10"), Decimal("0.40")))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"n": 3},
        {"system": "You are a geographer."},
        {"schema": SCHEMA},
        {"max_tokens": 77},
        {"dedupe": True},
    ],
    ids=str,
)
def test_it_says_what_the_estimate_of_a_prompter_says(
    model: Endpoint, bench: Workbench, simulator: Simulator, more: dict[str, Any]
) -> None:
    data = [*numbered(300), *numbered(20)]
    found = penstock.estimate(data, "Say {text} of {id}.", model=model, workbench=bench, **more)
    names = {"system": "system_prompt", "schema": "response_format"}
    given = {names.get(name, name): value for name, value in more.items() if name != "max_tokens"}
    prompter = Prompter(
        model,
        lambda row: f"Say {row['text']} of {row['id']}.",
        generation_params={"max_tokens": 77} if "max_tokens" in more else None,
        workbench=bench,
        **given,
    )
    assert found == prompter.estimate(data)
    assert (found.rows, found.price_source) == (320, "endpoint")
    assert found.cost is not None and found.cost > 0
    assert simulator.summary()["requests"] == 0


def test_nothing_is_opened_or_written_and_no_key_is_needed(
    at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    before = sorted(Path.cwd().parent.rglob("*"))
    found = penstock.estimate(["One", "Two"], model="gpt-4o-mini", max_tokens=1_000_000)
    assert found.cost is not None and found.cost > Decimal("0.5"), "the packaged price"
    assert (found.rows, found.questions, found.recorded) == (2, 2, 0)
    assert sorted(Path.cwd().parent.rglob("*")) == before
    assert simulator.summary()["requests"] == 0


def test_the_price_of_an_unknown_model_is_not_guessed(at: Callable[..., Endpoint]) -> None:
    found = penstock.estimate(["One"], model=at("nobody-knows"))
    assert found.cost is None and "no price is known" in str(found)


@pytest.mark.parametrize(
    "prompts",
    [
        ["Say hello", "Say hello twice"],
        ("Say hello", "Say hello twice"),
        (prompt for prompt in ["Say hello", "Say hello twice"]),
        [{"user": "Say hello"}, {"user": "Say hello twice"}],
        [
            [{"role": "user", "content": "Say hello"}],
            [{"role": "user", "content": "Say hello twice"}],
        ],
    ],
    ids=["list", "tuple", "generator", "dicts", "messages"],
)
def test_prompts_may_be_anything_that_a_prompt_function_returns(prompts: Any) -> None:
    found = penstock.estimate(prompts, model="simulated")
    same = penstock.estimate(["Say hello", "Say hello twice"], model="simulated")
    assert found == same and found.questions == 2 and found.faulty == 0


@pytest.mark.parametrize("kind", ["list", "columns", "generator", "table", "pandas", "csv", "path"])
def test_rows_may_come_from_anywhere(kind: str) -> None:
    names = ["Rhine", "Elbe", "Oder"]
    listed = [{"name": name} for name in names]
    Table.from_rows(listed).save("rivers.csv")
    data: Any = {
        "list": listed,
        "columns": {"name": names},
        "generator": ({"name": name} for name in names),
        "table": Table.from_rows(listed),
        "pandas": Table.from_rows(listed).to_pandas(),
        "csv": "rivers.csv",
        "path": Path("rivers.csv"),
    }[kind]
    found = penstock.estimate(data, "Describe the {name}.", model="simulated")
    assert (found.questions, found.faulty) == (3, 0)
    prompts = [f"Describe the {name}." for name in names]
    assert found == penstock.estimate(prompts, model="simulated")


def test_only_the_first_are_read() -> None:
    read = []

    def prompts() -> Any:
        for number in range(1_000_000):
            read.append(number)
            yield f"Question {number}"

    assert penstock.estimate(prompts(), model="simulated", sample=10).questions == 10
    assert len(read) == 10
    rows = [{"n": n} for n in range(9)]
    assert penstock.estimate(rows, "Number {n}", model="simulated", sample=4).rows == 4


def test_rows_that_cannot_be_asked_are_counted_and_told() -> None:
    rows = [{"name": "Rhine"}, {"nmae": "Elbe"}]
    found = penstock.estimate(rows, "Describe the {name}.", model="simulated")
    assert (found.rows, found.questions, found.faulty) == (2, 1, 1)
    assert "no prompt can be made of 1 rows" in str(found)


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        ([{"name": "Rhine"}], {}, "item 1 of the dataset is a row"),
        ("Say hello", {}, "a str holds no prompts"),
        ({"name": ["Rhine"]}, {}, "a dict holds no prompts"),
        (Table.from_rows([{"name": "Rhine"}]), {}, "a Table holds no prompts"),
        (7, {}, "a int holds no prompts"),
        ({"name": ["Rhine"]}, {"template": "Describe {nmae}"}, "{nmae}"),
        (["One"], {"sample": -1}, "sample is -1"),
        (["One"], {"n": 0}, "n is 0"),
    ],
)
def test_what_is_wrong_is_said(data: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        penstock.estimate(data, **{"model": "simulated", **more})


def test_a_data_frame_without_a_template_holds_no_prompts() -> None:
    frame = Table.from_rows([{"name": "Rhine"}]).to_pandas()
    with pytest.raises(InputError, match="a DataFrame holds no prompts"):
        penstock.estimate(frame, model="simulated")


async def test_inside_a_loop_it_is_there_at_once() -> None:
    assert penstock.estimate(["One"], model="simulated").questions == 1
