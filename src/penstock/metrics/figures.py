"""The numbers that stand in a text, exactly: as fractions, never as floats.

Read are signs (also − and –), thousands in groups (1,234,567, 1'234, 1 234 with a space that does
not break, 12,34,567), decimals, fractions (3/4, 1 1/2, ½, \\frac{3}{4}), powers of ten (1.5e3,
1.5 × 10^3), `thousand` to `trillion` behind a number, currencies and per cent signs around it.

A comma is never a decimal comma: "1,5" is 1 and 5. Digits right behind a letter (H2O, Q3) are no
number. A dash between two numbers is no sign, and a number beyond all bounds is none.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Figure", "figures", "plain"]

_MOST_DIGITS = 4_000
_LARGEST_POWER = 400

_SAME = str.maketrans("−﹣－–．，％／⁄’＄", "----.,%//'$")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_WORDS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8),
}  # fmt: skip
_PARTS = "".join(_VULGAR)

_NUMBER = re.compile(
    rf"""(?xi)
    (?: (?<! [A-Za-z_\d)\]%] ) (?P<sign> [-+] ) )?
    (?: [$€£¥₹] \s? (?P<inner> [-+] )? )?
    (?<! [A-Za-z_\d] ) (?<! \d [.] )
    (?:
        \\ [dt]?frac \s* {{ \s* (?P<over> \d+ ) \s* }} \s* {{ \s* (?P<under> \d+ ) \s* }}
      | (?P<whole> \d+ ) [ ] (?P<top> \d+ ) / (?P<bottom> \d+ ) (?! [\d/] )
      | (?<! / ) (?P<upper> \d+ ) [ ]? / [ ]? (?P<lower> \d+ ) (?! [\d/]|[.]\d )
      | (?P<beside> \d* ) [ ]? (?P<vulgar> [{_PARTS}] )
      | (?= [.]? \d ) (?P<digits>
            \d{{1,3}} (?: ' \d{{3}} )+ (?! \d )
          | \d{{1,3}} (?: [\u00a0\u2009\u202f] \d{{3}} )+ (?! \d )
          | \d{{1,3}} (?: , \d{{2,3}} )* , \d{{3}} (?! \d )
          | \d+
        )? (?P<decimals> [.] \d+ )? (?<= \d )
        (?: e (?P<power> [-+]? \d+ )
          | [ ]? (?: [×x*·] | \\times | \\cdot ) [ ]? 10 [ ]?
            (?: \^ [ ]? {{? (?P<raised> [-+]? \d+ ) }}? | (?P<high> [⁻⁺]? [⁰¹²³⁴⁵⁶⁷⁸⁹]+ ) )
        )?
    )
    (?P<percent> \s? (?: % | per[ ]?cent\b ) )?
    (?: [ ] (?P<word> {"|".join(_WORDS)} ) s? \b )?
    """
)


class Figure(NamedTuple):
    """A number, and where it stands in `plain(text)`."""

    value: Fraction
    text: str
    start: int
    end: int
    percent: bool


def plain(text: str) -> str:
    """A text with one way of writing each sign, and without what LaTeX writes around numbers."""
    text = text.translate(_SAME)
    if "\\" in text:
        text = text.replace("\\$", "$").replace("\\%", "%").replace("\\!", "")
    return text.replace("{,}", ",")


def figures(text: str) -> list[Figure]:
    """Every number of a text, in order."""
    text = plain(text)
    found = (_figure(match) for match in _NUMBER.finditer(text))
    return [figure for figure in found if figure is not None]


def _figure(match: re.Match[str]) -> Figure | None:
    """None where it is no number after all."""
    if match.end() - match.start() > _MOST_DIGITS:
        return None
    try:
        value = _value(match) * 10 ** _WORDS.get((match["word"] or "").lower(), 0)
    except (ZeroDivisionError, OverflowError):
        return None
    if "-" in (match["sign"], match["inner"]):
        value = -value
    at, end = match.span()
    return Figure(value, match[0].strip(), at, end, match["percent"] is not None)


def _value(match: re.Match[str]) -> Fraction:
    if match["over"]:
        return Fraction(int(match["over"]), int(match["under"]))
    if match["whole"]:
        return int(match["whole"]) + Fraction(int(match["top"]), int(match["bottom"]))
    if match["upper"]:
        return Fraction(int(match["upper"]), int(match["lower"]))
    if match["vulgar"]:
        return int(match["beside"] or 0) + Fraction(*_VULGAR[match["vulgar"]])
    digits = "".join(letter for letter in match["digits"] or "0" if letter.isdigit())
    decimals = (match["decimals"] or ".")[1:]
    value = Fraction(int(digits + decimals), 10 ** len(decimals))
    raised = match["power"] or match["raised"] or (match["high"] or "0").translate(_SUPERSCRIPTS)
    power = int(raised)
    if abs(power) > _LARGEST_POWER:
        raise OverflowError
    return value * Fraction(10) ** power
