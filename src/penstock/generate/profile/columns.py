"""One column, value by value: each value is looked at by what it is, so that mixed ones are too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from penstock.generate.profile.counts import Counts
from penstock.generate.profile.results import ColumnProfile, Common, Moments
from penstock.generate.profile.sample import Picked
from penstock.generate.profile.spread import Spread
from penstock.generate.profile.text import Texts
from penstock.tables.plain import text_of

__all__ = ["Column"]

_MOST_CATEGORIES = 20
_MOST_SHOWN = 10
_MOST_KEYS = 1_000
_EPOCH = datetime(1970, 1, 1)

_TYPES = {
    "null": "empty",
    "bool": "boolean",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "text": "text",
    "json": "mixed",
    "moment": "datetime",
    "utc": "datetime",
    "span": "duration",
    "dict": "object",
}


class Column:
    """Gathers what there is to say about a column."""

    def __init__(self, name: str, kind: str, limit: int) -> None:
        self.name = name
        self.type = _TYPES.get(kind, kind)
        self._limit = limit
        self._nulls = 0
        self._counts = Counts(limit)
        self._kinds: Counter[str] = Counter()
        self._numbers = Spread()
        self._moments = Spread()
        self._sizes = Spread()
        self._keys: Counter[str] = Counter()
        self._texts: Texts | None = None

    def add(self, values: Iterable[Any], picks: Iterable[Picked]) -> None:
        """Look at the values of some rows."""
        for value, picked in zip(values, picks, strict=True):
            if value is None:
                self._nulls += 1
                continue
            self._counts.add(str(text_of(value)))
            kind, look = _LOOKS.get(type(value), ("other", None))
            self._kinds[kind] += 1
            if look is not None:
                look(self, value, picked)

    def profile(self) -> ColumnProfile:
        """What was found."""
        few = self._counts.exact and self._counts.distinct <= _MOST_CATEGORIES
        common = self._counts.common(_MOST_CATEGORIES if few else _MOST_SHOWN, 1 if few else 2)
        if few and set(self._kinds) == {"number"}:  # in their own order they are read as a curve
            common = tuple(sorted(common, key=lambda each: float(each.value)))
        kinds = self._kinds.most_common() if self.type == "mixed" else []
        return ColumnProfile(
            name=self.name,
            type=self.type,
            count=self._kinds.total(),
            nulls=self._nulls,
            distinct=self._counts.distinct,
            distinct_is_exact=self._counts.exact,
            common=common,
            common_is_exact=self._counts.exact,
            kinds=tuple(Common(*pair) for pair in kinds),
            numbers=self._numbers.numbers(),
            text=None if self._texts is None else self._texts.profile(),
            moments=self._times(),
            sizes=self._sizes.numbers(),
            keys=tuple(Common(*pair) for pair in self._keys.most_common(_MOST_CATEGORIES)),
        )

    def _times(self) -> Moments | None:
        found = self._moments.numbers(tidy=False)
        if found is None:
            return None
        first, median, last = (_iso(at, self.type) for at in (found.min, found.median, found.max))
        return Moments(first, median, last, found.histogram, found.estimated)

    def _look_at_text(self, text: str, picked: Picked) -> None:
        if self._texts is None:
            self._texts = Texts(self._limit)
        self._texts.add(text, picked)

    def _look_at_number(self, value: float | Decimal, picked: Picked) -> None:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        self._numbers.add(number, picked.value)

    def _look_at_span(self, value: timedelta, picked: Picked) -> None:
        self._numbers.add(value.total_seconds(), picked.value)

    def _look_at_moment(self, value: date, picked: Picked) -> None:
        self._moments.add(_seconds(value), picked.value)

    def _look_at_size(self, value: list[Any] | bytes, picked: Picked) -> None:
        self._sizes.add(float(len(value)), picked.value)

    def _look_at_dict(self, value: dict[str, Any], picked: Picked) -> None:
        # A column of dicts has the keys of all of them; those without a value were not there.
        keys = [key for key, inside in value.items() if inside is not None]
        self._sizes.add(float(len(keys)), picked.value)
        for key in keys:
            if key in self._keys or len(self._keys) < _MOST_KEYS:
                self._keys[key] += 1


_LOOKS: dict[type, tuple[str, Callable[[Column, Any, Picked], None] | None]] = {
    str: ("text", Column._look_at_text),
    bool: ("boolean", None),
    int: ("number", Column._look_at_number),
    float: ("number", Column._look_at_number),
    Decimal: ("number", Column._look_at_number),
    timedelta: ("duration", Column._look_at_span),
    date: ("date", Column._look_at_moment),
    datetime: ("datetime", Column._look_at_moment),
    time: ("time", None),
    list: ("list", Column._look_at_size),
    bytes: ("bytes", Column._look_at_size),
    dict: ("object", Column._look_at_dict),
}


def _seconds(value: date) -> float:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    elif value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - _EPOCH).total_seconds()


def _iso(seconds: float, kind: str) -> str:
    moment = _EPOCH + timedelta(seconds=seconds)
    return (
        moment.date().isoformat() if kind == "date" else moment.isoformat(" ", timespec="seconds")
    )
