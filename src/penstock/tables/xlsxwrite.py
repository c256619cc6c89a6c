"""Writing an Excel workbook of one sheet, row by row.

Text is always written as text: a cell that begins like a formula is none, and carries Excel's own
mark for that (the quote prefix), so that it stays text when someone edits it. Its value is not
changed, so nothing has to be undone when it is read.

What Excel cannot hold is written as text: whole numbers of more than 15 digits, NaN, infinities
and numbers near them, dates before March 1900, moments with a zone or finer than a millisecond,
times, time spans, decimals, lists and dicts (JSON), bytes (base64). Numbers keep 15 to 16 digits.
Empty text comes back as None. Text of more than 32,767 characters is refused, and so are more
than 1,048,575 rows.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InputError
from penstock.tables.escape import is_formula
from penstock.tables.plain import text_of

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["LONGEST", "MOST_COLUMNS", "MOST_ROWS", "write_xlsx"]

LONGEST = 32_767
MOST_ROWS = 1_048_575  # and the header
MOST_COLUMNS = 16_384
_LARGEST_WHOLE = 10**15
_SMALLEST, _LARGEST = 2.3e-308, 9.99e307  # of Excel's own numbers
_FIRST_DATE = date(1900, 3, 1)  # before it Excel counts a day that never was
_NOT_XML = re.compile("[\ufffe\uffff]")


def write_xlsx(table: Table, path: Path) -> None:
    _check_size(table)
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent)})
    try:
        sheet = _Sheet(book, table.column_names)
        number = 0
        for block in table.blocks():
            for row in block:
                number += 1
                sheet.write(number, row.values())
    finally:
        book.close()


class _Sheet:
    def __init__(self, book: Any, names: list[str]) -> None:
        self._sheet = book.add_worksheet()
        self._names = names
        self._quoted = book.add_format({"quote_prefix": True})
        self._day = book.add_format({"num_format": "yyyy-mm-dd"})
        self._moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        self.write(0, names)

    def write(self, row: int, values: Any) -> None:
        for column, value in enumerate(values):
            if value is not None:
                self._put(row, column, value)

    def _put(self, row: int, column: int, value: Any) -> None:
        if type(value) is str:
            self._text(row, column, value)
        elif type(value) is bool:
            self._sheet.write_boolean(row, column, value)
        elif type(value) in (int, float) and _is_number(value):
            self._sheet.write_number(row, column, value)
        elif type(value) is date and value >= _FIRST_DATE:
            self._sheet.write_datetime(row, column, value, self._day)
        elif type(value) is datetime and _is_moment(value):
            self._sheet.write_datetime(row, column, value, self._moment)
        else:
            self._text(row, column, str(text_of(value)))

    def _text(self, row: int, column: int, text: str) -> None:
        if len(text) > LONGEST // 2 and len(text.encode("utf-16-le")) > 2 * LONGEST:
            raise InputError(
                f"row {row}, column {self._names[column]!r}: {len(text):,} characters are more "
                f"than Excel's {LONGEST:,}",
                remedy="Save as csv, jsonl or parquet.",
            )
        if not text.isascii():
            text = _NOT_XML.sub("�", text)
        self._sheet.write_string(row, column, text, self._quoted if is_formula(text) else None)


def _is_number(value: float) -> bool:
    if type(value) is int:
        return abs(value) < _LARGEST_WHOLE
    return value == 0 or _SMALLEST <= abs(value) <= _LARGEST


def _is_moment(value: datetime) -> bool:
    whole = value.tzinfo is None and value.microsecond % 1000 == 0
    return whole and value.date() >= _FIRST_DATE


def _check_size(table: Table) -> None:
    if len(table) > MOST_ROWS or len(table.column_names) > MOST_COLUMNS:
        raise InputError(
            f"{len(table):,} rows and {len(table.column_names):,} columns are more than an Excel "
            f"sheet holds ({MOST_ROWS:,} and {MOST_COLUMNS:,})",
            remedy="Save as csv, jsonl or parquet.",
        )
