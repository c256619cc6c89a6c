"""SQuAD's exact match and F1 against the rules of the official scripts, worked out by hand."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics import Metric, Sample, ScoreStatus
from penstock.metrics.squad import SquadExact, SquadF1
from tests.metrics.texts import patient, texts


def both(answer: str, target: Any, **options: Any) -> tuple[float | None, float | None]:
    sample = Sample(answer, target)
    return SquadExact(**options).score(sample).value, SquadF1(**options).score(sample).value


@pytest.mark.parametrize("data", ["v1", "v2"])
@pytest.mark.parametrize(
    ("answer", "target", "exact", "f1"),
    [
        ("1976", "1976", 1, 1),
        ("1999", "1976", 0, 0),
        ("The Denver Broncos", "Denver Broncos", 1, 1),
        ("denver broncos!", "Denver Broncos", 1, 1),
        ("an  apple", "The apple", 1, 1),
        ("theatre", "atre", 0, 0),
        ("Broncos", "Denver Broncos", 0, 2 / 3),
        ("the Denver Broncos of Colorado", "Denver Broncos", 0, 2 * (2 / 4) * 1 / (2 / 4 + 1)),
        ("Santa Clara, California", "Santa Clara", 0, 0.8),
        ("gold gold", "gold", 0, 2 * (1 / 2) * 1 / (1 / 2 + 1)),
        ("gold gold silver", "gold gold", 0, 0.8),
        ("well-known", "wellknown", 1, 1),
        ("“quoted”", "quoted", 0, 0),
        ("blue", ["red", "dark blue", "blue sky at night"], 0, 2 / 3),
        ("blue", ["red", "Blue."], 1, 1),
    ],
)
def test_answers_with_words(
    answer: str, target: str | list[str], exact: float, f1: float, data: str
) -> None:
    values = both(answer, target, data=data)
    assert values[0] == exact
    assert values[1] == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "target", "value"),
    [
        ("", "", 1),
        ("", [], 1),
        ("", ["", "the"], 1),
        ("unanswerable", [], 1),
        ("Unanswerable.", [""], 1),
        ("The.", "", 1),
        ("Paris", "", 0),
        ("Paris", [], 0),
        ("", "Paris", 0),
        ("unanswerable", "Paris", 0),
        ("", ["", "Paris"], 0),
    ],
)
def test_version_2_has_questions_without_an_answer(
    answer: str, target: str | list[str], value: int
) -> None:
    assert both(answer, target) == (value, value)


def test_version_1_has_none() -> None:
    assert both("", "", data="v1") == (1, 0)
    assert both("unanswerable", "Unanswerable", data="v1") == (1, 1)
    assert SquadF1(data="v1").score(Sample("", [])).status is ScoreStatus.ERROR


def test_words_of_ones_own_mean_no_answer() -> None:
    assert both("I don't know", "", unanswerable=["I don't know"]) == (1, 1)
    assert both("unanswerable", "", unanswerable=[]) == (0, 0)


@pytest.mark.parametrize("metric", [SquadExact(), SquadF1()])
def test_no_target_at_all_is_an_error_and_what_was_read_is_kept(metric: Metric) -> None:
    assert metric.score(Sample("Paris")).status is ScoreStatus.ERROR
    assert metric.score(Sample("Paris", ["Paris", 3])).status is ScoreStatus.ERROR  # type: ignore[list-item]
    assert metric.score(Sample("The  Eiffel Tower.", "x")).extracted == "eiffel tower"


@pytest.mark.parametrize(
    "options", [{"data": "v3"}, {"unanswerable": "none"}, {"unanswerable": [1]}]
)
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        SquadF1(**options)


def told(text: str) -> list[str]:
    """The published normalisation, step by step."""
    small = text.lower()
    bare = "".join(letter for letter in small if letter not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


@patient
@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_values_are_those_of_the_published_rules(answer: str, targets: list[str]) -> None:
    said = told(answer)
    wanted = [words for target in targets if (words := told(target))] or [[]]
    best = 0.0
    for words in wanted:
        left = list(words)
        for word in said:
            if word in left:
                left.remove(word)
        shared = len(words) - len(left)
        if not said or not words:
            best = max(best, float(said == words))
        elif shared:
            precision, recall = shared / len(said), shared / len(words)
            best = max(best, 2 * precision * recall / (precision + recall))
    exact, f1 = both(answer, targets, unanswerable=[])
    assert f1 == pytest.approx(best)
    assert exact == float(any(said == words for words in wanted))
