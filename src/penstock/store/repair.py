"""Saving what can be read of a damaged journal into a fresh one.

Nothing is asked of SQLite: the records are taken from the pages (see `pages.py`), so that damage
costs the records it lies on and no others. The damaged file is never changed, only renamed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from penstock.errors import HeldError
from penstock.store.file import SCHEMA, create, open_file, translated
from penstock.store.journal import Journal
from penstock.store.pages import Pages

__all__ = ["Repaired", "repair"]

_LARGEST_NUMBER = 1 << 48
_FILES = ("", "-wal", "-shm")
# Of one record the version replaced last counts, and of one question the answer recorded last:
# a second one can only have come by replacing the first.
_INSERT = """
INSERT INTO records (id, key, kind, meta, request, response, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET kind = max(kind, excluded.kind) WHERE key = excluded.key
"""
_OUTDATED = """
UPDATE records SET kind = 2
WHERE kind = 0 AND id NOT IN (SELECT max(id) FROM records WHERE kind = 0 GROUP BY key)
"""


class Repaired(NamedTuple):
    """What came of a repair."""

    saved: int
    lost: int
    kept: Path


def repair(journal: Journal) -> Repaired:
    """Replace a journal by what can be read of it."""
    path = journal.path
    fresh = path.with_name("journal.new.db")
    with translated(path), _held_alone(path):
        _remove(fresh)
        create(fresh, "full")
        with closing(open_file(fresh)) as connection:
            saved, lost = _save(path, connection)
        kept = _free_name(path)
        for suffix in _FILES:
            old = path.with_name(path.name + suffix)
            if old.exists():
                old.rename(kept.with_name(kept.name + suffix))
        fresh.rename(path)
    return Repaired(saved, lost, kept)


def _save(path: Path, connection: sqlite3.Connection) -> tuple[int, int]:
    broken = set()
    connection.execute("BEGIN")
    connection.execute("DROP INDEX answers")
    for cell in Pages(path).cells():
        if cell.record is None:
            broken.add(cell.number)
            continue
        number = cell.number if 0 < cell.number < _LARGEST_NUMBER else None
        row = cell.record.row()
        if not connection.execute(_INSERT, (number, *row)).rowcount:
            connection.execute(_INSERT, (None, *row))
    connection.execute(_OUTDATED)
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    numbers = {number for (number,) in connection.execute("SELECT id FROM records")}
    return len(numbers), len((broken | _indexed(path)) - numbers)


def _indexed(path: Path) -> set[int]:
    """The numbers that the index of the damaged file knows, as far as it can be read."""
    numbers = set()
    with suppress(sqlite3.DatabaseError), closing(_read_only(path)) as connection:
        query = "SELECT id FROM records INDEXED BY answers WHERE kind = 0"
        for (number,) in connection.execute(query):
            numbers.add(number)
    return numbers


@contextmanager
def _held_alone(path: Path) -> Iterator[None]:
    """Refuses while anybody has the journal open; leaves its write-ahead log as it is."""
    with closing(_read_only(path)) as reader:
        with closing(sqlite3.connect(path, timeout=0.5, isolation_level=None)) as connection:
            try:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("SELECT count(*) FROM sqlite_master")
                connection.execute("PRAGMA locking_mode = NORMAL")
                connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                    raise HeldError(
                        f"{path} is in use", remedy="Stop the runs that use it, then run again."
                    ) from None
            except sqlite3.DatabaseError:
                pass  # too damaged to be in use
            with suppress(sqlite3.DatabaseError):
                # While this one looks, closing the other does not fold the log into the file.
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"journal.damaged-{stamp}{'' if n == 1 else f'-{n}'}.db" for n in count(1))
    return next(kept for name in names if not (kept := path.with_name(name)).exists())


def _remove(path: Path) -> None:
    for suffix in _FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
