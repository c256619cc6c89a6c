"""Text on its way into a page: everything is escaped, only what this room made is not.

`Markup` is a kind of str, so that a chart can be written to a file as it is; whatever is done to
it (joined, cut, formatted) gives an ordinary str again, which is escaped like any other. What a
page would obey or a reader could not see is spelled out: control characters, what turns the
direction of writing, half characters; and the keys this process knows are masked.
"""

from __future__ import annotations

import html
import re
import unicodedata

from penstock.secret import holds_known, mask_bytes
from penstock.tables.plain import clean

__all__ = ["Markup", "cut", "escaped", "flowing", "joined", "one_line", "visible"]

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_RUN = re.compile(r"\S{400,}")
_PIECE = re.compile(r".{100}")


class Markup(str):
    """HTML or SVG made by this room."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """The text as markup in which nothing of it means anything; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text)))


def joined(*parts: Markup) -> Markup:
    """Several parts as one."""
    return Markup("".join(escaped(part) for part in parts))


def flowing(text: str) -> Markup:
    """Text of any length, escaped. Where it has no spaces, it is given places to break: to look
    for them itself takes a browser minutes."""
    if isinstance(text, Markup):
        return text
    marked = _RUN.sub(lambda run: _PIECE.sub("\\g<0>\0", run[0]), visible(text))
    return Markup(html.escape(marked).replace("\0", "<wbr>"))


def visible(text: str) -> str:
    """The text with everything spelled out that cannot be seen and might be obeyed."""
    text = clean(text).replace("\r\n", "\n")
    if holds_known(text):
        text = mask_bytes(text.encode()).decode()
    return _OBEYED.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, widest: int) -> str:
    """The text on one line, cut with an ellipsis where it is wider than so many letters."""
    # Cut before it is looked at closely: a label may be a whole book.
    return cut(" ".join(visible(text[: widest * 16]).split()), widest)


def cut(text: str, widest: int) -> str:
    """The text, cut with an ellipsis; a letter of a wide script counts as two."""
    room = widest
    for place, letter in enumerate(text):
        room -= _width(letter)
        if room < 0:
            return f"{text[: max(0, place - 1)].rstrip()}…"
    return text


def _width(letter: str) -> int:
    if letter.isascii():
        return 1
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
