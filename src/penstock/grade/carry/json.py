"""JSON lines and JSON arrays, carried: every object's own bytes, and new members at its end.

The new members are set in before the closing brace, so numbers stay as they were written (1.00,
twenty digits), and so do the order of keys, keys given twice, spaces and indentation. In a file
that is not UTF-8 the new text is written in ASCII, which JSON can.

A line or element that is no object has no place for new members. It is kept as text in an object
of its own, `{"bad_line": "...", ...}`; bytes that are not of the encoding stand in it as half
characters (`\\udce9`), so that it can be had back.

Traded away: a line or element of more than 64 MiB, and an array that does not end, are errors of
the whole file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from penstock.errors import InputError
from penstock.grade.carry import columns as carry_columns
from penstock.grade.carry.jsonscan import LONGEST, elements
from penstock.grade.carry.jsontext import SPACE, members, spliced
from penstock.grade.carry.store import Added, Filling, Staged
from penstock.grade.carry.text import Encodings, TextOut, begin, copied
from penstock.tables.files import ReadOptions, check_content
from penstock.tables.jsonlines import BAD_LINE, loads
from penstock.tables.source import Row

__all__ = ["part", "problem", "rows", "stage", "write"]

_PIECE = 1 << 20


def stage(path: Path, options: ReadOptions, filling: Filling) -> dict[str, Any]:
    """Find the objects of a file; what later reading needs to know of it."""
    form = options.format or "json"
    check_content(path, form)
    encodings = copied(path, options.encoding, filling, "records")
    with (filling.folder / "records").open("rb") as file:
        start = begin(file.read(4), encodings.inner)
        first = _first(file, start)
        if form == "json" and first == b"{":
            return carry_columns.stage(path, options, filling, encodings)
        _check_first(first, form, path)
        if form == "jsonl":
            _stage_lines(file, start, encodings.inner, path, filling)
        else:
            _stage_array(file, start, encodings.inner, path, filling)
    return {"inner": encodings.inner, "outer": encodings.outer, "array": form == "json"}


def rows(staged: Staged, start: int, stop: int) -> Iterator[Row]:
    inner = staged.facts["inner"]
    for number, record in enumerate(staged.records(start, stop), start=start):
        if staged.is_broken(number):
            yield {BAD_LINE: record.decode(inner, "replace")}
        else:
            yield _object(record, inner)


def problem(staged: Staged, number: int) -> str:
    try:
        _object(next(staged.records(number, number + 1)), staged.facts["inner"])
    except ValueError as error:
        return str(error)
    return "it cannot be read"


def write(staged: Staged, added: Added, new: Path) -> list[str]:
    encodings = Encodings(staged.facts["inner"], staged.facts["outer"])
    ascii_only = encodings.inner != "utf-8"
    at = 0
    with staged.open() as file, TextOut(new, encodings) as out:
        values = iter(added)
        for number, (start, stop) in enumerate(staged.spans(0, len(staged))):
            extra = members(added.titles, next(values), ascii_only=ascii_only)
            out.raw(file.read(start - at))
            record = file.read(stop - start)
            if staged.is_broken(number):
                record = _wrapped(record, encodings.inner)
            out.raw(spliced(record, extra))
            at = stop
        while piece := file.read(_PIECE):
            out.raw(piece)
    return out.notes()


def part(staged: Staged, ranges: Sequence[range], new: Path) -> None:
    array = staged.facts["array"]
    between = b",\n" if array else b"\n"
    with TextOut(new, Encodings(staged.facts["inner"], staged.facts["outer"])) as out:
        out.raw(b"[" if array else b"")
        first = True
        for some in ranges:
            for record in staged.records(some.start, some.stop):
                out.raw(record if first else between + record)
                first = False
        out.raw(b"]\n" if array else b"\n" if not first else b"")


def _stage_lines(file: IO[bytes], start: int, inner: str, path: Path, filling: Filling) -> None:
    file.seek(start)
    at = start
    for number, line in enumerate(iter(partial(file.readline, LONGEST), b""), start=1):
        if len(line) >= LONGEST and not line.endswith(b"\n"):
            raise InputError(f"{path}: line {number} is longer than {LONGEST >> 20} MiB")
        record = line.rstrip(b"\r\n")
        if record.strip(SPACE):
            _take(record, number, inner, path, filling)
            filling.span(at, at + len(record))
        at += len(line)


def _stage_array(file: IO[bytes], start: int, inner: str, path: Path, filling: Filling) -> None:
    line, at = 1, 0
    with (filling.folder / "records").open("rb") as again:
        for begins, ends in elements(file, start, path):
            line += again.read(begins - at).count(b"\n")
            record = again.read(ends - begins)
            _take(record, line, inner, path, filling)
            filling.span(begins, ends)
            line += record.count(b"\n")
            at = ends


def _take(record: bytes, line: int, inner: str, path: Path, filling: Filling) -> None:
    try:
        filling.names(_object(record, inner), path)
    except ValueError as error:
        filling.broken(line, str(error))


def _object(record: bytes, inner: str) -> Row:
    """The object a record is. Raises ValueError with what is wrong."""
    if inner == "utf-8":
        value = loads(record)
    else:
        try:
            value = loads(record.decode(inner))
        except UnicodeDecodeError as error:
            raise ValueError(f"the byte 0x{record[error.start]:02x} is not {inner}") from None
    if isinstance(value, dict):
        return value
    raise ValueError(f"it is a {type(value).__name__}, not an object")


def _wrapped(record: bytes, inner: str) -> bytes:
    text = record.decode(inner, "surrogateescape")
    return json.dumps({BAD_LINE: text}).encode()


def _first(file: IO[bytes], start: int) -> bytes:
    file.seek(start)
    while piece := file.read(_PIECE):
        if text := piece.lstrip(SPACE):
            return text[:1]
    return b""


def _check_first(first: bytes, form: str, path: Path) -> None:
    if not first:
        raise InputError(f"{path} is empty: it holds only blanks")
    if form == "jsonl" and first == b"[":
        raise InputError(
            f"{path} is not jsonl: it looks like one JSON array", remedy="Read it as format='json'."
        )
    if form == "json" and first != b"[":
        raise InputError(
            f"{path} is not an array of objects",
            remedy="It should look like [{...}, {...}], or be JSON lines with format='jsonl'.",
        )
