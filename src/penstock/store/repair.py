"""Saving what can be read of a damaged journal into a fresh one.

The records are taken from the pages themselves (see `pages.py`), so that damage costs the records
it lies on and no others; SQLite is only asked for what its index still knows. The damaged file is
never changed, only renamed.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from penstock.errors import DamagedError, HeldError, StoreError
from penstock.store.file import COLUMNS, SCHEMA, create, open_file, translated
from penstock.store.journal import Journal
from penstock.store.pages import Cell, Pages
from penstock.store.record import Record

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
_HOLD = """
import os, sqlite3, sys
held = False
try:
    connection = sqlite3.connect(sys.argv[1], uri=True, timeout=0.5)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
except sqlite3.DatabaseError as error:
    held = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
print("held" if held else "alone", flush=True)
sys.stdin.read()
os._exit(0)
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
    if not path.exists():
        raise StoreError(f"there is no journal {path}")
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
    for number, record in chain(Pages(path).cells(), _indexed(path)):
        if record is None:
            broken.add(number)
            continue
        known = number if 0 < number < _LARGEST_NUMBER else None
        if not connection.execute(_INSERT, (known, *record.row())).rowcount:
            connection.execute(_INSERT, (None, *record.row()))
    connection.execute(_OUTDATED)
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    numbers = {number for (number,) in connection.execute("SELECT id FROM records")}
    return len(numbers), len(broken - numbers)


def _indexed(path: Path) -> Iterator[Cell]:
    """What the index knows, as far as it can be read; it has keys of its own."""
    query = f"SELECT {COLUMNS} FROM records INDEXED BY answers WHERE kind = 0"  # noqa: S608
    with suppress(sqlite3.DatabaseError), closing(_unlocked(path)) as connection:
        connection.text_factory = bytes
        for row in connection.execute(query):
            try:
                yield Cell(row[0], Record.from_row(*row))
            except DamagedError:
                yield Cell(row[0], None)


@contextmanager
def _held_alone(path: Path) -> Iterator[None]:
    """Nobody else may have the journal open meanwhile.

    A child holds the lock, because it can end without closing the file: that would fold the log
    into it.
    """
    command = [sys.executable, "-I", "-c", _HOLD, f"{path.absolute().as_uri()}?mode=rw"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        if child.stdout.readline() != b"alone\n":
            raise HeldError(f"{path} is in use", remedy="Stop the runs that use it.")
        yield


def _unlocked(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"journal.damaged-{stamp}{'' if n == 1 else f'-{n}'}.db" for n in count(1))
    return next(kept for name in names if not (kept := path.with_name(name)).exists())


def _remove(path: Path) -> None:
    for suffix in _FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
