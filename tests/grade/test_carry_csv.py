"""csv and tsv, carried: the user's bytes as they were."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.grade.carry import Staged, Unreadable, stage, write
from penstock.grade.carry import csv as carry_csv
from penstock.tables import rows

_quick = settings(deadline=None, max_examples=300)
_NAMES = ["score", "reason"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    assert not list((tmp_path / "out").glob(".*")), "a draft was left behind"


def _staged(folder: Path, body: bytes, name: str = "a.csv", **options: Any) -> Staged:
    (folder / name).write_bytes(body)
    staged = stage(folder / name, folder / "stage", **options)
    assert isinstance(staged, Staged), staged
    return staged


def _added(staged: Staged) -> Iterator[dict[str, str]]:
    for number in range(len(staged)):
        yield {"score": f"s{number}", "reason": f"r{number}"}


def _graded(folder: Path, body: bytes, **options: Any) -> bytes:
    staged = _staged(folder, body, **options)
    return write(staged, _added(staged), _NAMES, folder / "out" / "a.csv").path.read_bytes()


@pytest.mark.parametrize(
    ("given_bytes", "expected"),
    [
        (b"a,b\n1,2\n", b"a,b,score,reason\n1,2,s0,r0\n"),
        (b"a,b\r\n1,2\r\n3,4\r\n", b"a,b,score,reason\r\n1,2,s0,r0\r\n3,4,s1,r1\r\n"),
        (b"a,b\r1,2\r", b"a,b,score,reason\r1,2,s0,r0\r"),
        (b"a,b\n1,2", b"a,b,score,reason\n1,2,s0,r0"),
        (b"\n\na,b\n\n1,2\n\n\n3,4\n\n", b"\n\na,b,score,reason\n\n1,2,s0,r0\n\n\n3,4,s1,r1\n\n"),
        (b"\xef\xbb\xbfa;b\n007;1e5\n", b"\xef\xbb\xbfa;b;score;reason\n007;1e5;s0;r0\n"),
        (b'a,b\n"x\r\ny, ""z""",\n', b'a,b,score,reason\n"x\r\ny, ""z""",,s0,r0\n'),
        (b'a,b\n"1" , 2 \n', b'a,b,score,reason\n"1" , 2 ,s0,r0\n'),
        (b"a,b\n=1+1,-5\n", b"a,b,score,reason\n=1+1,-5,s0,r0\n"),
        (b"a\n\"\"\n''\n", b"a,score,reason\n\"\",s0,r0\n'',s1,r1\n"),
        (b"a|b\n2024-01-31|\n", b"a|b|score|reason\n2024-01-31||s0|r0\n"),
        (b"a,b\n", b"a,b,score,reason\n"),
        (b"a,b", b"a,b,score,reason"),
        (b'a,b\n1,x"y"z\n', b'a,b,score,reason\n1,x"y"z,s0,r0\n'),
    ],
)
def test_every_byte_of_the_user_is_where_it_was(
    place: Path, given_bytes: bytes, expected: bytes
) -> None:
    assert _graded(place, given_bytes) == expected


def test_a_tsv_is_cut_at_tabs_whatever_else_is_in_it(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b"a;b\tc\n1;2\t3\n", "a.tsv")
    assert staged.columns == ["a;b", "c"]
    out = write(staged, _added(staged), _NAMES, tmp_path / "out.tsv").path
    assert out.read_bytes() == b"a;b\tc\tscore\treason\n1;2\t3\ts0\tr0\n"


def test_a_packed_file_is_read_and_its_output_is_not_packed(tmp_path: Path) -> None:
    staged = _staged(tmp_path, gzip.compress(b"a,b\n1,2\n"), "a.csv.gz")
    out = write(staged, _added(staged), _NAMES, tmp_path / "out.csv").path
    assert out.read_bytes() == b"a,b,score,reason\n1,2,s0,r0\n"
    with pytest.raises(InputError, match="gzip"):
        write(staged, _added(staged), _NAMES, tmp_path / "out.csv.gz")


