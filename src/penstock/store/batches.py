"""What lies at providers in batches: which batches there are, and which questions wait in them.

One SQLite file beside the journal, because a batch and its questions must change together: a
question that is written to a batch's file belongs to it at once, and is free again in the same
moment in which its batch is known to have brought nothing. Small and short-lived, unlike the
journal; what is answered is in the journal and no longer here.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from penstock.errors import NewerWorkspaceError, NotFoundError
from penstock.store.file import translated, write_ahead

__all__ = ["BatchRow", "BatchStore", "Waiting"]

_FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    label TEXT NOT NULL,
    state TEXT NOT NULL,
    file TEXT NOT NULL,
    count INTEGER NOT NULL,
    size INTEGER NOT NULL,
    remote TEXT NOT NULL DEFAULT '',
    certain INTEGER NOT NULL DEFAULT 1,
    submitting REAL,
    created REAL NOT NULL,
    submitted REAL,
    ended REAL,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cost TEXT NOT NULL DEFAULT '0',
    reserve TEXT NOT NULL DEFAULT '0',
    reserve_tokens INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    why TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS waiting (
    key BLOB PRIMARY KEY,
    batch TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    failure TEXT NOT NULL DEFAULT '',
    lane TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS waiting_batch ON waiting (batch);
"""
_BLOCK = 500


class BatchRow(msgspec.Struct, kw_only=True):
    """A batch as it is known here."""

    id: str
    run: str
    endpoint: str
    """Its spec as JSON, without a secret."""
    label: str
    state: str
    file: str
    """Its name in the folder of its run."""
    count: int
    size: int
    remote: str = ""
    certain: bool = True
    submitting: float | None = None
    """When the call that submits it was begun; set before it is made."""
    created: float
    submitted: float | None = None
    ended: float | None = None
    done: int = 0
    failed: int = 0
    cost: str = "0"
    reserve: str = "0"
    """Dollars that it will probably take, held against the budget until it is collected."""
    reserve_tokens: int = 0
    tries: int = 0
    why: str = ""


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """A question that was put into a batch."""

    batch: str
    """Empty: it is in none, and may go into another."""
    tries: int
    failure: str
    """What became of it in the last one, as JSON."""
    lane: str
    """Who collected that one: another may ask it anew."""


class BatchStore:
    """The batches of one workspace. Use it from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with translated(path):
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=30, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        connection = self._connection
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found > _FORMAT:
            raise NewerWorkspaceError(
                f"the batches {self.path} have format {found}; this version knows {_FORMAT}",
                remedy="Upgrade Penstock (pip install -U penstock), or use another workspace.",
            )
        connection.execute("PRAGMA synchronous = FULL")
        if found < _FORMAT:
            write_ahead(connection)
            connection.executescript(_SCHEMA)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # Batches ----------------------------------------------------------------------------------

    def add(self, batch: BatchRow, keys: Sequence[bytes]) -> None:
        """Remember a batch whose file is whole, and the questions in it."""
        with self._transaction() as connection:
            names = BatchRow.__struct_fields__
            marks = ", ".join("?" * len(names))
            connection.execute(
                f"INSERT INTO batches ({', '.join(names)}) VALUES ({marks})",  # noqa: S608
                msgspec.structs.astuple(batch),
            )
            connection.executemany(
                "INSERT INTO waiting (key, batch) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, failure = ''",
                ((key, batch.id) for key in keys),
            )

    def update(self, batch_id: str, **changes: Any) -> None:
        """Write what changed of a batch."""
        with self._transaction() as connection:
            self._update(connection, batch_id, changes)

    def get(self, batch_id: str) -> BatchRow:
        """The batch of that id."""
        found = self.all("WHERE id = ?", (batch_id,))
        if not found:
            raise NotFoundError(
                f"there is no batch {batch_id!r}", remedy="See `penstock batches list`."
            )
        return found[0]

    def file_of(self, batch: BatchRow) -> Path:
        """Where its questions lie: in the folder of its run, wherever the workspace is now."""
        return self.path.with_name("runs") / batch.run / batch.file

    def all(self, where: str = "", values: Sequence[Any] = ()) -> list[BatchRow]:
        """Batches, oldest first."""
        names = ", ".join(BatchRow.__struct_fields__)
        query = f"SELECT {names} FROM batches {where} ORDER BY created, id"  # noqa: S608
        with translated(self.path):
            rows = self._connection.execute(query, tuple(values)).fetchall()
        return [_batch(row) for row in rows]

    def open(self, run: str = "") -> list[BatchRow]:
        """The batches that are not collected yet, of one run or of all."""
        which = "AND run = ?" if run else ""
        return self.all(f"WHERE state != 'downloaded' {which}", (run,) if run else ())

    def remotes(self) -> frozenset[str]:
        """The names at their providers of all batches that are certainly ours."""
        query = "SELECT remote FROM batches WHERE remote != '' AND certain"
        with translated(self.path):
            rows = self._connection.execute(query)
            return frozenset(remote for (remote,) in rows)

    # Questions --------------------------------------------------------------------------------

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Waiting]:
        """Where questions wait."""
        found: dict[bytes, Waiting] = {}
        with translated(self.path):
            for start in range(0, len(keys), _BLOCK):
                block = keys[start : start + _BLOCK]
                marks = ",".join("?" * len(block))
                query = (
                    f"SELECT key, batch, tries, failure, lane FROM waiting WHERE key IN ({marks})"  # noqa: S608
                )
                for key, *rest in self._connection.execute(query, block):
                    found[key] = Waiting(*rest)
        return found

    def settle(
        self,
        batch_id: str,
        answered: Iterable[bytes],
        failed: Iterable[tuple[bytes, str]],
        *,
        lane: str,
        **changes: Any,
    ) -> None:
        """Take in what a part of the results says, all at once: these are answered, and these,
        each with its failure, are in no batch any more."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM waiting WHERE key = ?", ((k,) for k in answered))
            connection.executemany(
                "UPDATE waiting SET batch = '', tries = tries + 1, failure = ?, lane = ? "
                "WHERE key = ? AND batch = ?",
                ((failure, lane, key, batch_id) for key, failure in failed),
            )
            self._update(connection, batch_id, changes)

    def left_in(self, batch_id: str) -> Iterator[bytes]:
        """The questions of which nothing was heard."""
        with translated(self.path):
            rows = self._connection.execute(
                "SELECT key FROM waiting WHERE batch = ?", (batch_id,)
            ).fetchall()
        for (key,) in rows:
            yield key

    def owns(self, batch_id: str, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these wait in a batch."""
        return {key for key, found in self.find(keys).items() if found.batch == batch_id}

    # ------------------------------------------------------------------------------------------

    def _update(
        self, connection: sqlite3.Connection, batch_id: str, changes: dict[str, Any]
    ) -> None:
        if not changes:
            return
        unknown = changes.keys() - set(BatchRow.__struct_fields__)
        assert not unknown, unknown
        names = ", ".join(f"{name} = ?" for name in changes)
        connection.execute(
            f"UPDATE batches SET {names} WHERE id = ?",  # noqa: S608
            (*changes.values(), batch_id),
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _batch(row: Sequence[Any]) -> BatchRow:
    made = BatchRow(**dict(zip(BatchRow.__struct_fields__, row, strict=True)))
    made.certain = bool(made.certain)
    return made
