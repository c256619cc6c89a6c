"""xlsx: values as the file holds them, and nothing evaluated."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from penstock.errors import InputError, NotFoundError
from penstock.tables import Table, rows
from penstock.tables import xlsxwrite as xlsxwrite_module


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.xlsx"


def _book(path: Path, cells: dict[str, Any], sheet: str = "Data") -> Path:
    book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd hh:mm"})
    page = book.add_worksheet("Cover")
    page.write("A1", "title")
    page = book.add_worksheet(sheet)
    for place, value in cells.items():
        page.write(place, value)
    book.close()
    return path


def test_cells_come_with_their_types(file: Path) -> None:
    cells = {"A1": "n", "B1": "x", "C1": "zip", "D1": "ok", "E1": "when", "F1": 2024}
    cells |= {"A2": 3, "B2": 0.5, "D2": True, "E2": datetime(2024, 1, 31, 9), "F2": "x"}
    cells |= {"A3": 4, "E3": datetime(2024, 2, 1)}
    _book(file, cells)
    book_rows = list(rows(file, sheet="Data"))
    first, second = ([*row.values()] for row in book_rows)
    assert [*book_rows[0]] == ["n", "x", "zip", "ok", "when", "2024"]
    assert first == [3, 0.5, None, True, datetime(2024, 1, 31, 9), "x"]
    assert second == [4, None, None, None, datetime(2024, 2, 1), None]
    assert type(book_rows[0]["n"]) is int


def test_text_with_leading_zeros_stays_text_and_a_day_is_a_date(file: Path) -> None:
    Table.from_rows([{"zip": "00501", "day": date(2024, 1, 31)}]).to_xlsx(file)
    assert list(rows(file)) == [{"zip": "00501", "day": date(2024, 1, 31)}]


def test_a_sheet_is_chosen_by_name_or_number(file: Path) -> None:
    _book(file, {"A1": "a", "A2": 1})
    assert list(rows(file)) == []
    assert list(rows(file, sheet=2)) == [{"a": 1}] == list(rows(file, sheet="Data"))
    for wrong in (0, 3, "Nope"):
        with pytest.raises(NotFoundError, match="Cover, Data"):
            rows(file, sheet=wrong)


def test_a_table_that_does_not_begin_in_the_corner_is_found(file: Path) -> None:
    _book(file, {"C4": "a", "D4": "b", "C5": 1, "D6": 2})
    assert list(rows(file, sheet=2)) == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_empty_rows_at_the_end_are_dropped_and_those_between_are_not(file: Path) -> None:
    _book(file, {"A1": "a", "A2": 1, "A4": 2, "A9": ""})
    source = rows(file, sheet=2)
    assert [row["a"] for row in source] == [1, None, 2]
    assert source.count == 3
    assert source.column_names == ["a"]


def test_an_empty_sheet_is_an_error(file: Path) -> None:
    _book(file, {})
    with pytest.raises(InputError, match="'Data' is empty"):
        rows(file, sheet=2)


def test_formulas_are_not_evaluated(file: Path) -> None:
    book = xlsxwriter.Workbook(str(file))
    page = book.add_worksheet()
    page.write("A1", "a")
    page.write_formula("A2", "=1+1", None, 5)
    book.close()
    assert list(rows(file)) == [{"a": 5}]


def test_text_that_looks_like_a_formula_is_text_and_marked_as_such(file: Path) -> None:
    Table.from_rows([{"=a": "=1+1", "b": "plain", "c": "https://example.com"}]).to_xlsx(file)
    with zipfile.ZipFile(file) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        styles = archive.read("xl/styles.xml").decode()
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet
    assert sheet.count(' s="') == 2
    assert 'quotePrefix="1"' in styles
    assert list(rows(file)) == [{"=a": "=1+1", "b": "plain", "c": "https://example.com"}]


def test_what_excel_cannot_hold_is_text(file: Path) -> None:
    given = {"big": 10**16, "nan": float("nan"), "inf": float("inf"), "old": date(1899, 1, 1)}
    Table.from_rows([given]).to_xlsx(file)
    assert list(rows(file)) == [
        {"big": str(10**16), "nan": "nan", "inf": "inf", "old": "1899-01-01"}
    ]


def test_too_many_rows_are_refused_before_anything_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsxwrite_module, "MOST_ROWS", 2)
    with pytest.raises(InputError, match="more than an Excel sheet holds"):
        Table.from_rows([{"a": 1}] * 3).to_xlsx(file)
    assert not file.exists()


def test_the_longest_text_excel_takes_is_taken(file: Path) -> None:
    Table.from_rows([{"a": "😀" * 16_383}]).to_xlsx(file)
    assert list(rows(file)) == [{"a": "😀" * 16_383}]
    with pytest.raises(InputError, match="row 1, column 'a'"):
        Table.from_rows([{"a": "😀" * 16_384}]).to_xlsx(file)
