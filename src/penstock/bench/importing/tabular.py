"""A dataset from a table: csv, jsonl, json, parquet, arrow, xlsx, or anything else that holds rows.

The rows keep all their columns and their order; they are streamed into a file beside the dataset.
What is asked is a column, several joined by a newline, or a template with the names of columns in
it. Columns that are named must be there. A row with nothing to ask is an error that names it,
unless such rows are to be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeAlias

from penstock.bench.importing.finding import id_of
from penstock.bench.importing.placing import place_rows
from penstock.bench.importing.report import named
from penstock.bench.importing.targets import free_name, put_target, target_of
from penstock.bench.objects import Dataset
from penstock.bench.shelves import Shelves
from penstock.documents.shelf import Entry
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.files import checked_id
from penstock.tables import RowSource, rows
from penstock.tables.plain import text_of
from penstock.templates import Template

__all__ = ["Missing", "Taken", "Wanted", "import_dataset", "name_of", "take"]

Missing: TypeAlias = Literal["error", "skip"]
_Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a dataset made of a table is called, and which of its columns mean what."""

    name: str
    description: str = ""
    license: str = ""
    reference: str = ""
    input: str | Sequence[str] = "input"
    target: str | None = "target"
    cluster: str | None = None
    id: str | None = None
    missing: Missing = "error"
    overwrite: bool = False


@dataclass(frozen=True)
class Taken:
    """What came of it."""

    entry: Entry[Dataset]
    examples: int
    left_out: tuple[int, ...] = ()
    """Rows with nothing to ask, from 1."""
    new: bool = True
    """False where an equal dataset was there."""


def import_dataset(
    source: Any,
    bench: Workbench,
    *,
    name: str,
    description: str = "",
    license: str = "",  # noqa: A002 - as it is called
    reference: str = "",
    input: str | Sequence[str] = "input",  # noqa: A002 - as it is called
    target: str | None = "target",
    id: str | None = None,  # noqa: A002 - as it is called
    cluster: str | None = None,
    missing: Missing = "error",
    overwrite: bool = False,
) -> Entry[Dataset]:
    """Keep a table as a dataset of the workspace.

    `source`: a file, or anything that `penstock.tables.rows` reads. `input`: the column that is
    asked, several of them, or a template such as "Q: {question}". `target`: the column with what
    would be right, or None. `cluster`: the column that says which rows belong together. `missing`:
    whether a row with nothing to ask is an error, or left out ("skip").
    """
    wanted = Wanted(
        name=name,
        description=description,
        license=license,
        reference=reference,
        input=input,
        target=target,
        cluster=cluster,
        id=id,
        missing=missing,
        overwrite=overwrite,
    )
    return take(rows(source), bench, wanted).entry


def take(source: RowSource, bench: Workbench, wanted: Wanted) -> Taken:
    """The same, with how many rows went in and which did not."""
    name = checked_id(wanted.id) if wanted.id is not None else id_of(wanted.name)
    iterator = iter(source)
    first = next(iterator, None)
    if first is None:
        raise InputError(f"{source.name} holds no rows")
    columns = source.column_names or list(first)
    asking = _asking(wanted.input, columns, source.name)
    named_columns = [each for each in (wanted.target, wanted.cluster) if each is not None]
    _check(named_columns, columns, source.name)
    made = Dataset.made(
        {
            "name": wanted.name,
            "description": wanted.description,
            "license": wanted.license,
            "reference": wanted.reference,
            "file": f"{name}.jsonl",
            "input": asking.column,
            "target": wanted.target or "target",
            "cluster": wanted.cluster,
        },
        "the dataset",
    )
    examples = _Examples(chain([first], iterator), asking, wanted, source.name)
    bench.workspace.prepare()
    shelf = Shelves(bench).datasets
    new = place_rows(shelf, name, made, examples, overwrite=wanted.overwrite)
    entry = Entry(name, made, shelf.folder / f"{name}.yaml")
    return Taken(entry, examples.count, tuple(examples.left_out), new)


@dataclass(frozen=True)
class _Asking:
    """How a row becomes a question, and the column that it stands in."""

    column: str
    of: Callable[[Mapping[str, Any]], str]


class _Examples:
    """The rows with their question and target; read once."""

    def __init__(self, found: Iterator[_Row], asking: _Asking, wanted: Wanted, name: str) -> None:
        self._found = found
        self._asking = asking
        self._wanted = wanted
        self._name = name
        self.left_out: list[int] = []
        self.count = 0

    def __iter__(self) -> Iterator[_Row]:
        asking, target = self._asking, self._wanted.target
        for number, given in enumerate(self._found, start=1):
            question = asking.of(given)
            if not question.strip():
                self.left_out.append(number)
                continue
            self.count += 1
            row = {**given, asking.column: question}
            if target is not None:
                row.setdefault(target, None)
                put_target(row, target, target_of(row[target]))
            yield row
        if self.left_out and (self._wanted.missing == "error" or not self.count):
            which = "row" if len(self.left_out) == 1 else "rows"
            raise InputError(
                f"{self._name}: nothing to ask in {which} {named(self.left_out)}",
                remedy="Fill in what is asked, or leave them out: --skip-empty (missing='skip').",
            )


def _asking(given: str | Sequence[str], columns: Sequence[str], name: str) -> _Asking:
    several = [given] if isinstance(given, str) else list(given)
    if not several:
        raise InputError("no column is named that is asked", remedy=_there(columns))
    if len(several) > 1:
        _check(several, columns, name)
        return _Asking(free_name("input", columns), lambda row: _joined(row, several))
    [only] = several
    if only in columns or "{" not in only:
        _check(several, columns, name)
        return _Asking(only, lambda row: text_of(row.get(only)) or "")
    template = Template(only)
    if not template.names:
        raise InputError(
            f"the template {only!r} names no column, so every row would ask the same",
            remedy=_there(columns),
        )
    _check(template.names, columns, name)
    return _Asking(free_name("input", columns), lambda row: _filled(template, row))


def _joined(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    texts = [text_of(row.get(column)) for column in columns]
    return "\n".join(text for text in texts if text)


def _filled(template: Template, row: Mapping[str, Any]) -> str:
    values = {name: text_of(row.get(name)) for name in template.names}
    return template.fill(values) if any(values.values()) else ""


def _check(wanted: Sequence[str], columns: Sequence[str], name: str) -> None:
    for column in wanted:
        if column not in columns:
            raise InputError(f"{name} has no column {column!r}", remedy=_there(columns))


def _there(columns: Sequence[str]) -> str:
    return f"It has: {', '.join(map(str, columns))}. Say which with input and target."


def name_of(path: Path) -> str:
    """What a dataset is called that has no other name than its file's."""
    return Path(path.name.removesuffix(".gz")).stem
