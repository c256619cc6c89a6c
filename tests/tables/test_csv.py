"""csv: text as written, bad lines by number, formulas harmless and read back."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.tables import Problem, Table, rows
from penstock.tables import encodings as encodings_module
from penstock.tables.escape import escaped, is_formula, unescaped


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


def _read(path: Path, content: bytes | str, **options: object) -> list[dict[str, object]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(rows(path, **options))  # type: ignore[arg-type]


def test_values_are_the_text_that_stands_there(file: Path) -> None:
    content = 'a,b,c\n007,nan,2024-01-01\n 1 ,,"two\nlines, and ""quotes"""\n'
    assert _read(file, content) == [
        {"a": "007", "b": "nan", "c": "2024-01-01"},
        {"a": " 1 ", "b": "", "c": 'two\nlines, and "quotes"'},
    ]


def test_types_are_inferred_when_asked_for_and_only_where_every_cell_agrees(file: Path) -> None:
    content = (
        "i,f,b,zero,big,mixed\n1,0.5,true,007,9999999999999999999,1\n-2,1e3,False,1,1,x\n,,,,,"
    )
    got = _read(file, content, types="infer")
    assert got == [
        {"i": 1, "f": 0.5, "b": True, "zero": "007", "big": "9" * 19, "mixed": "1"},
        {"i": -2, "f": 1000.0, "b": False, "zero": "1", "big": "1", "mixed": "x"},
        {"i": None, "f": None, "b": None, "zero": "", "big": "", "mixed": ""},
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(file: Path, delimiter: str) -> None:
    content = f'name{delimiter}"a,b;c"{delimiter}z\nx, y; z{delimiter}1{delimiter}2\n'
    if delimiter in ",;":
        content = content.replace("x, y; z", '"x, y; z"')
    assert _read(file, content) == [{"name": "x, y; z", "a,b;c": "1", "z": "2"}]


def test_the_delimiter_may_be_given(file: Path) -> None:
    assert _read(file, "a#b\n1#2\n", delimiter="#") == [{"a": "1", "b": "2"}]
    with pytest.raises(InputError, match="one character"):
        _read(file, "a\n", delimiter="##")
    tsv = file.with_suffix(".tsv")
    assert _read(tsv, "a,b\tc\n1,2\t3\n") == [{"a,b": "1,2", "c": "3"}]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "größe\nmüde €\n"),
        ("utf-8-sig", "größe\nmüde €\n"),
        ("cp1252", "größe\nmüde €\n"),
        ("utf-16", "größe\nmüde €\n"),
        ("utf-16-le", "wort\nmüde €\n"),
        ("utf-16-be", "wort\nmüde €\n"),
        ("utf-32", "größe\nmüde €\n"),
    ],
)
def test_the_encoding_is_found(file: Path, encoding: str, text: str) -> None:
    header, value = text.split()[0], "müde €"
    assert _read(file, text.encode(encoding)) == [{header: value}]
    assert _read(file, text.encode(encoding), encoding=encoding) == [{header: value}]


def test_bytes_that_cp1252_lacks_are_read_as_latin_1(file: Path) -> None:
    assert _read(file, b"a\nx\x81\xe9\n") == [{"a": "x\x81é"}]


def test_an_encoding_nobody_knows_is_refused(file: Path) -> None:
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        _read(file, "a\n", encoding="klingon")


def test_a_ragged_line_is_named_by_number(file: Path) -> None:
    content = 'a,b\n1,2\n"x\ny",2\n3\n4,5,6\n7,8\n'
    with pytest.raises(InputError, match=r"a\.csv: line 5: 1 cells instead of 2"):
        _read(file, content)
    got: list[object] = []
    with pytest.raises(InputError):
        got.extend(rows(file))
    assert len(got) == 2, "the rows before it were delivered"


def test_bad_lines_are_skipped_or_kept_and_listed(file: Path) -> None:
    content = b'a,b\n1,2\n3\n4,5,6\nx\xff,y\xe4\n7,8\n"open,9\n'
    file.write_bytes(content)
    source = rows(file, bad_lines="skip", encoding="utf-8")
    assert [row["a"] for row in source] == ["1", "7"] == [row["a"] for row in source]
    assert source.problems == [
        Problem(3, "1 cells instead of 2"),
        Problem(4, "3 cells instead of 2"),
        Problem(5, "the byte 0xff is not utf-8-sig"),
        Problem(7, "its quote is never closed"),
    ]
    kept = list(rows(file, bad_lines="keep", encoding="utf-8"))
    assert kept == [
        {"a": "1", "b": "2"},
        {"a": "3", "b": None},
        {"a": "4", "b": "5", "extra_cells": ["6"]},
        {"a": "x�", "b": "y�"},
        {"a": "7", "b": "8"},
        {"a": "open,9\n", "b": None},
    ]


