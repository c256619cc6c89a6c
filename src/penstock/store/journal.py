"""The journal: the durable record of every question and what became of it.

It is the cache and the checkpoint in one: to resume is to ask again and find the answer. One
SQLite file in WAL mode; bodies in a rowid table in arrival order, a partial index from key to
answer. One writer thread and one reader thread, each serving whatever queued while it was busy:
a group commit without a timer, a block look-up without a plan.

* `record` resolves when the answer is on disk (synchronous=FULL: also through a power cut).
* The first recorded answer of a key wins, also between processes; `record` returns the winner.
* A record that does not match its checksum is never served; the error names file and record.

Bodies are not compressed: at a few kilobytes it cost more time than it saved in writing.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple

from penstock import threads
from penstock.errors import DamagedError, StorageFullError
from penstock.store.file import COLUMNS, REPAIR, create, open_file, translated
from penstock.store.record import Record, RecordKind

__all__ = ["Journal", "JournalStats", "Kept"]

_GROUP = 512
_COMPANY = 0.002  # seconds that a look-up under load waits for others
_MANY = 128


class Kept(NamedTuple):
    """What the journal holds under a key after a record was written."""

    record: Record
    first: bool
    """False when another answer had been recorded before: that one is returned."""


class JournalStats(NamedTuple):
    """What lies in a journal."""

    answers: int
    failures: int
    replaced: int
    size: int
    oldest: float | None
    newest: float | None


class Journal:
    """The records of one workspace. Open it, use it from one event loop, close it."""

    def __init__(
        self,
        path: Path,
        *,
        durability: Literal["full", "fast"] = "full",
        min_free: int = 0,
    ) -> None:
        self.path = path
        self._durability = durability
        self._min_free = min_free
        self._writer: _Server | None = None
        self._reader: _Server | None = None
        self._next_look = 0.0

    def open(self) -> Journal:
        """Open or make the file, and start the two threads."""
        self.create()
        self._writer = _Server("journal-writer", self._connect, self._write)
        self._reader = _Server("journal-reader", self._connect, self._read, _COMPANY)
        return self

    def create(self) -> Journal:
        """Make the file if it is not there; refuse one that is not ours."""
        create(self.path, self._durability)
        return self

    def close(self) -> None:
        """Finish what is queued and let go of the file."""
        for server in (self._writer, self._reader):
            if server is not None:
                server.close()
        self._writer = self._reader = None

    async def record(self, record: Record, *, replace: bool = False) -> Kept:
        """Write a record; done when it is on disk."""
        assert self._writer is not None, "the journal is not open"
        kept: Kept = await self._writer.ask((record, replace))
        return kept

    async def record_many(self, records: Sequence[Record]) -> list[Kept]:
        """Write many; done when they are on disk."""
        assert self._writer is not None, "the journal is not open"
        asked = [self._writer.ask((record, False)) for record in records]
        return list(await asyncio.gather(*asked))

    async def find(self, key: bytes) -> Record | None:
        """The answer recorded under a key. Only answers are found, never failures."""
        assert self._reader is not None, "the journal is not open"
        found: Record | None = await self._reader.ask(key)
        return found

    async def find_many(self, keys: list[bytes]) -> list[Record | DamagedError | None]:
        """The answers under many keys, in one block: much cheaper than one by one."""
        assert self._reader is not None, "the journal is not open"
        found: list[Record | DamagedError | None] = await self._reader.ask(keys)
        return found

    def check_room(self) -> None:
        """Refuse while there is still room for what is on its way; asked before each sending."""
        now = time.monotonic()
        if not self._min_free or now < self._next_look:
            return
        with translated(self.path):
            disk = os.statvfs(self.path.parent)
        free = disk.f_bavail * disk.f_frsize
        if free < self._min_free:
            raise StorageFullError(
                f"{self.path.parent}: only {free >> 20} MiB are free, {self._min_free >> 20} are "
                "kept in reserve (storage.min_free_mb)",
                remedy="Free some room, then run again: nothing done is lost.",
            )
        self._next_look = now + 1

    def each(self) -> Iterator[Record | DamagedError]:
        """Every record in arrival order; a damaged one in the place of its record."""
        self.create()
        with translated(self.path), closing(self._connect()) as connection:
            for row in connection.execute(f"SELECT {COLUMNS} FROM records ORDER BY id"):  # noqa: S608
                yield self._record(row)

    def stats(self) -> JournalStats:
        """Counts and size."""
        self.create()
        with translated(self.path), closing(self._connect()) as connection:
            counts = dict(connection.execute("SELECT kind, count(*) FROM records GROUP BY kind"))
            ends: list[float | None] = []
            for order in ("ASC", "DESC"):
                query = f"SELECT {COLUMNS} FROM records ORDER BY id {order} LIMIT 1"  # noqa: S608
                row = connection.execute(query).fetchone()
                record = None if row is None else self._record(row)
                ends.append(record.at if isinstance(record, Record) else None)
            size = sum(
                file.stat().st_size
                for suffix in ("", "-wal")
                if (file := self.path.with_name(self.path.name + suffix)).exists()
            )
        answers, failures, replaced = (counts.get(kind, 0) for kind in RecordKind)
        return JournalStats(answers, failures, replaced, size, *ends)

    # In the two threads -----------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        with translated(self.path):
            return open_file(self.path, self._durability)

    def _write(self, connection: sqlite3.Connection, group: list[Any]) -> list[Any]:
        with translated(self.path):
            return self._insert_all(connection, group) or self._insert_each(connection, group)

    def _insert_all(self, connection: sqlite3.Connection, group: list[Any]) -> list[Any] | None:
        """A whole group in a few statements; None, and nothing written, where it holds one that
        must be looked at alone. Each statement costs a turn at the interpreter's lock."""
        if any(replace for _, replace in group):
            return None
        with suppress(TypeError, ValueError), _transaction(connection):
            rows = [record.row() for record, _ in group]
            start = inserted = 0
            while start < len(rows):
                size = min(_MANY, 1 << (len(rows) - start).bit_length() - 1)
                flat = [value for row in rows[start : start + size] for value in row]
                inserted += connection.execute(_insert(size), flat).rowcount
                start += size
            if inserted == len(rows):
                connection.execute("COMMIT")
                return [Kept(record, True) for record, _ in group]
        return None

    def _insert_each(self, connection: sqlite3.Connection, group: list[Any]) -> list[Any]:
        with _transaction(connection):
            results = [self._insert_one(connection, *item) for item in group]
            connection.execute("COMMIT")
        return results

    def _insert_one(self, connection: sqlite3.Connection, record: Record, replace: bool) -> Any:
        """One record that cannot be written does not take its whole group along."""
        try:
            return self.insert(connection, record, replace)
        except (DamagedError, TypeError, ValueError) as error:
            return error

    def insert(self, connection: sqlite3.Connection, record: Record, replace: bool = False) -> Kept:
        """Add a record inside an open transaction."""
        row = record.row()
        if replace:
            connection.execute(
                "UPDATE records SET kind = 2 WHERE key = ? AND kind = 0", (record.key,)
            )
        if connection.execute(_insert(1), row).rowcount:
            return Kept(record, True)
        found = self._read(connection, [record.key])[0]
        if isinstance(found, Record):
            return Kept(found, False)
        raise found or DamagedError(
            f"{self.path}: the index knows a record that is not there", remedy=REPAIR
        )

    def _read(self, connection: sqlite3.Connection, group: list[Any]) -> list[Any]:
        """What is under each key of a group; a list of keys among them gets a list."""
        keys: list[bytes] = []
        for item in group:
            keys += item if isinstance(item, list) else (item,)
        found: dict[bytes, Any] = {}
        with translated(self.path):
            for start in range(0, len(keys), _GROUP):
                found |= self._read_block(connection, keys[start : start + _GROUP])
        return [
            [found.get(key) for key in item] if isinstance(item, list) else found.get(item)
            for item in group
        ]

    def _read_block(self, connection: sqlite3.Connection, group: list[Any]) -> dict[bytes, Any]:
        # Padded to a power of two, so that a handful of prepared statements serves all sizes.
        size = 1 << (len(group) - 1).bit_length()
        keys = group + [group[-1]] * (size - len(group))
        marks = ",".join("?" * size)
        query = f"SELECT {COLUMNS} FROM records WHERE kind = 0 AND key IN ({marks})"  # noqa: S608
        found = {}
        for row in connection.execute(query, keys):
            record = self._record(row)
            if isinstance(record, Record) and record.kind is not RecordKind.ANSWER:
                record = self._damaged(row[0], "is no answer, but the index says so")
            found[row[1]] = record
        return found

    def _record(self, row: Sequence[Any]) -> Record | DamagedError:
        try:
            return Record.from_row(*row)
        except DamagedError as error:
            return DamagedError(f"{self.path}: {error.message}", remedy=REPAIR)

    def _damaged(self, number: int, what: str) -> DamagedError:
        return DamagedError(f"{self.path}: record {number} {what}", remedy=REPAIR)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Ends with nothing written unless it was committed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@cache
