"""Rows come in any order; the table on disk has them in the order of their numbers.

What comes in order goes straight to disk. What comes early waits, up to about two blocks. When
more has gathered behind a slow row, the writer leaps over the gap, and the slow row, when it
comes, is late: it goes to a stretch of its own and is merged in at the end. So memory is bounded
by a few blocks however late a row is, and one slow row costs one copy of the file, never a
sorting of Python objects.

A block is `block` rows, fewer where rows are large (about 8 MiB). The schema grows with the rows;
if it has grown after blocks were written, the file is rewritten at the end as a stream. It
appears under its name by a rename, 0600, and only when it is whole. Until then everything lies
in a folder beside it, locked while the writer lives; what a killed process left is removed by the
next writer of the same file.

On disk it is an Arrow *stream*, not an Arrow file: Hugging Face datasets open it as it is.

Not thread-safe: one thread adds.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import tempfile
from array import array
from itertools import count, repeat
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from penstock.errors import InputError, PenstockError
from penstock.tables.atomic import disk_errors, durable, put
from penstock.tables.stretch import Stretch, merge, private
from penstock.tables.table import Table
from penstock.tables.widening import TooMuchText, Widening

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableWriter"]

Row = dict[str, Any]

_BLOCK_BYTES = 8 << 20
_FIRST_BLOCK = 256
_SMALLEST_BLOCK = 16
_LEAST_WAITING = 1024  # as many rows as are usually in flight
_MOST_STRETCHES = 64


class TableWriter:
    """Writes one table; `add` in any order, then `close`, or `abort`."""

    def __init__(
        self, path: Path | str, *, schema: pa.Schema | None = None, block: int = 4096
    ) -> None:
        if block < 1:
            raise InputError(f"a block of {block} rows is too small; it has 1 or more")
        self.path = Path(path).absolute()
        self._widening = Widening(schema)
        self._block = block
        self._size = min(block, _FIRST_BLOCK)
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _sweep(self.path)
            self._folder, self._lock = _own_folder(self.path)
            self._names = count()
            self._main = self._stretch()
        self._lates: list[Stretch] = []
        self._rows: list[Row] = []
        self._numbers = array("q")
        self._next = 0
        self._leapt = False
        self._early = _Waiting()
        self._late = _Waiting()
        self._open = True

    def add(self, number: int, rows: list[Row]) -> None:
        """Give the rows of a number, in any order of numbers, each number once.

        A number that gives no rows is best told with an empty list: the writer need not wait.
        """
        if number == self._next and self._open:
            self._take(number, rows)
            if number + 1 in self._early.rows:
                self._catch_up()
        else:
            self._add_out_of_order(number, rows)

    def close(self, expected: int | None = None) -> Table:
        """Finish the file and put it in place. Numbers that never came are skipped.

        `expected`: how many rows there must be; if there are not, nothing is put in place.
        """
        self._check_open()
        try:
            with disk_errors(self.path):
                finished, rows = self._finished()
                if expected is not None and rows != expected:
                    raise PenstockError(f"{self.path.name} has {rows} rows instead of {expected}")
                durable(finished)
                put(finished, self.path)
        finally:
            self.abort()
        return Table.open(self.path)

    def abort(self) -> None:
        """Leave nothing behind. After `close` it does nothing."""
        if self._open:
            self._open = False
            for stretch in (self._main, *self._lates):
                stretch.abandon()
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.abort()
        elif self._open:
            self.close()

    def _take(self, number: int, rows: list[Row]) -> None:
        self._next = number + 1
        if len(rows) == 1:
            self._rows.append(rows[0])
            self._numbers.append(number)
        else:
            self._rows.extend(rows)
            self._numbers.extend(repeat(number, len(rows)))
        if len(self._rows) >= self._size:
            with disk_errors(self.path):
                self._flush()

    def _catch_up(self) -> None:
        while (rows := self._early.pop(self._next)) is not None:
            self._take(self._next, rows)

    def _add_out_of_order(self, number: int, rows: list[Row]) -> None:
        self._check_open()
        if number < 0:
            raise PenstockError(f"a row cannot have the number {number}")
        late = number < self._next
        waiting = self._late if late else self._early
        if number in waiting.rows or (late and not self._leapt):
            raise PenstockError(f"the rows of number {number} were given twice")
        waiting.put(number, rows)
        if waiting.weight > max(2 * self._size, min(2 * self._block, _LEAST_WAITING)):
            if late:
                self._spill()
            else:
                self._leap()

    def _leap(self) -> None:
        """Go on without the slow rows: take the lower half of those that wait.

        Only half, because the rows just before the highest ones are likely to come soon.
        """
        self._leapt = True
        numbers = sorted(self._early.rows)
        for number in numbers[: (len(numbers) + 1) // 2]:
            rows = self._early.pop(number)
            assert rows is not None
            self._take(number, rows)
        self._catch_up()

    def _spill(self) -> None:
        """Write the late rows to a stretch of their own."""
        with disk_errors(self.path):
            stretch = self._stretch()
            numbers = array("q")
            block: list[Row] = []
            for number in sorted(self._late.rows):
                rows = self._late.pop(number) or []
                block += rows
                numbers.extend(repeat(number, len(rows)))
            self._write(stretch, block, numbers)
            stretch.finish()
            self._lates.append(stretch)
            if len(self._lates) >= _MOST_STRETCHES:
                self._compact()

    def _compact(self) -> None:
        """One stretch of many: each costs an open file and a block of memory when merged."""
        schema = self._widening.schema
        whole = self._stretch()
        for numbers, batch in merge(
            self._lates, lambda b: self._widening.fit(b, schema), self._size
        ):
            whole.write(numbers, batch)
        whole.finish()
        for stretch in self._lates:
            stretch.remove()
        self._lates = [whole]

    def _flush(self) -> None:
        if self._rows:
            rows, numbers = self._rows, self._numbers
            self._rows, self._numbers = [], array("q")
            self._write(self._main, rows, numbers)

    def _write(self, stretch: Stretch, rows: list[Row], numbers: array[int]) -> None:
        if not rows:
            return
        try:
            batch = self._widening.batch(rows, numbers)
        except TooMuchText:
            half = len(rows) // 2
            if not half:
                raise PenstockError(f"row {numbers[0]} holds more than 2 GiB of text") from None
            self._write(stretch, rows[:half], numbers[:half])
            self._write(stretch, rows[half:], numbers[half:])
            return
        stretch.write(numbers, batch)
        fitting = _BLOCK_BYTES * len(rows) // max(1, batch.nbytes)
        self._size = max(min(_SMALLEST_BLOCK, self._block), min(self._block, fitting))

    def _finished(self) -> tuple[Path, int]:
        """The whole table in one file of the folder, and its length."""
        for number in sorted(self._early.rows):
            self._take(number, self._early.pop(number) or [])
        self._flush()
        if self._late.rows:
            self._spill()
        self._main.finish()
        schema = self._widening.schema
        rows = self._main.rows + sum(stretch.rows for stretch in self._lates)
        if not self._lates and self._main.is_whole(schema):
            return self._main.parts[0], rows
        return self._rewritten(schema), rows

    def _rewritten(self, schema: pa.Schema) -> Path:
        import pyarrow as pa

        path = self._folder / "whole.arrow"
        stretches = [self._main, *self._lates]
        blocks = merge(stretches, lambda batch: self._widening.fit(batch, schema), self._size)
        with private(path) as file, pa.ipc.new_stream(file, schema) as writer:
            for block in blocks:
                writer.write_batch(block.batch)
        return path

    def _stretch(self) -> Stretch:
        return Stretch(self._folder / f"stretch{next(self._names)}")

    def _check_open(self) -> None:
        if not self._open:
            raise PenstockError(f"the writer of {self.path.name} was closed already")


class _Waiting:
    """Rows by number, and how much they weigh: a number without rows takes room too."""

    def __init__(self) -> None:
        self.rows: dict[int, list[Row]] = {}
        self.weight = 0

    def put(self, number: int, rows: list[Row]) -> None:
        self.rows[number] = rows
        self.weight += len(rows) or 1

    def pop(self, number: int) -> list[Row] | None:
        rows = self.rows.pop(number, None)
        if rows is not None:
            self.weight -= len(rows) or 1
        return rows


def _own_folder(path: Path) -> tuple[Path, int]:
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return folder, lock


def _sweep(path: Path) -> None:
    """Remove what killed writers of this file left: folders whose lock nobody holds."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        try:
            lock = os.open(folder / "lock", os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
