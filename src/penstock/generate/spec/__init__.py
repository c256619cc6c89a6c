"""A dataset as a file: the schema of its columns, the models that write them, how it is run.

    name: coding questions
    n: 100
    model: gpt-4o-mini
    columns:
      language: {choice: [Python, Rust]}
      question: {prompt: "A question about {language}", check: {min_length: 20}}

Nothing in it is code. `load` reads one; `Spec.dataset` makes a Dataset of it, or says everything
that is wrong with it, each mistake with its line, before anything is sent. `Spec.stored` is all of
it as plain data, its files in it, which a run keeps and is resumed from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.documents.problems import Problems
from penstock.engine.wishes import whole
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.arguments import no_column
from penstock.generate.columns import Column
from penstock.generate.dataset import Dataset
from penstock.generate.goal import Goal, Unlike
from penstock.generate.options import Options, checked_options
from penstock.generate.schema import Schema
from penstock.generate.spec.columns import Columns
from penstock.generate.spec.files import Files, check_storable
from penstock.generate.spec.mistakes import Mistakes, Part
from penstock.generate.spec.models import ModelBook
from penstock.generate.spec.samplers import check_categories
from penstock.generate.spec.values import a_mapping
from penstock.yamlfile import Document, read

__all__ = ["Spec", "load"]

_USUAL_ROWS = 100
_NOT_IN_FILES = {
    "check": "Checks stand at columns; whole rows are checked in Python.",
    "wait": "It is a flag of the command: --no-wait.",
    "view": "It is a flag of the command: --view.",
}
_OPTIONS = tuple(name for name in Options.__annotations__ if name not in _NOT_IN_FILES)
_KEYS = ("name", "n", "model", "models", *(o for o in _OPTIONS if o != "name"), "columns")
_HINTS = {**_NOT_IN_FILES, "rows": "Did you mean 'n'?", "schema": "Did you mean 'columns'?"}


def load(path: Path | str) -> Spec:
    """Read a file; relative paths in it are meant from its folder."""
    path = Path(path).expanduser()
    document = read(path)
    return Spec(document.name, document.data, Files(path.parent), document)


@dataclass(frozen=True)
class Spec:
    """A dataset as data."""

    name: str
    """How messages call it."""
    data: Any
    files: Files = field(default_factory=lambda: Files(Path()), compare=False, repr=False)
    document: Document | None = field(default=None, compare=False, repr=False)
    """Where everything stands, as long as there is a file."""

    def dataset(self, bench: Workbench, models: Mapping[str, str] | None = None) -> Dataset:
        """The Dataset. `models`: whom to ask in the place of a model by its name; "": of all."""
        problems = self._problems()
        made: Dataset | None = None
        with problems.at():
            check_storable(self.data, problems)
            made = self._made(bench, models or {}, problems)
        problems.check()
        assert made is not None
        return made

    def stored(self) -> dict[str, Any]:
        """All of it as plain data, its files in it; of one that `dataset` found right."""
        return self.files.stored(self.data)

    def check_rows(self, schema: Schema, n: int) -> None:
        """Refuse more rows than there can be, with the column that has them not."""
        problems = self._problems()
        for name, column in schema.columns.items():
            with problems.at("columns", name):
                column.check_rows(n)
        problems.check()

    def _problems(self) -> Mistakes:
        return Mistakes(self.name, self.document)

    def _made(
        self, bench: Workbench, models: Mapping[str, str], problems: Problems
    ) -> Dataset | None:
        if not isinstance(self.data, Mapping):
            raise InputError(
                "a dataset is wanted", remedy="Write columns:, and under it a name for each column."
            )
        whole_file = Part(problems, (), self.data)
        whole_file.only(_KEYS, _HINTS)
        n = whole_file.get("n", lambda given: whole("n", given), _USUAL_ROWS)
        options = _options(whole_file)
        book = ModelBook(problems, bench, self.data, models)
        schema = self._schema(whole_file, Columns(problems, book, self.files))
        if schema is not None:
            with problems.at("dedupe"):
                Unlike.of(_plain_dedupe(options.get("dedupe")), schema.makes)
        if len(problems) or schema is None:
            return None
        with problems.at("most" if "most" in options else "until"):
            Goal.of(n, options.get("until"), options.get("most"), None, None)
        return Dataset(schema.columns, n, workbench=bench, **checked_options(options))

    def _schema(self, whole_file: Part, columns: Columns) -> Schema | None:
        if whole_file.missing("columns"):
            return None
        given: Mapping[str, Any] = whole_file.get("columns", _some_columns, {})
        made = {name: columns.made(name, column) for name, column in given.items()}
        problems = whole_file.problems
        found = {name: column for name, column in made.items() if column is not None}
        known = [*made, *(field for column in found.values() for field in column.fields or ())]
        if all(column is not None or not _expands(given[name]) for name, column in made.items()):
            for name, column in found.items():
                _check_names(problems, (name, columns.kind(given[name])), column, known)
        check_categories(found, problems)
        if not found or len(problems):
            return None
        with problems.at("columns", *_suspect(found, known)):
            return Schema(found)
        return None


def _some_columns(given: Any) -> Mapping[str, Any]:
    found = a_mapping(given)
    if not found:
        raise InputError("there are no columns")
    return found


def _options(part: Part) -> Options:
    found: Any = {}
    for name in _OPTIONS:
        if name in part.data:
            with part.problems.at(name):
                one: Any = {name: part.data[name]}
                checked_options(one)
                found |= one
    made: Options = found
    with part.problems.at("cache"):
        return checked_options(made)
    return {}


def _plain_dedupe(given: Any) -> Any:
    """What `dedupe` may be in a file; its columns are texts."""
    columns = given.get("columns", []) if isinstance(given, Mapping) else given
    if isinstance(given, Mapping | list) and not (
        isinstance(columns, str)
        or (isinstance(columns, list) and all(isinstance(each, str) for each in columns))
    ):
        raise InputError(
            "the columns to compare are wanted", remedy="Such as {columns: [question]}."
        )
    return given


def _expands(given: Any) -> bool:
    return isinstance(given, Mapping) and bool(given.get("expand"))


def _check_names(problems: Problems, at: tuple[str, str], column: Column, known: list[str]) -> None:
    """Every column that a column names is there; said at the key that names it."""
    name, kind = at
    with problems.at("columns", name, *([kind] if kind else [])):
        for needed in column.own_needs(name, known).names:
            if needed not in known:
                raise no_column(f"column {name!r}", repr(needed), needed, known)
    if column.when is not None:
        with problems.at("columns", name, "when"):
            column.when.needs(name, known)


def _suspect(columns: Mapping[str, Column], known: list[str]) -> tuple[str, ...]:
    """The first column that is made twice or of itself, if any: there an error is shown."""
    owners: dict[str, str] = {}
    for name, column in columns.items():
        for each in column.fields or (name,):
            if each in owners:
                return (name,)
            owners[each] = name
    owners |= {name: name for name in columns}
    needs = {n: [owners[o] for o in c.needs(n, known).names] for n, c in columns.items()}
    for start in columns:
        reached, left = set[str](), [start]
        while left:
            fresh = [other for other in needs[left.pop()] if other not in reached]
            if start in fresh:
                return (start,)
            reached.update(fresh)
            left += fresh
    return ()
