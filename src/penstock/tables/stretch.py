"""A stretch: rows on disk with their numbers, ascending, and the merging of several.

The rows lie as record batches in Arrow streams, a new one whenever the schema has grown; the
numbers lie beside them, eight bytes each. Read back in blocks: a stretch of any length costs the
memory of one block.
"""

from __future__ import annotations

import contextlib
import heapq
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from penstock.errors import PenstockError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Numbered", "Stretch", "merge", "private"]


class Numbered(NamedTuple):
    """Some rows and the number of each."""

    numbers: array[int]
    batch: pa.RecordBatch


def private(path: Path) -> IO[bytes]:
    """A new file for the owner alone."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


class Stretch:
    """Numbered rows, written in ascending order, then read any number of times."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers = private(path.with_suffix(".numbers"))
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._schema: pa.Schema | None = None
        self.parts: list[Path] = []
        self.rows = 0

    def write(self, numbers: array[int], batch: pa.RecordBatch) -> None:
        if self._schema is None or not batch.schema.equals(self._schema, check_metadata=True):
            self._next_part(batch.schema)
        self._writer.write_batch(batch)
        numbers.tofile(self._numbers)
        self.rows += len(numbers)

    def finish(self) -> None:
        """No more rows come."""
        self._end_part()
        self._numbers.close()

    def read(self) -> Iterator[Numbered]:
        import pyarrow as pa

        with self._path.with_suffix(".numbers").open("rb") as beside:
            for part in self.parts:
                with pa.OSFile(str(part)) as file, pa.ipc.open_stream(file) as reader:
                    for batch in reader:
                        numbers = array("q")
                        numbers.fromfile(beside, batch.num_rows)
                        yield Numbered(numbers, batch)

    def is_whole(self, schema: pa.Schema) -> bool:
        """Whether its one part is a table in this schema as it stands."""
        if len(self.parts) != 1 or self._schema is None:
            return False
        return bool(self._schema.equals(schema, check_metadata=True))

    def abandon(self) -> None:
        """Close what is open, whatever state it is in."""
        for closing in (self._file, self._numbers):
            if closing is not None:
                with contextlib.suppress(OSError, ValueError):
                    closing.close()

    def remove(self) -> None:
        for path in (*self.parts, self._path.with_suffix(".numbers")):
            path.unlink(missing_ok=True)

    def _next_part(self, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._end_part()
        part = self._path.with_suffix(f".{len(self.parts)}.arrow")
        self._file = private(part)
        self._writer = pa.ipc.new_stream(self._file, schema)
        self._schema = schema
        self.parts.append(part)

    def _end_part(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._file is not None:
            self._file.close()
        self._writer = self._file = None


def merge(
    stretches: Sequence[Stretch], fit: Callable[[pa.RecordBatch], pa.RecordBatch], size: int
) -> Iterator[Numbered]:
    """The rows of all, ascending, fitted to one schema, in blocks of about `size` rows."""
    gathered: list[Numbered] = []
    rows = 0
    for piece in _pieces(stretches, fit):
        gathered.append(piece)
        rows += len(piece.numbers)
        if rows >= size:
            yield _joined(gathered)
            gathered, rows = [], 0
    if gathered:
        yield _joined(gathered)


def _joined(pieces: list[Numbered]) -> Numbered:
    import pyarrow as pa

    if len(pieces) == 1:
        return pieces[0]
    numbers = array("q")
    for piece in pieces:
        numbers.extend(piece.numbers)
    return Numbered(numbers, pa.concat_batches([piece.batch for piece in pieces]))


def _pieces(
    stretches: Sequence[Stretch], fit: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> Iterator[Numbered]:
    """Slices, each as long as no other stretch has a row that belongs in between."""
    heads: list[tuple[int, int, Iterator[Numbered], Numbered, int]] = []
    order = count()

    def push(rest: Iterator[Numbered]) -> None:
        for numbers, batch in rest:
            if numbers:
                block = Numbered(numbers, fit(batch))
                heapq.heappush(heads, (numbers[0], next(order), rest, block, 0))
                return

    for stretch in stretches:
        push(stretch.read())
    while heads:
        number, _, rest, block, start = heapq.heappop(heads)
        stop = len(block.numbers)
        if heads:
            if heads[0][0] == number:
                raise PenstockError(f"the rows of number {number} were given twice")
            stop = bisect_left(block.numbers, heads[0][0], start)
        yield Numbered(block.numbers[start:stop], block.batch.slice(start, stop - start))
        if stop < len(block.numbers):
            entry = (block.numbers[stop], next(order), rest, block, stop)
            heapq.heappush(heads, entry)
        else:
            push(rest)
