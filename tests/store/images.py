"""Journals as they lie on disk, to be damaged."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from penstock.store import Record

__all__ = ["PAGE", "Image", "flipped", "lay"]

PAGE = 4096


class Image(NamedTuple):
    """A journal as it lies on disk."""

    db: bytes
    wal: bytes
    records: list[Record]
    ends: list[int]
    """The size of the log when each record was acknowledged."""


def lay(path: Path, db: bytes, wal: bytes = b"") -> None:
    path.write_bytes(db)
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    log = path.with_name(path.name + "-wal")
    log.unlink(missing_ok=True)
    if wal:
        log.write_bytes(wal)


def flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
