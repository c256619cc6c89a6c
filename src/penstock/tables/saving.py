"""A table written to a file, in the format of its suffix, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InputError
from penstock.tables.arrowfile import write_arrow, write_feather, write_parquet
from penstock.tables.atomic import draft
from penstock.tables.csvwrite import write_csv, write_tsv
from penstock.tables.files import FORMATS, format_of
from penstock.tables.jsonwrite import write_json, write_jsonl
from penstock.tables.xlsxwrite import write_xlsx

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["save"]

_WRITERS: dict[str, Callable[[Table, Path], None]] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "json": write_json,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "feather": write_feather,
    "xlsx": write_xlsx,
}


def save(table: Table, path: Path, given: str | None, *, overwrite: bool) -> Path:
    """Write the table in the given format or that of the suffix; see `Table.save`."""
    known = format_of(path, given)
    if known not in _WRITERS:
        raise InputError(
            f"{path}: {known!r} is no format that can be written",
            remedy=f"Known are {', '.join(FORMATS)}.",
        )
    if path.suffix.lower() == ".gz":
        raise InputError(f"{path}: packing with gzip is not done here", remedy="Leave out .gz.")
    with draft(path, overwrite=overwrite) as new:
        _WRITERS[known](table, new)
    return path
