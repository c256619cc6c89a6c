"""One pass over the scores of a grading run: how they are spread, what is lowest and highest,
which rows went wrong first. Memory does not grow with the rows: reasons are only looked up for
the few rows that are shown."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.grade.report.spread import (
    TOTAL,
    Labels,
    Numbers,
    Spread,
    spread_of,
)
from penstock.grade.results import FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FailureGroup", "Read", "Said", "Scores", "Survey", "Trouble", "survey"]

_BLOCK = 4096
_FEW = 4
_MOST_TROUBLES = 50
_MOST_KINDS = 100
_NO_TROUBLE = ("ok", "empty", "pending")


@dataclass(frozen=True)
class Scores:
    """How the grades of a file are spread, or of all files."""

    criteria: dict[str, Numbers | Labels]
    total: Numbers

    def to_dict(self) -> dict[str, Any]:
        criteria = {name: each.to_dict() for name, each in self.criteria.items()}
        return {"total": self.total.to_dict(), "criteria": criteria}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A row that has no grade and should have; `row` counts from 1, as people do."""

    file: int
    row: int
    status: str
    message: str


@dataclass(slots=True)
class FailureGroup:
    """Failures of one kind."""

    kind: str
    message: str
    """Of the first."""
    failed: int = 0
    """Rows without a grade."""
    partly: int = 0
    """Rows that other graders graded."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Said(NamedTuple):
    """A grade, and why."""

    name: str
    value: Any
    reason: str | None


@dataclass(frozen=True)
class Read:
    """A graded row to read; `row` counts from 1."""

    file: int
    row: int
    total: float
    grades: tuple[Said, ...]
    reason: str | None = None
    """For all grades together."""
    fields: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Survey:
    """What a pass over all scores found."""

    whole: Scores
    files: tuple[Scores | None, ...]
    """By the places of the files; None where a file has no scores."""
    lowest: tuple[Read, ...] = ()
    highest: tuple[Read, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    """The first of them."""
    partly: int = 0
    """Rows that some of their graders did not grade."""
    kinds: tuple[FailureGroup, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            **self.whole.to_dict(),
            "files": [None if each is None else each.to_dict() for each in self.files],
        }


def survey(grading: Grading) -> Survey:
    """Look at all scores, once."""
    rubric = grading.rubric
    whole, extremes = _Spreads(rubric), _Extremes()
    files: list[Scores | None] = []
    troubles: list[Trouble] = []
    partly = _Partly()
    for number, file in enumerate(grading.files):
        if file.scores is None:
            files.append(None)
            continue
        spreads, found = _Spreads(rubric), _Columns(rubric, file.scores)
        start = 0
        for batch in file.scores.batches(_BLOCK):
            spreads.add(found, batch)
            extremes.add(number, start, found.values(batch, found.total))
            statuses, errors = found.values(batch, found.status), found.values(batch, found.error)
            for row, (status, error) in enumerate(zip(statuses, errors, strict=True), start):
                if error and status == "ok":
                    partly.add(file, row)
            if len(troubles) < _MOST_TROUBLES:
                troubles += _troubles(number, start, statuses, errors)
            start += batch.num_rows
        files.append(spreads.summed())
        whole.merge(spreads)
    lowest, highest = extremes.ends()
    return Survey(
        whole.summed(),
        tuple(files),
        tuple(_read(grading, place) for place in lowest),
        tuple(_read(grading, place) for place in highest),
        tuple(troubles[:_MOST_TROUBLES]),
        partly.count,
        _kinds(grading.failures, partly),
    )


class _Columns:
    """Where the columns of the scores stand. By place: names may have been made different."""

    def __init__(self, rubric: Rubric, table: Table) -> None:
        wanted = [*rubric.columns(), "status", "error"]
        names = table.column_names
        places = {name: place for place, name in enumerate(names)}
        if len(names) == len(wanted):
            self._places: list[int | None] = list(range(len(wanted)))
        else:
            self._places = [places.get(name) for name in wanted]
        at = {name: place for place, name in enumerate(rubric.columns())}
        self.criteria = {each.name: self._places[at[each.name]] for each in rubric.criteria}
        self.reasons = {
            each.name: self._places[at[f"{each.name}_reason"]] if rubric.reasons == "each" else None
            for each in rubric.criteria
        }
        self.reason = self._places[at["reason"]] if rubric.reasons == "overall" else None
        self.fields = {each.name: self._places[at[each.name]] for each in rubric.fields}
        self.total = self._places[at["total"]] if rubric.has_total else None
        self.status, self.error = self._places[-2:]

    @staticmethod
    def values(batch: pa.RecordBatch, place: int | None) -> list[Any]:
        """A column of a batch; nothing but None where there is none."""
        from penstock.tables.columns import from_arrow

        if place is None:
            return [None] * batch.num_rows
        return from_arrow(batch.column(place), batch.schema.field(place))


class _Spreads:
    """The spreads of all criteria and of the total."""

    def __init__(self, rubric: Rubric) -> None:
        self._criteria = {each.name: spread_of(each.scale) for each in rubric.criteria}
        self._total = Spread(TOTAL, grouped=True)

    def add(self, columns: _Columns, batch: pa.RecordBatch) -> None:
        for name, spread in self._criteria.items():
            spread.add(columns.values(batch, columns.criteria[name]))
        self._total.add(columns.values(batch, columns.total))

    def merge(self, other: _Spreads) -> None:
        for name, spread in self._criteria.items():
            spread.merge(other._criteria[name])
        self._total.merge(other._total)

    def summed(self) -> Scores:
        criteria = {name: spread.summed() for name, spread in self._criteria.items()}
        return Scores(criteria, self._total.summed())


class _Place(NamedTuple):
    total: float
    file: int
    row: int


@dataclass
class _Extremes:
    """The few lowest and highest totals; of equal ones the first are the lower."""

    _lowest: list[_Place] = field(default_factory=list)
    _highest: list[_Place] = field(default_factory=list)
    _seen: int = 0

    def add(self, file: int, start: int, totals: Sequence[float | None]) -> None:
        found = [
            _Place(total, file, row) for row, total in enumerate(totals, start) if total is not None
        ]
        self._seen += len(found)
        self._lowest = heapq.nsmallest(_FEW, [*self._lowest, *found])
        self._highest = heapq.nlargest(_FEW, [*self._highest, *found])

    def ends(self) -> tuple[list[_Place], list[_Place]]:
        """No row twice: where there are few, the upper half of them are the highest."""
        most = min(_FEW, self._seen // 2)
        return self._lowest[: self._seen - most], self._highest[:most]


def _troubles(
    file: int, start: int, statuses: Iterable[Any], errors: Iterable[Any]
) -> Iterable[Trouble]:
    for row, (status, error) in enumerate(zip(statuses, errors, strict=True), start + 1):
        if status is not None and status not in _NO_TROUBLE:
            yield Trouble(file, row, str(status), str(error or ""))


def _read(grading: Grading, place: _Place) -> Read:
    """What the grader said of a row."""
    rubric, table = grading.rubric, grading.files[place.file].scores
    assert table is not None
    columns, cells = _Columns(rubric, table), list(table[place.row].values())

    def cell(at: int | None) -> Any:
        return None if at is None else cells[at]

    return Read(
        place.file,
        place.row + 1,
        place.total,
        tuple(
            Said(name, cell(at), cell(columns.reasons[name]))
            for name, at in columns.criteria.items()
        ),
        cell(columns.reason),
        tuple((name, cell(at)) for name, at in columns.fields.items()),
    )


class _Partly:
    """Which rows only some of their graders graded: a byte for each row of a file that has any."""

    def __init__(self) -> None:
        self.count = 0
        self._rows: dict[str, bytearray] = {}

    def add(self, file: FileResult, row: int) -> None:
        rows = self._rows.setdefault(str(file.path), bytearray(len(file.scores or ())))
        rows[row] = 1
        self.count += 1

    def __contains__(self, place: tuple[Any, Any]) -> bool:
        file, row = place
        rows = self._rows.get(file, b"")
        return isinstance(row, int) and 0 <= row < len(rows) and bool(rows[row])


def _kinds(failures: Table | None, partly: _Partly) -> tuple[FailureGroup, ...]:
    """Failures by kind, the most frequent first."""
    found: dict[str, FailureGroup] = {}
    for row in failures or ():
        kind = str(row.get("kind") or "unknown")
        if kind not in found and len(found) >= _MOST_KINDS:
            kind = "others"
        group = found.setdefault(kind, FailureGroup(kind, str(row.get("message") or "")))
        if (row.get("file"), row.get("row")) in partly:
            group.partly += 1
        else:
            group.failed += 1
    return tuple(sorted(found.values(), key=lambda group: (-group.failed, -group.partly)))