def _insert(size: int) -> str:
    rows = ", ".join(["(?, ?, ?, ?, ?, ?)"] * size)
    columns = "key, kind, meta, request, response, checksum"
    return f"INSERT OR IGNORE INTO records ({columns}) VALUES {rows}"  # noqa: S608


class _Server:
    """A thread that serves whatever queued while it was busy, as one group.

    What is asked within one turn of the loop is handed over together: every hand-over between
    threads costs more than the work on a record. With a `pause`, what comes soon after a hand-over
    waits that long for company; who comes alone does not wait.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], sqlite3.Connection],
        serve: Callable[[sqlite3.Connection, list[Any]], list[Any]],
        pause: float = 0.0,
    ) -> None:
        self._pause = pause
        self._handed = 0.0
        self._queue: SimpleQueue[list[Any] | None] = SimpleQueue()
        self._turn: list[Any] = []
        self._connect = connect
        self._serve = serve
        self._thread = threads.start(self._run, name)

    def ask(self, item: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if not self._turn:
            if self._pause and loop.time() < self._handed + self._pause:
                loop.call_later(self._pause, self._hand_over)
            else:
                loop.call_soon(self._hand_over)
            self._handed = loop.time()
        self._turn.append((item, future))
        return future

    def close(self) -> None:
        self._hand_over()
        self._queue.put(None)
        self._thread.join()

    def _hand_over(self) -> None:
        if self._turn:
            self._queue.put(self._turn)
            self._turn = []

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        while (group := self._next_group()) is not None:
            items = [item for item, _ in group]
            try:
                if connection is None:
                    connection = self._connect()
                results = self._serve(connection, items)
            except Exception as error:
                results = [error] * len(group)
            _deliver([future for _, future in group], results)
        if connection is not None:
            connection.close()

    def _next_group(self) -> list[Any] | None:
        group = self._queue.get()
        if group is None:
            return None
        try:
            while len(group) < _GROUP:
                more = self._queue.get_nowait()
                if more is None:
                    self._queue.put(None)
                    break
                group += more
        except Empty:
            pass
        return group


def _deliver(futures: Sequence[asyncio.Future[Any]], results: Sequence[Any]) -> None:
    """Hand the results of a group to the loop that waits for them, in one call."""

    def settle() -> None:
        for future, result in zip(futures, results, strict=True):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    try:
        futures[0].get_loop().call_soon_threadsafe(settle)
    except RuntimeError:
        return  # the loop is gone; what was to be written is written
