"""Parquet and Arrow files, carried: the columns with their types and metadata, and new ones.

The rows are staged in blocks of equal length, each an Arrow stream of its own: any block can be
read alone, and dictionaries may differ from one to the next. The new columns have the types that
hold all their values; one without any is text.

A Parquet file keeps its compression, an Arrow file its form (stream or file). Traded away: row
groups, encodings within pages and the compression of Arrow buffers are chosen anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from penstock.errors import InputError
from penstock.grade.carry.store import Added, Filling, Staged
from penstock.tables.columns import rows_of, unique
from penstock.tables.files import ReadOptions, check_content
from penstock.tables.source import Row
from penstock.tables.writer import TableWriter

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMS", "convert", "part", "problem", "rows", "stage", "write"]

FORMS = ("parquet", "arrow", "feather")
_BLOCK_BYTES = 4 << 20
_MOST_BLOCK, _LEAST_BLOCK = 1024, 16
_GROUP_ROWS, _GROUP_BYTES = 65_536, 64 << 20
_BUFFER = 1 << 20
_CODECS = frozenset({"snappy", "zstd", "gzip", "brotli", "lz4"})


def stage(path: Path, options: ReadOptions, filling: Filling) -> dict[str, Any]:
    """Set the rows down in blocks; what later reading needs to know of them."""
    form = options.format or "arrow"
    check_content(path, form)
    with _damage(path):
        return _from_parquet(path, filling) if form == "parquet" else _from_arrow(path, filling)


def rows(staged: Staged, start: int, stop: int) -> Iterator[Row]:
    for table in _tables(staged, start, stop):
        yield from rows_of(table)


def problem(staged: Staged, number: int) -> str:
    raise AssertionError(f"row {number} of {staged.path}: no row of this format is broken")


def write(staged: Staged, added: Added, new: Path) -> list[str]:
    return convert(staged, added, new, staged.format)


def convert(staged: Staged, added: Added, new: Path, form: str) -> list[str]:
    """Write as any of `FORMS`."""
    import pyarrow as pa

    schema = _schema(staged)
    with TemporaryDirectory(dir=staged.folder) as folder:
        writer = TableWriter(Path(folder) / "added.arrow", schema=None)
        with writer:
            for number, values in enumerate(added):
                writer.add(number, [dict(zip(added.titles, values, strict=True))])
            table = writer.close(expected=len(staged))
        fields = [_field(table.schema, title) for title in added.titles]
        whole = pa.schema([*schema, *fields], metadata=schema.metadata)
        size = staged.facts["block"]
        blocks = zip(
            _tables(staged, 0, len(staged)), _regrouped(table.batches(), size), strict=True
        )
        joined = (_beside(old, extra, fields, whole) for old, extra in blocks)
        _put(joined, whole, new, form, staged)
    return []


def part(staged: Staged, ranges: Sequence[range], new: Path) -> None:
    blocks = (table for some in ranges for table in _tables(staged, some.start, some.stop))
    _put(blocks, _schema(staged), new, staged.format, staged)


def _from_parquet(path: Path, filling: Filling) -> dict[str, Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        about = file.metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        weight = sum(group.total_byte_size for group in groups) // max(1, about.num_rows)
        block = _block_for(weight)
        batches = file.iter_batches(batch_size=block, use_threads=False)
        _set_down(batches, file.schema_arrow, block, filling)
        codec = groups[0].column(0).compression.lower() if groups and about.num_columns else "zstd"
    if codec not in _CODECS:
        codec = {"uncompressed": "none", "lz4_raw": "lz4"}.get(codec, "zstd")
    return {"block": block, "codec": codec, "stream": True}


def _from_arrow(path: Path, filling: Filling) -> dict[str, Any]:
    import pyarrow as pa

    # Mapped: a single batch may be the whole file.
    with pa.memory_map(str(path)) as file:
        stream = file.read(6) != b"ARROW1"
        file.seek(0)
        reader = pa.ipc.open_stream(file) if stream else pa.ipc.open_file(file)
        batches = _batches(reader, stream)
        first = next(batches, None)
        weight = first.nbytes // first.num_rows if first is not None and first.num_rows else 0
        block = _block_for(weight)
        every = batches if first is None else _chained(first, batches)
        _set_down(every, reader.schema, block, filling)
    return {"block": block, "codec": "zstd", "stream": stream}


def _batches(reader: Any, stream: bool) -> Iterator[pa.RecordBatch]:
    if stream:
        yield from reader
    else:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _block_for(weight: int) -> int:
    return max(_LEAST_BLOCK, min(_MOST_BLOCK, _BLOCK_BYTES // max(1, weight)))


def _set_down(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, block: int, filling: Filling
) -> None:
    import pyarrow as pa

    if not len(schema):
        raise InputError("it has no columns")
    filling.columns.update(dict.fromkeys(unique(list(schema.names))))
    with filling.new("schema") as file:
        filling.put(file, schema.serialize())
    count = at = 0
    with filling.new("records") as file:
        for table in _regrouped(batches, block):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, schema) as writer:
                for batch in table.to_batches():
                    writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            body = sink.getvalue()
            filling.put(file, body)
            filling.span(at, at + body.size)
            at += body.size
            count += table.num_rows
    filling.count = count


def _regrouped(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """The rows in tables of exactly so many; the last may have fewer."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        at = 0
        while at < batch.num_rows:
            some = batch.slice(at, size - rows)
            held.append(some)
            rows += some.num_rows
            at += some.num_rows
            if rows == size:
                yield pa.Table.from_batches(held)
                held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _schema(staged: Staged) -> pa.Schema:
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer((staged.folder / "schema").read_bytes()))


