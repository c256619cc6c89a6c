"""Words that all reports share: money, times, numbers of things, what went wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, overload

__all__ = ["Trouble", "counted", "json_block", "json_line", "money", "span", "when"]

_DIGITS = 4
_MOST_MESSAGES = 3
_LONGEST = 600


@dataclass
class Trouble:
    """What went wrong in one way: how often, for whom, and what was said first."""

    kind: str
    count: int = 0
    endpoints: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)

    def add(self, endpoint: str, message: str) -> None:
        self.count += 1
        self.endpoints[endpoint] += 1
        said = message[:_LONGEST]
        if said and len(self.messages) < _MOST_MESSAGES and said not in self.messages:
            self.messages.append(said)


def counted(count: int, what: str) -> str:
    """1 row, 12 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def money(cost: Decimal | str | None) -> str:
    """Dollars: to the cent, or four digits where it is less than one."""
    if cost is None:
        return "unknown"
    cost = Decimal(cost)
    if not cost:
        return "$0.00"
    if cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{_DIGITS - cost.adjusted() - 1}f}".rstrip("0")


@overload
def span(seconds: float) -> str: ...
@overload
def span(seconds: float | None) -> str | None: ...
def span(seconds: float | None) -> str | None:
    """A time that has passed: 38 ms, 0.8 s, 12 s, 1 min 12 s, 1 h 23 min."""
    if seconds is None:
        return None
    if 0 < seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def when(moment: float) -> str:
    """A moment, the same wherever the page was made."""
    try:
        made = datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError, OSError):
        return "unknown"
    return f"{made:%d %B %Y, %H:%M} UTC".lstrip("0")


def json_block(value: Any) -> str:
    """Settings as people read them."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def json_line(value: Any) -> str:
    """The same where there is little room."""
    return json.dumps(value, ensure_ascii=False, default=str)
