"""Bytes on disk that nobody else sees: what was uploaded, and the answers that wait to be fetched.

A spool is a temporary file without a name (in memory while it is small). It goes when nobody holds
it any more, or when the process goes, however that ends. `Lines` is a spool read by the number of
a line; of each line only its place is kept in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

__all__ = ["Lines", "Spool"]

IN_MEMORY = 64 * 1024
PIECE = 256 * 1024


class Spool:
    """Bytes that grow at the end and are read anywhere."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        self._at_end = True
        self.size = 0

    def __del__(self) -> None:
        self._file.close()

    def append(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        if not self._at_end:
            self._file.seek(0, 2)
            self._at_end = True
        self._file.write(data)
        self.size += len(data)

    def read(self, start: int, length: int) -> bytes:
        """So many bytes, fewer at the end."""
        self._file.seek(start)
        self._at_end = False
        return self._file.read(length)

    def pieces(self, stop: int | None = None) -> Iterator[bytes]:
        """The bytes from the start, piece by piece."""
        stop = self.size if stop is None else stop
        for start in range(0, stop, PIECE):
            yield self.read(start, min(PIECE, stop - start))


class Lines:
    """The lines of a spool by their number; empty ones do not count."""

    def __init__(self, spool: Spool | None = None) -> None:
        self.spool = spool or Spool()
        self._starts = array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, line: bytes) -> None:
        """Add a line at the end."""
        self._starts.append(self.spool.size)
        self.spool.append(line + b"\n")

    def __getitem__(self, index: int) -> bytes:
        start = self._starts[index]
        last = index + 1 == len(self._starts)
        end = self.spool.size if last else self._starts[index + 1]
        return self.spool.read(start, end - start).strip()

    def scan(self) -> Iterator[bytes]:
        """Find the lines of a spool that came whole; each as it is found."""
        at, size = 0, PIECE
        while at < self.spool.size:
            piece = self.spool.read(at, size)
            whole = len(piece) if at + len(piece) >= self.spool.size else piece.rfind(b"\n") + 1
            if not whole:  # a line longer than the piece
                size *= 2
                continue
            for line in piece[:whole].splitlines(keepends=True):
                if line.strip():
                    self._starts.append(at)
                    yield line.strip()
                at += len(line)
