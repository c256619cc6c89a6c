"""Which format a file has, by its name or by what is in it, and opening it.

A file that is not what its name says is refused with what it looks like: guessing on would only
fail later, and in a stranger way. gzip is unpacked as a stream: what it grows to is bounded by
what its reader holds at a time.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypedDict, cast

from penstock.errors import InputError, NotFoundError

__all__ = ["FORMATS", "FileOptions", "ReadOptions", "check_content", "checked_path", "format_of"]
__all__ += ["opened", "reading_errors"]

BadLines = Literal["error", "skip", "keep"]

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow", "feather", "xlsx")
_SUFFIXES = {f".{name}": name for name in FORMATS} | {
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".pq": "parquet",
    ".ipc": "arrow",
    ".arrows": "arrow",
}
_PACKED = ("csv", "tsv", "json", "jsonl")
_TEXT = frozenset(_PACKED)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1\x00\x00", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"PK\x03\x04", "xlsx"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "gzip"),
    (b"\xd0\xcf\x11\xe0", "an old or encrypted Excel file (xls)"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "an SQLite database"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "XML"),
)


class FileOptions(TypedDict, total=False):
    """How a file is read; see `ReadOptions`."""

    format: str | None
    encoding: str | None
    delimiter: str | None
    types: Literal["infer"] | None
    bad_lines: BadLines
    sheet: str | int | None
    unescape: bool


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read.

    `format`: instead of the suffix. `encoding`: of text, instead of detecting it. `delimiter`,
    `types` ("infer": numbers and booleans instead of text), `unescape` (False: keep the
    apostrophe before formulas): csv and tsv. `bad_lines`: csv, tsv, jsonl. `sheet`: xlsx, by
    name or by number from 1. `columns`: only these.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    types: Literal["infer"] | None = None
    bad_lines: BadLines = "error"
    sheet: str | int | None = None
    unescape: bool = True
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.bad_lines not in ("error", "skip", "keep"):
            raise InputError(f"bad_lines={self.bad_lines!r}; it is 'error', 'skip' or 'keep'")
        if self.types not in (None, "infer"):
            raise InputError(f"types={self.types!r}; it is None or 'infer'")


def checked_path(source: str | Path) -> Path:
    """A path to a file that is there."""
    path = Path(source).expanduser()
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir())
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        holds = f"It holds: {', '.join(names[:10])}{more}." if names else "It is empty."
        raise InputError(f"{path} is a folder, not a file", remedy=holds)
    if not path.exists():
        raise NotFoundError(f"there is no file {path}")
    return path


def format_of(path: Path, given: str | None) -> str:
    """The format of a file: the given one, else by its suffix."""
    if given is not None:
        return given.lower().lstrip(".")
    suffix = path.suffix.lower()
    packed = suffix == ".gz"
    if packed:
        suffix = Path(path.stem).suffix.lower()
    name = _SUFFIXES.get(suffix, suffix.lstrip("."))
    if packed and name not in _PACKED:
        raise InputError(f"{path}: only {', '.join(_PACKED)} may be packed with gzip")
    if not name:
        raise InputError(
            f"{path} has no suffix that says what it is",
            remedy=f"Give format=; known are {', '.join(FORMATS)}.",
        )
    return name


def check_content(path: Path, expected: str) -> None:
    """Raise InputError if a file is empty or is plainly not what it is said to be."""
    with reading_errors(path), opened(path) as stream:
        start = stream.read(512)
    if not start:
        raise InputError(f"{path} is empty")
    looks = _looks_like(start)
    binary = expected not in _TEXT
    wanted = "arrow" if expected == "feather" else expected
    if looks != wanted if binary else looks in _NOT_TEXT and not _readable(start, looks):
        raise InputError(
            f"{path} is not {expected}: it looks like {looks}",
            remedy="Give its format with format=, or the right file.",
        )


_NOT_TEXT = frozenset(name for _, name in _MAGIC)


def _readable(start: bytes, looks: str) -> bool:
    """Whether it is text all the same: a csv file may have a column named PAR1."""
    plain = all(byte >= 32 or byte in b"\t\r\n" for byte in start) and 127 not in start
    return plain and looks not in ("an HTML page", "XML", "a PDF") and start.isascii()


def _looks_like(start: bytes) -> str:
    low = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, name in _MAGIC:
        if start.startswith(magic) or (magic.startswith(b"<") and low.startswith(magic)):
            return name
    if low.startswith((b"{", b"[")):
        return "JSON"
    if b"\x00" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "binary data"
    return "text"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is gzip by its content."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            yield cast(IO[bytes], unpacked)


@contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Turns what goes wrong while reading into an InputError that names the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