def test_what_is_added_is_harmless_in_a_spreadsheet_and_what_was_there_is_not_touched(
    tmp_path: Path,
) -> None:
    staged = _staged(tmp_path, b"a;b\n=cmd();@x\n")
    added = [{"score": "=HYPERLINK(1)", "reason": 'two\nlines; "and" more'}]
    out = write(staged, added, _NAMES, tmp_path / "out.csv").path
    assert out.read_bytes() == (
        b'a;b;score;reason\n=cmd();@x;\'=HYPERLINK(1);"two\nlines; ""and"" more"\n'
    )
    read = next(iter(rows(out)))
    assert read == {"a": "=cmd()", "b": "@x"} | added[0]


def test_values_of_all_kinds_are_spelled_as_tables_spell_them(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b"a\n1\n")
    values = {"a": None, "b": -1.5, "c": True, "d": ["x", 1], "e": "–", "f": 3}
    out = write(staged, [values], list(values), tmp_path / "out.csv")
    assert out.path.read_text() == 'a,a_2,b,c,d,e,f\n1,,-1.5,true,"[""x"", 1]",–,3\n'


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("latin-1", b""),
        ("cp1252", b""),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-16-le", b""),
        ("utf-32-le", b"\xff\xfe\x00\x00"),
        ("shift_jis", b""),
        ("utf-8", b"\xef\xbb\xbf"),
    ],
)
def test_an_encoding_is_kept_where_what_is_added_fits(
    tmp_path: Path, encoding: str, mark: bytes
) -> None:
    word = "日本" if encoding == "shift_jis" else "Größe"
    body = mark + f"id,text\r\n007,{word}\r\n".encode(encoding)
    given_encoding = encoding if encoding == "shift_jis" else None
    staged = _staged(tmp_path, body, encoding=given_encoding)
    assert list(staged.rows()) == [{"id": "007", "text": word}]
    out = write(staged, [{"reason": word}], ["reason"], tmp_path / "out.csv")
    expected = f"id,text,reason\r\n007,{word},{word}\r\n"
    assert out.path.read_bytes() == mark + expected.encode(encoding)
    assert out.notes == ()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis"])
def test_a_file_becomes_utf_8_where_what_is_added_does_not_fit_and_it_is_said(
    tmp_path: Path, encoding: str
) -> None:
    word = "日本" if encoding == "shift_jis" else "Größe"
    lines = "".join(f"{number},{word}\r\n" for number in range(3000))
    staged = _staged(tmp_path, f"id,text\r\n{lines}".encode(encoding), encoding=encoding)
    added = ({"reason": "ясно" if number == 2500 else word} for number in range(3000))
    if encoding == "shift_jis":
        added = ({"reason": "😀" if number == 2500 else word} for number in range(3000))
    out = write(staged, added, ["reason"], tmp_path / "out.csv")
    assert "UTF-8" in out.notes[0]
    text = out.path.read_bytes().decode("utf-8")
    assert text.startswith(f"id,text,reason\r\n0,{word},{word}\r\n")
    assert text.count(f",{word},{word}\r\n") == 2999
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_byte_that_no_encoding_knows_survives_the_change_to_utf_8(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b"a\nx\x81\n\xe9\n", encoding="cp1252")
    assert staged.problem(0) == "the byte 0x81 is not cp1252"
    out = write(staged, [{"r": "1"}, {"r": "ж"}], ["r"], tmp_path / "out.csv").path
    assert out.read_bytes().decode() == "a,r\nx\x81,1\né,ж\n"


def test_names_that_collide_get_a_number(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b"score,status,score_2\n1,2,3\n")
    out = write(staged, [{"score": 9, "status": "ok"}], ["score", "status"], tmp_path / "o.csv")
    assert out.names == {"score": "score_3", "status": "status_2"}
    assert out.path.read_bytes() == b"score,status,score_2,score_3,status_2\n1,2,3,9,ok\n"


