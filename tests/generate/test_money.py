"""Budgets and estimates. The ledger of the server is the judge of what was spent."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate import Prompter
from penstock.generate.estimate import Projection
from penstock.simulator import Simulator
from tests.generate.conftest import Make, numbered, texts

DOLLAR_A_TOKEN = Prices(Decimal(1_000_000), Decimal(1_000_000))


@pytest.fixture
def priced(bench: Workbench, at: Callable[..., Endpoint]) -> Make:
    """A Prompter whose every token costs a dollar."""

    def prompter(prompt: Any = lambda row: row["text"], **more: Any) -> Prompter:
        model = at("simulated-echo", prices=DOLLAR_A_TOKEN)
        return Prompter(model, prompt, workbench=bench, **more)

    return prompter


def spent(simulator: Simulator) -> int:
    return int(simulator.summary()["tokens"])


def test_a_budget_stops_a_run_cleanly_and_is_never_exceeded(
    priced: Make, simulator: Simulator
) -> None:
    simulator.set(latency="5")
    table = priced(budget=2000, generation_params={"max_tokens": 50})(numbered(1000))
    assert table.run.state == "stopped"
    assert 0 < len(table) < 1000
    assert table["id"] == sorted(table["id"])
    assert len(table.failures) == 0, "what was not begun has not failed"
    assert 1000 < spent(simulator) <= 2000
    assert table.run.cost == spent(simulator)


def test_more_money_goes_on_where_less_had_ended(priced: Make, simulator: Simulator) -> None:
    params = {"max_tokens": 50}
    first = priced(budget=500, generation_params=params)(numbered(100))
    assert first.run.state == "stopped"
    second = priced(generation_params=params)(numbered(100))
    assert len(second) == 100
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["repeated"]) == (100, 0)


def test_a_budget_of_0_sends_nothing(priced: Make, simulator: Simulator) -> None:
    table = priced(budget=0)(numbered(100))
    assert table.run.state == "stopped"
    assert len(table) == 0 and len(table.failures) == 0
    assert simulator.summary()["requests"] == 0


def test_a_budget_of_0_returns_what_is_recorded(priced: Make, simulator: Simulator) -> None:
    priced()(numbered(10))
    table = priced(budget=0)(numbered(10))
    assert table.run.state == "completed" and len(table) == 10
    assert simulator.summary()["requests"] == 10


def test_a_budget_for_a_model_whose_price_nobody_knows_is_an_error(
    make: Make, simulator: Simulator, bench: Workbench
) -> None:
    with pytest.raises(InputError, match="no price is known for openai/simulated-echo"):
        make(budget=5)(numbered(5))
    assert simulator.summary()["requests"] == 0
    assert not bench.catalog.all_runs(), "there is no run"


def test_a_budget_needs_no_price_where_nothing_is_sent(make: Make) -> None:
    make()(texts("one"))
    assert make(budget=5, cache="read")(texts("one"))["response"] == ["one"]


@pytest.mark.parametrize("budget", [2000, 2000.0, "2000", Decimal(2000)], ids=repr)
def test_a_budget_is_written_as_any_number(priced: Make, budget: Any) -> None:
    assert len(priced(budget=budget)(numbered(3))) == 3


def test_the_cost_is_exact(priced: Make, simulator: Simulator) -> None:
    assert priced()(numbered(50)).run.cost == spent(simulator)


def test_an_unknown_price_is_counted_and_not_guessed(make: Make) -> None:
    run = make()(numbered(5)).run
    assert run.cost == 0
    assert run.counters["unpriced"] == 5


def test_a_price_that_was_put_right_holds_at_once(
    bench: Workbench, at: Callable[..., Endpoint]
) -> None:
    costs = []
    for number, price in enumerate((1, 2)):
        prices = Prices(Decimal(price), Decimal(price))
        model = at("simulated-echo", prices=prices)
        prompter = Prompter(model, lambda row: row["text"], workbench=bench)
        costs.append(prompter(texts(f"row {number}")).run.cost)
    assert costs[1] == 2 * costs[0]


# Estimates -------------------------------------------------------------------------------------


def test_an_estimate_is_of_the_questions_that_are_then_asked(
    priced: Make, simulator: Simulator
) -> None:
    prompter = priced(n=2)
    rows = [*numbered(20), *numbered(5)]
    before = prompter.estimate(rows)
    assert simulator.summary()["requests"] == 0
    assert (before.rows, before.questions, before.recorded) == (25, 50, 0)
    prompter(rows)
    assert simulator.summary()["requests"] == before.questions
    after = prompter.estimate([*rows, {"id": 99, "text": "new"}])
    assert (after.questions, after.recorded) == (52, 50)
    assert after.input_tokens < before.input_tokens / 10


def test_an_estimate_of_what_is_recorded_is_free(priced: Make) -> None:
    prompter = priced()
    prompter(numbered(10))
    again = prompter.estimate(numbered(10))
    assert again.cost == 0 and again.input_tokens == again.output_tokens == 0


@pytest.mark.parametrize("cache", ["off", "refresh"])
def test_an_estimate_knows_that_some_caches_ask_anew(
    priced: Make, simulator: Simulator, cache: str
) -> None:
    priced()(numbered(10))
    assert priced(cache=cache).estimate(numbered(10)).recorded == 0
    priced(cache=cache)(numbered(10))
    assert simulator.summary()["requests"] == 20


def test_an_estimate_counts_equal_questions_once_with_dedupe(
    priced: Make, simulator: Simulator
) -> None:
    prompter = priced(dedupe=True)
    rows = [*numbered(10), *numbered(10)]
    found = prompter.estimate(rows)
    assert (found.rows, found.questions) == (20, 10)
    prompter(rows)
    assert simulator.summary()["requests"] == 10


def test_the_dollars_of_an_estimate_follow_from_its_tokens(priced: Make) -> None:
    found = priced(generation_params={"max_tokens": 100}).estimate(numbered(10))
    assert found.output_tokens == 1000
    assert found.cost == found.input_tokens + found.output_tokens
    assert found.price_source == "endpoint"
    assert "10 questions (0 answered already)" in str(found)


def test_the_tokens_of_an_estimate_are_about_those_that_are_counted(
    make: Make, simulator: Simulator
) -> None:
    text = "The river carries silt from the hills to the sea, and the delta grows. " * 5
    rows = [{"text": f"{number}: {text}"} for number in range(20)]
    found = make().estimate(rows)
    make()(rows)
    assert 0.8 < found.input_tokens / simulator.summary()["prompt_tokens"] < 1.25


def test_long_questions_do_not_add_up_to_a_higher_tier() -> None:
    """A price for questions above a size is one for each question, not for their sum."""
    from penstock.generate.estimate import Rates, project_all
    from penstock.generate.plan import Plan
    from penstock.tables import rows
    from penstock.tokens import Price, Tier

    one, two = Decimal(1), Decimal(2)
    price = Price(one, one, one, one, "test", (Tier(two, two, two, two, above=1000),))
    endpoint = Endpoint("simulated", "simulated")
    params = {"max_tokens": 50}
    plan = Plan(endpoint, str, True, None, None, None, params, 1, False, "off", "keep", 2)
    found = project_all(plan, rows(numbered(300)), Rates(price, None, False))
    assert found.input_tokens > 1000
    assert found.cost == Decimal(found.input_tokens + found.output_tokens) / 10**6


def test_an_estimate_of_an_unknown_price_says_so(make: Make) -> None:
    found = make().estimate(numbered(3))
    assert found.cost is None
    assert "no price is known" in str(found)


def test_an_estimate_counts_the_rows_whose_prompt_cannot_be_made(make: Make) -> None:
    found = make(lambda row: row["absent"] if row["id"] == 1 else "x").estimate(numbered(3))
    assert (found.rows, found.questions, found.faulty) == (3, 2, 1)


def test_a_generator_is_not_estimated_and_not_used_up(make: Make) -> None:
    rows = iter(numbered(3))
    with pytest.raises(InputError, match="a generator can be read only once"):
        make().estimate(rows)
    assert len(make()(rows)) == 3


def test_an_estimate_without_rows_is_of_one_question(make: Make) -> None:
    assert make(lambda: "Hello").estimate().questions == 1


async def test_inside_a_loop_an_estimate_is_awaited(make: Make) -> None:
    found = await make().estimate(numbered(3))
    assert isinstance(found, Projection)
    assert found.questions == 3
