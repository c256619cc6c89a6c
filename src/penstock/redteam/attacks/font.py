"""A small font of 5 by 7 dots: a row is five bits, a sign seven rows from top to bottom."""

from __future__ import annotations

__all__ = ["DRAWN", "HEIGHT", "picture"]

HEIGHT = 7
_WIDTH = 5
_SIGNS = {
    "A": "0e 11 11 1f 11 11 11",
    "B": "1e 11 11 1e 11 11 1e",
    "C": "0f 10 10 10 10 10 0f",
    "D": "1e 11 11 11 11 11 1e",
    "E": "1f 10 10 1e 10 10 1f",
    "F": "1f 10 10 1e 10 10 10",
    "G": "0f 10 10 13 11 11 0f",
    "H": "11 11 11 1f 11 11 11",
    "I": "0e 04 04 04 04 04 0e",
    "J": "07 02 02 02 02 12 0c",
    "K": "11 12 14 18 14 12 11",
    "L": "10 10 10 10 10 10 1f",
    "M": "11 1b 15 15 11 11 11",
    "N": "11 19 15 15 13 11 11",
    "O": "0e 11 11 11 11 11 0e",
    "P": "1e 11 11 1e 10 10 10",
    "Q": "0e 11 11 11 15 12 0d",
    "R": "1e 11 11 1e 14 12 11",
    "S": "0f 10 10 0e 01 01 1e",
    "T": "1f 04 04 04 04 04 04",
    "U": "11 11 11 11 11 11 0e",
    "V": "11 11 11 11 11 0a 04",
    "W": "11 11 11 15 15 1b 11",
    "X": "11 11 0a 04 0a 11 11",
    "Y": "11 11 0a 04 04 04 04",
    "Z": "1f 01 02 04 08 10 1f",
    "0": "0e 13 15 15 15 19 0e",
    "1": "04 0c 04 04 04 04 0e",
    "2": "0e 11 01 06 08 10 1f",
    "3": "1e 01 01 0e 01 01 1e",
    "4": "02 06 0a 12 1f 02 02",
    "5": "1f 10 1e 01 01 11 0e",
    "6": "0e 10 10 1e 11 11 0e",
    "7": "1f 01 02 04 08 08 08",
    "8": "0e 11 11 0e 11 11 0e",
    "9": "0e 11 11 0f 01 01 0e",
}
DRAWN = frozenset(_SIGNS)
"""The characters that the font has."""


def picture(word: str, ink: str = "#") -> str:
    """A word as seven lines, one blank column between its letters."""
    signs = [[int(row, 16) for row in _SIGNS[one].split()] for one in word.upper()]
    return "\n".join(
        " ".join(_line(sign[row], ink) for sign in signs).rstrip() for row in range(HEIGHT)
    )


def _line(row: int, ink: str) -> str:
    return f"{row:0{_WIDTH}b}".translate(str.maketrans("01", " " + ink))
