"""Workbooks, carried: new cells in one sheet, all else as it was."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from penstock.errors import InputError
from penstock.grade.carry import Staged, Unreadable, stage, write
from penstock.tables import Table, rows

_quick = settings(deadline=None, max_examples=60)
_STYLES = "xl/styles.xml"
_Cells = list[list[Any]]


def _staged(path: Path, **options: Any) -> Staged:
    staged = stage(path, path.parent / "stage", **options)
    assert isinstance(staged, Staged), staged
    return staged


def _book(path: Path, cells: dict[str, Any], **options: Any) -> Path:
    book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd hh:mm"} | options)
    page = book.add_worksheet("Data")
    bold = book.add_format({"bold": True})
    for place, value in cells.items():
        if value is None:
            page.write_blank(place, None, bold)
        else:
            page.write(place, value)
    book.close()
    return path


def _cells(path: Path, sheet: int = 0) -> _Cells:
    return list(CalamineWorkbook.from_path(str(path)).get_sheet_by_index(sheet).iter_rows())


def _part(path: Path, name: str = "xl/worksheets/sheet1.xml") -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode()


def _changed(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with one part changed."""
    new = path.with_name(f"changed-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w") as out:
        for part in old.infolist():
            body = old.read(part)
            out.writestr(part, change(body) if part.filename == name else body)
    return new


def test_cells_keep_their_types_and_new_ones_have_theirs(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    cells: dict[str, Any] = {
        "A1": "zip",
        "B1": "n",
        "C1": "when",
        "D1": "ok",
        "E1": "day",
        "F1": "score",
    }
    cells |= {"A2": "00501", "B2": 3, "C2": datetime(2024, 1, 31, 9), "D2": True, "F2": "x"}
    cells |= {"B3": 2.5, "C3": datetime(2024, 2, 1), "E3": date(2024, 1, 31)}
    staged = _staged(_book(path, cells))
    assert list(staged.rows()) == list(rows(path))
    assert [type(row["n"]) for row in staged.rows()] == [int, float]
    added: list[dict[str, Any]] = [
        {"score": 1.5, "reason": "=1+1", "ok?": True},
        {"score": None, "reason": "a <&> b"},
    ]
    out = write(staged, added, ["score", "reason", "ok?"], tmp_path / "out.xlsx")
    assert out.names["score"] == "score_2"
    before, after = _cells(path), _cells(out.path)
    assert [line[:6] for line in after] == before
    assert [line[6:] for line in after] == [
        ["score_2", "reason", "ok?"],
        [1.5, "=1+1", True],
        ["", "a <&> b", ""],
    ]
    sheet = _part(out.path)
    assert 'ref="A1:I3"' in sheet
    assert "<f>" not in sheet
    styles = re.search(r"<cellXfs count=\"([0-9]+)\">(.*?)</cellXfs>", _part(out.path, _STYLES))
    assert styles is not None
    each = re.findall("<xf .*?>", styles[2])
    assert int(styles[1]) == len(each)
    assert "quotePrefix" in each[-1]
    assert sheet.count(f' s="{len(each) - 1}"') == 1


def test_everything_else_in_the_workbook_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = xlsxwriter.Workbook(str(path))
    data, other = book.add_worksheet("Data"), book.add_worksheet("Other & more")
    data.write_row("A1", ["a", "b"])
    data.write_row("A2", [1, "x"])
    data.write_formula("A3", "=A2*2", book.add_format({"bold": True}), 2)
    data.set_column("A:A", 40)
    data.write_comment("B2", "a remark")
    data.freeze_panes(1, 0)
    other.write("C7", "kept")
    book.close()
    staged = _staged(path)
    assert staged.notes == ("only the sheet 'Data' is graded; 'Other & more' stay as they are",)
    out = write(staged, [{"s": 1}, {"s": 2}], ["s"], tmp_path / "out.xlsx").path
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out) as new:
        assert old.namelist() == new.namelist()
        for name in old.namelist():
            if name not in ("xl/worksheets/sheet1.xml", "xl/styles.xml"):
                assert old.read(name) == new.read(name), name
    before, after = _part(path), _part(out)
    bare = re.sub(r'<c r="C[123]".*?</c>', "", after).replace("A1:C3", "A1:B3")
    assert bare == re.sub(' spans="[0-9:]*"', "", before)
    assert "<f>A2*2</f>" in after


