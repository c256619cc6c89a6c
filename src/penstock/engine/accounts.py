"""`penstock.usage`: what a workspace used and paid."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import cast, get_args

from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.store.usage import By, Used
from penstock.store.usage import usage as read_usage

__all__ = ["usage", "used"]

_SPAN = re.compile(r"(\d+)([hdw])")
_SECONDS = {"h": 3600, "d": 86400, "w": 604800}


def usage(by: str = "day", since: str | datetime | None = None) -> list[Used]:
    """What was used and paid in this workspace, by day, model, endpoint, run or lane."""
    return used(default_workbench(), by=by, since=since)


def used(bench: Workbench, *, by: str, since: str | datetime | None) -> list[Used]:
    """The same for a workbench."""
    if by not in get_args(By):
        raise InputError(f"by is {by!r}; allowed are {', '.join(get_args(By))}")
    moment = _moment(since)
    if not bench.workspace.check().journal.exists():
        return []
    return read_usage(bench.journal(), cast(By, by), moment)


def _moment(since: str | datetime | None) -> float:
    if since is None:
        return 0.0
    if isinstance(since, datetime):
        return since.timestamp()
    if span := _SPAN.fullmatch(since):
        return time.time() - int(span[1]) * _SECONDS[span[2]]
    try:
        return datetime.fromisoformat(since).timestamp()
    except ValueError:
        raise InputError(
            f"since is {since!r}", remedy="Write a date (2026-11-01) or a span (12h, 7d, 2w)."
        ) from None
