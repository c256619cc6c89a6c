"""The SQLite file under the journal: made, checked and opened, and its faults put into words."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from penstock.errors import (
    DamagedError,
    HeldError,
    NewerWorkspaceError,
    StorageFullError,
    StoreError,
)

__all__ = ["COLUMNS", "REPAIR", "SCHEMA", "create", "open_file", "translated", "write_ahead"]

_FORMAT = 1
_PATIENCE = 30.0
_APPLICATION = 0x50454E53  # "PENS"
REPAIR = "Run `penstock journal repair` to save every record that can be read."
_ROOM = "Free some room or make it writable, then run again: nothing done is lost."
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNWRITABLE = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
)
COLUMNS = "id, key, kind, meta, request, response, checksum"
SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    kind INTEGER NOT NULL,
    meta BLOB NOT NULL,
    request BLOB NOT NULL,
    response BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS answers ON records (key) WHERE kind = 0;
"""


def create(path: Path, durability: str) -> None:
    """Make the file for the owner alone, or check that the one there is ours."""
    with translated(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            found = _format(connection, path)
        if found < _FORMAT:
            with closing(open_file(path, durability)) as connection:
                connection.executescript(SCHEMA)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_FORMAT}")


def _format(connection: sqlite3.Connection, path: Path) -> int:
    """The format of a file that is ours; 0 for one that is new. Changes nothing."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if (application or found or tables - {"records", "answers"}) and application != _APPLICATION:
        raise StoreError(
            f"{path} is not a journal of Penstock",
            remedy="Move it away. If it was one: `penstock journal repair` saves its records.",
        )
    if found > _FORMAT:
        raise NewerWorkspaceError(
            f"the journal {path} has format {found}; this version knows {_FORMAT}",
            remedy="Upgrade Penstock (pip install -U penstock), or use another workspace.",
        )
    return int(found)


def open_file(path: Path, durability: str = "full") -> sqlite3.Connection:
    """A connection that commits as durably as was asked for."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, cached_statements=64)
    try:
        write_ahead(connection)
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
    except BaseException:
        connection.close()
        raise
    connection.text_factory = bytes  # there is no text; what damage made one is still checked
    return connection


def write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the file to write-ahead logging. Two who do so at once are refused without waiting,
    whatever the time-out says, so the waiting is done here."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > until:
                raise
            time.sleep(0.02)


class translated:  # noqa: N801 - used as a function
    """Turns what SQLite says into what a person can act on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.DatabaseError):
            raise self._translate(error) from None
        if isinstance(error, OSError):
            raise StorageFullError(
                f"{self._path} cannot be written: {error.strerror or error}", remedy=_ROOM
            ) from None

    def _translate(self, error: sqlite3.DatabaseError) -> StoreError:
        said = str(error)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED or said.startswith("no such "):
            return DamagedError(f"{self._path} is damaged: {said}", remedy=REPAIR)
        if code in _UNWRITABLE:
            return StorageFullError(f"{self._path} cannot be written: {said}", remedy=_ROOM)
        if code == sqlite3.SQLITE_BUSY:
            return HeldError(f"{self._path} is in use", remedy="Stop the other runs that use it.")
        return StoreError(f"{self._path}: {said}")
