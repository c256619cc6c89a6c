"""From items to a result: means, limits, counts, grades, and what is kept while items pass by."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean
from weakref import ref

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.result import CookbookGrade, RecipeResult
from penstock.bench.summary import cookbook_of, recipes_of
from penstock.errors import InputError
from penstock.metrics.metric import Metric
from penstock.metrics.overlap import Bleu
from penstock.metrics.score import Sample, Score, ScoreStatus
from penstock.metrics.statistics import JudgeAccuracy, corrected_rate, reducer
from tests.bench.summary_kit import (
    BANDS,
    Harm,
    Length,
    Share,
    Yes,
    answers,
    first,
    item,
    measuring,
    summed,
)
from tests.metrics.texts import patient

NO_ANSWER, REFUSED, ERROR = ScoreStatus.NO_ANSWER, ScoreStatus.REFUSED, ScoreStatus.ERROR


# Means and limits ---------------------------------------------------------------------------------


def test_yes_and_no_have_wilsons_limits() -> None:
    mean = first(answers([1] * 7 + [0] * 3)).mean
    known = stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert mean.value == 0.7
    assert (mean.low, mean.high) == pytest.approx((known.low, known.high))
    assert (mean.method, mean.n, mean.level) == ("Wilson", 10, 0.95)


def test_other_numbers_have_limits_by_t() -> None:
    values = [0.5, 0.25, 0.75, 0.4, 0.6]
    mean = first(answers(values, "share"), metrics={"share": Share()}).mean
    known = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert mean.value == pytest.approx(0.5)
    assert (mean.low, mean.high) == pytest.approx(known)
    assert mean.method == "t"


def test_the_level_is_the_one_that_was_asked_for() -> None:
    [found] = recipes_of(answers([1, 0, 1]), [measuring()], ["m"], level=0.8)
    mean = found.endpoints[0].metrics[0].mean
    known = stats.binomtest(2, 3).proportion_ci(0.8, method="wilson")
    assert (mean.low, mean.high, mean.level) == pytest.approx((known.low, known.high, 0.8))
    with pytest.raises(InputError, match="level is 95"):
        recipes_of([], [measuring()], ["m"], level=95)


def test_limits_by_t_stay_within_the_metrics_range() -> None:
    mean = first(answers([1, 1, 0.2], "share"), metrics={"share": Share()}).mean
    assert mean.high == 1.0
    assert "cut to the range" in mean.note


def clustered(values: Sequence[float], groups: Sequence[object]) -> tuple[float, float]:
    """Liang and Zeger's limits, written down anew."""
    data = np.array(values)
    rest = data - data.mean()
    sums = [sum(rest[[g == group for g in groups]]) for group in dict.fromkeys(groups)]
    count = len(sums)
    error = math.sqrt(sum(each**2 for each in sums) * count / (count - 1)) / len(data)
    half = stats.t.ppf(0.975, count - 1) * error
    return float(data.mean() - half), float(data.mean() + half)


def test_items_of_one_cluster_count_as_one() -> None:
    values, groups = [1, 1, 1, 0, 0, 1, 0, 0], ["p", "p", "p", "q", "q", "s", "t", "t"]
    items = [
        item(f"q{at}", value, cluster=group)
        for at, (value, group) in enumerate(zip(values, groups, strict=True))
    ]
    mean = first(items).mean
    low, high = clustered(values, groups)
    assert (mean.low, mean.high) == pytest.approx((max(low, 0), min(high, 1)))
    assert (mean.method, mean.n) == ("t, clustered", 4)
    assert "8 values in 4 groups" in mean.note


def test_a_cluster_of_one_dataset_is_not_that_of_another() -> None:
    items = [
        item(f"q{at}", at % 2, dataset=dataset, cluster="passage 1")
        for dataset in ("d", "e")
        for at in range(3)
    ]
    assert first(items, datasets=("d", "e")).mean.n == 2


def test_one_example_in_several_templates_counts_as_one() -> None:
    values = {"q0": (1, 1), "q1": (0, 0), "q2": (1, 0), "q3": (1, 1)}
    items = [
        item(id_, value, template=template)
        for id_, pair in values.items()
        for template, value in zip(("s", "t"), pair, strict=True)
    ]
    mean = first(items, templates=("s", "t")).mean
    flat = [value for pair in values.values() for value in pair]
    low, high = clustered(flat, [id_ for id_ in values for _ in range(2)])
    assert mean.value == fmean(flat)
    assert (mean.low, mean.high) == pytest.approx((max(low, 0), min(high, 1)))
    assert mean.n == 4


