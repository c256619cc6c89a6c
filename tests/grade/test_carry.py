"""Staging and writing, whatever the format."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import DamagedError, InputError, NotFoundError, PenstockError
from penstock.grade.carry import Staged, Unreadable, free_names, restored, stage, write
from penstock.grade.files import Input
from penstock.tables import Table, rows

_FORMS = ["csv", "tsv", "json", "jsonl", "parquet", "arrow", "feather", "xlsx"]
_ROWS = [
    {"id": f"{number:04d}", "text": f'"text" {number},\nline two ü', "n": number}
    for number in range(3000)
]


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.from_rows(_ROWS)


def _staged(path: Path, folder: Path) -> Staged:
    staged = stage(path, folder)
    assert isinstance(staged, Staged), staged
    return staged


def _added(count: int) -> Iterator[dict[str, Any]]:
    return ({"score": number, "reason": f"r{number}"} for number in range(count))


@pytest.mark.parametrize("form", _FORMS)
def test_rows_are_read_from_any_place(tmp_path: Path, table: Table, form: str) -> None:
    path = table.save(tmp_path / f"a.{form}")
    staged = _staged(path, tmp_path / "stage")
    whole = list(rows(path))
    assert len(staged) == 3000
    assert staged.columns == ["id", "text", "n"]
    assert (staged.path, staged.format) == (path, form)
    for start, stop in ((0, 3), (1020, 1030), (2999, 3000), (2998, 9000), (5, 5), (7, 2)):
        assert list(staged.rows(start, stop)) == whole[start:stop]
    assert list(staged.rows()) == whole
    assert [staged.problem(number) for number in (0, 2999)] == [None, None]


@pytest.mark.parametrize("form", _FORMS)
def test_what_the_user_does_to_a_file_meanwhile_does_not_reach_the_output(
    tmp_path: Path, table: Table, form: str
) -> None:
    path = table.save(tmp_path / f"a.{form}")
    before = list(rows(path))
    _staged(path, tmp_path / "stage")
    path.write_bytes(b"spoilt")
    staged = restored(tmp_path / "stage")
    out = write(staged, _added(3000), ["score", "reason"], tmp_path / f"out.{form}").path
    after = list(rows(out))
    assert [{name: row[name] for name in before[0]} for row in after] == before
    assert [str(row["score"]) for row in after] == [str(number) for number in range(3000)]


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("other", ["csv", "jsonl", "parquet", "xlsx"])
def test_another_format_has_the_same_rows(
    tmp_path: Path, table: Table, form: str, other: str
) -> None:
    path = table[:20].save(tmp_path / f"a.{form}")
    staged = _staged(path, tmp_path / "stage")
    out = write(staged, _added(20), ["n", "score", "reason"], tmp_path / "out", other)
    read = list(rows(out.path, format=other))
    assert list(read[0]) == ["id", "text", "n", "n_2", "score", "reason"]
    assert [(row["id"], row["text"]) for row in read] == [
        (row["id"], row["text"]) for row in _ROWS[:20]
    ]
    assert [row["reason"] for row in read] == [f"r{number}" for number in range(20)]


def test_broken_rows_are_kept_in_another_format_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\nnonsense\n')
    staged = _staged(tmp_path / "a.jsonl", tmp_path / "stage")
    out = write(staged, [{"status": "ok"}, {"status": "error"}], ["status"], tmp_path / "o.csv")
    assert list(rows(out.path)) == [
        {"a": "1", "status": "ok", "bad_line": ""},
        {"a": "", "status": "error", "bad_line": "nonsense"},
    ]


def test_a_file_without_rows_keeps_its_columns_in_another_format(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")
    out = write(staged, [], ["s"], tmp_path / "o.parquet").path
    assert rows(out).column_names == ["a", "b", "s"]


def test_nothing_is_replaced_unless_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")
    for form in ("csv", "jsonl"):
        out = tmp_path / f"out.{form}"
        out.write_text("mine")
        with pytest.raises(InputError, match="already there"):
            write(staged, [{"s": 1}], ["s"], out)
        assert out.read_text() == "mine"
        write(staged, [{"s": 1}], ["s"], out, overwrite=True)
        assert len(list(rows(out))) == 1


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet", "xlsx"])
@pytest.mark.parametrize("count", [0, 2, 4])
def test_too_few_or_too_many_rows_write_nothing(
    tmp_path: Path, table: Table, form: str, count: int
) -> None:
    staged = _staged(table[:3].save(tmp_path / f"a.{form}"), tmp_path / "stage")
    for other in (form, "tsv"):
        with pytest.raises(PenstockError, match="rows were added to"):
            write(staged, _added(count), ["score", "reason"], tmp_path / "out" / f"o.{other}")
        assert not list((tmp_path / "out").glob("*"))


def test_an_error_while_rows_come_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")

    def failing() -> Iterator[dict[str, int]]:
        yield {"s": 1}
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write(staged, failing(), ["s"], tmp_path / "out" / "o.csv")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_column_that_was_not_announced_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")
    with pytest.raises(PenstockError, match="announced for extra"):
        write(staged, [{"s": 1, "extra": 2}], ["s"], tmp_path / "o.csv")


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")
    with pytest.raises(InputError, match="'docx' is no format"):
        write(staged, [{"s": 1}], ["s"], tmp_path / "o", "docx")
    out = write(staged, [{"s": 1}], ["s"], tmp_path / "o.graded").path
    assert out.read_text() == "a,s\n1,1\n"
    found = stage(tmp_path / "a.csv", tmp_path / "stage2", format="docx")
    assert isinstance(found, Unreadable)


def test_a_missing_file_or_column_is_a_value(tmp_path: Path) -> None:
    found = stage(tmp_path / "none.csv", tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert "there is no file" in found.reason
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    found = stage(Input(tmp_path / "a.csv", "csv", "a.csv"), tmp_path / "stage", needs=["text"])
    assert isinstance(found, Unreadable)
    assert "has no column 'text'" in found.reason
    assert list((tmp_path / "stage").iterdir()) == []
    with pytest.raises(NotFoundError, match="no file was staged"):
        restored(tmp_path / "stage")


def test_a_stage_is_for_its_owner_alone_and_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    folder = tmp_path / "runs" / "stage"
    _staged(tmp_path / "a.csv", folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n')
    staged = _staged(tmp_path / "b.jsonl", folder)
    assert list(staged.rows()) == [{"x": 1}]
    staged.remove()
    assert not folder.exists()


def test_a_damaged_stage_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    staged = _staged(tmp_path / "a.csv", tmp_path / "stage")
    index = tmp_path / "stage" / "index"
    index.write_bytes(index.read_bytes()[:20])
    with pytest.raises(DamagedError, match="index is cut short"):
        list(staged.rows())
    manifest = tmp_path / "stage" / "stage.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"count": "many"}))
    with pytest.raises(DamagedError, match=r"stage\.json is damaged"):
        restored(tmp_path / "stage")


def test_free_names_avoid_what_is_taken_and_each_other() -> None:
    assert free_names(["a"], ["b", "c"]) == ["b", "c"]
    assert free_names(["a", "a_2"], ["a", "a_3"]) == ["a_4", "a_3"]
    assert free_names([], ["a", "a_2"]) == ["a", "a_2"]
    with pytest.raises(PenstockError, match="given twice"):
        free_names([], ["a", "a"])


@pytest.mark.parametrize("form", _FORMS)
def test_a_file_with_a_byte_changed_is_staged_or_a_value(
    tmp_path: Path, table: Table, form: str
) -> None:
    whole = table[:40].save(tmp_path / f"whole.{form}").read_bytes()
    path = tmp_path / f"changed.{form}"
    seen = set()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        staged = stage(path, tmp_path / "stage", encoding=_ENCODINGS.get(form))
        seen.add(type(staged))
        if isinstance(staged, Unreadable):
            assert path.name in staged.reason
            continue
        out = tmp_path / f"out.{form}"
        write(staged, _added(len(staged)), ["score", "reason"], out, overwrite=True)
        again = stage(out, tmp_path / "again", encoding=_ENCODINGS.get(form))
        assert isinstance(again, Staged)
        assert len(again) == len(staged)
    assert Staged in seen


_ENCODINGS = dict.fromkeys(("csv", "tsv", "json", "jsonl"), "utf-8")
