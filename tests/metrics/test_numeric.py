"""Numbers: read as people write them, compared exactly, and held to GSM8K's published rules."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics import Metric, Sample, ScoreStatus
from penstock.metrics.figures import figures
from penstock.metrics.numeric import Gsm8kFlexible, Gsm8kStrict, NumberMatch
from tests.metrics.texts import patient, texts

NUMBERS = [
    ("42", "42"),
    ("42.", "42"),
    ("**42**", "42"),
    ("x=5", "5"),
    ("5kg", "5"),
    ("共42个", "42"),
    ("２０", "20"),
    ("٤٢", "42"),
    ("3.50", "7/2"),
    (".5", "1/2"),
    ("1,234,567", "1234567"),
    ("$1,234.50", "2469/2"),
    ("12,34,567", "1234567"),
    ("1'234", "1234"),
    ("1\u202f234", "1234"),
    ("1{,}234", "1234"),
    ("-5", "-5"),
    ("−5", "-5"),
    ("–5", "-5"),
    ("+5", "5"),
    ("-$5", "-5"),
    ("$-5", "-5"),
    ("€ 5", "5"),
    ("\\$5", "5"),
    ("50%", "50"),
    ("50\\%", "50"),
    ("3/4", "3/4"),
    ("-1/2", "-1/2"),
    ("1 1/2", "3/2"),
    ("½", "1/2"),
    ("2½", "5/2"),
    ("\\frac{3}{4}", "3/4"),
    ("1.5e3", "1500"),
    ("2E-3", "1/500"),
    ("1.5 × 10^3", "1500"),
    ("1.5 \\times 10^{-3}", "3/2000"),
    ("2×10³", "2000"),
    ("3 million", "3000000"),
]


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_a_number_is_read_as_people_write_it(text: str, value: str) -> None:
    assert [figure.value for figure in figures(f"It is {text} in all.")] == [Fraction(value)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("no number", []),
        ("...", []),
        ("H2O, Q3 and v2", []),
        ("1/0", []),
        ("2e99999", []),
        ("9" * 10_000, []),
        ("1,5", [1, 5]),
        ("1,2345", [1, 2345]),
        ("10-5", [10, 5]),
        ("10%-5", [10, 5]),
        ("pages 3–5", [3, 5]),
        ("10 - 5 = 5", [10, 5, 5]),
        ("on 3/4/2020", [3, 4, 2020]),
        ("3.14.15", [Fraction("3.14")]),
    ],
)
def test_what_only_looks_like_a_number_is_told_apart(text: str, values: list[Any]) -> None:
    assert [figure.value for figure in figures(text)] == values


@patient
@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_of_any_size_are_read_exactly(number: int) -> None:
    for text in (str(number), f"{number:,}", f"${number:,}.00", str(number).replace("-", "−")):
        assert [figure.value for figure in figures(text)] == [number]


@patient
@given(texts)
def test_any_text_is_read_without_trouble(text: str) -> None:
    for figure in figures(text):
        assert figure.text
        assert figure.end > figure.start


def test_long_texts_are_read_in_the_time_of_their_length() -> None:
    for piece in ("9", "1,", "1 ", "$", "-", "\\frac{1", "1/", "1e"):
        figures(piece * 10_000)


# GSM8K --------------------------------------------------------------------------------------------

PUBLISHED = re.compile(r"#### (\-?[0-9\.\,]+)")
SOLUTIONS = [
    ("She has 3 + 4 = <<3+4=7>>7 apples.\n#### 7", "7"),
    ("#### 1,234", "1234"),
    ("#### 1234", "1,234"),
    ("#### -5", "-5"),
    ("#### 3.5", "3.5"),
    ("#### 8", "7"),
    ("#### 123456", "123457"),
    ("It is 7.", "7"),
    ("## 7", "7"),
    ("#### none", "7"),
    ("#### 7\n#### 8", "7"),
    ("#### 8\n#### 7", "7"),
    ("#### 70000000000000000001", "70000000000000000002"),
]


@pytest.mark.parametrize(("answer", "target"), SOLUTIONS)
def test_strict_is_the_published_rule_where_numbers_are_written_alike(
    answer: str, target: str
) -> None:
    match = PUBLISHED.search(answer)
    right = match is not None and match[1].replace(",", "") == target.replace(",", "")
    assert Gsm8kStrict().score(Sample(answer, target)).value == right
    assert (
        Gsm8kStrict().score(Sample(answer, f"Some steps: 1 + 1 = 2\n#### {target}")).value == right
    )


@pytest.mark.parametrize(
    "answer", ["#### 42.0", "#### $42", "####42", "#### **42**", "#### 42.00%"]
)
def test_strict_compares_what_numbers_are_worth(answer: str) -> None:
    score = Gsm8kStrict().score(Sample(answer, "42"))
    assert score.value == 1
    assert "42" in (score.extracted or "")


@pytest.mark.parametrize(
    ("answer", "target", "value", "read"),
    [
        ("3 + 4 is 7, so she has 7 apples.", "7", 1, "7"),
        ("She has 7 of 12 apples.", "7", 0, "12"),
        ("It costs $1,234.00.", "1234", 1, "$1,234.00"),
        ("It costs 5 dollars...", "5", 1, "5"),
        ("Thus: −3", "-3", 1, "-3"),
        ("#### 9", "9", 1, "9"),
        ("Nothing at all.", "9", 0, None),
    ],
)
def test_flexible_takes_the_last_number(
    answer: str, target: str, value: int, read: str | None
) -> None:
    score = Gsm8kFlexible().score(Sample(answer, target))
    assert (score.value, score.extracted) == (value, read)


@pytest.mark.parametrize("metric", [Gsm8kStrict, Gsm8kFlexible])
def test_an_answer_without_a_number_is_wrong_by_the_rules_or_apart_when_told(
    metric: type[Metric],
) -> None:
    sample = Sample("I cannot count.", "7")
    assert metric().score(sample).value == 0
    assert metric().score(sample).reason
    apart = metric(missing="no_answer").score(sample)  # type: ignore[call-arg]
    assert apart.status is ScoreStatus.NO_ANSWER


@pytest.mark.parametrize("metric", [Gsm8kStrict(), Gsm8kFlexible(), NumberMatch()])
def test_a_target_that_is_no_number_is_an_error(metric: Metric) -> None:
    for target, said in (("seven", "no number"), ("between 7 and 8", "several numbers")):
        score = metric.score(Sample("7", target))
        assert score.status is ScoreStatus.ERROR
        assert said in score.reason


# Tolerances ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "answer", "target", "value"),
    [
        ({}, "123456", "123457", 0),
        ({}, "0.1", "1/10", 1),
        ({}, "1e3", "1,000", 1),
        ({}, "0.30000000000000004", "0.3", 0),
        ({"absolute": 0.1}, "3.2", "3.1", 1),
        ({"absolute": 0.1}, "3.2000001", "3.1", 0),
        ({"absolute": "1/3"}, "1/3", "0", 1),
        ({"relative": 0.01}, "101", "100", 1),
        ({"relative": 0.01}, "-101", "-100", 1),
        ({"relative": 0.01}, "101.1", "100", 0),
        ({"relative": 0.01}, "0.001", "0", 0),
        ({"relative": 0.01, "absolute": 2}, "102", "100", 1),
        ({}, "7 of 8", "8", 1),
        ({"take": "first"}, "7 of 8", "7", 1),
        ({"take": "only"}, "7, that is 7.0", "7", 1),
        ({}, "50%", "50", 1),
        ({}, "50%", "0.5", 0),
        ({"percent": "hundredth"}, "50%", "0.5", 1),
        ({"percent": "hundredth"}, "50 percent", "50 %", 1),
        ({"after": "The answer is"}, "Of 9, the answer is **$7**. Of 10.", "7", 1),
        ({"after": "The answer is"}, "The answer is 5. No: the answer is: 7", "7", 1),
        ({}, "8", ["7", "8"], 1),
    ],
)
def test_a_number_matches_within_the_tolerance_and_no_further(
    options: dict[str, Any], answer: str, target: str | list[str], value: int
) -> None:
    assert NumberMatch(**options).score(Sample(answer, target)).value == value


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({}, "none"),
        ({"take": "only"}, "7 or 8"),
        ({"after": "The answer is"}, "It is 7."),
        ({"after": "The answer is"}, "The answer is B, of the 7 options."),
    ],
)
def test_a_number_that_is_not_given_is_no_answer(options: dict[str, Any], answer: str) -> None:
    score = NumberMatch(**options).score(Sample(answer, "7"))
    assert score.status is ScoreStatus.NO_ANSWER
    assert score.reason


@pytest.mark.parametrize(
    "options",
    [
        {"absolute": -1},
        {"relative": "a little"},
        {"relative": True},
        {"absolute": float("nan")},
        {"absolute": float("inf")},
        {"take": "best"},
        {"percent": "yes"},
        {"after": 3},
        {"missing": "zero"},
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        NumberMatch(**options)
