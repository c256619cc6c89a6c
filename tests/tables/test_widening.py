"""Types are found, widened, and nothing that a row can hold is fatal."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.tables import Table, TableWriter
from penstock.tables.kinds import kind_of, merged
from penstock.tables.plain import plain
from penstock.tables.widening import MORE, MOST_COLUMNS
from tests.tables.values import any_rows, any_values, column_name, same


def _column(*values: Any) -> Table:
    return Table.from_rows([{"x": value} for value in values])


@settings(deadline=None, max_examples=250)
@given(any_rows)
def test_any_rows_become_a_table_and_come_back_by_the_rule(rows: list[dict[str, Any]]) -> None:
    table = Table.from_rows(rows)
    back = table.to_list()
    assert len(back) == len(rows)
    for given_row, got in zip(rows, back, strict=True):
        wanted = {column_name(name): plain(value) for name, value in given_row.items()}
        assert set(got) >= set(wanted)
        for name, value in got.items():
            assert same(wanted.get(name), value), (name, wanted.get(name), value)


@settings(deadline=None, max_examples=200)
@given(st.lists(any_values.map(plain), min_size=2, max_size=6), st.randoms())
def test_the_kind_of_a_column_does_not_depend_on_the_order(values: list[Any], rng: Any) -> None:
    try:
        whole = kind_of(values)
    except Exception:
        pytest.fail(f"not plain: {values!r}")
    mixed = list(values)
    rng.shuffle(mixed)
    step = kind_of(mixed[:1])
    for value in mixed[1:]:
        step = merged(step, kind_of([value]))
    assert _shape(step) == _shape(whole)


def _shape(kind: Any) -> Any:
    inside = sorted((name, _shape(of)) for name, of in kind.inside)
    return str((kind.name, inside, kind.scale))


@pytest.mark.parametrize(
    ("values", "type_", "back"),
    [
        ([1, 2.5], "double", [1.0, 2.5]),
        ([None, 3], "int64", [None, 3]),
        ([2**53 + 1, 0.5], "string", [str(2**53 + 1), "0.5"]),
        ([2**53 + 1, 1], "int64", [2**53 + 1, 1]),
        ([2**64, 1], "string", [str(2**64), "1"]),
        ([True, 1], "string", ["true", "1"]),
        ([1, "a", 2.0, None], "string", ["1", "a", "2", None]),
        ([date(2024, 1, 31), "x"], "string", ["2024-01-31", "x"]),
        ([b"hi", "x"], "string", ["aGk=", "x"]),
        ([Decimal("1.5"), Decimal("2.25")], "decimal128(38, 2)", [Decimal("1.5"), Decimal("2.25")]),
        ([Decimal("NaN")], "string", ["NaN"]),
        ([Decimal("1E+60")], "string", ["1E+60"]),
        ([[1], [2.5]], "list<item: double>", [[1.0], [2.5]]),
        ([[1], ["a"]], "string", [[1], ["a"]]),
        (
            [{"a": 1}, {"b": 2}],
            "struct<a: int64, b: int64>",
            [{"a": 1, "b": None}, {"a": None, "b": 2}],
        ),
        ([{"a": 1}, "text", [1]], "string", [{"a": 1}, "text", [1]]),
        ([{"a": 2**70}], "string", [{"a": 2**70}]),
        ([{}], "string", [{}]),
        (["half \ud83d"], "string", ["half �"]),
        ([uuid.UUID(int=1)], "string", [str(uuid.UUID(int=1))]),
        ([(1, 2)], "list<item: int64>", [[1, 2]]),
    ],
)
def test_each_mixture_has_its_rule(values: list[Any], type_: str, back: list[Any]) -> None:
    table = _column(*values)
    assert str(table.schema.field("x").type) == type_
    assert table["x"] == back


def test_moments_with_a_zone_keep_the_moment_in_utc() -> None:
    moment = datetime.fromisoformat("2024-01-31T09:00:00+02:00")
    back = _column(moment)["x"][0]
    assert back == moment
    assert back.utcoffset() == UTC.utcoffset(None)


def test_a_dict_of_ever_new_keys_becomes_json_instead_of_an_endless_type() -> None:
    table = _column(*[{f"key{i}": i} for i in range(500)])
    assert str(table.schema.field("x").type) == "string"
    assert same({"key7": 7}, table["x"][7])


def test_ever_new_columns_are_gathered_in_one() -> None:
    rows = [{"id": i, f"key{i}": i} for i in range(MOST_COLUMNS + 50)]
    table = Table.from_rows(rows)
    assert len(table.column_names) == MOST_COLUMNS + 1
    last = table[len(table) - 1]
    assert last["id"] == MOST_COLUMNS + 49
    assert last[MORE] == {f"key{MOST_COLUMNS + 49}": MOST_COLUMNS + 49}


def test_nesting_without_end_and_things_that_contain_themselves_are_cut() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    own: list[Any] = []
    own.append(own)
    own.append(own)
    table = _column(deep, own)
    assert "…" in str(table["x"][0])
    assert table["x"][1] == ["…", "…"]


def test_an_object_that_fails_when_looked_at_does_not_lose_its_row() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise ValueError("no")

    assert _column(Hostile(), Hostile())["x"] == ["<Hostile>", "<Hostile>"]


def test_json_columns_are_values_here_and_text_for_others() -> None:
    table = _column([1, "a"], {"b": None})
    assert table["x"] == [[1, "a"], {"b": None}]
    assert table.to_arrow().column("x").to_pylist() == ['[1, "a"]', '{"b": null}']


def test_a_given_schema_is_kept_while_it_fits_and_widened_where_it_does_not(
    tmp_path: Path,
) -> None:
    schema = pa.schema([("n", pa.int32()), ("s", pa.large_string()), ("late", pa.float32())])
    assert Table.from_rows([{"n": 1, "s": "x"}], schema=schema).schema == schema
    writer = TableWriter(tmp_path / "t.arrow", schema=schema, block=1)
    rows: list[dict[str, Any]] = [{"n": 1, "s": "x"}, {"n": 2**40, "s": 5}, {"n": "many"}]
    for number, row in enumerate(rows):
        writer.add(number, [row])
    table = writer.close()
    assert table.column_names == ["n", "s", "late"]
    assert table["n"] == ["1", str(2**40), "many"]
    assert table["s"] == ["x", "5", None]
    assert str(table.schema.field("late").type) == "float"


def test_rows_without_columns_are_counted() -> None:
    assert Table.from_rows([{}, {}]).to_list() == [{}, {}]


def test_numbers_read_from_pandas_and_numpy_are_plain() -> None:
    numpy = pytest.importorskip("numpy")
    table = _column(numpy.int64(3), numpy.float64(0.5), numpy.array([1, 2])[0])
    assert str(_column(numpy.float32(0.5)).schema.field("x").type) == "double"
    assert table["x"] == [3, 0.5, 1]
