"""What goes wrong stays where it is: a prompt, an endpoint, a judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError
from penstock.simulator import Simulator
from tests.bench.bench_kit import JUDGE, Run, bodies, recipe, sent, statuses, template, told, values
from tests.grade.grade_gate import Gate

At = Callable[..., Endpoint]


def test_one_failed_prompt_is_one_counted_error(
    run: Run, at: At, gate: Gate, tmp_path: Path
) -> None:
    gate.refuse("What is 2 and 2?")
    done = run(recipe(tmp_path), endpoints=at("simulated-echo", url=gate.url))
    assert statuses(done) == ["answered", "answered", "failed", "answered", "answered"]
    [found] = done.result.recipes[0].endpoints
    assert found.failures == {"invalid_request": 1}
    assert found.metrics[0].scored == 4 and found.metrics[0].no_answer == 1
    item = list(done)[2]
    assert item.answer is None and "the gate says no" in item.error and item.attempts == 1
    assert (done.result.state, done.result.status) == (
        "completed with failures",
        "completed_with_errors",
    )
    lines = (done.folder / "failures.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == [2]


def test_an_endpoint_whose_key_is_wrong_fails_alone(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(key="the-right-key")
    models = [at("simulated-echo", key="a-wrong-key"), at("simulated", key="the-right-key")]
    done = run(recipe(tmp_path, count=40), endpoints=models)
    wrong, right = done.result.recipes[0].endpoints
    assert (wrong.failed, wrong.answered) == (40, 0) and wrong.failures == {"authentication": 40}
    assert (right.failed, right.answered) == (0, 40)
    [problem] = done.result.problems
    assert problem.startswith("openai/simulated-echo: 40 questions failed, authentication; the")
    assert "wrong-key" not in problem
    assert done.result.state == "completed with failures" and len(done) == 80


def test_when_every_endpoint_is_dead_it_is_one_clear_error(
    run: Run, at: At, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(key="the-right-key")
    models = [at("simulated-echo", key="a-wrong-key"), at("simulated", key="another-wrong-key")]
    with pytest.raises(ApiError, match="answered nothing: authentication") as caught:
        run(recipe(tmp_path, count=30), endpoints=models)
    assert "Put its key right" in caught.value.remedy
    [row] = bench.catalog.all_runs()
    assert row["state"] == "failed"


def test_retried_after_the_cause_is_gone_only_the_failed_ones_are_asked(
    run: Run, at: At, gate: Gate, simulator: Simulator, tmp_path: Path
) -> None:
    what, model = recipe(tmp_path, count=12), at("simulated-echo", url=gate.url)
    gate.refuse("What is 3 and 3?", "What is 7 and 7?")
    assert statuses(run(what, endpoints=model)).count("failed") == 2 and sent(simulator) == 10
    gate.refuse()
    done = run(what, endpoints=model)
    assert statuses(done) == ["answered"] * 12 and sent(simulator) == 12
    assert [item.recorded for item in done].count(False) == 2


def test_a_budget_that_is_spent_stops_the_run_and_keeps_what_is_done(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    model = at(prices=Prices(Decimal(1000), Decimal(1000)), params={"max_tokens": 50})
    what = recipe(tmp_path, count=30)
    done = run(what, endpoints=model, budget="0.5")
    assert done.result.state == "stopped" and 0 < len(done) < 30
    assert "budget" in done.result.message
    assert done.result.problems == (
        f"{30 - len(done)} questions were not asked: the run was stopped before",
    )
    assert Decimal(done.result.counters["cost"]) <= Decimal("0.5")
    assert len(run(what, endpoints=model)) == 30 and sent(simulator) == 30


# Judges ------------------------------------------------------------------------------------------


def test_a_judge_is_asked_about_every_answer_and_recorded(
    run: Run, at: At, saved: Any, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    judge = saved("judge", "simulated")
    metrics = [{**JUDGE, "judge": judge}, "refusal_judge", "contains"]
    what = recipe(tmp_path, count=6, metrics=metrics, judge=judge)
    done = run(what, endpoints=at("simulated-echo"))
    assert sent(simulator) == 18 and set(done.result.judges) == {"judge"}
    scores = [{score.metric: score for score in item.scores} for item in done]
    assert all(list(each) == ["llm_judge", "refusal_judge", "contains"] for each in scores)
    assert all(each["llm_judge"].value is not None and each["llm_judge"].reason for each in scores)
    asked = bodies(bench, done, tmp_path)
    assert len(asked) == 18, "the journal knows which questions each item asked"
    assert sum("Is it clear?" in json.dumps(body) for body in asked) == 6
    again = run(what, endpoints=at("simulated-echo"))
    assert sent(simulator) == 18 and told(again) == told(done)


def test_the_runs_judge_stands_over_every_other(
    run: Run, at: At, saved: Any, simulator: Simulator, tmp_path: Path
) -> None:
    saved("theirs", "simulated")
    saved("mine", "simulated-invalid")
    what = recipe(tmp_path, count=2, metrics=[{**JUDGE, "judge": "theirs"}], judge="theirs")
    done = run(what, endpoints=at("simulated-echo"), judge="mine")
    models = {entry["model"] for entry in simulator.ledger()}
    assert models == {"simulated-echo", "simulated-invalid"} and set(done.result.judges) == {"mine"}
    assert None not in values(done, "llm_judge"), "a judge that errs is told so and asked again"


def test_a_judge_that_fails_gives_errors_and_the_answers_are_kept(
    run: Run, at: At, saved: Any, gate: Gate, simulator: Simulator, tmp_path: Path
) -> None:
    saved("judge", url=gate.url)
    gate.rule = lambda body: 401
    what = recipe(tmp_path, count=8, metrics=["contains", JUDGE], judge="judge")
    done = run(what, endpoints=at("simulated-echo"))
    assert statuses(done) == ["answered"] * 8 and values(done, "contains") == [1.0] + [0.0] * 7
    [found] = done.result.recipes[0].endpoints
    assert found.answered == 8 and found.metrics[1].errors == 8 and found.metrics[1].scored == 0
    assert done.result.state == "completed with failures", "nobody takes it for a clean run"
    [problem] = done.result.problems
    assert problem.startswith("llm_judge: 8 answers have no score, because their judge failed")
    rows = [json.loads(line) for line in (done.folder / "failures.jsonl").read_text().splitlines()]
    assert [row["column"] for row in rows] == ["llm_judge"] * 8
    gate.refuse()
    healed = run(what, endpoints=at("simulated-echo"))
    assert healed.result.state == "completed" and None not in values(healed, "llm_judge")
    assert sent(simulator) == 16, "the answers were there; only the judge was asked"


def test_a_judge_that_will_not_judge_is_no_failure(
    run: Run, at: At, saved: Any, tmp_path: Path
) -> None:
    saved("prim", "simulated-refuse")
    what = recipe(tmp_path, count=3, metrics=[JUDGE], judge="prim")
    done = run(what, endpoints=at("simulated-echo"))
    [found] = done.result.recipes[0].endpoints
    assert found.metrics[0].refused == 3 and found.metrics[0].mean.value is None
    assert done.result.state == "completed"


def test_an_answer_whose_judge_could_not_be_paid_is_left_for_later(
    run: Run, at: At, saved: Any, simulator: Simulator, tmp_path: Path
) -> None:
    saved("judge", prices={"input": "1000", "output": "1000"})
    model = at("simulated-echo", prices=Prices(Decimal(0), Decimal(0)))
    what = recipe(tmp_path, count=10, metrics=[JUDGE], judge="judge")
    done = run(what, endpoints=model, budget="1.5")
    assert done.result.state == "stopped" and len(done) < 10
    assert None not in values(done, "llm_judge"), "no item is half done"
    whole = run(what, endpoints=model)
    assert len(whole) == 10 and None not in values(whole, "llm_judge") and sent(simulator) == 20


# Told before anything is sent --------------------------------------------------------------------


TURNED = {"A": [0, 50], "B": [51, 100]}
MISPLACED = {"metric": "llm_judge", "params": {"endpoint": "x"}}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "template": ({"templates": ["./t.yaml"]}, r"\{\{ hitn \}\}.*\n.*Did you mean"),
    "metric": ({"metrics": ["exact_mach"]}, r"exact_mach(.|\n)*exact_match"),
    "parameter": ({"metrics": [{"metric": "contains", "params": {"x": 1}}]}, "contains"),
    "dataset": ({"datasets": ["./gone.yaml"]}, "there is no file .*gone.yaml"),
    "id": ({"datasets": ["arithmetik"]}, "Did you mean 'arithmetic'"),
    "judge": ({"metrics": [JUDGE]}, "no judge is named\n.*--judge"),
    "place": ({"metrics": [MISPLACED], "judge": "x/y"}, "has an endpoint among its parameters"),
    "backward": ({"grading": TURNED}, "of exact_match higher is better"),
    "no bounds": ({"metrics": ["edit_distance"], "grading": TURNED}, "no bounds"),
    "reducer": ({"reducer": "pass@3", "epochs": 2}, "pass@3 needs 3 epochs or more"),
    "parameters": ({"params": {"stream": True}}, "stream cannot be given"),
}


@pytest.mark.parametrize("which", WRONG)
def test_what_is_wrong_with_a_recipe_is_told_before_anything_is_sent(
    run: Run, bench: Workbench, simulator: Simulator, tmp_path: Path, which: str
) -> None:
    template(tmp_path, "t", "{{ prompt }} {{ hitn }}")
    wishes, message = WRONG[which]
    with pytest.raises(InputError, match=message):
        run(recipe(tmp_path, **wishes))
    assert sent(simulator) == 0
    assert not bench.workspace.exists or bench.catalog.all_runs() == []


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"sample": "0"}, "the sample is '0'"),
        ({"sample": "101%"}, "the sample is '101%'"),
        ({"sample": "a few"}, "Give a number of examples"),
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": True}, "epochs is True"),
        ({"reducer": "best"}, "there is no reducer 'best'"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"budget": "much"}, "budget is 'much'"),
        ({"budget": "1"}, "price"),
        ({"lane": "slow"}, "lane is 'slow'"),
        ({"cache": "never"}, "cache is 'never'"),
        ({"accuracy": {"contians": (0.9, 0.9)}}, "by which nothing is measured"),
        ({"accuracy": {"exact_match": (0.9, 1.9)}}, "1.9"),
        ({"samples": 3}, "there is no option 'samples'"),
        ({"on_item": "print"}, "on_item is 'print'"),
        ({"webhooks": ["ftp://here/x"]}, "the address of the webhook cannot be used"),
        ({"webhooks": ["http://169.254.169.254/x"]}, "the address of the webhook cannot be used"),
    ],
)
def test_what_is_wrong_with_a_wish_is_told_before_anything_is_sent(
    run: Run, simulator: Simulator, tmp_path: Path, wishes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(recipe(tmp_path), **wishes)
    assert sent(simulator) == 0


def test_the_same_endpoint_twice_is_told(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="named twice"):
        run(recipe(tmp_path), endpoints=[at(), at()])
    with pytest.raises(InputError, match="name all endpoints, or give all as objects"):
        run(recipe(tmp_path), endpoints=[at(), "simulated"])
    assert sent(simulator) == 0


def test_a_judge_without_its_key_is_told_before_anything_is_sent(
    run: Run, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    spec = {"provider": "openai", "model": "m", "url": simulator.url, "key": "env:NOT_THERE"}
    bench.catalog.save_endpoint("judge", spec)
    with pytest.raises(ApiError, match="NOT_THERE"):
        run(recipe(tmp_path, metrics=[JUDGE], judge="judge"))
    assert sent(simulator) == 0
