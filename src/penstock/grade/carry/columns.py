"""A JSON object of columns, carried: `{"text": [...], ...}` with new columns at its end.

Such a file can only be read whole (`tables.jsonread`; at most 256 MiB). Its text is kept as it is
and the new columns are set in before the last brace; the rows lie beside it as JSON lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from penstock.grade.carry.jsontext import SPACE, spelled
from penstock.grade.carry.store import Added, Filling, Staged
from penstock.grade.carry.text import Encodings, TextOut
from penstock.tables.files import ReadOptions
from penstock.tables.jsonlines import loads
from penstock.tables.jsonread import read
from penstock.tables.source import Row

__all__ = ["part", "problem", "rows", "stage", "write"]

_PIECE = 1 << 20


def stage(
    path: Path, options: ReadOptions, filling: Filling, encodings: Encodings
) -> dict[str, Any]:
    """Keep the text, which was staged as `records`, and set the rows beside it."""
    source = read(path, options)
    (filling.folder / "records").rename(filling.folder / "original")
    filling.carrier = "columns"
    filling.columns.update(dict.fromkeys(source.column_names or []))
    at = 0
    with filling.new("records") as file:
        for block in source.blocks():
            for row in block:
                line = json.dumps(row).encode()
                filling.put(file, line)
                filling.span(at, at + len(line))
                at += len(line)
    return {"inner": encodings.inner, "outer": encodings.outer}


def rows(staged: Staged, start: int, stop: int) -> Iterator[Row]:
    return map(loads, staged.records(start, stop))


def problem(staged: Staged, number: int) -> str:
    raise AssertionError(f"row {number} of {staged.path}: no row of columns is broken")


def write(staged: Staged, added: Added, new: Path) -> list[str]:
    encodings = Encodings(staged.facts["inner"], staged.facts["outer"])
    ascii_only = encodings.outer != "utf-8"
    with ExitStack() as stack:
        # The rows come one by one, the file wants one column after the other.
        folder = stack.enter_context(TemporaryDirectory(dir=staged.folder))
        columns = [stack.enter_context(TemporaryFile(dir=folder)) for _ in added.titles]
        between = b""
        for values in added:
            for column, value in zip(columns, values, strict=True):
                column.write(between + spelled(value, ascii_only=ascii_only))
            between = b", "
        text = (staged.folder / "original").read_bytes()
        core = text.rstrip(SPACE)[:-1].rstrip(SPACE)
        out = stack.enter_context(TextOut(new, encodings))
        out.raw(core)
        for title, column in zip(added.titles, columns, strict=True):
            out.raw(b",\n" + spelled(title, ascii_only=ascii_only) + b": [")
            column.seek(0)
            for piece in iter(lambda: column.read(_PIECE), b""):  # noqa: B023
                out.raw(piece)
            out.raw(b"]")
        out.raw(text[len(core) :])
    return []


def part(staged: Staged, ranges: Sequence[range], new: Path) -> None:
    columns: dict[str, list[Any]] = {name: [] for name in staged.columns}
    for some in ranges:
        for row in rows(staged, some.start, some.stop):
            for name, value in row.items():
                columns[name].append(value)
    with TextOut(new, Encodings("utf-8", staged.facts["outer"])) as out:
        out.raw(json.dumps(columns).encode() + b"\n")
