"""Files made to harm: each is refused or read in bounded memory, and named."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from penstock.errors import InputError
from penstock.tables import Table, rows
from penstock.tables import xlsxread as xlsxread_module
from tests.tables.values import PEAK

_CONTENT_TYPES = "<Types/>"


@pytest.mark.parametrize(
    ("name", "content", "looks"),
    [
        ("a.parquet", b"a,b\n1,2\n", "text"),
        ("a.parquet", b'{"a": 1}', "JSON"),
        ("a.csv", b"PAR1\x15\x04\x00\x00", "parquet"),
        ("a.jsonl", b"PK\x03\x04\x00\x00", "xlsx"),
        ("a.json", b"ARROW1\x00\x00rest", "arrow"),
        ("a.arrow", b"PAR1", "parquet"),
        ("a.xlsx", b"a,b\n1,2\n", "text"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1", "an old or encrypted Excel"),
        ("a.csv", b"\n<!DOCTYPE html><html>", "an HTML page"),
        ("a.csv", b"%PDF-1.7", "a PDF"),
        ("a.csv", b"\x28\xb5\x2f\xfd\x00", "zstandard"),
        ("a.feather", b"\x00\x01\x02", "binary data"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(
    tmp_path: Path, name: str, content: bytes, looks: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"looks like {looks}"):
        rows(tmp_path / name)


def test_a_column_may_be_named_like_a_magic_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("PAR1,BZh\n1,2\n")
    assert list(rows(tmp_path / "a.csv")) == [{"PAR1": "1", "BZh": "2"}]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet", "a.arrow", "a.xlsx"])
def test_an_empty_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=rf"{name} is empty"):
        rows(tmp_path / name)


def test_an_array_under_the_name_of_lines_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('[{"a": 1}]')
    with pytest.raises(InputError, match="format='json'"):
        rows(tmp_path / "a.jsonl")


@pytest.mark.parametrize("form", ["parquet", "arrow", "feather", "xlsx"])
def test_a_file_cut_anywhere_never_does_more_than_raise(tmp_path: Path, form: str) -> None:
    table = Table.from_rows([{"n": n, "text": f"text {n}"} for n in range(2000)])
    whole = table.save(tmp_path / f"whole.{form}").read_bytes()
    path = tmp_path / f"cut.{form}"
    for part in range(1, 20):
        path.write_bytes(whole[: len(whole) * part // 20])
        got = []
        try:
            for block in rows(path).blocks(100):
                got += block
        except InputError as error:
            assert str(path) in str(error)
        assert got == [{"n": n, "text": f"text {n}"} for n in range(len(got))]


@pytest.mark.parametrize("form", ["parquet", "arrow", "feather", "xlsx"])
def test_a_file_with_a_byte_changed_never_does_more_than_raise(tmp_path: Path, form: str) -> None:
    whole = Table.from_rows([{"n": n} for n in range(50)]).save(tmp_path / f"w.{form}").read_bytes()
    path = tmp_path / f"changed.{form}"
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            list(rows(path))
        except InputError as error:
            assert str(path) in str(error)


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsxread_module, "LARGEST", 100 << 20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            for _ in range(110):
                part.write(b"\x00" * (1 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="unpacks to more than 100 MiB"):
        rows(path)


def test_a_zip_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "liar.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"\x00" * 5_000_000)
    body = path.read_bytes().replace((5_000_000).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    path.write_bytes(body)
    with pytest.raises(InputError, match="damaged"):
        rows(path)


def test_too_many_parts_in_a_zip_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsxread_module, "_MOST_PARTS", 5)
    path = Table.from_rows([{"a": 1}]).save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="unpacks to more"):
        rows(path)


def test_a_lone_cell_in_the_last_corner_does_not_fill_the_memory(tmp_path: Path) -> None:
    whole = Table.from_rows([{"a": 1}, {"a": 2}]).save(tmp_path / "a.xlsx")
    path = tmp_path / "sparse.xlsx"
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(path, "w") as out:
        for part in archive.infolist():
            body = archive.read(part)
            if part.filename.endswith("sheet1.xml"):
                body = body.replace(b'r="A3"', b'r="XFD1048576"').replace(b'r="3"', b'r="1048576"')
            out.writestr(part, body)
    with pytest.raises(InputError, match="1,048,576 x 16,384 cells"):
        rows(path)


_BOUNDED = f"""
{PEAK}
import sys
from pathlib import Path
from penstock.errors import InputError
from penstock.tables import rows
before = peak()
path = Path(sys.argv[1])
try:
    count = sum(1 for _ in rows(path, bad_lines=sys.argv[2]))
    print(count)
except InputError as error:
    print(error)
grown = peak() - before
assert grown < int(sys.argv[3]), grown
"""


def _bounded(path: Path, mode: str, mib: int) -> str:
    command = [sys.executable, "-c", _BOUNDED, str(path), mode, str(mib)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_single_endless_line_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "line.csv"
    with path.open("wb") as file:
        file.write(b"a\n1\n")
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\n2\n")
    assert "line 3: it is longer than 16 Mi characters" in _bounded(path, "error", 120)
    assert _bounded(path, "skip", 120).strip() == "2"
    lines = tmp_path / "line.jsonl"
    path.rename(lines)
    assert "line 1" in _bounded(lines, "error", 200)


def test_a_quote_that_never_ends_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "quote.csv"
    path.write_bytes(b'a,b\n1,"' + b"some words\n" * 5_000_000)
    assert "line 2: a cell is longer than 16 Mi characters" in _bounded(path, "error", 150)


def test_a_packed_bomb_is_read_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a\n")
        for _ in range(100):
            file.write(b"\x00" * (1 << 20))
    assert "longer than 16 Mi" in _bounded(path, "error", 150)
