"""How many rows a run shall make, and which of them count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from penstock.engine.users import Raised
from penstock.errors import InputError
from penstock.generate.arguments import RNG, Wanted, no_column, wanted
from penstock.generate.calls import Calls
from penstock.generate.columns import Sampled
from penstock.generate.duplicates import Duplicates
from penstock.generate.functions import called
from penstock.generate.rules import Check
from penstock.generate.schema import Schema
from penstock.outcome import Failure, FailureKind

__all__ = ["Goal", "RowCheck", "Unlike", "row_check"]

_TIMES = 10  # as many rows are made for each that must be accepted, at most


class Unlike(NamedTuple):
    """Which rows are duplicates of one another."""

    columns: tuple[str, ...] | None = None
    """Those that are compared; None: all."""
    threshold: float | None = None
    """From which likeness on; None: equal ones only."""

    @classmethod
    def of(cls, given: Any, columns: Sequence[str]) -> Unlike | None:
        """From `dedupe=`: True, a likeness, a column, several, or {"columns": ..., "threshold":
        ...}."""
        if given is None or given is False:
            return None
        if given is True:
            return cls(tuple(columns))
        if isinstance(given, float | int):
            return cls(tuple(columns), float(given))._checked(columns)
        if isinstance(given, str):
            return cls((given,))._checked(columns)
        if isinstance(given, Mapping):
            unknown = given.keys() - {"columns", "threshold"}
            if unknown:
                raise InputError(
                    f"dedupe has no {sorted(unknown)[0]!r}",
                    remedy="Allowed are columns and threshold.",
                )
            named = given.get("columns") or columns
            if not isinstance(named, Sequence):
                raise InputError(f"dedupe: columns is {named!r}; names are wanted")
            some = (named,) if isinstance(named, str) else tuple(named)
            return cls(some, given.get("threshold"))._checked(columns)
        if isinstance(given, Sequence):
            return cls(tuple(given))._checked(columns)
        raise InputError(
            f"dedupe is a {type(given).__name__}",
            remedy="Give True, a likeness such as 0.8, or the columns to compare.",
        )

    def _checked(self, columns: Sequence[str]) -> Unlike:
        for name in self.columns or ():
            if name not in columns:
                raise no_column("dedupe", repr(name), str(name), columns)
        self.begun()  # a likeness that is none is said here
        return self

    def begun(self) -> Duplicates:
        """To be fed rows."""
        return Duplicates(self.columns, threshold=self.threshold)


@dataclass(frozen=True)
class Goal:
    """What a run shall come to."""

    n: int
    until: bool = False
    """Whether n rows must be accepted; else n are made."""
    most: int = 0
    """The most that are made in all."""
    wanted: int = 0
    """Rows that there must be, before anything is sent: those asked for by a number."""
    check: Callable[..., Any] | None = None
    unlike: Unlike | None = None

    @classmethod
    def of(
        cls,
        n: int,
        until: int | None,
        most: int | None,
        check: Callable[..., Any] | None,
        unlike: Unlike | None,
    ) -> Goal:
        """From what a person asks for."""
        if until is None:
            if most is not None:
                raise InputError("most is for until=...", remedy="Give until=N as well.")
            return cls(_count("n", n), False, n, n, check, unlike)
        rows = _count("until", until)
        bound = _TIMES * rows if most is None else _count("most", most)
        if bound < rows:
            raise InputError(f"most is {bound}, less than until={rows}")
        return cls(rows, True, bound, rows if most is None else bound, check, unlike)

    def within(self, schema: Schema) -> Goal:
        """The same, with no more rows than the data that is drawn from has."""
        ends = [c.sampler.end for c in schema.columns.values() if isinstance(c, Sampled)]
        most = min([self.most, *(end for end in ends if end is not None)])
        return replace(self, most=max(self.wanted, most))

    @property
    def sifts(self) -> bool:
        """Whether rows fall out."""
        return self.until or self.unlike is not None


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is {value!r}; a whole number of 1 or more is wanted")
    return value


def row_check(function: Callable[..., Any], schema: Schema) -> Wanted:
    """What the check of whole rows wants; names that are no columns are said here."""
    found = wanted(function, schema.makes, "check")
    meant = (*found.positional, *(name for _, name in found.keywords))
    if RNG in meant and RNG not in schema.makes:
        raise InputError("check: a check of whole rows has no rng", remedy="Make it a column.")
    return found


class RowCheck:
    """The check of whole rows."""

    def __init__(self, function: Callable[..., Any], schema: Schema, calls: Calls) -> None:
        self._function = function
        self._how = row_check(function, schema)
        self._calls = calls

    async def verdict(self, row: dict[str, Any]) -> Failure | None:
        """Why a row is refused, or None."""
        places, named = self._how.arguments(row, lambda: None)
        said = await self._calls.call(lambda: self._function(*places, **named))
        if isinstance(said, Raised) and isinstance(said.error, AssertionError | ValueError):
            return Failure(FailureKind.REJECTED, str(said.error) or "the check refused it")
        why = said if isinstance(said, Raised) else called(Check.verdict, said)
        if isinstance(why, Raised):
            problem = f"{type(why.error).__name__}: {why.error}"
            return Failure(FailureKind.INPUT, f"the check function raised {problem}")
        return None if why is None else Failure(FailureKind.REJECTED, why)
