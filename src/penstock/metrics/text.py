"""Text against text: equal, contained, and how many edits lie between.

`strip`, `casefold` and `normalise` say which differences do not count; `normalise` means Unicode's
compatibility form (NFKC: full-width letters, ligatures), one space for any run of white space, and
none around the text.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from penstock.errors import InputError
from penstock.metrics.checks import check_flags
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.score import Sample, Score

__all__ = ["Contains", "EditDistance", "EditSimilarity", "ExactMatch"]

# The work grows with the product of two lengths; this many pairs take about two seconds.
LARGEST_PRODUCT = 40_000_000_000


@dataclass(frozen=True, kw_only=True)
class _TextMetric(Metric):
    """What all comparisons of two texts share: which differences do not count."""

    strip: bool = False
    casefold: bool = False
    normalise: bool = False

    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_flags(self, "strip", "casefold", "normalise")

    def folded(self, text: str) -> str:
        """A text without the differences that do not count."""
        if self.normalise:
            text = unicodedata.normalize("NFKC", text)
        if self.casefold:
            text = text.casefold()
        if self.normalise:
            text = unicodedata.normalize("NFKC", text)  # folding may have taken letters apart
            text = " ".join(text.split())
        return text.strip() if self.strip else text


@dataclass(frozen=True, kw_only=True)
class ExactMatch(_TextMetric):
    """1 where the answer is the target, else 0. White space around them does not count."""

    strip: bool = True

    name = "exact_match"
    summary = "Whether the answer equals the target."

    def measure(self, answer: str, sample: Sample) -> Measured:
        folded = self.folded(answer)
        return any(folded == self.folded(target) for target in sample.targets)


@dataclass(frozen=True, kw_only=True)
class Contains(_TextMetric):
    """1 where the target stands anywhere in the answer, else 0."""

    strip: bool = True

    name = "contains"
    summary = "Whether the target stands in the answer."

    def measure(self, answer: str, sample: Sample) -> Measured:
        targets = [folded for target in sample.targets if (folded := self.folded(target))]
        if not targets:
            return Score.error("the target is empty, and stands in every answer")
        folded = self.folded(answer)
        return any(target in folded for target in targets)


@dataclass(frozen=True, kw_only=True)
class EditDistance(_TextMetric):
    """The number of characters to insert, delete or replace (Levenshtein)."""

    name = "edit_distance"
    summary = "Edits from the answer to the target, in characters."
    high = float("inf")
    direction = "lower"

    def measure(self, answer: str, sample: Sample) -> Measured:
        return self.best(_edits(*pair) for pair in _pairs(self, answer, sample))


@dataclass(frozen=True, kw_only=True)
class EditSimilarity(_TextMetric):
    """1 less the edits as a share of the longer text: 1 is equal, 0 has nothing in common."""

    name = "edit_similarity"
    summary = "How alike answer and target are, by edits in characters."

    def measure(self, answer: str, sample: Sample) -> Measured:
        return self.best(
            1 - _edits(one, other) / (max(len(one), len(other)) or 1)
            for one, other in _pairs(self, answer, sample)
        )


def _pairs(metric: _TextMetric, answer: str, sample: Sample) -> list[tuple[str, str]]:
    folded = metric.folded(answer)
    return [(folded, metric.folded(target)) for target in sample.targets]


def _edits(one: str, other: str) -> int:
    from rapidfuzz.distance import Levenshtein

    if one == other:
        return 0
    if len(one) * len(other) > LARGEST_PRODUCT:
        raise InputError(
            f"texts of {len(one):,} and {len(other):,} characters are too long to count their edits"
        )
    return Levenshtein.distance(one, other)
