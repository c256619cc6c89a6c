"""csv and tsv, carried: every record's own bytes, and new cells behind them.

What a record is, the csv module says; here its bytes are kept beside what it read. Delimiter,
quotes, line ends, blank lines, a missing last line end, a byte order mark: all pass through. The
new cells are made harmless for spreadsheets (see `tables.escape`); the user's own are not touched.

A line with too few or too many cells, or with bytes that are not of the encoding, is a broken row.
It is kept: missing cells are filled with empty ones and surplus ones stand behind the new cells,
so that these are in their columns. A quote that is never closed takes only its own line with it:
reading goes on with the next, and in the output the quote is closed.

Traded away: a line of more than 16 Mi characters is an error of the whole file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from penstock.errors import InputError
from penstock.grade.carry.store import Added, Filling, Staged
from penstock.grade.carry.text import Encodings, TextOut, begin, copied
from penstock.tables.csvread import EXTRA, header_names
from penstock.tables.delimiter import delimiter_of
from penstock.tables.escape import escaped, unescaped
from penstock.tables.files import ReadOptions, check_content
from penstock.tables.lines import LONGEST, replaced
from penstock.tables.plain import plain, text_of
from penstock.tables.source import Problems, Row

__all__ = ["part", "problem", "rows", "stage", "write"]

_SAMPLE_LINES = 50
_SAMPLE_LENGTH = 1 << 16
_MOST_AGAIN = 256 << 20
_PIECE = 1 << 20
_BAD_BYTE = re.compile("[\udc80-\udcff]")
_OPEN = "its quote is never closed"


def stage(path: Path, options: ReadOptions, filling: Filling) -> dict[str, Any]:
    """Find the records of a file; what later reading needs to know of it."""
    check_content(path, "csv")
    encodings = copied(path, options.encoding, filling, "records")
    # The limit is the whole process's; it is only ever raised.
    csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    with (filling.folder / "records").open("rb") as file:
        start = begin(file.read(4), encodings.inner)
        delimiter = options.delimiter or _sniffed(file, encodings.inner, start, path, options)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise InputError(f"delimiter={options.delimiter!r}; it is one character")
        scan = _Scan(file, encodings.inner, delimiter, path)
        header = scan.header(start)
        notes = Problems()
        names = header_names(header.cells, notes, header.line)
        filling.columns.update(dict.fromkeys(names))
        filling.notes += [note.reason for note in notes]
        width = len(header.cells)
        for record in scan.records(header.next, header.line + header.lines):
            if fault := record.fault or _ragged(record.cells, width):
                filling.broken(record.line, fault)
            filling.span(record.start, record.stop)
    return {
        "inner": encodings.inner,
        "outer": encodings.outer,
        "delimiter": delimiter,
        "header": [header.start, header.stop],
        "width": width,
    }


def rows(staged: Staged, start: int, stop: int) -> Iterator[Row]:
    inner, delimiter = staged.facts["inner"], staged.facts["delimiter"]
    names = staged.columns
    for number, record in enumerate(staged.records(start, stop), start=start):
        if staged.is_broken(number):
            yield _kept(_parsed(record, inner, delimiter).cells, names)
            continue
        text = record.decode(inner)
        cells = next(csv.reader((text,), delimiter=delimiter))
        if "'" in text:
            cells = [unescaped(cell) for cell in cells]
        yield dict(zip(names, cells, strict=True))


def problem(staged: Staged, number: int) -> str:
    record = next(staged.records(number, number + 1))
    found = _parsed(record, staged.facts["inner"], staged.facts["delimiter"])
    return found.fault or _ragged(found.cells, staged.facts["width"]) or "it cannot be read"


def write(staged: Staged, added: Added, new: Path) -> list[str]:
    facts = staged.facts
    delimiter: str = facts["delimiter"]
    with staged.open() as file, TextOut(new, Encodings(facts["inner"], facts["outer"])) as out:
        at = facts["header"][1]
        out.raw(file.read(at))
        out.text(_cells(added.titles, delimiter))
        values = iter(added)
        for number, (start, stop) in enumerate(staged.spans(0, len(staged))):
            cells = _cells(next(values), delimiter)
            if staged.is_broken(number):
                out.raw(file.read(start - at))
                _mended(file.read(stop - start), cells, staged, out)
            else:
                out.raw(file.read(stop - at))
                out.text(cells)
            at = stop
        while piece := file.read(_PIECE):
            out.raw(piece)
    return out.notes()


def part(staged: Staged, ranges: Sequence[range], new: Path) -> None:
    facts = staged.facts
    end = _line_end(staged)
    with staged.open() as file, TextOut(new, Encodings(facts["inner"], facts["outer"])) as out:
        out.raw(file.read(facts["header"][1]) + end)
        for some in ranges:
            for record in staged.records(some.start, some.stop):
                out.raw(record + end)


class _Record(NamedTuple):
    cells: list[str]
    fault: str | None
    line: int
    start: int
    stop: int
    next: int
    lines: int


class _Lines:
    """Lines for the csv module, as text; where they lie is remembered."""

    def __init__(self, file: IO[bytes], inner: str, at: int, number: int, path: Path) -> None:
        file.seek(at)
        # Bytes one by one: a line is found by its end, whichever of the three it is.
        self._text = io.TextIOWrapper(file, encoding="latin-1", newline="")
        self._inner = inner
        self._path = path
        self.at = at
        self.number = number
        self.ended = False
        self.fresh()

    def fresh(self) -> None:
        """A new record begins."""
        self.begin = self.at
        self.stop = self.at
        self.lines = 0
        self.first = (self.at, self.at)  # the end of the first line, and where the next begins
        self.fault: str | None = None

    def __iter__(self) -> Iterator[str]:
        for line in iter(partial(self._text.readline, LONGEST), ""):
            self.at += len(line)
            self.stop = self.at - len(line) + len(line.rstrip("\r\n"))
            self.lines += 1
            if self.lines == 1:
                self.first = (self.stop, self.at)
            if len(line) >= LONGEST and self.stop == self.at:
                raise InputError(
                    f"{self._path}: line {self.number + self.lines} is longer than "
                    f"{LONGEST >> 20} Mi characters"
                )
            yield line if line.isascii() else self._decoded(line)
        self.ended = True

    def _decoded(self, line: str) -> str:
        raw = line.encode("latin-1")
        try:
            return raw.decode(self._inner)
        except UnicodeDecodeError:
            text = raw.decode(self._inner, "surrogateescape")
            self.fault = self.fault or _bad_byte(text, self._inner)
            return text

    def close(self) -> None:
        # The file below belongs to who opened it.
        self._text.detach()


class _Scan:
    """The records of a file, with their places."""

    def __init__(self, file: IO[bytes], inner: str, delimiter: str, path: Path) -> None:
        self._file = file
        self._inner = inner
        self._delimiter = delimiter
        self._path = path
        self._again = 0

    def header(self, start: int) -> _Record:
        for record in self.records(start, 1):
            if record.fault is not None:
                raise InputError(
                    f"{self._path}: line {record.line}, the header: {record.fault}",
                    remedy="Mend the line, or give the encoding, such as encoding='cp1252'.",
                )
            return record
        raise InputError(
            f"{self._path} has no header: all its lines are blank",
            remedy="Its first line names the columns.",
        )

    def records(self, at: int, line: int) -> Iterator[_Record]:
        """From a place on, which is that line; blank lines are none."""
        start: tuple[int, int] | None = (at, line)
        while start is not None:
            lines = _Lines(self._file, self._inner, start[0], start[1] - 1, self._path)
            try:
                start = yield from self._until_open(lines)
            finally:
                lines.close()

    def _until_open(self, lines: _Lines) -> Generator[_Record, None, tuple[int, int] | None]:
        """Records up to one whose quote stays open; then where to go on, behind its first line."""
        reader = csv.reader(iter(lines), delimiter=self._delimiter)
        while True:
            lines.number += lines.lines
            lines.fresh()
            cells: list[str] = []
            fault = None
            try:
                cells = next(reader)
            except StopIteration:
                return None
            except csv.Error as error:
                fault = _reason(error)
            if lines.ended:
                fault = _OPEN
            line, (end, following) = lines.number + 1, lines.first
            if fault is not None and lines.lines > 1 and self._may_go_back(lines.at - following):
                yield _Record(cells, _OPEN, line, lines.begin, end, following, 1)
                return following, line + 1
            if cells or fault is not None:
                fault = lines.fault or fault
                if "'" in "".join(cells) and fault is None:
                    cells = [unescaped(cell) for cell in cells]
                at = (lines.begin, lines.stop, lines.at)
                yield _Record(cells, fault, line, *at, lines.lines)

    def _may_go_back(self, size: int) -> bool:
        # A file made for it could have a quote to open on every line.
        self._again += size
        return self._again <= _MOST_AGAIN


class _Parsed(NamedTuple):
    text: str
    cells: list[str]
    fault: str | None
    open: bool


def _parsed(record: bytes, inner: str, delimiter: str) -> _Parsed:
    """A record alone, as far as it can be read."""
    text = record.decode(inner, "surrogateescape")
    fault = _bad_byte(text, inner)
    asked: list[bool] = []

    def lines() -> Iterator[str]:
        yield text
        asked.append(True)

    try:
        cells = next(csv.reader(lines(), delimiter=delimiter), [])
    except csv.Error as error:
        return _Parsed(text, [], fault or _reason(error), False)
    if "'" in text:
        cells = [unescaped(cell) for cell in cells]
    return _Parsed(text, cells, fault or (_OPEN if asked else None), bool(asked))


def _kept(cells: list[str], names: list[str]) -> Row:
    """A broken row as it is: missing cells are None, surplus ones a list of their own."""
    whole = [replaced(cell) for cell in cells]
    row: Row = dict.fromkeys(names)
    row.update(zip(names, whole, strict=False))
    if len(whole) > len(names):
        row[EXTRA] = whole[len(names) :]
    return row


def _mended(record: bytes, added: str, staged: Staged, out: TextOut) -> None:
    """Write a broken row so that what is added stands in its columns."""
    inner, delimiter, width = (staged.facts[name] for name in ("inner", "delimiter", "width"))
    found = _parsed(record, inner, delimiter)
    text = found.text + '"' if found.open else found.text
    cut = _place(text, delimiter, width)
    out.raw(text[:cut].encode(inner, "surrogateescape"))
    out.text(delimiter * max(0, width - max(1, len(found.cells))) + added)
    out.raw(text[cut:].encode(inner, "surrogateescape"))


def _place(text: str, delimiter: str, cells: int) -> int:
    """Where so many cells end, by the rules of the csv module."""
    state, ended = "start", 0
    for place, character in enumerate(text):
        if state == "quoted":
            state = "quote" if character == '"' else state
        elif character == delimiter:
            ended += 1
            if ended == cells:
                return place
            state = "start"
        else:
            # A quote opens a cell, or a doubled one goes on with it; elsewhere it is a character.
            state = "quoted" if character == '"' and state != "plain" else "plain"
    return len(text)


def _cells(values: Iterable[Any], delimiter: str) -> str:
    return "".join(delimiter + _cell(value, delimiter) for value in values)


_SPECIAL = re.compile('[",;\t|\r\n]')


def _cell(value: Any, delimiter: str) -> str:
    if value is None:
        return ""
    text = value if type(value) is str else str(text_of(plain(value)))
    text = escaped(text)
    if _SPECIAL.search(text) or delimiter in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _ragged(cells: list[str], width: int) -> str | None:
    return None if len(cells) == width else f"{len(cells)} cells instead of {width}"


def _bad_byte(text: str, inner: str) -> str | None:
    bad = None if text.isascii() else _BAD_BYTE.search(text)
    return None if bad is None else f"the byte 0x{ord(bad[0]) - 0xDC00:02x} is not {inner}"


def _reason(error: csv.Error) -> str:
    if "field limit" in str(error):
        return f"a cell is longer than {LONGEST >> 20} Mi characters; is a quote not closed?"
    return str(error)


def _line_end(staged: Staged) -> bytes:
    """How the file ends its header's line, hence its lines."""
    with staged.open() as file:
        file.seek(staged.facts["header"][1])
        end = file.read(2)
    return end if end == b"\r\n" else end[:1] if end[:1] in (b"\r", b"\n") else b"\n"


def _sniffed(file: IO[bytes], inner: str, start: int, path: Path, options: ReadOptions) -> str:
    if options.format == "tsv":
        return "\t"
    lines = _Lines(file, inner, start, 0, path)
    sample = [line for line in islice(lines, _SAMPLE_LINES) if len(line) < _SAMPLE_LENGTH]
    lines.close()
    return delimiter_of(sample)
