"""Parquet and Arrow, carried: columns with their types and metadata, and new ones."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.grade.carry import Staged, Unreadable, stage, write
from penstock.grade.carry import arrow as carry_arrow
from penstock.tables import Table, rows
from tests.tables.values import typed_tables

_quick = settings(deadline=None, max_examples=60)
_FORMS = ["parquet", "arrow", "feather"]


def _staged(path: Path) -> Staged:
    staged = stage(path, path.parent / "stage")
    assert isinstance(staged, Staged), staged
    return staged


def _typed() -> pa.Table:
    fields = [
        pa.field("i8", pa.int8(), nullable=False, metadata={"unit": "m"}),
        pa.field("f32", pa.float32()),
        pa.field("text", pa.large_string()),
        pa.field("day", pa.date32()),
        pa.field("when", pa.timestamp("ns", "Europe/Berlin")),
        pa.field("money", pa.decimal128(20, 4)),
        pa.field("kind", pa.dictionary(pa.int16(), pa.string())),
        pa.field("list", pa.list_(pa.struct([("x", pa.int32())]))),
        pa.field("map", pa.map_(pa.string(), pa.int64())),
        pa.field("score", pa.null()),
    ]
    schema = pa.schema(fields, metadata={"pandas": "{}", "own": "ü"})
    row = {
        "i8": 5,
        "f32": 0.1,
        "text": "007",
        "day": None,
        "when": pa.scalar(1_700_000_000_123_456_789, pa.timestamp("ns", "Europe/Berlin")),
        "money": None,
        "kind": "b",
        "list": [{"x": 1}, None],
        "map": [("a", 1)],
        "score": None,
    }
    return pa.Table.from_pylist([row, row | {"kind": "a", "list": None}], schema=schema)


def _saved(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="gzip")
    else:
        make = pa.ipc.new_stream if path.suffix == ".arrow" else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as file, make(file, table.schema) as writer:
            writer.write_table(table)
    return path


def _read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.OSFile(str(path)) as file:
        whole = file.read(6) == b"ARROW1"
        file.seek(0)
        return (pa.ipc.open_file if whole else pa.ipc.open_stream)(file).read_all()


@pytest.mark.parametrize("form", _FORMS)
def test_types_metadata_and_values_pass_through(tmp_path: Path, form: str) -> None:
    path = _saved(_typed(), tmp_path / f"a.{form}")
    before = _read(path)
    staged = _staged(path)
    assert list(staged.rows()) == list(rows(path))
    added: list[dict[str, Any]] = [
        {"score": None, "reason": "x", "error": None},
        {"score": 2.5, "reason": "ü"},
    ]
    out = write(staged, added, ["score", "reason", "error"], tmp_path / f"out.{form}")
    after = _read(out.path)
    assert out.names["score"] == "score_2"
    assert after.schema.names == [*before.schema.names, "score_2", "reason", "error"]
    assert after.schema.metadata == before.schema.metadata
    for place, field in enumerate(before.schema):
        assert after.schema.field(place).equals(field, check_metadata=True)
        assert after.column(place).equals(before.column(place))
    assert after.column("score_2").to_pylist() == [None, 2.5]
    assert after.schema.field("error").type == pa.string()


def test_a_parquet_file_keeps_its_compression_and_an_arrow_file_its_form(tmp_path: Path) -> None:
    for form in _FORMS:
        staged = _staged(_saved(_typed(), tmp_path / f"a.{form}"))
        write(staged, [{"s": 1}, {"s": 2}], ["s"], tmp_path / f"out.{form}")
    about = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert about.row_group(0).column(0).compression == "GZIP"
    assert (tmp_path / "out.feather").read_bytes().startswith(b"ARROW1")
    assert not (tmp_path / "out.arrow").read_bytes().startswith(b"ARROW1")
    stream = (tmp_path / "out.arrow").rename(tmp_path / "stream.feather")
    write(_staged(stream), [{"t": 1}, {"t": 2}], ["t"], tmp_path / "out2.feather")
    assert not (tmp_path / "out2.feather").read_bytes().startswith(b"ARROW1")


def test_one_form_goes_to_another_with_its_types(tmp_path: Path) -> None:
    staged = _staged(_saved(_typed(), tmp_path / "a.parquet"))
    out = write(staged, [{"s": 1}, {"s": 2}], ["s"], tmp_path / "out.feather").path
    before = _read(tmp_path / "a.parquet")
    assert _read(out).drop_columns(["s"]).equals(before)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_dictionaries_may_differ_from_block_to_block(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_arrow, "_MOST_BLOCK", 2)
    monkeypatch.setattr(carry_arrow, "_LEAST_BLOCK", 1)
    parts = [pa.array([f"{n}", "x", None]).dictionary_encode() for n in range(5)]
    path = tmp_path / f"a.{form}"
    schema = pa.schema([("k", parts[0].type)])
    batches = [pa.record_batch([part], schema=schema) for part in parts]
    if form == "parquet":
        with pq.ParquetWriter(path, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    staged = _staged(path)
    texts = [value for n in range(5) for value in (f"{n}", "x", None)]
    assert [row["k"] for row in staged.rows()] == texts
    assert [row["k"] for row in staged.rows(4, 9)] == texts[4:9]
    out = write(staged, ({"s": n} for n in range(15)), ["s"], tmp_path / f"o.{form}").path
    assert [row["k"] for row in rows(out)] == texts
    assert pa.types.is_dictionary(_read(out).schema.field("k").type)


def test_double_names_stay_double(tmp_path: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    staged = _staged(_saved(table, tmp_path / "a.arrow"))
    assert staged.columns == ["a", "a_2"]
    assert list(staged.rows()) == [{"a": 1, "a_2": 2}]
    out = write(staged, [{"a": 3}], ["a"], tmp_path / "o.arrow").path
    assert _read(out).schema.names == ["a", "a", "a_3"]


@pytest.mark.parametrize("form", _FORMS)
def test_a_file_without_rows_gets_its_columns(tmp_path: Path, form: str) -> None:
    staged = _staged(_saved(_typed().slice(0, 0), tmp_path / f"a.{form}"))
    assert len(staged) == 0
    out = write(staged, [], ["s"], tmp_path / f"o.{form}").path
    assert _read(out).schema.names[-1] == "s"


@pytest.mark.parametrize("form", _FORMS)
def test_a_damaged_file_is_a_value(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    whole = _saved(pa.table({"a": list(range(5000))}), path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    found = stage(path, tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert f"a.{form} is damaged" in found.reason
    path.write_bytes(b"a,b\n1,2\n")
    found = stage(path, tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert "looks like text" in found.reason


@_quick
@given(typed_tables(), st.sampled_from(_FORMS), st.integers(1, 5), st.data())
def test_any_table_comes_back_with_what_was_added(
    table: list[dict[str, Any]], form: str, block: int, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.none() | st.floats(allow_nan=False), min_size=8, max_size=8))
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(carry_arrow, "_MOST_BLOCK", block)
        patch.setattr(carry_arrow, "_LEAST_BLOCK", 1)
        folder = Path(name)
        path = Table.from_rows(table).save(folder / f"a.{form}")
        staged = _staged(path)
        assert list(staged.rows()) == table
        start, stop = sorted(data.draw(st.tuples(st.integers(0, 8), st.integers(0, 8))))
        assert list(staged.rows(start, stop)) == table[start:stop]
        added = [{"new": value} for value in values[: len(table)]]
        written = write(staged, added, ["new"], folder / f"o.{form}")
        title = written.names["new"]
        assert list(rows(written.path)) == [
            row | {title: value["new"]} for row, value in zip(table, added, strict=True)
        ]
