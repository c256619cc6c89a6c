"""A cell's numbers come from its seed, its column and its row, and look like chance."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.generate.samplers.draw import Draw, permuted

ROWS = 20_000

T = TypeVar("T")


def _cells(make: Callable[[Draw], T], seed: int | str = 7, name: str = "topic") -> list[T]:
    draw = Draw()
    return [make(draw.at(seed, name, number)) for number in range(ROWS)]


def _is_even(counts: Iterable[int]) -> bool:
    return bool(stats.chisquare(list(counts)).pvalue > 1e-4)


def test_the_same_cell_always_draws_the_same() -> None:
    one, other = Draw(), Draw()
    first = [one.at(1, "a", number).bits() for number in range(50)]
    assert [other.at(1, "a", number).bits() for number in reversed(range(50))] == first[::-1]
    assert len(set(first)) == 50


def test_golden_numbers_do_not_change() -> None:
    draw = Draw()
    assert [hex(draw.at(0, "a", number).bits()) for number in (0, 1, 10**12)] == GOLDEN_BITS
    draw.at("seed", "ü", 3)
    assert (draw.random(), draw.below(1000), draw.between(-5, 5)) == GOLDEN_NUMBERS
    assert [draw.at(0, "n", number).normal() for number in range(3)] == GOLDEN_NORMAL
    assert [draw.at(0, "p", number).poisson(3.5) for number in range(8)] == GOLDEN_COUNTS
    assert [draw.at(0, "p", number).poisson(1234.5) for number in range(5)] == GOLDEN_HIGH_COUNTS
    assert [permuted(draw.at(0, "s", 0).key, 10, number) for number in range(10)] == GOLDEN_SHUFFLE


GOLDEN_BITS = ["0xebd0090cc7800d91", "0x9897036dd58174f4", "0xb564887d541267c6"]
GOLDEN_NUMBERS = (0.47270262610180147, 987, -5)
GOLDEN_NORMAL = [1.1183187704169333, -0.2490536376704269, -0.7731662101328094]
GOLDEN_COUNTS = [7, 0, 3, 3, 4, 3, 2, 4]
GOLDEN_HIGH_COUNTS = [1228, 1219, 1174, 1213, 1214]
GOLDEN_SHUFFLE = [8, 4, 9, 3, 6, 2, 7, 1, 5, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, "a"), (2, "a")),
        ((1, "a"), ("1", "a")),
        ((1, "a"), (1, "b")),
        ((1, "2a"), (12, "a")),
        (("ab", "c"), ("a", "bc")),
    ],
)
def test_seeds_and_names_never_run_together(
    one: tuple[int | str, str], other: tuple[int | str, str]
) -> None:
    assert Draw().at(*one, 0).bits() != Draw().at(*other, 0).bits()


@pytest.mark.parametrize("seed", [0, 1, 2**63, -1, "text"])
@pytest.mark.parametrize("sides", [2, 6, 100])
def test_a_column_is_even(seed: int | str, sides: int) -> None:
    found = Counter(_cells(lambda draw: draw.below(sides), seed))
    assert _is_even(found[side] for side in range(sides))


@pytest.mark.parametrize("bit", [0, 1, 11, 31, 52, 63])
def test_every_bit_is_a_fair_coin(bit: int) -> None:
    ones = sum(_cells(lambda draw: draw.bits() >> bit & 1))
    assert _is_even([ones, ROWS - ones])


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_later_draws_of_a_cell_are_even_too(draws: int) -> None:
    found = Counter(_cells(lambda draw: [draw.below(10) for _ in range(draws)][-1]))
    assert _is_even(found[digit] for digit in range(10))


def _are_independent(one: list[int], other: list[int]) -> bool:
    pairs = Counter(zip(one, other, strict=True))
    return _is_even(pairs[a, b] for a in range(8) for b in range(8))


@pytest.mark.parametrize("pair", [("a", "b"), ("x", "x "), ("col1", "col2"), ("", "a")])
def test_columns_are_independent(pair: tuple[str, str]) -> None:
    one, other = (_cells(lambda draw: draw.below(8), 3, name) for name in pair)
    assert _are_independent(one, other)


@pytest.mark.parametrize("seeds", [(0, 1), (1, 2), (5, "5"), (0, 2**32), (7, -7)])
def test_seeds_are_independent(seeds: tuple[int | str, int | str]) -> None:
    one, other = (_cells(lambda draw: draw.below(8), seed) for seed in seeds)
    assert _are_independent(one, other)


@pytest.mark.parametrize("apart", [1, 2, 64, 1024])
def test_neighbouring_rows_are_independent(apart: int) -> None:
    column = _cells(lambda draw: draw.below(8))
    assert _are_independent(column[:-apart], column[apart:])


def test_the_second_draw_of_a_row_is_not_the_first_of_the_next() -> None:
    pairs = [Draw().at(1, "a", number) for number in range(200)]
    firsts = [draw.bits() for draw in pairs]
    seconds = [draw.bits() for draw in pairs]
    assert not set(firsts) & set(seconds)


def test_random_numbers_are_uniform_and_below_one() -> None:
    found = _cells(lambda draw: draw.random())
    assert min(found) >= 0 and max(found) < 1
    assert stats.kstest(found, "uniform").pvalue > 1e-4


def test_normal_numbers_are_normal() -> None:
    found = _cells(lambda draw: draw.normal())
    assert stats.kstest(found, "norm").pvalue > 1e-4


@pytest.mark.parametrize("rate", [0.1, 1, 5, 11.9, 12, 40, 1000])
def test_counts_are_poisson(rate: float) -> None:
    found = Counter(_cells(lambda draw: draw.poisson(rate)))
    low, high = (int(stats.poisson.ppf(share, rate)) for share in (0.01, 0.99))
    seen = [sum(n for k, n in found.items() if k <= low)]
    wanted = [float(stats.poisson.cdf(low, rate))]
    for count in range(low + 1, high + 1):
        seen.append(found[count])
        wanted.append(float(stats.poisson.pmf(count, rate)))
    seen.append(ROWS - sum(seen))
    wanted.append(1 - sum(wanted))
    assert stats.chisquare(seen, [share * ROWS for share in wanted]).pvalue > 1e-4


@given(st.integers(1, 1 << 70), st.integers())
def test_below_stays_below(count: int, number: int) -> None:
    assert 0 <= Draw().at(0, "a", number).below(count) < count


def test_below_is_even_where_multiplying_alone_would_not_be() -> None:
    count = 3 << 62  # three quarters of all words: a third would come twice as often
    found = Counter(_cells(lambda draw: draw.below(count) // (1 << 62)))
    assert _is_even(found[part] for part in range(3))


@given(st.integers(0, 200))
def test_random_bits_have_the_wanted_size(size: int) -> None:
    assert Draw().at(0, "a", size).getrandbits(size).bit_length() <= size


def test_it_is_a_generator_of_pythons_own_kind() -> None:
    draw = Draw().at(4, "a", 0)
    twins = [copy.deepcopy(draw), pickle.loads(pickle.dumps(draw)), Draw().at(4, "a", 0)]
    made = draw.sample(range(99), 5), draw.choice("abc"), draw.gauss(), draw.randint(1, 6)
    for twin in twins:
        same = twin.sample(range(99), 5), twin.choice("abc"), twin.gauss(), twin.randint(1, 6)
        assert same == made


def test_a_gauss_of_one_cell_leaves_nothing_to_the_next() -> None:
    draw = Draw()
    draw.at(0, "a", 0).gauss()
    assert draw.at(0, "a", 1).gauss() == Draw().at(0, "a", 1).gauss()


def test_new_ones_differ() -> None:
    assert len({Draw().bits() for _ in range(20)}) == 20


@given(st.integers(1, 300), st.integers(0, (1 << 64) - 1))
def test_a_permutation_has_each_number_once(size: int, key: int) -> None:
    assert sorted(permuted(key, size, number) for number in range(size)) == list(range(size))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 16, 17])
def test_every_place_of_a_permutation_is_even(size: int) -> None:
    for place in (0, size - 1):
        found = Counter(permuted(Draw().at(seed, "s", 0).key, size, place) for seed in range(4000))
        assert _is_even(found[number] for number in range(size))


@pytest.mark.parametrize("size", [3, 4])
def test_all_small_permutations_are_equally_likely(size: int) -> None:
    keys = [Draw().at(seed, "s", 0).key for seed in range(6000)]
    found = Counter(tuple(permuted(key, size, n) for n in range(size)) for key in keys)
    assert len(found) == math.factorial(size)
    assert _is_even(found.values())
