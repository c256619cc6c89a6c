"""Rates behind a judge that errs, and what so many items can show."""

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
    JudgeAccuracy,
    corrected_rate,
    items_needed,
    smallest_difference,
    wilson,
)
from tests.metrics.texts import patient

shares = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
rates = st.floats(0.55, 1)
sizes = st.none() | st.integers(5, 500)


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


# Published ----------------------------------------------------------------------------------------


def test_published_examples_of_known_accuracy() -> None:
    """From the documentation of `epi.prev` in the R package epiR: 23 of 150 cows positive give 5.1
    in 100 (0 to 13) at sensitivity 0.96 and specificity 0.89; 6 of 151 children give 0 (0 to 1.3)
    at 0.964 and 0.927. Their limits are exact ones, so a digit may differ."""
    found = corrected_rate(23, 150, JudgeAccuracy(0.96, 0.89))
    assert found.value == pytest.approx(0.051, abs=5e-4)
    assert ends(found) == pytest.approx((0, 0.13), abs=5e-3)
    found = corrected_rate(6, 151, JudgeAccuracy(0.964, 0.927))
    assert found.value == 0
    assert ends(found) == pytest.approx((0, 0.013), abs=2e-3)


def test_limits_of_lang_and_reiczigel_by_their_formulas() -> None:
    """Z. Lang and J. Reiczigel (2014), equations 4, 6, 7, 16 and 17, step by step."""
    found = corrected_rate(60, 200, JudgeAccuracy(0.9, 0.95, positives=50, negatives=80))
    z = stats.norm.ppf(0.975)
    n, p = 200 + z**2, (60 + z**2 / 2) / (200 + z**2)
    se, sp = (45 + 1) / 52, (76 + 1) / 82
    middle = (p + sp - 1) / (se + sp - 1)
    of_se, of_sp = se * (1 - se) / 52, sp * (1 - sp) / 82
    shift = 2 * z**2 * (middle * of_se - (1 - middle) * of_sp)
    variance = (p * (1 - p) / n + middle**2 * of_se + (1 - middle) ** 2 * of_sp) / (
        se + sp - 1
    ) ** 2
    expected = (middle + shift - z * math.sqrt(variance), middle + shift + z * math.sqrt(variance))
    assert found.value == pytest.approx((0.3 + 0.95 - 1) / 0.85)
    assert ends(found) == pytest.approx(expected)


# What they claim ----------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [0.0, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("known", [True, False])
def test_limits_hold_the_true_rate_as_often_as_they_say(truth: float, known: bool) -> None:
    chance = np.random.default_rng(13)
    sensitivity, specificity, held = 0.85, 0.92, 0
    called = truth * sensitivity + (1 - truth) * (1 - specificity)
    for _ in range(1000):
        judge = JudgeAccuracy(sensitivity, specificity)
        if not known:
            judge = JudgeAccuracy(
                chance.binomial(60, sensitivity) / 60, chance.binomial(80, specificity) / 80, 60, 80
            )
        held += truth in corrected_rate(int(chance.binomial(250, called)), 250, judge)
    assert held / 1000 > 0.925
    if truth:
        assert held / 1000 < 0.985


def test_the_raw_rate_is_biased_and_the_corrected_one_is_not() -> None:
    chance = random.Random(3)
    truth, judge = 0.1, JudgeAccuracy(0.8, 0.9)
    called = 0.1 * 0.8 + 0.9 * 0.1
    successes = sum(chance.random() < called for _ in range(100_000))
    found = corrected_rate(successes, 100_000, judge)
    assert successes / 100_000 > 0.16
    assert found.value == pytest.approx(truth, abs=0.005)


@patient
@given(shares, rates, rates, sizes, sizes, st.sampled_from([0.8, 0.95, 0.99]))
def test_a_corrected_rate_lies_within_its_limits_and_these_from_0_to_1(
    share: tuple[int, int],
    sensitivity: float,
    specificity: float,
    positives: int | None,
    negatives: int | None,
    level: float,
) -> None:
    judge = JudgeAccuracy(sensitivity, specificity, positives, negatives)
    found = corrected_rate(*share, judge, level=level)
    low, high = ends(found)
    assert found.value is not None
    assert 0 <= low <= found.value <= high <= 1
    raw = (share[0] / share[1] + specificity - 1) / judge.worth
    assert found.value == pytest.approx(min(max(raw, 0), 1))
    if found.value != pytest.approx(raw):
        assert f"the estimate was {raw:.4g}" in found.note
    successes, n = share
    if successes < n:
        above = corrected_rate(successes + 1, n, judge, level=level)
        assert above.value is not None
        assert above.value >= found.value


@patient
@given(shares)
def test_a_judge_that_never_errs_corrects_nothing(share: tuple[int, int]) -> None:
    found, plain = corrected_rate(*share, JudgeAccuracy(1, 1)), wilson(*share)
    assert (found.value, *ends(found)) == (plain.value, *ends(plain))
    assert found.note == ""


