"""Two runs item by item: what is paired, which tests are taken, what is said."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.metrics.statistics import (
    Comparison,
    Interval,
    Pairs,
    bootstrap_difference,
    clustered_interval,
    cohens_d,
    compare,
    holm_corrected,
    mcnemar,
    mean_interval,
    odds_ratio,
    permutation_test,
    risk_difference,
    wilcoxon,
    wilson,
)
from tests.metrics.texts import patient

Side = dict[str, float | None]
ids = st.sampled_from([f"q{at}" for at in range(30)])
binary = st.dictionaries(ids, st.sampled_from([None, 0, 1, True, False]), max_size=30)
numeric = st.dictionaries(ids, st.none() | st.integers(-8, 8).map(lambda v: v / 4), max_size=30)


def sides(pairs: Pairs) -> tuple[Side, Side]:
    """Two runs with so many items of each kind."""
    kinds = zip(((1, 1), (1, 0), (0, 1), (0, 0)), pairs, strict=True)
    values = [kind for kind, times in kinds for _ in range(times)]
    return (
        {f"q{at}": float(a) for at, (a, _) in enumerate(values)},
        {f"q{at}": float(b) for at, (_, b) in enumerate(values)},
    )


def drifted(n: int, by: float, *, noise: float = 0.3, seed: int = 1) -> tuple[Side, Side]:
    chance = random.Random(seed)
    a: Side = {f"q{at}": chance.random() for at in range(n)}
    return a, {item: (v or 0) + chance.gauss(by, noise) for item, v in a.items()}


# Which tests --------------------------------------------------------------------------------------


def test_yes_and_no_take_mcnemar_and_newcombe() -> None:
    pairs = Pairs(both=59, only_a=16, only_b=6, neither=80)
    found = compare(*sides(pairs))
    assert found.kind == "binary"
    assert found.tests == (mcnemar(6, 16),)
    assert found.p == pytest.approx(stats.binomtest(6, 22).pvalue)
    assert found.difference == risk_difference(pairs)
    assert found.a == wilson(75, 161)
    assert found.b == wilson(65, 161)
    assert found.odds_ratio == odds_ratio(6, 16)
    assert (len(found.better), len(found.worse), found.same) == (6, 16, 139)


def test_numbers_take_the_permutation_test_wilcoxon_and_the_bootstrap() -> None:
    a, b = drifted(60, 0.1)
    found = compare(a, b, seed=5)
    changes = [value - (a[item] or 0) for item, value in b.items() if value is not None]
    assert found.kind == "numeric"
    assert found.tests == (permutation_test(changes, seed=5), wilcoxon(changes))
    assert found.difference == bootstrap_difference(list(a.values()), list(b.values()), seed=5)
    assert found.a == mean_interval(a.values())
    assert found.cohens_d == cohens_d(changes)
    assert found.odds_ratio is None
    judge = stats.ttest_rel(list(b.values()), list(a.values())).pvalue
    assert found.p == pytest.approx(judge, abs=0.02)


def test_few_numbers_take_t_and_exact_tests() -> None:
    a, b = drifted(9, 0.1)
    found = compare(a, b)
    assert found.difference.method == "t"
    assert [evidence.test for evidence in found.tests] == ["exact permutation", "exact Wilcoxon"]


def test_clusters_take_the_permutation_test_over_clusters() -> None:
    a, b = drifted(40, 0.1)
    clusters = {item: int(item[1:]) // 4 for item in a}
    found = compare(a, b, clusters=clusters)
    changes = [value - (a[item] or 0) for item, value in b.items() if value is not None]
    groups = [clusters[item] for item in a]
    assert found.tests == (permutation_test(changes, clusters=groups),)
    assert found.difference == clustered_interval(changes, groups)
    assert found.difference.n == 10
    yes, no = sides(Pairs(5, 5, 5, 5))
    found = compare(yes, no, clusters={item: item for item in yes})
    assert found.kind == "binary"
    assert found.p == 1
    assert found.a.method == "t, clustered"


# Pairing ------------------------------------------------------------------------------------------


def test_missing_items_are_counted_by_side_and_never_replaced() -> None:
    a: Side = {"1": 1, "2": 0, "3": None, "4": 1, "5": None, "6": None}
    b: Side = {"1": 1, "2": 1, "3": 1, "5": None, "7": None, "8": 0, "9": 1}
    found = compare(a, b, names=("old", "new"))
    assert found.pairs == 2
    assert (found.missing_a, found.missing_b, found.missing_both) == (3, 1, 3)
    assert found.better == ("2",)
    assert found.a == wilson(1, 2)
    text = str(found)
    assert "3 without a value in old" in text
    assert "1 without a value in new" in text
    assert "3 without a value in either" in text


@patient
@given(binary | numeric, binary | numeric, st.randoms(use_true_random=False))
def test_every_item_is_counted_once_whatever_the_order(
    a: Side, b: Side, chance: random.Random
) -> None:
    found = compare(a, b)
    total = found.pairs + found.missing_a + found.missing_b + found.missing_both
    assert total == len({*a, *b})
    paired = [item for item in a if a[item] is not None and b.get(item) is not None]
    assert found.pairs == len(paired)
    assert {*found.better} == {item for item in paired if (b[item] or 0) > (a[item] or 0)}
    assert {*found.worse} == {item for item in paired if (b[item] or 0) < (a[item] or 0)}
    shuffled = compare(
        dict(chance.sample([*a.items()], len(a))), dict(chance.sample([*b.items()], len(b)))
    )
    assert (shuffled.p, shuffled.difference) == (found.p, found.difference)
    assert {*shuffled.better} == {*found.better}


@patient
@given(binary | numeric, binary | numeric)
def test_exchanging_the_sides_or_the_direction_turns_everything_round(a: Side, b: Side) -> None:
    found, turned = compare(a, b), compare(b, a)
    lower = compare(a, b, direction="lower")
    assert turned.p == found.p == lower.p
    assert {*turned.better} == {*found.worse} == {*lower.better}
    assert (turned.missing_a, turned.missing_b) == (found.missing_b, found.missing_a)
    opposite = {"better": "worse", "worse": "better", "unclear": "unclear"}
    assert turned.verdict == lower.verdict == opposite[found.verdict]
    assert lower.difference == found.difference
    if found.difference.value is not None:
        assert turned.difference.value == pytest.approx(-found.difference.value)
    for one, other in (("low", "high"), ("high", "low")):
        limit, mirror = getattr(found.difference, one), getattr(turned.difference, other)
        assert (limit is None) == (mirror is None)
        if limit is not None:
            assert mirror == pytest.approx(-limit, abs=1e-9)


def test_values_that_differ_by_rounding_only_have_not_changed() -> None:
    found = compare({1: 0.1 + 0.2, 2: 0.5}, {1: 0.3, 2: 0.75})
    assert found.better == (2,)
    assert found.worse == ()
    assert found.same == 1


def test_the_largest_changes_come_first() -> None:
    a = dict.fromkeys("vwxyz", 0.5)
    found = compare(a, {"v": 0.6, "w": 0.9, "x": 0.5, "y": 0.1, "z": 0.4})
    assert found.better == ("w", "v")
    assert found.worse == ("y", "z")


# What is said -------------------------------------------------------------------------------------


def test_a_clear_difference_is_said_to_be_one() -> None:
    text = str(compare(*sides(Pairs(40, 5, 25, 30)), names=("old", "new")))
    assert text == (
        "new 0.65 against old 0.45 on 100 items: +0.2 (95 % interval +0.09607 to +0.2963); higher "
        "is better. 25 became better, 5 worse, 70 stayed the same. new is better than old beyond "
        "what chance explains (p = 0.000325, exact McNemar)."
    )


def test_an_unclear_difference_is_not_said_to_be_none() -> None:
    found = compare(*sides(Pairs(40, 10, 14, 36)))
    assert found.verdict == "unclear"
    text = str(found)
    assert "does not show that they are equal" in text
    assert found.smallest is not None
    assert f"a true difference of {found.smallest:.2g}" in text
    assert found.smallest == pytest.approx(2.8016 * math.sqrt(0.24 / 100), rel=0.02)


def test_where_lower_is_better_less_is_better() -> None:
    found = compare(*sides(Pairs(10, 30, 5, 30)), direction="lower", names=("old", "guarded"))
    assert found.verdict == "better"
    assert "guarded is better than old" in str(found)
    assert "lower is better" in str(found)


@pytest.mark.parametrize("a", [{}, {"q": None}, {"other": 1}])
def test_nothing_in_common_is_said(a: Mapping[str, float | None]) -> None:
    found = compare(a, {"q": 1})
    assert found.pairs == 0
    assert found.p is None
    assert found.verdict == "unclear"
    assert "nothing to compare" in str(found)
    with_clusters = compare(a, {"q": 1}, clusters={})
    assert with_clusters.p is None


def test_one_pair_is_compared_and_shows_nothing() -> None:
    for value in (1, 0.7):
        found = compare({"q": 0.0}, {"q": value})
        assert found.p == 1
        assert found.verdict == "unclear"
        assert "on 1 item:" in str(found)
        assert found.better == ("q",)


def test_no_change_at_all_is_no_difference() -> None:
    for value in (1, 0, 0.3):
        same = {f"q{at}": value for at in range(30)}
        found = compare(same, same)
        assert found.p == 1
        assert found.difference.value == 0
        assert found.verdict == "unclear"
        assert found.smallest is None
        assert found.same == 30
        assert str(found)


# Several ------------------------------------------------------------------------------------------


def test_many_comparisons_are_corrected_together() -> None:
    tables = [Pairs(40, 5, 25, 30), Pairs(40, 8, 20, 32), Pairs(40, 10, 14, 36)]
    single = [compare(*sides(table)) for table in tables]
    nothing = compare({}, {"q": 1})
    corrected = holm_corrected([*single, nothing])
    p = [comparison.p or 0 for comparison in single]
    assert [each.adjusted for each in corrected] == [
        pytest.approx(3 * p[0]),
        pytest.approx(2 * p[1]),
        pytest.approx(p[2]),
        None,
    ]
    assert [each.family for each in corrected] == [3] * 4
    assert single[1].verdict == "better"
    assert corrected[1].p == single[1].p
    assert "corrected for 3 comparisons" in str(corrected[1])
    assert corrected[0].verdict == "better"
    assert p[1] < 0.05 < 3 * p[1]


def test_false_alarms_are_as_rare_as_the_level_says() -> None:
    """Twenty comparisons of equals: alone many have an alarm, corrected hardly any."""
    chance = random.Random(4)
    alone = together = 0
    for _ in range(40):
        family: list[Comparison] = []
        for _ in range(20):
            values = [(chance.random() < 0.5, chance.random() < 0.5) for _ in range(60)]
            a = {at: float(pair[0]) for at, pair in enumerate(values)}
            b = {at: float(pair[1]) for at, pair in enumerate(values)}
            family.append(compare(a, b))
        alone += any(each.verdict != "unclear" for each in family)
        together += any(each.verdict != "unclear" for each in holm_corrected(family))
    assert alone > 15
    assert together <= 5


def test_pairing_shows_what_two_means_hide() -> None:
    a, b = drifted(300, 0.03, noise=0.1)
    found = compare(a, b)
    assert found.verdict == "better"
    unpaired = stats.ttest_ind(list(a.values()), list(b.values())).pvalue
    assert unpaired > 0.05


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: compare({"q": math.nan}, {"q": 1}), "nan of item 'q'"),
        (lambda: compare({"q": "yes"}, {"q": 1}), "'yes' of item 'q'"),  # type: ignore[dict-item]
        (lambda: compare({"q": 1}, {"q": 1}, clusters={}), "item 'q' has no cluster"),
        (lambda: compare({}, {}, direction="up"), "direction is 'up'"),  # type: ignore[arg-type]
        (lambda: compare({}, {}, level=5), "level is 5"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


def test_a_comparison_is_a_value() -> None:
    a, b = drifted(50, 0.1)
    assert compare(a, b) == compare(a, b)
    assert isinstance(compare(a, b).difference, Interval)
