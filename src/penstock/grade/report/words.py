"""Words for the report of a grading run: money, times, numbers of things, names of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.grade.results import STATUSES
from penstock.reports.numbers import number
from penstock.reports.words import counted, money

__all__ = ["file_names", "mean_of", "resume", "shares", "spent"]


def shares(counts: Mapping[str, int], *, without: Sequence[str] = ()) -> str:
    """Rows by status in a line: 118 graded, 2 failed."""
    said = {"ok": "graded", "error": "unreadable"}
    return ", ".join(
        f"{counts[status]:,} {said.get(status, status)}"
        for status in STATUSES
        if counts.get(status) and status not in without
    )


def spent(counters: Mapping[str, Any]) -> str:
    """What the answers cost, and what is missing from that."""
    cost, unpriced = Decimal(counters["cost"]), counters.get("unpriced", 0)
    if not unpriced:
        return money(cost)
    missing = f"no price is known of {counted(unpriced, 'answer')}"
    return f"{money(cost)}, but {missing}" if cost else f"unknown: {missing}"


def mean_of(value: float | None) -> str:
    """A mean, a median or a deviation, with as many digits as mean anything to people."""
    return number(None if value is None else round(value, 1 if abs(value) >= 10 else 2))


def resume(run: str) -> str:
    """The command that goes on with a run."""
    return f"penstock runs resume {run}"


def file_names(paths: Sequence[Path]) -> list[str]:
    """The names of files, with as much of their folders as tells them apart."""
    found = [path.name or str(path) for path in paths]
    for depth in (2, 3):
        twice = {name for name, count in Counter(found).items() if count > 1}
        if not twice:
            return found
        found = [
            "/".join(path.parts[-depth:]) if name in twice else name
            for path, name in zip(paths, found, strict=True)
        ]
    twice = {name for name, count in Counter(found).items() if count > 1}
    return [str(path) if name in twice else name for path, name in zip(paths, found, strict=True)]
