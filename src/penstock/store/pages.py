"""Records read straight from the pages of a SQLite file, for when SQLite will not.

One flipped bit in the first page or in the root makes SQLite refuse a file whole. The records are
still there: every page that may be a leaf is taken apart, in the file and in its write-ahead log,
and what matches its checksum is a record, wherever it was found.

Traded away: a page that was given up and not yet used again may still show its old records.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from penstock.errors import DamagedError
from penstock.store.record import Record

__all__ = ["Cell", "Pages"]

_LEAF = 0x0D
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_CONSTANTS = {8: 0, 9: 1}
_COLUMNS = 7
_WAL_HEADER = 32
_FRAME_HEADER = 24


class Cell(NamedTuple):
    """A record on a leaf: its number, and what it holds if that can be read."""

    number: int
    record: Record | None


class Pages:
    """The pages of a database and of its write-ahead log, every version of each."""

    def __init__(self, path: Path) -> None:
        self._main = _mapped(path)
        self._wal = _mapped(path.with_name(path.name + "-wal"))
        self._lay_out(4096, 0)

    def cells(self) -> Iterator[Cell]:
        """Every record on every leaf; more than once where a page has several versions."""
        for size, reserved in self._layouts():
            self._lay_out(size, reserved)
            for start in range(0, len(self._main), size):
                yield from self._leaf(self._main[start : start + size])
            for start in range(_WAL_HEADER + _FRAME_HEADER, len(self._wal), size + _FRAME_HEADER):
                yield from self._leaf(self._wal[start : start + size])

    def _layouts(self) -> set[tuple[int, int]]:
        """Page sizes and reserved bytes: what the header says, and the usual, if it is damaged."""
        size = _number(self._main, 16, 2)
        reserved = min(_number(self._main, 20, 1), 32)
        sizes = {size, 4096} & {1 << power for power in range(9, 16)}
        return {(size, spare) for size in sizes for spare in (0, reserved)}

    def _lay_out(self, size: int, reserved: int) -> None:
        self._size = size
        self._usable = size - reserved
        self._frames = {}
        for start in range(_WAL_HEADER, len(self._wal), size + _FRAME_HEADER):
            if self._wal[start + 8 : start + 16] == self._wal[16:24]:
                self._frames[_number(self._wal, start, 4)] = start + _FRAME_HEADER

    def _page(self, number: int) -> bytes:
        start = self._frames.get(number)
        if start is not None:
            return self._wal[start : start + self._size]
        return self._main[max(0, number - 1) * self._size : number * self._size]

    def _leaf(self, page: bytes) -> Iterator[Cell]:
        if page[:1] != bytes([_LEAF]):
            return
        for place in range(8, min(8 + 2 * _number(page, 3, 2), len(page)), 2):
            with suppress(IndexError, ValueError):
                yield self._cell(page, _number(page, place, 2))

    def _cell(self, page: bytes, start: int) -> Cell:
        length, start = _varint(page, start)
        number, start = _varint(page, start)
        types, ends = _header(page[start : start + 100])
        if ends[-1] != length:
            raise ValueError(length)  # no cell of ours: not worth following where it leads
        with suppress(ValueError, DamagedError):
            _, *columns = _columns(self._payload(page, start, length), types, ends)
            return Cell(number, Record.from_row(number, *columns))
        return Cell(number, None)

    def _payload(self, page: bytes, start: int, length: int) -> bytes:
        most = self._usable - 35
        if length <= most:
            return page[start : start + length]
        least = (self._usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (self._usable - 4)
        here = here if here <= most else least
        parts = [page[start : start + here]]
        missing = length - here
        following = _number(page, start + here, 4)
        while missing > 0:
            page = self._page(following)
            part = page[4 : 4 + min(missing, self._usable - 4)]
            if not part:
                raise ValueError(following)
            parts.append(part)
            missing -= len(part)
            following = _number(page, 0, 4)
        return b"".join(parts)


def _mapped(path: Path) -> bytes | mmap.mmap:
    if not path.exists() or not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _header(payload: bytes) -> tuple[list[int], list[int]]:
    """The types of a record's columns, and where each of them ends, behind the header's own end."""
    size, place = _varint(payload, 0)
    types: list[int] = []
    ends = [size]
    while place < size and len(types) < _COLUMNS:
        kind, place = _varint(payload, place)
        types.append(kind)
        ends.append(ends[-1] + (_WIDTHS.get(kind, 0) if kind < 12 else (kind - 12) // 2))
    if place != size or len(types) != _COLUMNS:
        raise ValueError(size)
    return types, ends


def _columns(payload: bytes, types: list[int], ends: list[int]) -> Iterator[Any]:
    for kind, (start, end) in zip(types, pairwise(ends), strict=True):
        if kind >= 12:
            yield payload[start:end]
        elif kind in _WIDTHS:
            yield int.from_bytes(payload[start:end], "big", signed=True)
        else:
            yield _CONSTANTS.get(kind)


def _varint(data: bytes, start: int) -> tuple[int, int]:
    value = 0
    for place in range(start, start + 8):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return value << 8 | data[start + 8], start + 9


def _number(data: bytes | mmap.mmap, start: int, size: int) -> int:
    return int.from_bytes(data[start : start + size], "big")
