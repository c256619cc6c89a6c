"""Parquet and Arrow files, read and written by record batches.

`.arrow` is written as an Arrow stream, which Hugging Face datasets open as it is; `.feather` as
an Arrow file, which pandas and polars open as it is. Both are read under either name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InputError
from penstock.tables.columns import unique
from penstock.tables.files import ReadOptions, check_content
from penstock.tables.frames import from_batches
from penstock.tables.source import Block, RowSource, check_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.tables.table import Table

__all__ = ["read_arrow", "read_parquet", "write_arrow", "write_feather", "write_parquet"]

_BUFFER = 1 << 20
_ROW_GROUP = 65_536


def read_parquet(path: Path, options: ReadOptions) -> RowSource:
    """The rows of a Parquet file. Pages are read as they are needed, not whole row groups."""
    check_content(path, "parquet")
    with _damage(path), _parquet(path) as file:
        names, count = list(file.schema_arrow.names), file.metadata.num_rows
    wanted = _wanted(options, names, path)

    def read(size: int) -> Iterator[Block]:
        with _damage(path), _parquet(path) as file:
            batches = file.iter_batches(batch_size=size, columns=wanted, use_threads=False)
            # Parquet gives the columns in the order of the file.
            ordered = (batch.select(wanted) if wanted else batch for batch in batches)
            yield from from_batches(ordered)

    return RowSource(read, name=str(path), count=count, column_names=wanted or unique(names))


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


def read_arrow(path: Path, options: ReadOptions) -> RowSource:
    """The rows of an Arrow stream or file."""
    check_content(path, "arrow")
    with _damage(path), _Ipc(path) as ipc:
        names = list(ipc.schema.names)
    wanted = _wanted(options, names, path)

    def read(size: int) -> Iterator[Block]:
        with _damage(path), _Ipc(path) as ipc:
            for whole in ipc.batches():
                batch = whole.select(wanted) if wanted else whole
                starts = range(0, batch.num_rows, size)
                yield from from_batches(batch.slice(start, size) for start in starts)

    return RowSource(read, name=str(path), column_names=wanted or unique(names))


class _Ipc:
    """Either form of Arrow's own files, one batch at a time."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        with path.open("rb") as start:
            whole = start.read(6) == b"ARROW1"
        self._file = pa.OSFile(str(path))
        self._reader = pa.ipc.open_file(self._file) if whole else pa.ipc.open_stream(self._file)
        self._whole = whole
        self.schema: pa.Schema = self._reader.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        if not self._whole:
            yield from self._reader
            return
        for number in range(self._reader.num_record_batches):
            yield self._reader.get_batch(number)

    def __enter__(self) -> _Ipc:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _wanted(options: ReadOptions, names: list[str], path: Path) -> list[str] | None:
    if options.columns is None:
        return None
    check_columns(list(options.columns), names, str(path))
    return list(options.columns)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turns what Arrow says about a broken file into an InputError that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} is damaged: {reason}") from error


def write_parquet(table: Table, path: Path) -> None:
    from pyarrow import parquet

    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for batch in table.batches(_ROW_GROUP):
            writer.write_batch(batch)


def write_arrow(table: Table, path: Path) -> None:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        for batch in table.batches():
            writer.write_batch(batch)


def write_feather(table: Table, path: Path) -> None:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        for batch in table.batches():
            writer.write_batch(batch)
