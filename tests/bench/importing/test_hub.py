"""A dataset of Hugging Face, from folders on this machine; nothing here uses the network."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.bench.importing import hub, import_hub
from penstock.bench.shelves import Shelves
from penstock.documents.examples import Examples, Share
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, NotFoundError

datasets = pytest.importorskip("datasets")

ROWS = {"question": ["1+1?", "2+2?"], "answer": ["2", "4"], "number": [2, 4]}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    (folder / "data").mkdir(parents=True)
    pq.write_table(pa.table(ROWS), folder / "data" / "test-00000-of-00001.parquet")
    return folder


def test_a_folder_of_parquet_is_read_as_the_hub_has_it(bench: Workbench, parquet: Path) -> None:
    entry = import_hub(str(parquet), bench, input="question", target="answer")
    assert (entry.id, entry.value.name, entry.value.reference) == ("sums", "sums", "")
    examples = list(Examples(Shelves(bench).datasets.read("sums"), Share()))
    assert [(each.input, each.target) for each in examples] == [("1+1?", ("2",)), ("2+2?", ("4",))]
    assert examples[0].row["number"] == 2


def test_a_dataset_that_was_saved_is_read_with_or_without_splits(
    bench: Workbench, tmp_path: Path
) -> None:
    saved = datasets.Dataset.from_dict(ROWS)
    saved.save_to_disk(tmp_path / "alone")
    datasets.DatasetDict({"train": saved, "test": saved.select([1])}).save_to_disk(tmp_path / "two")
    alone = import_hub(str(tmp_path / "alone"), bench, input="question", target="number")
    two = import_hub(
        str(tmp_path / "two"), bench, input="{question}!", target="answer", called="Two", id="own"
    )
    assert [len(list(Examples(each, Share()))) for each in (alone, two)] == [2, 1]
    [example] = Examples(two, Share())
    assert (example.input, example.target) == ("2+2?!", ("4",))
    assert (two.id, two.value.name) == ("own", "Two")
    with pytest.raises(InputError, match="no split 'dev'") as told:
        import_hub(str(tmp_path / "two"), bench, split="dev", input="question")
    assert "train, test" in told.value.remedy


def test_a_column_that_is_not_there_is_named_with_those_that_are(
    bench: Workbench, parquet: Path
) -> None:
    with pytest.raises(InputError, match="no column 'input'") as told:
        import_hub(str(parquet), bench, target="answer")
    assert "question, answer, number" in told.value.remedy


def test_a_split_that_is_not_there_is_an_error(bench: Workbench, parquet: Path) -> None:
    with pytest.raises(InputError, match=r"\(dev\) cannot be read"):
        import_hub(str(parquet), bench, split="dev", input="question", target="answer")


def test_code_beside_a_dataset_is_never_run(
    bench: Workbench, parquet: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "was-run"
    code = f"open({str(mark)!r}, 'w').write('run')\n"
    (parquet / "other.py").write_text(code)
    import_hub(str(parquet), bench, input="question", target="answer")
    (parquet / "sums.py").write_text(code)  # the name that once was run
    with pytest.raises(InputError, match="scripts are no longer supported"):
        import_hub(str(parquet), bench, input="question", target="answer")
    assert not mark.exists()


def fake(error: Exception | None = None, version: str = "4.0.0") -> Any:
    def load_dataset(name: str, config: str | None, **options: Any) -> Any:
        assert options == {"split": "test", "streaming": True}
        if error is not None:
            raise error
        return datasets.Dataset.from_dict(ROWS).to_iterable_dataset()

    return SimpleNamespace(
        load_dataset=load_dataset, exceptions=datasets.exceptions, __version__=version
    )


def test_a_name_of_the_hub_is_streamed_and_said_where_it_came_from(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_library", fake)
    entry = import_hub("openai/gsm8k", bench, config="main", input="question", target="answer")
    assert entry.id == "openai-gsm8k-main"
    assert entry.value.reference == "https://huggingface.co/datasets/openai/gsm8k"
    assert len(list(Examples(entry, Share()))) == 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (datasets.exceptions.DatasetNotFoundError("no such thing"), NotFoundError),
        (ValueError("BuilderConfig 'x' not found. Available: ['main']"), InputError),
        (ConnectionError("no way through with hf_abcdefghijklmnop"), ApiError),
    ],
)
def test_what_goes_wrong_at_the_hub_is_said_in_one_line_without_secrets(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception]
) -> None:
    monkeypatch.setattr(hub, "_library", lambda: fake(error))
    with pytest.raises(kind) as told:
        import_hub("openai/gsm8k", bench, input="question")
    assert "openai/gsm8k" in str(told.value)
    assert "hf_abc" not in str(told.value)
    assert told.value.__cause__ is None


def test_without_the_package_it_is_said_how_to_get_it(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match="not installed") as told:
        import_hub("openai/gsm8k", bench, input="question")
    assert "pip install 'penstock[hf]'" in told.value.remedy


def test_a_package_that_may_run_code_is_refused(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", fake(version="2.14.0"))
    with pytest.raises(InputError, match="may run code"):
        import_hub("openai/gsm8k", bench, input="question")
