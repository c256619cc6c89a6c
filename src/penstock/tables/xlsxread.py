"""Reading a sheet of an Excel workbook; the first row that is not empty names the columns.

Values are those the file holds; formulas are not evaluated, what Excel last computed is read.
Whole numbers come as int, dates as date, dates with a time as datetime, an empty cell or an error
such as #N/A as None, text as it is, leading zeros and all.

A sheet is unpacked into memory (the format allows no other way at this speed), so its size is
checked first: 512 MiB unpacked, counted while unpacking and not by what the archive claims, and
20 million cells from corner to corner, counted by their addresses: a lone cell in the last corner
would otherwise ask for 17 billion.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import error as ZlibError  # noqa: N812

from penstock.errors import InputError, NotFoundError
from penstock.tables.csvread import header_names
from penstock.tables.files import ReadOptions, check_content, reading_errors
from penstock.tables.source import Block, Problems, RowSource

__all__ = ["LARGEST", "MOST_CELLS", "read"]

LARGEST = 512 << 20
MOST_CELLS = 20_000_000
_MOST_PARTS = 10_000
_PIECE = 1 << 20
_ADDRESS = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_WHOLE = 1e15


def read(path: Path, options: ReadOptions) -> RowSource:
    """The rows of one sheet."""
    check_content(path, "xlsx")
    _check_size(path)
    sheet = _sheet(path, options.sheet)
    problems = Problems()
    first, header = next(_filled(sheet), (0, []))
    if not header:
        raise InputError(f"{path}: the sheet {sheet.name!r} is empty")
    names = header_names([_title(cell) for cell in header], problems, first)
    last, with_time = _surveyed(sheet, first, len(names))

    def blocks(size: int) -> Iterator[Block]:
        rows = islice(sheet.iter_rows(), first, last)
        while some := list(islice(rows, size)):
            yield [
                {
                    name: _value(cell, timed)
                    for name, cell, timed in zip(names, row, with_time, strict=False)
                }
                for row in some
            ]

    return RowSource(
        blocks, name=str(path), count=last - first, column_names=names, problems=problems
    )


def _sheet(path: Path, wanted: str | int | None) -> Any:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if isinstance(wanted, str) and wanted in names:
            return book.get_sheet_by_name(wanted)
        place = 1 if wanted is None else wanted
        if isinstance(place, int) and not isinstance(place, bool) and 1 <= place <= len(names):
            return book.get_sheet_by_index(place - 1)
    except PasswordError:
        raise InputError(f"{path} is locked with a password") from None
    except (CalamineError, OSError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    raise NotFoundError(
        f"{path} has no sheet {wanted!r}",
        remedy=f"It has: {', '.join(names)}; numbers count from 1.",
    )


def _filled(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """The rows that are not empty, with their numbers from 1."""
    for number, row in enumerate(sheet.iter_rows(), start=1):
        if row.count("") < len(row):
            yield number, row


def _surveyed(sheet: Any, header: int, width: int) -> tuple[int, list[bool]]:
    """The number of the last row, and which columns have a time of day somewhere.

    Midnight comes as a date, but in such a column it is a time too.
    """
    last = header
    timed = [False] * width
    for number, row in _filled(sheet):
        last = number
        if datetime in set(map(type, row)) and number > header:
            for place, cell in enumerate(row):
                timed[place] = timed[place] or type(cell) is datetime
    return last, timed


def _title(cell: Any) -> str:
    value = _value(cell, False)
    return "" if value is None else str(value)


def _value(cell: Any, timed: bool) -> Any:
    if cell == "":
        return None
    if type(cell) is float and cell.is_integer() and abs(cell) < _WHOLE:
        return int(cell)
    if timed and type(cell) is date:
        return datetime(cell.year, cell.month, cell.day)
    return cell


def _check_size(path: Path) -> None:
    """Unpack everything once, keeping nothing, and stop at the limit."""
    try:
        with reading_errors(path), zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > LARGEST:
                raise _too_large(path)
            total = 0
            for part in parts:
                with archive.open(part) as stream:
                    sheet = part.filename.lower().startswith("xl/worksheets/")
                    total += _unpacked(stream, path, LARGEST - total, sheet)
    except (zipfile.BadZipFile, ZlibError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _unpacked(stream: Any, path: Path, most: int, sheet: bool) -> int:
    size, rows, columns, rest = 0, 0, 0, b""
    seen: set[bytes] = set()
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > most:
            raise _too_large(path)
        if not sheet:
            continue
        text = rest + piece
        for letters, digits in _ADDRESS.findall(text):
            rows = max(rows, int(digits))
            seen.add(letters)
        rest = text[-64:]
    columns = max(map(_column, seen), default=0)
    if rows * columns > MOST_CELLS:
        raise InputError(
            f"{path} has a sheet of {rows:,} x {columns:,} cells; at most {MOST_CELLS:,} are read",
            remedy="Save it as csv, which is read as a stream.",
        )
    return size


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _too_large(path: Path) -> InputError:
    return InputError(
        f"{path} unpacks to more than {LARGEST >> 20} MiB",
        remedy="Save it as csv, which is read as a stream.",
    )
