"""Datasets by Moonshot's names: made of CSV files or Hugging Face datasets, read as streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from penstock.bench.importing import import_dataset, import_hub
from penstock.bench.objects import Dataset
from penstock.bench.shelves import Shelves
from penstock.documents.examples import Examples, Share
from penstock.documents.shelf import Entry
from penstock.engine.workbench import default_workbench
from penstock.errors import InputError, NotFoundError
from penstock.moonshot.calling import api, changed
from penstock.tables import rows

__all__ = [
    "DatasetInfo",
    "api_convert_dataset",
    "api_create_dataset",
    "api_delete_dataset",
    "api_download_dataset",
    "api_get_all_datasets",
    "api_get_all_datasets_name",
    "api_get_dataset",
]

_HEADERS = ("input", "target")
_ARGUMENTS = {
    "csv": ("csv_file_path",),
    "hf": ("dataset_name", "dataset_config", "split", "input_col", "target_col"),
}
_OPTIONAL = ("dataset_config",)


@dataclass(frozen=True)
class DatasetInfo:
    """What a dataset says of itself, and its examples: gone through one at a time, never held."""

    id: str
    name: str
    description: str
    reference: str
    license: str
    num_of_dataset_prompts: int
    created_date: str
    examples: Iterator[dict[str, Any]]
    """Each with `input` and `target`, and what else the dataset has; read once."""

    def to_dict(self) -> dict[str, Any]:
        """All but the examples."""
        return {key: value for key, value in vars(self).items() if key != "examples"}


@api
def api_create_dataset(
    name: str,
    description: str = "",
    reference: str = "",
    license: str = "",  # noqa: A002 - as it is called
    method: Literal["csv", "hf"] = "csv",
    *,
    csv_file_path: str | Path | None = None,
    dataset_name: str | None = None,
    dataset_config: str | None = None,
    split: str | None = None,
    input_col: str | Sequence[str] | None = None,
    target_col: str | None = None,
    overwrite: bool = False,
) -> str:
    """Keep a dataset; returns its id, which is made of its name.

    With `method="csv"`: `csv_file_path`, a file with the headers `input` and `target`. With "hf":
    `dataset_name` (as the hub has it, or a folder of this machine), `dataset_config`, `split`,
    `input_col` (several are joined by a newline) and `target_col`.
    """
    if method not in _ARGUMENTS:
        raise InputError(f"method is {method!r}", remedy=f"There are: {', '.join(_ARGUMENTS)}.")
    given = changed(
        csv_file_path=csv_file_path,
        dataset_name=dataset_name,
        dataset_config=dataset_config,
        split=split,
        input_col=input_col,
        target_col=target_col,
    )
    _check(method, given)
    about: dict[str, Any] = {
        "description": description,
        "reference": reference,
        "license": license,
        "overwrite": overwrite,
    }
    bench = default_workbench()
    if method == "csv":
        path = Path(given["csv_file_path"]).expanduser()
        _check_headers(path)
        return import_dataset(path, bench, name=name, **about).id
    return import_hub(
        given["dataset_name"],
        bench,
        called=name,
        config=given.get("dataset_config"),
        split=given["split"],
        input=given["input_col"],
        target=given["target_col"],
        **about,
    ).id


@api
def api_convert_dataset(
    name: str,
    description: str,
    reference: str,
    license: str,  # noqa: A002 - as it is called
    csv_file_path: str | Path,
    *,
    overwrite: bool = False,
) -> str:
    """`api_create_dataset` of a CSV file."""
    return api_create_dataset(
        name,
        description,
        reference,
        license,
        "csv",
        csv_file_path=csv_file_path,
        overwrite=overwrite,
    )


@api
def api_download_dataset(
    name: str,
    description: str,
    reference: str,
    license: str,  # noqa: A002 - as it is called
    *,
    dataset_name: str,
    split: str,
    input_col: str | Sequence[str],
    target_col: str,
    dataset_config: str | None = None,
    overwrite: bool = False,
) -> str:
    """`api_create_dataset` of a Hugging Face dataset."""
    return api_create_dataset(
        name,
        description,
        reference,
        license,
        "hf",
        dataset_name=dataset_name,
        dataset_config=dataset_config,
        split=split,
        input_col=input_col,
        target_col=target_col,
        overwrite=overwrite,
    )


@api
def api_get_dataset(dataset_id: str) -> DatasetInfo:
    """A dataset with a stream of its examples."""
    return _info(Shelves(default_workbench()).datasets.read(dataset_id))


@api
def api_get_all_datasets() -> list[dict[str, Any]]:
    """What every dataset says of itself; those that ship with Penstock too."""
    return [api_get_dataset(name).to_dict() for name in api_get_all_datasets_name()]


@api
def api_get_all_datasets_name() -> list[str]:
    """The ids of all datasets."""
    return Shelves(default_workbench()).datasets.ids()


@api
def api_delete_dataset(dataset_id: str) -> bool:
    """Forget a dataset of one's own, with the file of its examples."""
    Shelves(default_workbench()).datasets.delete(dataset_id)
    return True


# Inside -------------------------------------------------------------------------------------


def _check(method: str, given: dict[str, Any]) -> None:
    wanted = _ARGUMENTS[method]
    for name in given:
        if name not in wanted:
            raise InputError(
                f"{name} means nothing with method={method!r}",
                remedy=f"There are: {', '.join(wanted)}.",
            )
    missing = [name for name in wanted if name not in given and name not in _OPTIONAL]
    if missing:
        raise InputError(f"method={method!r} wants {', '.join(missing)}")


def _check_headers(path: Path) -> None:
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    if path.suffix.lower() != ".csv":
        raise InputError(
            f"{path} is no CSV file",
            remedy="penstock.bench.import_dataset reads other tables.",
        )
    columns = rows(path).column_names or []
    missing = [name for name in _HEADERS if name not in columns]
    if missing:
        raise InputError(
            f"{path} has no column {' and no column '.join(map(repr, missing))}",
            remedy=f"The headers input and target are wanted; it has: {', '.join(columns)}.",
        )


def _info(entry: Entry[Dataset]) -> DatasetInfo:
    dataset = entry.value
    examples = Examples(entry, Share())
    assert entry.path is not None  # it was read from a shelf
    created = datetime.fromtimestamp(entry.path.stat().st_mtime)
    return DatasetInfo(
        entry.id,
        dataset.name,
        dataset.description,
        dataset.reference,
        dataset.license,
        len(examples),
        created.strftime("%Y-%m-%d %H:%M:%S"),
        _examples(examples, dataset),
    )


def _examples(examples: Examples, dataset: Dataset) -> Iterator[dict[str, Any]]:
    for example in examples:
        row = dict(example.row)
        yield {**row, "input": row.get(dataset.input), "target": row.get(dataset.target)}
