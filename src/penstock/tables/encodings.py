"""The encoding of a text file, when nobody says it.

The rule, in this order: a byte order mark; UTF-16 where every other byte of the beginning is
zero, from the first two characters on; UTF-8 where the first 4 MiB are UTF-8; else Windows-1252
where those hold none of the five bytes it lacks; else Latin-1, which takes everything. A file
whose beginning is plain ASCII counts as UTF-8: a stranger byte further down is reported with its
line, not guessed at.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from penstock.errors import InputError
from penstock.tables.files import opened, reading_errors

__all__ = ["encoding_of"]

_SAMPLE = 4 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LACKING = b"\x81\x8d\x8f\x90\x9d"


def encoding_of(path: Path, given: str | None) -> str:
    """The given encoding if Python knows it, else the detected one."""
    if given is not None:
        return _checked(given)
    with reading_errors(path), opened(path) as stream:
        sample = stream.read(_SAMPLE)
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if wide := _wide(sample[:4096]):
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _SAMPLE)
    except UnicodeDecodeError:
        return "latin-1" if any(byte in sample for byte in _LACKING) else "cp1252"
    return "utf-8"


def _checked(name: str) -> str:
    try:
        found = codecs.lookup(name)
    except LookupError:
        raise InputError(f"there is no encoding {name!r}", remedy="Try utf-8 or cp1252.") from None
    # A mark that is there is no data, whoever names the encoding.
    return "utf-8-sig" if found.name == "utf-8" else found.name


def _wide(start: bytes) -> str | None:
    most = 0.4 * (len(start) // 2)
    zero = [byte == 0 for byte in start[:4]]
    if zero == [False, True, False, True] and start[1::2].count(0) > most:
        return "utf-16-le"
    if zero == [True, False, True, False] and start[0::2].count(0) > most:
        return "utf-16-be"
    return None
