"""A table: what every job returns.

Rows and columns over Arrow, in memory or mapped from a file. A mapped table costs no memory of
its own: pages come in as they are touched, and while rows are read through they are given back.

    table["answer"]      a column, as a list         table.failures   a table of what failed
    table[3]             a row, as a dict            table.run        the run it came from, or None
    table[2:5]           a table of some rows

Iterating gives row dicts of plain values. Columns that could only be kept as JSON text are values
again here, and text for other libraries.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from penstock.errors import InputError
from penstock.tables.columns import from_arrow, rows_of, unique
from penstock.tables.convert import to_hf, to_pandas, to_polars
from penstock.tables.files import check_content, checked_path, format_of
from penstock.tables.reading import rows
from penstock.tables.saving import save
from penstock.tables.show import as_html, as_text
from penstock.tables.source import BLOCK, Row, RowSource
from penstock.tables.widening import Widening

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from penstock.secret import Secret

__all__ = ["Table"]

_RELAX_EVERY = 16 << 20


class Table:
    """Rows and columns; see the module."""

    def __init__(self, data: pa.Table, *, failures: Table | None = None, run: Any = None) -> None:
        names = unique(list(data.column_names))
        self._data = data if names == data.column_names else data.rename_columns(names)
        self._map: mmap.mmap | None = None
        self._path: Path | None = None
        self._file: tuple[int, int] | None = None
        self._failures = failures
        self.run = run

    @classmethod
    def from_rows(cls, data: Any, *, schema: pa.Schema | None = None) -> Table:
        """A table in memory of anything that `rows` reads; types are found as by the writer."""
        source = rows(data)
        widening = Widening(schema)
        batches, number = [], 0
        for block in source.blocks(BLOCK):
            batches.append(widening.batch(block, range(number, number + len(block))))
            number += len(block)
        last = widening.schema
        return cls(_whole([widening.fit(batch, last) for batch in batches], last))

    @classmethod
    def open(cls, path: Path | str) -> Table:
        """A table from a file: an Arrow file is mapped, any other is read into memory."""
        import pyarrow as pa

        path = checked_path(path)
        if format_of(path, None) not in ("arrow", "feather"):
            return cls.from_rows(rows(path))
        check_content(path, "arrow")
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            status = os.fstat(file.fileno())
        try:
            buffer = pa.py_buffer(mapped)
            stream = mapped[:6] != b"ARROW1"
            reader = pa.ipc.open_stream(buffer) if stream else pa.ipc.open_file(buffer)
            table = cls(_whole(_batches(reader, stream), reader.schema))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is damaged: {error}") from error
        table._map = mapped
        if stream:
            table._path, table._file = path, (status.st_dev, status.st_ino)
        return table

    @property
    def failures(self) -> Table:
        """What failed, with kind and message; empty when nothing did."""
        if self._failures is None:
            self._failures = Table.from_rows([])
        return self._failures

    @failures.setter
    def failures(self, table: Table) -> None:
        self._failures = table

    @property
    def column_names(self) -> list[str]:
        return list(self._data.column_names)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return self._data.schema

    def __len__(self) -> int:
        return int(self._data.num_rows)

    def __iter__(self) -> Iterator[Row]:
        for block in self.blocks():
            yield from block

    def blocks(self, size: int = BLOCK) -> Iterator[list[Row]]:
        """The rows in lists of at most `size`."""
        for batch in self.batches(size):
            yield rows_of(batch)

    def batches(self, size: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow record batches of at most `size`, never empty ones."""
        read = 0
        for batch in self._data.to_batches(max_chunksize=size):
            if batch.num_rows:
                yield batch
            read += batch.nbytes
            if read > _RELAX_EVERY:
                self._relax()
                read = 0

    @overload
    def __getitem__(self, what: str) -> list[Any]: ...
    @overload
    def __getitem__(self, what: int) -> Row: ...
    @overload
    def __getitem__(self, what: slice) -> Table: ...
    def __getitem__(self, what: str | int | slice) -> list[Any] | Row | Table:
        if isinstance(what, str):
            return self._column(what)
        if isinstance(what, slice):
            return self._slice(what)
        place = what + len(self) if what < 0 else what
        if not 0 <= place < len(self):
            raise IndexError(f"row {what} of a table of {len(self)} rows")
        return rows_of(self._data.slice(place, 1))[0]

    def _column(self, name: str) -> list[Any]:
        place = self._data.schema.get_field_index(name)
        if place < 0:
            raise KeyError(f"{name!r}; the columns are {', '.join(self.column_names)}")
        return from_arrow(self._data.column(place), self._data.schema.field(place))

    def _slice(self, places: slice) -> Table:
        start, stop, step = places.indices(len(self))
        if step == 1:
            some = self._data.slice(start, max(0, stop - start))
        else:
            import pyarrow as pa

            some = self._data.take(pa.array(range(start, stop, step), pa.int64()))
        return Table(some, run=self.run)

    def head(self, n: int = 5) -> Table:
        """The first rows."""
        return self[: max(0, n)]

    def source(self, name: str | None = None) -> RowSource:
        """The rows as other sources give them."""
        return RowSource(
            self.blocks,
            name=name or "the table",
            count=len(self),
            column_names=self.column_names,
        )

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_list(self) -> list[Row]:
        """All rows, in memory."""
        return list(self)

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table; mapped where this one is."""
        return self._data

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame; whole numbers with gaps stay whole (Int64)."""
        return to_pandas(self._data)

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame."""
        return to_polars(self._data)

    def to_hf(self) -> datasets.Dataset:
        """A Hugging Face dataset; mapped where this table is."""
        return to_hf(self._data, self._path if self._is_in_place() else None)

    def push_to_hub(
        self,
        repo: str,
        config_name: str = "default",
        *,
        split: str = "train",
        private: bool | None = None,
        token: str | Secret | None = None,
        card: str | None = None,
        revision: str | None = None,
        commit_message: str | None = None,
    ) -> str:
        """Upload to the Hugging Face hub as Parquet, with a card that says what made the data.

        Replaces this split of this subset (`config_name`) and leaves the others as they are.
        `token` is a token or a reference (`env:NAME`), else the one you are logged in with. `card`
        is a text of your own in the place of ours. Returns the address of the commit.
        """
        from penstock.tables.hub import Push, push  # what only this needs takes long to load

        wanted = Push(repo, config_name, split, private, card, revision, commit_message)
        return push(self, wanted, token)

    def save(
        self,
        path: Path | str,
        format: str | None = None,  # noqa: A002
        *,
        overwrite: bool = True,
    ) -> Path:
        """Write to a file, in the format of its suffix or the given one. Returns the path.

        Formats: csv, tsv, json, jsonl, parquet, arrow, feather, xlsx.
        """
        return save(self, Path(path), format, overwrite=overwrite)

    def to_csv(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write csv, safe to open in a spreadsheet."""
        return self.save(path, "csv", overwrite=overwrite)

    def to_json(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write one JSON array of objects."""
        return self.save(path, "json", overwrite=overwrite)

    def to_jsonl(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write one JSON object a line."""
        return self.save(path, "jsonl", overwrite=overwrite)

    def to_parquet(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write Parquet."""
        return self.save(path, "parquet", overwrite=overwrite)

    def to_xlsx(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write an Excel workbook of one sheet."""
        return self.save(path, "xlsx", overwrite=overwrite)

    def _is_in_place(self) -> bool:
        """Whether the file that is mapped still has its name: a later run may have replaced it."""
        if self._path is None or not self._path.exists():
            return False
        status = self._path.stat()
        return (status.st_dev, status.st_ino) == self._file

    def _relax(self) -> None:
        # Mapped pages count as this process's memory until they are given back.
        if self._map is not None and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _batches(reader: Any, stream: bool) -> list[Any]:
    if stream:
        return list(reader)
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]


def _whole(batches: list[Any], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches(batches, schema=schema)
