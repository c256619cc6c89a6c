"""The lane that a job takes when it is left to the rule."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.lanes import Prospect, has_batches, lane_for
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate import Prompter
from penstock.providers import resolve
from penstock.simulator import Simulator
from tests.generate.conftest import numbered

CHEAP = Prices(Decimal("0.1"), Decimal("0.4"), batch_input=Decimal("0.05"))
DEAR = Prices(Decimal(10), Decimal(1000), batch_input=Decimal(5))


@pytest.mark.parametrize(
    ("prospect", "lane"),
    [
        (Prospect(True, 5_000), "online"),
        (Prospect(True, 5_001), "batch"),
        (Prospect(False, 5_001), "online"),
        (Prospect(True, 10, saving=Decimal("1.00")), "online"),
        (Prospect(True, 10, saving=Decimal("1.01")), "batch"),
        (Prospect(False, 10, saving=Decimal("1.01")), "online"),
        (Prospect(True, 10, waiting=1), "batch"),
        (Prospect(True, 0, saving=Decimal(0)), "online"),
    ],
)
def test_many_dear_or_waiting_questions_go_by_batch(prospect: Prospect, lane: str) -> None:
    assert lane_for(prospect) == lane


@pytest.mark.parametrize(
    ("model", "there"),
    [
        ("gpt-4o-mini", True),
        ("anthropic/claude-sonnet-4-5", True),
        ("gemini/gemini-2.5-flash", True),
        ("simulated", False),
        ("http://localhost:8000/v1#llama", False),
        ("https://notopenai.com/v1#llama", False),
        ("https://api.openai.com.example/v1#llama", False),
    ],
)
def test_a_server_that_merely_speaks_a_protocol_has_no_batch_lane_for_sure(
    model: str, there: bool
) -> None:
    assert has_batches(resolve(model)) is there


def test_a_price_of_batches_says_that_there_are_some(at: Callable[..., Endpoint]) -> None:
    assert not has_batches(at("llama"))
    assert not has_batches(at("llama", prices=Prices(Decimal(1), Decimal(1))))
    assert has_batches(at("llama", prices=CHEAP))


def auto(bench: Workbench, endpoint: Endpoint) -> Prompter:
    return Prompter(
        endpoint,
        lambda row: row["text"],
        batch="auto",
        backend_params={"batch_check_interval": 0.1},
        workbench=bench,
    )


def test_a_small_cheap_job_goes_online_and_a_dear_one_by_batch(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    cheap, dear = at("llama", prices=CHEAP), at("big", prices=DEAR)
    assert auto(bench, cheap).estimate(numbered(20)).lane == "online"
    assert len(auto(bench, cheap)(numbered(20))) == 20
    assert simulator.batches() == []
    found = auto(bench, dear).estimate(numbered(20))
    assert (found.lane, found.cost - found.batch_cost > 1) == ("batch", True)
    assert len(auto(bench, dear)(numbered(20))) == 20
    assert simulator.summary()["lines"] == 20


def test_what_is_answered_does_not_count(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    dear = at("big", prices=DEAR)
    auto(bench, dear)(numbered(20))
    assert auto(bench, dear).estimate(numbered(21)).lane == "online"


def test_a_generator_is_left_to_the_rule_too(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0)
    table = auto(bench, at("big", prices=DEAR))(row for row in numbered(20))
    assert [row["id"] for row in table] == list(range(20))
    assert simulator.summary()["lines"] == 20


@pytest.mark.parametrize("batch", ["yes", 2, None])
def test_any_other_word_is_refused(batch: object) -> None:
    with pytest.raises(InputError, match="batch is"):
        Prompter("simulated", lambda row: "", batch=batch)  # type: ignore[arg-type]


def test_what_must_be_asked_anew_cannot_go_by_batch(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    with pytest.raises(InputError, match="refresh"):
        Prompter(at("llama"), lambda row: "", batch=True, cache="refresh", workbench=bench)


def test_read_only_sends_nothing_in_the_batch_lane_either(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    model = at("llama")
    prompter = Prompter(model, lambda row: row["text"], batch=True, cache="read", workbench=bench)
    table = prompter(numbered(3))
    assert [failure["kind"] for failure in table.failures] == ["not_recorded"] * 3
    assert simulator.batches() == []


def test_an_online_run_leaves_what_lies_in_an_open_batch(
    bench: Workbench, at: Callable[..., Endpoint], simulator: Simulator
) -> None:
    simulator.set(batch_seconds=3600)
    model = at("llama")
    lazy = Prompter(model, lambda row: row["text"], batch=True, wait=False, workbench=bench)
    assert lazy(numbered(5)).run.state == "waiting"
    table = Prompter(model, lambda row: row["text"], workbench=bench)(numbered(8))
    assert [row["id"] for row in table] == [5, 6, 7]
    assert table.run.state == "waiting"
    assert simulator.summary()["answered"] == 3
    simulator.advance_batches()
    table = lazy(numbered(8))
    assert ([row["id"] for row in table], table.run.state) == (list(range(8)), "completed")
    assert (simulator.summary()["lines"], len(simulator.batches())) == (5, 1)
