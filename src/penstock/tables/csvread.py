"""Reading csv and tsv: text exactly as written, and every bad line by its number.

Nothing is guessed about values: `007`, `nan`, `2024-01-01` and the empty cell are the text that
stands there (`types="infer"` reads the file twice and turns whole columns into numbers or
booleans). Encoding and delimiter are found by small rules (see `encodings`, and `delimiter`
here) or given. An apostrophe that our writer put before a formula is taken away again.

Traded away: a line with a stray quote is read leniently, as spreadsheets do; only a quote that
is never closed is an error. A cell is at most 16 Mi characters.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from penstock.errors import InputError
from penstock.tables.columns import unique
from penstock.tables.delimiter import delimiter_of
from penstock.tables.encodings import encoding_of
from penstock.tables.escape import unescaped
from penstock.tables.files import ReadOptions, check_content, opened, reading_errors
from penstock.tables.infer import Inference
from penstock.tables.lines import LONGEST, Lines, replaced
from penstock.tables.source import Block, Problems, Row, RowSource, in_blocks

__all__ = ["EXTRA", "header_names", "read"]

EXTRA = "extra_cells"
_SAMPLE_LINES = 50
_SAMPLE_LENGTH = 1 << 16


def read(path: Path, options: ReadOptions) -> RowSource:
    """The rows of a csv or tsv file."""
    check_content(path, "csv")
    file = _Csv(path, options)
    file.start()
    if options.types == "infer":
        file.infer()
    return RowSource(
        file.blocks, name=str(path), column_names=list(file.names), problems=file.problems
    )


class _Csv:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.problems = Problems()
        self.names: list[str] = []
        self._bad_lines = options.bad_lines
        self._unescape = options.unescape
        self._encoding = encoding_of(path, options.encoding)
        self._delimiter = options.delimiter or self._sniffed(options)
        if len(self._delimiter) != 1 or self._delimiter in '"\r\n':
            raise InputError(f"delimiter={options.delimiter!r}; it is one character")
        self._types: Inference | None = None
        # The limit is the whole process's; it is only ever raised.
        csv.field_size_limit(max(LONGEST, csv.field_size_limit()))

    def start(self) -> None:
        """Read the header, so that what is wrong at the top is known before any work."""
        with reading_errors(self.path), opened(self.path) as stream:
            lines = Lines(stream, self._encoding)
            next(self._records(lines), None)
            lines.close()
        if not self.names:
            raise InputError(f"{self.path} is empty")

    def infer(self) -> None:
        """Read everything once to learn what the columns hold."""
        types = Inference(len(self.names))
        for block in self.blocks(1024):
            for row in block:
                types.look(list(row.values()))
        self._types = types

    def blocks(self, size: int) -> Iterator[Block]:
        with reading_errors(self.path), opened(self.path) as stream:
            lines = Lines(stream, self._encoding)
            yield from in_blocks(self._records(lines), size)
            lines.close()

    def _records(self, lines: Lines) -> Iterator[Row]:
        reader = csv.reader(iter(lines), delimiter=self._delimiter)
        self.problems.forget()
        header = False
        while True:
            lines.fresh()
            begin = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._bad(begin, _reason(error))
                continue
            except UnicodeDecodeError as error:
                raise self._error(begin, f"not {self._encoding}: {error.reason}") from None
            if lines.ended:
                lines.fault = lines.fault or "its quote is never closed"
            if lines.apostrophe and self._unescape:
                cells = [unescaped(cell) for cell in cells]
            if not header:
                if cells:
                    header = True
                    self._take_header(cells, lines.fault, begin)
                continue
            if (row := self._row(cells, lines.fault, begin)) is not None:
                yield row

    def _row(self, cells: list[str], fault: str | None, line: int) -> Row | None:
        if fault is None and (not cells or len(cells) == len(self.names)):
            if not cells:
                return None
            if self._types is not None:
                return dict(zip(self.names, self._types.typed(cells), strict=True))
            return dict(zip(self.names, cells, strict=True))
        if fault is None:
            fault = f"{len(cells)} cells instead of {len(self.names)}"
        self._bad(line, fault)
        return self._kept(cells) if self._bad_lines == "keep" and cells else None

    def _kept(self, cells: list[str]) -> Row:
        """A bad line as it is: missing cells are None, surplus ones a list of their own."""
        whole = [replaced(cell) for cell in cells]
        row: Row = dict.fromkeys(self.names)
        row.update(zip(self.names, whole, strict=False))
        if len(whole) > len(self.names):
            row[EXTRA] = whole[len(self.names) :]
        return row

    def _take_header(self, cells: list[str], fault: str | None, line: int) -> None:
        if fault is not None:
            raise self._error(line, fault)
        self.names = header_names(cells, self.problems, line)

    def _bad(self, line: int, reason: str) -> None:
        if self._bad_lines == "error":
            raise self._error(line, reason)
        self.problems.note(line, reason)

    def _error(self, line: int, reason: str) -> InputError:
        remedy = "Mend the line, or read with bad_lines='skip' or 'keep'."
        if reason.startswith("the byte"):
            remedy = f"Give the encoding, such as encoding='cp1252'. {remedy}"
        elif "cells instead" in reason:
            remedy = f"{remedy} The delimiter taken is {self._delimiter!r}."
        return InputError(f"{self.path}: line {line}: {reason}", remedy=remedy)

    def _sniffed(self, options: ReadOptions) -> str:
        if options.format == "tsv":
            return "\t"
        with reading_errors(self.path), opened(self.path) as stream:
            lines = Lines(stream, self._encoding)
            sample = [line for line in islice(lines, _SAMPLE_LINES) if len(line) < _SAMPLE_LENGTH]
            lines.close()
        return delimiter_of(sample)


def header_names(cells: list[str], problems: Problems, line: int) -> list[str]:
    """Names for columns: a blank one gets its place, a repeated one its count."""
    names = []
    for place, cell in enumerate(cells, start=1):
        if not cell.strip():
            problems.note(line, f"column {place} has no name; it is called column_{place}")
        names.append(cell if cell.strip() else f"column_{place}")
    result = unique(names)
    for old, new in zip(names, result, strict=True):
        if old != new:
            problems.note(line, f"the name {old!r} is given again; this one is called {new}")
    return result


def _reason(error: csv.Error) -> str:
    if "field limit" in str(error):
        return f"a cell is longer than {LONGEST >> 20} Mi characters; is a quote not closed?"
    return str(error)