@patient
@given(shares, rates, rates)
def test_turning_success_round_turns_the_rate_round(
    share: tuple[int, int], sensitivity: float, specificity: float
) -> None:
    successes, n = share
    found = corrected_rate(successes, n, JudgeAccuracy(sensitivity, specificity, 40, 90))
    turned = corrected_rate(n - successes, n, JudgeAccuracy(specificity, sensitivity, 90, 40))
    assert found.value is not None
    assert turned.value == pytest.approx(1 - found.value, abs=1e-9)
    assert ends(turned) == pytest.approx((1 - ends(found)[1], 1 - ends(found)[0]), abs=1e-9)


def test_a_smaller_labelled_sample_makes_wider_limits() -> None:
    widths = [
        corrected_rate(100, 400, JudgeAccuracy(0.85, 0.9, size, size)).width
        for size in (None, 10_000, 1000, 100, 30)
    ]
    assert all(width is not None for width in widths)
    assert widths == sorted(widths, key=lambda width: width or 0)
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    one = corrected_rate(100, 400, JudgeAccuracy(0.85, 0.9, positives=50)).width
    assert widths[0] is not None
    assert one is not None
    assert one > widths[0]


def test_limits_that_would_not_hold_the_estimate_are_widened_to_it() -> None:
    """The added counts pull a perfect judge's rates away from 1, and the limits with them."""
    found = corrected_rate(459, 505, JudgeAccuracy(1.0, 1.0, positives=33), level=0.5)
    assert found.low == found.value == 459 / 505
    assert "widened to the estimate" in found.note


# The judge ----------------------------------------------------------------------------------------


def test_accuracy_comes_from_counts_or_labels() -> None:
    counted = JudgeAccuracy.from_counts(hits=3, misses=1, alarms=1, rejections=4)
    assert counted == JudgeAccuracy(0.75, 0.8, 4, 5)
    assert counted.worth == pytest.approx(0.55)
    judged = [True, True, True, False, True, False, False, False, False, None, True]
    labels = [True, True, True, True, False, False, False, False, False, True, None]
    assert JudgeAccuracy.from_labels(judged, labels) == counted


def test_no_answers_judged_leave_everything_open() -> None:
    for judge in (JudgeAccuracy(0.9, 0.9), JudgeAccuracy(0.9, 0.9, 10, 10)):
        found = corrected_rate(0, 0, judge)
        assert (found.value, found.low, found.high) == (None, 0, 1)
        assert found.method.startswith("Rogan-Gladen")


def test_a_judge_hardly_better_than_chance_leaves_everything_open() -> None:
    found = corrected_rate(5, 10, JudgeAccuracy(2 / 3, 2 / 3, 3, 3))
    assert found.width is not None
    assert found.width > 0.9


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: JudgeAccuracy(0.5, 0.5), "no more than chance"),
        (lambda: JudgeAccuracy(0.1, 0.2), "no more than chance"),
        (lambda: JudgeAccuracy(1.2, 0.5), "sensitivity is 1.2"),
        (lambda: JudgeAccuracy(0.9, math.nan), "specificity is nan"),
        (lambda: JudgeAccuracy(0.9, 0.9, 0, 5), "positives is 0"),
        (
            lambda: JudgeAccuracy.from_counts(hits=0, misses=0, alarms=1, rejections=2),
            "no successes",
        ),
        (
            lambda: JudgeAccuracy.from_counts(hits=1, misses=0, alarms=0, rejections=0),
            "no failures",
        ),
        (lambda: JudgeAccuracy.from_labels([True], [True, False]), "not as many verdicts"),
        (lambda: corrected_rate(3, 2, JudgeAccuracy(1, 1)), "3 successes among 2"),
        (lambda: smallest_difference(0, 1), "n is 0"),
        (lambda: smallest_difference(10, -1), "spread is -1"),
        (lambda: smallest_difference(10, 1, power=1.0), "power is 1.0"),
        (lambda: items_needed(0.0, 1), "difference is 0.0"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


# Power --------------------------------------------------------------------------------------------


def test_items_needed_are_those_of_the_textbook() -> None:
    """J. Cohen, Statistical Power Analysis (1988): by the normal distribution, d = 0.5 needs 32
    pairs at 80 % power and 43 at 90 %."""
    assert items_needed(0.5, 1) == 32
    assert items_needed(0.5, 1, power=0.9) == 43
    assert items_needed(-0.5, 1) == 32
    assert items_needed(5, 0) == 1


@patient
@given(st.integers(1, 100_000), st.floats(0.01, 10), st.floats(0.55, 0.99))
def test_the_smallest_difference_needs_as_many_items(n: int, spread: float, power: float) -> None:
    smallest = smallest_difference(n, spread, power=power)
    assert abs(items_needed(smallest, spread, power=power) - n) <= 1
    assert smallest_difference(4 * n, spread, power=power) == pytest.approx(smallest / 2)


def test_the_smallest_difference_shows_as_often_as_the_power_says() -> None:
    chance = np.random.default_rng(17)
    smallest = smallest_difference(150, 2.0)
    draws = chance.normal(smallest, 2.0, size=(4000, 150))
    shown = stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.025)
