"""Which rows are looked at more closely: chosen beforehand, evenly over the table, by a seed."""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = ["Picked", "Sample"]

_VALUES = 100_000
_ROWS = 5_000
_TEXTS = 1_000


class Picked(NamedTuple):
    """What a row is chosen for."""

    value: bool
    """For medians and histograms."""
    row: bool
    """For near-duplicates."""
    text: bool
    """For the diversity of texts."""


_ALL = Picked(True, True, True)


class Sample:
    """The choice for a table of so many rows; each smaller sample is part of the larger one."""

    def __init__(self, rows: int, seed: int) -> None:
        self._ranks: dict[int, int] | None = None
        if rows > _TEXTS:
            chosen = random.Random(seed).sample(range(rows), min(rows, _VALUES))  # noqa: S311
            self._ranks = {number: rank for rank, number in enumerate(chosen)}

    def picked(self, number: int) -> Picked:
        """What the row of a number is chosen for."""
        if self._ranks is None:
            return _ALL
        rank = self._ranks.get(number, _VALUES)
        return Picked(rank < _VALUES, rank < _ROWS, rank < _TEXTS)
