"""SQuAD's exact match and F1, for versions 1 and 2 of the data set.

Before two answers are compared they are put in small letters, and lose ASCII punctuation, the
articles a, an and the, and extra blanks, in this order, as in the official scripts. F1 counts a
word as often as it stands in both. Of several targets the best one counts.

Version 2 has questions without an answer. Their target is an empty text or an empty list, and the
right answer is none: an empty one, or a word of `unanswerable`, since a model seldom says nothing.
There F1 is 1 or 0. Version 1 knows no such questions: words are counted, and none in common is 0.
"""

from __future__ import annotations

import re
import string
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.errors import InputError
from penstock.metrics.checks import check_choice
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.score import Sample, Score
from penstock.metrics.unread import shortened

__all__ = ["SquadExact", "SquadF1"]

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, kw_only=True)
class _Squad(Metric):
    """What both share. `data` is `v1` or `v2`; `unanswerable` says what counts as no answer."""

    data: Literal["v1", "v2"] = "v2"
    unanswerable: Sequence[str] = ("unanswerable",)

    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_choice(self, "data", "v1", "v2")
        given: object = self.unanswerable
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"unanswerable of {self.name} is {given!r}; a list of texts is wanted")
        if not all(isinstance(each, str) for each in self.unanswerable):
            raise InputError(f"unanswerable of {self.name} is {given!r}; texts are wanted")
        object.__setattr__(self, "unanswerable", tuple(self.unanswerable))

    def measure(self, answer: str, sample: Sample) -> Measured:
        said = normalised(answer)
        targets = [normalised(target) for target in sample.targets]
        if self.data == "v2":
            targets = [target for target in targets if target] or [""]
            said = "" if said in {normalised(each) for each in self.unanswerable} else said
        value = max(self.against(said, target) for target in targets)
        return Score(value, extracted=shortened(said))

    @abstractmethod
    def against(self, said: str, target: str) -> float:
        """The value against one target; both are normalised."""

    def _barred_target(self, sample: Sample) -> Score | None:
        nothing = self.data == "v2" and sample.target is not None and not sample.targets
        return None if nothing else super()._barred_target(sample)


class SquadExact(_Squad):
    """1 where the answer is a target but for case, punctuation, articles and blanks."""

    name = "squad_exact"
    summary = "SQuAD's exact match."

    def against(self, said: str, target: str) -> float:
        return float(said == target)


class SquadF1(_Squad):
    """The balance of precision and recall over the words of answer and target."""

    name = "squad_f1"
    summary = "SQuAD's F1 over words."

    def against(self, said: str, target: str) -> float:
        ours, wanted = Counter(said.split()), Counter(target.split())
        if self.data == "v2" and not (ours and wanted):
            return float(ours == wanted)
        shared = (ours & wanted).total()
        return 2 * shared / (ours.total() + wanted.total()) if shared else 0.0


def normalised(text: str) -> str:
    """A text as SQuAD compares it."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())
