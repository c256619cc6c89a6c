"""Answers held to a form of words: relaxed equality, a pattern, a beginning, one of a list.

Patterns are those of RE2: no look-around, no back-references; see `penstock.patterns`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from penstock.errors import InputError
from penstock.metrics.checks import check_choice, check_flags, check_whole
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric, Need
from penstock.metrics.score import Sample, Score
from penstock.metrics.text import ExactMatch
from penstock.metrics.unread import shortened
from penstock.patterns import MOST_GROUPS, all_found, check_pattern

__all__ = ["Differs", "OneOf", "Pattern", "RelaxedMatch", "StartsWith"]

LARGEST_TEXT = 1_000_000
# What may stand around a value without being part of it: "**Yes.**", "(yes)".
_AROUND = " \t\r\n*_`~\"'“”‘’«».,;:!?()[]{}<>。，！？「」"


@dataclass(frozen=True)
class RelaxedMatch(Metric):
    """1 where the answer is the target but for case, blanks and symbols.

    Letters, digits, underscores and the marks of scripts that write vowels or tones as marks count;
    nothing else does. A target of symbols alone can be matched by nothing, which is an error.
    """

    name = "relaxed_match"
    summary = "Whether the answer equals the target but for case, blanks and symbols."
    needs = NEEDS_TARGET

    def measure(self, answer: str, sample: Sample) -> Measured:
        targets = [folded for target in sample.targets if (folded := _bare(target))]
        if not targets:
            return Score.error("the target holds neither letters nor digits")
        said = _bare(answer)
        return Score(float(said in targets), extracted=shortened(said))


@dataclass(frozen=True, kw_only=True)
class Differs(Metric):
    """1 where the answer is none of the targets, as where each of them would be a mistake."""

    casefold: bool = True

    name = "differs"
    summary = "Whether the answer is none of the targets."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_flags(self, "casefold")

    def measure(self, answer: str, sample: Sample) -> Measured:
        return not _equal(answer, sample, casefold=self.casefold)


@dataclass(frozen=True)
class Pattern(Metric):
    """1 where a pattern is found in the answer, or what it finds is the target.

    `whole`: it must match all of the answer, blanks around it aside. `group`: which brackets hold
    what is wanted, 0 for the whole match. `take`: of several matches the `first` or the `last`.
    With `compare` what was found must equal a target, blanks around them aside; an answer in which
    nothing is found is then `no_answer`.
    """

    pattern: str
    ignore_case: bool = False
    whole: bool = False
    group: int = 0
    take: Literal["first", "last"] = "first"
    compare: bool = False

    name = "pattern"
    summary = "Whether a pattern is found in the answer, or what it finds is the target."

    def __post_init__(self) -> None:
        check_flags(self, "ignore_case", "whole", "compare")
        check_whole(self, "group", 0, MOST_GROUPS - 1)
        check_choice(self, "take", "first", "last")
        check_pattern(self.pattern)
        if self.compare:
            needs: frozenset[Need] = NEEDS_TARGET
            object.__setattr__(self, "needs", needs)
        self.matches("")  # that there is such a group is known before any work

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if name != "needs"}

    def measure(self, answer: str, sample: Sample) -> Measured:
        if len(answer) > LARGEST_TEXT:
            return Score.error(f"the answer is longer than {LARGEST_TEXT:,} characters")
        found = self.matches(answer)
        if not found:
            return Score.no_answer("the pattern finds nothing") if self.compare else 0.0
        taken = found[0 if self.take == "first" else -1]
        taken = taken.strip() if self.whole or self.compare else taken
        right = not self.compare or _equal(taken, sample, casefold=self.ignore_case)
        return Score(float(right), extracted=shortened(taken))

    def matches(self, text: str) -> list[str]:
        """What the pattern finds, in order."""
        form = rf"^\s*(?:{self.pattern})\s*$" if self.whole else self.pattern
        return all_found(f"(?i){form}" if self.ignore_case else form, text, self.group)


@dataclass(frozen=True, kw_only=True)
class StartsWith(Metric):
    """1 where the answer begins with the target, quotation marks and the like aside.

    With `whole_word` "A" does not begin "An apple", nor "yes" "Yesterday".
    """

    casefold: bool = True
    whole_word: bool = True

    name = "starts_with"
    summary = "Whether the answer begins with the target."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_flags(self, "casefold", "whole_word")

    def measure(self, answer: str, sample: Sample) -> Measured:
        fold = ExactMatch(casefold=self.casefold, normalise=True)
        said = fold.folded(answer).lstrip(_AROUND)
        targets = [kept for each in sample.targets if (kept := fold.folded(each).strip(_AROUND))]
        if not targets:
            return Score.error("the target is empty, and begins every answer")
        found = next((target for target in targets if self._begins(said, target)), None)
        return Score(float(found is not None), extracted=shortened(found or said, 50))

    def _begins(self, said: str, target: str) -> bool:
        if not said.startswith(target):
            return False
        after = said[len(target) : len(target) + 1]
        return not (self.whole_word and target[-1].isalnum() and after.isalnum())


@dataclass(frozen=True)
class OneOf(Metric):
    """1 where the answer is one of `values` and nothing else, marks and blanks around it aside."""

    values: Sequence[str]
    casefold: bool = True

    name = "one_of"
    summary = "Whether the answer is one of a list of values."

    def __post_init__(self) -> None:
        check_flags(self, "casefold")
        given: object = self.values
        fits = isinstance(given, Sequence) and not isinstance(given, str) and len(given)
        if not fits or not all(isinstance(value, str) for value in self.values):
            raise InputError(
                f"values of {self.name} is {given!r:.100}",
                remedy="Give a list of texts: values=['yes', 'no'].",
            )
        object.__setattr__(self, "values", tuple(self.values))

    def measure(self, answer: str, sample: Sample) -> Measured:
        fold = ExactMatch(casefold=self.casefold, normalise=True)
        said = fold.folded(answer)
        forms = {said, said.strip(_AROUND)}
        found = next((value for value in self.values if fold.folded(value) in forms), None)
        return Score(float(found is not None), extracted=found)


def _equal(text: str, sample: Sample, *, casefold: bool) -> bool:
    """Whether a text is one of the targets, blanks around them aside."""
    fold = ExactMatch(casefold=casefold)
    return fold.folded(text) in {fold.folded(target) for target in sample.targets}


def _bare(text: str) -> str:
    """Letters, digits, marks and underscores, in small letters."""
    text = unicodedata.normalize("NFC", text)
    kept = (c for c in text if c == "_" or unicodedata.category(c)[0] in "LNM")
    return unicodedata.normalize("NFC", "".join(kept).lower())
