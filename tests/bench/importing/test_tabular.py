"""A dataset from a table: which columns mean what, and rows that cannot be asked."""

from __future__ import annotations

import json
import stat
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from penstock.bench.importing import import_dataset
from penstock.bench.shelves import Shelves
from penstock.documents.examples import Example, Examples, Share
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.tables import rows

TABLE = [
    {"question": "1+1?", "hint": "small", "answer": "2", "page": "a"},
    {"question": "2+2?", "hint": "", "answer": "4", "page": "a"},
]


def asked(bench: Workbench, name: str) -> list[Example]:
    return list(Examples(Shelves(bench).datasets.read(name), Share()))


def write(path: Path) -> Path:
    """The table in the format that the name says."""
    columns = {name: [row[name] for row in TABLE] for name in TABLE[0]}
    if path.suffix == ".csv":
        lines = [",".join(TABLE[0]), *(",".join(row.values()) for row in TABLE)]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".json":
        path.write_text(json.dumps(TABLE))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE))
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(pa.table(columns), path)
    else:
        book = xlsxwriter.Workbook(path)
        sheet = book.add_worksheet()
        for number, row in enumerate([dict(zip(TABLE[0], TABLE[0], strict=True)), *TABLE]):
            sheet.write_row(number, 0, list(row.values()))
        book.close()
    return path


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx"])
def test_any_format_of_table_becomes_a_dataset(
    bench: Workbench, tmp_path: Path, suffix: str
) -> None:
    path = write(tmp_path / f"sums.{suffix}")
    entry = import_dataset(
        path, bench, name="My Sums", description="d", license="MIT", reference="us",
        input="question", target="answer", cluster="page",
    )  # fmt: skip
    assert entry.id == "my-sums"
    assert entry.value == Shelves(bench).datasets.read("my-sums").value
    assert (entry.value.license, entry.value.input, entry.value.cluster) == (
        *("MIT", "question", "page"),
    )
    assert [(each.input, each.target, each.cluster) for each in asked(bench, "my-sums")] == [
        ("1+1?", ("2",), "a"),
        ("2+2?", ("4",), "a"),
    ]
    assert [each.row["hint"] or "" for each in asked(bench, "my-sums")] == ["small", ""]
    beside = bench.workspace.library / "datasets" / "my-sums.jsonl"
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_the_usual_columns_are_input_and_target(bench: Workbench) -> None:
    import_dataset([{"input": "a", "target": ["b", "c"]}], bench, name="x", id="own")
    [example] = asked(bench, "own")
    assert (example.input, example.target) == ("a", ("b", "c"))


@pytest.mark.parametrize("wanted", ["input", "target", "cluster"])
def test_a_column_that_is_not_there_is_an_error_that_names_the_file_and_its_columns(
    bench: Workbench, tmp_path: Path, wanted: str
) -> None:
    for suffix in ("csv", "jsonl"):
        path = write(tmp_path / f"sums.{suffix}")
        columns: dict[str, Any] = {"input": "question", "target": "answer", wanted: "gone"}
        with pytest.raises(InputError) as told:
            import_dataset(path, bench, name="x", **columns)
        assert told.value.message == f"{path} has no column 'gone'"
        assert "question, hint, answer, page" in told.value.remedy
    assert not bench.workspace.exists


def test_several_columns_are_joined_by_a_newline(bench: Workbench) -> None:
    import_dataset(TABLE, bench, name="x", input=["hint", "question"], target="answer")
    assert [each.input for each in asked(bench, "x")] == ["small\n1+1?", "2+2?"]


def test_a_template_fills_in_columns(bench: Workbench) -> None:
    template = "Q: {question}\nHint: {hint} {{}}"
    import_dataset(TABLE, bench, name="x", input=template, target="answer")
    first, second = asked(bench, "x")
    assert first.input == "Q: 1+1?\nHint: small {}"
    assert second.input == "Q: 2+2?\nHint:  {}"
    assert first.row["question"] == "1+1?"


def test_a_column_named_input_is_not_overwritten_by_what_is_put_together(bench: Workbench) -> None:
    row = {"input": "mine", "q": "a", "target": "t"}
    entry = import_dataset([row], bench, name="x", input="{q}!")
    assert entry.value.input == "input_2"
    [example] = asked(bench, "x")
    assert (example.input, example.row["input"]) == ("a!", "mine")


