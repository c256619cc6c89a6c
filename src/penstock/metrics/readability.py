"""Readability of English texts: Flesch's ease and grade, Gunning's fog, and SMOG.

They count words, sentences and syllables, and know nothing of sense. The formulas are the published
ones; the counts are ours (`wording.py`, `syllables.py`), and other programs count a little
otherwise: on the same text their values may differ by some points of ease or by one grade. They are
made for English prose of a hundred words and more. Of a text without Latin letters there is no
value, and in another language than English the value means little.

R. Flesch, A New Readability Yardstick (1948); J. P. Kincaid and others (1975); R. Gunning, The
Technique of Clear Writing (1952); G. H. McLaughlin, SMOG Grading (1969).
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from penstock.metrics.checks import check_whole
from penstock.metrics.metric import Measured, Metric
from penstock.metrics.score import Sample, Score
from penstock.metrics.syllables import syllables
from penstock.metrics.wording import sentences, words

__all__ = ["FleschKincaidGrade", "FleschReadingEase", "GunningFog", "Smog"]

_LATIN = re.compile(r"[A-Za-z]")
_LEAST_LATIN = 0.5


class Counts(NamedTuple):
    """What the formulas are made of."""

    words: int
    sentences: int
    syllables: int
    hard: int
    """Words of three syllables and more."""
    fogged: int
    """The same, less names, hyphenated words, and such as have their third by -es, -ed or -ing."""


@dataclass(frozen=True, kw_only=True)
class _Readability(Metric):
    """What all share. An answer of fewer words than `least_words` is `no_answer`."""

    least_words: int = 1

    def __post_init__(self) -> None:
        check_whole(self, "least_words", 1, 1_000_000)

    def measure(self, answer: str, sample: Sample) -> Measured:
        counts = counted(answer)
        if counts.words < self.least_words:
            return Score.no_answer(
                f"the answer has {counts.words} words; {self.least_words} are wanted"
            )
        said = words(answer)
        if sum(bool(_LATIN.search(word)) for word in said) < _LEAST_LATIN * len(said):
            return Score.error("the answer is not written in Latin letters")
        found = (
            f"{counts.words} words, {counts.sentences} sentences, {counts.syllables} syllables, "
            f"{counts.hard} of three or more"
        )
        return Score(self.formula(counts), extracted=found)

    @abstractmethod
    def formula(self, counts: Counts) -> float:
        """The value."""


class FleschReadingEase(_Readability):
    """100 is very easy, 0 very hard; 60 to 70 is plain English. There is no lowest value."""

    name = "flesch_reading_ease"
    summary = "Flesch's reading ease of an English text: 100 is very easy, 0 very hard."
    low = -math.inf
    high = 206.835 - 1.015 - 84.6

    def formula(self, counts: Counts) -> float:
        length = counts.words / counts.sentences
        return 206.835 - 1.015 * length - 84.6 * counts.syllables / counts.words


class FleschKincaidGrade(_Readability):
    """The school grade, in the United States, that can read the text."""

    name = "flesch_kincaid_grade"
    summary = "The school grade for which an English text is fit (Flesch-Kincaid)."
    low = 0.39 + 11.8 - 15.59
    high = math.inf
    direction = "lower"

    def formula(self, counts: Counts) -> float:
        length = counts.words / counts.sentences
        return 0.39 * length + 11.8 * counts.syllables / counts.words - 15.59


class GunningFog(_Readability):
    """Years of schooling that a text asks for, by its long sentences and hard words."""

    name = "gunning_fog"
    summary = "Years of schooling that an English text asks for (Gunning's fog index)."
    low = 0.4
    high = math.inf
    direction = "lower"

    def formula(self, counts: Counts) -> float:
        return 0.4 * (counts.words / counts.sentences + 100 * counts.fogged / counts.words)


class Smog(_Readability):
    """The grade by the number of hard words; made for samples of thirty sentences."""

    name = "smog"
    summary = "The school grade for which an English text is fit (SMOG)."
    low = 3.1291
    high = math.inf
    direction = "lower"

    def formula(self, counts: Counts) -> float:
        return 1.0430 * math.sqrt(counts.hard * 30 / counts.sentences) + 3.1291


def counted(text: str) -> Counts:
    """The counts of a text."""
    total = heard = hard = fogged = 0
    pieces = sentences(text)
    for sentence in pieces:
        for at, word in enumerate(words(sentence)):
            count = syllables(word)
            total += 1
            heard += count
            hard += count >= 3
            fogged += count >= 3 and _fogs(word, count, name=at > 0 and word[0].isupper())
    return Counts(total, len(pieces), heard, hard, fogged)


def _fogs(word: str, count: int, *, name: bool) -> bool:
    """Whether Gunning counts a word of three syllables as a hard one."""
    if name or "-" in word:
        return False
    return count > 3 or not word.endswith(("es", "ed", "ing"))
