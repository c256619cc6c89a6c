"""A row of a schema as it came: its values, its status, and what failed of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.generate.schema import Schema
from penstock.outcome import Failure, FailureKind

__all__ = ["Made", "Reader", "failure_row", "free_name", "status_name"]


class Made(NamedTuple):
    """A row, as it came."""

    number: int
    row: dict[str, Any]
    status: str
    """ok, failed or rejected."""
    failures: list[tuple[str, Failure]]
    """By column; "" for the row as a whole."""
    postponed: bool
    """Something befell the run while it was made: it is no row yet."""


class Reader:
    """Makes rows of cells."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.status = status_name(schema.makes)

    def read(self, number: int, result: Any) -> Made:
        """A row from its cells, and what the check of whole rows said of it."""
        names = self._schema.names
        if isinstance(result, Failure):  # nothing of it was made
            cells, verdict = [result] * len(names), None
        else:
            cells, verdict = result
        failures = [(n, c) for n, c in zip(names, cells, strict=True) if isinstance(c, Failure)]
        if verdict is not None:
            failures.append(("", verdict))
        status = _status(failures)
        row = self._schema.spread([None if isinstance(cell, Failure) else cell for cell in cells])
        row[self.status] = status
        postponed = any(failure.kind.undecided for _, failure in failures)
        return Made(number, row, status, failures, postponed)


def _status(failures: list[tuple[str, Failure]]) -> str:
    if not failures:
        return "ok"
    name, failure = failures[0]
    return "rejected" if not name and failure.kind is FailureKind.REJECTED else "failed"


def status_name(columns: tuple[str, ...]) -> str:
    """The column that says what became of a row."""
    return free_name("status", columns)


def free_name(name: str, columns: tuple[str, ...]) -> str:
    """A name that no column has."""
    while name in columns:
        name = f"penstock_{name}"
    return name


def failure_row(number: int, column: str, failure: Failure) -> dict[str, Any]:
    """A line of the table of failures."""
    return {
        "row": number,
        "column": column or None,
        "kind": failure.kind.value,
        "message": failure.message,
        "attempts": failure.attempts,
        "may_be_paid": failure.may_be_paid,
    }
