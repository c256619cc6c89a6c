"""Other ways to spell: Morse, the radio alphabet, Braille, leetspeak, Pig Latin."""

from __future__ import annotations

import re
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.coded import Coded, Written

__all__ = ["Braille", "Leetspeak", "Morse", "Nato", "PigLatin"]

_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- "
    "..--.. .----. -.-.-- -..-. -.--. -.--.- .-... ---... -.-.-. -...- .-.-. -....- ..--.- .-..-. "
    "...-..- .--.-."
)
_MORSE = dict(zip(ascii_uppercase + digits + ".,?'!/()&:;=+-_\"$@", _SIGNS.split(), strict=True))
_WORDS = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar "
    "papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu "
    "zero one two three four five six seven eight nine"
)
_RADIO = dict(zip(ascii_lowercase + digits, _WORDS.split(), strict=True))
_SPOKEN = {word: one for one, word in _RADIO.items()}
_SPACE = "(space)"
_CELLS = dict(zip(ascii_lowercase, "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", strict=True))
_CAPITAL, _NUMBER, _ITSELF = "⠠", "⠼", "⠸"
_LEET = dict(zip("abegilostz", "4839110572", strict=True))


class Morse(Coded):
    """The prompt in Morse code, which has no small letters; other characters stay themselves."""

    name = "morse"
    paper = papers.CIPHERCHAT
    code = "Morse code, with a slash between words"

    def encode(self, prompt: str, random: Random) -> str:
        return " ".join("/" if one == " " else _MORSE.get(one, one) for one in self.kept(prompt))

    def read(self, coded: str) -> str:
        plain = {signs: one for one, signs in _MORSE.items()} | {"/": " ", "": ""}
        return "".join(plain.get(each, each) for each in coded.split(" "))

    def kept(self, prompt: str) -> str:
        return prompt.translate(str.maketrans(ascii_lowercase, ascii_uppercase))


class Nato(Coded):
    """The prompt spelled in the words of the radio alphabet; a capital word is a capital letter."""

    name = "nato"
    code = "the NATO spelling alphabet, one word for each character"

    def encode(self, prompt: str, random: Random) -> str:
        return " ".join(map(_spoken, prompt))

    def read(self, coded: str) -> str:
        return "".join(map(_heard, coded.split(" ")))


class Braille(Coded):
    """The prompt in Braille cells, uncontracted; other characters stay themselves."""

    name = "braille"
    code = "Braille (uncontracted)"

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(map(_cell, prompt))

    def read(self, coded: str) -> str:
        cells = {cell: one for one, cell in _CELLS.items()}
        numbers = {_CELLS[one]: digit for one, digit in zip("jabcdefghi", digits, strict=True)}

        def plain(found: re.Match[str]) -> str:
            sign, cell = found[1], found[2]
            if sign == _CAPITAL:
                return cells[cell].upper()
            if sign == _NUMBER:
                return numbers[cell]
            return cell if sign == _ITSELF else cells.get(cell, cell)

        return re.sub(f"([{_CAPITAL}{_NUMBER}{_ITSELF}]?)(.)", plain, coded, flags=re.DOTALL)


class Leetspeak(Written):
    """Digits for the letters that they look like. What was a digit before cannot be told."""

    name = "leetspeak"
    paper = papers.JAILBROKEN
    code = "leetspeak"

    share: float = Field(
        default=1.0, gt=0, le=1, description="The share of such letters that is changed."
    )

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(
            _LEET[one.lower()] if one.lower() in _LEET and random.random() < self.share else one
            for one in prompt
        )


class PigLatin(Written):
    """Each word with its first consonants moved behind it, and `ay`."""

    name = "pig_latin"
    paper = papers.JAILBROKEN
    code = "Pig Latin"

    def encode(self, prompt: str, random: Random) -> str:
        return re.sub(r"[A-Za-z]+", lambda found: _pig(found[0]), prompt)


def _spoken(one: str) -> str:
    if one == " ":
        return _SPACE
    if one in ascii_uppercase:
        return _RADIO[one.lower()].capitalize()
    return _RADIO.get(one, one)


def _heard(word: str) -> str:
    if word == _SPACE:
        return " "
    one = _SPOKEN.get(word.lower(), word)
    return one.upper() if word[:1] in ascii_uppercase and word.lower() in _SPOKEN else one


def _cell(one: str) -> str:
    if one in _CELLS:
        return _CELLS[one]
    if one in ascii_letters:
        return _CAPITAL + _CELLS[one.lower()]
    if one in digits:
        return _NUMBER + _CELLS["jabcdefghi"[int(one)]]
    return _ITSELF + one if "\u2800" <= one <= "\u28ff" else one


def _pig(word: str) -> str:
    start = re.match(r"(?i)y?(?:qu|[^aeiouy])*", word)
    head = start[0] if start else ""
    if not head:
        return word + "way"
    tail = word[len(head) :]
    if word[0].isupper() and tail:
        head, tail = head[0].lower() + head[1:], tail[0].upper() + tail[1:]
    return f"{tail}{head}ay"
