"""A dataset from the Hugging Face hub, or from a folder that holds one, as a stream of rows.

The optional package `datasets` reads it, and the network is used only because a person names the
hub. Packages older than 4 may run code that comes with a dataset, and are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from penstock.bench.importing.tabular import Missing, Taken, Wanted, take
from penstock.bench.objects import Dataset
from penstock.documents.shelf import Entry
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, NotFoundError, PenstockError
from penstock.secret import mask
from penstock.tables import RowSource, rows

__all__ = ["import_hub", "take_hub"]

_OLDEST = 4
_SAVED = ("dataset_dict.json", "state.json")


def import_hub(
    name: str,
    bench: Workbench,
    *,
    config: str | None = None,
    split: str = "test",
    called: str = "",
    description: str = "",
    license: str = "",  # noqa: A002 - as it is called
    reference: str = "",
    input: str | Sequence[str] = "input",  # noqa: A002 - as it is called
    target: str | None = "target",
    id: str | None = None,  # noqa: A002 - as it is called
    cluster: str | None = None,
    missing: Missing = "error",
    overwrite: bool = False,
) -> Entry[Dataset]:
    """Keep a split of a dataset of the hub as a dataset of the workspace.

    `name`: as the hub has it, such as `openai/gsm8k`, or a folder on this machine. `called`: its
    name here. The rest is as for `import_dataset`.
    """
    wanted = Wanted(
        name=called,
        description=description,
        license=license,
        reference=reference,
        input=input,
        target=target,
        cluster=cluster,
        id=id,
        missing=missing,
        overwrite=overwrite,
    )
    return take_hub(name, bench, wanted, config=config, split=split).entry


def take_hub(
    name: str, bench: Workbench, wanted: Wanted, *, config: str | None, split: str
) -> Taken:
    """The same, with how many rows went in and which did not."""
    local = Path(name).expanduser()
    is_local = local.exists()
    source = _opened(str(local) if is_local else name, config, split, is_local=is_local)
    usual = (local.resolve().name if is_local else name) + (f" {config}" if config else "")
    reference = "" if is_local else f"https://huggingface.co/datasets/{name}"
    wanted = replace(
        wanted,
        name=wanted.name or usual,
        reference=wanted.reference or reference,
    )
    return take(source, bench, wanted)


def _opened(name: str, config: str | None, split: str, *, is_local: bool) -> RowSource:
    library = _library()
    try:
        if is_local and any(Path(name, each).is_file() for each in _SAVED):
            data = _split(library.load_from_disk(name), split, name)
        else:
            data = library.load_dataset(name, config, split=split, streaming=True)
        return rows(data, name=f"{name} ({split})")
    except PenstockError:
        raise
    except Exception as error:
        trouble = _trouble(library, error, name, split, is_local=is_local)
    raise trouble  # out here nothing hangs behind it


def _split(data: Any, split: str, name: str) -> Any:
    """One split of what was saved; a dataset that was saved alone is its only one."""
    if not isinstance(data, dict):
        return data
    if split not in data:
        raise InputError(
            f"{name} has no split {split!r}", remedy=f"It has: {', '.join(map(str, data))}."
        )
    return data[split]


def _library() -> ModuleType:
    remedy = "Install it: pip install 'penstock[hf]'."
    try:
        import datasets
    except ImportError:
        raise InputError(
            "the package `datasets` is not installed, which reads the hub", remedy=remedy
        ) from None
    version = str(datasets.__version__)
    if not version.split(".")[0].isdecimal() or int(version.split(".")[0]) < _OLDEST:
        raise InputError(
            f"the package `datasets` is version {version}, which may run code that comes with a "
            "dataset",
            remedy=f"Version {_OLDEST} or newer is wanted: pip install -U datasets.",
        )
    found: ModuleType = datasets
    return found


def _trouble(
    library: ModuleType, error: Exception, name: str, split: str, *, is_local: bool
) -> PenstockError:
    """What went wrong, in one line and without secrets."""
    said = mask(str(error).strip().split("\n")[0] or type(error).__name__)
    missing = (library.exceptions.DatasetNotFoundError, FileNotFoundError)
    if isinstance(error, missing):
        return NotFoundError(f"{name} cannot be found: {said}")
    if is_local or isinstance(error, ValueError):
        return InputError(
            f"{name} ({split}) cannot be read: {said}", remedy="Look at --config and --split."
        )
    return ApiError(f"{name} cannot be had from the Hugging Face hub: {said}")