def test_another_sheet_is_graded_when_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = xlsxwriter.Workbook(str(path))
    book.add_worksheet("Cover").write("A1", "title")
    book.add_worksheet("Data").write_column("A1", ["a", 1, 2])
    book.close()
    for sheet in ("Data", 2):
        staged = _staged(path, sheet=sheet)
        assert [row["a"] for row in staged.rows()] == [1, 2]
        out = write(staged, [{"s": 1}, {"s": 2}], ["s"], tmp_path / "o.xlsx", overwrite=True).path
        assert _cells(out, 0) == [["title"]]
        assert _cells(out, 1) == [["a", "s"], [1, 1], [2, 2]]
    missing = stage(path, tmp_path / "s", sheet="Nope")
    assert isinstance(missing, Unreadable)
    assert "Cover, Data" in missing.remedy


def test_rows_that_the_sheet_leaves_away_are_made(tmp_path: Path) -> None:
    path = _book(tmp_path / "a.xlsx", {"C4": "a", "D4": "b", "C5": 1, "D8": 2})
    staged = _staged(path)
    assert len(staged) == 4
    out = write(staged, ({"s": n} for n in range(4)), ["s"], tmp_path / "out.xlsx").path
    assert _cells(out)[3:] == [
        ["a", "b", "s"],
        [1, "", 0],
        ["", "", 1],
        ["", "", 2],
        ["", 2, 3],
    ]
    numbers = [int(number) for number in re.findall(r'<row r="([0-9]+)"', _part(out))]
    assert numbers == [4, 5, 6, 7, 8]


def test_a_row_without_cells_is_opened(tmp_path: Path) -> None:
    path = _book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1, "A4": 2})
    path = _changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda body: body.replace(b'<row r="4"', b'<row r="3" ht="30" spans="1:1" /><row r="4"'),
    )
    out = write(_staged(path), ({"s": n} for n in range(3)), ["s"], tmp_path / "out.xlsx").path
    assert _cells(out) == [["a", "s"], [1, 0], ["", 1], [2, 2]]
    assert '<row r="3" ht="30"><c r="B3"><v>1</v></c></row>' in _part(out)


def test_cells_with_only_a_style_give_way_and_those_with_a_formula_do_not(tmp_path: Path) -> None:
    path = _book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1, "B2": None, "C2": None, "F2": None})
    path = _changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda body: re.sub(rb'(<c r="C2"[^>]*)/>', rb"\1></c >", body),
    )
    out = write(_staged(path), [{"s": 7, "t": "x"}], ["s", "t"], tmp_path / "out.xlsx").path
    assert _cells(out) == [["a", "s", "t"], [1, 7, "x"]]
    places = re.findall(r'<c r="([A-Z]+)2"', _part(out))
    assert places == ["A", "B", "C", "F"]
    path = _changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda body: re.sub(rb'<c r="C2"[^>]*></c >', b'<c r="C2"><f>A2*2</f></c>', body),
    )
    out = write(_staged(path), [{"s": 7}], ["s"], tmp_path / "out2.xlsx").path
    assert '<c r="C2"><f>A2*2</f></c><c r="D2"><v>7</v></c>' in _part(out)


def test_a_workbook_whose_elements_have_a_prefix(tmp_path: Path) -> None:
    path = _book(tmp_path / "a.xlsx", {"A1": "a", "A3": "ü"})

    def prefixed(body: bytes) -> bytes:
        body = re.sub(rb"<(/?)([a-zA-Z])", rb"<\1x:\2", body)
        return body.replace(b"xmlns=", b"xmlns:x=")

    path = _changed(path, "xl/worksheets/sheet1.xml", prefixed)
    out = write(_staged(path), [{"s": "é"}, {"s": 2}], ["s"], tmp_path / "out.xlsx").path
    assert _cells(out) == [["a", "s"], ["", "é"], ["ü", 2]]


def test_text_that_xml_cannot_hold_comes_back(tmp_path: Path) -> None:
    staged = _staged(_book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1, "A3": 2}))
    texts = ["\x08 _x0041_x0042_ \r\n \t x\x1f", " spaces  "]
    out = write(staged, [{"s": text} for text in texts], ["s"], tmp_path / "out.xlsx").path
    assert [row["s"] for row in rows(out)] == texts


