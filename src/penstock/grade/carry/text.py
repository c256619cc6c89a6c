"""The bytes of text files, in and out, exactly.

Records are found by their bytes, which works where line ends, quotes and delimiters are the single
bytes of ASCII and a byte is a character of its own or UTF-8. A file in another encoding (UTF-16,
Shift-JIS) is staged as UTF-8 and turned back when it is written, byte order mark and all.

A file keeps its encoding as long as what is added fits into it. Where it does not, all of the file
becomes UTF-8, also what was written already, and that is said.
"""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from penstock.errors import InputError
from penstock.grade.carry.store import Filling
from penstock.tables.encodings import encoding_of
from penstock.tables.files import opened, reading_errors
from penstock.tables.plain import clean

__all__ = ["Encodings", "TextOut", "begin", "copied"]

_PIECE = 1 << 20
_ESCAPED = re.compile("[\udc80-\udcff]")
_WIDE = {
    "utf-16": ((codecs.BOM_UTF16_BE, "utf-16-be"), (b"", "utf-16-le")),
    "utf-32": ((codecs.BOM_UTF32_BE, "utf-32-be"), (b"", "utf-32-le")),
}


class Encodings(NamedTuple):
    """`inner`: of the staged text. `outer`: of the file."""

    inner: str
    outer: str


def copied(path: Path, given: str | None, filling: Filling, name: str) -> Encodings:
    """Stage the text of a file. Raises InputError where it is not of its encoding as a whole."""
    encoding = encoding_of(path, given)
    if encoding == "utf-8-sig":
        encoding = "utf-8"  # a mark stays where it is
    with reading_errors(path), opened(path) as stream, filling.new(name) as file:
        if _is_direct(encoding):
            while piece := stream.read(_PIECE):
                filling.put(file, piece)
            return Encodings(encoding, encoding)
        start = stream.read(4)
        for mark, exact in _WIDE.get(encoding, ()):
            if start.startswith(mark):
                encoding = exact
                break
        try:
            for text in _decoded(start, stream, encoding):
                filling.put(file, text.encode("utf-8", "surrogatepass"))
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path} is not {encoding}: {error.reason}",
                remedy="Give its encoding, such as encoding='cp1252'.",
            ) from None
    return Encodings("utf-8", encoding)


def _decoded(start: bytes, stream: IO[bytes], encoding: str) -> Iterator[str]:
    errors = "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    piece = start
    while piece:
        yield decoder.decode(piece)
        piece = stream.read(_PIECE)
    yield decoder.decode(b"", True)


def _is_direct(encoding: str) -> bool:
    if encoding == "utf-8":
        return True
    every = bytes(range(256))
    try:
        alone = len(every.decode(encoding, "replace")) == len(every)
        return alone and every[:128].decode(encoding) == every[:128].decode("ascii")
    except (UnicodeDecodeError, LookupError):
        return False


def begin(start: bytes, inner: str) -> int:
    """Where the text begins: behind a byte order mark."""
    return 3 if inner == "utf-8" and start.startswith(codecs.BOM_UTF8) else 0


class TextOut:
    """A text file being written: raw text of the staged file, and text of ours."""

    def __init__(self, path: Path, encodings: Encodings) -> None:
        self._path = path
        self._inner, self._outer = encodings
        self._file = path.open("wb", buffering=_PIECE)
        self.changed_from: str | None = None

    def raw(self, text: bytes) -> None:
        """Text as it was staged."""
        if self._inner == self._outer:
            self._file.write(text)
        elif self.changed_from is not None:
            self._file.write(_in_utf8(text.decode(self._inner, "surrogateescape")))
        else:
            whole = text.decode("utf-8", "surrogatepass")
            self._file.write(whole.encode(self._outer, "surrogatepass"))

    def text(self, text: str) -> None:
        """Text of ours."""
        if text.isascii() and self._inner == self._outer:
            self._file.write(text.encode("ascii"))
            return
        try:
            self._file.write(clean(text).encode(self._outer))
        except UnicodeEncodeError:
            self._change()
            self.text(text)

    def notes(self) -> list[str]:
        if self.changed_from is None:
            return []
        return [f"what was added does not fit into {self.changed_from}: the file is UTF-8 now"]

    def _change(self) -> None:
        """Turn what is there into UTF-8, and go on in it."""
        self._file.close()
        handle, name = tempfile.mkstemp(prefix=".", suffix=".utf8", dir=self._path.parent)
        new = Path(name)
        try:
            decoder = codecs.getincrementaldecoder(self._outer)("surrogateescape")
            with self._path.open("rb") as old, os.fdopen(handle, "wb") as file:
                while piece := old.read(_PIECE):
                    file.write(_in_utf8(decoder.decode(piece)))
                file.write(_in_utf8(decoder.decode(b"", True)))
            new.replace(self._path)
        finally:
            new.unlink(missing_ok=True)
        self.changed_from, self._outer = self._outer, "utf-8"
        self._file = self._path.open("ab", buffering=_PIECE)

    def __enter__(self) -> TextOut:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _in_utf8(text: str) -> bytes:
    """A byte that its encoding does not know is the character of its number, as browsers do."""
    if not text.isascii():
        text = _ESCAPED.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), text)
    return text.encode("utf-8", "surrogatepass")
