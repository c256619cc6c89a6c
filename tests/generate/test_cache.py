"""What is asked, and what is found in the journal. The ledger of the server is the judge."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.simulator import Simulator
from tests.generate.conftest import Make, numbered, texts


@pytest.fixture
def asked(simulator: Simulator) -> Callable[[], int]:
    """How many requests there have been since the last call."""
    simulator.set(fixed=True)
    before = 0

    def since() -> int:
        nonlocal before
        now = simulator.summary()["requests"]
        found, before = now - before, now
        return int(found)

    return since


def test_what_was_edited_is_paid_for_and_nothing_else(make: Make, asked: Callable[[], int]) -> None:
    prompter = make()
    rows = numbered(10_000)
    assert len(prompter(rows)) == 10_000
    assert asked() == 10_000

    for row in rows[1_000:10_000:900]:
        row["text"] += ", edited"
    assert len(prompter(rows)) == 10_000
    assert asked() == 10, "ten rows were edited"

    table = prompter([{"id": -1, "text": "a new row at the top"}, *rows])
    assert table["id"] == list(range(-1, 10_000))
    assert asked() == 1, "one row was inserted"

    again = make(parse_func=lambda row, response: {"id": row["id"], "length": len(response)})
    assert again(rows).column_names == ["id", "length"]
    assert asked() == 0, "only the parser was edited"


def test_another_system_prompt_asks_everything_anew(make: Make, asked: Callable[[], int]) -> None:
    rows = numbered(50)
    make(system_prompt="Be brief.")(rows)
    make(system_prompt="Be brief.")(rows)
    assert asked() == 50
    make(system_prompt="Be very brief.")(rows)
    assert asked() == 50
    make()(rows)
    assert asked() == 50


@pytest.mark.parametrize(
    ("first", "second", "new"),
    [
        ({"generation_params": {"temperature": 1}}, {"generation_params": {"temperature": 1.0}}, 0),
        ({"generation_params": {"temperature": 1}}, {"generation_params": {"temperature": 0}}, 5),
        ({"concurrency": 2}, {"concurrency": 4}, 0),
        ({}, {"backend_params": {"max_retries": 9, "request_timeout": 5}}, 0),
        ({}, {"backend_params": {"api_key": "another-key-of-no-worth"}}, 0),
        ({}, {"model": "simulated"}, 5),
        ({"model": "simulated"}, {"model": "simulated", "response_format": {"type": "object"}}, 5),
        ({}, {"name": "another name", "budget": None, "failures": "raise"}, 0),
    ],
    ids=str,
)
def test_only_what_can_change_the_answer_is_in_the_key(
    make: Make,
    asked: Callable[[], int],
    simulator: Simulator,
    first: dict[str, Any],
    second: dict[str, Any],
    new: int,
) -> None:
    simulator.set(fixed=False)
    make(**first)(numbered(5))
    assert asked() == 5
    make(**second)(numbered(5))
    assert asked() == new


def test_failed_rows_are_asked_again_and_only_they(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    simulator.set(errors="400:0.3", seed=5)
    prompter = make()
    first = prompter(numbered(100))
    failed = len(first.failures)
    assert 0 < failed < 100
    assert len(first) + failed == 100
    assert asked() == 100
    simulator.set(errors="")
    second = prompter(numbered(100))
    assert len(second) == 100 and len(second.failures) == 0
    assert asked() == failed
    assert first.run.state == "completed with failures"
    assert second.run.state == "completed"


def test_equal_rows_draw_anew(make: Make, asked: Callable[[], int], simulator: Simulator) -> None:
    simulator.set(fixed=False)
    prompter = make(model="simulated")
    table = prompter(texts("Toss a coin.", "Toss a coin.", "Toss a coin."))
    assert len(set(table["response"])) == 3
    assert asked() == 3
    assert prompter(texts("Toss a coin.", "Toss a coin.", "Toss a coin.")).to_list() == list(table)
    assert asked() == 0
    longer = prompter(texts(*["Toss a coin."] * 5))
    assert longer["response"][:3] == table["response"]
    assert asked() == 2


def test_with_dedupe_equal_rows_share_an_answer(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    simulator.set(fixed=False, latency="20")
    table = make(model="simulated", dedupe=True)(texts("Same.", "Other.", "Same."))
    assert table["text"] == ["Same.", "Other.", "Same."]
    assert table["response"][0] == table["response"][2] != table["response"][1]
    assert asked() == 2


def test_with_dedupe_a_question_answered_a_moment_ago_is_not_sent_again(
    make: Make, asked: Callable[[], int]
) -> None:
    rows = [{"id": number, "text": f"text {number % 10}"} for number in range(200)]
    table = make(dedupe=True, concurrency=1)(rows)
    assert table["id"] == list(range(200))
    assert asked() == 10


def test_n_samples_are_n_rows_beside_each_other(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    simulator.set(fixed=False)
    table = make(model="simulated", n=3)(texts("One.", "Two."))
    assert table["text"] == ["One."] * 3 + ["Two."] * 3
    assert len(set(table["response"])) == 6
    assert asked() == 6
    fewer = make(model="simulated", n=2)(texts("One.", "Two."))
    assert fewer["response"] == [table["response"][place] for place in (0, 1, 3, 4)]
    assert asked() == 0, "the first draws are the same ones"
    shared = make(model="simulated", n=2, dedupe=True)(texts("One.", "One."))
    assert shared["response"] == 2 * table["response"][:2]
    assert asked() == 0


def test_several_draws_at_temperature_0_warn(make: Make) -> None:
    with pytest.warns(UserWarning, match="n=2 at temperature 0"):
        make(n=2, generation_params={"temperature": 0})(texts("One."))


def test_off_asks_anew_and_leaves_what_others_find(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    rows = numbered(5)
    make()(rows)
    make(cache="off")(rows)
    make(cache="off")(rows)
    assert asked() == 15
    make()(rows)
    assert asked() == 0


def test_refresh_replaces_what_others_find(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    rows = numbered(5)
    simulator.set(fixed=True)
    old = make(model="simulated")(rows)
    simulator.set(fixed=False)
    new = make(model="simulated", cache="refresh")(rows)
    assert asked() == 10
    assert make(model="simulated")(rows)["response"] == new["response"] != old["response"]
    assert asked() == 0


def test_read_sends_nothing_and_a_miss_is_a_failure(make: Make, asked: Callable[[], int]) -> None:
    make()(numbered(3))
    assert asked() == 3
    table = make(cache="read")(numbered(5))
    assert table["id"] == [0, 1, 2]
    assert table.failures["row"] == [3, 4]
    assert table.failures["kind"] == ["not_recorded"] * 2
    assert asked() == 0


def test_read_needs_no_key(bench: Workbench, simulator: Simulator) -> None:
    with_key = Endpoint("openai", "simulated-echo", simulator.url, key="a-key-of-no-worth")
    Prompter(with_key, lambda row: row["text"], workbench=bench)(texts("one"))
    without = Endpoint("openai", "simulated-echo", simulator.url, key="env:NOT_SET_ANYWHERE")
    table = Prompter(without, lambda row: row["text"], cache="read", workbench=bench)(texts("one"))
    assert table["response"] == ["one"]


def test_what_is_recorded_costs_nothing_the_second_time(
    make: Make, at: Callable[..., Endpoint], bench: Workbench
) -> None:
    from penstock.endpoint import Prices

    model = at("simulated-echo", prices=Prices(Decimal(1), Decimal(2)))
    prompter = Prompter(model, lambda row: row["text"], workbench=bench)
    first, second = prompter(texts("one", "two")), prompter(texts("one", "two"))
    assert first.run.cost > 0 and first.run.tokens > 0
    assert second.run.cost == 0 and second.run.tokens == 0
    assert second.run.counters["recorded"] == 2


def test_two_runs_at_once_that_ask_the_same_pay_once(
    make: Make, asked: Callable[[], int], simulator: Simulator
) -> None:
    from threading import Thread

    simulator.set(latency="20")
    prompter = make()
    tables: list[Any] = []
    threads = [Thread(target=lambda: tables.append(prompter(numbered(50)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked() == 50
    assert [len(table) for table in tables] == [50] * 3
    assert sum(table.run.counters["asked"] for table in tables) == 50
