"""Text as it was really sent: what cannot be seen is spelled out.

Attacks hide in characters without width, in those that turn the direction of writing, in tags and
variation selectors. Each stands here as its escape, marked, so that it is not taken for a backslash
that was written. A long run of them is cut short, and where it spells something, that is said.
Emoji keep what joins them: that hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.reports.text import Markup, escaped, flowing, one_line
from penstock.tables.plain import clean

__all__ = ["exposed", "in_one_line", "shown", "spelled"]

_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_RUN = re.compile(
    rf"(?<=[{_EMOJI}])(?:\ufe0f(?![{_HIDDEN}])|\ufe0f?\u200d(?=[{_EMOJI}]))"
    rf"|([{_HIDDEN}]+)"
)
_LONGEST_RUN = 6
_SHOWN_OF_LONG = 3
_LONGEST_SPELLED = 300


def shown(text: str, most: int) -> Markup:
    """A block of text of about so many letters at most, its hidden ones spelled out."""
    parts: list[str] = []
    room, place = most, 0
    text = clean(text).replace("\r\n", "\n")
    for plain, hidden in _pieces(text):
        kept = plain[:room]
        parts.append(flowing(kept))
        place, room = place + len(kept), room - len(kept)
        if hidden and room > 0:
            said = spelled(hidden)
            parts.append(f"<i>{escaped(said)}</i>")
            place, room = place + len(hidden), room - len(said)
        if room <= 0:
            break
    left = len(text) - place
    more = f"<b>… and {left:,} more characters</b>" if left > 0 else ""
    # The parser drops a line break right after the tag, so it is given one to drop.
    return Markup(f'<pre tabindex="0">\n{"".join(parts)}{more}</pre>')


def in_one_line(text: str, widest: int) -> str:
    """The beginning of a text, its hidden letters spelled out."""
    parts = (plain + spelled(hidden) for plain, hidden in _pieces(clean(text[: widest * 8])))
    return one_line("".join(parts), widest)


def exposed(page: str) -> str:
    """A whole page in which nothing is hidden: names and settings may hold such letters too."""
    return _RUN.sub(lambda run: escaped(spelled(run[1])) if run[1] else run[0], page)


def spelled(hidden: str) -> str:
    """A run of hidden letters as escapes, and what it says where it says something."""
    if len(hidden) <= _LONGEST_RUN:
        return _escapes(hidden)
    begun = f"{_escapes(hidden[:_SHOWN_OF_LONG])}… ({len(hidden):,} hidden characters"
    said = _read(hidden)
    return f"{begun} that spell: {one_line(said, _LONGEST_SPELLED)})" if said else f"{begun})"


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Plain text, and the hidden letters after it."""
    begin = 0
    for run in _RUN.finditer(text):
        if run[1]:
            yield text[begin : run.start()], run[1]
            begin = run.end()
    yield text[begin:], ""


def _escapes(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def _read(hidden: str) -> str:
    """What tags, variation selectors or two characters without width say; "" where nothing."""
    for read in (_tags, _selectors, _bits):
        said = read(hidden)
        if said and said.isprintable():
            return said
    return ""


def _tags(hidden: str) -> str:
    codes = [ord(each) - 0xE0000 for each in hidden]
    return "".join(map(chr, codes)) if all(0x20 <= code < 0x7F for code in codes) else ""


def _selectors(hidden: str) -> str:
    found = bytearray()
    for code in map(ord, hidden):
        if 0xFE00 <= code <= 0xFE0F:
            found.append(code - 0xFE00)
        elif 0xE0100 <= code <= 0xE01EF:
            found.append(code - 0xE0100 + 16)
        else:
            return ""
    return _utf8(bytes(found))


def _bits(hidden: str) -> str:
    if len(hidden) % 8 or set(hidden) - {"\u200b", "\u200c"}:
        return ""
    bits = hidden.translate({0x200B: "0", 0x200C: "1"})
    return _utf8(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))


def _utf8(found: bytes) -> str:
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        return ""
