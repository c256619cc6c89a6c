"""Answers held to a form of words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from penstock.errors import InputError
from penstock.metrics import Metric, Sample, ScoreStatus
from penstock.metrics.pattern import Differs, OneOf, Pattern, RelaxedMatch, StartsWith
from tests.metrics.texts import patient, texts


def value(metric: Metric, answer: str, target: str | list[str] | None = None) -> float | None:
    return metric.score(Sample(answer, target)).value


@pytest.mark.parametrize(
    ("answer", "target", "equal"),
    [
        ("A", "A", 1),
        (" a.", "A", 1),
        ("A) Raffles Hotel", "a raffles-hotel", 1),
        ("TRUE!", "true", 1),
        ("TRUE, because", "TRUE", 0),
        ("two\nlines", "Two lines", 1),
        ("snake_case", "snakecase", 0),
        ("B", ["a", "b"], 1),
        ("e\u0301tude", "ÉTUDE", 1),
        ("étude", "etude", 0),
        ("มา", "ม้า", 0),
        ("C++", "C", 1),
    ],
)
def test_relaxed_equality_sees_letters_and_digits_alone(
    answer: str, target: str | list[str], equal: int
) -> None:
    assert value(RelaxedMatch(), answer, target) == equal


def test_a_target_of_symbols_alone_is_matched_by_nothing() -> None:
    assert RelaxedMatch().score(Sample("<", ">")).status is ScoreStatus.ERROR
    assert value(RelaxedMatch(), "a", ["?!", "a"]) == 1
    assert value(RelaxedMatch(), "!?", ["?!", "a"]) == 0
    assert RelaxedMatch().score(Sample("It's  OK.", "x")).extracted == "itsok"


@patient
@given(texts, texts)
def test_relaxed_equality_is_the_same_both_ways(one: str, other: str) -> None:
    there, back = value(RelaxedMatch(), one, other), value(RelaxedMatch(), other, one)
    if there is not None and back is not None:
        assert there == back


def test_to_differ_is_not_to_be_any_of_the_targets() -> None:
    assert value(Differs(), "Yes", "yes ") == 0
    assert value(Differs(casefold=False), "Yes", "yes") == 1
    assert value(Differs(), "maybe", ["yes", "no"]) == 1
    assert value(Differs(), "NO", ["yes", "no"]) == 0


# Patterns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "answer", "found"),
    [
        ({"pattern": r"\d{4}"}, "in 1965, or 1966", "1965"),
        ({"pattern": r"\d{4}", "take": "last"}, "in 1965, or 1966", "1966"),
        ({"pattern": r"answer:\s*(\w+)", "group": 1}, "answer: B", "B"),
        ({"pattern": r"(a)|(b)", "group": 2}, "b", "b"),
        ({"pattern": "paris", "ignore_case": True}, "In PARIS.", "PARIS"),
        ({"pattern": r"\d+", "whole": True}, " 42\n", "42"),
        ({"pattern": "a|b", "whole": True}, "b", "b"),
        ({"pattern": r"\pL+"}, "1 été", "été"),
        ({"pattern": r"(?s)begin.*end"}, "begin\nend", "begin\nend"),
        ({"pattern": r"^x", "take": "last"}, "xxx", "x"),
    ],
)
def test_a_pattern_finds_and_what_it_found_is_kept(
    options: dict[str, Any], answer: str, found: str
) -> None:
    score = Pattern(**options).score(Sample(answer))
    assert (score.value, score.extracted) == (1, found)


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"pattern": r"\d{4}"}, "in the sixties"),
        ({"pattern": "paris"}, "PARIS"),
        ({"pattern": r"\d+", "whole": True}, "42 and more"),
        ({"pattern": "a|b", "whole": True}, "ab"),
        ({"pattern": r"\."}, "no stop"),
    ],
)
def test_a_pattern_that_finds_nothing_is_0(options: dict[str, Any], answer: str) -> None:
    score = Pattern(**options).score(Sample(answer))
    assert (score.value, score.extracted) == (0, None)


def test_what_a_pattern_finds_is_held_to_the_target_when_told_so() -> None:
    metric = Pattern(r"answer is (\w+)", group=1, compare=True, take="last")
    assert metric.needs == {"target"}
    assert value(metric, "The answer is A. No, the answer is B.", ["C", "B"]) == 1
    assert value(metric, "The answer is A.", "B") == 0
    assert metric.score(Sample("Who knows?", "B")).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample("The answer is A.")).status is ScoreStatus.ERROR
    assert Pattern("x").needs == frozenset()


def test_no_pattern_can_hold_up_the_work() -> None:
    assert value(Pattern(r"^(a+)+$"), "a" * 100_000 + "!") == 0
    assert Pattern("a").score(Sample("a" * 1_000_001)).status is ScoreStatus.ERROR


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pattern": "("}, "missing"),
        ({"pattern": "(?=a)"}, "Look-around"),
        ({"pattern": r"(a)\1"}, "back-references"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": None}, "pattern"),
        ({"pattern": "a" * 10_001}, "10,000"),
        ({"pattern": "a", "group": 1}, "cannot be used"),
        ({"pattern": "a", "group": 9}, "group"),
        ({"pattern": "a", "take": "any"}, "take"),
        ({"pattern": "a", "whole": "yes"}, "whole"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_at_once(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        Pattern(**options)


def test_what_a_pattern_is_can_be_told_as_plain_data() -> None:
    described = Pattern("a", compare=True).describe()
    assert msgspec.json.decode(msgspec.json.encode(described)) == described
    assert set(described["parameters"]) == {
        "pattern",
        "ignore_case",
        "whole",
        "group",
        "take",
        "compare",
    }


# Beginnings and lists -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "answer", "target", "begins"),
    [
        ({}, "Yes, of course.", "yes", 1),
        ({}, "**Yes**", "yes", 1),
        ({}, "“Yes”, she said", "Yes.", 1),
        ({}, "Yesterday", "yes", 0),
        ({"whole_word": False}, "Yesterday", "yes", 1),
        ({"casefold": False}, "Yes", "yes", 0),
        ({}, "A) Rome", "A", 1),
        ({}, "An apple", "A", 0),
        ({}, "Well, yes", "yes", 0),
        ({}, "No.", ["yes", "no"], 1),
    ],
)
def test_an_answer_begins_with_the_target(
    options: dict[str, Any], answer: str, target: str | list[str], begins: int
) -> None:
    assert value(StartsWith(**options), answer, target) == begins


def test_an_empty_beginning_is_an_error() -> None:
    assert StartsWith().score(Sample("a", "")).status is ScoreStatus.ERROR


def test_an_answer_is_one_of_the_values_and_nothing_else() -> None:
    metric = OneOf(["Positive", "Negative", "n/a."])
    for answer in ("positive", " **Negative**.", "N/A."):
        assert value(metric, answer) == 1
    for answer in ("positive, I think", "", "neutral"):
        assert value(metric, answer) == 0
    assert metric.score(Sample("'NEGATIVE'")).extracted == "Negative"
    assert value(OneOf(["a"], casefold=False), "A") == 0
    assert metric.parameters == {"values": ("Positive", "Negative", "n/a."), "casefold": True}


@pytest.mark.parametrize("values", ["yes", [], [1], None])
def test_a_list_that_is_none_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match="values"):
        OneOf(values)
