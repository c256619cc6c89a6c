"""Where a staged file lies: its records in one file, the place of each in another.

    records     the file's own text, or its rows in a form that can be read from the middle
    index       where each record begins and ends, sixteen bytes each
    broken      the numbers of the rows that cannot be read, eight bytes each
    original    the file itself, where `records` is only its rows
    stage.json  all else; written last: a stage without it is none

So any rows can be read without those before them, in memory that does not grow with the file.
All of it is the owner's alone.
"""

from __future__ import annotations

import json
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

from penstock.errors import DamagedError, InputError, NewerWorkspaceError, NotFoundError
from penstock.tables.atomic import disk_errors, durable, put
from penstock.tables.source import Problem, Problems, Row
from penstock.tables.stretch import private

__all__ = ["Added", "Carrier", "Filling", "Manifest", "Staged", "read_manifest"]

_VERSION = 1
_FILES = ("stage.json", "index", "broken", "records", "original", "schema")
_HELD = 8192
_MOST_NAMES = 100_000
_BUFFER = 1 << 18


class Manifest(msgspec.Struct):
    """What is known of a staged file; `facts` are for the format that wrote them."""

    version: int
    path: str
    format: str
    carrier: str
    count: int
    columns: list[str]
    problems: list[tuple[int, str]]
    problem_count: int
    notes: list[str]
    facts: dict[str, Any]