def _tables(staged: Staged, start: int, stop: int) -> Iterator[pa.Table]:
    """The rows, a block or what is wanted of it at a time."""
    import pyarrow as pa

    size = staged.facts["block"]
    if start >= stop:
        return
    first, last = start // size, (stop - 1) // size
    for number, body in enumerate(staged.records(first, last + 1), start=first):
        table = pa.ipc.open_stream(pa.py_buffer(body)).read_all()
        begin = max(start - number * size, 0)
        yield table.slice(begin, min(stop - number * size, size) - begin)


def _field(schema: pa.Schema, title: str) -> pa.Field:
    import pyarrow as pa

    place = schema.get_field_index(title)
    field = schema.field(place) if place >= 0 else pa.field(title, pa.null())
    return field.with_type(pa.string()) if field.type == pa.null() else field


def _beside(old: pa.Table, extra: pa.Table, fields: list[pa.Field], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    new = [extra.column(field.name).cast(field.type) for field in fields]
    return pa.Table.from_arrays([*old.columns, *new], schema=schema)


def _put(
    tables: Iterable[pa.Table], schema: pa.Schema, new: Path, form: str, staged: Staged
) -> None:
    import pyarrow as pa

    if form == "parquet":
        _put_parquet(tables, schema, new, staged.facts["codec"])
        return
    stream = staged.facts["stream"] if form == staged.format else form == "arrow"
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(new), "wb") as file, make(file, schema) as writer:
        for table in tables:
            for batch in table.to_batches():
                writer.write_batch(batch)


def _put_parquet(tables: Iterable[pa.Table], schema: pa.Schema, new: Path, codec: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    held: list[pa.Table] = []
    rows = weight = 0
    with parquet.ParquetWriter(new, schema, compression=codec) as writer:
        for table in tables:
            held.append(table)
            rows += table.num_rows
            weight += table.nbytes
            if rows >= _GROUP_ROWS or weight >= _GROUP_BYTES:
                writer.write_table(pa.concat_tables(held))
                held, rows, weight = [], 0, 0
        if held:
            writer.write_table(pa.concat_tables(held))


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turns what Arrow says about a broken file into an InputError that names it."""
    import pyarrow as pa

    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error.message}", remedy=error.remedy) from None
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} is damaged: {reason}") from error
