"""Samplers that take one of several items."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, listed, number, own, said, suggestion
from penstock.generate.samplers.draw import Draw

__all__ = ["Choice", "Subcategory", "Weighted"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Choice(Sampler):
    """One of the items, each equally likely."""

    items: tuple[Any, ...]

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        item = self.items[draw.below(len(self.items))]
        return item if type(item) is str else own(item)

    def said(self) -> str:
        return said("choice", list(self.items))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Weighted(Sampler):
    """One of the items, each as likely as its share of all weights."""

    items: tuple[Any, ...]
    weights: tuple[int | float, ...]
    _drawn: tuple[Any, ...]
    _sums: tuple[float, ...]

    @classmethod
    def of(cls, items: Any, weights: Any = None) -> Weighted:
        if isinstance(items, Mapping):
            if weights is not None:
                raise InputError("weights= is for a list of items; a dict holds its own")
            items, weights = list(items), list(items.values())
        names = listed(items, "the items")
        if weights is None:
            raise InputError(
                "the items have no weights",
                remedy="Give a dict such as {'easy': 0.7, 'hard': 0.3}, or a list and weights=.",
            )
        given = tuple(
            number(each, f"the weight of {name!r}")
            for name, each in zip(names, _as_many(weights, names), strict=True)
        )
        for name, weight in zip(names, given, strict=True):
            if weight < 0:
                raise InputError(f"the weight of {name!r} is {weight}; it must be 0 or more")
        largest = max(given)
        if largest == 0:
            raise InputError("all weights are 0; at least one must be more")
        # Scaled first: the sum of large weights must not become infinite.
        shares = [(name, w / largest) for name, w in zip(names, given, strict=True) if w / largest]
        sums = tuple(accumulate(share for _, share in shares))
        return cls(names, given, tuple(name for name, _ in shares), sums)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        place = bisect_right(self._sums, draw.random() * self._sums[-1])
        return own(self._drawn[min(place, len(self._drawn) - 1)])

    def said(self) -> str:
        try:
            return said("weighted", dict(zip(self.items, self.weights, strict=True)))
        except TypeError:
            return said("weighted", list(self.items), weights=list(self.weights))


def _as_many(weights: Any, items: tuple[Any, ...]) -> tuple[Any, ...]:
    found = listed(weights, "weights=")
    if len(found) != len(items):
        raise InputError(f"there are {len(items)} items but {len(found)} weights")
    return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Subcategory(Sampler):
    """One of the items that belong to the value of another column."""

    of: str
    categories: Mapping[Any, Choice | Weighted]

    @classmethod
    def over(cls, of: Any, items: Any) -> Subcategory:
        if not isinstance(of, str) or not of:
            raise InputError(f"of={of!r} must be the name of the column with the category")
        if not isinstance(items, Mapping) or not items:
            raise InputError(
                "the items of a subcategory must be a dict of lists",
                remedy="Such as {'fruit': ['apple', 'pear'], 'tree': ['oak']}.",
            )
        return cls(of, {category: _among(category, each) for category, each in items.items()})

    @property
    def requires(self) -> tuple[str, ...]:
        return (self.of,)

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> Any:
        if self.of not in row:
            raise InputError(
                f"the row has no column {self.of!r}, on which {self!r} depends",
                remedy=suggestion(self.of, list(row)),
            )
        category = row[self.of]
        try:
            found = self.categories.get(category)
        except TypeError:  # a list or dict is never a category
            found = None
        if found is None:
            raise InputError(
                f"{self.of} is {category!r}, for which there are no items",
                remedy=suggestion(category, list(self.categories)),
            )
        return found.value(draw, row_number, row)

    def said(self) -> str:
        return said("subcategory", self.of, list(self.categories))


def _among(category: Any, items: Any) -> Choice | Weighted:
    if isinstance(items, Mapping):
        return Weighted.of(items)
    return Choice(listed(items, f"the list of {category!r}"))
