"""Tests of paired items: against scipy, against published examples, and by their error rates."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.metrics.statistics import holm, mcnemar, permutation_test, wilcoxon
from tests.metrics.texts import patient

counts = st.integers(0, 300)
changes = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=9)
p_values = st.lists(st.none() | st.floats(0, 1), max_size=12)

# Heights of crossed less self-fertilised maize, in eighths of an inch: C. Darwin (1876), as in
# R. A. Fisher, The Design of Experiments (1935), chapter III.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


# McNemar ------------------------------------------------------------------------------------------


@patient
@given(counts, counts)
def test_mcnemar_is_the_binomial_test_of_scipy(better: int, worse: int) -> None:
    found = mcnemar(better, worse)
    n = better + worse
    judge = stats.binomtest(better, n).pvalue if n else 1.0
    assert found.p == pytest.approx(judge, rel=1e-9)
    assert found.n == n
    assert mcnemar(worse, better) == found


@pytest.mark.parametrize("counts", [(10_100, 9_900), (10_001, 10_002), (50_700, 50_000)])
def test_mcnemar_of_very_many_items_is_that_of_scipy(counts: tuple[int, int]) -> None:
    judge = stats.binomtest(counts[0], sum(counts)).pvalue
    assert mcnemar(*counts).p == pytest.approx(judge, rel=1e-7)


def test_mcnemar_of_published_tables() -> None:
    """A. Agresti, Categorical Data Analysis (2002), table 10.1: 150 and 86 changed their mind about
    a prime minister, z = 4.17. M. Fagerland, S. Lydersen, P. Laake (2013): 1 and 7, p = 0.070."""
    found = mcnemar(86, 150).p
    assert found is not None
    assert found == pytest.approx(2 * stats.norm.sf(4.17), rel=0.25)
    assert mcnemar(1, 7).p == pytest.approx(0.0703, abs=5e-5)


def test_mcnemar_without_changes_is_no_evidence() -> None:
    assert mcnemar(0, 0).p == 1
    assert mcnemar(5, 5).p == 1
    assert mcnemar(0, 10).p == 2 / 1024
    assert mcnemar(0, 5000).p == 0 or mcnemar(0, 5000).p == pytest.approx(0, abs=1e-300)


@patient
@given(st.integers(0, 60), st.integers(0, 60))
def test_a_more_uneven_split_is_stronger_evidence(better: int, worse: int) -> None:
    if better > worse > 0:
        found, further = mcnemar(better, worse).p, mcnemar(better + 1, worse - 1).p
        assert found is not None
        assert further is not None
        assert further < found or found == 1


# Permutation --------------------------------------------------------------------------------------


def test_fishers_own_permutation_test_comes_out() -> None:
    """863 of the 32,768 sums are as large as that of Darwin's plants, on either side."""
    found = permutation_test(DARWIN)
    assert found.p == 2 * 863 / 32_768
    assert found.test == "exact permutation"
    assert found.n == 15


