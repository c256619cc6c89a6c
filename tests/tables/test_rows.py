"""`rows` reads what is in memory, as a stream, and says what is wrong with which row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pytest

from penstock import plugins
from penstock.errors import InputError, NotFoundError
from penstock.tables import ReadOptions, RowSource, Table, rows


def test_a_list_of_dicts_is_handed_on_and_can_be_read_again() -> None:
    given = [{"a": 1}, {"a": 2}]
    source = rows(given)
    assert list(source) == given == list(source)
    assert (source.count, source.repeatable, source.column_names) == (2, True, None)


def test_a_dict_of_lists_is_rows() -> None:
    source = rows({"a": [1, 2], "b": ("x", "y")})
    assert list(source) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert (source.count, source.column_names) == (2, ["a", "b"])


def test_columns_of_different_length_are_named() -> None:
    with pytest.raises(InputError, match="a has 2, b has 1"):
        rows({"a": [1, 2], "b": [1]})


def test_a_single_row_is_not_taken_for_columns() -> None:
    with pytest.raises(InputError, match=r"\[row\]"):
        rows({"question": "why?"})


def test_a_generator_is_streamed_and_never_held() -> None:
    made = []

    def endless() -> Iterator[dict[str, int]]:
        number = 0
        while True:
            made.append(number)
            yield {"n": number}
            number += 1

    reading = iter(rows(endless()))
    assert [next(reading)["n"] for _ in range(3)] == [0, 1, 2]
    assert len(made) <= 3, "no row is asked for before it is wanted"
    assert len(next(rows(endless()).blocks(100))) == 100


def test_a_generator_is_read_once() -> None:
    source = rows({"n": n} for n in range(3))
    assert not source.repeatable
    assert len(list(source)) == 3
    with pytest.raises(InputError, match="read already"):
        list(source)


def test_an_error_half_way_comes_after_the_rows_before_it_and_names_the_row() -> None:
    def broken() -> Iterator[dict[str, int]]:
        yield from ({"n": n} for n in range(2500))
        raise ZeroDivisionError("oh")

    got = []
    with pytest.raises(InputError, match="row 2501 could not be made: ZeroDivisionError: oh") as e:
        for block in rows(broken(), name="mine").blocks(1000):
            got += block
    assert len(got) == 2500
    assert isinstance(e.value.__cause__, ZeroDivisionError)


def test_what_is_no_row_is_named_by_number_unless_it_gets_a_key() -> None:
    got: list[Any] = []
    with pytest.raises(InputError, match="row 2 is a str, not a dict"):
        got.extend(rows([{"a": 1}, "text"]))
    assert got == [{"a": 1}]
    assert list(rows(["a", "b"], key="text")) == [{"text": "a"}, {"text": "b"}]
    assert list(rows(iter(["a"]), key="text")) == [{"text": "a"}]


def test_models_are_rows() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", a=(int, ...))
    assert list(rows([model(a=1)])) == [{"a": 1}]


def test_columns_are_chosen_in_the_order_asked_for() -> None:
    assert list(rows({"a": [1], "b": [2], "c": [3]}, columns=["c", "a"])) == [{"c": 3, "a": 1}]
    assert list(rows([{"a": 1}], columns=["b"])) == [{"b": None}]
    with pytest.raises(InputError, match="no column 'z'"):
        rows({"a": [1]}, columns=["z"])
    with pytest.raises(InputError, match="list of names"):
        rows({"a": [1]}, columns="a")


def test_what_holds_no_rows_is_refused() -> None:
    for nothing in (5, None, b"bytes"):
        with pytest.raises(InputError, match="holds no rows"):
            rows(nothing)
    with pytest.raises(InputError, match="encoding= is for files"):
        rows([{"a": 1}], encoding="utf-8")


def test_blocks_are_never_larger_than_asked_for(tmp_path: Path) -> None:
    table = Table.from_rows({"n": n} for n in range(5000))
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv")
    table.save(tmp_path / "t.arrow")
    for source in (table, table.to_arrow(), *tmp_path.iterdir()):
        blocks = list(rows(source).blocks(700))
        assert max(map(len, blocks)) <= 700
        assert sum(map(len, blocks)) == 5000
    with pytest.raises(InputError, match="too small"):
        rows(table).blocks(0)


def test_a_table_and_its_arrow_forms_give_the_same_rows() -> None:
    table = Table.from_rows([{"a": 1, "b": "x"}, {"a": None, "b": "y"}])
    arrow = table.to_arrow()
    wanted = table.to_list()
    forms: list[Any] = [table, arrow, arrow.to_batches()[0], pyarrow.dataset.dataset(arrow)]
    for form in forms:
        source = rows(form)
        assert list(source) == wanted == list(source)
        assert source.column_names == ["a", "b"]
        assert source.count == 2
    reader = rows(arrow.to_reader())
    assert list(reader) == wanted
    assert not reader.repeatable


def test_anything_that_speaks_arrow_streams_is_read() -> None:
    class Foreign:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert list(rows(Foreign())) == [{"a": 1}, {"a": 2}]


def test_arrow_values_come_plain_whatever_their_type() -> None:
    table = pa.table(
        {
            "nano": pa.array([1_000_001], pa.timestamp("ns")),
            "word": pa.array(["x"]).dictionary_encode(),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "inside": pa.array([{"t": 5}], pa.struct([("t", pa.duration("ns"))])),
            "list": pa.array([[7]], pa.large_list(pa.time64("ns"))),
        }
    )
    (row,) = rows(table)
    assert [type(value).__name__ for value in row.values()] == [
        *("datetime", "str", "dict", "dict", "list"),
    ]
    assert type(row["inside"]["t"]).__name__ == "timedelta"
    assert row["nano"].microsecond == 1000


def test_a_folder_is_refused_with_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"one\.csv"):
        rows(tmp_path)
    with pytest.raises(NotFoundError, match="no file"):
        rows(tmp_path / "two.csv")


def test_a_format_nobody_knows_is_refused_and_one_that_was_registered_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "data.lines"
    path.write_text("x\ny\n")
    with pytest.raises(InputError, match="no reader for 'lines'"):
        rows(path)

    def read(path: Path, options: ReadOptions) -> RowSource:
        return rows(path.read_text().split(), key="line")

    plugins.register("reader", "lines", read)
    try:
        assert list(rows(path)) == [{"line": "x"}, {"line": "y"}]
    finally:
        plugins.unregister("reader", "lines")


def test_options_that_the_format_does_not_know_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[]")
    with pytest.raises(InputError, match="sheet= is for xlsx, not for json"):
        rows(path, sheet=1)
    with pytest.raises(InputError, match="no option"):
        rows(path, colour="red")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="bad_lines"):
        rows(tmp_path / "a.json", format="jsonl", bad_lines="ignore")  # type: ignore[arg-type]
    (tmp_path / "nameless").write_text("a\n1\n")
    with pytest.raises(InputError, match="no suffix"):
        rows(tmp_path / "nameless")
    assert list(rows(tmp_path / "nameless", format="csv")) == [{"a": "1"}]


_LAZY = """
import sys
import penstock.tables as tables
heavy = {"pyarrow", "numpy", "pandas", "polars", "datasets", "msgspec", "orjson", "xlsxwriter"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
open("a.csv", "w").write("a\\n1\\n")
open("a.jsonl", "w").write('{"a": 1}\\n')
assert list(tables.rows("a.csv")) and list(tables.rows("a.jsonl"))
assert not {"pyarrow", "pandas", "polars", "datasets"} & set(sys.modules)
table = tables.Table.from_rows(tables.rows("a.csv"))
table.save("b.arrow"), table.save("b.parquet"), table.save("b.xlsx")
assert not {"polars", "datasets"} & set(sys.modules)
"""


def test_nothing_heavy_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _LAZY], check=True, cwd=tmp_path)
