"""What a prompt asks for: how long, how many, about what.

A few phrases cover what people write in bulk prompts ("in 50 words", "three sentences", "a list
of 10 topics", "yes or no"). It reads words, not meaning, and only the beginning and the end of a
long prompt, so that its cost has a bound.
"""

from __future__ import annotations

import re

import msgspec

__all__ = ["Wish", "singular", "wish"]

_READ = 1500
_MOST = 1000
_WORDS = re.compile(r"[A-Za-z][a-z]{3,17}\b")
_CLEAN = ".,;:!?()[]\"'*`"
_NUMBERS = {
    name: value
    for value, name in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "dozen": 12}
_UNITS = {
    "word": "words",
    "words": "words",
    "sentence": "sentences",
    "sentences": "sentences",
    "paragraph": "paragraphs",
    "paragraphs": "paragraphs",
}
_NOT_THINGS = frozenset(
    [
        "tokens",
        "characters",
        "chars",
        "lines",
        "years",
        "months",
        "weeks",
        "days",
        "hours",
        "minutes",
        "seconds",
        "percent",
        "stars",
        "points",
        "times",
        "pages",
        "degrees",
        "dollars",
        "euros",
        "always",
        "this",
        "is",
        "was",
        "as",
        "its",
        "has",
        "does",
        "less",
        "across",
        "versus",
    ]
)
_DULL = frozenset(
    [
        "about",
        "above",
        "across",
        "after",
        "again",
        "against",
        "also",
        "although",
        "always",
        "another",
        "answer",
        "answers",
        "around",
        "asked",
        "because",
        "become",
        "been",
        "before",
        "being",
        "below",
        "best",
        "between",
        "both",
        "brief",
        "briefly",
        "came",
        "cannot",
        "choose",
        "come",
        "could",
        "create",
        "describe",
        "different",
        "does",
        "doing",
        "done",
        "down",
        "during",
        "each",
        "either",
        "else",
        "enough",
        "even",
        "every",
        "exactly",
        "example",
        "explain",
        "explanation",
        "find",
        "first",
        "following",
        "follows",
        "format",
        "from",
        "fully",
        "generate",
        "given",
        "gives",
        "good",
        "great",
        "have",
        "having",
        "help",
        "here",
        "how",
        "however",
        "including",
        "instead",
        "into",
        "json",
        "just",
        "keep",
        "kind",
        "know",
        "last",
        "least",
        "less",
        "like",
        "likely",
        "list",
        "long",
        "made",
        "make",
        "makes",
        "making",
        "many",
        "might",
        "more",
        "most",
        "much",
        "must",
        "need",
        "never",
        "next",
        "none",
        "nothing",
        "number",
        "once",
        "only",
        "other",
        "over",
        "part",
        "please",
        "possible",
        "produce",
        "prompt",
        "provide",
        "question",
        "quite",
        "rather",
        "really",
        "reply",
        "respond",
        "response",
        "return",
        "same",
        "schema",
        "seen",
        "sentence",
        "sentences",
        "several",
        "shall",
        "short",
        "should",
        "show",
        "simple",
        "since",
        "single",
        "some",
        "something",
        "soon",
        "still",
        "such",
        "sure",
        "take",
        "tell",
        "text",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "things",
        "think",
        "this",
        "those",
        "three",
        "through",
        "together",
        "token",
        "tool",
        "topic",
        "topics",
        "toward",
        "under",
        "until",
        "upon",
        "used",
        "user",
        "using",
        "various",
        "very",
        "want",
        "well",
        "were",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "will",
        "with",
        "within",
        "without",
        "word",
        "words",
        "would",
        "write",
        "wrote",
        "year",
        "your",
        "yourself",
    ]
)


class Wish(msgspec.Struct, frozen=True):
    """What was asked for. Zero means that it was left open.

    `counts` maps a thing in the singular to how many of it ("topic": 10); `items` is the first
    of them. `salient` are the prompt's own words worth repeating.
    """

    words: int = 0
    sentences: int = 0
    paragraphs: int = 0
    items: int = 0
    counts: dict[str, int] = {}
    yes_no: bool = False
    salient: list[str] = []


def wish(system: str, user: str) -> Wish:
    """Read a system and a user text."""
    asked = _ends(user)
    text = f"{_ends(system)} {asked}".lower() if system else asked.lower()
    amounts: dict[str, int] = {}
    counts: dict[str, int] = {}
    words = text.split()
    for index, word in enumerate(words):
        if word in _NUMBERS or word[0].isdigit():
            _amount(word, words[index + 1 : index + 4], amounts, counts)
    salient = [word for word in dict.fromkeys(_WORDS.findall(asked)) if word.lower() not in _DULL]
    return Wish(
        words=1 if "single word" in text or "one-word" in text else amounts.get("words", 0),
        sentences=amounts.get("sentences", 0),
        paragraphs=amounts.get("paragraphs", 0),
        items=next(iter(counts.values()), 0),
        counts=counts,
        yes_no="yes or no" in text or "yes/no" in text,
        salient=salient[:16],
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
        if thing != noun and noun not in _NOT_THINGS and noun.isalpha():
            counts.setdefault(thing, number)
            return
        if raw[-1] in ".,;:!?)":
            return
