"""Words for the report of a grading run: money, times, numbers of things, names of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.grade.results import STATUSES
from penstock.reports.numbers import number

__all__ = ["counted", "file_names", "mean_of", "money", "resume", "shares", "span", "spent"]

_DIGITS = 4


def counted(count: int, what: str) -> str:
    """1 row, 12 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def shares(counts: Mapping[str, int], *, without: Sequence[str] = ()) -> str:
    """Rows by status in a line: 118 graded, 2 failed."""
    said = {"ok": "graded", "error": "unreadable"}
    return ", ".join(
        f"{counts[status]:,} {said.get(status, status)}"
        for status in STATUSES
        if counts.get(status) and status not in without
    )


def money(cost: Decimal) -> str:
    """Dollars: to the cent, or four digits where it is less than one."""
    if not cost:
        return "$0.00"
    if cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{_DIGITS - cost.adjusted() - 1}f}".rstrip("0")


def spent(counters: Mapping[str, Any]) -> str:
    """What the answers cost, and what is missing from that."""
    cost, unpriced = Decimal(counters["cost"]), counters.get("unpriced", 0)
    if not unpriced:
        return money(cost)
    missing = f"no price is known of {counted(unpriced, 'answer')}"
    return f"{money(cost)}, but {missing}" if cost else f"unknown: {missing}"


def span(seconds: float) -> str:
    """A time that has passed: 0.8 s, 12 s, 1 min 12 s, 1 h 23 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


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
