"""Reading a JSON file: an array of objects, or one object of columns (lists of equal length).

An array is read as a stream: the text is held only from the beginning of the current element to
the end of the piece last read. An element is at most 64 MiB. Columns cannot be streamed: such a
file is read whole and is at most 256 MiB.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from penstock.errors import InputError
from penstock.tables.encodings import encoding_of
from penstock.tables.files import ReadOptions, check_content, opened, reading_errors
from penstock.tables.jsonlines import loads
from penstock.tables.memory import from_columns
from penstock.tables.source import Block, Row, RowSource, in_blocks

__all__ = ["LARGEST", "LONGEST", "read"]

LONGEST = 64 << 20
LARGEST = 256 << 20
_PIECE = 1 << 18
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read(path: Path, options: ReadOptions) -> RowSource:
    """The rows of a JSON file."""
    check_content(path, "json")
    encoding = encoding_of(path, options.encoding)
    with reading_errors(path), opened(path) as stream:
        text = _Text(stream, encoding, path)
        first = text.peek()
    if first == "{":
        return _of_columns(path, encoding)
    if first != "[":
        raise InputError(
            f"{path} is not an array of objects",
            remedy="It should look like [{...}, {...}], or be JSON lines with format='jsonl'.",
        )

    def blocks(size: int) -> Iterator[Block]:
        with reading_errors(path), opened(path) as stream:
            yield from in_blocks(_elements(_Text(stream, encoding, path)), size)

    return RowSource(blocks, name=str(path))


def _of_columns(path: Path, encoding: str) -> RowSource:
    with reading_errors(path), opened(path) as stream:
        body = stream.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise InputError(
            f"{path} is one JSON object of more than {LARGEST >> 20} MiB",
            remedy="Only an array of objects is read as a stream: [{...}, {...}].",
        )
    try:
        value = loads(body.decode(encoding))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not {encoding}: {error.reason}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}", remedy=_lines_remedy(body)) from None
    if not value or not all(isinstance(column, list) for column in value.values()):
        raise InputError(
            f"{path} is one object, not rows",
            remedy="It should look like [{...}, {...}] or {'column': [...], ...}.",
        )
    return from_columns(value, str(path))


def _lines_remedy(body: bytes) -> str:
    try:
        lines = isinstance(loads(body.lstrip().split(b"\n", 1)[0]), dict)
    except ValueError:
        lines = False
    return "It looks like JSON lines: read it as format='jsonl'." if lines else ""


def _elements(text: _Text) -> Iterator[Row]:
    text.skip("[")
    row = 0
    more = text.peek() != "]"
    while more:
        row += 1
        yield text.row(row)
        more = text.comma(row)
    text.skip("]")
    if rest := text.peek():
        raise text.error(f"{rest!r} follows after the end of the array")


class _Text:
    """The text of a file from the current place on, as far as it was needed."""

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._path = path
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def error(self, reason: str) -> InputError:
        line = self._line + self._buffer.count("\n", 0, self._at)
        return InputError(f"{self._path}: line {line}: {reason}")

    def peek(self) -> str:
        """The next character that is not space; empty at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if self._ended:
                return ""
            self._more(_PIECE)

    def skip(self, character: str) -> None:
        if self.peek() == character:
            self._at += 1

    def comma(self, row: int) -> bool:
        """Whether another row follows."""
        after = self.peek()
        if after == "]":
            return False
        if after != ",":
            found = f"{after!r} follows" if after else "the file ends"
            raise self.error(f"{found} after row {row}, where a comma or ] should be")
        self.skip(",")
        if self.peek() == "]":
            raise self.error(f"there is a comma but no row after row {row}")
        return True

    def row(self, row: int) -> Row:
        """The object that begins here. Reads on, ever larger pieces, while it is not whole."""
        if (first := self.peek()) != "{":
            found = f"begins with {first!r}" if first else "is missing"
            raise self.error(f"row {row} {found}, it is not an object")
        while True:
            try:
                value, self._at = _DECODER.raw_decode(self._buffer, self._at)
                return cast(Row, value)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_be_cut(error):
                    raise self.error(f"row {row}: {error.msg}") from None
            except RecursionError:
                raise self.error(f"row {row} is nested too deeply") from None
            except ValueError as error:
                raise self.error(f"row {row}: {error}") from None
            held = len(self._buffer) - self._at
            if held > LONGEST:
                raise self.error(f"row {row} is longer than {LONGEST >> 20} MiB")
            self._more(max(_PIECE, held))

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos > len(self._buffer) - 16

    def _more(self, size: int) -> None:
        self._line += self._buffer.count("\n", 0, self._at)
        piece = self._stream.read(size)
        self._ended = len(piece) == 0
        try:
            text = self._decoder.decode(piece, self._ended)
        except UnicodeDecodeError as error:
            raise self.error(f"it is not {self._encoding}: {error.reason}") from None
        self._buffer, self._at = self._buffer[self._at :] + text, 0
