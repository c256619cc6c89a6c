"""A staged file in another format, through the types of tables.

Rows and what is added become one table on disk, whose columns are as wide as their values need;
a broken row has its text in `bad_line`, or its surplus cells in `extra_cells`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from penstock.grade.carry.store import Added, Staged
from penstock.tables.saving import save
from penstock.tables.source import Row
from penstock.tables.table import Table
from penstock.tables.writer import TableWriter

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["save_part", "save_whole"]


def save_whole(
    staged: Staged,
    added: Added,
    path: Path,
    form: str,
    *,
    overwrite: bool,
    check: Callable[[], None],
) -> None:
    """All rows with what is added. `check` is called before the file appears."""

    def rows() -> Iterator[Row]:
        values = iter(added)
        for row in staged.rows():
            yield row | dict(zip(added.titles, next(values), strict=True))
        check()

    with _table(rows(), staged, [*staged.columns, *added.titles]) as table:
        save(table, path, form, overwrite=overwrite)


def save_part(
    staged: Staged, ranges: Sequence[range], path: Path, form: str, *, overwrite: bool
) -> None:
    """Some rows."""
    rows = (row for some in ranges for row in staged.rows(some.start, some.stop))
    with _table(rows, staged, staged.columns) as table:
        save(table, path, form, overwrite=overwrite)


@contextmanager
def _table(rows: Iterator[Row], staged: Staged, names: list[str]) -> Iterator[Table]:
    with TemporaryDirectory(dir=staged.folder) as folder:
        writer = TableWriter(Path(folder) / "whole.arrow", schema=_empty(names))
        with writer:
            for number, row in enumerate(rows):
                writer.add(number, [row])
            table = writer.close()
        yield table


def _empty(names: list[str]) -> pa.Schema:
    """Columns in their order whichever rows have them, also where there is no row."""
    import pyarrow as pa

    return pa.schema([(name, pa.null()) for name in names])
