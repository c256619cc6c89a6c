"""BLEU and chrF: how many pieces of an answer stand in its target.

Both are those of sacreBLEU, to the last digit but for the scale, which here is 0 to 1. A corpus's
value is made of sums over all rows and is not the mean of the rows' values: the sums travel in
`Score.parts`. A target without a word in it can be matched by nothing, which is an error and not 0.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

from penstock.metrics.checks import check_choice, check_flags, check_whole
from penstock.metrics.metric import NEEDS_TARGET, Measured, Metric
from penstock.metrics.score import Sample, Score

__all__ = ["Bleu", "Chrf"]

Run = TypeVar("Run")

_LARGEST_ORDER = 10

# The tokenizer of the mteval script, version 13a: entities are read, ASCII symbols stand alone, a
# stop or comma does so unless it is within a number, and a dash does so behind a digit.
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_SYMBOLS = "".join(symbol for symbol in string.punctuation if symbol not in "'-.,")
_RULES = (
    (re.compile(f"[{re.escape(_SYMBOLS)}]"), r" \g<0> "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])-"), r"\1 - "),
)


def words_13a(text: str) -> list[str]:
    """The words of a text as the machine translation campaigns count them."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    for rule, apart in _RULES:
        text = rule.sub(apart, text)
    return text.split()


def _characters(text: str) -> list[str]:
    return [character for character in text if not character.isspace()]


_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "13a": words_13a,
    "char": _characters,
    "none": str.split,
}


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """BLEU of an answer, and of all answers as `corpus_bleu`. Several targets count together.

    `tokenizer`: `13a` for texts with spaces between words, `char` for those without (Chinese,
    Japanese, Thai), `none` for texts that are split already. `smoothing`: `exp`, so that one
    missing length of n-grams does not make it 0, or `none`. A row shorter than `order` words is
    judged by the lengths it has; a corpus never is.
    """

    order: int = 4
    lowercase: bool = False
    tokenizer: Literal["13a", "char", "none"] = "13a"
    smoothing: Literal["exp", "none"] = "exp"

    name = "bleu"
    summary = "BLEU: runs of words that the answer shares with the target."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_whole(self, "order", 1, _LARGEST_ORDER)
        check_flags(self, "lowercase")
        check_choice(self, "tokenizer", *_TOKENIZERS)
        check_choice(self, "smoothing", "exp", "none")

    def measure(self, answer: str, sample: Sample) -> Measured:
        words = self._words(answer)
        targets = [self._words(target) for target in sample.targets]
        if not any(targets):
            return Score.error("the target has no words")
        # Of two targets equally near in length the shorter one is taken.
        near = min(map(len, targets), key=lambda length: (abs(length - len(words)), length))
        right: list[int] = []
        total: list[int] = []
        for order in range(1, self.order + 1):
            said = _runs(words, order)
            allowed: Counter[tuple[str, ...]] = Counter()
            for target in targets:
                allowed |= _runs(target, order)
            right.append(_shared(said, allowed))
            total.append(max(len(words) - order + 1, 0))
        parts = tuple(map(float, (len(words), near, *right, *total)))
        return Score(self._value(parts, short=True), parts=parts)

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        sums = _summed(scores)
        return {"corpus_bleu": self._value(sums, short=False)} if sums else {}

    def _words(self, text: str) -> list[str]:
        return _TOKENIZERS[self.tokenizer](text.lower() if self.lowercase else text)

    def _value(self, parts: tuple[float, ...], *, short: bool) -> float:
        """BLEU from its sums; `short` lets a text count by the orders it has."""
        length, near = parts[:2]
        right, total = parts[2 : 2 + self.order], parts[2 + self.order :]
        if not any(right):
            return 0.0
        logs: list[float] = []
        halving = 1.0
        for hits, of in zip(right, total, strict=True):
            if not of:
                break
            if not hits and self.smoothing == "none":
                return 0.0
            if not hits:
                halving *= 2
            logs.append(math.log(hits / of if hits else 1 / (halving * of)))
        if len(logs) < self.order and not short:
            return 0.0
        brevity = min(0.0, 1 - near / length)
        return min(1.0, math.exp(brevity + math.fsum(logs) / len(logs)))


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric):
    """chrF of an answer, and of all answers as `corpus_chrf`; with `word_order=2` it is chrF++.

    Of several targets the best one counts. `beta` says how many times more recall weighs than
    precision.
    """

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False

    name = "chrf"
    summary = "chrF: runs of characters that the answer shares with the target."
    needs = NEEDS_TARGET

    def __post_init__(self) -> None:
        check_whole(self, "char_order", 1, _LARGEST_ORDER)
        check_whole(self, "word_order", 0, _LARGEST_ORDER)
        check_whole(self, "beta", 1, _LARGEST_ORDER)
        check_flags(self, "lowercase", "whitespace")

    def measure(self, answer: str, sample: Sample) -> Measured:
        said = self._pieces(answer)
        targets = [pieces for text in sample.targets if any(pieces := self._pieces(text))]
        if not targets:
            return Score.error("the target has no characters")
        found = [_matches(said, target) for target in targets]
        best = max(found, key=self._value)
        return Score(self._value(best), parts=best)

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        sums = _summed(scores)
        return {"corpus_chrf": self._value(sums)} if sums else {}

    def _pieces(self, text: str) -> list[Counter[str]]:
        """The runs of characters, then those of words, by their length."""
        text = text.lower() if self.lowercase else text
        letters = text if self.whitespace else "".join(text.split())
        pieces = [
            Counter(letters[at : at + order] for at in range(len(letters) - order + 1))
            for order in range(1, self.char_order + 1)
        ]
        if self.word_order:
            words = _bare_words(text)
            orders = range(1, self.word_order + 1)
            pieces += [Counter(map(" ".join, _windows(words, order))) for order in orders]
        return pieces

    def _value(self, parts: tuple[float, ...]) -> float:
        precisions: list[float] = []
        recalls: list[float] = []
        for at in range(0, len(parts), 3):
            said, wanted, shared = parts[at : at + 3]
            if said and wanted:
                precisions.append(shared / said)
                recalls.append(shared / wanted)
        if not any(precisions):
            return 0.0
        precision = math.fsum(precisions) / len(precisions)
        recall = math.fsum(recalls) / len(recalls)
        weight = self.beta**2
        return min(1.0, (1 + weight) * precision * recall / (weight * precision + recall))


def _matches(said: list[Counter[str]], target: list[Counter[str]]) -> tuple[float, ...]:
    """For each length of run: said, wanted, and shared, where the target is long enough for any."""
    counts: list[float] = []
    for ours, wanted in zip(said, target, strict=True):
        counts += (ours.total() if wanted else 0, wanted.total(), _shared(ours, wanted))
    return tuple(map(float, counts))


def _bare_words(text: str) -> list[str]:
    """Words with one mark of punctuation taken off: the last, or else the first."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            words += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in string.punctuation:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words


def _windows(words: list[str], order: int) -> zip[tuple[str, ...]]:
    return zip(*(islice(words, at, None) for at in range(order)), strict=False)


def _runs(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(_windows(words, order))


def _shared(said: Counter[Run], wanted: Counter[Run]) -> int:
    return sum(min(count, wanted[run]) for run, count in said.items() if run in wanted)


def _summed(scores: Sequence[Score]) -> tuple[float, ...]:
    rows = [score.parts for score in scores if score.parts]
    return tuple(map(math.fsum, zip(*rows, strict=True)))
