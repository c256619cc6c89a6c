"""The dataset flow: CSV with checked headers, Hugging Face, and the examples as a stream."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import moonshot
from penstock.errors import InputError, NotFoundError
from penstock.simulator import Simulator
from tests.moonshot.kit import echo, examples, written


def test_a_csv_file_becomes_a_dataset_and_is_read_as_a_stream(simulator: Simulator) -> None:
    path = written(
        [["input", "target", "topic"], ["1 + 1?", "2", "sums"], ['Say "a,b"', "a,b", ""]]
    )
    name = moonshot.api_create_dataset(
        "My Sums", "Sums to do", "by hand", "CC0-1.0", csv_file_path=path
    )
    assert name == "my-sums"
    path.unlink()  # it was taken over, not pointed to
    info = moonshot.api_get_dataset(name)
    assert info.to_dict() == {
        "id": "my-sums",
        "name": "My Sums",
        "description": "Sums to do",
        "reference": "by hand",
        "license": "CC0-1.0",
        "num_of_dataset_prompts": 2,
        "created_date": info.created_date,
    }
    assert isinstance(info.examples, Iterator)
    assert next(info.examples) == {"input": "1 + 1?", "target": "2", "topic": "sums"}
    assert [each["input"] for each in info.examples] == ['Say "a,b"']
    assert info.to_dict() in moonshot.api_get_all_datasets()
    # And it can be asked.
    moonshot.api_create_recipe("Sums", datasets=[name], metrics=["exactstrmatch"])
    moonshot.api_create_runner("Summer", [echo(simulator)]).run_recipes(["sums"])
    assert simulator.summary()["answered"] == 2


def test_a_hugging_face_dataset_is_taken_from_a_folder(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = {"context": ["Rain.", "Sun."], "question": ["Wet?", "Dry?"], "answer": ["yes", "yes"]}
    saved = datasets.Dataset.from_dict(rows)
    datasets.DatasetDict({"train": saved, "test": saved.select([1])}).save_to_disk(tmp_path / "hub")
    name = moonshot.api_create_dataset(
        "Weather",
        method="hf",
        dataset_name=str(tmp_path / "hub"),
        dataset_config=None,
        split="train",
        input_col=["context", "question"],
        target_col="answer",
    )
    found = list(moonshot.api_get_dataset(name).examples)
    assert [each["input"] for each in found] == ["Rain.\nWet?", "Sun.\nDry?"]
    assert [each["target"] for each in found] == ["yes", "yes"]
    other = moonshot.api_download_dataset(
        "Test only", "", "", "", dataset_name=str(tmp_path / "hub"), split="test",
        input_col="question", target_col="answer",
    )  # fmt: skip
    assert [each["input"] for each in moonshot.api_get_dataset(other).examples] == ["Dry?"]
    with pytest.raises(InputError, match="no split 'dev'"):
        moonshot.api_download_dataset(
            "No", "", "", "", dataset_name=str(tmp_path / "hub"), split="dev",
            input_col="question", target_col="answer",
        )  # fmt: skip
    with pytest.raises(InputError, match=r"no column 'reply'\nIt has: context, question, answer"):
        moonshot.api_create_dataset(
            "No", method="hf", dataset_name=str(tmp_path / "hub"), split="test",
            input_col=["question"], target_col="reply",
        )  # fmt: skip
    assert "no" not in moonshot.api_get_all_datasets_name()


def test_examples_are_never_held() -> None:
    count, size = 10_000, 1_000
    path = written([["input", "target"], *([f"{n} {'x' * size}", "y"] for n in range(count))])
    info = moonshot.api_get_dataset(moonshot.api_create_dataset("Large", csv_file_path=path))
    assert info.num_of_dataset_prompts == count
    tracemalloc.start()
    try:
        assert sum(1 for _ in info.examples) == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < count * size / 2


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        (["question", "target"], "'input'"),
        (["input", "answer"], "'target'"),
        (["Input", "Target"], "'input' and no column 'target'"),
    ],
)
def test_wrong_headers_are_named_with_those_that_are_there(header: list[str], missing: str) -> None:
    path = written([header, ["a", "b"]])
    with pytest.raises(InputError, match=f"given.csv has no column {missing}\n") as told:
        moonshot.api_create_dataset("Wrong", csv_file_path=path)
    assert told.value.remedy.endswith(f"it has: {', '.join(header)}.")
    assert "wrong" not in moonshot.api_get_all_datasets_name()


def test_a_file_that_is_none_or_empty_is_refused() -> None:
    with pytest.raises(NotFoundError, match="there is no file gone"):
        moonshot.api_convert_dataset("Gone", "", "", "", "gone.csv")
    with pytest.raises(InputError, match="is no CSV file"):
        moonshot.api_convert_dataset("Text", "", "", "", written([["input"]], "given.txt"))
    with pytest.raises(InputError, match="no rows"):
        moonshot.api_convert_dataset("Bare", "", "", "", written([["input", "target"]]))
    Path("empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv"):
        moonshot.api_convert_dataset("Empty", "", "", "", "empty.csv")
    with pytest.raises(InputError, match="nothing to ask in row 2"):
        rows = [["input", "target"], ["a", "b"], ["", "c"]]
        moonshot.api_convert_dataset("Hole", "", "", "", written(rows, "hole.csv"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "method='csv' wants csv_file_path"),
        ({"method": "json"}, "method is 'json'\nThere are: csv, hf"),
        (
            {"method": "hf", "split": "test"},
            "method='hf' wants dataset_name, input_col, target_col",
        ),
        ({"csv_file_path": "a.csv", "split": "test"}, "split means nothing with method='csv'"),
        ({"file": "a.csv"}, "api_create_dataset has no argument 'file'\nThere are: name, desc"),
        ({"csv_file": "a.csv"}, "no argument 'csv_file'\nDid you mean 'csv_file_path'"),
    ],
)
def test_arguments_that_do_not_fit_the_method_are_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as told:
        moonshot.api_create_dataset("Any", **given)
    assert said in str(told.value)


def test_the_same_dataset_again_is_no_trouble_and_another_is() -> None:
    path = written(examples(2))
    make = moonshot.api_create_dataset
    assert make("Same", csv_file_path=path) == make("Same", csv_file_path=path) == "same"
    path = written(examples(3))
    with pytest.raises(InputError, match="'same' already, and it differs"):
        make("Same", csv_file_path=path)
    make("Same", csv_file_path=path, overwrite=True)
    assert moonshot.api_get_dataset("same").num_of_dataset_prompts == 3


def test_a_deleted_dataset_leaves_nothing_behind() -> None:
    make = moonshot.api_create_dataset
    name = make("Brief", csv_file_path=written(examples(2)))
    shelf = Path(".penstock/library/datasets")
    assert {path.name for path in shelf.iterdir()} == {"brief.yaml", "brief.jsonl"}
    assert moonshot.api_delete_dataset(name)
    assert list(shelf.iterdir()) == []
    make("Brief", csv_file_path=written(examples(5)))
    assert moonshot.api_get_dataset("brief").num_of_dataset_prompts == 5
    for call in (moonshot.api_get_dataset, moonshot.api_delete_dataset):
        with pytest.raises(NotFoundError, match=r"no dataset 'brif'\nDid you mean 'brief'"):
            call("brif")
    with pytest.raises(InputError, match="ships with Penstock and stays"):
        moonshot.api_delete_dataset("arithmetic")
