"""Rows that say again what an earlier row said: word for word, or nearly so.

Exact duplicates are found by a 64-bit hash of the row's JSON (two different rows of a million are
taken for equal once in forty million runs). Near ones are found by MinHash: a row is 256 slots of
eight bits, whose share of equal slots tells how many runs of words two texts have in common
(Jaccard; the standard error is 0.025). Bands of slots lead to the earlier rows that may be near
enough, and every one of them is compared slot by slot before it counts.

Two texts are compared by runs of three words where both have eight words or more, by runs of four
characters where both have at most twelve; in writing without spaces each character is a word.

Memory for each row that is kept: some 25 bytes for exact duplicates (32 at most), some 470 with
near ones at 0.8 (600 at most; 1,100 for texts of eight to twelve words, which are kept both ways).
A million rows are some 25 MB, or half a gigabyte.

Traded away: one pair in three hundred exactly at the threshold is never looked at; fewer further
up. And when more than 64 kept rows share a band, later ones are not found by that band.
"""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import orjson

from penstock.errors import InputError
from penstock.tables.plain import ATOMS, clean, plain, text_of

__all__ = ["Duplicates", "shingles", "words"]

_SLOTS = 256
_SEED = 20_240_229
_MISSED = 0.0033
_MOST_BANDS = 24
_MOST_IN_BUCKET = 64
_LOWEST = 0.5
_FIRST_SIZE = 1 << 8
_FULLEST = 0.6

_RUN = 3
_LETTERS = 4
_FEWEST_WORDS = 8
_MOST_WORDS = 12

# Scripts without spaces between words: Thai to Tibetan, Burmese, Khmer, kana, Chinese characters.
_ALONE = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNIT = re.compile(f"[{_ALONE}]|[^\\s{_ALONE}]+")
# ASCII, Latin, general and CJK punctuation; everything else, signs and emoji too, can be a word.
_GAP = re.compile("[\\s!-/:-@\\[-`{-~\x7f-\xbf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+")
_ASCII_GAPS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})


def words(text: str) -> list[str]:
    """The words of a text as they are compared: without case and punctuation."""
    bare = _bare(text)
    return bare.split() if bare.isascii() else _UNIT.findall(bare)


def shingles(text: str) -> list[set[str]]:
    """The sets of short runs by which a text is compared: by words, by characters, or both."""
    found = words(text)
    sets = []
    if len(found) >= _FEWEST_WORDS:
        sets.append(set(map(" ".join, zip(found, found[1:], found[2:], strict=False))))
    if 0 < len(found) <= _MOST_WORDS:
        bare = _bare(text)
        last = max(1, len(bare) - _LETTERS + 1)
        sets.append({bare[at : at + _LETTERS] for at in range(last)})
    return sets


def _bare(text: str) -> str:
    """The text with single spaces in the place of all that is no word."""
    if text.isascii():  # several times faster this way
        return " ".join(text.lower().translate(_ASCII_GAPS).split())
    text = unicodedata.normalize("NFKC", clean(text))
    return _GAP.sub(" ", text.casefold()).strip()


