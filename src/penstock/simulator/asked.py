"""What a prompt asks for: how long, how many, about what.

A few phrases cover what people write in bulk prompts ("in 50 words", "three sentences", "a list
of 10 topics", "yes or no"). It reads words, not meaning, and only the beginning and the end of a
long prompt, so that its cost has a bound.
"""

from __future__ import annotations

import re

import msgspec

from penstock.simulator.vocabulary import DULL, NOT_THINGS, NUMBER_WORDS

__all__ = ["Wish", "singular", "wish"]

_READ = 1500
_MOST = 1000
_WORDS = re.compile(r"[A-Za-z][a-z]{2,17}\b")
_CLEAN = ".,;:!?()[]\"'*`"
_NUMBERS = {name: value for value, name in enumerate(NUMBER_WORDS, start=1)}
_NUMBERS |= {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "dozen": 12}
_CUES = frozenset(
    ("give", "me", "name", "generate", "provide", "suggest", "create", "write", "propose", "find")
) | {"produce", "show", "top", "exactly", "brainstorm", "invent", "make", "the"}
_UNITS = {
    "word": "words",
    "words": "words",
    "sentence": "sentences",
    "sentences": "sentences",
    "paragraph": "paragraphs",
    "paragraphs": "paragraphs",
}


class Wish(msgspec.Struct, frozen=True):
    """What was asked for. Zero means that it was left open.

    `counts` maps a thing in the singular to how many of it ("topic": 10); `items` is the first
    of them, and `listed` says that a list was asked for. `salient` are the prompt's own words
    worth repeating.
    """

    words: int = 0
    sentences: int = 0
    paragraphs: int = 0
    items: int = 0
    counts: dict[str, int] = {}
    listed: bool = False
    yes_no: bool = False
    salient: list[str] = []


def wish(system: str, user: str) -> Wish:
    """Read a system and a user text."""
    asked = _ends(user)
    text = f"{_ends(system)} {asked}".lower() if system else asked.lower()
    amounts: dict[str, int] = {}
    counts: dict[str, int] = {}
    words = text.split()
    listed = "list" in text
    for index, word in enumerate(words):
        if word in _NUMBERS or word[0].isdigit():
            _amount(word, words[index + 1 : index + 4], amounts, counts)
            listed = listed or (index > 0 and words[index - 1] in _CUES)
    found = [word for word in dict.fromkeys(_WORDS.findall(asked)) if word.lower() not in DULL]
    if found and asked.lstrip().startswith(found[0]):
        found[0] = found[0].lower()
    return Wish(
        words=1 if "single word" in text or "one-word" in text else amounts.get("words", 0),
        sentences=amounts.get("sentences", 0),
        paragraphs=amounts.get("paragraphs", 0),
        items=next(iter(counts.values()), 0),
        counts=counts,
        listed=listed and bool(counts),
        yes_no="yes or no" in text or "yes/no" in text,
        salient=found[:16],
    )


def singular(noun: str) -> str:
    """A plural without its ending, well enough to compare two of them."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches", "shes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 2:
        return noun[:-1]
    return noun


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _READ else f"{text[:_READ]} {text[-_READ:]}"


def _amount(word: str, after: list[str], amounts: dict[str, int], counts: dict[str, int]) -> None:
    """Note a number and what it counts: a unit of length, or a plural nearby."""
    head, _, tail = word.strip(_CLEAN).partition("-")
    number = _NUMBERS.get(head) or (int(head) if head.isdigit() and len(head) < 5 else 0)
    if not 0 < number <= _MOST:
        return
    if tail:
        if tail in _UNITS:
            amounts.setdefault(_UNITS[tail], number)
        return
    for step, raw in enumerate(after):
        noun = raw.strip(_CLEAN)
        if noun in _UNITS and step < 2:
            amounts.setdefault(_UNITS[noun], number)
            return
        thing = singular(noun)
        if thing != noun and noun not in NOT_THINGS and noun.isalpha():
            counts.setdefault(thing, number)
            return
        if raw[-1] in ".,;:!?)":
            return
