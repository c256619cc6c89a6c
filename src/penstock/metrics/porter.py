"""Porter's stemmer (1980), with the later changes that the usual ROUGE package counts on.

Words are taken as letters c and v, consonant and vowel; a word's measure is the number of times a
v is followed by a c. The changes to the paper: a few irregular words; `ies` and `ied` in words of
four letters keep their e; y becomes i behind a consonant; `bli`, `fulli` and `logi` are endings.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["stem"]

_IRREGULAR = {
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "skies": "sky",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
    **{word: word for word in ("sky", "news", "howe", "inning", "outing", "canning")},
    **{word: word for word in ("proceed", "exceed", "succeed")},
}
# The first ending that a word has decides, so a longer one stands before the one that ends it.
_SECOND = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance")),
    *(("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e")),
    *(("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    *(("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_THIRD = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_FOURTH = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)
_LONGEST_KEPT = 40


def stem(word: str) -> str:
    """The stem of a word in small letters."""
    return _kept(word) if len(word) <= _LONGEST_KEPT else _stem(word)


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plurals, _past, _final_y, _second, _third, _fourth, _final_e, _final_l):
        word = step(word)
    return word


_kept = lru_cache(maxsize=32_768)(_stem)


def _shape(word: str) -> str:
    """The word as letters c and v; a y is a vowel where a consonant stands before it."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _short_end(word: str) -> bool:
    """Consonant, vowel, consonant, as in `hop`; two letters are enough where they are all."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plurals(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and "v" in _shape(rest):
            return _mended(rest)
    return word


def _mended(rest: str) -> str:
    """What is left when `ed` or `ing` has gone: an e comes back, or a doubled letter goes."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short_end(rest) else rest


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _second(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _second(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _SECOND)


def _third(word: str) -> str:
    return _replaced(word, _THIRD)


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return rest + instead if _measure(rest) else word
    return word


def _fourth(word: str) -> str:
    for ending in _FOURTH:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            goes = _measure(rest) > 1 and (ending != "ion" or rest[-1] in "st")
            return rest if goes else word
    return word


def _final_e(word: str) -> str:
    rest = word.removesuffix("e")
    if rest == word:
        return word
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _short_end(rest)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
