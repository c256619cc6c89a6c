"""Rows of other libraries' tables: pandas, polars, Arrow, Hugging Face.

They are recognised by the name of their type's module, never by importing the library: who gives
a DataFrame has imported pandas already. pandas has one sign for "missing" and "not a number", so
NaN, NaT and NA come as None; an index is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.errors import InputError
from penstock.tables.columns import rows_of, unique
from penstock.tables.plain import plain
from penstock.tables.source import Block, RowSource, from_iterable

__all__ = ["from_batches", "from_frame"]


def from_frame(source: Any, name: str | None) -> RowSource | None:
    """The rows of another library's table; None if it is not one that is known."""
    for of in type(source).__mro__:
        read = _READERS.get((of.__module__.split(".")[0], of.__name__))
        if read is not None:
            return read(source, name or f"the {of.__module__.split('.')[0]} {of.__name__}")
    if hasattr(source, "__arrow_c_stream__"):
        return _stream(source, name or f"the {type(source).__name__}")
    return None


def from_batches(batches: Iterator[Any]) -> Iterator[Block]:
    """Record batches as blocks of rows; what a damaged one raises, after the rows before it."""
    for batch in batches:
        if batch.num_rows:
            yield rows_of(batch)


def _pandas(frame: Any, name: str) -> RowSource:
    names = unique([str(column) for column in frame.columns])

    def read(size: int) -> Iterator[Block]:
        for start in range(0, len(frame), size):
            part = frame.iloc[start : start + size]
            columns = [_series(part.iloc[:, place]) for place in range(len(names))]
            if not columns:
                yield [{} for _ in range(len(part))]
                continue
            yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    return RowSource(read, name=name, count=len(frame), column_names=names)


def _series(series: Any) -> list[Any]:
    values = series.tolist()
    missing = series.isna().tolist()
    return [None if gone else plain(value) for value, gone in zip(values, missing, strict=True)]


def _polars(frame: Any, name: str) -> RowSource:
    def read(size: int) -> Iterator[Block]:
        for part in frame.iter_slices(size):
            yield part.to_dicts()

    return RowSource(read, name=name, count=frame.height, column_names=list(frame.columns))


def _lazy(frame: Any, name: str) -> RowSource:
    def read(size: int) -> Iterator[Block]:
        for batch in frame.collect_batches(maintain_order=True):
            for part in batch.iter_slices(size):
                yield part.to_dicts()

    return RowSource(read, name=name, column_names=frame.collect_schema().names())


def _arrow(table: Any, name: str) -> RowSource:
    def read(size: int) -> Iterator[Block]:
        return from_batches(table.to_batches(max_chunksize=size))

    names = unique(list(table.schema.names))
    return RowSource(read, name=name, count=table.num_rows, column_names=names)


def _batch(batch: Any, name: str) -> RowSource:
    import pyarrow as pa

    return _arrow(pa.Table.from_batches([batch]), name)


def _reader(reader: Any, name: str) -> RowSource:
    names = unique(list(reader.schema.names))
    return RowSource(
        lambda _: from_batches(reader), name=name, column_names=names, repeatable=False
    )


def _stream(source: Any, name: str) -> RowSource:
    import pyarrow as pa

    return _reader(pa.RecordBatchReader.from_stream(source), name)


def _arrow_dataset(dataset: Any, name: str) -> RowSource:
    names = unique(list(dataset.schema.names))
    return RowSource(
        lambda size: from_batches(dataset.to_batches(batch_size=size)),
        name=name,
        count=dataset.count_rows(),
        column_names=names,
    )


def _hugging_face(dataset: Any, name: str) -> RowSource:
    tables = dataset.with_format("arrow")

    def read(size: int) -> Iterator[Block]:
        return from_batches(tables.iter(batch_size=size))

    return RowSource(read, name=name, count=len(dataset), column_names=list(dataset.column_names))


def _hugging_face_stream(dataset: Any, name: str) -> RowSource:
    source = from_iterable(dataset, name, None)
    source.column_names = list(dataset.column_names) if dataset.column_names else None
    return source


def _splits(splits: Any, name: str) -> RowSource:
    raise InputError(
        f"{name} has several splits: {', '.join(map(str, splits))}",
        remedy=f"Give one of them, such as data[{next(iter(splits), 'train')!r}].",
    )


def _ours(table: Any, name: str) -> RowSource:
    source: RowSource = table.source(name)
    return source


_READERS = {
    ("penstock", "Table"): _ours,
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "LazyFrame"): _lazy,
    ("pyarrow", "Table"): _arrow,
    ("pyarrow", "RecordBatch"): _batch,
    ("pyarrow", "RecordBatchReader"): _reader,
    ("pyarrow", "Dataset"): _arrow_dataset,
    ("datasets", "Dataset"): _hugging_face,
    ("datasets", "IterableDataset"): _hugging_face_stream,
    ("datasets", "DatasetDict"): _splits,
    ("datasets", "IterableDatasetDict"): _splits,
}
