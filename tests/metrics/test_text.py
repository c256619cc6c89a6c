"""Equality, containment and edits, held to rapidfuzz and to plain sense."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from rapidfuzz.distance import Levenshtein

from penstock.errors import InputError
from penstock.metrics import Contains, EditDistance, EditSimilarity, ExactMatch, Sample, ScoreStatus
from penstock.metrics.metric import Metric
from tests.metrics.texts import patient, texts


@pytest.mark.parametrize(
    ("options", "answer", "target", "value"),
    [
        ({}, "Paris", "Paris", 1),
        ({}, " Paris\n", "Paris", 1),
        ({"strip": False}, " Paris", "Paris", 0),
        ({}, "paris", "Paris", 0),
        ({"casefold": True}, "STRASSE", "straße", 1),
        ({}, "ﬁne  day", "fine day", 0),
        ({"normalise": True}, "ﬁne \n day", "fine day", 1),
        ({"normalise": True, "casefold": True}, "ΑΙΣ\u0345", "αισι", 1),
        ({}, "", "", 1),
        ({}, "Paris", ["London", "Paris"], 1),
        ({}, "Rome", ["London", "Paris"], 0),
    ],
)
def test_exact_match_counts_only_the_differences_it_is_told_to(
    options: dict[str, bool], answer: str, target: str | list[str], value: int
) -> None:
    assert ExactMatch(**options).score(Sample(answer, target)).value == value


def test_contains_finds_a_target_anywhere_and_no_empty_one() -> None:
    metric = Contains(casefold=True)
    assert metric.score(Sample("It is PARIS.", "paris")).value == 1
    assert metric.score(Sample("It is Paris.", ["Rome", " paris "])).value == 1
    assert metric.score(Sample("It is Paris.", "Rome")).value == 0
    assert metric.score(Sample("It is Paris.", " ")).status is ScoreStatus.ERROR
    assert metric.score(Sample("It is Paris.", ["", "Rome"])).value == 0


@patient
@given(texts, texts)
def test_edits_are_those_of_rapidfuzz(answer: str, target: str) -> None:
    sample = Sample(answer, target)
    assert EditDistance().score(sample).value == Levenshtein.distance(answer, target)
    similar = EditSimilarity().score(sample).value
    assert similar == pytest.approx(Levenshtein.normalized_similarity(answer, target))


@pytest.mark.parametrize(
    ("answer", "target", "distance", "similarity"),
    [
        ("kitten", "sitting", 3, 1 - 3 / 7),
        ("", "", 0, 1),
        ("", "abc", 3, 0),
        ("日本", "日本語", 1, 2 / 3),
    ],
)
def test_edits_of_known_texts(answer: str, target: str, distance: int, similarity: float) -> None:
    assert EditDistance().score(Sample(answer, target)).value == distance
    assert EditSimilarity().score(Sample(answer, target)).value == pytest.approx(similarity)


def test_of_several_targets_the_nearest_counts_whichever_way_is_better() -> None:
    sample = Sample("abc", ["xyz", "abd", ""])
    assert EditDistance().score(sample).value == 1
    assert EditSimilarity().score(sample).value == pytest.approx(2 / 3)


def test_long_texts_are_compared_and_ones_beyond_any_patience_are_an_error() -> None:
    long = "the quick brown fox " * 5_000
    assert EditDistance().score(Sample(long, long[::-1])).status is ScoreStatus.SCORED
    assert EditDistance().score(Sample("a" * 3_000_000, "a" * 3_000_000)).value == 0
    too_long = EditSimilarity().score(Sample("a" * 1_000_000, "b" * 1_000_000))
    assert too_long.status is ScoreStatus.ERROR
    assert "1,000,000" in too_long.reason


@pytest.mark.parametrize("metric", [ExactMatch, Contains, EditDistance, EditSimilarity])
@pytest.mark.parametrize("options", [{"strip": 1}, {"casefold": "yes"}, {"normalise": None}])
def test_an_option_that_is_no_flag_is_refused(metric: type[Metric], options: Any) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        metric(**options)
