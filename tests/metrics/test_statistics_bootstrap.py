"""Bootstrap limits: scipy's from the same resamples, published ones, and what they claim."""

from __future__ import annotations

import random
import statistics
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.metrics.statistics import (
    Interval,
    bootstrap,
    bootstrap_difference,
    clustered_interval,
    mean_interval,
)
from penstock.metrics.statistics.bootstrap import BootstrapMethod, Draws, limits, mean_draws
from penstock.metrics.statistics.means import Cluster
from tests.metrics.texts import patient

METHODS: list[BootstrapMethod] = ["bca", "percentile"]
numbers = st.floats(-1000, 1000, allow_nan=False).map(lambda value: round(value, 2))

# B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), table 14.1.
SPATIAL = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24]
SPATIAL += [26, 30, 41]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def scipys(values: list[int], statistic: Any, draws: Draws, method: str, level: float) -> Any:
    """The limits that scipy makes of the same resamples."""
    earlier = SimpleNamespace(bootstrap_distribution=np.array(draws.resampled))
    return stats.bootstrap(
        (values,),
        statistic,
        method="BCa" if method == "bca" else method,
        confidence_level=level,
        n_resamples=0,
        bootstrap_result=earlier,
    ).confidence_interval


# Against others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@patient
@given(
    # Whole numbers: both sides find the same resamples equal to the estimate.
    st.lists(st.integers(-1000, 1000), min_size=3, max_size=30).filter(lambda v: len(set(v)) > 2),
    st.sampled_from([0.8, 0.95]),
)
def test_limits_of_a_mean_are_scipys_from_the_same_resamples(
    method: BootstrapMethod, values: list[int], level: float
) -> None:
    units = [Cluster(value, 1) for value in sorted(values)]
    draws = mean_draws(units, 200, random.Random(3))
    assert draws is not None
    if not min(draws.resampled) < draws.value < max(draws.resampled):
        return
    judge = scipys(values, np.mean, draws, method, level)
    found = limits(draws, method, level)
    assert found[:2] == pytest.approx((judge.low, judge.high), rel=1e-6, abs=1e-6)
    whole = bootstrap(values, method=method, level=level, resamples=200, seed=3)
    assert ends(whole) == found[:2]


