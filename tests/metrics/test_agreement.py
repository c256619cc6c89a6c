"""Agreement of raters: published examples, the definitions by brute force, a reference package."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics.agreement import (
    Agreement,
    Level,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from tests.metrics.texts import patient

LEVELS: list[Level] = ["nominal", "ordinal", "interval", "ratio"]


def by_unit(*raters: Sequence[Any]) -> list[list[Any]]:
    """From one list per rater, a dot where there is no rating."""
    return [
        [None if each == "." else int(each) if str(each).isdigit() else each for each in unit]
        for unit in zip(*raters, strict=True)
    ]


# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: its examples, in its order.
BINARY = by_unit("0100000010", "1110010000")
NOMINAL = by_unit("aabbdcccedda", "babbbccceddd")
MISSING = by_unit("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


@pytest.mark.parametrize(
    ("ratings", "level", "published"),
    [
        (BINARY, "nominal", 0.095),
        (NOMINAL, "nominal", 0.692),
        (MISSING, "nominal", 0.743),
        (MISSING, "ordinal", 0.815),
        (MISSING, "interval", 0.849),
        (MISSING, "ratio", 0.797),
    ],
)
def test_alpha_has_its_published_values(
    ratings: list[list[Any]], level: Level, published: float
) -> None:
    found = krippendorff_alpha(ratings, level)
    assert found is not None
    assert round(found, 3) == published


def test_kappas_have_their_published_values() -> None:
    # Fleiss (1971): 14 raters, 10 subjects, 5 categories, as in many textbooks since.
    counts = [
        *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
        *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
    ]
    units = [[at for at, times in enumerate(row) for _ in range(times)] for row in counts]
    found = fleiss_kappa(units)
    assert found is not None
    assert round(found, 3) == 0.210
    # Two readers of 50 proposals: 20 times both yes, 15 both no, 5 and 10 apart.
    one = ["yes"] * 25 + ["no"] * 25
    other = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)
    assert percent_agreement(zip(one, other, strict=True)) == pytest.approx(0.7)


# By the definitions, pair by pair -------------------------------------------------------------


def brute_alpha(ratings: list[list[Any]], level: Level) -> float | None:
    units = [[each for each in unit if each is not None] for unit in ratings]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [each for unit in units for each in unit]

    def apart(one: Any, other: Any) -> float:
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return float((one - other) ** 2)
        if level == "ratio":
            return 0.0 if one == other else float(((one - other) / (one + other)) ** 2)
        low, high = sorted((one, other))
        between = sum(1 for each in pooled if low <= each <= high)
        ends = (pooled.count(one) + pooled.count(other)) / 2
        return float((between - ends) ** 2) if one != other else 0.0

    observed = math.fsum(
        apart(one, other) / (len(unit) - 1)
        for unit in units
        for one, other in permutations(unit, 2)
    )
    expected = math.fsum(apart(one, other) for one, other in permutations(pooled, 2))
    if not expected:
        return None
    count = len(pooled)
    return 1 - (observed / count) / (expected / (count * (count - 1)))


tables = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.integers(0, 5), min_size=raters, max_size=raters), max_size=12
    )
)


def same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


@patient
@given(tables, st.sampled_from(LEVELS))
def test_alpha_is_what_its_definition_says(ratings: list[list[Any]], level: Level) -> None:
    assert same(krippendorff_alpha(ratings, level), brute_alpha(ratings, level))


@patient
@given(tables, st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_neither_the_order_of_raters_nor_of_units_matters(
    ratings: list[list[Any]], level: Level, chance: Any
) -> None:
    found = krippendorff_alpha(ratings, level)
    shuffled = [chance.sample(unit, len(unit)) for unit in ratings]
    chance.shuffle(shuffled)
    assert krippendorff_alpha(shuffled, level) == found
    assert percent_agreement(shuffled) == percent_agreement(ratings)


def changed(ratings: list[list[Any]], change: Callable[[int], Any]) -> list[list[Any]]:
    return [[None if each is None else change(each) for each in unit] for unit in ratings]


@patient
@given(tables, st.permutations("abcdef"))
def test_other_names_for_the_values_change_nothing_nominal(
    ratings: list[list[Any]], names: list[str]
) -> None:
    renamed = changed(ratings, lambda value: names[value])
    assert krippendorff_alpha(renamed) == krippendorff_alpha(ratings)


@patient
@given(tables, st.permutations("abcdef"))
def test_labels_with_an_order_are_ordinal_like_numbers(
    ratings: list[list[Any]], names: list[str]
) -> None:
    named = changed(ratings, lambda value: names[value])
    found = krippendorff_alpha(named, "ordinal", order=names)
    assert found == krippendorff_alpha(ratings, "ordinal")
    stretched = changed(ratings, lambda value: value**3)
    assert krippendorff_alpha(stretched, "ordinal") == found


@patient
@given(tables, st.sampled_from([0.5, -2, 3]), st.integers(-50, 50))
def test_a_scale_moved_or_stretched_changes_nothing_interval(
    ratings: list[list[Any]], factor: float, shift: int
) -> None:
    found = krippendorff_alpha(ratings, "interval")
    moved = changed(ratings, lambda value: factor * value + shift)
    assert same(krippendorff_alpha(moved, "interval"), found)


@patient
@given(tables, st.sampled_from([0.5, 2, 10]))
def test_another_unit_of_measure_changes_nothing_ratio(
    ratings: list[list[Any]], factor: float
) -> None:
    found = krippendorff_alpha(ratings, "ratio")
    assert same(krippendorff_alpha(changed(ratings, lambda v: factor * v), "ratio"), found)


@patient
@given(tables, st.sampled_from(LEVELS))
def test_alpha_is_at_most_1_and_1_only_where_all_agree(
    ratings: list[list[Any]], level: Level
) -> None:
    found = krippendorff_alpha(ratings, level)
    assume(found is not None)
    assert found is not None
    assert found <= 1
    assert (found == 1) == (percent_agreement(ratings) == 1)


@patient
@given(tables)
def test_plain_agreement_is_the_mean_share_of_equal_pairs(ratings: list[list[Any]]) -> None:
    shares = []
    for unit in ratings:
        pairs = list(permutations([each for each in unit if each is not None], 2))
        if pairs:
            shares.append(sum(one == other for one, other in pairs) / len(pairs))
    wanted = math.fsum(shares) / len(shares) if shares else None
    assert same(percent_agreement(ratings), wanted)


# Against another's code -----------------------------------------------------------------------

full = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(1, 4), min_size=raters, max_size=raters), min_size=2, max_size=10
    )
)


def reference(ratings: list[list[int]], distance: str) -> Any:
    agreement = pytest.importorskip("nltk.metrics.agreement")
    distances = pytest.importorskip("nltk.metrics.distance")
    data = [
        (f"rater {rater}", f"unit {at}", value)
        for at, unit in enumerate(ratings)
        for rater, value in enumerate(unit)
    ]
    return agreement.AnnotationTask(data, distance=getattr(distances, distance))


@patient
@given(full)
def test_alpha_and_kappa_are_those_of_nltk(ratings: list[list[int]]) -> None:
    assume(len({each for unit in ratings for each in unit}) > 1)
    nominal = reference(ratings, "binary_distance")
    assert same(krippendorff_alpha(ratings), nominal.alpha())
    interval = reference(ratings, "interval_distance")
    assert same(krippendorff_alpha(ratings, "interval"), interval.alpha())
    one, other = ([unit[rater] for unit in ratings] for rater in (0, 1))
    wanted = cohen_kappa(one, other)
    if wanted is not None:
        assert same(wanted, nominal.kappa_pairwise("rater 0", "rater 1"))


# The kappas -----------------------------------------------------------------------------------


@patient
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_weighted_kappa_is_what_its_definition_says(pairs: list[tuple[int, int]]) -> None:
    one, other = zip(*pairs, strict=True)
    for weights, power in (("linear", 1), ("quadratic", 2)):
        observed = math.fsum(abs(a - b) ** power for a, b in pairs) / len(pairs)
        expected = math.fsum(abs(a - b) ** power for a in one for b in other) / len(pairs) ** 2
        wanted = 1 - observed / expected if expected else None
        found = cohen_kappa(one, other, weights=weights, order=range(5))  # type: ignore[arg-type]
        assert same(found, wanted)
        assert same(cohen_kappa(other, one, weights=weights, order=range(5)), found)  # type: ignore[arg-type]


def test_without_an_order_the_values_that_occur_are_the_scale() -> None:
    one, other = [1, 1, 9, 9], [1, 9, 9, 9]
    assert cohen_kappa(one, other, weights="quadratic") == cohen_kappa(one, other)


def test_two_values_make_all_kappas_of_two_raters_with_equal_habits_the_same() -> None:
    one, other = [0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1]
    units = list(zip(one, other, strict=True))
    assert same(cohen_kappa(one, other), fleiss_kappa(units))


def test_a_unit_that_one_rater_left_out_does_not_count_for_cohen() -> None:
    assert cohen_kappa([1, 2, None, 1], [1, 2, 2, math.nan]) == 1


# Where it is not defined ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ratings",
    [
        [],
        [[1], [2]],
        [[None, 1], [2, None], [None, None]],
        [[1, math.nan]],
        [[3, 3], [3, 3, 3]],
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_without_pairs_or_without_variation_there_is_no_alpha(
    ratings: list[list[Any]], level: Level
) -> None:
    assert krippendorff_alpha(ratings, level) is None


def test_without_pairs_or_without_variation_there_is_no_kappa() -> None:
    assert fleiss_kappa([]) is None
    assert fleiss_kappa([[1, 1], [1, 1]]) is None
    assert cohen_kappa([], []) is None
    assert cohen_kappa([1, 1], [1, 1]) is None
    assert percent_agreement([[1, 1], [1, 1]]) == 1
    assert percent_agreement([[1], []]) is None


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="'good' is no number"):
        krippendorff_alpha([["good", "bad"]], "interval")
    with pytest.raises(InputError, match="inf is no number"):
        krippendorff_alpha([[1, math.inf]], "ratio")
    with pytest.raises(InputError, match="-1 is below 0"):
        krippendorff_alpha([[1, -1]], "ratio")
    with pytest.raises(InputError, match="no order"):
        krippendorff_alpha([[1, "a"]], "ordinal")
    with pytest.raises(InputError, match="'c' is not in the order"):
        krippendorff_alpha([["a", "c"]], "ordinal", order=["a", "b"])
    with pytest.raises(InputError, match="level is 'metric'"):
        Agreement("metric")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2, 3 ratings"):
        fleiss_kappa([[1, 2], [1, 2, 3]])
    with pytest.raises(InputError, match="same number of units"):
        cohen_kappa([1], [1, 2])
    with pytest.raises(InputError, match="weights is 'cubic'"):
        cohen_kappa([1], [2], weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 is not in the order"):
        cohen_kappa([1], [3], weights="linear", order=[1, 2])


# Fed unit by unit -----------------------------------------------------------------------------


@patient
@given(tables, st.sampled_from(LEVELS))
def test_fed_unit_by_unit_it_can_be_asked_at_any_time(
    ratings: list[list[Any]], level: Level
) -> None:
    agreement = Agreement(level)
    for at, unit in enumerate(ratings, 1):
        agreement.add(unit)
        assert agreement.alpha() == krippendorff_alpha(ratings[:at], level)
    assert agreement.units == sum(
        1 for unit in ratings if sum(each is not None for each in unit) > 1
    )


def test_many_units_take_no_more_memory_than_few() -> None:
    agreement = Agreement("interval")
    units = [[a % 10, b % 10, (a * b) % 10] for a in range(20) for b in range(20)]
    for unit in units:
        agreement.add(unit)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(25):
            for unit in units:
                agreement.add(unit)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert agreement.units == 26 * len(units)
    assert grown < 20_000
