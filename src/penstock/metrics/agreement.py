"""How far several raters agree on the same units: alpha, kappa, and plain agreement.

    krippendorff_alpha([[1, 1, 2], [4, 4, None], [2, 3, 2]], level="ordinal")

A unit is a list of ratings, one per rater, None where a rater gave none. `Agreement` takes units
one by one and keeps only how often each pair of values met, so that a million rows on a scale of
ten cost what ten rows cost; with values that hardly repeat it grows with their pairs.

Chance-corrected measures are None where they are not defined: no unit has two ratings, or there is
no variation to agree on. Krippendorff takes such data as no evidence of reliability at all, however
often the raters said the same; 1 would claim what was never tried. `percent_agreement` says what
was observed.

Definitions: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); J. Cohen (1960,
1968 for weights); J. L. Fleiss (1971).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

from penstock.errors import InputError

__all__ = [
    "Agreement",
    "Level",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "percent_agreement",
]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["linear", "quadratic"]
_FARTHEST = 1e100
_Delta = Callable[[Any, Any], float]


class Agreement:
    """Is fed unit by unit, in any order, and can be asked at any time.

    `level` says what differences mean: `nominal` equal or not, `ordinal` by rank, `interval` by
    difference, `ratio` by proportion (values of 0 and more). `order` names the values from lowest
    to highest where sorting would not, as with labels.
    """

    def __init__(self, level: Level = "nominal", order: Sequence[Any] | None = None) -> None:
        if level not in get_args(Level):
            known = ", ".join(get_args(Level))
            raise InputError(f"level is {level!r}", remedy=f"Allowed are {known}.")
        self.level = level
        self._ranks = None if order is None else {value: at for at, value in enumerate(order)}
        # By the number of ratings in a unit, which is their weight: sums stay whole numbers, and
        # so do not depend on the order of the units.
        self._pairs: dict[int, Counter[tuple[Any, Any]]] = defaultdict(Counter)
        self._values: dict[int, Counter[Any]] = defaultdict(Counter)
        self._units: Counter[int] = Counter()

    def add(self, ratings: Iterable[Any]) -> None:
        """The ratings of one unit; None and NaN are missing ones."""
        given = Counter(self._checked(rating) for rating in ratings if not _is_missing(rating))
        count = given.total()
        if count < 2:
            return
        self._units[count] += 1
        self._values[count].update(given)
        pairs = self._pairs[count]
        for value, times in given.items():
            if times > 1:
                pairs[value, value] += times * (times - 1) // 2
        for (one, times), (other, more) in combinations(given.items(), 2):
            pairs[_pair(one, other)] += times * more

    @property
    def units(self) -> int:
        """How many units had two ratings or more."""
        return self._units.total()

    def alpha(self) -> float | None:
        """Krippendorff's alpha: 1 is perfect agreement, 0 that of chance; it may be negative."""
        counts: Counter[Any] = Counter()
        for values in self._values.values():
            counts.update(values)
        total = counts.total()
        delta = self._delta(counts)
        # Pairs are counted once here and twice in the literature, on both sides of the fraction.
        expected = math.fsum(
            counts[one] * counts[other] * delta(one, other)
            for one, other in combinations(counts, 2)
        )
        if not expected:
            return None
        observed = math.fsum(
            math.fsum(times * delta(*pair) for pair, times in pairs.items()) / (size - 1)
            for size, pairs in self._pairs.items()
        )
        return 1 - (total - 1) * observed / expected

    def percent_agreement(self) -> float | None:
        """The share of pairs of ratings that are equal, from 0 to 1; the mean over the units."""
        if not self._units:
            return None
        return (
            math.fsum(
                2 * _equal(pairs) / (size * (size - 1)) for size, pairs in self._pairs.items()
            )
            / self.units
        )

    def fleiss_kappa(self) -> float | None:
        """Fleiss' kappa, for units that all have the same number of ratings."""
        if len(self._units) > 1:
            raise InputError(
                f"the units have {', '.join(map(str, sorted(self._units)))} ratings; Fleiss' kappa "
                "needs as many for each",
                remedy="Krippendorff's alpha is made for missing ratings.",
            )
        observed = self.percent_agreement()
        if observed is None:
            return None
        [counts] = self._values.values()
        total = counts.total()
        expected = math.fsum((times / total) ** 2 for times in counts.values())
        return None if len(counts) == 1 else (observed - expected) / (1 - expected)

    def _checked(self, rating: Any) -> Any:
        if self._ranks is not None and rating not in self._ranks:
            raise InputError(f"{rating!r} is not in the order of values")
        if self.level in ("interval", "ratio"):
            if not isinstance(rating, int | float) or not -_FARTHEST <= rating <= _FARTHEST:
                raise InputError(f"{rating!r} is no number, which the level {self.level} needs")
            if self.level == "ratio" and rating < 0:
                raise InputError(f"{rating!r} is below 0, where there are no proportions")
        return rating

    def _delta(self, counts: Mapping[Any, int]) -> _Delta:
        """The squared difference of two different values."""
        if self.level == "interval":
            return lambda one, other: (one - other) ** 2
        if self.level == "ratio":
            return lambda one, other: ((one - other) / (one + other)) ** 2 if one != other else 0.0
        if self.level == "nominal":
            return lambda one, other: float(one != other)
        middles = _middles(counts, self._ranks)
        return lambda one, other: (middles[one] - middles[other]) ** 2


