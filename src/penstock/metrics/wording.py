"""Words, sentences and lists of a text, as people count them.

A contraction, a hyphenated word and a figure are one word each. In scripts without spaces every
character counts as a word. A sentence ends at a stop, question or exclamation mark that white space
follows, and at an empty line or a list's item; stops after initials and common abbreviations end
none.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["bullets", "sentences", "words"]

_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(
    rf"[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+(?:['’.,\-‐–/&][^\W_{_NO_SPACES}]+)*(?:['’](?=\s|$))?"
)
_MARKS = re.compile(r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
_END = re.compile(r"[.!?…]+[)\]\"'”’»*_]*(?=\s|$)|[。！？]+|\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
_NO_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|approx|No|Fig|e\.g|i\.e|cf|al)|\b[A-Z])\.$"
)
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)])[ \t]+\S")


def words(text: str) -> list[str]:
    """The words of a text, in order and as they are written."""
    return _WORD.findall(_MARKS.sub("", unicodedata.normalize("NFC", text)))


def sentences(text: str) -> list[str]:
    """The sentences of a text: what stands between ends and holds a word."""
    found, begin = [], 0
    for end in _END.finditer(text):
        piece = text[begin : end.end()]
        if end[0] == "." and _NO_END.search(piece[-12:]) and text[end.end() :].strip():
            continue
        found.append(piece)
        begin = end.end()
    found.append(text[begin:])
    return [piece.strip() for piece in found if _WORD.search(piece)]


def bullets(text: str) -> int:
    """How many items the lists of a text have, numbered ones included."""
    return len(_BULLET.findall(text))