@pytest.mark.parametrize("template", ["{gone}", "{question} {gone}"])
def test_a_template_with_a_column_that_is_not_there_is_an_error(
    bench: Workbench, template: str
) -> None:
    with pytest.raises(InputError, match="no column 'gone'"):
        import_dataset(TABLE, bench, name="x", input=template, target="answer")


@pytest.mark.parametrize("template", ["{question", "{}", "{{question}}"])
def test_a_template_that_means_nothing_is_an_error(bench: Workbench, template: str) -> None:
    with pytest.raises(InputError, match="template"):
        import_dataset(TABLE, bench, name="x", input=template, target="answer")


def test_a_column_whose_name_has_braces_is_a_column(bench: Workbench) -> None:
    import_dataset([{"{q}": "a", "target": "t"}], bench, name="x", input="{q}")
    assert asked(bench, "x")[0].input == "a"


def test_without_a_target_there_is_none(bench: Workbench) -> None:
    import_dataset([{"q": "a"}], bench, name="x", input="q", target=None)
    assert not asked(bench, "x")[0].target


def test_numbers_and_squads_answers_become_texts(bench: Workbench) -> None:
    table = pa.table(
        {"input": [1, 2], "target": [{"text": ["a"], "start": [0]}, {"text": [], "start": []}]}
    )
    import_dataset(table, bench, name="x")
    first, second = asked(bench, "x")
    assert (first.input, first.target, second.target) == ("1", ("a",), ())
    assert first.row["target_given"] == {"text": ["a"], "start": [0]}


def test_rows_with_nothing_to_ask_are_an_error_that_names_them(bench: Workbench) -> None:
    table = [{"input": "a"}, {"input": None}, {"input": " "}, {}, {"input": "b"}]
    with pytest.raises(InputError, match="nothing to ask in rows 2, 3, 4") as told:
        import_dataset(table, bench, name="x", target=None)
    assert "--skip-empty" in told.value.remedy
    assert "x" not in Shelves(bench).datasets
    assert not list((bench.workspace.library / "datasets").iterdir())
    import_dataset(table, bench, name="x", target=None, missing="skip")
    assert [each.input for each in asked(bench, "x")] == ["a", "b"]


def test_rows_without_anything_to_ask_at_all_are_no_dataset(bench: Workbench) -> None:
    with pytest.raises(InputError, match="nothing to ask in row 1"):
        import_dataset([{"input": ""}], bench, name="x", target=None, missing="skip")
    with pytest.raises(InputError, match="holds no rows"):
        import_dataset([], bench, name="x")


def test_a_dataset_that_is_there_is_replaced_only_when_asked(bench: Workbench) -> None:
    import_dataset(TABLE, bench, name="x", input="question", target="answer")
    import_dataset(TABLE, bench, name="x", input="question", target="answer")
    with pytest.raises(InputError, match="already, and it differs"):
        import_dataset(TABLE, bench, name="x", input="hint", target="answer", missing="skip")
    import_dataset(
        TABLE, bench, name="x", input="hint", target="answer", missing="skip", overwrite=True
    )
    assert [each.input for each in asked(bench, "x")] == ["small"]


@pytest.mark.parametrize("name", ["../../evil", "数据", "a/b"])
def test_an_id_is_never_a_path(bench: Workbench, name: str) -> None:
    with pytest.raises(InputError):
        import_dataset(TABLE, bench, name="x", id=name, input="question", target="answer")
    if name != "数据":
        entry = import_dataset(TABLE, bench, name=name, input="question", target="answer")
        assert entry.path is not None
        assert entry.path.parent == bench.workspace.library / "datasets"


def test_a_file_that_breaks_off_leaves_nothing(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"input": "a"}\n' * 3000 + "{")
    with pytest.raises(InputError, match=r"bad\.jsonl"):
        import_dataset(path, bench, name="x", target=None)
    assert not list((bench.workspace.library / "datasets").iterdir())
    with pytest.raises(NotFoundError):
        import_dataset(tmp_path / "gone.csv", bench, name="x")


def test_rows_are_streamed(bench: Workbench) -> None:
    def many() -> Iterator[dict[str, Any]]:
        for number in range(20_000):
            yield {"input": f"{number} " + "x" * 1000, "target": str(number)}

    source = rows(many(), name="many")
    import_dataset([{"input": "warm", "target": "up"}], bench, name="warm")
    tracemalloc.start()
    try:
        entry = import_dataset(source, bench, name="many")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert entry.path is not None
    assert entry.path.with_suffix(".jsonl").stat().st_size > 20_000_000
    assert peak < 4_000_000