def krippendorff_alpha(
    ratings: Iterable[Sequence[Any]],
    level: Level = "nominal",
    *,
    order: Sequence[Any] | None = None,
) -> float | None:
    """Alpha of units with their ratings; None where it is not defined."""
    return _fed(ratings, level, order).alpha()


def percent_agreement(ratings: Iterable[Sequence[Any]]) -> float | None:
    """The share of pairs of ratings that are equal; None where there are no pairs."""
    return _fed(ratings).percent_agreement()


def fleiss_kappa(ratings: Iterable[Sequence[Any]]) -> float | None:
    """Fleiss' kappa of units with as many ratings each; None where it is not defined."""
    return _fed(ratings).fleiss_kappa()


def cohen_kappa(
    one: Iterable[Any],
    other: Iterable[Any],
    *,
    weights: Weights | None = None,
    order: Sequence[Any] | None = None,
) -> float | None:
    """Cohen's kappa of two raters, unit by unit; None where it is not defined.

    With `weights` a disagreement counts by how far apart the two values stand on the scale:
    `order`, or all values that occur, in order. Quadratic weights are usual for essay scores.
    """
    try:
        both = list(zip(one, other, strict=True))
    except ValueError:
        raise InputError("the two raters did not rate the same number of units") from None
    met = Counter(pair for pair in both if not any(map(_is_missing, pair)))
    total = met.total()
    left: Counter[Any] = Counter()
    right: Counter[Any] = Counter()
    for (a, b), times in met.items():
        left[a] += times
        right[b] += times
    apart = _weights(set(left) | set(right), weights, order)
    expected = math.fsum(left[a] * right[b] * apart(a, b) for a in left for b in right)
    if not expected:
        return None
    observed = math.fsum(times * apart(*pair) for pair, times in met.items())
    return 1 - total * observed / expected


def _fed(
    ratings: Iterable[Sequence[Any]], level: Level = "nominal", order: Sequence[Any] | None = None
) -> Agreement:
    agreement = Agreement(level, order)
    for unit in ratings:
        agreement.add(unit)
    return agreement


def _is_missing(rating: Any) -> bool:
    return rating is None or rating != rating


def _pair(one: Any, other: Any) -> tuple[Any, Any]:
    """The same for two values in either order."""
    return (one, other) if (hash(one), repr(one)) <= (hash(other), repr(other)) else (other, one)


def _equal(pairs: Mapping[tuple[Any, Any], int]) -> int:
    return sum(times for (one, other), times in pairs.items() if one == other)


def _sorted(values: Iterable[Any], ranks: Mapping[Any, int] | None) -> list[Any]:
    try:
        return sorted(values, key=None if ranks is None else ranks.__getitem__)
    except (TypeError, KeyError):
        raise InputError(
            "the values have no order", remedy="Give order=[...], from the lowest to the highest."
        ) from None


def _middles(counts: Mapping[Any, int], ranks: Mapping[Any, int] | None) -> dict[Any, float]:
    """Of each value the middle of its ranks among all ratings: their differences are ordinal."""
    before, found = 0, {}
    for value in _sorted(counts, ranks):
        found[value] = before + counts[value] / 2
        before += counts[value]
    return found


def _weights(values: Iterable[Any], weights: Weights | None, order: Sequence[Any] | None) -> _Delta:
    if weights is None:
        return lambda a, b: float(a != b)
    if weights not in get_args(Weights):
        raise InputError(f"weights is {weights!r}", remedy="Allowed are linear and quadratic.")
    scale = list(order) if order is not None else _sorted(values, None)
    ranks = {value: at for at, value in enumerate(scale)}
    if strangers := set(values) - ranks.keys():
        raise InputError(f"{next(iter(strangers))!r} is not in the order of values")
    power = 1 if weights == "linear" else 2
    return lambda a, b: float(abs(ranks[a] - ranks[b]) ** power)
