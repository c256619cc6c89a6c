"""Rows of what is in memory: lists and dicts here, other libraries' tables in `frames`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import InputError
from penstock.tables.plain import plain
from penstock.tables.source import Block, RowSource

__all__ = ["from_columns"]


def from_columns(columns: Mapping[Any, Any], name: str) -> RowSource:
    """Rows of a dict of lists."""
    if not columns:
        raise InputError(f"{name} is empty", remedy="Give rows, or a dict of lists.")
    lists = {str(key): _as_list(key, values, name) for key, values in columns.items()}
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise InputError(f"the columns of {name} differ in length: {said}")
    names = list(lists)

    def read(size: int) -> Iterator[Block]:
        for start in range(0, lengths[names[0]], size):
            parts = [values[start : start + size] for values in lists.values()]
            yield [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    return RowSource(read, name=name, count=lengths[names[0]], column_names=names)


def _as_list(key: Any, values: Any, name: str) -> list[Any] | tuple[Any, ...]:
    if isinstance(values, (list, tuple)):
        return values
    if hasattr(values, "tolist"):
        values = plain(values.tolist())
        if isinstance(values, list):
            return values
    raise InputError(
        f"the column {key!r} of {name} is a {type(values).__name__}, not a list",
        remedy="Give a dict of lists, or put a single row into a list: [row].",
    )
