"""Any table, written and read again, is what each format says it is."""

from __future__ import annotations

import math
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.tables import Table, rows
from penstock.tables.plain import text_of
from tests.tables.values import earliest, names, same, texts, typed_tables

_quick = settings(deadline=None, max_examples=100)
_xml_texts = st.text(max_size=12).map(lambda text: text.replace("\ufffe", "").replace("\uffff", ""))


def _text_tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[dict[str, str]]]:
    formulas = st.builds(
        "".join, st.lists(st.sampled_from([*"='+-@\t\r\n\"; ,|1.", "＝", "－"]), max_size=6)
    )
    return st.lists(names, min_size=1, max_size=4, unique=True).flatmap(
        lambda columns: st.lists(
            st.fixed_dictionaries(dict.fromkeys(columns, values | formulas)),
            min_size=1,
            max_size=8,
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trips")


@_quick
@given(typed_tables(), st.sampled_from(["parquet", "arrow", "feather"]))
def test_parquet_and_arrow_lose_nothing(
    folder: Path, given_rows: list[dict[str, Any]], form: str
) -> None:
    path = Table.from_rows(given_rows).save(folder / f"t.{form}")
    assert list(rows(path)) == given_rows


def _in_json(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_in_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _in_json(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return text_of(value)


@_quick
@given(typed_tables(), st.sampled_from(["json", "jsonl"]))
def test_json_keeps_what_json_knows_and_spells_out_the_rest(
    folder: Path, given_rows: list[dict[str, Any]], form: str
) -> None:
    table = Table.from_rows(given_rows)
    back = list(rows(table.save(folder / f"t.{form}")))
    for row, got in zip(table, back, strict=True):
        wanted = _in_json(row)
        assert list(got) == list(wanted)
        assert got == wanted


@settings(deadline=None, max_examples=300)
@given(_text_tables(texts), st.sampled_from(["csv", "tsv"]))
def test_any_text_comes_through_csv_unchanged(
    folder: Path, given_rows: list[dict[str, str]], form: str
) -> None:
    path = Table.from_rows(given_rows).save(folder / f"text.{form}")
    assert list(rows(path)) == given_rows


@_quick
@given(typed_tables())
def test_csv_holds_every_value_as_text(folder: Path, given_rows: list[dict[str, Any]]) -> None:
    table = Table.from_rows(given_rows)
    for row, got in zip(table, rows(table.save(folder / "t.csv")), strict=True):
        for name, value in row.items():
            assert got[name] == "" if value is None else same(value, got[name])


@_quick
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "i": st.integers(-(10**17), 10**17) | st.none(),
                "f": st.floats(allow_nan=False, allow_infinity=False) | st.none(),
                "b": st.booleans() | st.none(),
                "t": st.sampled_from(["007", "nan", "x", "+5"]),
            }
        ),
        min_size=1,
    )
)
def test_csv_with_types_inferred_gives_the_values(
    folder: Path, given_rows: list[dict[str, Any]]
) -> None:
    path = Table.from_rows(given_rows).save(folder / "typed.csv")
    for row, got in zip(given_rows, rows(path, types="infer"), strict=True):
        for name, value in row.items():
            assert got[name] == value or (value is None and got[name] == "")


@settings(deadline=None, max_examples=100)
@given(_text_tables(_xml_texts))
def test_any_text_comes_through_xlsx_unchanged(
    folder: Path, given_rows: list[dict[str, str]]
) -> None:
    path = Table.from_rows(given_rows).save(folder / "text.xlsx")
    back = list(rows(path))
    back += [dict.fromkeys(given_rows[0]) for _ in range(len(given_rows) - len(back))]
    for row, got in zip(given_rows, back, strict=True):
        assert got == {name: value or None for name, value in row.items()}


@_quick
@given(typed_tables())
def test_xlsx_keeps_what_excel_knows_and_spells_out_the_rest(
    folder: Path, given_rows: list[dict[str, Any]]
) -> None:
    table = Table.from_rows(given_rows)
    back = list(rows(table.save(folder / "t.xlsx")))
    back += [dict.fromkeys(table.column_names) for _ in range(len(table) - len(back))]
    for row, got in zip(table, back, strict=True):
        for name, value in row.items():
            assert _as_in_excel(value, got[name]), (value, got[name])


def _as_in_excel(value: Any, got: Any) -> bool:
    if value in (None, "", b""):
        return got is None
    if isinstance(value, str):
        return bool(value.replace("\ufffe", "�").replace("\uffff", "�") == got)
    if isinstance(value, float) and not isinstance(got, str):
        return math.isclose(value, got, rel_tol=1e-14, abs_tol=5e-324)
    if type(value) is datetime and value.tzinfo is None and type(got) is date:
        return value == datetime(got.year, got.month, got.day)
    if type(value) is date and value < earliest():
        return bool(got == value.isoformat())
    return same(value, got)
