"""Samplers of dates and moments.

Both ends are included. An end without a time of day includes that whole day: who writes
"2024-12-31" means the last day of the year. Moments are whole seconds, unless an end is finer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, said
from penstock.generate.samplers.draw import Draw

__all__ = ["Dates", "Moments"]

_SECOND = timedelta(seconds=1)
_FINEST = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Moments(Sampler):
    """A moment from start to end, as a datetime or written in a format."""

    given: tuple[Any, Any]
    start: datetime
    unit: timedelta
    count: int
    format: str | None

    @classmethod
    def over(cls, start: Any, end: Any, format: Any) -> Moments:  # noqa: A002
        first, _ = _moment(start, "start")
        last, only_day = _moment(end, "end")
        if (first.tzinfo is None) != (last.tzinfo is None):
            raise InputError(
                f"one of {start!s} and {end!s} has a time zone and the other has none",
                remedy="Give both or neither, such as 2024-01-01T00:00:00+00:00.",
            )
        unit = _FINEST if first.microsecond or last.microsecond else _SECOND
        if only_day:
            last = datetime.combine(last.date(), time(23, 59, 59), last.tzinfo)
        count = _between(first, last) // unit + 1
        if count < 1:
            raise InputError(f"start, {start!s}, is after end, {end!s}")
        return cls((start, end), first, unit, count, _checked(format, first))

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> datetime | str:
        after = self.unit * draw.below(self.count)
        if (zone := self.start.tzinfo) is None:
            found = self.start + after
        else:  # counted in UTC: a zone may skip or repeat an hour
            found = (self.start.astimezone(UTC) + after).astimezone(zone)
        return found if self.format is None else _written(found, self.format)

    def said(self) -> str:
        return said("datetime", *map(str, self.given), format=self.format)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Dates(Sampler):
    """A day from start to end, as a date or written in a format."""

    start: date
    count: int
    format: str | None

    @classmethod
    def over(cls, start: Any, end: Any, format: Any) -> Dates:  # noqa: A002
        first, last = _moment(start, "start")[0].date(), _moment(end, "end")[0].date()
        if first > last:
            raise InputError(f"start, {first}, is after end, {last}")
        return cls(first, (last - first).days + 1, _checked(format, first))

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> date | str:
        found = self.start + _DAY * draw.below(self.count)
        return found if self.format is None else _written(found, self.format)

    def said(self) -> str:
        last = self.start + _DAY * (self.count - 1)
        return said("date", str(self.start), str(last), format=self.format)


def _moment(value: Any, what: str) -> tuple[datetime, bool]:
    """A moment, and whether only its day was given."""
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime):
        return value, False
    if isinstance(value, date):
        return datetime.combine(value, time()), True
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r}; it must be a date, a datetime or ISO text")
    text = value.strip()
    try:
        return datetime.fromisoformat(text), "T" not in text.upper() and ":" not in text
    except ValueError:
        raise InputError(
            f"{what} is {value!r}, which is no date",
            remedy="Write it as 2024-12-31 or 2024-12-31T18:30:00.",
        ) from None


def _between(first: datetime, last: datetime) -> timedelta:
    if first.tzinfo is None:
        return last - first
    try:
        return last.astimezone(UTC) - first.astimezone(UTC)
    except OverflowError:
        raise InputError(f"{first} or {last} is too near the end of time") from None


def _checked(format: Any, example: date) -> str | None:  # noqa: A002
    if format is None:
        return None
    if not isinstance(format, str) or not ("%" in format or format == "iso"):
        raise InputError(
            f"format={format!r} has no % in it", remedy='Such as "%Y-%m-%d %H:%M", or "iso".'
        )
    try:
        _written(example, format)
    except ValueError as error:
        raise InputError(f"format={format!r} cannot be used: {error}") from None
    return format


def _written(value: date, format: str) -> str:  # noqa: A002
    return value.isoformat() if format == "iso" else value.strftime(format)
