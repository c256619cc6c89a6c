"""Grading scales: what tiles 0 to 100, which grade a value has, which way they run."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.scale import Scale, percent
from penstock.errors import InputError
from tests.bench.summary_kit import BANDS, Length, Share
from tests.metrics.texts import patient

LETTERS = Scale.of(BANDS)
RISK = Scale.of({"Low Risk": [0, 33], "Medium Risk": [34, 66], "High Risk": [67, 100]})


@pytest.mark.parametrize(
    ("value", "grade"),
    [(100, "A"), (80, "A"), (79.999, "B"), (79.5, "B"), (79, "B"), (60, "B"), (59.1, "C"),
     (19.9, "E"), (20, "D"), (0, "E")],
)  # fmt: skip
def test_a_value_has_the_grade_whose_lower_bound_it_reaches(value: float, grade: str) -> None:
    assert LETTERS.grade(value) == grade


@pytest.mark.parametrize(
    ("value", "grade"), [(33.9, "Low Risk"), (34, "Medium Risk"), (100, "High Risk")]
)
def test_where_low_is_good_the_bands_count_the_same_way(value: float, grade: str) -> None:
    assert RISK.grade(value) == grade


@pytest.mark.parametrize("value", [-0.1, 100.1, math.nan])
def test_a_value_outside_of_0_to_100_has_no_grade(value: float) -> None:
    with pytest.raises(InputError, match="no value from 0 to 100"):
        LETTERS.grade(value)


def test_the_best_grade_stands_first_whichever_way_the_numbers_run() -> None:
    assert (LETTERS.direction, RISK.direction) == ("higher", "lower")
    assert (LETTERS.rank("A"), LETTERS.rank("E"), RISK.rank("High Risk")) == (0, 4, 2)
    assert LETTERS.contradicts("lower")
    assert not LETTERS.contradicts("higher")


def test_a_turned_scale_calls_the_best_the_worst() -> None:
    turned = LETTERS.turned()
    assert turned.grade(95) == "E"
    assert turned.grade(5) == "A"
    assert turned.direction == "lower"
    assert [band.label for band in turned.bands] == list("ABCDE")
    assert turned.turned() == LETTERS


def test_a_scale_is_written_as_it_was_read() -> None:
    assert LETTERS.to_dict() == {name: list(band) for name, band in BANDS.items()}
    assert Scale.of(LETTERS.to_dict()) == LETTERS


@pytest.mark.parametrize(
    ("bands", "said"),
    [
        ({"A": [0, 100]}, "two grades or more"),
        ({"A": [50, 100], "B": [0, 40]}, "leave a gap"),
        ({"A": [50, 100], "B": [0, 60]}, "overlap"),
        ({"A": [50, 90], "B": [0, 49]}, "go from 0 to 90"),
        ({"A": [50, 100], "B": [1, 49]}, "go from 1 to 100"),
        ({"A": [50, 100], "B": [49, 0]}, r"the band of B is \[49, 0\]"),
        ({"A": [50, 100], "B": [0]}, r"\[low, high\] is wanted"),
        ({"A": [50, 100], "B": [math.nan, 49]}, "the band of B"),
        ({"B": [34, 66], "A": [67, 100], "C": [0, 33]}, "stand in no order"),
    ],
)
def test_bands_that_do_not_tile_are_told(bands: dict[str, list[float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scale.of(bands)


def test_bands_may_touch_instead_of_leaving_one_between() -> None:
    assert Scale.of({"A": [50, 100], "B": [0, 50]}).grade(50) == "A"


def test_a_value_is_told_as_part_of_its_metrics_range() -> None:
    class Stars(Share):
        name = "stars"
        low, high = 1.0, 5.0

    assert percent(Stars(), 4.0) == 75.0
    assert percent(Share(), 0.25) == 25.0
    with pytest.raises(InputError, match="length has no bounds"):
        percent(Length(), 3.0)


cuts = st.sets(st.integers(1, 99), min_size=1, max_size=8).map(sorted)


@patient
@given(cuts, st.floats(0, 100), st.booleans())
def test_every_value_has_one_grade_and_better_values_never_a_worse_one(
    cuts: list[int], value: float, high_first: bool
) -> None:
    lows, highs = [0, *cuts], [*(cut - 1 for cut in cuts), 100]
    bands = list(zip(lows, highs, strict=True))
    ordered = bands[::-1] if high_first else bands
    scale = Scale.of({f"g{at}": band for at, band in enumerate(ordered)})
    rank = scale.rank(scale.grade(value))
    assert 0 <= rank <= len(cuts)
    better = scale.rank(scale.grade(100.0 if high_first else 0.0))
    assert better == 0 <= rank
    more = min(100.0, value + 1)
    if high_first:
        assert scale.rank(scale.grade(more)) <= rank
    else:
        assert scale.rank(scale.grade(more)) >= rank