def test_text_too_long_for_excel_is_cut_and_it_is_said(tmp_path: Path) -> None:
    staged = _staged(_book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1}))
    out = write(staged, [{"s": "😀" * 20_000}], ["s"], tmp_path / "out.xlsx")
    assert "1 texts were cut" in out.notes[0]
    text = next(iter(rows(out.path)))["s"]
    assert text == "😀" * 16_383 + "…"


def test_what_excel_has_no_number_for_is_text(tmp_path: Path) -> None:
    staged = _staged(_book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1}))
    values = {"nan": float("nan"), "big": 10**16, "list": [1, "x"], "n": -3}
    out = write(staged, [values], list(values), tmp_path / "out.xlsx").path
    assert _cells(out)[1][1:] == ["nan", str(10**16), '[1, "x"]', -3]


def test_too_many_columns_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    staged = _staged(_book(tmp_path / "a.xlsx", {"A1": "a", "XFC1": "b", "A2": 1}))
    write(staged, [{"s": 1}], ["s"], tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="16,385 columns"):
        write(staged, [{"s": 1}], ["s", "t"], tmp_path / "more.xlsx")
    assert not (tmp_path / "more.xlsx").exists()


@pytest.mark.parametrize("declared", ['<?xml version="1.0" encoding="UTF-16"?>', "<!DOCTYPE x>"])
def test_a_sheet_that_cannot_take_cells_is_named(tmp_path: Path, declared: str) -> None:
    path = _book(tmp_path / "a.xlsx", {"A1": "a", "A2": 1})
    staged = _staged(path)
    odd = _changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda body: re.sub(rb"<\?xml.*?\?>", declared.encode(), body),
    )
    (staged.folder / "original").write_bytes(odd.read_bytes())
    with pytest.raises(InputError, match=r"a\.xlsx: a part of the workbook") as raised:
        write(staged, [{"s": 1}], ["s"], tmp_path / "out.xlsx")
    assert "csv" in raised.value.remedy
    assert not (tmp_path / "out.xlsx").exists()


def test_a_locked_or_foreign_file_is_a_value_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)
    locked = stage(path, tmp_path / "stage")
    assert isinstance(locked, Unreadable)
    assert "without a password" in locked.remedy
    path.write_bytes(b"a,b\n1,2\n")
    foreign = stage(path, tmp_path / "stage")
    assert isinstance(foreign, Unreadable)
    assert "looks like text" in foreign.reason
    empty = stage(_book(tmp_path / "b.xlsx", {}), tmp_path / "stage")
    assert isinstance(empty, Unreadable)
    assert "'Data' is empty" in empty.reason


_xml_texts = st.text(max_size=10).map(lambda text: text.replace("\ufffe", "").replace("\uffff", ""))
_values = (
    st.none()
    | st.booleans()
    | st.integers(-(10**14), 10**14)
    | st.floats(-1e9, 1e9).filter(lambda number: not 0 < abs(number) < 1e-300)  # beyond Excel
    | _xml_texts
    | st.dates(date(1900, 3, 1))
)


@_quick
@given(
    st.lists(st.tuples(_values, _values, _xml_texts), min_size=1, max_size=6),
    st.lists(_values, min_size=6, max_size=6),
)
def test_any_sheet_comes_back_with_what_was_added(
    table: list[tuple[Any, ...]], new: list[Any]
) -> None:
    given_rows = [dict(zip("abc", line, strict=True)) | {"last": 1} for line in table]
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = Table.from_rows(given_rows).save(folder / "a.xlsx")
        staged = _staged(path)
        there = list(rows(path))
        assert list(staged.rows()) == there
        added = [{"new": value} for value in new[: len(there)]]
        out = write(staged, added, ["new"], folder / "out.xlsx").path
        got = list(rows(out))
        assert [{name: row[name] for name in there[0]} for row in got] == there
        expected = [str(value) if isinstance(value, date) else value for value in new]
        found = [row["new"] for row in got]
        assert found == [value if value != "" else None for value in expected[: len(found)]]