@pytest.mark.parametrize("method", METHODS)
def test_limits_of_any_statistic_are_near_scipys(method: BootstrapMethod) -> None:
    chance = np.random.default_rng(8)
    values = chance.exponential(size=80).tolist()
    found = bootstrap(values, lambda drawn: float(np.std(drawn)), method=method, resamples=4000)
    judge = stats.bootstrap(
        (values,),
        np.std,
        method="BCa" if method == "bca" else method,
        n_resamples=4000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert found.width is not None
    assert ends(found) == pytest.approx((judge.low, judge.high), abs=0.06 * found.width)


def test_the_variance_of_the_spatial_data_has_efrons_limits() -> None:
    """Table 14.2 there: 90 % limits of the variance from 2,000 resamples."""

    def variance(values: list[float]) -> float:
        mean = sum(values) / len(values)
        return sum((value - mean) ** 2 for value in values) / len(values)

    def found(method: BootstrapMethod) -> Interval:
        return bootstrap(SPATIAL, variance, method=method, level=0.9, resamples=6000)

    assert found("bca").value == pytest.approx(171.5, abs=0.05)
    assert ends(found("percentile")) == pytest.approx((100.8, 233.9), abs=5)
    assert ends(found("bca")) == pytest.approx((115.8, 259.6), abs=6)


def test_for_many_values_it_is_what_t_says() -> None:
    chance = random.Random(4)
    values = [chance.gauss(5, 2) for _ in range(1500)]
    found, judge = bootstrap(values, resamples=3000), mean_interval(values)
    assert judge.width is not None
    assert ends(found) == pytest.approx(ends(judge), abs=0.05 * judge.width)


# What it claims -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_limits_hold_the_truth_as_often_as_they_say(method: BootstrapMethod) -> None:
    chance = random.Random(21)
    held = 0
    for at in range(300):
        values = [chance.expovariate(1) for _ in range(60)]
        held += 1 in bootstrap(values, method=method, level=0.9, resamples=300, seed=at)
    assert 0.84 < held / 300 < 0.95


@pytest.mark.parametrize("method", METHODS)
def test_clusters_drawn_as_wholes_hold_the_truth_where_items_do_not(
    method: BootstrapMethod,
) -> None:
    chance = random.Random(22)
    clustered = plain = 0
    for at in range(200):
        values, groups = [], []
        for group in range(40):
            shared = chance.gauss(3, 1)
            size = chance.randint(2, 10)
            values += [shared + chance.gauss(0, 1) for _ in range(size)]
            groups += [group] * size
        clustered += 3 in bootstrap(
            values, clusters=groups, method=method, level=0.9, resamples=200, seed=at
        )
        plain += 3 in bootstrap(values, method=method, level=0.9, resamples=200, seed=at)
    assert 0.83 < clustered / 200 < 0.95
    assert plain / 200 < 0.75


def test_a_hundred_thousand_values_are_drawn_in_batches_with_the_same_limits() -> None:
    chance = random.Random(5)
    values = [chance.expovariate(1) for _ in range(30_001)]
    judge = mean_interval(values)
    found = bootstrap(values, resamples=1000)
    assert found.n == 30_001
    assert found.value == pytest.approx(judge.value)
    assert "2,000 batches" in found.note
    assert judge.width is not None
    assert ends(found) == pytest.approx(ends(judge), abs=0.08 * judge.width)
    groups = [at // 5 for at in range(30_001)]
    found = bootstrap(values, clusters=groups, resamples=1000)
    assert found.n == 6_001
    judge = clustered_interval(values, groups)
    assert judge.width is not None
    assert ends(found) == pytest.approx(ends(judge), abs=0.08 * judge.width)


@patient
@given(
    st.lists(numbers | st.none(), max_size=25),
    st.randoms(use_true_random=False),
    st.sampled_from(METHODS),
    st.booleans(),
)
def test_neither_order_nor_repetition_changes_the_limits_of_a_mean(
    values: list[float | None], chance: random.Random, method: BootstrapMethod, grouped: bool
) -> None:
    pairs = [(value, at % 5) for at, value in enumerate(values)]
    shuffled = chance.sample(pairs, len(pairs))

    def found(pairs: list[tuple[float | None, int]]) -> Interval:
        groups = [group for _, group in pairs] if grouped else None
        return bootstrap(
            [value for value, _ in pairs], clusters=groups, method=method, resamples=40
        )

    assert found(shuffled) == found(pairs)


@patient
@given(st.lists(numbers, min_size=2, max_size=25), st.sampled_from(METHODS), st.booleans())
def test_limits_lie_within_the_data_and_move_with_them(
    values: list[float], method: BootstrapMethod, grouped: bool
) -> None:
    groups = [at % 7 for at in range(len(values))] if grouped else None
    found = bootstrap(values, method=method, clusters=groups, resamples=60)
    low, high = ends(found)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    turned = bootstrap([-value for value in values], method=method, clusters=groups, resamples=60)
    assert ends(turned) == pytest.approx((-high, -low), abs=1e-6)
    if not grouped:
        doubled = bootstrap([2 * value for value in values], method=method, resamples=60)
        assert ends(doubled) == pytest.approx((2 * low, 2 * high), abs=1e-6)


def test_another_seed_draws_otherwise() -> None:
    first, same, other = (bootstrap(SPATIAL, resamples=200, seed=seed) for seed in (0, 0, 1))
    assert first == same
    assert ends(first) != ends(other)


# A statistic of one's own -------------------------------------------------------------------------


def test_a_statistic_gets_whole_items_of_any_kind() -> None:
    pairs = [(at, 2 * at + (at % 3)) for at in range(40)]

    def slope(drawn: list[tuple[int, int]]) -> float:
        return statistics.linear_regression(*zip(*drawn, strict=True)).slope

    found = bootstrap(pairs, slope, resamples=300)
    assert found.value == pytest.approx(slope(pairs))
    assert 2.0 in found


def test_a_statistic_of_clusters_gets_each_cluster_whole() -> None:
    seen: list[list[str]] = []

    def count(drawn: list[str]) -> float:
        seen.append(drawn)
        return len(drawn)

    bootstrap("aabbbc", count, clusters="aabbbc", resamples=50)
    assert len(seen) == 1 + 50 + 3
    for drawn in seen:
        assert drawn.count("a") % 2 == 0
        assert drawn.count("b") % 3 == 0


def test_leaving_parts_out_is_bounded_for_long_data() -> None:
    calls = 0

    def mean(drawn: list[float]) -> float:
        nonlocal calls
        calls += 1
        return sum(drawn) / len(drawn)

    chance = random.Random(6)
    values = [chance.expovariate(1) for _ in range(1200)]
    found = bootstrap(values, mean, resamples=400)
    assert calls == 1 + 400 + 500
    judge = bootstrap(values, resamples=4000)
    assert judge.width is not None
    assert ends(found) == pytest.approx(ends(judge), abs=0.15 * judge.width)


# Paired -------------------------------------------------------------------------------------------


def test_the_paired_difference_is_drawn_by_pairs() -> None:
    chance = random.Random(7)
    a: list[float | None] = [chance.gauss(0, 5) for _ in range(200)]
    b = [None if value is None else value + chance.gauss(0.5, 0.5) for value in a]
    found = bootstrap_difference(a, b, resamples=500)
    assert 0.5 in found
    assert found.width is not None
    assert found.width < 0.2
    turned = bootstrap_difference(b, a, resamples=500)
    assert ends(turned) == pytest.approx((-ends(found)[1], -ends(found)[0]), abs=1e-12)
    holes = bootstrap_difference([*a, None, 1.0], [*b, 3.0, None], resamples=500)
    assert holes == found


# What cannot be told ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_told_is_none(method: BootstrapMethod) -> None:
    assert bootstrap([], method=method) == bootstrap([None, None], method=method)
    nothing = bootstrap([], statistics.fmean, method=method)
    assert (nothing.value, nothing.low, nothing.high, nothing.n) == (None, None, None, 0)
    one = bootstrap([3.0], method=method)
    assert (one.value, one.low, one.high, one.n) == (3.0, None, None, 1)
    one = bootstrap([3.0, 5.0], statistics.fmean, clusters="aa", method=method)
    assert (one.value, one.low, one.high, one.n) == (4.0, None, None, 1)
    assert "one cluster" in one.note
    equal = bootstrap([0.1] * 9, method=method)
    assert ends(equal) == (equal.value, equal.value)
    assert "equal" in equal.note


def test_a_statistic_beyond_all_resamples_falls_back_to_percentiles_and_says_so() -> None:
    found = bootstrap(range(50), lambda drawn: float(len(set(drawn))), resamples=100)
    assert found.value == 50
    assert "percentiles" in found.note


def test_a_single_resample_is_enough_to_stand_on() -> None:
    found = bootstrap([1.0, 2.0, 4.0], resamples=1, method="percentile")
    assert found.low == found.high


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"method": "studentized"}, "method is 'studentized'"),
        ({"level": 1.0}, "level is 1.0"),
        ({"resamples": 0}, "resamples is 0"),
        ({"clusters": "abc"}, "not as many clusters"),
        ({"clusters": "abc", "statistic": sum}, "not as many clusters"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        bootstrap([1, 2], **settings)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="same number"):
        bootstrap_difference([1], [1, 2])
