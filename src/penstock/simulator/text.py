"""Plausible English about whatever the prompt is about.

Sentences are moulds filled with the prompt's own words and a small vocabulary. It is not meant
to be true, only to have the right length, to be on topic, and to differ from draw to draw.
"""

from __future__ import annotations

from penstock.simulator.asked import Wish
from penstock.simulator.dice import Dice
from penstock.simulator.vocabulary import ADJECTIVES, ADVERBS, NOUNS, SUBJECTS, VERBS

__all__ = ["Speaker", "speak"]

MOULDS = (
    "The {a} {n} of {t} {v} every {m} that follows.",
    "In most cases {t} {v} the {n}, and the {m} comes later.",
    "A {a} view of {t} {d} {v} the {n} behind it.",
    "What matters about {t} is how its {n} {v} the {m}.",
    "People who work with {t} {d} begin with a {a} {n}.",
    "There is no {n} without a {m}, and {t} shows why.",
    "Over time {t} {v} both the {n} and the {m}.",
    "The {n} is {a}, but {t} {d} {v} it.",
    "Consider the {n}: it {v} {t} more than any {m} could.",
    "For {t}, the {a} {n} is {d} the better {m}.",
    "This is why {t} needs a {a} {n} and not only a {m}.",
    "Each {n} {v} {t} in its own {a} way.",
    "Experts {d} describe {t} as a {n} with a {a} {m}.",
    "At first {t} seems {a}; then its {n} {v} the {m}.",
    "A {n} such as {t} {v} the {a} {m} around it.",
    "Without {t}, the {n} would lose its {a} {m}.",
    "History suggests that {t} {d} {v} the {n}.",
    "The link between {t} and the {n} is {a} and {d} measured.",
    "Some doubt that {t} {v} the {n}, yet the {m} is {a}.",
    "In practice the {m} {v} {t} as much as the {n} does.",
    "One {a} {n} is enough to see how {t} {v} the {m}.",
    "Seen from a distance, {t} is a {a} {n} among many.",
    "Good results with {t} come from a {a} {n} and some patience.",
    "Where the {n} ends, {t} begins, and the {m} {v} both.",
    "Even a {a} {m} {v} {t} when the {n} is right.",
    "To understand {t}, look at the {n} that {v} its {m}.",
    "That said, {t} {d} asks for a {a} {n}.",
    "The {m} of {t} is {d} a matter of {n}.",
    "Taken together, the {n} and the {m} make {t} {a}.",
    "Nothing {v} {t} like a {a} {n}.",
    "Teams that plan for {t} {d} keep a {n} close at hand.",
    "As the {n} grows, {t} {v} the {a} {m}.",
)
_FIELDS = {"{t}": 0, "{n}": 1, "{m}": 2, "{a}": 3, "{v}": 4, "{d}": 5}


_ARTICLED = len(_FIELDS)


def _with_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" and word[:2] != "us" else f"a {word}"


_ARTICLES = {word: _with_article(word) for word in (*NOUNS, *ADJECTIVES)}


def _pieces(mould: str) -> tuple[str, tuple[int, ...]]:
    """A mould as a %-form and the fields it wants in order; "a {n}" is one field of its own."""
    order = []
    form = mould.replace("A {", "{").replace(" a {", " {")
    position = at = 0
    while (position := form.find("{", position)) >= 0:
        at = mould.index("{", at)
        articled = mould[:at].endswith((" a ", "A "))
        order.append(_FIELDS[form[position : position + 3]] + _ARTICLED * articled)
        form = f"{form[:position]}%s{form[position + 3 :]}"
        at += 1
    return form, tuple(order)


_COMPILED = tuple(_pieces(mould) for mould in MOULDS)
_NUMBER = len(_COMPILED)


class Speaker:
    """Makes words, phrases and sentences on the topics of one question."""

    __slots__ = ("dice", "topics")

    def __init__(self, dice: Dice, salient: list[str]) -> None:
        self.dice = dice
        self.topics = salient or SUBJECTS

    def topic(self) -> str:
        """A word of the prompt."""
        return self.dice.pick(self.topics)

    def noun(self) -> str:
        """Any noun."""
        return self.dice.pick(NOUNS)

    def sentence(self) -> str:
        """One sentence of about a dozen words."""
        throw = self.dice.random
        form, order = _COMPILED[int(throw() * _NUMBER)]
        topics = self.topics
        words = (
            topics[int(throw() * len(topics))],
            NOUNS[int(throw() * len(NOUNS))],
            NOUNS[int(throw() * len(NOUNS))],
            ADJECTIVES[int(throw() * len(ADJECTIVES))],
            VERBS[int(throw() * len(VERBS))],
            ADVERBS[int(throw() * len(ADVERBS))],
        )
        said = form % tuple(
            [words[at] if at < _ARTICLED else _ARTICLES[words[at - _ARTICLED]] for at in order]
        )
        return said[0].upper() + said[1:]

    def sentences(self, number: int) -> str:
        """So many sentences."""
        return " ".join([self.sentence() for _ in range(number)])

    def of_length(self, characters: int) -> str:
        """Whole sentences of at least so many characters."""
        parts = []
        while characters > 0:
            parts.append(self.sentence())
            characters -= len(parts[-1]) + 1
        return " ".join(parts)

    def words(self, number: int) -> str:
        """Exactly so many words."""
        if number == 1:
            return self.dice.pick((*self.topics, *NOUNS)).capitalize()
        said: list[str] = []
        while len(said) < number:
            said += self.sentence().split()
        return " ".join(said[:number]).rstrip(".,;:") + "."

    def phrase(self) -> str:
        """A few words, such as a title or a topic."""
        dice = self.dice
        kind = dice.below(5)
        topic = self.topic()
        if kind == 0:
            said = f"the {dice.pick(ADJECTIVES)} {self.noun()} of {topic}"
        elif kind == 1:
            said = f"{dice.pick(ADJECTIVES)} {topic} and its {self.noun()}"
        elif kind == 2:
            said = f"{topic} as {_ARTICLES[self.noun()]}"
        elif kind == 3:
            said = f"{self.noun()} and {self.noun()} in {topic}"
        else:
            said = f"{dice.pick(ADJECTIVES)} {self.noun()} for {topic}"
        return said[0].upper() + said[1:]

    def distinct_phrases(self, number: int) -> list[str]:
        """So many phrases, no two alike."""
        found: dict[str, None] = {}
        while len(found) < number:
            said = self.phrase()
            if said in found:
                said = f"{said} ({len(found) + 1})"
            found[said] = None
        return list(found)


def speak(wish: Wish, dice: Dice) -> str:
    """A text as it was asked for."""
    speaker = Speaker(dice, wish.salient)
    if wish.yes_no:
        return dice.pick(("Yes", "No"))
    if wish.words:
        return speaker.words(wish.words)
    if wish.sentences:
        return speaker.sentences(wish.sentences)
    if wish.paragraphs:
        return "\n\n".join([speaker.sentences(3 + dice.below(3)) for _ in range(wish.paragraphs)])
    if wish.listed:
        phrases = enumerate(speaker.distinct_phrases(wish.items), start=1)
        return "\n".join([f"{number}. {phrase}" for number, phrase in phrases])
    return speaker.of_length(130 + dice.below(290))
