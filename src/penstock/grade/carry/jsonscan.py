"""Where the elements of a JSON array lie, in bytes, without reading what they hold.

Strings and brackets are enough to find where an element ends, so one that is not JSON inside does
not hide those after it. The text is held only from the token at hand on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from penstock.errors import InputError

__all__ = ["LONGEST", "elements"]

LONGEST = 64 << 20
_PIECE = 1 << 18
_BLANK = re.compile(rb"[ \t\r\n]*+")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
_WORD = re.compile(rb"[^,\]}\s]*+")


def elements(file: IO[bytes], at: int, path: Path) -> Iterator[tuple[int, int]]:
    """Begin and end of each element of the array that begins at a place."""
    text = _Window(file, at, path)
    text.peek()
    text.step()
    row = 0
    more = text.peek() != b"]"
    while more:
        row += 1
        text.peek()
        start = text.place
        text.skip_value(row)
        yield start, text.place
        after = text.peek()
        if after not in (b",", b"]"):
            found = f"{after.decode('latin-1')!r} follows" if after else "the file ends"
            raise text.error(f"{found} after row {row}, where a comma or ] should be")
        more = after == b","
        if more:
            text.step()
            if text.peek() == b"]":
                raise text.error(f"there is a comma but no row after row {row}")
    text.step()
    if rest := text.peek():
        raise text.error(f"{rest.decode('latin-1')!r} follows after the end of the array")


class _Window:
    """The text from the current place on, as far as it was needed."""

    def __init__(self, file: IO[bytes], at: int, path: Path) -> None:
        file.seek(at)
        self._file = file
        self._path = path
        self._buffer = b""
        self._at = 0
        self._base = at
        self._ended = False

    @property
    def place(self) -> int:
        return self._base + self._at

    def error(self, reason: str) -> InputError:
        place, line = self.place, 1
        self._file.seek(0)
        while place > 0 and (piece := self._file.read(min(place, _PIECE))):
            line += piece.count(b"\n")
            place -= len(piece)
        return InputError(f"{self._path}: line {line}: {reason}")

    def step(self) -> None:
        self._at += 1

    def peek(self) -> bytes:
        """The next byte that is not space; empty at the end."""
        while True:
            match = _BLANK.match(self._buffer, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._more():
                return b""

    def skip_value(self, row: int) -> None:
        """Go behind the value that begins here."""
        if self.peek() not in (b"{", b"[", b'"'):
            self._skip_word(row)
            return
        start, depth = self.place, 0
        while True:
            token = self._token(row, start)
            if token in (b"{", b"["):
                depth += 1
            elif token in (b"}", b"]"):
                depth -= 1
            if depth <= 0:
                return

    def _token(self, row: int, start: int) -> bytes:
        """The next string or bracket; strings come whole."""
        while True:
            match = _TOKEN.search(self._buffer, self._at)
            if match is not None and match[0] != b'"':
                self._at = match.end()
                return match[0]
            # Nothing here, or a string that goes on behind what is held.
            self._at = len(self._buffer) if match is None else match.start()
            if self.place + len(self._buffer) - self._at - start > LONGEST:
                raise self.error(f"row {row} is longer than {LONGEST >> 20} MiB")
            if not self._more():
                raise self.error(f"the file ends inside row {row}")

    def _skip_word(self, row: int) -> None:
        start = self.place
        while True:
            match = _WORD.match(self._buffer, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._buffer) or not self._more():
                break
            if self.place - start > LONGEST:
                raise self.error(f"row {row} is longer than {LONGEST >> 20} MiB")
        if self.place == start:
            found = self.peek().decode("latin-1")
            what = f"{found!r} stands" if found else "the file ends"
            raise self.error(f"{what} where row {row} should be")

    def _more(self) -> bool:
        """Read on, ever larger pieces while one token is not whole."""
        held = len(self._buffer) - self._at
        piece = self._file.read(max(_PIECE, held))
        self._base += self._at
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return bool(piece)
