"""Invented people whose parts fit together: a name of the country, mail of the name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, said, suggestion, whole
from penstock.generate.samplers.draw import Draw
from penstock.generate.samplers.people import COUNTRIES, DOMAINS, JOBS, NORTH_AMERICA

__all__ = ["FIELDS", "Person"]

FIELDS = (
    "name", "first_name", "last_name", "sex", "age", "email", "phone", "city", "country", "job",
)  # fmt: skip
_SEXES = ("female", "male")
_AGES = (18, 90)
_NAMES = tuple(COUNTRIES)
_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ß": "ss", "ø": "o", "æ": "ae", "đ": "d"})


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Person(Sampler):
    """An invented person as a dict, or one field of it.

    Fields of one person in several columns need a group, by which they are one:
    `author = sample.person(group="author")`, then `author["name"]` and `author["email"]`.
    """

    field: str | None
    fixed: Mapping[str, Any]
    together: str | None

    @classmethod
    def of(cls, field: Any, group: Any, fixed: Mapping[str, Any]) -> Person:
        for name in (*([] if field is None else [field]), *fixed):
            if name not in FIELDS:
                raise InputError(f"a person has no {name!r}", remedy=suggestion(name, FIELDS))
        if group is not None and (not isinstance(group, str) or not group):
            raise InputError(f"group={group!r} must be a name")
        checked = {name: _CHECKS[name](name, value) for name, value in fixed.items()}
        return cls(field, checked, group)

    @property
    def group(self) -> str | None:
        return None if self.together is None else f"person {self.together!r}"

    @property
    def origin(self) -> object:
        return said("person", **{name: str(value) for name, value in self.fixed.items()})

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        person = _invented(draw, self.fixed)
        return person if self.field is None else person[self.field]

    def __getitem__(self, field: str) -> Person:
        if self.field is not None:
            raise InputError(f"this is the {self.field} of a person already")
        if self.together is None:
            raise InputError(
                f"which person's {field}? Without a group each column invents its own",
                remedy=f'Write sample.person(group="author")[{field!r}], '
                f"or sample.person({field!r}) for a column that stands alone.",
            )
        return Person.of(field, self.together, self.fixed)

    def __getattr__(self, field: str) -> Person:
        if field not in FIELDS:
            raise AttributeError(f"a person has no {field!r}")
        return self[field]

    __iter__ = None

    def said(self) -> str:
        field = [] if self.field is None else [self.field]
        return said("person", *field, group=self.together, **self.fixed)


def _invented(draw: Draw, fixed: Mapping[str, Any]) -> dict[str, Any]:
    # Always the same numbers in the same order: what is fixed changes nothing else.
    at = [draw.random() for _ in range(9)]
    country = str(fixed.get("country") or _pick(_NAMES, at[0]))
    words = COUNTRIES[country]
    sex = str(fixed.get("sex") or _pick(_SEXES, at[1]))
    first = str(fixed.get("first_name") or _pick(getattr(words, sex), at[2]))
    last = str(fixed.get("last_name") or _pick(words.family, at[3]))
    low, high = fixed.get("age") or _AGES
    both = f"{last} {first}" if words.family_first else f"{first} {last}"
    name = str(fixed.get("name") or both)
    person = {
        "name": name,
        "first_name": first,
        "last_name": last,
        "sex": sex,
        "age": low + int(at[4] * (high - low + 1)),
        "email": _mail(f"{first} {last}" if name == both else name, at[5]),
        "phone": _number(_pick(words.phones or NORTH_AMERICA, at[6]), at[7]),
        "city": _pick(words.cities, at[8]),
        "country": country,
        "job": draw.pick(JOBS),
    }
    for field in ("email", "phone", "city", "job"):
        if field in fixed:
            person[field] = fixed[field]
    return person


def _pick(items: tuple[str, ...], at: float) -> str:
    return items[int(at * len(items))]


def _mail(name: str, at: float) -> str:
    bare = unicodedata.normalize("NFKD", name.lower().translate(_LETTERS))
    spelt = "".join(
        each if each.isascii() and each.isalnum() else "." if each == " " else "" for each in bare
    ).strip(".")
    number = int(at * 300)
    return f"{spelt or 'someone'}{number % 100}@{DOMAINS[number // 100]}"


def _number(form: str, at: float) -> str:
    digits = iter(str(int(at * 10**12)).zfill(12))
    return "".join(next(digits) if each == "#" else each for each in form)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name}={value!r} must be a text")
    return value


def _country(name: str, value: Any) -> str:
    if value not in COUNTRIES:
        raise InputError(f"country={value!r} is not known", remedy=suggestion(value, _NAMES))
    return str(value)


def _sex(name: str, value: Any) -> str:
    if value not in _SEXES:
        raise InputError(f"sex={value!r} must be 'female' or 'male'")
    return str(value)


def _age(name: str, value: Any) -> tuple[int, int]:
    ages = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(ages) != 2:
        raise InputError(f"age={value!r} must be a number or (lowest, highest)")
    low, high = whole(ages[0], "age"), whole(ages[1], "age")
    if not 0 <= low <= high:
        raise InputError(f"age={value!r}: the lowest must be 0 or more and not above the highest")
    return low, high


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(FIELDS, _text),
    "country": _country,
    "sex": _sex,
    "age": _age,
}
