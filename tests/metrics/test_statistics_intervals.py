"""Shares and means with limits: against scipy, against published tables, and by what they claim."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.metrics.statistics import (
    Interval,
    Pairs,
    clustered_error,
    clustered_interval,
    cohens_d,
    mean_interval,
    odds_ratio,
    risk_difference,
    wilson,
)
from penstock.metrics.statistics.student import t_quantile
from tests.metrics.texts import patient

shares = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
tables = st.tuples(*[st.integers(0, 60)] * 4).map(lambda counts: Pairs(*counts))
numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


def limits(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


# One share ----------------------------------------------------------------------------------------


@patient
@given(shares, levels, st.booleans())
def test_wilsons_limits_are_those_of_scipy(
    share: tuple[int, int], level: float, correction: bool
) -> None:
    successes, n = share
    method = "wilsoncc" if correction else "wilson"
    judge = stats.binomtest(successes, n).proportion_ci(level, method=method)
    found = limits(wilson(successes, n, level=level, correction=correction))
    assert found == pytest.approx((judge.low, judge.high), abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "n", "plain", "corrected"),
    [
        (81, 263, (0.2553, 0.3662), (0.2535, 0.3682)),
        (15, 148, (0.0624, 0.1605), (0.0598, 0.1644)),
        (0, 20, (0.0000, 0.1611), (0.0000, 0.2005)),
        (1, 29, (0.0061, 0.1718), (0.0018, 0.1963)),
    ],
)
def test_wilsons_limits_are_those_of_newcombes_table(
    successes: int, n: int, plain: tuple[float, float], corrected: tuple[float, float]
) -> None:
    """R. G. Newcombe, Statistics in Medicine 17 (1998) 857, table I, methods 3 and 4."""
    for correction, expected in ((False, plain), (True, corrected)):
        found = limits(wilson(successes, n, correction=correction))
        assert (round(found[0], 4), round(found[1], 4)) == expected


@patient
@given(shares, levels, st.booleans())
def test_a_share_lies_within_its_limits_and_these_from_0_to_1(
    share: tuple[int, int], level: float, correction: bool
) -> None:
    successes, n = share
    found = wilson(successes, n, level=level, correction=correction)
    low, high = limits(found)
    assert 0 <= low <= successes / n <= high <= 1
    assert successes / n in found
    mirrored = wilson(n - successes, n, level=level, correction=correction)
    assert limits(mirrored) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    wider = limits(wilson(successes, n, level=(1 + level) / 2, correction=correction))
    assert wider[0] <= low
    assert high <= wider[1]


@patient
@given(shares, levels)
def test_more_successes_raise_both_limits_and_more_items_narrow_them(
    share: tuple[int, int], level: float
) -> None:
    successes, n = share
    low, high = limits(wilson(successes, n, level=level))
    if successes < n:
        above = limits(wilson(successes + 1, n, level=level))
        assert above[0] > low
        assert above[1] > high or high == 1
    tenfold = wilson(10 * successes, 10 * n, level=level)
    assert tenfold.width is not None
    assert tenfold.width < high - low


@pytest.mark.parametrize("n", [10, 40, 150])
def test_wilsons_limits_hold_the_truth_as_often_as_they_say(n: int) -> None:
    """Exactly: the chance of each count, summed where the limits hold the rate."""
    rates = [at / 200 for at in range(2, 199)]
    for correction in (False, True):
        found = [wilson(k, n, correction=correction) for k in range(n + 1)]
        held = [
            math.fsum(stats.binom.pmf(k, n, rate) for k in range(n + 1) if rate in found[k])
            for rate in rates
        ]
        mean = math.fsum(held) / len(held)
        if correction:
            assert min(held) > 0.94
            assert mean > 0.96
        else:
            assert 0.945 < mean < 0.962
            assert min(held) > 0.83


def test_no_items_leave_everything_open() -> None:
    found = wilson(0, 0)
    assert (found.value, found.low, found.high, found.n) == (None, 0, 1, 0)
    assert "no values" in str(found)


def test_one_item_says_little() -> None:
    assert limits(wilson(1, 1)) == pytest.approx((0.2065, 1), abs=1e-4)
    assert limits(wilson(0, 1)) == pytest.approx((0, 0.7935), abs=1e-4)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: wilson(3, 2), "3 successes among 2"),
        (lambda: wilson(-1, 2), "successes is -1"),
        (lambda: wilson(1, 2, level=95), "level is 95"),
        (lambda: wilson(0, 0, level=0), "level is 0"),
        (lambda: wilson(1.5, 2), "successes is 1.5"),  # type: ignore[arg-type]
        (lambda: mean_interval([1.0, math.nan]), "nan of item 1"),
        (lambda: mean_interval([1.0, math.inf]), "inf of item 1"),
        (lambda: mean_interval([10**400]), "of item 0"),
        (lambda: mean_interval(["x"]), "'x' of item 0"),  # type: ignore[list-item]
        (lambda: clustered_interval([1.0], ["a", "b"]), "not as many clusters"),
        (lambda: odds_ratio(-1, 0), "better is -1"),
        (lambda: risk_difference(Pairs(1, 2, -3, 4)), "only_b is -3"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


# Pairs of yes and no ------------------------------------------------------------------------------


def test_the_paired_difference_is_that_of_published_examples() -> None:
    """M. Fagerland, S. Lydersen, P. Laake, Statistical Analysis of Contingency Tables (2017), ch. 8
    (response before and after consolidation, Cavo 2012); D. Altman et al., Statistics with
    Confidence (2000), table 6.2."""
    found = risk_difference(Pairs(both=59, only_a=16, only_b=6, neither=80))
    assert found.value == pytest.approx(-0.0621, abs=5e-5)
    assert limits(found) == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    found = risk_difference(Pairs(both=14, only_a=0, only_b=5, neither=22))
    assert found.value == pytest.approx(0.12, abs=5e-3)
    assert limits(found) == pytest.approx((0.01, 0.23), abs=5e-3)


def test_the_odds_ratio_is_that_of_a_published_example() -> None:
    """The same book, for the same table."""
    found = odds_ratio(6, 16)
    assert found.value == 0.375
    assert limits(found) == pytest.approx((0.1514, 0.9287), abs=5e-5)


@patient
@given(tables, levels)
def test_a_paired_difference_lies_within_its_limits_and_mirrors(pairs: Pairs, level: float) -> None:
    found = risk_difference(pairs, level=level)
    low, high = limits(found)
    assert -1 <= low <= high <= 1
    if found.value is not None:
        assert low <= found.value <= high
    mirrored = risk_difference(
        Pairs(pairs.both, pairs.only_b, pairs.only_a, pairs.neither), level=level
    )
    assert limits(mirrored) == pytest.approx((-high, -low), abs=1e-12)
    turned = risk_difference(
        Pairs(pairs.neither, pairs.only_b, pairs.only_a, pairs.both), level=level
    )
    assert limits(turned) == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("chances", [(0.5, 0.15, 0.05, 0.3), (0.9, 0.02, 0.06, 0.02)])
def test_limits_of_a_paired_difference_hold_the_truth(chances: tuple[float, ...]) -> None:
    chance = np.random.default_rng(5)
    truth = chances[2] - chances[1]
    draws = chance.multinomial(80, chances, size=2000)
    held = sum(truth in risk_difference(Pairs(*map(int, draw))) for draw in draws)
    assert 0.93 < held / 2000 < 0.985


def test_odds_without_a_counterpart_are_open_upwards() -> None:
    found = odds_ratio(5, 0)
    assert found.value is None
    assert found.high is None
    assert found.low == pytest.approx(1.302, abs=1e-3)
    assert "no item became worse" in str(found)
    assert odds_ratio(0, 0).low is None
    assert odds_ratio(0, 4).value == 0
    assert risk_difference(Pairs(0, 0, 0, 0)).value is None


@patient
@given(st.integers(1, 500), st.integers(1, 500))
def test_the_odds_of_the_other_side_are_the_inverse(better: int, worse: int) -> None:
    low, high = limits(odds_ratio(better, worse))
    assert limits(odds_ratio(worse, better)) == pytest.approx((1 / high, 1 / low))


# Means --------------------------------------------------------------------------------------------


@patient
@given(levels, st.integers(1, 3000))
def test_the_quantiles_of_t_are_those_of_scipy(level: float, degrees: int) -> None:
    judge = stats.t.ppf(0.5 + level / 2, degrees)
    assert t_quantile(level, degrees) == pytest.approx(judge, rel=1e-11)


def test_the_quantiles_of_t_are_those_of_the_printed_tables() -> None:
    """R. A. Fisher and F. Yates, Statistical Tables, table III."""
    rows = {1: (12.706, 63.657), 2: (4.303, 9.925), 10: (2.228, 3.169), 120: (1.980, 2.617)}
    for degrees, (at_95, at_99) in rows.items():
        assert round(t_quantile(0.95, degrees), 3) == at_95
        assert round(t_quantile(0.99, degrees), 3) == at_99
    assert t_quantile(0.95, 10**7) == pytest.approx(1.95996, abs=1e-5)


@patient
@given(st.lists(numbers, min_size=2, max_size=50).filter(lambda v: len(set(v)) > 1), levels)
def test_limits_of_a_mean_are_those_of_scipy(values: list[float], level: float) -> None:
    judge = stats.ttest_1samp(values, 0).confidence_interval(level)
    scale = max(map(abs, values))
    found = limits(mean_interval(values, level=level))
    assert found == pytest.approx((judge.low, judge.high), rel=1e-6, abs=1e-6 * scale)


def test_student_s_own_example_comes_out() -> None:
    """Student, Biometrika 6 (1908): hours of sleep gained with the second drug over the first;
    the limits are those that R prints for its `sleep` data."""
    gained = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    found = mean_interval(gained)
    assert found.value == pytest.approx(1.58)
    assert limits(found) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)
    assert cohens_d(gained) == pytest.approx(1.58 / np.std(gained, ddof=1))


@pytest.mark.parametrize("values", [[], [None, None]])
def test_nothing_has_no_mean(values: list[float | None]) -> None:
    for found in (mean_interval(values), clustered_interval(values, range(len(values)))):
        assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
        assert "no value" in str(found)


def test_one_value_has_no_limits_and_equal_ones_no_width() -> None:
    one = mean_interval([0.1, None])
    assert (one.value, one.low, one.high, one.n) == (0.1, None, None, 1)
    assert "no interval" in str(one)
    equal = mean_interval([0.1] * 7)
    assert (equal.value, equal.low, equal.high) == (0.1, 0.1, 0.1)
    assert "equal" in equal.note
    assert cohens_d([0.1] * 7) is None
    assert cohens_d([0.1]) is None


def test_limits_can_be_cut_to_a_range_and_say_so() -> None:
    found = mean_interval([1, 1, 1, 0.9], within=(0, 1))
    assert found.high == 1
    assert "cut to the range from 0 to 1" in str(found)
    assert mean_interval([0.5, 0.4, 0.45], within=(0, 1)).note == ""


@patient
@given(st.lists(numbers | st.none(), max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(
    values: list[float | None], chance: random.Random
) -> None:
    groups = [at % 4 for at in range(len(values))]
    both = list(zip(values, groups, strict=True))
    chance.shuffle(both)
    shuffled, regrouped = [each for each, _ in both], [group for _, group in both]
    assert mean_interval(shuffled) == mean_interval(values)
    assert clustered_interval(shuffled, regrouped) == clustered_interval(values, groups)


# Clusters -----------------------------------------------------------------------------------------


@patient
@given(st.lists(numbers, min_size=2, max_size=30))
def test_clusters_of_one_change_nothing(values: list[float]) -> None:
    alone, plain = clustered_interval(values, range(len(values))), mean_interval(values)
    assert limits(alone) == pytest.approx(limits(plain), rel=1e-9, abs=1e-9)


def test_the_clustered_error_is_what_its_definition_says() -> None:
    """Pair by pair, as in E. Miller, Adding Error Bars to Evals (2024)."""
    values = [1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1]
    groups = list("aabbbccdddd")
    n, mean = len(values), sum(values) / len(values)
    within = sum(
        (one - mean) * (other - mean)
        for one, group in zip(values, groups, strict=True)
        for other, same in zip(values, groups, strict=True)
        if group == same
    )
    assert clustered_error(values, groups) == pytest.approx(math.sqrt(within * 4 / 3) / n)
    found = clustered_interval(values, groups)
    half = stats.t.ppf(0.975, 3) * math.sqrt(within * 4 / 3) / n
    assert limits(found) == pytest.approx((mean - half, mean + half))
    assert found.n == 4


@patient
@given(st.lists(numbers, min_size=3, max_size=20, unique=True), st.integers(2, 6))
def test_copies_of_items_add_nothing(values: list[float], copies: int) -> None:
    """Where the items of a cluster are all the same, its size does not count."""
    many = [value for value in values for _ in range(copies)]
    groups = [value for value in values for _ in range(copies)]
    found, single = clustered_interval(many, groups), mean_interval(values)
    assert limits(found) == pytest.approx(limits(single), rel=1e-7, abs=1e-6)


def test_clustered_limits_hold_the_truth_where_plain_ones_do_not() -> None:
    chance = random.Random(11)
    clustered = plain = 0
    groups = [at // 8 for at in range(240)]
    for _ in range(600):
        shared = [chance.gauss(0, 1) for _ in range(30)]
        values = [shared[group] + chance.gauss(0, 1) for group in groups]
        clustered += 0 in clustered_interval(values, groups)
        plain += 0 in mean_interval(values)
    assert 0.925 < clustered / 600 < 0.975
    assert plain / 600 < 0.75


def test_one_cluster_has_no_limits() -> None:
    found = clustered_interval([1, 0, 1], ["a", "a", "a"])
    assert (found.low, found.high, found.n) == (None, None, 1)
    assert "one cluster" in found.note
    assert clustered_error([], []) is None


# Intervals as values ------------------------------------------------------------------------------


def test_an_interval_says_what_it_is() -> None:
    assert str(wilson(71, 100)) == "0.71 (95 % interval 0.6146 to 0.7899, Wilson, n = 100)"
    assert "99.9 % interval" in str(wilson(71, 100, level=0.999))
    found = Interval(2.0, 1.0, None, 0.9, "by hand", 3)
    assert 1e9 in found
    assert 0.5 not in found
    assert found.width is None
    assert str(found) == "2 (90 % interval 1 to anything, by hand, n = 3)"
