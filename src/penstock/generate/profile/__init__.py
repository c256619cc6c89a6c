"""What is in a table: one pass over its rows, in memory that does not grow with them.

Counts, means and extremes are of all rows; medians and histograms of at most 100,000 of them,
near-duplicates of 5,000, the diversity of texts of 1,000, chosen by the seed. Up to 100,000
different values a column are counted exactly (fewer where there are more than ten columns).
Exact duplicates of rows are found among all of them, at some 25 bytes a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from penstock.errors import InputError
from penstock.generate.duplicates import Duplicates
from penstock.generate.profile.columns import Column
from penstock.generate.profile.results import (
    Bin,
    ColumnProfile,
    Common,
    Diversity,
    FailureGroup,
    Moments,
    Near,
    Numbers,
    Profile,
    TextProfile,
)
from penstock.generate.profile.sample import Picked, Sample
from penstock.generate.profile.text import NEAR
from penstock.tables import Row, Table
from penstock.tables.columns import kind_of_field

__all__ = [
    "Bin",
    "ColumnProfile",
    "Common",
    "Diversity",
    "FailureGroup",
    "Moments",
    "Near",
    "Numbers",
    "Profile",
    "TextProfile",
    "profile",
]

_MOST_VALUES = 1_000_000
_MOST_IN_COLUMN = 100_000
_FEWEST_IN_COLUMN = 1_000
_MOST_GROUPS = 1_000
_LONGEST_MESSAGE = 300


def profile(
    table: Table,
    *,
    failures: Table | None = None,
    columns: Sequence[str] | None = None,
    status_column: str | None = None,
    seed: int = 0,
) -> Profile:
    """Look at every row once.

    `columns` are those to look at (None: all), `failures` is the table of what failed, and
    `status_column` the one in which each row's fate is written: it is counted and not profiled.
    """
    names = _names(table, columns, status_column)
    look = _Look(table, names, status_column, seed)
    number = 0
    for block in table.blocks():
        look.add(block, number)
        number += len(block)
    return look.profile(_groups(failures), seed)


def _names(table: Table, columns: Sequence[str] | None, status: str | None) -> list[str]:
    known = table.column_names
    for name in [*(columns or ()), *([] if status is None else [status])]:
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"the table has no column {name!r}",
                remedy=f"{hint}There are: {', '.join(known) or 'no columns'}.",
            )
    return [name for name in (known if columns is None else columns) if name != status]


class _Look:
    """All that is gathered while rows pass."""

    def __init__(self, table: Table, names: list[str], status: str | None, seed: int) -> None:
        limit = max(_FEWEST_IN_COLUMN, min(_MOST_IN_COLUMN, _MOST_VALUES // max(1, len(names))))
        kinds = {
            name: kind_of_field(field).name
            for name, field in zip(table.column_names, table.schema, strict=True)
        }
        self._names = names
        self._columns = [Column(name, kinds[name], limit) for name in names]
        self._status = None if status is None else Column(status, kinds[status], limit)
        self._sample = Sample(len(table), seed)
        self._rows = self._repeated = 0
        self._duplicates = Duplicates(None)
        self._texts = [name for name in names if kinds[name] == "text"]
        self._near = Duplicates(None, threshold=NEAR)
        self._looked_at = self._found = 0

    def add(self, rows: list[Row], first: int) -> None:
        picks = [self._sample.picked(number) for number in range(first, first + len(rows))]
        self._rows += len(rows)
        for column in self._columns:
            column.add([row[column.name] for row in rows], picks)
        if self._status is not None:
            self._status.add([row[self._status.name] for row in rows], picks)
        if self._names:
            self._compare(rows, picks)

    def _compare(self, rows: list[Row], picks: list[Picked]) -> None:
        for row, picked in zip(rows, picks, strict=True):
            whole = {name: row[name] for name in self._names}
            self._repeated += self._duplicates.find(whole) is not None
            if not picked.row:
                continue
            texts = {name: text for name in self._texts if (text := row[name])}
            if texts:
                self._looked_at += 1
                self._found += self._near.find(texts) is not None

    def profile(self, failures: tuple[FailureGroup, ...], seed: int) -> Profile:
        near = Near(self._found, self._looked_at, NEAR)
        return Profile(
            rows=self._rows,
            columns=tuple(column.profile() for column in self._columns),
            duplicate_rows=self._repeated,
            near=near if self._looked_at else None,
            statuses=() if self._status is None else self._status.profile().common,
            failures=failures,
            seed=seed,
        )


def _groups(failures: Table | None) -> tuple[FailureGroup, ...]:
    """Failures by column and kind, the most common first."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in failures or ():
        key = str(row.get("column") or ""), str(row.get("kind") or "")
        if key not in found and len(found) >= _MOST_GROUPS:
            key = ("", "other")
        message = str(row.get("message") or "")[:_LONGEST_MESSAGE]
        group = found.setdefault(key, [0, 0, message])
        group[0] += 1
        group[1] += bool(row.get("may_be_paid"))
    ordered = sorted(found.items(), key=lambda pair: -pair[1][0])
    return tuple(FailureGroup(*key, *group) for key, group in ordered)