def read_manifest(folder: Path) -> Manifest:
    """What `finish` wrote."""
    path = folder / "stage.json"
    try:
        manifest = msgspec.convert(json.loads(path.read_bytes()), Manifest)
    except FileNotFoundError:
        raise NotFoundError(f"no file was staged in {folder}") from None
    except (ValueError, msgspec.ValidationError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from None
    if manifest.version != _VERSION:
        raise NewerWorkspaceError(f"{path} was written by another version of Penstock")
    return manifest


class Added(Protocol):
    """What is added to each row, in the order of the rows."""

    @property
    def titles(self) -> list[str]: ...
    def __iter__(self) -> Iterator[list[Any]]: ...


class Carrier(Protocol):
    """What a format does with its files. The modules of this room are carriers."""

    def rows(self, staged: Staged, start: int, stop: int) -> Iterator[Row]:
        """Plain values; of a broken row what can be read of it."""

    def problem(self, staged: Staged, number: int) -> str:
        """What is wrong with a row that is broken."""

    def write(self, staged: Staged, added: Added, new: Path) -> list[str]:
        """The file with what is added, and what there is to say about it."""

    def part(self, staged: Staged, ranges: Sequence[range], new: Path) -> None:
        """Some rows as a file of their own."""


class Filling:
    """A stage in the making."""

    def __init__(self, folder: Path, carrier: str) -> None:
        with disk_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in _FILES:
                (folder / name).unlink(missing_ok=True)
        self.folder = folder
        self.carrier = carrier
        self.count = 0
        self.columns: dict[str, None] = {}
        self.problems = Problems()
        self.notes: list[str] = []
        self._index = self.new("index")
        self._spans = array("Q")
        self._broken = array("Q")

    def new(self, name: str) -> IO[bytes]:
        """A file to fill: `records`, `original` or `schema`."""
        with disk_errors(self.folder):
            return private(self.folder / name)

    def put(self, file: IO[bytes], body: bytes) -> None:
        """Write; a full disk is told from what is wrong with the file that is read."""
        with disk_errors(self.folder):
            file.write(body)

    def span(self, start: int, stop: int) -> None:
        """The next record lies here."""
        self._spans.append(start)
        self._spans.append(stop)
        self.count += 1
        if len(self._spans) >= _HELD:
            self._flush()

    def broken(self, line: int, reason: str) -> None:
        """The next record cannot be read as a row."""
        self._broken.append(self.count)
        self.problems.note(line, reason)

    def names(self, row: Row, path: Path) -> None:
        """Columns that a row names."""
        if row.keys() <= self.columns.keys():
            return
        self.columns.update(dict.fromkeys(row))
        if len(self.columns) > _MOST_NAMES:
            raise InputError(
                f"{path} has more than {_MOST_NAMES:,} different names of columns",
                remedy="Put what varies from row to row into a list, as values and not as names.",
            )

    def finish(self, path: Path, form: str, facts: dict[str, Any]) -> Manifest:
        self._flush()
        self.close()
        with self.new("broken") as file:
            self.put(file, self._broken.tobytes())
        manifest = Manifest(
            version=_VERSION,
            path=str(path),
            format=form,
            carrier=self.carrier,
            count=self.count,
            columns=list(self.columns),
            problems=[(problem.line, problem.reason) for problem in self.problems],
            problem_count=self.problems.total,
            notes=self.notes,
            facts=facts,
        )
        new = self.folder / "stage.json.new"
        with disk_errors(new):
            new.unlink(missing_ok=True)
            with private(new) as file:
                # Names and paths may hold half characters, which only this spells.
                file.write(json.dumps(msgspec.to_builtins(manifest)).encode())
            durable(new)
            put(new, self.folder / "stage.json")
        return manifest

    def close(self) -> None:
        self._index.close()

    def discard(self) -> None:
        """Take away what was filled so far."""
        self.close()
        for name in _FILES:
            (self.folder / name).unlink(missing_ok=True)

    def _flush(self) -> None:
        with disk_errors(self.folder):
            self._spans.tofile(self._index)
        self._spans = array("Q")


class Staged:
    """A file, read once, whose rows can be read again from any place.

    `columns`: its names, as prompts use them. `problems`: the lines that cannot be read, the
    first 1,000 (`problems.total` counts all); their rows are kept. `notes`: what else there is
    to say, for people.
    """

    def __init__(self, folder: Path, manifest: Manifest, carrier: Carrier) -> None:
        self.folder = folder
        self.path = Path(manifest.path)
        self.format = manifest.format
        self.columns = list(manifest.columns)
        self.notes = tuple(manifest.notes)
        self.facts = manifest.facts
        self.problems = Problems()
        self.problems.extend(Problem(line, reason) for line, reason in manifest.problems)
        self.problems.total = manifest.problem_count
        self.carrier = carrier
        self._count = manifest.count
        self._broken = array("Q", (folder / "broken").read_bytes())

    def __len__(self) -> int:
        return self._count

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Row]:
        """The rows from `start` to before `stop`, as plain values.

        A broken row gives what could be read of it; `problem` tells which they are.
        """
        start, stop, _ = slice(start, stop).indices(len(self))
        return self.carrier.rows(self, start, max(start, stop))

    def problem(self, number: int) -> str | None:
        """What is wrong with a row; None for almost all of them."""
        return self.carrier.problem(self, number) if self.is_broken(number) else None

    def is_broken(self, number: int) -> bool:
        place = bisect_left(self._broken, number)
        return place < len(self._broken) and self._broken[place] == number

    def remove(self) -> None:
        """Take the stage from the disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, name: str = "records") -> IO[bytes]:
        return (self.folder / name).open("rb", buffering=_BUFFER)

    def spans(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where the records lie."""
        with (self.folder / "index").open("rb") as file:
            file.seek(start * 16)
            while start < stop:
                some = array("Q")
                try:
                    some.fromfile(file, 2 * min(stop - start, _HELD))
                except (EOFError, ValueError):
                    raise DamagedError(f"{self.folder / 'index'} is cut short") from None
                yield from zip(some[::2], some[1::2], strict=True)
                start += len(some) // 2

    def records(self, start: int, stop: int) -> Iterator[bytes]:
        """The records as they lie there."""
        with self.open() as file:
            for begin, end in self.spans(start, stop):
                file.seek(begin)
                yield file.read(end - begin)