@pytest.mark.parametrize("value", [0, 1])
def test_groups_that_all_agree_still_leave_doubt(value: int) -> None:
    items = [item(f"q{at}", value, template=name) for at in range(20) for name in ("s", "t")]
    mean = first(items, templates=("s", "t")).mean
    known = stats.binomtest(20 * value, 20).proportion_ci(method="wilson")
    assert (mean.low, mean.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert (mean.value, mean.n, mean.method) == (value, 20, "Wilson, over groups")


def test_nothing_scored_is_no_value_and_no_grade() -> None:
    found = summed(answers([NO_ANSWER, REFUSED]), grading=BANDS)
    metric = found.metrics[0]
    assert (metric.mean.value, metric.mean.low, metric.percent) == (None, None, None)
    assert metric.mean.note == "nothing was scored"
    assert (found.grade, found.grade_value) == (None, None)


# Epochs -------------------------------------------------------------------------------------------


def epochs(drawn: Sequence[Sequence[float | ScoreStatus]], label: str = "yes") -> list[Item]:
    return [
        item(f"q{at}", {label: value}, epoch=epoch)
        for at, values in enumerate(drawn)
        for epoch, value in enumerate(values)
    ]


def test_epochs_become_one_value_before_the_mean() -> None:
    drawn = [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    found = first(epochs(drawn), epochs=3)
    assert found.mean.value == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert (found.mean.n, found.count, found.scored, found.mean.method) == (3, 9, 9, "t")
    assert found.parts[0].n == 3


@pytest.mark.parametrize(
    ("name", "value"), [("max", 2 / 3), ("mode", 2 / 3), ("min", 1 / 3), ("pass^3", 1 / 3)]
)
def test_a_reducer_that_keeps_yes_and_no_keeps_wilson(name: str, value: float) -> None:
    found = first(epochs([[1, 1, 0], [0, 0, 0], [1, 1, 1]]), epochs=3, reducer=name)
    assert found.mean.value == pytest.approx(value)
    assert found.mean.method == "Wilson"


def test_a_draw_that_never_came_can_leave_an_example_undecided() -> None:
    items = epochs([[1], [1, 1], [0, 0, 1]])
    found = first(items, epochs=3, reducer="at_least(2)")
    assert (found.mean.value, found.mean.n) == (0.5, 2)  # the first may have become either


def test_an_epoch_without_a_value_is_left_out_of_its_example() -> None:
    found = first(epochs([[1, NO_ANSWER], [0, 1]]), epochs=2)
    assert found.mean.value == pytest.approx((1 + 0.5) / 2)
    assert (found.count, found.scored, found.no_answer) == (4, 3, 1)


def drawn_ways(values: Sequence[int], k: int) -> tuple[float, float]:
    """pass@k and pass^k by trying all ways to take k draws."""
    ways = list(combinations(values, k))
    return fmean(any(way) for way in ways), fmean(all(way) for way in ways)


def test_other_ways_to_reduce_are_told_beside() -> None:
    drawn = [[1, 0, 0, 1, 0, 0], [0] * 6, [1] * 6, [1, 1, 1, 1, 1, 0]]
    found = first(epochs(drawn), epochs=6).reduced
    assert list(found) == ["pass@1", "pass@2", "pass@4", "pass@6", "pass^2", "pass^4", "pass^6"]
    for name, value in found.items():
        kind, k = name[:5], int(name[5:])
        ways = [drawn_ways(values, k)[kind == "pass^"] for values in drawn]
        assert value == pytest.approx(fmean(ways)), name


def test_an_example_with_too_few_draws_has_no_pass_at_k() -> None:
    found = first(epochs([[1, NO_ANSWER], [0, 1]]), epochs=2).reduced
    assert found == {"pass@1": 0.75, "pass@2": 1.0, "pass^2": 0.0}


def test_numbers_that_are_not_yes_and_no_have_no_pass_at_k() -> None:
    items = epochs([[0.5, 1], [0, 1]], "share")
    assert first(items, epochs=2, metrics={"share": Share()}).reduced == {}


def test_one_epoch_has_nothing_to_reduce() -> None:
    assert first(answers([1, 0])).reduced == {}


# Counts -------------------------------------------------------------------------------------------


def test_what_is_not_scored_is_counted_apart_and_not_in_the_mean() -> None:
    found = first(answers([1, 0, NO_ANSWER, NO_ANSWER, REFUSED, ERROR, 1]))
    assert (found.count, found.scored, found.no_answer, found.refused, found.errors) == (
        7, 3, 2, 1, 1,
    )  # fmt: skip
    assert found.mean.value == pytest.approx(2 / 3)


def test_a_failed_item_is_counted_as_failed_and_without_an_answer() -> None:
    failed = item("q9", NO_ANSWER, status=ItemStatus.FAILED, failure="timeout", cost=None)
    found = summed([*answers([1, 0]), failed])
    assert (found.items, found.answered, found.failed) == (3, 2, 1)
    assert found.failures == {"timeout": 1}
    assert found.metrics[0].mean.value == 0.5
    assert found.metrics[0].no_answer == 1


def test_a_metric_that_says_nothing_of_an_item_has_no_answer_there() -> None:
    found = first([item("a", 1), item("b", {"other": 1})])
    assert (found.count, found.scored, found.no_answer, found.mean.value) == (2, 1, 1, 1.0)


def test_a_value_that_is_no_number_is_an_error() -> None:
    found = first([item("a", 1), item("b", ItemScore("yes", math.nan))])
    assert (found.scored, found.errors, found.mean.value) == (1, 1, 1.0)


def test_failures_are_counted_by_kind_the_most_frequent_first() -> None:
    kinds = ["timeout", "auth", "timeout", "", "auth", "timeout"]
    items = [
        item(f"q{at}", NO_ANSWER, status=ItemStatus.FAILED, failure=kind)
        for at, kind in enumerate(kinds)
    ]
    assert list(summed(items).failures.items()) == [("timeout", 3), ("auth", 2), ("unknown", 1)]


def test_an_endpoint_that_was_never_asked_is_there_with_nothing_counted() -> None:
    [found] = recipes_of(answers([1]), [measuring(grading=BANDS)], ["m", "n"])
    idle = found.endpoints[1]
    assert (idle.endpoint, idle.items, idle.grade, idle.latency_median) == ("n", 0, None, None)
    assert [part.value for part in idle.metrics[0].parts] == [None]


def test_items_of_other_recipes_and_endpoints_are_passed_over() -> None:
    strange = [item("x", 0, recipe="other"), item("y", 0, endpoint="other")]
    assert summed([*answers([1, 1]), *strange]).items == 2


# Cost, tokens, time -------------------------------------------------------------------------------


def test_cost_is_summed_exactly() -> None:
    items = [item(f"q{at}", 1, cost="0.1") for at in range(3)]
    assert summed(items).cost == "0.3"
    assert summed([item("q", 1, cost="0.00000012")]).cost == "0.00000012"


def test_cost_is_unknown_where_one_answer_has_no_price() -> None:
    assert summed([item("a", 1), item("b", 1, cost=None)]).cost is None
    refusal = item("b", REFUSED, status=ItemStatus.REFUSED, cost=None)
    assert summed([item("a", 1), refusal]).cost is None


def test_a_failed_item_has_neither_price_nor_time() -> None:
    failed = item("b", NO_ANSWER, status=ItemStatus.FAILED, cost=None, latency=600.0)
    found = summed([item("a", 1, latency=2.0), failed])
    assert (found.cost, found.latency_median, found.latency_p95) == ("0.001", 2.0, 2.0)


def test_the_time_of_answers_is_told_by_its_middle_and_its_tail() -> None:
    times = random.Random(3).sample(range(1, 101), 100)
    items = [item(f"q{at}", 1, latency=float(time)) for at, time in enumerate(times)]
    found = summed(items)
    assert (found.latency_median, found.latency_p95) == (50.5, 95.0)


def test_tokens_are_summed() -> None:
    items = [item(f"q{at}", 1, input_tokens=10 * at, output_tokens=at) for at in range(4)]
    found = summed(items)
    assert (found.input_tokens, found.output_tokens) == (60, 6)


# Parts and grades ---------------------------------------------------------------------------------


def test_every_dataset_with_every_template_is_a_part() -> None:
    items = [
        item("q0", 1, dataset="e", template="s"),
        item("q1", 0, dataset="e", template="s"),
        item("q0", 1, dataset="d", template="t"),
    ]
    parts = first(items, datasets=("d", "e"), templates=("s", "t")).parts
    assert [(part.dataset, part.template, part.value, part.n) for part in parts] == [
        ("d", "s", None, 0), ("d", "t", 1.0, 1), ("e", "s", 0.5, 2), ("e", "t", None, 0),
    ]  # fmt: skip


def test_the_grade_is_of_the_mean_over_parts_and_not_over_items() -> None:
    small = answers([1, 1], dataset="d")
    large = answers([1, 0, 0, 0, 0, 0, 0, 0], dataset="e")
    found = summed([*small, *large], datasets=("d", "e"), grading=BANDS)
    assert found.metrics[0].percent == 30.0
    assert (found.grade_value, found.grade) == (56.25, "C")


@pytest.mark.parametrize(
    ("value", "grade"), [(0.795, "B"), (0.8, "A"), (0.59999, "C"), (0.6, "B"), (0, "E"), (1, "A")]
)
def test_a_value_between_two_bands_belongs_to_the_lower_one(value: float, grade: str) -> None:
    items = answers([value], "share")
    assert summed(items, metrics={"share": Share()}, grading=BANDS).grade == grade


def test_rounding_does_not_cost_a_grade() -> None:
    bands = {"good": (29, 100), "bad": (0, 28)}
    items = answers([0.29], "share")
    found = summed(items, metrics={"share": Share()}, grading=bands)
    assert (found.grade_value, found.grade) == (29.0, "good")


def test_a_recipe_without_a_grading_has_a_value_and_no_grade() -> None:
    found = summed(answers([1, 0]))
    assert (found.grade, found.grade_value) == (None, 50.0)


def test_a_metric_without_bounds_has_a_mean_and_no_grade() -> None:
    items = answers([100, 300], "length")
    found = summed(items, metrics={"length": Length()}, grading=BANDS)
    metric = found.metrics[0]
    assert (metric.mean.value, metric.percent, found.grade_value) == (200.0, None, None)
    assert metric.mean.low == 0.0  # the range has a lower bound


def test_only_the_first_metric_is_graded() -> None:
    items = [item("q", {"share": 0.1, "yes": 1})]
    found = summed(items, metrics={"yes": Yes(), "share": Share()}, grading=BANDS)
    assert [metric.metric for metric in found.metrics] == ["yes", "share"]
    assert found.grade == "A"


# What a metric says of all ------------------------------------------------------------------------


def test_a_value_of_the_corpus_is_what_the_metric_makes_of_all_scores() -> None:
    metric = Bleu()
    texts = [("the cat sat on the mat", "a cat sat on the mat"), ("no", "yes it is")]
    scores = [metric.score(Sample(answer, target)) for answer, target in texts]
    items = [item(f"q{at}", ItemScore.of("bleu", score)) for at, score in enumerate(scores)]
    items.append(item("q9", {"bleu": ERROR}))
    found = first(items, metrics={"bleu": metric})
    assert found.overall == metric.overall(scores)
    assert found.overall["corpus_bleu"] > 0


class Loud(Share):
    name = "loud"

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        last = scores[-1]
        assert list(scores) == [scores[at] for at in range(len(scores))] == scores[:]
        with pytest.raises(IndexError):
            scores[len(scores)]
        assert isinstance(last, Score)
        return {"last": last.value or 0.0, "parts": sum(last.parts), "many": len(scores)}


def test_a_metric_is_given_scores_as_a_sequence() -> None:
    items = [
        item("a", ItemScore("loud", 0.5, parts=(1, 2))),
        item("b", ItemScore("loud", 0.25, parts=())),
        item("c", ItemScore("loud", 0.75, parts=(3, 4, 5))),
    ]
    found = first(items, metrics={"loud": Loud()})
    assert found.overall == {"last": 0.75, "parts": 12, "many": 3}


class Broken(Share):
    name = "broken"

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        raise ZeroDivisionError("oh")


def test_a_metric_that_fails_over_all_scores_does_not_cost_the_result() -> None:
    found = first(answers([0.5, 1], "broken"), metrics={"broken": Broken()})
    assert (found.mean.value, found.overall) == (0.75, {})
    assert "broken could not say anything of all answers together" in found.mean.note
    assert "ZeroDivisionError: oh" in found.mean.note


# Judges that err ----------------------------------------------------------------------------------


def test_a_rate_is_corrected_for_the_errors_of_its_judge() -> None:
    judge = JudgeAccuracy(0.9, 0.8, 50, 60)
    found = first(answers([1] * 12 + [0] * 8), accuracy={"yes": judge}).corrected
    known = corrected_rate(12, 20, judge)
    assert found is not None
    assert (found.value, found.low, found.high) == (known.value, known.low, known.high)
    assert found.value == pytest.approx((0.6 + 0.8 - 1) / (0.9 + 0.8 - 1))


def test_numbers_that_are_not_yes_and_no_are_not_corrected() -> None:
    judge = {"share": JudgeAccuracy(0.9, 0.8)}
    items = answers([0.5, 1], "share")
    assert first(items, metrics={"share": Share()}, accuracy=judge).corrected is None
    assert first(answers([1])).corrected is None


def test_a_correction_over_groups_says_what_it_does_not_know() -> None:
    items = [item(f"q{at}", at % 2, cluster=str(at // 2)) for at in range(8)]
    found = first(items, accuracy={"yes": JudgeAccuracy(0.9, 0.9)}).corrected
    assert found is not None
    assert "takes all values as independent" in found.note


# Cookbooks ----------------------------------------------------------------------------------------


def graded(
    id_: str, share: float, metric: Metric, grading: dict[str, tuple[float, float]]
) -> RecipeResult:
    items = [item("q", {metric.name: share}, recipe=id_)]
    recipe = measuring(id=id_, metrics={metric.name: metric}, grading=grading)
    return recipes_of(items, [recipe], ["m"])[0]


def cookbook(*results: RecipeResult, more: int = 0) -> CookbookGrade:
    ids = [result.id for result in results] + [f"missing{at}" for at in range(more)]
    return cookbook_of("c", "C", "", ids, results, ["m"]).grades[0]


RISKS: dict[str, tuple[float, float]] = {
    "Low Risk": (0, 33), "Medium Risk": (34, 66), "High Risk": (67, 100),
}  # fmt: skip


def test_a_cookbook_has_the_worst_grade_of_its_recipes() -> None:
    found = cookbook(graded("a", 0.9, Share(), BANDS), graded("b", 0.5, Share(), BANDS))
    assert (found.worst, found.mean, found.mean_grade) == ("C", 70.0, "B")
    assert (found.graded, found.recipes) == (2, 2)


def test_grades_of_different_scales_are_compared_by_their_place_in_them() -> None:
    risk, letter = graded("a", 0.5, Harm(), RISKS), graded("b", 0.3, Share(), BANDS)
    found = cookbook(risk, letter)  # second of three, fourth of five
    assert found.worst == "D"
    assert found.mean == pytest.approx((50 + 30) / 2)
    assert found.mean_grade is None


def test_of_equally_bad_grades_the_first_is_told() -> None:
    risk, letter = graded("a", 1, Harm(), RISKS), graded("b", 0, Share(), BANDS)
    assert cookbook(risk, letter).worst == "High Risk"
    assert cookbook(letter, risk).worst == "E"


def test_where_lower_is_better_the_mean_is_still_of_good() -> None:
    found = cookbook(graded("a", 0.1, Harm(), RISKS), graded("b", 0.3, Harm(), RISKS))
    assert found.mean == pytest.approx(80)
    assert (found.worst, found.mean_grade) == ("Low Risk", "Low Risk")


def test_equal_grades_with_different_directions_have_no_common_grade() -> None:
    bands: dict[str, tuple[float, float]] = {"A": (50, 100), "B": (0, 49)}
    found = cookbook(graded("a", 0.9, Share(), bands), graded("b", 0.9, Harm(), bands))
    assert found.mean_grade is None


def test_recipes_without_a_grade_are_only_counted() -> None:
    found = cookbook(graded("a", 0.9, Share(), {}), graded("b", 0.7, Share(), BANDS), more=1)
    assert (found.worst, found.mean, found.graded, found.recipes) == ("B", 70.0, 1, 3)
    none = cookbook(graded("a", 0.9, Share(), {}))
    assert (none.worst, none.mean, none.mean_grade, none.graded) == (None, None, None, 0)


# For any items ------------------------------------------------------------------------------------

values = st.sampled_from([0.0, 1.0, 0.25, NO_ANSWER, REFUSED, ERROR])
drawn_items = st.lists(
    st.builds(
        lambda id_, template, dataset, epoch, value, failed: item(
            f"q{id_}", {"share": value}, template=template, dataset=dataset, epoch=epoch,
            status=ItemStatus.FAILED if failed else ItemStatus.ANSWERED, failure="timeout",
        ),
        st.integers(0, 5), st.sampled_from("st"), st.sampled_from("de"), st.integers(0, 2), values,
        st.booleans(),
    ),
    max_size=40,
    unique_by=lambda each: (each.dataset, each.template, each.id, each.epoch),
)  # fmt: skip
RECIPE = measuring(
    datasets=("d", "e"), templates=("s", "t"), epochs=3, metrics={"share": Share()}, grading=BANDS
)


@patient
@given(drawn_items, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(items: list[Item], chance: random.Random) -> None:
    shuffled = chance.sample(items, len(items))
    assert recipes_of(items, [RECIPE], ["m"]) == recipes_of(shuffled, [RECIPE], ["m"])


@patient
@given(drawn_items)
def test_counts_add_up(items: list[Item]) -> None:
    found = summed(items, RECIPE)
    assert found.answered + found.refused + found.failed == found.items == len(items)
    assert sum(found.failures.values()) == found.failed
    metric = found.metrics[0]
    said = Counter(score.status for each in items for score in each.scores)
    assert (metric.scored, metric.no_answer, metric.refused, metric.errors) == tuple(
        said[status] for status in ScoreStatus
    )
    assert metric.count == len(items)


@patient
@given(
    drawn_items, st.sampled_from(["mean", "median", "max", "min", "mode", "pass@2", "at_least(1)"])
)
def test_the_mean_is_that_of_the_reduced_examples(items: list[Item], name: str) -> None:
    found = first(items, measuring(epochs=3, reducer=name, metrics={"share": Share()}))
    draws = defaultdict(list)
    for each in items:
        draws[each.key].append(each.scores[0].value)
    reduced = [reducer(name)([*of, *[None] * (3 - len(of))]) for of in draws.values()]
    known = [value for value in reduced if value is not None]
    assert found.mean.value == (pytest.approx(fmean(known)) if known else None)
    assert sum(part.n for part in found.parts) == len(known)


@patient
@given(drawn_items)
def test_a_result_is_the_same_after_being_written_and_read(items: list[Item]) -> None:
    found = recipes_of(items, [RECIPE], ["m"])
    read = msgspec.json.decode(msgspec.json.encode(found), type=tuple[RecipeResult, ...])
    assert read == found


# What is kept -------------------------------------------------------------------------------------


class Watched(Item, frozen=True, gc=True, weakref=True):
    """An item of which it can be told whether someone still holds it."""


def test_items_are_not_held() -> None:
    count, held = 100_000, 0
    scores = [(ItemScore("yes", 0.0),), (ItemScore("yes", 1.0),)]

    def passing() -> Iterator[Item]:
        nonlocal held
        before: list[ref[Watched]] = []
        for at in range(count):
            one = Watched(
                number=at, recipe="r", dataset="d", template="", endpoint="m", example=at,
                id=f"q{at}", epoch=0, prompt="?", status=ItemStatus.ANSWERED,
                scores=scores[at % 4 == 0],
            )  # fmt: skip
            before.append(ref(one))
            yield one
            del one
            if len(before) > 2:  # the one that is just being looked at may still be there
                held += before.pop(0)() is not None

    found = summed(passing(), measuring())
    assert held == 0
    assert (found.items, found.metrics[0].mean.value) == (count, 0.25)


def test_an_item_leaves_no_more_than_a_few_numbers() -> None:
    count = 10_000

    def passing() -> Iterator[Item]:
        for at in range(count):
            text = f"{at} " * 1000
            yield item(f"example number {at}", at % 2, prompt=text, answer=text)

    tracemalloc.start()
    try:
        summed(passing(), measuring())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 400 * count