class Duplicates:
    """Finds rows that repeat an earlier one; see the module.

    `columns` are those that are compared (None: all). `threshold` is the similarity, from 0.5 to 1,
    from which a row counts as a near-duplicate; without it only exact ones do.
    """

    def __init__(self, columns: Sequence[str] | None, *, threshold: float | None = None) -> None:
        if isinstance(columns, str):
            columns = [columns]
        if columns is not None and not columns:
            raise InputError(
                "no columns are named to be compared",
                remedy="Name one or more, or leave them out to compare whole rows.",
            )
        self.columns = None if columns is None else tuple(columns)
        self.threshold = None if threshold is None else _checked(threshold)
        self._fed = 0
        self._numbers = array("I")
        self._exact = _Exact()
        self._near = None if threshold is None else _Near(threshold)

    def __len__(self) -> int:
        """How many rows are kept."""
        return len(self._numbers)

    def find(self, row: Mapping[str, Any]) -> int | None:
        """The number of the kept row that this one repeats; None: it is new, and now kept.

        Rows are numbered from 0 in the order in which they are given here. Of several near
        duplicates the most similar one is named, of equally similar ones the earliest.
        """
        number = self._fed
        self._fed += 1
        chosen = self._chosen(row)
        key = _hashed(chosen)
        if (kept := self._exact.find(key)) is not None:
            return self._numbers[kept]
        if self._near is not None:
            looks = [self._near.look(_signature(each)) for each in shingles(_as_text(chosen))]
            if (kept := self._near.nearest(looks)) is not None:
                return self._numbers[kept]
            self._near.add(looks, len(self._numbers))
        self._exact.add(key)
        self._numbers.append(number)
        return None

    def _chosen(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if self.columns is None:
            return dict(row)
        try:
            return {name: row[name] for name in self.columns}
        except KeyError as error:
            raise InputError(
                f"duplicates are looked for in the column {error.args[0]!r}, which a row lacks",
                remedy=f"The row has: {', '.join(map(str, row)) or 'no columns'}.",
            ) from None


def _checked(threshold: float) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise InputError(f"the threshold of near-duplicates is {threshold!r}; a number is wanted")
    if not _LOWEST <= threshold <= 1:
        raise InputError(
            f"the threshold of near-duplicates is {threshold}",
            remedy=f"Give a similarity from {_LOWEST} to 1; 0.8 is a good beginning.",
        )
    return threshold


def _as_text(row: Mapping[str, Any]) -> str:
    return "\n".join(
        value if isinstance(value, str) else _json(value).decode()
        for value in row.values()
        if value is not None
    )


def _hashed(row: Mapping[str, Any]) -> int:
    return int.from_bytes(blake2b(_json(row), digest_size=8).digest(), "little")


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, _other, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):  # half characters, integers of more than 64 bits, deep nesting
        text = json.dumps(plain(value), ensure_ascii=False, sort_keys=True, default=text_of)
        return text.encode()


def _other(value: Any) -> Any:
    value = plain(value)
    return text_of(value) if type(value) in ATOMS else value


