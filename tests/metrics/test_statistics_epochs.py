"""Several samples of one item as one value."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics.statistics import at_least, mode, pass_all_k, pass_at_k, reducer
from tests.metrics.texts import patient

samples = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=9)
some = st.lists(st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=9)
NAMES = ["mean", "median", "mode", "max", "min", "at_least(2)", "pass@2", "pass^2"]


@patient
@given(samples, st.data())
def test_pass_at_k_and_pass_all_k_count_the_ways_to_take_k(
    drawn: list[float], data: st.DataObject
) -> None:
    """Over every choice of k of the samples: does any pass, do all?"""
    k = data.draw(st.integers(1, len(drawn)))
    choices = list(combinations(drawn, k))
    passed = int(sum(drawn))
    any_passes = sum(any(choice) for choice in choices) / len(choices)
    all_pass = sum(all(choice) for choice in choices) / len(choices)
    assert pass_at_k(len(drawn), passed, k) == pytest.approx(any_passes)
    assert pass_all_k(len(drawn), passed, k) == pytest.approx(all_pass)
    assert reducer(f"pass@{k}")(drawn) == pytest.approx(any_passes)
    assert reducer(f"pass^{k}")(drawn) == pytest.approx(all_pass)


def test_pass_at_k_is_not_biased_where_the_plain_power_is() -> None:
    """M. Chen et al. (2021), appendix A: 1 - (1 - c / n)^k underestimates."""
    chance = random.Random(2)
    rate, n, k = 0.2, 6, 4
    truth, power = 1 - (1 - rate) ** k, rate**k
    at_k = all_k = naive = 0.0
    rounds = 20_000
    for _ in range(rounds):
        passed = sum(chance.random() < rate for _ in range(n))
        at_k += pass_at_k(n, passed, k) / rounds
        all_k += pass_all_k(n, passed, k) / rounds
        naive += (1 - (1 - passed / n) ** k) / rounds
    assert at_k == pytest.approx(truth, abs=0.008)
    assert all_k == pytest.approx(power, abs=0.002)
    assert naive < truth - 0.05


@patient
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_more_tries_raise_pass_at_k_and_lower_pass_all_k(counts: tuple[int, int]) -> None:
    n, passed = counts
    at_k = [pass_at_k(n, passed, k) for k in range(1, n + 1)]
    all_k = [pass_all_k(n, passed, k) for k in range(1, n + 1)]
    assert at_k == sorted(at_k)
    assert all_k == sorted(all_k, reverse=True)
    assert at_k[0] == pytest.approx(passed / n)
    assert all_k[0] == pytest.approx(passed / n)
    assert at_k[-1] == float(passed > 0)
    assert all_k[-1] == float(passed == n)


def test_large_numbers_of_samples_are_exact() -> None:
    assert pass_at_k(100_000, 1, 50_000) == pytest.approx(0.5)
    assert pass_all_k(100_000, 99_999, 50_000) == pytest.approx(0.5)


def test_each_reducer_does_what_its_name_says() -> None:
    drawn = [0.0, 1.0, 0.5, 1.0, None]
    expected = dict(zip(NAMES, [0.625, 0.75, 1.0, 1.0, 0.0, 1.0], strict=False))
    assert {name: reducer(name)(drawn) for name in expected} == expected
    assert reducer("pass@2")(drawn) == pytest.approx(5 / 6)
    assert reducer("pass^2")(drawn) == pytest.approx(1 / 6)
    assert reducer("at_least_3")(drawn) is None
    assert reducer("at_least(3)", passing=0.5)(drawn) == 1.0
    assert reducer("pass^3", passing=0.5)(drawn) == pytest.approx(1 / 4)


def test_an_even_vote_is_no_success() -> None:
    assert mode([1, 0, 1, 0]) == 0
    assert mode([1, 0, 1, 0, 1]) == 1
    assert mode([]) is None


def test_missing_samples_leave_open_what_they_would_decide() -> None:
    assert at_least([1, None, None], 1) == 1
    assert at_least([1, None, 0], 2) is None
    assert at_least([1, 0, 0, None], 3) == 0
    assert at_least([], 1) is None
    assert reducer("pass@3")([1, 1, None]) is None


@pytest.mark.parametrize("name", NAMES)
@patient
@given(drawn=some, chance=st.randoms(use_true_random=False))
def test_reducers_ignore_order_and_keep_their_range(
    name: str, drawn: list[float | None], chance: random.Random
) -> None:
    found = reducer(name)(drawn)
    assert reducer(name)(chance.sample(drawn, len(drawn))) == found
    there = [value for value in drawn if value is not None]
    if found is None:
        assert not there or name[:2] in ("at", "pa")
    else:
        assert 0 <= found <= 1
        if name in ("mean", "median", "mode", "max", "min"):
            assert min(there) <= found <= max(there)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_reduces_to_nothing(name: str) -> None:
    assert reducer(name)([]) is None
    assert reducer(name)([None, None]) is None


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: reducer("average"), "no reducer 'average'"),
        (lambda: reducer("pass@0"), "no reducer 'pass@0'"),
        (lambda: reducer("pass@"), "no reducer 'pass@'"),
        (lambda: reducer("pass@2", passing=float("nan")), "nan of item passing"),
        (lambda: pass_at_k(3, 1, 4), "3 samples do not tell what 4"),
        (lambda: pass_at_k(3, 4, 1), "4 samples passed among 3"),
        (lambda: pass_all_k(3, 1, 0), "k is 0"),
        (lambda: at_least([1], 0), "k is 0"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()
