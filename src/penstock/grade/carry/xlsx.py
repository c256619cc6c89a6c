"""Workbooks, carried: the new cells are set into the sheet, all else stays as it is.

Formats, formulas, widths, pictures and the other sheets are copied part by part; only the sheet
that is graded gets cells, in the columns to the right of all it holds, and a style is added that
marks text as text. The rows are those that `tables.xlsxread` reads: the first row with anything in
it names the columns. They lie beside the workbook as JSON, dates marked as such.

Text of ours beyond the 32,767 characters that Excel takes is cut, and that is said. A part of a
split is a new workbook with this sheet alone.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from penstock.errors import InputError
from penstock.grade.carry.book import parts_of, styles_with_quoting
from penstock.grade.carry.sheet import LONGEST, NewCells, Sheet, Splicing, reach
from penstock.grade.carry.store import Added, Filling, Staged
from penstock.grade.carry.xml import NotSpliced
from penstock.tables import rows as read_rows
from penstock.tables.files import ReadOptions, reading_errors
from penstock.tables.source import BLOCK, Row
from penstock.tables.xlsxwrite import MOST_COLUMNS, write_xlsx

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["part", "problem", "rows", "stage", "write"]

_PIECE = 1 << 20
_OTHERWISE = "Have the output as csv, jsonl or parquet."


def stage(path: Path, options: ReadOptions, filling: Filling) -> dict[str, Any]:
    """Keep the workbook, and set the rows of the sheet beside it."""
    try:
        source = read_rows(path, format="xlsx", sheet=options.sheet)
        book, name, header, width = _shape(path, options.sheet)
    except InputError as error:
        if "encrypted" in error.message or "password" in error.message:
            remedy = "Save it as xlsx without a password."
            raise InputError(error.message, remedy=remedy) from None
        raise
    filling.columns.update(dict.fromkeys(source.column_names or []))
    filling.notes += [note.reason for note in source.problems]
    if others := [other for other in book if other != name]:
        filling.notes.append(
            f"only the sheet {name!r} is graded; {', '.join(map(repr, others))} stay as they are"
        )
    at = 0
    with filling.new("records") as file:
        for block in source.blocks():
            for row in block:
                line = json.dumps([_packed(value) for value in row.values()]).encode()
                filling.put(file, line)
                filling.span(at, at + len(line))
                at += len(line)
    with reading_errors(path), path.open("rb") as whole, filling.new("original") as file:
        shutil.copyfileobj(whole, file, _PIECE)
    return {"sheet": name, "header": header, "width": width}


def rows(staged: Staged, start: int, stop: int) -> Iterator[Row]:
    names = staged.columns
    for record in staged.records(start, stop):
        yield dict(zip(names, map(_unpacked, json.loads(record)), strict=True))


def problem(staged: Staged, number: int) -> str:
    raise AssertionError(f"row {number} of {staged.path}: no row of a sheet is broken")


def write(staged: Staged, added: Added, new: Path) -> list[str]:
    try:
        cut = _write(staged, added, new)
    except NotSpliced as error:
        raise InputError(f"{staged.path}: {error}", remedy=_OTHERWISE) from None
    return [f"{cut:,} texts were cut to the {LONGEST:,} characters Excel takes"] if cut else []


def _write(staged: Staged, added: Added, new: Path) -> int:
    header, name = staged.facts["header"], staged.facts["sheet"]
    titles = list(added.titles)
    with (
        zipfile.ZipFile(staged.folder / "original") as book,
        zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as out,
    ):
        parts = parts_of(book, name)
        with book.open(parts.sheet) as stream:
            column = max(staged.facts["width"], reach(stream) + 1)
        if column + len(titles) > MOST_COLUMNS:
            count = column + len(titles)
            raise NotSpliced(f"{count:,} columns are more than Excel's {MOST_COLUMNS:,}")
        styles = styles_with_quoting(book, parts.styles)
        quoted = None if styles is None else styles.quoting
        sheet = Sheet(header, header + len(staged), column, len(titles), quoted)
        cells = NewCells(sheet, titles, iter(added))
        for info in book.infolist():
            with out.open(_renewed(info), "w", force_zip64=info.file_size > 1 << 30) as file:
                if info.filename == parts.sheet:
                    with book.open(info) as stream:
                        Splicing(sheet, cells, file.write).run(stream)
                elif styles is not None and info.filename == parts.styles:
                    file.write(styles.body)
                else:
                    with book.open(info) as stream:
                        shutil.copyfileobj(stream, file, _PIECE)
    return cells.cut


def part(staged: Staged, ranges: Sequence[range], new: Path) -> None:
    # The writer asks a table for its names, its length and its blocks of rows; no more.
    write_xlsx(cast("Table", _Slices(staged, ranges)), new)


class _Slices:
    def __init__(self, staged: Staged, ranges: Sequence[range]) -> None:
        self._staged = staged
        self._ranges = ranges
        self.column_names = staged.columns

    def __len__(self) -> int:
        return sum(map(len, self._ranges))

    def blocks(self) -> Iterator[list[Row]]:
        for some in self._ranges:
            for start in range(some.start, some.stop, BLOCK):
                yield list(self._staged.rows(start, min(start + BLOCK, some.stop)))


def _shape(path: Path, wanted: str | int | None) -> tuple[list[str], str, int, int]:
    """The names of all sheets, that of the one, its header's row, and where its columns end."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    if isinstance(wanted, str):
        sheet = book.get_sheet_by_name(wanted)
    else:
        sheet = book.get_sheet_by_index((wanted or 1) - 1)
    header = next(
        number for number, row in enumerate(sheet.iter_rows(), start=1) if row.count("") < len(row)
    )
    end = sheet.end
    assert end is not None  # a sheet without cells was refused already
    return book.sheet_names, sheet.name, header, end[1] + 1


def _packed(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, (date, time)):
        return {type(value).__name__: value.isoformat()}
    if isinstance(value, timedelta):
        return {"span": [value.days, value.seconds, value.microseconds]}
    return value


def _unpacked(value: Any) -> Any:
    if type(value) is not dict:
        return value
    ((kind, inside),) = value.items()
    if kind == "span":
        return timedelta(*inside)
    kinds: dict[str, Callable[[str], Any]] = {
        "moment": datetime.fromisoformat,
        "date": date.fromisoformat,
        "time": time.fromisoformat,
    }
    return kinds[kind](inside)


def _renewed(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    new = zipfile.ZipInfo(info.filename, info.date_time)
    new.compress_type = zipfile.ZIP_DEFLATED
    new.external_attr = info.external_attr
    return new