def test_the_list_of_problems_is_bounded(file: Path) -> None:
    file.write_text("a,b\n" + "1\n" * 5000)
    source = rows(file, bad_lines="skip")
    assert list(source) == []
    assert len(source.problems) == 1000
    assert source.problems.total == 5000


def test_a_byte_that_does_not_belong_far_down_is_named_not_guessed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings_module, "_SAMPLE", 10_000)
    content = b"a\n" + b"plain\n" * 5_000 + b"m\xfcde\n"
    file.write_bytes(content)
    with pytest.raises(InputError, match="line 5002: the byte 0xfc is not utf-8"):
        list(rows(file))
    assert sum(1 for _ in rows(file, encoding="cp1252")) == 5_001


def test_a_header_alone_is_no_rows_and_an_empty_file_is_an_error(file: Path) -> None:
    assert _read(file, "a,b\n") == []
    assert rows(file).column_names == ["a", "b"]
    for nothing in (b"", b"\n\n", b"\xef\xbb\xbf"):
        with pytest.raises(InputError, match="is empty"):
            _read(file, nothing)


def test_names_twice_or_blank_are_put_right_and_told(file: Path) -> None:
    file.write_text("a,a,,a_2,a\n1,2,3,4,5\n")
    source = rows(file)
    assert list(source) == [{"a": "1", "a_3": "2", "column_3": "3", "a_2": "4", "a_4": "5"}]
    assert [problem.line for problem in source.problems] == [1, 1, 1]


def test_nul_bytes_are_data(file: Path) -> None:
    assert _read(file, b"a,b\nx\x00y,\x00\n") == [{"a": "x\x00y", "b": "\x00"}]


def test_blank_lines_are_no_rows_but_an_empty_cell_alone_is_one(file: Path) -> None:
    assert _read(file, 'a\n\n1\n\n""\n\n') == [{"a": "1"}, {"a": ""}]
    table = Table.from_rows([{"a": ""}, {"a": None}, {"a": "x"}])
    assert list(rows(table.to_csv(file))) == [{"a": ""}, {"a": ""}, {"a": "x"}]


def test_old_and_foreign_line_ends_are_line_ends(file: Path) -> None:
    assert _read(file, b"a,b\r1,2\r3,4\r") == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert _read(file, b'a,b\r\n"x\r\ny",2\r\n') == [{"a": "x\r\ny", "b": "2"}]


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n"))
    assert list(rows(path)) == [{"a": "1"}]
    path.write_bytes(gzip.compress(b"a\n" + random.Random(1).randbytes(9000).hex().encode())[:-99])
    with pytest.raises(InputError, match="damaged"):
        list(rows(path))
    with pytest.raises(InputError, match="packed"):
        path.rename(tmp_path / "a.xlsx.gz")
        rows(tmp_path / "a.xlsx.gz")


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x", "- a"],
)
def test_what_a_spreadsheet_would_run_is_made_harmless(file: Path, text: str) -> None:
    Table.from_rows([{"a": text, text: "x"}]).to_csv(file)
    with file.open(newline="", encoding="utf-8") as stream:
        header, cells = list(csv.reader(stream))
    assert cells[0] == f"'{text}" == header[1]
    assert list(rows(file)) == [{"a": text, text: "x"}]
    assert next(iter(rows(file, unescape=False)))["a"] == f"'{text}"


@pytest.mark.parametrize(
    "text", ["-5", "+1.5", "-1,5", "-1.5e3", "-5%", "'quoted'", "", "a=b", "'"]
)
def test_plain_numbers_and_words_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text == unescaped(text)


@given(st.text("=+-@'\t\r\n＝－1.e%x", max_size=8))
def test_escaping_is_undone_exactly(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert not is_formula(text) or escaped(text).startswith("'")
    assert escaped(text)[:1] not in set("=@\t\r\n＝－")


def test_a_cell_with_a_foreign_delimiter_is_quoted(file: Path) -> None:
    Table.from_rows([{"a": "x;=cmd()", "b": "y|z"}]).to_csv(file)
    assert file.read_text() == 'a,b\n"x;=cmd()","y|z"\n'


def test_numbers_are_numbers_in_csv(file: Path) -> None:
    Table.from_rows([{"i": -5, "f": -0.5, "n": float("nan"), "b": True}]).to_csv(file)
    assert file.read_text() == "i,f,n,b\n-5,-0.5,nan,true\n"