@patient
@given(changes)
def test_an_exact_permutation_test_tries_every_sign(differences: list[float]) -> None:
    observed = abs(sum(differences))
    sums = [
        sum(sign * part for sign, part in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(abs(each) >= observed for each in sums) / len(sums)
    assert permutation_test(differences).p == pytest.approx(expected)


def test_the_exact_permutation_test_is_that_of_scipy() -> None:
    chance = np.random.default_rng(2)
    for n in (2, 5, 9, 12):
        a, b = chance.normal(size=n).round(2), chance.normal(0.5, size=n).round(2)
        judge = stats.permutation_test(
            (b, a),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert permutation_test(b - a).p == pytest.approx(judge.pvalue)


def test_a_drawn_permutation_test_is_near_the_exact_one() -> None:
    """For yes and no the exact one is McNemar's."""
    for better, worse in ((30, 14), (60, 55), (12, 10)):
        found = permutation_test([1.0] * better + [-1.0] * worse + [0.0] * 50)
        exact = mcnemar(better, worse).p
        assert found.p is not None
        assert exact is not None
        assert found.test == "permutation"
        assert found.n == better + worse
        error = math.sqrt(exact * (1 - exact) / 9_999)
        assert abs(found.p - exact) < 4 * error + 2e-4


def test_a_drawn_p_is_never_0() -> None:
    assert permutation_test([1.0] * 100, resamples=999).p == 1 / 1000
    assert permutation_test([1.0] * 5000, resamples=99).p == 1 / 100


def test_many_items_in_batches_give_the_p_of_the_normal_distribution() -> None:
    chance = random.Random(3)
    for shift in (0.0, 0.012, 0.02):
        values = [chance.gauss(shift, 1) for _ in range(20_000)]
        judge = stats.ttest_1samp(values, 0).pvalue
        found = permutation_test(values, resamples=2_000)
        assert found.n == 20_000
        assert found.p == pytest.approx(judge, abs=0.05)


@patient
@given(
    changes | st.lists(st.integers(-5, 5).map(float), min_size=20, max_size=60),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_sides_matter_to_a_test(
    differences: list[float], chance: random.Random
) -> None:
    shuffled = chance.sample(differences, len(differences))
    turned = [-each for each in shuffled]
    found = permutation_test(differences, resamples=99)
    assert permutation_test(shuffled, resamples=99) == found
    assert permutation_test(turned, resamples=99) == found
    assert wilcoxon(shuffled) == wilcoxon(turned) == wilcoxon(differences)


def test_a_permutation_test_by_clusters_changes_their_signs_together() -> None:
    differences = [1.0, 2.0, -1.0, 3.0, 1.0, 1.0, -2.0]
    groups = list("aabbccd")
    sums = [3.0, 2.0, 2.0, -2.0]
    assert permutation_test(differences, clusters=groups).p == permutation_test(sums).p
    alone = permutation_test(differences, clusters=range(7))
    assert alone == permutation_test(differences)


def test_clusters_keep_the_rate_of_false_alarms_where_items_do_not() -> None:
    chance = random.Random(8)
    groups = [at // 6 for at in range(90)]
    clustered = plain = 0
    for at in range(300):
        shared = [chance.gauss(0, 1) for _ in range(15)]
        values = [shared[group] + chance.gauss(0, 0.5) for group in groups]
        found = permutation_test(values, clusters=groups, resamples=99, seed=at).p
        naive = permutation_test(values, resamples=99, seed=at).p
        assert found is not None
        assert naive is not None
        clustered += found <= 0.05
        plain += naive <= 0.05
    assert clustered / 300 < 0.09
    assert plain / 300 > 0.2


# Wilcoxon -----------------------------------------------------------------------------------------


@patient
@given(st.lists(st.integers(1, 4000), min_size=1, max_size=50, unique=True), st.data())
def test_wilcoxon_without_ties_is_that_of_scipy(ranks: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(ranks), max_size=len(ranks)))
    values = [sign * rank for sign, rank in zip(signs, ranks, strict=True)]
    judge = stats.wilcoxon(values, method="exact").pvalue
    assert wilcoxon(values).p == pytest.approx(judge, rel=1e-9)


@patient
@given(changes.filter(any))
def test_wilcoxon_with_ties_tries_every_sign(differences: list[float]) -> None:
    left = [each for each in differences if each]
    ranks = stats.rankdata(np.abs(left))
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(left))
    ]
    upper = sum(rank for rank, each in zip(ranks, left, strict=True) if each > 0)
    tail = min(sum(each <= upper for each in sums), sum(each >= upper for each in sums))
    assert wilcoxon(differences).p == pytest.approx(min(1, 2 * tail / len(sums)))


def test_wilcoxon_of_many_items_is_scipys_approximation_with_ties() -> None:
    chance = random.Random(9)
    for shift in (-0.3, 0.0, 0.2):
        values = [round(chance.gauss(shift, 1.5)) for _ in range(300)]
        judge = stats.wilcoxon(values, method="asymptotic", correction=False).pvalue
        assert wilcoxon(values).p == pytest.approx(judge, rel=1e-9)


def test_differences_that_are_equal_but_for_rounding_are_ties() -> None:
    assert wilcoxon([0.3 - 0.2, 0.1 - 0.2, 0.4 - 0.3]) == wilcoxon([1, -1, 1])


def test_nothing_is_no_evidence_and_no_change_neither() -> None:
    for test in (permutation_test, wilcoxon):
        assert test([]).p is None
        assert test([None, None]).p is None
        assert "nothing to test" in str(test([]))
        assert test([0.0, 0.0]).p == 1
        assert test([0.0, None, 3.0]).p == 1
        assert test([0.0, 3.0]).n == 1


# Holm ---------------------------------------------------------------------------------------------


def test_holm_of_worked_examples() -> None:
    """By hand: the smallest times four, the next times three, and never falling."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
    assert holm([None, 0.02, None]) == [None, 0.02, None]


@patient
@given(p_values)
def test_holm_rejects_what_the_step_down_procedure_rejects(given: list[float | None]) -> None:
    """S. Holm (1979): go up while the smallest of the m left is at most alpha / m."""
    corrected = holm(given)
    for alpha in (0.01, 0.05, 0.3):
        left = sorted(p for p in given if p is not None)
        rejected = 0
        while left and left[0] * len(left) <= alpha:
            left.pop(0)
            rejected += 1
        assert sum(p is not None and p <= alpha for p in corrected) == rejected


@patient
@given(p_values, st.randoms(use_true_random=False))
def test_holm_never_lowers_keeps_the_order_and_lies_below_bonferroni(
    given: list[float | None], chance: random.Random
) -> None:
    corrected = holm(given)
    tested = sum(p is not None for p in given)
    for p, after in zip(given, corrected, strict=True):
        assert (p is None) == (after is None)
        if p is not None and after is not None:
            assert p <= after <= min(1, p * tested)
    order = chance.sample(range(len(given)), len(given))
    assert holm([given[at] for at in order]) == [corrected[at] for at in order]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: holm([0.1, 1.5]), "p value 1 is 1.5"),
        (lambda: holm([math.nan]), "p value 0 is nan"),
        (lambda: mcnemar(-1, 2), "better is -1"),
        (lambda: permutation_test([1.0], resamples=0), "resamples is 0"),
        (lambda: permutation_test([1.0], clusters="ab"), "not as many clusters"),
        (lambda: wilcoxon([math.nan]), "nan of item 0"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()
