"""pandas, polars and Hugging Face, in and out."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InputError
from penstock.tables import Table, TableWriter, rows

ROWS: list[dict[str, Any]] = [
    {
        "n": 2**60,
        "x": 0.5,
        "s": "ä",
        "b": True,
        "t": datetime(2024, 1, 31, 9),
        "u": datetime(2024, 1, 31, 9, tzinfo=UTC),
        "d": date(2024, 1, 31),
        "c": Decimal("1.50"),
        "l": ["a", "b"],
        "k": {"z": "y"},
        "r": b"raw",
    },
    dict.fromkeys(["n", "x", "s", "b", "t", "u", "d", "c", "l", "k", "r"]),
]


@pytest.fixture(params=["memory", "disk"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    if request.param == "memory":
        return Table.from_rows(ROWS)
    with TableWriter(tmp_path / "t.arrow") as writer:
        for number, row in enumerate(ROWS):
            writer.add(number, [row])
    return Table.open(tmp_path / "t.arrow")


def test_pandas_there_and_back(table: Table) -> None:
    frame = table.to_pandas()
    assert str(frame["n"].dtype) == "Int64"
    source = rows(frame)
    assert list(source) == ROWS == list(source)
    assert (source.count, source.column_names) == (2, list(ROWS[0]))


def test_what_pandas_calls_missing_is_none() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "x": [1.5, float("nan")],
            "t": [pandas.Timestamp("2024-01-31"), pandas.NaT],
            "o": ["a", None],
            "i": pandas.array([1, None], dtype="Int64"),
            "c": pandas.Categorical(["u", None]),
            5: ["x", "y"],
        }
    )
    first, second = rows(frame)
    assert first == {"x": 1.5, "t": datetime(2024, 1, 31), "o": "a", "i": 1, "c": "u", "5": "x"}
    assert second == {"x": None, "t": None, "o": None, "i": None, "c": None, "5": "y"}
    assert type(first["t"]) is datetime


def test_a_pandas_frame_with_a_name_twice_loses_nothing() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    assert list(rows(frame)) == [{"a": 1, "a_2": 2}]


def test_polars_there_and_back(table: Table) -> None:
    frame = table.to_polars()
    for form in (frame, frame.lazy()):
        source = rows(form)
        assert list(source) == ROWS == list(source)
        assert source.column_names == list(ROWS[0])
    assert rows(frame).count == 2


def test_hugging_face_there_and_back(table: Table) -> None:
    dataset = table.to_hf()
    for form in (dataset, dataset.select([0, 1])):
        source = rows(form)
        assert list(source) == ROWS == list(source)
        assert (source.count, source.column_names) == (2, list(ROWS[0]))
    assert [row["s"] for row in rows(dataset.to_iterable_dataset())] == ["ä", None]
    shuffled = rows(dataset.select([1, 0]))
    assert [row["s"] for row in shuffled] == [None, "ä"]


def test_a_file_of_ours_opens_as_a_hugging_face_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    Table.from_rows(ROWS).save(tmp_path / "t.arrow")
    assert datasets.Dataset.from_file(str(tmp_path / "t.arrow"))["s"][0] == "ä"


def test_a_table_whose_file_was_replaced_gives_its_own_rows(tmp_path: Path) -> None:
    path = Table.from_rows([{"a": "old"}]).save(tmp_path / "t.arrow")
    old = Table.open(path)
    Table.from_rows([{"a": "new"}]).save(path)
    assert old.to_hf()["a"][0] == "old"
    assert Table.open(path).to_hf()["a"][0] == "new"


def test_a_feather_file_of_ours_opens_in_pandas_and_polars(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    Table.from_rows([{"a": 1}]).save(tmp_path / "t.feather")
    assert pandas.read_feather(tmp_path / "t.feather")["a"].tolist() == [1]
    assert polars.read_ipc(tmp_path / "t.feather")["a"].to_list() == [1]


def test_splits_are_asked_for_by_name() -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.DatasetDict(train=Table.from_rows(ROWS).to_hf(), test=None)
    with pytest.raises(InputError, match="train, test"):
        rows(whole)


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [
        ("to_pandas", "pandas", "pandas"),
        ("to_polars", "polars", "polars"),
        ("to_hf", "datasets", "hf"),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch, method: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"pip install 'penstock\[{extra}\]'"):
        getattr(Table.from_rows(ROWS), method)()
