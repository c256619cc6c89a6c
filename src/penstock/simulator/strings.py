"""Free strings that suit the name of their property: a name, a city, a title, a reason.

The name is read as words (`customer_full_name`, `homeCity`); the last word that is known
decides. What is not known becomes a short phrase about the prompt's topics.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.simulator.asked import singular
from penstock.simulator.formats import FORMATS
from penstock.simulator.text import Speaker
from penstock.simulator.vocabulary import (
    CITIES,
    COLOURS,
    COMPANY_ENDS,
    COUNTRIES,
    FIRST_NAMES,
    FOODS,
    JOBS,
    LANGUAGES,
    LAST_NAMES,
    NOUNS,
    STREETS,
    SUBJECTS,
)

__all__ = ["string_maker", "words_of"]

Maker = Callable[[Speaker], str]
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_READ_WORDS = 12
_PEOPLE_WORDS = (
    "applicant artist author candidate character contact customer doctor employee full human info "
    "member patient person player poet profile speaker student teacher user writer"
)
_PEOPLE = frozenset(_PEOPLE_WORDS.split())


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case."""
    return [word.lower() for word in _WORDS.findall(name)]


def string_maker(name: str, description: str = "", owner: str = "") -> Maker:
    """What makes strings for a property of this name; `owner` is what the property belongs to."""
    words = words_of(name)
    if words and words[-1] in ("name", "names"):
        return _name(words[:-1] or words_of(singular(owner)))
    for word in reversed(words):
        maker = _MAKERS.get(word) or _MAKERS.get(singular(word))
        if maker is not None:
            return maker
    for word in words_of(description)[:_READ_WORDS]:
        if word in _MAKERS:
            return _MAKERS[word]
    return _phrase


def _phrase(speaker: Speaker) -> str:
    return speaker.phrase()


def _name(of: list[str]) -> Maker:
    """A name of something: a person unless it is known to be of another thing."""
    if "first" in of or "given" in of:
        return _from(FIRST_NAMES)
    if "last" in of or "family" in of or "sur" in of:
        return _from(LAST_NAMES)
    if not of or not _PEOPLE.isdisjoint(of):
        return _person
    return _MAKERS.get(of[-1], _title)


def _from(words: list[str]) -> Maker:
    return lambda speaker: speaker.dice.pick(words)


def _format(name: str) -> Maker:
    make = FORMATS[name]
    return lambda speaker: make(speaker.dice)


def _person(speaker: Speaker) -> str:
    return f"{speaker.dice.pick(FIRST_NAMES)} {speaker.dice.pick(LAST_NAMES)}"


def _company(speaker: Speaker) -> str:
    dice = speaker.dice
    return f"{dice.pick((*LAST_NAMES, *CITIES))} {dice.pick(COMPANY_ENDS)}"


def _title(speaker: Speaker) -> str:
    return speaker.phrase().title().replace(" Of ", " of ").replace(" And ", " and ")


def _sentence(speaker: Speaker) -> str:
    return speaker.sentence()


def _long(speaker: Speaker) -> str:
    return speaker.sentences(2 + speaker.dice.below(3))


def _question(speaker: Speaker) -> str:
    dice = speaker.dice
    forms = (
        f"How does {speaker.topic()} depend on the {speaker.noun()} of its {speaker.noun()}?",
        f"Why is the {speaker.noun()} of {speaker.topic()} so often a {speaker.noun()}?",
        f"What would {speaker.topic()} be without its {speaker.noun()} and {speaker.noun()}?",
        f"Which {speaker.noun()} best explains {speaker.topic()} and its {speaker.noun()}?",
    )
    return dice.pick(forms)


def _address(speaker: Speaker) -> str:
    dice = speaker.dice
    return f"{dice.between(1, 199)} {dice.pick(STREETS)}, {dice.pick(CITIES)}"


def _word(speaker: Speaker) -> str:
    return speaker.dice.pick((*speaker.topics, *NOUNS))


def _identifier(speaker: Speaker) -> str:
    return f"{speaker.dice.pick(NOUNS)}-{speaker.dice.between(1000, 9999)}"


def _code(speaker: Speaker) -> str:
    noun = speaker.noun()
    return f"def {noun}(value):\n    return value + {speaker.dice.between(1, 99)}\n"


def _phone(speaker: Speaker) -> str:
    return f"+1-555-{speaker.dice.between(100, 199):04}"


def _postcode(speaker: Speaker) -> str:
    return f"{speaker.dice.between(10000, 99999)}"


def _number(speaker: Speaker) -> str:
    return str(speaker.dice.between(1, 100))


_MAKERS: dict[str, Maker] = {}
for _maker, _names in (
    (_person, "author person customer patient employee speaker character user sender recipient"),
    (_from(CITIES), "city town destination location place capital"),
    (_from(COUNTRIES), "country nation"),
    (_from(LANGUAGES), "language"),
    (_from(COLOURS), "color colour"),
    (_from(JOBS), "job occupation profession role position"),
    (_from(SUBJECTS), "subject category genre domain discipline field area theme department"),
    (_from(["USD", "EUR", "GBP", "JPY", "INR", "BRL", "ZAR"]), "currency"),
    (_from(["positive", "negative", "neutral", "mixed"]), "sentiment"),
    (_from(["low", "medium", "high"]), "priority severity level difficulty"),
    (_company, "company organization organisation employer brand manufacturer publisher"),
    (_title, "title headline name product course book movie recipe song topic subtopic dish"),
    (_sentence, "sentence instruction step goal objective fact claim quote thought tip"),
    (_sentence, "conclusion verdict note feedback hint action finding message comment"),
    (_long, "summary description text content answer explanation reason reasoning rationale body"),
    (_long, "paragraph analysis justification response review story essay abstract bio solution"),
    (
        _long,
        "critique background context passage dialogue output completion poem chapter email_body",
    ),
    (_question, "question query problem prompt"),
    (_from(FOODS), "ingredient food"),
    (_address, "address"),
    (_from(STREETS), "street"),
    (_word, "word keyword tag label token term noun animal"),
    (_identifier, "id identifier code reference slug username handle sku"),
    (_code, "snippet program function script"),
    (_phone, "phone telephone mobile"),
    (_postcode, "zip zipcode postcode postal"),
    (_number, "amount quantity total"),
    (_format("email"), "email mail"),
    (_format("uri"), "url link website homepage uri"),
    (_format("date"), "date birthday birthdate deadline"),
    (_format("date-time"), "timestamp datetime"),
    (_format("time"), "time"),
):
    for _each in _names.split():
        _MAKERS[_each] = _maker