class _Exact:
    """Hashes, numbered as they come: eight bytes of each, and a table of four-byte numbers."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._slots = _zeros(_FIRST_SIZE)

    def find(self, key: int) -> int | None:
        """The number of a hash; None: it is new."""
        found = self._slots[self._place(key)]
        return found - 1 if found else None

    def add(self, key: int) -> None:
        """Remember a new hash."""
        self._keys.append(key)
        self._slots[self._place(key)] = len(self._keys)
        if len(self._keys) > _FULLEST * len(self._slots):
            self._slots = _zeros(2 * len(self._slots))
            for number, known in enumerate(self._keys, 1):
                self._slots[self._place(known)] = number

    def _place(self, key: int) -> int:
        """Where a hash lies, or would."""
        slots, keys, mask = self._slots, self._keys, len(self._slots) - 1
        at = key & mask
        while (found := slots[at]) and keys[found - 1] != key:
            at = (at + 1) & mask
        return at


class _Shape(NamedTuple):
    """How slots are put into bands."""

    bands: int
    width: int

    @classmethod
    def of(cls, threshold: float) -> _Shape:
        """The widest bands that still lead to nearly all pairs at the threshold."""
        best = cls(1, _SLOTS)
        if threshold == 1:
            return best
        for width in range(1, _SLOTS):
            bands = math.ceil(math.log(_MISSED) / math.log(1 - threshold**width))
            if bands > _MOST_BANDS or bands * width > _SLOTS:
                break
            best = cls(bands, width)
        return best


class _Look(NamedTuple):
    """Where a signature leads."""

    signature: bytes
    found: list[list[int]]
    """By band, the earlier entries."""
    places: list[int]
    """By band, where it would be put."""


class _Near:
    """Signatures, and bands that lead to those that may be near."""

    def __init__(self, threshold: float) -> None:
        shape = _Shape.of(threshold)
        # Slots of eight bits agree by chance once in 256: what is left over says what is shared.
        self._least = math.ceil(round(1 + (_SLOTS - 1) * threshold, 9))
        self._signatures = bytearray()
        self._owners = array("I")
        self._bands = [
            _Band(self._signatures, at * shape.width, shape.width) for at in range(shape.bands)
        ]

    def look(self, signature: bytes) -> _Look:
        """What lies in the bands of a signature."""
        walks = [band.walk(signature) for band in self._bands]
        return _Look(signature, [found for found, _ in walks], [place for _, place in walks])

    def nearest(self, looks: list[_Look]) -> int | None:
        """The owner of the nearest signature that is near enough."""
        best, nearest = self._least - 1, None
        for look in looks:
            whole = int.from_bytes(look.signature, "little")
            for entry in sorted(set(chain.from_iterable(look.found))):
                at = entry * _SLOTS
                other = int.from_bytes(self._signatures[at : at + _SLOTS], "little")
                equal = (whole ^ other).to_bytes(_SLOTS, "little").count(0)
                if equal > best:
                    best, nearest = equal, self._owners[entry]
        return nearest

    def add(self, looks: list[_Look], owner: int) -> None:
        """Remember the signatures of a row."""
        for place, look in enumerate(looks):
            # What was added first may have moved the places of the second.
            fresh = look if not place else self.look(look.signature)
            entry = len(self._owners)
            self._signatures += look.signature
            self._owners.append(owner)
            for band, found, free in zip(self._bands, fresh.found, fresh.places, strict=True):
                if len(found) < _MOST_IN_BUCKET:
                    band.put(entry, free)


class _Band:
    """Which signatures have the same bytes at one place: a table of four-byte numbers."""

    __slots__ = ("_at", "_signatures", "_slots", "_used", "_width")

    def __init__(self, signatures: bytearray, at: int, width: int) -> None:
        self._signatures = signatures
        self._at = at
        self._width = width
        self._slots = _zeros(_FIRST_SIZE)
        self._used = 0

    def walk(self, signature: bytes) -> tuple[list[int], int]:
        """The entries that agree with this one, as they came, and the free place behind them.

        Where things lie differs from process to process, as Python's hashes do; what is found,
        and in which order, does not.
        """
        slots, mask, known = self._slots, len(self._slots) - 1, self._signatures
        start, width = self._at - _SLOTS, self._width
        key = signature[self._at : self._at + width]
        found = []
        at = hash(key) & mask
        while entry := slots[at]:
            begin = start + entry * _SLOTS
            if known[begin : begin + width] == key:
                found.append(entry - 1)
            at = (at + 1) & mask
        return found, at

    def put(self, entry: int, place: int) -> None:
        """Remember one more, at a free place."""
        self._slots[place] = entry + 1
        self._used += 1
        if self._used > _FULLEST * len(self._slots):
            self._grow()

    def _grow(self) -> None:
        entries = sorted(entry for entry in self._slots if entry)
        self._slots = slots = _zeros(2 * len(self._slots))
        mask, known = len(slots) - 1, self._signatures
        for entry in entries:
            begin = self._at + (entry - 1) * _SLOTS
            at = hash(bytes(known[begin : begin + self._width])) & mask
            while slots[at]:
                at = (at + 1) & mask
            slots[at] = entry


def _zeros(size: int) -> array[int]:
    return array("I", [0]) * size


def _signature(tokens: set[str]) -> bytes:
    """The lowest eight bits of every slot."""
    from rensa import RMinHash  # type: ignore[import-untyped]

    sketch = RMinHash(_SLOTS, _SEED)
    sketch.update(list(tokens))
    digest = array("I", sketch.digest())
    if sys.byteorder == "big":
        digest.byteswap()
    return digest.tobytes()[:: digest.itemsize]
