"""The files that clients upload and batches leave behind, each seen by its own API only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.simulator.spool import Spool

__all__ = ["Files", "Stored"]


@dataclass(slots=True)
class Stored:
    """One file. `fetched` counts its downloads; `kind` is its purpose, or what it is made of."""

    id: str
    api: str
    name: str
    kind: str
    created: float
    expires: float | None = None
    made: bool = False
    fetched: int = 0
    spool: Spool = field(default_factory=Spool)


class Files:
    """All files, in the order in which they came."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._files: dict[str, Stored] = {}

    def add(self, stored: Stored) -> Stored:
        """Keep a file."""
        self._files[stored.id] = stored
        return stored

    def find(self, api: str, name: str) -> Stored | None:
        """A file of an API that is still there."""
        found = self._files.get(name)
        return found if found is not None and self._seen(found, api) else None

    def all(self, api: str) -> list[Stored]:
        """The files of an API, newest first."""
        return [file for file in reversed(self._files.values()) if self._seen(file, api)]

    def drop(self, stored: Stored) -> None:
        """Forget a file; a batch that reads it goes on reading."""
        self._files.pop(stored.id, None)

    def _seen(self, file: Stored, api: str) -> bool:
        return file.api == api and (file.expires is None or self._now() < file.expires)
