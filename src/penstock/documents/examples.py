"""The examples of a dataset, read one at a time, and the seeded choice of some of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from penstock.documents.objects import Dataset
from penstock.documents.shelf import Entry
from penstock.errors import InputError
from penstock.tables import RowSource, rows

__all__ = ["Example", "Examples", "Share"]

_PERCENT = "%"
_LOOKED_AT = 1000


class Example(msgspec.Struct, frozen=True, gc=False):
    """What is asked, and what would be right."""

    place: int
    """In the dataset, from 0."""
    id: str
    """The same in every run: its own, or made of what it says."""
    input: str
    target: tuple[str, ...] | None
    """None where the dataset says nothing; empty where nothing would be right."""
    cluster: str | None
    row: Mapping[str, Any]
    problem: str = ""
    """Why it cannot be asked."""


@dataclass(frozen=True)
class Share:
    """How much of each dataset is asked: so many examples, or so many per cent; at least one."""

    count: int | None = None
    percent: Decimal | None = None

    @classmethod
    def parse(cls, text: str | int | float | None) -> Share:
        """`50`, `10%`, or nothing for all."""
        if text is None or text == "":
            return cls()
        said = str(text).strip()
        try:
            if said.endswith(_PERCENT):
                percent = Decimal(said.removesuffix(_PERCENT).strip())
                if percent.is_finite() and 0 < percent <= 100:
                    return cls(percent=percent)
            elif int(said) > 0:
                return cls(count=int(said))
        except (ValueError, ArithmeticError):
            pass
        raise InputError(
            f"the sample is {text!r}",
            remedy="Give a number of examples, such as 50, or a share of them, such as 10%.",
        )

    def of(self, total: int) -> int:
        """How many of so many."""
        if self.count is not None:
            return min(self.count, total)
        if self.percent is None or not total:
            return total
        return max(1, min(total, int(total * self.percent / 100)))


class Examples:
    """The examples of one dataset that are asked, in the order of the file.

    They are read anew each time they are gone through, and never held.
    """

    def __init__(self, entry: Entry[Dataset], share: Share, seed: int = 0) -> None:
        self.id = entry.id
        self.dataset = entry.value
        self._source = _source(entry)
        self.total = self._count()
        self.count = share.of(self.total)
        self._chosen: bytearray | None = None
        if self.count < self.total:
            chance = Random(f"{seed}\x1f{self.id}")  # noqa: S311 - a draw, no secret
            self._chosen = bytearray(self.total)
            for place in chance.sample(range(self.total), self.count):
                self._chosen[place] = True

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Example]:
        chosen, repeated = self._chosen, self._repeated
        times: dict[str, int] = {}
        for place, row in enumerate(islice(self._source, self.total)):
            if chosen is None or chosen[place] or repeated:
                example = self._made(place, row, times, repeated)
                if chosen is None or chosen[place]:
                    yield example

    def look_through(self) -> None:
        """Read it once, before anything is asked: what cannot be read is told then."""
        _ = self._repeated

    def columns(self) -> list[str]:
        """The columns that there are, as far as that is known without reading it whole."""
        if self._source.column_names is not None:
            return self._source.column_names
        return list({name: None for row in islice(self._source, _LOOKED_AT) for name in row})

    def _count(self) -> int:
        columns = self.columns()
        if columns and self.dataset.input not in columns:
            raise InputError(
                f"the dataset {self.id!r} has no column {self.dataset.input!r}",
                remedy=f"There are: {', '.join(columns)}. Say which with input: in its file.",
            )
        total = self._source.count
        if total is None:
            total = sum(len(block) for block in self._source.blocks())
        if not total:
            raise InputError(f"the dataset {self.id!r} has no examples")
        return total

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """The marks of examples that are like others. Each takes 8 bytes while it is looked for,
        so that nothing of the others need be held while a run goes on."""
        import pyarrow as pa
        import pyarrow.compute as pc

        marks = array("q", (self._mark(row) for row in self._source))
        column = pa.Array.from_buffers(pa.int64(), len(marks), [None, pa.py_buffer(marks)])
        counts = pc.value_counts(column)
        several = counts.filter(pc.greater(counts.field("counts"), 1))
        return frozenset(several.field("values").to_pylist())

    def _mark(self, row: Mapping[str, Any]) -> int:
        own = row.get("id")
        if own is not None and own != "":
            return hash(str(own))
        dataset = self.dataset
        return hash((_text(row.get(dataset.input))[0], _texts(row.get(dataset.target)) or ()))

    def _made(
        self,
        place: int,
        row: Mapping[str, Any],
        times: dict[str, int],
        repeated: frozenset[int],
    ) -> Example:
        dataset = self.dataset
        asked, problem = _text(row.get(dataset.input))
        target = _texts(row.get(dataset.target))
        cluster = row.get(dataset.cluster) if dataset.cluster else None
        own = row.get("id")
        name = _name(asked, target) if own is None or own == "" else str(own)
        if repeated and self._mark(row) in repeated:
            # Equal ones are told apart by which of them it is.
            seen = times[name] = times.get(name, 0) + 1
            name = name if seen == 1 else f"{name}#{seen}"
        return Example(
            place, name, asked, target, None if cluster is None else str(cluster), row, problem
        )


def _source(entry: Entry[Dataset]) -> RowSource:
    dataset = entry.value
    if dataset.file is None:
        return rows(list(dataset.examples or ()), name=f"the dataset {entry.id!r}")
    if entry.path is None:
        raise InputError(f"the dataset {entry.id!r} names a file, but lies in none itself")
    folder = entry.path.parent.resolve()
    path = (folder / dataset.file).resolve()
    # An imported dataset is data: it reaches nothing but what lies beside it.
    if not path.is_relative_to(folder):
        raise InputError(
            f"the dataset {entry.id!r} names {dataset.file!r}, which lies elsewhere",
            remedy=f"Put the file beside {entry.path.name}, or below.",
        )
    if not path.is_file():
        raise InputError(f"the file of the dataset {entry.id!r} is missing: {_shown(path)}")
    return rows(path, name=f"the dataset {entry.id!r}")


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _text(value: Any) -> tuple[str, str]:
    """What is asked, and why it cannot be."""
    if isinstance(value, str):
        return (value, "") if value.strip() else (value, "its input is empty")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), ""
    if value is None:
        return "", "it has no input"
    return "", f"its input is of type {type(value).__name__}; a text is wanted"


def _texts(value: Any) -> tuple[str, ...] | None:
    """One target or several; what is none of those stays in the row alone."""
    if isinstance(value, str):
        return (value,)
    if value is None or isinstance(value, Mapping):
        return None
    if isinstance(value, list | tuple):
        return tuple(text for each in value for text in _texts(each) or ())
    return (str(value),)


def _name(asked: str, target: tuple[str, ...] | None) -> str:
    # In Python's spelling, which has one for every text, also for half a character.
    body = f"{asked!r}{target or ()!r}".encode("utf-8", "backslashreplace")
    return sha256(body).hexdigest()[:12]