def test_double_and_empty_names_pass_through_and_get_names_for_prompts(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'a,a,," "\n1,2,3,4\n')
    assert staged.columns == ["a", "a_2", "column_3", "column_4"]
    assert len(staged.notes) == 3
    assert staged.problems == []
    out = write(staged, [{"a_2": "x"}], ["a_2"], tmp_path / "o.csv").path
    assert out.read_bytes() == b'a,a,," ",a_2_2\n1,2,3,4,x\n'


def test_three_hundred_columns(tmp_path: Path) -> None:
    header = ",".join(f"c{number}" for number in range(300))
    line = ",".join(f'"{number}"' for number in range(300))
    staged = _staged(tmp_path, f"{header}\n{line}\n".encode())
    assert next(staged.rows())["c299"] == "299"
    out = write(staged, [{"s": 1}], ["s"], tmp_path / "o.csv").path
    assert out.read_bytes() == f"{header},s\n{line},1\n".encode()


def test_ragged_lines_are_named_kept_and_hold_what_is_added_in_its_columns(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'a,b\n1\n1,2\n1,"2,3",4,5\n9,9\n')
    assert staged.problems == [(2, "1 cells instead of 2"), (4, "4 cells instead of 2")]
    assert [staged.problem(number) for number in range(4)] == [
        "1 cells instead of 2",
        None,
        "4 cells instead of 2",
        None,
    ]
    assert list(staged.rows()) == [
        {"a": "1", "b": None},
        {"a": "1", "b": "2"},
        {"a": "1", "b": "2,3", "extra_cells": ["4", "5"]},
        {"a": "9", "b": "9"},
    ]
    out = write(staged, _added(staged), _NAMES, tmp_path / "out.csv").path
    assert out.read_bytes() == (
        b'a,b,score,reason\n1,,s0,r0\n1,2,s1,r1\n1,"2,3",s2,r2,4,5\n9,9,s3,r3\n'
    )


def test_a_quote_that_is_never_closed_takes_only_its_own_line(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'a,b\n1,2\n3,"4\n5,6\n7,8')
    assert staged.problems == [(3, "its quote is never closed")]
    assert [row["a"] for row in staged.rows()] == ["1", "3", "5", "7"]
    assert staged.problem(1) == "its quote is never closed"
    out = write(staged, _added(staged), _NAMES, tmp_path / "out.csv").path
    assert out.read_bytes() == (b'a,b,score,reason\n1,2,s0,r0\n3,"4",s1,r1\n5,6,s2,r2\n7,8,s3,r3')


def test_many_quotes_that_are_never_closed_do_not_take_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_csv, "_MOST_AGAIN", 100)
    staged = _staged(tmp_path, b"a,b\n" + b'"x' * 50 + b'1,"\n' + b"1,2\n" * 100)
    assert len(staged) == 1
    assert staged.problems.total == 1


def test_a_line_in_another_encoding_is_named_and_kept_as_it_is(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b"a,b\n\xc3\xa9,1\n\xe9,2\n", encoding="utf-8")
    assert staged.problems == [(3, "the byte 0xe9 is not utf-8")]
    assert list(staged.rows(1)) == [{"a": "�", "b": "2"}]
    out = write(staged, _added(staged), _NAMES, tmp_path / "out.csv").path
    assert out.read_bytes() == b"a,b,score,reason\n\xc3\xa9,1,s0,r0\n\xe9,2,s1,r1\n"


