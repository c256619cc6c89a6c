"""What went wrong in a run, gathered while its items pass by."""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.bench.item import Item, ItemStatus, Trouble
from penstock.tables import Table

__all__ = ["Troubles"]


class Troubles:
    """The first of each kind is kept, the others are counted."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], dict[str, Any]] = {}
        self._failed: Counter[tuple[str, str]] = Counter()
        self._answered = 0
        self._judges: Counter[str] = Counter()
        self._said: dict[str, str] = {}

    def add(self, item: Item) -> list[Trouble]:
        """Those of one item."""
        self._answered += item.status is not ItemStatus.FAILED
        found = item.troubles
        for each in found:
            if each.metric:
                self._judges[each.metric] += 1
                self._said.setdefault(each.metric, each.message)
            else:
                which = (item.endpoint, each.kind.value)
                self._failed[which] += 1
                row = {"row": item.number, "kind": each.kind.value, "message": each.message}
                self._first.setdefault(which, row)
        return found

    def failures(self) -> Table:
        """Why endpoints served nobody, where they did: one row for each reason."""
        failed = [] if self._answered and self._judges else list(self._first.values())
        return Table.from_rows(failed)

    def said(self) -> list[str]:
        """For people: what failed, how often, and why it did first."""
        lines = [
            f"{endpoint}: {count:,} questions failed, {kind}; the first: "
            f"{self._first[endpoint, kind]['message']}"
            for (endpoint, kind), count in self._failed.items()
        ]
        lines += [
            f"{label}: {count:,} answers have no score, because their judge failed; the first: "
            f"{self._said[label]}"
            for label, count in self._judges.items()
        ]
        return lines
