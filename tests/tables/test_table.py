"""A table: looking things up, showing itself, saving."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import InputError, NotFoundError
from penstock.tables import FORMATS, Table, TableWriter, rows
from tests.tables.values import listing


@pytest.fixture(params=["memory", "disk"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    made = [{"n": n, "word": f"w{n}"} for n in range(10)]
    if request.param == "memory":
        return Table.from_rows(made)
    writer = TableWriter(tmp_path / "t.arrow", block=3)
    for row in made:
        writer.add(row["n"], [row])  # type: ignore[arg-type]
    return writer.close()


def test_rows_columns_and_slices(table: Table) -> None:
    assert len(table) == 10
    assert table.column_names == ["n", "word"]
    assert [row["n"] for row in table] == list(range(10)) == table["n"]
    assert table[3] == {"n": 3, "word": "w3"} == table[-7]
    assert table[2:5]["n"] == [2, 3, 4]
    assert table[8:99]["n"] == [8, 9]
    assert table[::-4]["n"] == [9, 5, 1]
    assert len(table[5:2]) == 0
    assert table.head(2).to_list() == [{"n": 0, "word": "w0"}, {"n": 1, "word": "w1"}]
    assert [len(block) for block in table.blocks(4)][:1] <= [4]
    assert str(table.schema.field("n").type) == "int64"


def test_what_is_not_there_is_named(table: Table) -> None:
    with pytest.raises(IndexError, match="row 10 of a table of 10"):
        table[10]
    with pytest.raises(KeyError, match="the columns are n, word"):
        table["none"]


def test_failures_are_an_empty_table_until_there_are_some(table: Table) -> None:
    assert len(table.failures) == 0
    assert table.run is None
    table.failures = Table.from_rows([{"row": 1}])
    table.run = "a run"
    assert len(table.failures) == 1
    assert table[:3].run == "a run"


def test_it_shows_itself_as_a_small_table() -> None:
    shown = repr(Table.from_rows([{"a": 1, "long": "x" * 100, "宽": "日本"}, {"a": 22}]))
    lines = shown.splitlines()
    assert lines[0].split() == ["a", "long", "宽"]
    assert "x" * 39 + "…" in lines[2]
    assert "x" * 41 not in shown
    assert lines[-1] == "2 rows, 3 columns"
    assert repr(Table.from_rows([])) == "0 rows, 0 columns"
    wide = Table.from_rows([{f"column {i}": "x" * 30 for i in range(20)}])
    assert "not shown" in repr(wide)
    assert max(map(len, repr(wide).splitlines())) <= 130


def test_nothing_in_a_cell_is_obeyed_when_it_is_shown() -> None:
    hostile = {"<b>\x1b[2J": "<script>alert(1)</script>\x1b]0;x\x07\u202e\nnext"}
    table = Table.from_rows([hostile])
    assert "\x1b" not in repr(table)
    assert "\u202e" not in repr(table)
    assert len(repr(table).splitlines()) == 4
    page = table._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("form", FORMATS)
def test_it_is_saved_by_suffix_and_opened_again(table: Table, tmp_path: Path, form: str) -> None:
    path = table.save(tmp_path / "out" / f"saved.{form}")
    opened = Table.open(path)
    assert opened["word"] == table["word"]
    assert [int(value) for value in opened["n"]] == table["n"]
    assert listing(path.parent) == [path.name]


def test_a_format_may_be_given_and_an_unknown_one_is_refused(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "data.txt", format="jsonl")
    assert len(list(rows(tmp_path / "data.txt", format="jsonl"))) == 10
    with pytest.raises(InputError, match="'txt' is no format"):
        table.save(tmp_path / "data.txt")
    with pytest.raises(InputError, match="gzip"):
        table.save(tmp_path / "data.csv.gz")
    for method in ("csv", "json", "jsonl", "parquet", "xlsx"):
        assert getattr(table, f"to_{method}")(tmp_path / f"by.{method}").exists()


def test_a_file_is_overwritten_only_when_that_is_wanted(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("mine\n")
    path.chmod(0o640)
    with pytest.raises(InputError, match="already there"):
        table.save(path, overwrite=False)
    assert path.read_text() == "mine\n"
    table.save(path)
    assert path.read_text() != "mine\n"
    assert path.stat().st_mode & 0o777 == 0o640
    table.save(tmp_path / "new.csv", overwrite=False)
    with pytest.raises(InputError, match="is a folder"):
        table.save(tmp_path, format="csv")


def test_a_link_is_followed_not_replaced(table: Table, tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    table.to_csv(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("n,word")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match=r"row 1, column 'a': 32,768 characters"):
        Table.from_rows([{"a": "x" * 32_768}]).to_xlsx(path)
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["t.xlsx"]


def test_opening_what_is_not_there_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Table.open(tmp_path / "none.arrow")
    path = Table.from_rows([{"a": "x" * 1000}] * 50).save(tmp_path / "t.arrow")
    path.write_bytes(path.read_bytes()[:-3000])
    with pytest.raises(InputError, match="damaged"):
        Table.open(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        Table.open(path)


def test_a_table_of_arrow_with_a_name_twice_can_be_used() -> None:
    import pyarrow as pa

    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert Table(twice).to_list() == [{"a": 1, "a_2": 2}]