def test_the_number_of_a_broken_line_counts_all_lines_before_it(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'\na,b\n"1\n2",3\n\n\nbad\n4,"5\n6\n')
    assert [problem.line for problem in staged.problems] == [7, 8, 9]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "is empty"),
        (b"\n\r\n\n", "has no header"),
        (b"\xef\xbb\xbf", "has no header"),
        (b'a,"b\n1,2\n', "line 1, the header: its quote is never closed"),
        (b"PK\x03\x04\x00\x00", "looks like xlsx"),
        (b"\xff\xfea", "is not utf-16-le"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_value(tmp_path: Path, body: bytes, reason: str) -> None:
    (tmp_path / "a.csv").write_bytes(body)
    found = stage(tmp_path / "a.csv", tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert reason in found.reason
    assert "a.csv" in found.reason


def test_a_line_without_end_is_refused_and_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_csv, "LONGEST", 1000)
    (tmp_path / "a.csv").write_bytes(b"a\n1\n" + b"x" * 5000)
    found = stage(tmp_path / "a.csv", tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert "line 3 is longer" in found.reason


_pieces = st.sampled_from([*'ab10,;"\n\r\t|', '""', "\r\n", ',"', '",', "é", "'=", "=", " ", "00"])
_bodies = st.lists(_pieces, min_size=1, max_size=40).map("".join)


@_quick
@given(_bodies, st.sampled_from(["utf-8", "cp1252", "utf-16-le"]))
@example('a\n"b', "utf-8")
@example('a,b\n1,2,"3\n4"\n', "utf-8")
def test_any_text_is_read_as_tables_read_it_and_comes_out_with_cells_behind_its_own(
    text: str, encoding: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "a.csv"
        path.write_bytes(text.encode(encoding))
        staged = stage(path, folder / "stage", encoding=encoding)
        if isinstance(staged, Unreadable):
            assert _has_no_header(path, encoding), staged
            return
        delimiter = staged.facts["delimiter"]
        count = len(staged)
        out = write(staged, _added(staged), _NAMES, folder / "out.csv").path
        again = rows(out, bad_lines="keep", encoding=encoding, delimiter=delimiter)
        assert again.column_names is not None
        score, reason = again.column_names[-2:]
        expected = [
            row | {score: f"s{number}", reason: f"r{number}"}
            for number, row in enumerate(staged.rows())
        ]
        assert _without_gaps(list(again)) == _without_gaps(expected)
        if any("never closed" in problem.reason for problem in staged.problems):
            return
        there = rows(path, bad_lines="keep", encoding=encoding, delimiter=delimiter)
        assert list(staged.rows()) == list(there)
        assert rows(path, encoding=encoding, bad_lines="keep").column_names == staged.columns
        if not staged.problems:
            body = out.read_bytes().decode(encoding)
            header = f"{delimiter}score{delimiter}reason"
            title = header if score == "score" and reason == "reason" else None
            if title is not None:
                body = body.replace(title, "", 1)
                for number in range(count):
                    body = body.replace(f"{delimiter}s{number}{delimiter}r{number}", "", 1)
                assert body == text


def _without_gaps(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A short row was filled: what was missing is empty now."""
    return [{name: value or "" for name, value in row.items()} for row in found]


def _has_no_header(path: Path, encoding: str) -> bool:
    try:
        rows(path, encoding=encoding)
    except InputError:
        return True
    return False


_cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@_quick
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(_cells, min_size=width, max_size=width), min_size=2, max_size=6
        )
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(",;\t|"),
    st.booleans(),
)
def test_without_what_was_added_every_line_has_its_own_bytes(
    table: list[list[str]], end: str, quoting: Any, delimiter: str, last: bool
) -> None:
    if quoting == csv.QUOTE_MINIMAL:  # which leaves some line breaks as they are
        table = [[cell.translate({10: " ", 13: " "}) for cell in line] for line in table]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(table)
    whole = text.getvalue() if last else text.getvalue().removesuffix(end)
    added = "\U0001f7e0"
    if added in whole or not whole.strip("\r\n"):
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.csv").write_bytes(whole.encode())
        options = {"delimiter": delimiter, "encoding": "utf-8"}
        staged = stage(folder / "a.csv", folder / "stage", **options)
        assert isinstance(staged, Staged)
        values = [{added: added} for _ in range(len(staged))]
        out = write(staged, values, [added], folder / "out.csv").path
        body = out.read_bytes().decode()
        assert body.replace(f"{delimiter}{added}", "") == whole
        assert body.count(added) == len(staged) + 1
        records = list(csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter))
        assert len(staged) == len([record for record in records if record]) - 1
