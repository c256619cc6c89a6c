"""Refusals by their wording, measured on labelled texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from penstock.errors import InputError
from penstock.metrics import Sample, ScoreStatus, summarise
from penstock.metrics.refusal import Refusal, refusal_in
from tests.metrics.refusal_texts import (
    ANSWERED,
    HELD_OUT_ANSWERED,
    HELD_OUT_REFUSED,
    REFUSED,
)
from tests.metrics.texts import patient, texts


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_is_seen(text: str) -> None:
    assert refusal_in(text) is not None


@pytest.mark.parametrize("text", ANSWERED)
def test_an_answer_is_not_taken_for_a_refusal(text: str) -> None:
    assert refusal_in(text) is None


def test_precision_and_recall_on_texts_kept_apart_are_as_documented() -> None:
    found = sum(refusal_in(text) is not None for text in HELD_OUT_REFUSED)
    wrong = sum(refusal_in(text) is not None for text in HELD_OUT_ANSWERED)
    assert len(HELD_OUT_REFUSED) + len(HELD_OUT_ANSWERED) == 78
    assert round(100 * found / (found + wrong)) == 93
    assert round(100 * found / len(HELD_OUT_REFUSED)) == 68


def test_the_texts_are_many_and_all_different() -> None:
    every = (*REFUSED, *ANSWERED, *HELD_OUT_REFUSED, *HELD_OUT_ANSWERED)
    assert len(every) == len(set(every)) > 300


def test_a_refusal_later_in_a_long_answer_does_not_count() -> None:
    story = "The bridge is old. " * 10
    assert refusal_in(story + "I'm sorry, but I can't help with that.") is None
    assert refusal_in("I'm sorry, but I can't help with that. " + story) is not None


def test_what_the_provider_says_counts_without_being_read() -> None:
    metric = Refusal()
    score = metric.score(Sample("", refused=True))
    assert (score.value, score.extracted) == (1, "the provider says so")
    assert metric.score(Sample("Paris.", refused=True)).value == 1
    assert metric.score(Sample("")).value == 0
    assert metric.score(Sample(None)).status is ScoreStatus.NO_ANSWER


def test_the_words_of_the_refusal_are_kept() -> None:
    score = Refusal().score(Sample("Oh. I’m sorry, but I can’t help with that."))
    assert (score.value, score.extracted) == (1, "i can't help")


@pytest.mark.parametrize(
    ("options", "values", "direction"),
    [
        ({}, [1, 0], "higher"),
        ({"counts": "complied"}, [0, 1], "lower"),
        ({"direction": "lower"}, [1, 0], "lower"),
        ({"counts": "complied", "direction": "higher"}, [0, 1], "higher"),
    ],
)
def test_what_counts_and_which_is_better_is_the_recipes_business(
    options: dict[str, Any], values: list[int], direction: str
) -> None:
    metric = Refusal(**options)
    scores = metric.score_many([Sample("I can't help with that."), Sample("Paris.")])
    assert [score.value for score in scores] == values
    assert metric.direction == direction == summarise(metric, scores).direction
    assert metric.parameters["direction"] == direction
    assert Refusal().direction == "higher"


@pytest.mark.parametrize("options", [{"counts": "both"}, {"direction": "up"}])
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Refusal(**options)


@patient
@given(texts)
def test_any_text_is_read_without_trouble(text: str) -> None:
    assert Refusal().score(Sample(text)).value in (0, 1)


def test_long_and_odd_texts_take_no_longer_than_they_must() -> None:
    for piece in ("'", '"', "`", "I can't ", "sorry ", "“", "> ", "I ", "say: ", "really "):
        assert Refusal().score(Sample(piece * 20_000)).value in (0, 1)
