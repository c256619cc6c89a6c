from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.reports import compact, number, percent
from penstock.reports.numbers import Number


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (-0.0, "0"),
        (7, "7"),
        (1234567, "1,234,567"),
        (0.73124, "0.7312"),
        (0.5, "0.5"),
        (12.3456, "12.35"),
        (1234.5678, "1,235"),
        (-3.25, "-3.25"),
        (2.5e-7, "2.5e-7"),
        (1.7e308, "1.7e308"),
        (10**400, "1e400"),
        (5e-324, "4.941e-324"),
        (Decimal("0.0625"), "0.0625"),
        (math.nan, "n/a"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (None, "–"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: Number | None, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (9999, "9,999"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (999_999, "1000k"),
        (4_500_000, "4.5M"),
        (-20_000, "-20k"),
        (1e18, "1e18"),
        (math.nan, "n/a"),
    ],
)
def test_an_axis_has_short_numbers(value: float, said: str) -> None:
    assert compact(value) == said


def test_shares_are_written_in_percent() -> None:
    assert [percent(value) for value in (0, 0.5, 0.7312, 1)] == ["0 %", "50 %", "73.1 %", "100 %"]
    assert percent(math.nan) == "n/a"


@given(st.floats() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_written_and_briefly(value: Number) -> None:
    assert 0 < len(number(value)) <= 24
    assert 0 < len(compact(value)) <= 12
    assert percent(value)
