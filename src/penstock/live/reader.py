"""Reading a feed, while it grows or after: only the bytes of the page that is asked for.

Files are opened anew each time, so that a reader may be older than the feed and outlive it, and
nothing is held between two looks. What a writer has not finished is not there yet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from penstock.live.feed import ENTRY, HEAD, MAGIC

__all__ = ["FeedReader", "Size"]

_MOST_BYTES = 32 << 20


class Size(NamedTuple):
    """How much there is of a feed."""

    mark: str
    """Tells this feed from one that a later run put in its place; empty where there is none."""
    rows: int
    failed: int


class _Entry(NamedTuple):
    place: int
    number: int
    failed_so_far: int
    length: int
    failed: int


class FeedReader:
    """Pages of the feed in a folder; rows in the order in which they arrived."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def size(self) -> Size:
        """How many rows there are, all and failed, and of which feed."""
        with self._opened() as files:
            return Size("", 0, 0) if files is None else files.size()

    def count(self) -> int:
        """How many rows there are."""
        return self.size().rows

    def failed_count(self) -> int:
        """How many of them failed."""
        return self.size().failed

    def columns(self) -> list[str]:
        """The names of columns, in the order in which they turned up."""
        try:
            lines = (self.folder / "live.columns").read_bytes().split(b"\n")[:-1]
        except OSError:
            return []
        return [name for line in lines if isinstance(name := _parsed(line), str)]

    def page(
        self, start: int, count: int, failed_only: bool = False, *, most_bytes: int = _MOST_BYTES
    ) -> list[dict[str, Any]]:
        """`count` rows from the `start`-th on: {"number", "status", "row", "failures"}.

        Fewer where the feed ends, and where rows are so large that they pass `most_bytes`
        together; but one at least.
        """
        found: list[dict[str, Any]] = []
        with self._opened() as files:
            if files is None:
                return found
            read = 0
            for entry in files.entries(max(0, start), max(0, count), failed_only):
                read += entry.length
                if found and read > most_bytes:
                    break
                found.append(files.row(entry))
        return found

    @contextmanager
    def _opened(self) -> Iterator[_Files | None]:
        with ExitStack() as stack:
            try:
                index, rows = (self._open(name, stack) for name in ("index", "rows"))
            except OSError:
                yield None
                return
            head = os.pread(index, HEAD.size, 0)
            whole = len(head) == HEAD.size and head.startswith(MAGIC)
            yield _Files(index, rows, head[len(MAGIC) :].hex()) if whole else None

    def _open(self, name: str, stack: ExitStack) -> int:
        handle = os.open(self.folder / f"live.{name}", os.O_RDONLY | os.O_CLOEXEC)
        stack.callback(os.close, handle)
        return handle


class _Files:
    """The two files of a feed, open for one look."""

    def __init__(self, index: int, rows: int, mark: str) -> None:
        self._index = index
        self._rows = rows
        self._mark = mark
        entries = (os.fstat(index).st_size - HEAD.size) // ENTRY.size
        there = os.fstat(rows).st_size
        # Only after a crash: entries whose rows never came to the disk.
        if entries and self._end(entries - 1) > there:
            entries = _first(entries, lambda place: self._end(place) > there)
        self._count = entries

    def size(self) -> Size:
        failed = self._entry(self._count - 1).failed_so_far if self._count else 0
        return Size(self._mark, self._count, failed)

    def entries(self, start: int, count: int, failed_only: bool) -> Iterator[_Entry]:
        if failed_only:
            for wanted in range(start + 1, min(start + count, self.size().failed) + 1):
                yield self._entry(self._nth_failed(wanted))
            return
        end = min(start + count, self._count)
        if start < end:
            size = (end - start) * ENTRY.size
            block = os.pread(self._index, size, HEAD.size + start * ENTRY.size)
            whole = len(block) - len(block) % ENTRY.size
            yield from map(_Entry._make, ENTRY.iter_unpack(block[:whole]))

    def row(self, entry: _Entry) -> dict[str, Any]:
        line = os.pread(self._rows, entry.length, entry.place)
        found = _parsed(line)
        if isinstance(found, dict) and found.get("number") == entry.number:
            return found
        # A row that cannot be read keeps its place.
        return {"number": entry.number, "status": "unreadable", "row": {}, "failures": []}

    def _entry(self, place: int) -> _Entry:
        block = os.pread(self._index, ENTRY.size, HEAD.size + place * ENTRY.size)
        return _Entry._make(ENTRY.unpack(block))

    def _end(self, place: int) -> int:
        entry = self._entry(place)
        return entry.place + entry.length

    def _nth_failed(self, wanted: int) -> int:
        return _first(self._count, lambda place: self._entry(place).failed_so_far >= wanted)


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """The first place from which on it holds; `count` where it never does."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _parsed(line: bytes) -> Any:
    try:
        # Python's own: orjson would round whole numbers beyond 64 bits.
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
