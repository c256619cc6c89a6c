"""What was used and paid, summed up from the journal: the record itself is the account.

Every answer that was ever paid for is in it, whichever program or run asked, also one that was
killed. Only the small facts of each record are read, not its bodies.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import msgspec

from penstock.store.journal import Journal
from penstock.store.record import Meta, RecordKind, read_meta

__all__ = ["By", "Used", "usage"]

By = Literal["day", "model", "endpoint", "run", "lane"]


class Used(NamedTuple):
    """What was used under one heading."""

    name: str
    answers: int
    failures: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    unpriced: int
    """Answers for which no price was known."""


_NAMES: dict[str, Callable[[Meta], str]] = {
    "day": lambda meta: time.strftime("%Y-%m-%d", time.localtime(meta.at)),
    "model": lambda meta: meta.model,
    "endpoint": lambda meta: f"{meta.provider}/{meta.model}",
    "run": lambda meta: meta.run or "(no run)",
    "lane": lambda meta: meta.lane,
}


def usage(journal: Journal, by: By = "day", since: float = 0.0) -> list[Used]:
    """What was used since a time, by day, model, endpoint, run or lane."""
    name_of = _NAMES[by]
    sums: dict[str, list[Any]] = {}
    journal.create()
    with closing(sqlite3.connect(journal.path, timeout=30)) as connection:
        for kind, raw in connection.execute("SELECT kind, meta FROM records ORDER BY id"):
            try:
                meta = read_meta(raw)
            except (msgspec.DecodeError, TypeError):
                continue  # `penstock journal check` names what is damaged
            if meta.at < since:
                continue
            found = sums.setdefault(name_of(meta), [0, 0, 0, 0, Decimal(0), 0])
            if kind == RecordKind.FAILURE:
                found[1] += 1
                continue
            found[0] += 1
            found[2] += meta.input_tokens
            found[3] += meta.output_tokens
            if meta.cost:
                found[4] += Decimal(meta.cost)
            else:
                found[5] += 1
    made = [Used(name, *found) for name, found in sums.items()]
    return sorted(made) if by == "day" else sorted(made, key=lambda used: -used.cost)
