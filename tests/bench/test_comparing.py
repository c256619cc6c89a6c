"""Two runs item by item: what is paired, what is not, what flipped, what is said."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.bench.comparing import (
    BenchComparison,
    Side,
    compare_endpoints,
    compare_results,
    flips_between,
)
from penstock.bench.item import Item
from penstock.bench.summary import Measuring
from penstock.errors import InputError
from penstock.metrics.metric import Metric
from penstock.metrics.score import ScoreStatus
from penstock.metrics.statistics import (
    Pairs,
    clustered_interval,
    permutation_test,
    risk_difference,
)
from penstock.metrics.text import ExactMatch
from penstock.tables import Table
from tests.bench.summary_kit import (
    Harm,
    Length,
    Share,
    Value,
    Yes,
    answers,
    item,
    measuring,
    result,
    table,
)
from tests.metrics.texts import patient

NO_ANSWER = ScoreStatus.NO_ANSWER


def side(
    items: Sequence[Item], label: str, recipes: Sequence[Measuring] = (measuring(),), **given: Any
) -> Side:
    """One run of the endpoint `m`."""
    given = {"id": f"run-{label}", **given}
    return Side(result(items, recipes, ["m"], **given), table(items), "m", label)


def compared(
    old: Sequence[Item], new: Sequence[Item], recipe: Measuring | None = None, **given: Any
) -> BenchComparison:
    recipes = [recipe or measuring()]
    return compare_results(side(old, "old", recipes), side(new, "new", recipes), **given)


def yes(a: Iterable[Value], b: Iterable[Value], **given: Any) -> BenchComparison:
    """Two runs by their values of yes and no."""
    return compared(answers(a), answers(b), **given)


# What is paired -----------------------------------------------------------------------------------


def test_two_runs_of_yes_and_no_are_tested_by_what_changed() -> None:
    found = yes([1] * 20 + [0] * 10, [1] * 18 + [0] * 2 + [1] * 9 + [0])
    [(recipe, metric, comparison)] = found.comparisons
    assert (recipe, metric, comparison.kind) == ("r", "yes", "binary")
    assert comparison.p == pytest.approx(stats.binomtest(2, 11).pvalue)
    assert comparison.difference.value == pytest.approx(7 / 30)
    assert (len(comparison.better), len(comparison.worse), comparison.same) == (9, 2, 19)


def test_items_are_paired_by_their_id_and_not_by_their_place() -> None:
    items = answers([1, 0, 1, 0])
    shuffled = random.Random(1).sample(items, 4)
    assert [each.id for each in shuffled] != [each.id for each in items]
    found = compared(items, shuffled)
    assert found.comparisons[0].comparison.same == 4
    assert found.flips == ()


def test_changed_items_are_named_by_their_row_in_the_first_table() -> None:
    old = [item("x", 1, endpoint="other"), *answers([1, 0, 1])]
    new = answers([0, 0, 1])
    found = compared(old, new).comparisons[0].comparison
    assert found.worse == (1,)
    assert old[1].id == "q0"


def test_the_same_id_in_another_dataset_or_template_is_another_item() -> None:
    parts = [(dataset, template) for dataset in "de" for template in "st"]
    recipe = measuring(datasets=("d", "e"), templates=("s", "t"))

    def drawn(values: Sequence[int]) -> list[Item]:
        pairs = zip(parts, values, strict=True)
        return [item("q", value, dataset=d, template=t) for (d, t), value in pairs]

    comparison = compared(drawn([1, 1, 0, 0]), drawn([1, 0, 1, 0]), recipe).comparisons[0][2]
    assert (comparison.pairs, comparison.same) == (4, 2)


def test_what_only_one_side_was_asked_is_counted_and_not_compared() -> None:
    found = yes([1, 0, 1, 1], [1, 1])
    assert found.only == (("r", 2, 0),)
    comparison = found.comparisons[0].comparison
    assert (comparison.pairs, comparison.missing_b) == (2, 0)
    assert "Note: examples of r: 2 only in old" in found.lines()


def test_what_has_no_value_is_left_out_and_told() -> None:
    found = yes([1, NO_ANSWER, 1, NO_ANSWER], [1, 1, NO_ANSWER, NO_ANSWER])
    comparison = found.comparisons[0].comparison
    assert (comparison.pairs, comparison.missing_a, comparison.missing_b) == (1, 1, 1)
    assert comparison.missing_both == 1
    said = "1 without a value in old, 1 without a value in new, 1 without a value in either"
    assert f"    left out: {said}" in found.lines()


def test_epochs_are_reduced_before_items_are_paired() -> None:
    def drawn(*values: Sequence[float]) -> list[Item]:
        return [
            item(f"q{at}", value, epoch=epoch)
            for at, draws in enumerate(values)
            for epoch, value in enumerate(draws)
        ]

    old, new = drawn([1, 1, 1], [0, 0, 1]), drawn([1, 0, 0], [0, 0, 1])
    comparison = compared(old, new, measuring(epochs=3)).comparisons[0][2]
    assert (comparison.pairs, comparison.kind) == (2, "numeric")
    assert comparison.difference.value == pytest.approx(-1 / 3)
    by_mode = compared(old, new, measuring(epochs=3, reducer="mode")).comparisons[0][2]
    assert (by_mode.kind, by_mode.difference.value) == ("binary", -0.5)


def test_examples_in_several_templates_are_compared_as_groups() -> None:
    chance = random.Random(5)
    recipe = measuring(templates=("s", "t"))

    def drawn(share: float) -> list[Item]:
        return [
            item(f"q{at}", float(chance.random() < share), template=name)
            for at in range(12)
            for name in ("s", "t")
        ]

    old, new = drawn(0.3), drawn(0.8)
    comparison = compared(old, new, recipe).comparisons[0].comparison
    changes = [b.scores[0].value - a.scores[0].value for a, b in zip(old, new, strict=True)]  # type: ignore[operator]
    groups = [each.id for each in old]
    assert comparison.tests == (permutation_test(changes, clusters=groups),)
    known = clustered_interval(changes, groups)
    assert (comparison.difference.low, comparison.difference.n) == (known.low, 12)


def test_where_lower_is_better_a_fall_is_for_the_better() -> None:
    recipe = measuring(metrics={"harm": Harm()})
    old, new = answers([1] * 12 + [0] * 3, "harm"), answers([0] * 12 + [0] * 3, "harm")
    found = compared(old, new, recipe)
    assert [one.metric for one in found.better] == ["harm"]
    assert {flip.became for flip in found.flips} == {"better"}
    assert found.comparisons[0].comparison.verdict == "better"


# What cannot be compared --------------------------------------------------------------------------


class Yes2(Yes):
    name = "yes"
    version = 2


def reasons(found: BenchComparison) -> dict[tuple[str, str], str]:
    return {(one.recipe, one.metric): one.reason for one in found.incomparable}


def between(old: Sequence[Measuring], new: Sequence[Measuring]) -> BenchComparison:
    """Two runs of those recipes, each with one right item for each metric."""

    def made(recipes: Sequence[Measuring], label: str) -> Side:
        items = [
            item("q", dict.fromkeys(recipe.metrics, 1.0), recipe=recipe.id) for recipe in recipes
        ]
        return side(items, label, recipes)

    return compare_results(made(old, "old"), made(new, "new"))


def test_a_recipe_that_only_one_run_has_is_listed() -> None:
    found = between([measuring(id="a"), measuring(id="b")], [measuring(id="b"), measuring(id="c")])
    assert reasons(found) == {("a", ""): "it is only in old", ("c", ""): "it is only in new"}
    assert [one.recipe for one in found.comparisons] == ["b"]


def test_a_metric_that_only_one_run_has_is_listed() -> None:
    found = between(
        [measuring(metrics={"yes": Yes()})], [measuring(metrics={"yes": Yes(), "share": Share()})]
    )
    assert reasons(found) == {("r", "share"): "it is only in new"}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Yes2(), "it is yes version 1 in old and yes version 2 in new"),
        (Share(), "it is yes version 1 in old and share version 1 in new"),
    ],
)
def test_another_metric_of_the_same_label_is_listed(other: Metric, said: str) -> None:
    found = between([measuring()], [measuring(metrics={"yes": other})])
    assert reasons(found) == {("r", "yes"): said}
    assert not found.comparisons
    assert "There is nothing to compare" in str(found)
    assert f"  r, yes: {said}" in found.lines()


def test_epochs_that_are_reduced_otherwise_are_not_compared() -> None:
    found = between([measuring(epochs=2)], [measuring(epochs=2, reducer="max")])
    assert reasons(found) == {
        ("r", "yes"): "its epochs are reduced by mean in old and by max in new"
    }


def test_one_recipe_or_metric_can_be_chosen() -> None:
    recipes = [measuring(id=name, metrics={"yes": Yes(), "share": Share()}) for name in ("a", "b")]
    items = [item("q", {"yes": 1, "share": 0.5}, recipe=name) for name in ("a", "b")]
    one, other = side(items, "old", recipes), side(items, "new", recipes)
    found = compare_results(one, other, recipe="b", metric="share")
    assert [(recipe, metric) for recipe, metric, _ in found.comparisons] == [("b", "share")]
    assert found.incomparable == ()
    for named, said in (
        ({"recipe": "c"}, r"run-old and run-new has no recipe 'c'\nThere are: a, b\."),
        ({"metric": "bleu"}, r"has no metric 'bleu'\nThere are: yes, share\."),
    ):
        with pytest.raises(InputError, match=said):
            compare_results(one, other, **named)  # type: ignore[arg-type]


def test_an_endpoint_that_the_run_does_not_have_is_told() -> None:
    one = side(answers([1]), "old")
    with pytest.raises(InputError, match=r"run-old has no endpoint 'n'\nThere are: m\."):
        compare_results(one, Side(one.result, one.items, "n", "new"))


def test_a_table_that_is_not_one_of_items_is_told() -> None:
    one = side(answers([1]), "old")
    strange = Side(one.result, Table.from_rows([{"recipe": "r"}]), "m", "new")
    with pytest.raises(InputError, match="no column 'dataset'"):
        compare_results(one, strange)


# What else differs --------------------------------------------------------------------------------


def notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    items = answers([1])
    return compare_results(side(items, "old", **old), side(items, "new", **new)).notes


def test_settings_that_differ_are_told() -> None:
    old = {"settings": {"sample": 10, "seed": 1, "system_prompt": "", "params": {"top_p": 1}}}
    new = {"settings": {"sample": 100, "seed": 1, "system_prompt": "Be brief. " * 20}}
    assert notes(old, new) == (
        "the runs differ in sample: 10 in old, 100 in new",
        "the runs differ in system_prompt: none in old, "
        "Be brief. Be brief. Be brief. Be brief. Be brief. Be brief.… in new",
        "the runs differ in params: {'top_p': 1} in old, none in new",
    )
    assert notes(old, old) == ()


def test_endpoints_that_differ_are_told_but_not_in_what_changes_no_answer() -> None:
    old = {"endpoints": {"m": {"model": "x", "params": {"temperature": 0}, "timeout": 5}}}
    new = {"endpoints": {"m": {"model": "x", "params": {"temperature": 1}, "timeout": 9}}}
    [note] = notes(old, new)
    said = "params: {'temperature': 0} in old, {'temperature': 1} in new"
    assert note == f"the endpoints differ in {said}"


def test_an_unfinished_run_and_another_version_are_told() -> None:
    found = notes({"state": "cancelled", "version": "0.1"}, {"state": "completed with failures"})
    assert found == (
        "the run of old is cancelled: what it has not asked cannot be compared",
        "the runs were made by Penstock 0.1 and ?",
    )


def test_a_recipe_that_was_run_otherwise_is_told() -> None:
    found = between([measuring(epochs=1)], [measuring(epochs=2, templates=("s",))])
    assert set(found.notes) == {
        "r differs in templates: none in old, s in new",
        "r differs in epochs: 1 in old, 2 in new",
    }


def test_a_metric_with_other_parameters_is_told() -> None:
    made = [measuring(metrics={"n": ExactMatch(casefold=each)}) for each in (False, True)]
    found = between(made[:1], made[1:])
    assert found.notes == ("n of r differs in casefold: False in old, True in new",)
    assert len(found.comparisons) == 1


def test_prompts_and_targets_that_changed_are_told() -> None:
    old = [item("a", 1), item("b", 1), item("c", 1)]
    new = [item("a", 1, prompt="else"), item("b", 0, prompt="else"), item("c", 1, target=("5",))]
    found = compared([*old, item("d", 1, target=None)], [*new, item("d", 1, target=())])
    assert found.notes == (
        "r: 2 of 4 examples are asked in other words",
        "r: 2 of 4 examples are held to another target",
    )
    [flip] = found.flips
    assert (flip.prompt, flip.other_prompt) == ("ask b", "else")
    assert "    asked in new: else" in found.lines()


# Flips --------------------------------------------------------------------------------------------


def test_a_flip_tells_what_was_asked_and_what_both_answered() -> None:
    old = [item("a", 1), item("b", 0, answer="4", target=("5", "five"))]
    new = [item("a", 1), item("b", 1, answer="5", target=("5", "five"))]
    [flip] = compared(old, new).flips
    assert (flip.recipe, flip.metric, flip.dataset, flip.template, flip.id) == (
        "r", "yes", "d", "", "b",
    )  # fmt: skip
    assert (flip.became, flip.values, flip.rows) == ("better", (0.0, 1.0), (1, 1))
    assert (flip.prompt, flip.target, flip.answers) == ("ask b", ("5", "five"), ("4", "5"))


def test_flips_are_bounded_and_counted() -> None:
    found = yes([1] * 30 + [0] * 30, [0] * 30 + [1] * 30, most=5)
    assert (len(found.flips), found.flipped) == (5, 60)
    assert "Items that changed (5 of 60):" in found.lines()
    assert yes([1, 0], [0, 1], most=0).flips == ()


def test_equal_flips_take_turns_by_recipe_and_kind() -> None:
    recipes = [measuring(id="a"), measuring(id="b")]
    old = [*answers([1] * 4 + [0] * 4, recipe="a"), *answers([1, 1], recipe="b")]
    new = [*answers([0] * 4 + [1] * 4, recipe="a"), *answers([0, 0], recipe="b")]
    found = compare_results(side(old, "old", recipes), side(new, "new", recipes), most=5)
    assert [(flip.recipe, flip.became) for flip in found.flips] == [
        ("a", "worse"), ("b", "worse"), ("a", "better"), ("a", "worse"), ("b", "worse"),
    ]  # fmt: skip


def test_of_numbers_the_largest_changes_come_first() -> None:
    recipe = measuring(metrics={"length": Length()})
    old = answers([10, 10, 10, 10], "length")
    new = answers([11, 90, 10, 2], "length")
    flips = compared(old, new, recipe).flips
    assert [flip.values for flip in flips] == [(10, 90), (10, 2), (10, 11)]


def test_flips_are_those_of_the_first_metric_or_of_the_chosen_one() -> None:
    recipe = measuring(metrics={"yes": Yes(), "share": Share()})
    old = [item("a", {"yes": 1, "share": 0.5}), item("b", {"yes": 1, "share": 0.5})]
    new = [item("a", {"yes": 1, "share": 0.1}), item("b", {"yes": 0, "share": 0.5})]
    assert [flip.id for flip in compared(old, new, recipe).flips] == ["b"]
    assert [flip.id for flip in compared(old, new, recipe, metric="share").flips] == ["a"]


def test_with_several_epochs_the_answers_that_differ_most_are_shown() -> None:
    def drawn(*values: float) -> list[Item]:
        return [
            item("q", value, epoch=epoch, answer=f"{'right' if value else 'wrong'} {epoch}")
            for epoch, value in enumerate(values)
        ]

    [flip] = compared(drawn(0, 1, 1), drawn(1, 0, 0), measuring(epochs=3)).flips
    assert flip.answers == ("right 1", "wrong 1")
    assert flip.values == pytest.approx((2 / 3, 1 / 3))


# Several comparisons ------------------------------------------------------------------------------


def test_p_values_are_corrected_for_all_recipes_and_metrics_together() -> None:
    recipes = [measuring(id=name) for name in ("a", "b", "c")]
    worse = {"a": 9, "b": 7, "c": 1}
    old = [each for name in worse for each in answers([1] * 20, recipe=name)]
    new = [
        each
        for name, count in worse.items()
        for each in answers([0] * count + [1] * (20 - count), recipe=name)
    ]
    found = compare_results(side(old, "old", recipes), side(new, "new", recipes))
    p = {name: stats.binomtest(0, count).pvalue for name, count in worse.items()}
    adjusted = {one.recipe: one.comparison.adjusted for one in found.comparisons}
    assert adjusted["a"] == pytest.approx(3 * p["a"])
    assert adjusted["b"] == pytest.approx(2 * p["b"])
    assert adjusted["c"] == 1.0
    assert [one.recipe for one in found.worse] == ["a", "b"]
    assert [one.recipe for one in found.unclear] == ["c"]


counts = st.tuples(*[st.integers(0, 12)] * 3)


@patient
@given(st.lists(counts, min_size=1, max_size=5))
def test_correcting_only_raises_and_keeps_the_order(many: list[tuple[int, int, int]]) -> None:
    recipes = [measuring(id=f"r{at}") for at in range(len(many))]

    def drawn(of: int) -> list[Item]:
        kinds = ((1, 0), (0, 1), (1, 1))
        return [
            item(f"q{kind}-{at}", kinds[kind][of], recipe=recipe.id)
            for recipe, times in zip(recipes, many, strict=True)
            for kind, number in enumerate(times)
            for at in range(number)
        ]

    old, new = drawn(0), drawn(1)
    if not old:
        return
    found = compare_results(side(old, "old", recipes), side(new, "new", recipes))
    pairs = [
        (one.comparison.p, one.comparison.adjusted)
        for one in found.comparisons
        if one.comparison.p is not None
    ]
    assert all(p <= (adjusted or 0) <= 1 for p, adjusted in pairs)
    ordered = [adjusted for _, adjusted in sorted(pairs, key=lambda pair: pair[0])]
    assert ordered == sorted(ordered, key=lambda each: each or 0)


numbers = st.sampled_from([0.0, 1.0, 0.5, NO_ANSWER])
runs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=25)


@patient
@given(runs, st.booleans())
def test_exchanging_the_sides_mirrors_what_is_found(
    values: list[tuple[Value, Value]], templates: bool
) -> None:
    recipe = measuring(metrics={"share": Share()}, templates=("s", "t") if templates else ())

    def drawn(of: int) -> list[Item]:
        return [
            item(f"q{at // 2}" if templates else f"q{at}", {"share": each[of]},
                 template="st"[at % 2] if templates else "")
            for at, each in enumerate(values)
        ]  # fmt: skip

    one, other = compared(drawn(0), drawn(1), recipe), compared(drawn(1), drawn(0), recipe)
    a, b = one.comparisons[0].comparison, other.comparisons[0].comparison
    assert (a.p, a.pairs, a.missing_a) == (b.p, b.pairs, b.missing_b)
    assert (set(a.better), set(a.worse)) == (set(b.worse), set(b.better))
    if a.difference.value is not None and b.difference.value is not None:
        assert a.difference.value == pytest.approx(-b.difference.value)
    assert {(flip.id, flip.template, flip.values) for flip in one.flips} == {
        (flip.id, flip.template, flip.values[::-1]) for flip in other.flips
    }


# In words and as data -----------------------------------------------------------------------------


def test_a_comparison_is_told_in_lines() -> None:
    found = yes([1] * 8 + [0], [0] * 8 + [1], most=1)
    known = risk_difference(Pairs(both=0, only_a=8, only_b=1, neither=0))
    limits = f"95 % interval {known.low:+.4g} to {known.high:+.4g}"
    assert found.lines() == [
        "new against old",
        "Worse, beyond what chance explains:",
        f"  r, yes: 0.8889 to 0.1111 (-0.7778; {limits}; higher is better)",
        "    1 better, 8 worse, 0 the same; p = 0.0391 by exact McNemar",
        "Items that changed (1 of 9):",
        "  worse: r, d, q0: yes 1 to 0",
        "    asked: ask q0",
        "    target: target q0",
        "    old: answer q0",
        "    new: answer q0",
    ]
    assert str(found) == "\n".join(found.lines())


def test_what_is_unclear_says_what_so_many_items_could_show() -> None:
    said = str(yes([1, 0, 1, 0, 1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 0, 1, 0, 1, 1, 1]))
    assert "No more than chance can explain:" in said
    assert "would show four times in five" in said


def test_nothing_that_a_model_wrote_is_obeyed_by_a_terminal() -> None:
    old = [item("a", 1, answer="\x1b[2J\x1b]0;pwned\x07", prompt="line\none")]
    new = [item("a", 0, answer=None)]
    lines = compared(old, new).lines()
    assert all(line.isprintable() for line in lines)
    assert "    old: \\x1b[2J\\x1b]0;pwned\\x07" in lines
    assert "    new: (no answer)" in lines
    assert "    asked: line one" in lines


def test_of_a_long_text_the_beginning_and_the_end_are_shown() -> None:
    old = [item("a", 1, answer="begin " + "x" * 5000 + " end")]
    [line] = [line for line in compared(old, [item("a", 0)]).lines() if "old:" in line]
    assert line.startswith("    old: begin xxx")
    assert line.endswith("xxx end")
    assert len(line) < 120


def test_a_comparison_is_plain_data() -> None:
    found = compared(answers([0.5, 1.0, 0.0], "share"), answers([1.0, 0.5, 0.5], "share"),
                     measuring(metrics={"share": Share()}))  # fmt: skip
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    [one] = read["comparisons"]
    assert (one["recipe"], one["metric"], one["pairs"]) == ("r", "share", 3)
    assert (one["better"], one["worse"], one["same"]) == (2, 1, 0)
    assert one["difference"]["value"] == pytest.approx(1 / 6)
    assert read["flipped"] == 3
    assert read["flips"][0]["answers"] == ["answer q1", "answer q1"]
    assert read["flips"][0]["became"] == "worse"
    assert one["text"] == str(found.comparisons[0].comparison)


def test_sides_of_one_label_are_told_apart_by_what_differs() -> None:
    items = answers([1])
    one = side(items, "model", id="run-1")
    other = side(items, "model", id="run-2")
    assert compare_results(one, other).names == ("model (run-1)", "model (run-2)")
    assert compare_results(one, one).names == ("model", "model")


# Endpoints of one run -----------------------------------------------------------------------------


def test_two_endpoints_of_one_run_are_compared_in_the_same_way() -> None:
    items = [*answers([1, 1, 0], endpoint="m"), *answers([1, 0, 0], endpoint="n")]
    run = result(items, [measuring()], ["m", "n"])
    found = compare_endpoints(run, table(items), "m", "n")
    assert found.names == ("m", "n")
    assert [flip.id for flip in found.flips] == ["q1"]
    assert found.notes == ("the endpoints differ in model: m in m, n in n",)


def test_items_on_which_endpoints_disagree_are_found() -> None:
    values: dict[str, list[Value]] = {
        "m": [1, 1, 0, NO_ANSWER, 0.5],
        "n": [1, 0, 0, 1, 1],
        "o": [1, 1, 0, 1, 0.75],
    }
    items = [
        each
        for name, drawn in values.items()
        for each in answers(drawn, "share", endpoint=name, answer=f"by {name}")
    ]
    found = flips_between(table(items), "r", "share", ["m", "n", "o"])
    assert found.total == 2
    assert [each.id for each in found.items] == ["q1", "q4"]
    assert found.items[0].values == {"m": 1.0, "n": 0.0, "o": 1.0}
    assert found.items[1].values == {"m": 0.5, "n": 1.0, "o": 0.75}
    assert found.items[0].answers == {"m": "by m", "n": "by n", "o": "by o"}
    assert found.items[0].prompt == "ask q1"
    few = flips_between(table(items), "r", "share", ["m", "n", "o"], most=1)
    assert (few.total, len(few.items)) == (2, 1)
    assert few.items[0].to_dict()["target"] == ("target q1",)


def test_an_item_that_one_endpoint_was_not_asked_does_not_count_as_its_disagreement() -> None:
    items = [*answers([1], endpoint="m"), *answers([0, 1, 0], endpoint="n")]
    items += answers([0, 0, 0], endpoint="o")
    found = flips_between(table(items), "r", "yes", ["m", "n", "o"])
    assert {each.id: each.values for each in found.items} == {
        "q0": {"m": 1.0, "n": 0.0, "o": 0.0},
        "q1": {"m": None, "n": 1.0, "o": 0.0},
    }
    assert set(found.items[1].answers) == {"n", "o"}


def test_epochs_are_reduced_before_endpoints_disagree() -> None:
    items = [
        item("q", value, endpoint=name, epoch=epoch)
        for name, drawn in (("m", [1, 0]), ("n", [0, 1]))
        for epoch, value in enumerate(drawn)
    ]
    assert flips_between(table(items), "r", "yes", ["m", "n"], epochs=2).total == 0
    some = [each for each in items if (each.endpoint, each.epoch) != ("n", 1)]
    assert flips_between(table(some), "r", "yes", ["m", "n"], epochs=2).total == 1


# What is kept -------------------------------------------------------------------------------------


def test_texts_are_not_held_while_runs_are_compared(tmp_path: Path) -> None:
    count, text = 4_000, "word " * 1000
    one, other = (
        answers([(at * step) % 3 == 0 for at in range(count)], prompt=text, answer=text)
        for step in (1, 2)
    )
    paths = [table(items).save(tmp_path / f"{at}.arrow") for at, items in enumerate((one, other))]
    tables = [Table.open(path) for path in paths]
    sides = [
        Side(result(items, [measuring()], ["m"], id=str(at)), tables[at], "m", str(at))
        for at, items in enumerate((one, other))
    ]
    del one, other
    tracemalloc.start()
    try:
        found = compare_results(*sides)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.comparisons[0].comparison.pairs == count
    assert peak < count * len(text) / 2
