"""Questions on their way into a batch: written to a file, until it is full.

A file is `.part` while it grows and gets its name when it is whole; what a killed process left
half written was never submitted and is written again.
"""

from __future__ import annotations

import os
from pathlib import Path

from penstock.endpoint import Endpoint
from penstock.files import storage_errors
from penstock.outcome import Failure, FailureKind
from penstock.providers.batch import Batches
from penstock.request import Request
from penstock.tables.atomic import durable, put

__all__ = ["Spool"]

_ROOM = 4096  # for what stands around the questions


class Spool:
    """One file for one endpoint."""

    def __init__(self, endpoint: Endpoint, batches: Batches, path: Path, most: int | None) -> None:
        self.endpoint = endpoint
        self.path = path
        self.keys: dict[bytes, None] = {}
        self.size = 0
        self._batches = batches
        limits = batches.limits
        self._most = min(limits.requests, most or limits.requests)
        self._largest = limits.bytes - _ROOM
        self._part = path.with_name(path.name + ".part")
        with storage_errors(path.parent):
            handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self._file = os.fdopen(handle, "wb", buffering=1 << 20)

    def add(self, request: Request, key: bytes) -> Failure | bool:
        """Write a question; False when it has no room here, a Failure when it has none anywhere."""
        item = self._batches.item(key.hex(), request)
        taken = len(item) + len(self._batches.separator)
        if taken > self._largest:
            return Failure(
                FailureKind.TOO_LARGE,
                f"the question takes {taken:,} bytes; a batch takes {self._largest:,}",
            )
        if len(self.keys) >= self._most or self.size + taken > self._largest:
            return False
        with storage_errors(self.path.parent):
            if self.keys:
                self._file.write(self._batches.separator)
            self._file.write(item)
        self.keys[key] = None
        self.size += taken
        return True

    def close(self) -> None:
        """The file is whole and on disk."""
        with storage_errors(self.path.parent):
            self._file.close()
            durable(self._part)
            put(self._part, self.path)

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._part.unlink(missing_ok=True)
