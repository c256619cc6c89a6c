"""Threads for bulk work.

Several threads serve a run, and each wakes another all the time. The scheduler favours whoever
was just woken, so every hand-over would throw the one at work off its core. Work in bulk asks to
be treated as such: a thread that is woken waits until the other has done what it had in hand.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["start", "work_in_bulk"]


def start(target: Callable[..., Any], name: str, *arguments: Any) -> threading.Thread:
    """A thread of ours, at work; it does not keep the process alive."""

    def run() -> None:
        work_in_bulk()
        target(*arguments)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def work_in_bulk() -> None:
    """Ask for it in this thread, and those it starts; where a system knows no such thing, or
    forbids it, everything goes on as before."""
    if hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
