"""Samplers as a file writes them: the sampler's name, and behind it what it is given.

    choice: [Python, Rust]          a list, item by item
    range: [1, 5]                   a list, in the order of the sampler's arguments
    range: {low: 1, high: 5}        or by their names
    poisson: 3                      one value: the first of them
    uuid: {}                        nothing

The arguments are those of `penstock.sample`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from penstock.documents.problems import Problems
from penstock.errors import InputError
from penstock.generate.columns import Column, Sampled, Static
from penstock.generate.samplers import Sample, Sampler, sample
from penstock.generate.samplers.base import suggestion
from penstock.generate.samplers.choices import Choice, Subcategory, Weighted
from penstock.generate.samplers.dataset import FromDataset
from penstock.generate.samplers.person import FIELDS
from penstock.generate.spec.files import Files
from penstock.generate.spec.mistakes import Part
from penstock.generate.spec.values import a_flag, a_mapping, a_text

__all__ = ["SAMPLERS", "Samplers", "check_categories"]

SAMPLERS = tuple(name for name in vars(Sample) if not name.startswith("_"))


class Samplers:
    """Makes them; columns that draw from one file share it, and so its rows."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._sources: dict[tuple[Any, ...], FromDataset] = {}

    def made(self, part: Part, name: str) -> Sampler | None:
        """The sampler of this name in a column; None where something is wrong inside of it."""
        given = part.data[name]
        inside = Part(part.problems, (*part.path, name), given if _named(given) else {})
        before = len(part.problems)
        special = _SPECIAL.get(name)
        if name == "from_dataset":
            made: Sampler | None = self._from_dataset(inside, given)
        else:
            made = special(inside, given) if special else _called(inside, name, given)
        return made if len(part.problems) == before else None

    def _from_dataset(self, inside: Part, given: Any) -> Sampler | None:
        if not _named(given):
            inside = Part(inside.problems, inside.path, {"file": a_text(given)})
        inside.only(("file", "column", "replace", "name"))
        if inside.missing("file"):
            return None
        file = inside.get("file", a_text)
        column = inside.get("column", a_text)
        wishes = (inside.get("replace", a_flag, True), inside.get("name", a_text, ""))
        if file is None:
            return None
        with inside.problems.at(*inside.path, "file"):
            source = self._source(str(self._files.path(file)), *wishes)
            with inside.problems.at(*inside.path, "column"):
                return source if column is None else source[column]
        return None

    def _source(self, file: str, replace: bool, name: str) -> FromDataset:
        found = self._sources.get((file, replace, name))
        if found is None:
            found = sample.from_dataset(file, replace=replace, name=name)
            self._sources[file, replace, name] = found
        return found


def _named(given: Any) -> bool:
    return isinstance(given, Mapping)


def _called(inside: Part, name: str, given: Any) -> Sampler:
    """A sampler whose arguments are plain values."""
    function: Callable[..., Sampler] = getattr(sample, name)
    parameters = inspect.signature(function).parameters
    wanted = [each.name for each in parameters.values() if each.default is each.empty]
    if _named(given):
        inside.only(tuple(parameters))
        values = {key: value for key, value in given.items() if key in parameters}
    elif given is None or (given is True and not parameters):
        values = {}
    else:
        items = given if isinstance(given, list) else [given]
        if len(items) > len(parameters):
            takes = f"It takes: {', '.join(parameters)}." if parameters else "It takes nothing."
            raise InputError(f"{name} is given {len(items)} values", remedy=takes)
        values = dict(zip(parameters, items, strict=False))
    absent = [each for each in wanted if each not in values]
    if absent:
        takes = ", ".join(f"{each}: ..." for each in wanted)
        raise InputError(f"{absent[0]} is missing", remedy=f"Write {name}: {{{takes}}}.")
    return function(**values)


def _choice(inside: Part, given: Any) -> Sampler:
    if _named(given) and "answer" in given:  # there is a metric of this name, too
        raise InputError("a sampler draws from a list", remedy="Write metric: choice, answer: ...")
    return sample.choice(given)


def _weighted(inside: Part, given: Any) -> Sampler:
    """Items with their weights, or, for items that are no texts, two lists."""
    if _named(given) and isinstance(given.get("items"), list):
        inside.only(("items", "weights"))
        return sample.weighted(given["items"], given.get("weights"))
    return sample.weighted(a_mapping(given))


def _subcategory(inside: Part, given: Any) -> Sampler | None:
    a_mapping(given)
    inside.only(("of", "items"))
    if inside.missing("of", "items"):
        return None
    items: Mapping[str, Any] = inside.get("items", a_mapping, {"": [""]})
    # Keys are always texts; a category may be a number or a truth.
    return sample.subcategory(given["of"], {k: v for t, v in items.items() for k in _meanings(t)})


def check_categories(columns: Mapping[str, Column], problems: Problems) -> None:
    """Note categories that can be drawn but have no items: such rows would fail once paid for."""
    for name, column in columns.items():
        sampler = column.sampler if isinstance(column, Sampled) else None
        if not isinstance(sampler, Subcategory):
            continue
        with problems.at("columns", name, "subcategory"):
            for value in _drawable(columns.get(sampler.of)):
                if not isinstance(value, Hashable) or value not in sampler.categories:
                    raise InputError(
                        f"{sampler.of} may be {value!r}, for which there are no items",
                        remedy=suggestion(value, [str(each) for each in sampler.categories]),
                    )


def _drawable(column: Column | None) -> tuple[Any, ...]:
    """The values that a column can have, where that is known."""
    if isinstance(column, Static):
        return (column.value,)
    sampler = column.sampler if isinstance(column, Sampled) else None
    if isinstance(sampler, Choice | Weighted):
        return sampler.items
    return ()


def _meanings(text: str) -> list[Any]:
    if text in ("true", "false"):
        return [text, text == "true"]
    for kind in (int, float):
        try:
            return [text, kind(text)]
        except ValueError:
            continue
    return [text]


def _person(inside: Part, given: Any) -> Sampler:
    if given is None or given is True:
        return sample.person()
    if not _named(given):
        return sample.person(a_text(given))
    inside.only(("field", "group", *FIELDS))
    field = inside.get("field", a_text)
    group = inside.get("group", a_text)
    fixed = {key: value for key, value in given.items() if key in FIELDS}
    for key, value in fixed.items():
        if isinstance(value, Mapping) or (isinstance(value, list) and key != "age"):
            raise InputError(f"{key}: one value is wanted")
    return sample.person(field, group=group, **fixed)


_SPECIAL: dict[str, Callable[[Part, Any], Sampler | None]] = {
    "choice": _choice,
    "weighted": _weighted,
    "subcategory": _subcategory,
    "person": _person,
}
