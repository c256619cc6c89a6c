"""Onto the shelves of the workspace: what is there and equal stays; what differs stays too, unless
it is to be replaced. Rows lie beside their dataset in a file of their own.
"""

from __future__ import annotations

import filecmp
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from penstock.bench.objects import Dataset
from penstock.documents import files
from penstock.documents.models import Model
from penstock.documents.shelf import Entry, Shelf
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.files import private_folder, storage_errors
from penstock.tables.plain import plain, text_of

__all__ = ["place", "place_endpoint", "place_rows"]

T = TypeVar("T", bound=Model)
_LONGEST = 50_000


def place(shelf: Shelf[T], name: str, made: T, *, overwrite: bool = False) -> bool:
    """Keep an object under an id; False where an equal one is there.

    One that differs is an InputError, unless it is to be replaced.
    """
    if name not in shelf:
        shelf.create(made, id=name)
        return True
    old = _there(shelf, name)
    if old is not None and old.value == made:
        return False
    if not overwrite:
        raise _differs(shelf.kind, name)
    _write(shelf, name, made)
    return True


def place_endpoint(
    bench: Workbench, name: str, spec: Mapping[str, Any], *, overwrite: bool = False
) -> bool:
    """The same for an endpoint."""
    old = bench.catalog.endpoint(name)
    if old is not None and old["spec"] == spec:
        return False
    if old is not None and not overwrite:
        raise _differs("endpoint", name)
    bench.catalog.save_endpoint(name, spec)
    return True


def place_rows(
    shelf: Shelf[Dataset],
    name: str,
    made: Dataset,
    rows: Iterable[Mapping[str, Any]],
    *,
    overwrite: bool = False,
) -> bool:
    """The same for a dataset whose rows are written, one by one, into the file that it names.

    The rows are there before the dataset is, and either are whole or not there at all.
    """
    assert made.file is not None
    _check_short(made)
    file = shelf.folder / made.file
    with storage_errors(file):
        private_folder(shelf.folder)
        handle, draft_name = tempfile.mkstemp(
            prefix=f".{file.name}.", suffix=".new", dir=shelf.folder
        )
    draft = Path(draft_name)
    try:
        with storage_errors(file), os.fdopen(handle, "wb") as stream:
            for row in rows:
                stream.write(_line(row))
            stream.flush()
            os.fsync(stream.fileno())
        return _place_draft(shelf, name, made, draft, overwrite=overwrite)
    finally:
        draft.unlink(missing_ok=True)


def _check_short(made: Dataset) -> None:
    """So that what describes the rows can be written when they are there."""
    for key, value in made.to_dict().items():
        if isinstance(value, str) and len(value) > _LONGEST:
            raise InputError(f"{key} is longer than {_LONGEST:,} characters")


def _place_draft(
    shelf: Shelf[Dataset], name: str, made: Dataset, draft: Path, *, overwrite: bool
) -> bool:
    file = shelf.folder / str(made.file)
    if name in shelf:
        old = _there(shelf, name)
        if old is not None and old.value == made and _same_rows(old, draft):
            return False
        if not overwrite:
            raise _differs(shelf.kind, name)
    elif file.exists() and not overwrite and not filecmp.cmp(draft, file, shallow=False):
        raise InputError(
            f"there is a file {file.name} among the datasets already, and it differs",
            remedy="Move it away, or give --overwrite (overwrite=True) to replace it.",
        )
    with storage_errors(file):
        draft.replace(file)
    _write(shelf, name, made)
    return True


def _same_rows(old: Entry[Dataset], draft: Path) -> bool:
    if old.path is None or old.value.file is None:
        return False
    file = old.path.parent / old.value.file
    return file.is_file() and filecmp.cmp(draft, file, shallow=False)


def _there(shelf: Shelf[T], name: str) -> Entry[T] | None:
    """What is there; None where it cannot be read, which is as good as different."""
    try:
        return shelf.read(name)
    except InputError:
        return None


def _write(shelf: Shelf[T], name: str, made: T) -> None:
    """In the place of what is there, whatever it says."""
    files.write(shelf.folder / f"{name}.yaml", made.to_dict())
    for suffix in files.SUFFIXES[1:]:
        (shelf.folder / f"{name}{suffix}").unlink(missing_ok=True)


def _differs(kind: str, name: str) -> InputError:
    return InputError(
        f"there is a {kind} {name!r} already, and it differs",
        remedy="Give --overwrite (overwrite=True) to replace it.",
    )


def _line(row: Mapping[str, Any]) -> bytes:
    """A row as a line of JSON."""
    option = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(row, default=text_of, option=option)
    except TypeError:
        # Whole numbers beyond 64 bits, half characters, or nesting beyond what orjson takes.
        text = json.dumps(plain(dict(row)), ensure_ascii=False, default=text_of)
        return text.encode() + b"\n"
