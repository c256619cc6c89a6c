"""A benchmark run: what is asked, of whom, how often. The server's ledger judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.bench.item import ItemStatus
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.simulator import Simulator
from tests.bench.bench_kit import (
    Run,
    bodies,
    cookbook,
    dataset,
    recipe,
    said,
    sent,
    statuses,
    sums,
    template,
    told,
    values,
)

At = Callable[..., Endpoint]


def test_every_example_template_endpoint_and_epoch_is_asked_once(
    run: Run, at: At, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    short = template(tmp_path, "short", "Shortly: {{ prompt }}")
    hinted = template(tmp_path, "hinted", "{{ prompt }} ({{ hint }})")
    datasets = [dataset(tmp_path, "a", sums(3)), dataset(tmp_path, "b", sums(2, 10))]
    first = recipe(tmp_path, "first", datasets=datasets, templates=[short, hinted], epochs=2)
    second = recipe(tmp_path, "second", datasets=datasets[:1], metrics=["contains"])
    models = [at("simulated"), at("simulated-echo")]
    done = run([first, second], endpoints=models)
    expected = [
        (name, data, form, place, epoch, model.label)
        for name, forms, parts, epochs in (
            ("first", ("short", "hinted"), (("a", 3), ("b", 2)), 2),
            ("second", ("",), (("a", 3),), 1),
        )
        for data, count in parts
        for form in forms
        for place in range(count)
        for epoch in range(epochs)
        for model in models
    ]
    found = [(i.recipe, i.dataset, i.template, i.example, i.epoch, i.endpoint) for i in done]
    assert found == expected and len(expected) == 46
    assert [item.number for item in done] == list(range(46)), "the numbers have no gaps"
    assert sent(simulator) == 46 and simulator.summary()["by_status"] == {"200": 46}
    ledger = simulator.ledger()
    assert Counter(entry["model"] for entry in ledger) == {"simulated": 23, "simulated-echo": 23}
    asked = [said(body) for body in bodies(bench, done, tmp_path)]
    assert asked == [[item.prompt] for item in done]
    assert {item.prompt for item in done if item.template == "hinted"} == {
        *(f"What is {n} and {n}? (twice {n})" for n in (0, 1, 2, 10, 11))
    }
    assert all(item.answer == item.prompt for item in done if "echo" in item.endpoint)
    assert done.result.state == done.result.status == "completed"


def test_the_same_command_again_sends_nothing_and_gives_the_same(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="0-20")
    what = recipe(tmp_path, count=30, metrics=["contains", "rouge1", "edit_similarity"])
    models = [at(), at("simulated-echo")]
    first = run(what, endpoints=models)
    again = run(what, endpoints=models)
    assert sent(simulator) == 60 and again.id != first.id
    assert told(again) == told(first)
    assert again.result.recipes == first.result.recipes
    assert all(item.recorded for item in again) and not any(item.recorded for item in first)
    assert again.result.counters["recorded"] == 60 and again.result.counters["asked"] == 0


def test_epochs_are_drawn_anew_and_equal_questions_of_one_epoch_are_not(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    twice = [*sums(2), *sums(2)]
    what = recipe(tmp_path, datasets=[dataset(tmp_path, "d", twice)], epochs=3)
    done = run(what)
    assert sent(simulator) == 6, "two questions, three times each"
    by_question = {(i.prompt, i.epoch): i.answer for i in done}
    assert len(set(by_question.values())) == 6
    assert len({(i.id, i.epoch) for i in done}) == len(done) == 12, "equal examples stay apart"
    assert all(by_question[item.prompt, item.epoch] == item.answer for item in done)


def test_the_runs_system_prompt_and_parameters_stand_over_the_recipes(
    run: Run, at: At, bench: Workbench, tmp_path: Path
) -> None:
    what = recipe(
        tmp_path, count=1, system_prompt="Be kind.", params={"temperature": 0.5, "top_p": 0.9}
    )
    endpoint = at(params={"max_tokens": 7, "temperature": 0.1})
    usual = bodies(bench, run(what, endpoints=endpoint), tmp_path)[0]
    assert said(usual, "system") == ["Be kind."]
    assert (usual["max_tokens"], usual["temperature"], usual["top_p"]) == (7, 0.5, 0.9)
    other = run(what, endpoints=endpoint, system_prompt="Be brief.", params={"temperature": 1})
    changed = bodies(bench, other, tmp_path)[0]
    assert said(changed, "system") == ["Be brief."]
    assert (changed["max_tokens"], changed["temperature"], changed["top_p"]) == (7, 1, 0.9)
    bare = bodies(bench, run(what, endpoints=endpoint, system_prompt=""), tmp_path)[0]
    assert said(bare, "system") == []


@pytest.mark.parametrize(("sample", "count"), [(4, 4), ("4", 4), ("25%", 5), ("0.1%", 1), (99, 20)])
def test_a_sample_is_drawn_by_its_seed_and_stays_in_the_order_of_the_file(
    run: Run, simulator: Simulator, tmp_path: Path, sample: Any, count: int
) -> None:
    what = recipe(tmp_path, count=20)
    one = run(what, sample=sample, seed=7)
    places = [item.example for item in one]
    assert len(places) == count == sent(simulator) and places == sorted(set(places))
    assert [item.number for item in one] == list(range(count))
    assert [item.example for item in run(what, sample=sample, seed=7)] == places
    assert sent(simulator) == count
    if 1 < count < 20:
        assert [item.example for item in run(what, sample=sample, seed=8)] != places
    whole = {item.example: item.id for item in run(what)}
    assert all(whole[item.example] == item.id for item in one), "an example keeps its name"


def test_a_cookbook_is_its_recipes_and_a_recipe_of_two_books_is_asked_once(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    one, two = recipe(tmp_path, "One Recipe", count=2), recipe(tmp_path, "two", count=3)
    first = cookbook(tmp_path, "first", ["./One Recipe.yaml", "two.yaml"])
    second = cookbook(tmp_path, "second", ["two.yaml"])
    done = run([first, second, one])
    assert [each.id for each in done.result.recipes] == ["one-recipe", "two"]
    assert len(done) == 5 and sent(simulator) == 3, "both recipes ask the first two sums"
    assert [(book.id, book.recipes) for book in done.result.cookbooks] == [
        ("first", ("one-recipe", "two")),
        ("second", ("two",)),
    ]
    assert [grade.recipes for book in done.result.cookbooks for grade in book.grades] == [2, 1]
    assert run(two).result.recipes[0].prompts == 3


def test_an_example_that_cannot_be_asked_is_a_counted_failure_of_its_own(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    rows = [*sums(2), {"input": "", "target": "x"}, {"target": "y"}, {"input": ["a"]}]
    form = template(tmp_path, "t", "{{ prompt }}{% if hint is defined %} {{ hint }}{% endif %}")
    what = recipe(tmp_path, datasets=[dataset(tmp_path, "d", rows)], templates=[form])
    done = run(what)
    assert statuses(done) == ["answered"] * 2 + ["failed"] * 3 and sent(simulator) == 2
    failed = [item for item in done if item.status is ItemStatus.FAILED]
    assert {item.failure for item in failed} == {"input"}
    assert [item.error for item in failed] == [
        "its input is empty",
        "it has no input",
        "its input is of type list; a text is wanted",
    ]
    [found] = done.result.recipes[0].endpoints
    assert (found.items, found.answered, found.failed) == (5, 2, 3)
    assert found.metrics[0].no_answer == 3 and found.metrics[0].scored == 2
    assert done.result.state == "completed with failures"


def test_refusals_are_counted_apart(run: Run, at: At, tmp_path: Path) -> None:
    what = recipe(tmp_path, count=4, metrics=["exact_match", "refusal"])
    done = run(what, endpoints=at("simulated-refuse"))
    [found] = done.result.recipes[0].endpoints
    assert statuses(done) == ["refused"] * 4
    assert (found.answered, found.refused, found.failed) == (0, 4, 0)
    exact, refusal = found.metrics
    assert (exact.refused, exact.scored, exact.mean.value) == (4, 0, None)
    assert refusal.scored == 4 and refusal.mean.value == 1.0
    assert done.result.state == "completed", "a refusal is an answer"


def test_texts_of_any_kind_are_asked_measured_and_kept(
    run: Run, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    odd = [
        "naïve 日本語 🙂",
        "a\x00b\x1b[31m",
        "{{ no_template }} {x}",
        "line\nline",
        "\u202eabc",
    ]
    rows = [{"input": text, "target": [text, "other"]} for text in odd]
    what = recipe(tmp_path, datasets=[dataset(tmp_path, "d", rows)], metrics=["exact_match"])
    done = run(what, endpoints=at("simulated-echo"))
    assert [item.answer for item in done] == odd == [item.prompt for item in done]
    assert values(done, "exact_match") == [1.0] * 5
    assert [item.target for item in done] == [(text, "other") for text in odd]


def test_half_a_character_fails_its_own_question_only(run: Run, at: At, tmp_path: Path) -> None:
    lines = '{"input": "fine", "target": "\\ud800"}\n{"input": "half \\udfff", "target": "x"}\n'
    (tmp_path / "d.jsonl").write_text(lines + '{"input": "good", "target": "good"}\n')
    (tmp_path / "d.yaml").write_text("name: d\nfile: d.jsonl\n")
    done = run(recipe(tmp_path, datasets=["./d.yaml"]), endpoints=at("simulated-echo"))
    assert len(done) == 3 and statuses(done)[2] == "answered"
    assert values(done, "exact_match")[2] == 1.0


def test_the_cache_is_used_left_refreshed_or_all_there_is(
    run: Run, simulator: Simulator, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=4)
    nothing = run(what, cache="read")
    assert [item.failure for item in nothing] == ["not_recorded"] * 4 and sent(simulator) == 0
    first = run(what)
    assert told(run(what, cache="read")) == told(first) and sent(simulator) == 4
    for cache, asked in (("off", 8), ("refresh", 12)):
        again = run(what, cache=cache)
        assert not any(item.recorded for item in again)
        assert simulator.summary()["requests"] == asked
