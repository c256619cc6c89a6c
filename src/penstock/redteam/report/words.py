"""Words for the report of a campaign: money, times, numbers of things, rates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from penstock.redteam.conversation import Fate
from penstock.redteam.rates import Rate
from penstock.reports import percent
from penstock.reports.parts import Tone

__all__ = [
    "FATES",
    "TONES",
    "counted",
    "interval",
    "json_block",
    "json_line",
    "listed",
    "money",
    "span",
    "when",
]

FATES: dict[Fate, str] = {
    Fate.SUCCEEDED: "succeeded",
    Fate.RESISTED: "resisted",
    Fate.NO_ANSWER: "no answer",
    Fate.ERROR: "error",
}
TONES: dict[Fate, Tone] = {
    Fate.SUCCEEDED: "bad",
    Fate.RESISTED: "good",
    Fate.NO_ANSWER: "warn",
    Fate.ERROR: "warn",
}
_DIGITS = 4
_MOST_LISTED = 4


def counted(count: int, what: str) -> str:
    """1 attack, 12 attacks."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Iterable[str], what: str) -> str:
    """The names, or how many there are where they are many."""
    found = list(names)
    return ", ".join(found) if len(found) <= _MOST_LISTED else counted(len(found), what)


def money(cost: Decimal) -> str:
    """Dollars: to the cent, or four digits where it is less than one."""
    if not cost:
        return "$0.00"
    if cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{_DIGITS - cost.adjusted() - 1}f}".rstrip("0")


def span(seconds: float) -> str:
    """A time that has passed: 0.8 s, 12 s, 1 min 12 s, 1 h 23 min."""
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


def interval(rate: Rate, *, corrected: bool = False) -> str | None:
    """12.5 to 31 %; None where nothing was decided."""
    low, high = (rate.corrected_low, rate.corrected_high) if corrected else (rate.low, rate.high)
    if rate.rate is None or low is None or high is None:
        return None
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def json_block(value: Any) -> str:
    """Settings as people read them."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def json_line(value: Any) -> str:
    """The same where there is little room."""
    return json.dumps(value, ensure_ascii=False, default=str)
