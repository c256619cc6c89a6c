"""Readability: published formulas and examples, and our counts held to dictionaries."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given

from penstock.errors import InputError
from penstock.metrics import Metric, Sample, ScoreStatus
from penstock.metrics.readability import (
    FleschKincaidGrade,
    FleschReadingEase,
    GunningFog,
    Smog,
    counted,
)
from penstock.metrics.syllables import syllables
from penstock.metrics.wording import bullets, sentences, words
from tests.metrics.syllable_counts import COUNTS, HELD_OUT
from tests.metrics.texts import patient, texts

ALL: list[Metric] = [FleschReadingEase(), FleschKincaidGrade(), GunningFog(), Smog()]

CAT = "The cat sat on the mat."
POINT = "This sentence, taken as a reading passage unto itself, is being used to prove a point."
PLATYPUS = "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature."


# The three sentences and their reading ease are the usual examples in encyclopaedias.
@pytest.mark.parametrize(("text", "ease"), [(CAT, 116), (POINT, 69), (PLATYPUS, 37.5)])
def test_published_examples_come_out_within_half_a_point(text: str, ease: float) -> None:
    assert FleschReadingEase().score(Sample(text)).value == pytest.approx(ease, abs=0.5)


def test_the_published_example_of_almost_nothing_but_short_words() -> None:
    # 5.7 words a sentence and 1.02 syllables a word are known to give grade -1.3.
    text = " ".join(["I do not like them Sam."] * 7 + ["I do not like them."] * 3)
    counts = counted(text)
    assert (counts.words, counts.sentences, counts.syllables) == (57, 10, 57)
    grade = FleschKincaidGrade().score(Sample(text)).value
    assert grade == pytest.approx(-1.3, abs=0.3)


def test_the_formulas_are_the_published_ones() -> None:
    text = "Education is important. Every teacher knows it."
    counts = counted(text)
    assert counts == (7, 2, 14, 2, 2)
    ease, grade, fog, smog = (metric.score(Sample(text)).value for metric in ALL)
    assert ease == pytest.approx(206.835 - 1.015 * 7 / 2 - 84.6 * 14 / 7)
    assert grade == pytest.approx(0.39 * 7 / 2 + 11.8 * 14 / 7 - 15.59)
    assert fog == pytest.approx(0.4 * (7 / 2 + 100 * 2 / 7))
    assert smog == pytest.approx(1.0430 * math.sqrt(2 * 30 / 2) + 3.1291)


def test_what_was_counted_is_kept() -> None:
    score = FleschReadingEase().score(Sample(CAT))
    assert score.extracted == "6 words, 1 sentences, 6 syllables, 0 of three or more"


def test_fog_leaves_out_names_hyphens_and_endings() -> None:
    assert counted("Yesterday Amelia undressed the well-educated animals.").fogged == 2
    assert counted("They created examining interesting ideas.").hard == 4


# Counting -----------------------------------------------------------------------------------------


def test_syllables_are_those_of_dictionaries() -> None:
    wrong = [word for word, count in COUNTS.items() if syllables(word) != count]
    assert len(wrong) <= 0.01 * len(COUNTS), wrong


def test_syllables_of_words_that_the_rules_were_not_made_by() -> None:
    wrong = {w: syllables(w) for w, count in HELD_OUT.items() if syllables(w) != count}
    assert len(HELD_OUT) > 220
    assert len(wrong) <= 0.07 * len(HELD_OUT), wrong
    assert all(abs(count - HELD_OUT[word]) == 1 for word, count in wrong.items())


@pytest.mark.parametrize(
    ("word", "count"),
    [("17", 1), ("$15", 1), ("TV", 1), ("don't", 1), ("wouldn’t", 1), ("well-known", 2), ("I", 1)],
)
def test_figures_abbreviations_and_hyphens_count_by_flesch_rules(word: str, count: int) -> None:
    assert syllables(word) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 0),
        ("one two", 2),
        ("don't stop-gap it’s", 3),
        ("1,000.5 and 3/4", 3),
        ("日本語 text", 4),
        ("**bold** _it_", 2),
        ("the dogs' bowls", 3),
    ],
)
def test_words_are_counted_as_people_do(text: str, count: int) -> None:
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Smith met J. Doe.", 1),
        ("It costs 3.50 today.", 1),
        ("He said “Go.” Then he left.", 2),
        ("A title\n\nA sentence", 2),
        ("- one\n- two\n- three", 3),
        ("Wait... what?", 2),
        ("今日は。明日は。", 2),
        ("no end", 1),
        ("?!", 0),
    ],
)
def test_sentences_are_counted_as_people_do(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_items_of_lists_are_counted() -> None:
    assert bullets("Look:\n- one\n* two\n• three\n1. four\n2) five\n-six\n--\n**bold** no") == 5


# What has no value --------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_text_without_words_or_latin_letters_has_no_value(metric: Metric) -> None:
    assert metric.score(Sample("")).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample("?!")).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample("机器学习很有趣。")).status is ScoreStatus.ERROR


def test_a_text_too_short_to_mean_anything_can_be_left_out() -> None:
    metric = FleschKincaidGrade(least_words=100)
    assert metric.score(Sample(CAT)).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample(CAT * 20)).status is ScoreStatus.SCORED
    with pytest.raises(InputError, match="least_words"):
        Smog(least_words=0)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
@patient
@given(text=texts)
def test_values_keep_to_the_declared_range(metric: Metric, text: str) -> None:
    score = metric.score(Sample(text))
    assert "outside its range" not in score.reason
    assert score.value is None or metric.low <= score.value <= metric.high


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_hard_texts_are_worse_than_easy_ones(metric: Any) -> None:
    hard, easy = metric.score_many([Sample(PLATYPUS), Sample(CAT)])
    assert hard.value != easy.value
    assert (easy.value > hard.value) == (metric.direction == "higher")
