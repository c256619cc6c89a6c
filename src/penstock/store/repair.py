"""Saving what can be read of a damaged journal into a fresh one.

Reads by number, one at a time, so that a broken page costs the records on it and no others. The
damaged file is never changed, only renamed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from penstock.errors import DamagedError, HeldError
from penstock.store.journal import COLUMNS, Journal
from penstock.store.record import Record

__all__ = ["Repaired", "repair"]


class Repaired(NamedTuple):
    """What came of a repair."""

    saved: int
    lost: int
    kept: Path


def repair(journal: Journal) -> Repaired:
    """Replace a journal by what can be read of it."""
    path = journal.path
    fresh = path.with_name("journal.new.db")
    _remove(fresh)
    saved = lost = 0
    target = Journal(fresh).create()
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for record in _readable(path):
            if record is None:
                lost += 1
                continue
            target.insert(connection, record)
            saved += 1
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = path.with_name(f"journal.damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
    for suffix in ("", "-wal", "-shm"):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(kept.with_name(kept.name + suffix))
    fresh.rename(path)
    _remove(fresh)
    return Repaired(saved, lost, kept)


def _readable(path: Path) -> Iterator[Record | None]:
    """Every record by number; None for one that cannot be read."""
    with closing(sqlite3.connect(path, timeout=1)) as connection:
        for number in range(1, _last(connection, path) + 1):
            try:
                query = f"SELECT {COLUMNS} FROM records NOT INDEXED WHERE id = ?"  # noqa: S608
                row = connection.execute(query, (number,)).fetchone()
                if row is not None:
                    yield Record.from_row(*row)
            except (sqlite3.DatabaseError, DamagedError):
                yield None


def _last(connection: sqlite3.Connection, path: Path) -> int:
    try:
        found = connection.execute("SELECT max(id) FROM records NOT INDEXED").fetchone()[0]
        return int(found or 0)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise HeldError(f"{path} is in use", remedy="Stop the runs that use it.") from None
    except sqlite3.DatabaseError:
        pass
    # The way to the last record is broken: no record is smaller than this many bytes.
    with suppress(OSError):
        return path.stat().st_size // 32
    return 0


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
