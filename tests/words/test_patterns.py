"""Patterns that people write: found, taken apart, and never able to hold up the work."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.patterns import all_found, check_pattern, is_found

HANGING = (r"^(a+)+$", r"^(a|a)*$", r"^(.*?,){11}P", r"(x+x+)+y")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\?$", "Is it?", True),
        (r"\?$", "Is it? No", False),
        (r"(?i)yes", "YES", True),
        (r"^$", "", True),
        (r"\pL", "é", True),
        (r"\w", "é", False),
        (r"b", "a\nb", True),
    ],
)
def test_a_pattern_is_found_anywhere_in_a_text(pattern: str, text: str, found: bool) -> None:
    assert is_found(pattern, text) is found


def test_what_is_found_comes_in_order_and_by_its_brackets() -> None:
    assert all_found(r"(\d+)-(\d+)", "1-2 and 34-5") == ["1-2", "34-5"]
    assert all_found(r"(\d+)-(\d+)", "1-2 and 34-5", 2) == ["2", "5"]
    assert all_found("x", "no such letter") == []


@pytest.mark.timeout(10)
@pytest.mark.parametrize("pattern", HANGING)
def test_a_pattern_that_hangs_elsewhere_does_not(pattern: str) -> None:
    assert not is_found(pattern, "a," * 2 + "a" * 50_000 + "x" * 50_000 + "!")
    assert all_found(check_pattern(pattern), "a" * 50_000 + "!") == []


@pytest.mark.parametrize("pattern", ["(", r"(?=a)", r"(a)\1", "a{5000}", "a" * 20_000, "", None, 5])
def test_what_is_no_pattern_is_refused_with_what_it_is(pattern: Any) -> None:
    with pytest.raises(InputError, match="the pattern"):
        check_pattern(pattern)


@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_any_text_can_be_searched_and_a_plain_word_is_found_where_it_stands(
    before: str, after: str
) -> None:
    assert is_found("needle", f"{before}needle{after}")
    assert "needle" in all_found("needle", f"{before}needle{after}\ud800")
