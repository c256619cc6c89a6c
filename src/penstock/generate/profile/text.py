"""What the texts of a column are like: lengths, and how different they are.

Texts that a model wrote often begin alike, repeat phrases of each other, or run in circles. All
texts are looked at for their lengths and openings; the rest is measured on a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise

from penstock.generate.duplicates import Duplicates, words
from penstock.generate.profile.counts import Counts
from penstock.generate.profile.results import Common, Diversity, Near, TextProfile
from penstock.generate.profile.sample import Picked
from penstock.generate.profile.spread import Spread

__all__ = ["NEAR", "Texts", "mtld"]

NEAR = 0.8
_OPENING = 3
_OPENING_ROOM = 200
_LONGEST = 10_000
_MOST_WORDS = 100_000
_PAIRED = 200
_RUN = 4
_MOST_SHOWN = 10
_RICH = 0.72
_FEWEST_FOR_MTLD = 50


class Texts:
    """The texts of a column, as they come."""

    def __init__(self, limit: int) -> None:
        self._characters = Spread()
        self._words = Spread()
        self._blank = 0
        self._openings = Counts(limit)
        self._sample: list[str] = []
        self._near = Duplicates(["text"], threshold=NEAR)
        self._looked_at = self._found = 0

    def add(self, text: str, picked: Picked) -> None:
        count = len(text.split()) if text.isascii() else len(words(text))
        self._characters.add(float(len(text)), picked.value)
        self._words.add(float(count), picked.value)
        if not text or text.isspace():
            self._blank += 1
            return
        self._openings.add(" ".join(words(text[:_OPENING_ROOM])[:_OPENING]))
        if picked.text:
            self._sample.append(text[:_LONGEST])
        if picked.row:
            self._looked_at += 1
            self._found += self._near.find({"text": text}) is not None

    def profile(self) -> TextProfile:
        characters, counts = self._characters.numbers(), self._words.numbers()
        assert characters is not None and counts is not None
        return TextProfile(characters, counts, self._blank, self._diversity(int(characters.count)))

    def _diversity(self, texts: int) -> Diversity:
        near = Near(self._found, self._looked_at, NEAR)
        common = self._openings.common(_MOST_SHOWN, least=2)
        same = common[0].count / texts if common else 0.0
        return diversity(self._sample, near, common, same)


def diversity(
    texts: list[str], near: Near, openings: tuple[Common, ...], same_opening: float
) -> Diversity:
    """What a sample of texts shows."""
    split = _up_to(_MOST_WORDS, map(words, texts))
    every = [word for each in split for word in each]
    pairs = [pair for each in split for pair in pairwise(each)]
    return Diversity(
        texts=len(split),
        words=len(every),
        distinct_1=_distinct(every),
        distinct_2=_distinct(pairs),
        mtld=mtld(every),
        similarity=_similarity([set(each) for each in split[:_PAIRED]]),
        repetition=_repetition(split),
        near=near,
        openings=openings,
        same_opening=same_opening,
        phrases=_phrases(split),
    )


def _up_to(most: int, texts: Iterable[list[str]]) -> list[list[str]]:
    found, room = [], most
    for each in texts:
        if each:
            found.append(each[:room])
            room -= len(found[-1])
        if room <= 0:
            break
    return found


def _distinct(items: list[str] | list[tuple[str, str]]) -> float:
    return len(set(items)) / len(items) if items else 0.0


def mtld(text: list[str]) -> float | None:
    """The measure of textual lexical diversity (McCarthy and Jarvis, 2010), both ways."""
    if len(text) < _FEWEST_FOR_MTLD:
        return None
    return (_one_way(text) + _one_way(text[::-1])) / 2


def _one_way(text: list[str]) -> float:
    """Words per stretch; a stretch ends where too few of its words are different."""
    stretches, start, seen = 0.0, 0, set[str]()
    for place, word in enumerate(text, 1):
        seen.add(word)
        if len(seen) / (place - start) <= _RICH:
            stretches, start, seen = stretches + 1, place, set()
    if start < len(text):  # the last one, as far as it has come
        stretches += (1 - len(seen) / (len(text) - start)) / (1 - _RICH)
    return len(text) / stretches if stretches else float(len(text))


def _similarity(texts: list[set[str]]) -> float | None:
    shares = [len(one & other) / len(one | other) for one, other in combinations(texts, 2)]
    return sum(shares) / len(shares) if shares else None


def _runs(text: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(text[at:] for at in range(_RUN)), strict=False))


def _repetition(texts: list[list[str]]) -> float:
    total = different = 0
    for each in texts:
        runs = _runs(each)
        total += len(runs)
        different += len(set(runs))
    return 1 - different / total if total else 0.0


def _phrases(texts: list[list[str]]) -> tuple[Common, ...]:
    """Runs that several texts have; of overlapping ones that are as common, the first alone."""
    counts = Counter(run for each in texts for run in dict.fromkeys(_runs(each)))
    found: list[tuple[tuple[str, ...], int]] = []
    for run, count in counts.most_common(20 * _MOST_SHOWN):
        if count < 2 or len(found) == _MOST_SHOWN:
            break
        if not any(_overlap(run, other) for other, _ in found):
            found.append((run, count))
    return tuple(Common(" ".join(run), count) for run, count in found)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(one[by:] == other[:-by] or other[by:] == one[:-by] for by in range(1, _RUN - 1))
