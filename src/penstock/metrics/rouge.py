"""ROUGE: the words of a target that an answer brings back, as one value of precision and recall.

They are those of the rouge-score package: words are runs of a-z and 0-9 in small letters. Texts in
other scripts have no such words, which is an error and not 0; `words="unicode"` reads them.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from re import compile as pattern
from typing import Literal

from penstock.errors import InputError
from penstock.metrics.checks import check_choice, check_flags
from penstock.metrics.lcs import common_length, common_places
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.porter import stem
from penstock.metrics.score import Sample, Score

__all__ = ["Rouge1", "Rouge2", "RougeL", "RougeLsum"]

_ASCII_WORD = pattern("[a-z0-9]+")
# Scripts written without spaces between words: each of their characters is a word.
_NO_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
# The work grows with the product of two lengths; a bound keeps any row within seconds.
LARGEST_PRODUCT = 400_000_000
MOST_PAIRS_OF_LINES = 250_000

Words = list[str]


@dataclass(frozen=True, kw_only=True)
class _Rouge(Metric):
    """What all of them share. Of several targets the best one counts.

    `stemmer` makes one of a word's forms (Porter; English); `words` is `ascii`, or `unicode` for
    texts that are not in English.
    """

    stemmer: bool = False
    words: Literal["ascii", "unicode"] = "ascii"

    name = "rouge"
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_flags(self, "stemmer")
        check_choice(self, "words", "ascii", "unicode")

    def measure(self, answer: str, sample: Sample) -> Measured:
        said = self._lines(answer)
        targets = [lines for text in sample.targets if any(lines := self._lines(text))]
        if not targets:
            hint = "; words='unicode' reads other scripts" if self.words == "ascii" else ""
            return Score.error(f"the target has no words{hint}")
        return self.best(self._against(said, target) for target in targets)

    def _lines(self, text: str) -> list[Words]:
        """The words of a text, line by line."""
        return [self._taken_apart(line) for line in text.split("\n")]

    def _taken_apart(self, line: str) -> Words:
        found = _ASCII_WORD.findall(line.lower()) if self.words == "ascii" else unicode_words(line)
        if not self.stemmer:
            return found
        return [stem(word) if len(word) > 3 and word.isascii() else word for word in found]

    @abstractmethod
    def _against(self, said: list[Words], target: list[Words]) -> float:
        """The value against one target."""


class _RougeRuns(_Rouge):
    """ROUGE-N: runs of n words."""

    _order: int

    def _against(self, said: list[Words], target: list[Words]) -> float:
        ours, wanted = self._runs(said), self._runs(target)
        return _balanced((ours & wanted).total(), ours.total(), wanted.total())

    def _runs(self, lines: list[Words]) -> Counter[tuple[str, ...]]:
        words = _joined(lines)
        shifted = (islice(words, at, None) for at in range(self._order))
        return Counter(zip(*shifted, strict=False))


class Rouge1(_RougeRuns):
    """Words that answer and target share, as the balance of precision and recall."""

    name = "rouge1"
    summary = "ROUGE-1: words that the answer shares with the target."
    _order = 1


class Rouge2(_RougeRuns):
    """Pairs of neighbouring words that answer and target share."""

    name = "rouge2"
    summary = "ROUGE-2: pairs of words that the answer shares with the target."
    _order = 2


class RougeL(_Rouge):
    """Words that answer and target share in the same order, with gaps."""

    name = "rougeL"
    summary = "ROUGE-L: words that the answer shares with the target, in order."

    def _against(self, said: list[Words], target: list[Words]) -> float:
        ours, wanted = _joined(said), _joined(target)
        _check_size(ours, wanted)
        return _balanced(common_length(wanted, ours), len(ours), len(wanted))


class RougeLsum(_Rouge):
    """ROUGE-L line by line, for summaries with one sentence a line."""

    name = "rougeLsum"
    summary = "ROUGE-L summed over lines, for summaries of one sentence a line."

    def _against(self, said: list[Words], target: list[Words]) -> float:
        lines = [(line, set(line)) for line in dict.fromkeys(map(tuple, said)) if line]
        wanted = [line for line in target if line]
        if len(lines) * len(wanted) > MOST_PAIRS_OF_LINES:
            raise InputError(f"{len(lines):,} and {len(wanted):,} lines are too many to compare")
        ours, theirs = Counter(_joined(said)), Counter(_joined(target))
        said_total, wanted_total = ours.total(), theirs.total()
        hits = 0
        for line in wanted:
            for word in _found(line, lines):
                # No word counts more often than it stands in either text.
                if ours[word] > 0 and theirs[word] > 0:
                    hits += 1
                    ours[word] -= 1
                    theirs[word] -= 1
        return _balanced(hits, said_total, wanted_total)


def _found(wanted: Words, lines: list[tuple[tuple[str, ...], set[str]]]) -> Words:
    """The words of a line that stand, in order, in any of the others."""
    places: set[int] = set()
    for line, words in lines:
        if not words.isdisjoint(wanted):
            _check_size(wanted, line)
            places.update(common_places(wanted, line))
    return [wanted[place] for place in sorted(places)]


def unicode_words(text: str) -> Words:
    """Words in any script: what stands between spaces and marks, in small letters."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words: Words = []
    for kind, letters in groupby(text, key=_letter_kind):
        if kind == "word":
            words.append("".join(letters))
        elif kind == "alone":
            words += letters
    return words


@lru_cache(maxsize=65_536)
def _letter_kind(letter: str) -> str:
    """`word`, `alone` for a letter that is a word, or `` for what stands between words."""
    if unicodedata.category(letter)[0] not in "LNM":
        return ""
    return "alone" if unicodedata.name(letter, "").startswith(_NO_SPACES) else "word"


def _joined(lines: list[Words]) -> Words:
    return [word for line in lines for word in line]


def _balanced(hits: int, said: int, wanted: int) -> float:
    """Precision and recall as their harmonic mean."""
    return 2 * hits / (said + wanted) if hits else 0.0


def _check_size(one: Sequence[str], other: Sequence[str]) -> None:
    if len(one) * len(other) > LARGEST_PRODUCT:
        raise InputError(f"texts of {len(one):,} and {len(other):,} words are too long to compare")
