"""Reading JSON lines: one object a line, a broken line named by its number.

Whole numbers of any length (up to 4,300 digits) come exact; NaN and Infinity, which Python writes,
are read; half characters (`\\ud83d` alone) are kept as they are. Where a key is given twice the
last one counts. A line is at most 64 MiB.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from penstock.errors import InputError
from penstock.tables.encodings import encoding_of
from penstock.tables.files import ReadOptions, check_content, opened, reading_errors
from penstock.tables.lines import Lines, replaced
from penstock.tables.source import Block, Problems, Row, RowSource, in_blocks

__all__ = ["BAD_LINE", "LONGEST", "loads", "read"]

BAD_LINE = "bad_line"
LONGEST = 64 << 20


def read(path: Path, options: ReadOptions) -> RowSource:
    """The rows of a JSON-lines file."""
    check_content(path, "jsonl")
    encoding = encoding_of(path, options.encoding)
    _refuse_array(path)
    problems = Problems()

    def blocks(size: int) -> Iterator[Block]:
        problems.forget()
        with reading_errors(path), opened(path) as stream:
            yield from in_blocks(_rows(stream, encoding, path, options, problems), size)

    return RowSource(blocks, name=str(path), problems=problems)


def loads(text: bytes | str) -> Any:
    """A JSON value, exact. Raises ValueError with what is wrong."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, msgspec.DecodeError, RecursionError):
        # msgspec is strict; this reads NaN, huge floats and half characters too, or says why not.
        pass
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"the byte 0x{error.object[error.start]:02x} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None


def _refuse_array(path: Path) -> None:
    with reading_errors(path), opened(path) as stream:
        start = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"["):
        raise InputError(
            f"{path} is not jsonl: it looks like one JSON array", remedy="Read it as format='json'."
        )


def _rows(
    stream: IO[bytes], encoding: str, path: Path, options: ReadOptions, problems: Problems
) -> Iterator[Row]:
    for number, line in enumerate(_lines(stream, encoding), start=1):
        try:
            yield _row(line)
        except ValueError as error:
            if not line.strip() and not isinstance(line, _Bad):
                continue
            if options.bad_lines == "error":
                remedy = "Mend the line, or read with bad_lines='skip' or 'keep'."
                raise InputError(f"{path}: line {number}: {error}", remedy=remedy) from None
            problems.note(number, str(error))
            if options.bad_lines == "keep":
                yield {BAD_LINE: line if isinstance(line, str) else line.decode("utf-8", "replace")}


def _row(line: bytes | str) -> Row:
    if isinstance(line, _Bad):
        raise line.fault
    value = loads(line)
    if isinstance(value, dict):
        return value
    raise ValueError(f"it is a {type(value).__name__}, not an object")


class _Bad(str):
    """A line that cannot be read, as far as it can be shown, and why."""

    def __new__(cls, text: str, reason: str) -> _Bad:
        self = super().__new__(cls, text)
        self.fault = ValueError(reason)
        return self

    fault: ValueError


def _lines(stream: IO[bytes], encoding: str) -> Iterator[bytes | str]:
    """The lines, as bytes where they are UTF-8."""
    if encoding not in ("utf-8", "utf-8-sig"):
        lines = Lines(stream, encoding)
        for text in lines:
            line = text.rstrip("\r\n")
            yield line if lines.fault is None else _Bad(replaced(line), lines.fault)
            lines.fresh()
        lines.close()
        return
    mark = codecs.BOM_UTF8
    if stream.read(len(mark)) != mark:
        stream.seek(0)
    for body in iter(partial(stream.readline, LONGEST), b""):
        if len(body) >= LONGEST and not body.endswith(b"\n"):
            while (piece := stream.readline(LONGEST)) and not piece.endswith(b"\n"):
                pass
            yield _Bad("", f"it is longer than {LONGEST >> 20} MiB")
        else:
            yield body.rstrip(b"\r\n")
