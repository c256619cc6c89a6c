"""`rows`: one way to read everything.

Where the rows come from decides how: a path by its format, another library's table by its type,
anything else by iterating it. What is wrong with a source as a whole is said here, before any
work; what is wrong with a row, when it is reached, after the rows before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack, cast

from penstock.errors import InputError
from penstock.tables.files import FileOptions, ReadOptions, checked_path, format_of
from penstock.tables.frames import from_frame
from penstock.tables.memory import from_columns
from penstock.tables.source import RowSource, from_iterable

__all__ = ["rows"]

_Reader = Callable[[Path, ReadOptions], RowSource]

_READERS = {
    "csv": ("csvread", "read"),
    "tsv": ("csvread", "read"),
    "json": ("jsonread", "read"),
    "jsonl": ("jsonlines", "read"),
    "parquet": ("arrowfile", "read_parquet"),
    "arrow": ("arrowfile", "read_arrow"),
    "feather": ("arrowfile", "read_arrow"),
    "xlsx": ("xlsxread", "read"),
}
_USED_BY = {
    "encoding": {"csv", "tsv", "json", "jsonl"},
    "delimiter": {"csv", "tsv"},
    "types": {"csv", "tsv"},
    "bad_lines": {"csv", "tsv", "jsonl"},
    "unescape": {"csv", "tsv"},
    "sheet": {"xlsx"},
}


def rows(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    key: str | None = None,
    name: str | None = None,
    **options: Unpack[FileOptions],
) -> RowSource:
    """The rows of a file, a table or anything that can be iterated.

    `columns`: only these, in this order. `key`: make each value that is not a row a row with this
    one column. `name`: how messages call the source. The other options are for files: `format`,
    `encoding`, `delimiter`, `types`, `bad_lines`, `sheet`, `unescape`; see `ReadOptions`.
    """
    if isinstance(columns, str):
        raise InputError(f"columns={columns!r} is text; give a list of names")
    if isinstance(source, (str, Path)):
        found = _file(source, columns, options)
        if name is not None:
            found.name = name
    else:
        if given := [option for option, value in options.items() if value is not None]:
            raise InputError(f"{given[0]}= is for files, not for a {type(source).__name__}")
        found = _in_memory(source, key, name)
    if columns is None or found.column_names == list(columns):
        return found
    return found.select(list(columns))


def _file(source: str | Path, columns: Sequence[str] | None, given: FileOptions) -> RowSource:
    path = checked_path(source)
    known = format_of(path, given.get("format"))
    values = cast(dict[str, Any], given)
    for option in values:
        if option not in ReadOptions.__dataclass_fields__:
            raise InputError(f"{option}= is no option of reading a file")
        used = _USED_BY.get(option, {known})
        if known in _READERS and known not in used and values[option] is not None:
            raise InputError(f"{option}= is for {', '.join(sorted(used))}, not for {known}")
    only = None if columns is None else tuple(columns)
    options = ReadOptions(**(values | {"format": known, "columns": only}))
    return _reader(known)(path, options)


def _reader(known: str) -> _Reader:
    if known in _READERS:
        module, function = _READERS[known]
        return cast(_Reader, getattr(import_module(f"penstock.tables.{module}"), function))
    # A package or a notebook may have added it. Looking takes longer than all of this room.
    from penstock import plugins

    if known in plugins.names("reader"):
        return cast(_Reader, plugins.find("reader", known))
    raise InputError(
        f"there is no reader for {known!r}", remedy=f"Known formats: {', '.join(_READERS)}."
    )


def _in_memory(source: Any, key: str | None, name: str | None) -> RowSource:
    if isinstance(source, RowSource):
        return source
    if (frame := from_frame(source, name)) is not None:
        return frame
    called = name or f"the {type(source).__name__}"
    if isinstance(source, Mapping):
        return from_columns(source, called)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        return from_iterable(source, called, key)
    raise InputError(
        f"a {type(source).__name__} holds no rows",
        remedy="Give a file, a list or generator of dicts, a dict of lists, or a DataFrame.",
    )
