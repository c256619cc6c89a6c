"""Lines of a text file, numbered, of bounded length, bad bytes marked instead of fatal.

A line is at most 16 Mi characters: a file that is one endless line costs no more than that.
Bytes that are not of the encoding come through as half characters (U+DC80 to U+DCFF) and are
marked, so that the record they belong to can be named.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import partial
from typing import IO

__all__ = ["LONGEST", "Lines", "replaced"]

LONGEST = 16 << 20
_BAD_BYTES = re.compile("[\udc80-\udcff]")


def replaced(text: str) -> str:
    """The text with bytes that could not be decoded replaced."""
    return _BAD_BYTES.sub("�", text)


class Lines:
    """Iterates lines with their ends. `fault` tells what is wrong with those since `fresh()`."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(
            stream, encoding=encoding, errors="surrogateescape", newline=""
        )
        self._encoding = encoding
        self.number = 0
        self.fault: str | None = None
        self.apostrophe = False
        self.ended = False

    def fresh(self) -> None:
        """Forget the marks: a new record begins."""
        self.fault = None
        self.apostrophe = False

    def __iter__(self) -> Iterator[str]:
        for line in iter(partial(self._text.readline, LONGEST), ""):
            self.number += 1
            if not line.isascii() and (bad := _BAD_BYTES.search(line)):
                byte = ord(bad[0]) - 0xDC00
                self.fault = f"the byte 0x{byte:02x} is not {self._encoding}"
            if "'" in line:
                self.apostrophe = True
            if len(line) >= LONGEST and not line.endswith(("\n", "\r")):
                self.fault = f"it is longer than {LONGEST >> 20} Mi characters"
                self._skip_line()
                yield "\n"
            else:
                yield line
        self.ended = True

    def _skip_line(self) -> None:
        while (piece := self._text.readline(LONGEST)) and not piece.endswith(("\n", "\r")):
            pass

    def close(self) -> None:
        # The stream below belongs to who opened it.
        self._text.detach()
