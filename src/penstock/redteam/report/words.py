"""Words for the report of a campaign: money, times, numbers of things, rates."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.redteam.conversation import Fate
from penstock.redteam.rates import Rate
from penstock.reports import percent
from penstock.reports.parts import Tone
from penstock.reports.words import counted

__all__ = [
    "FATES",
    "TONES",
    "interval",
    "listed",
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
_MOST_LISTED = 4


def listed(names: Iterable[str], what: str) -> str:
    """The names, or how many there are where they are many."""
    found = list(names)
    return ", ".join(found) if len(found) <= _MOST_LISTED else counted(len(found), what)


def interval(rate: Rate, *, corrected: bool = False) -> str | None:
    """12.5 to 31 %; None where nothing was decided."""
    low, high = (rate.corrected_low, rate.corrected_high) if corrected else (rate.low, rate.high)
    if rate.rate is None or low is None or high is None:
        return None
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"
