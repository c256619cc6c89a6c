"""Bookmarks: a turn worth keeping, under a name, with all that is needed to send it again.

They outlive their session.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, NotFoundError
from penstock.redteam.turn import Setup, Turn
from penstock.store.sessions import SessionStore
from penstock.tables import Table

__all__ = [
    "Bookmark",
    "add_bookmark",
    "all_bookmarks",
    "delete_bookmark",
    "export_bookmarks",
    "find_bookmark",
]

_LONGEST = 200


class Bookmark(msgspec.Struct, frozen=True, kw_only=True):
    """A turn under a name."""

    name: str
    prompt: str
    prepared: str
    answer: str | None
    setup: Setup
    endpoint: str
    session: str
    created: float = 0.0

    def row(self) -> dict[str, Any]:
        """As a row of a table: flat, plain values."""
        row = {name: getattr(self, name) for name in self.__struct_fields__}
        return row | msgspec.structs.asdict(row.pop("setup"))


def add_bookmark(
    name: str, turn: Turn, *, session: str = "", workbench: Workbench | None = None
) -> Bookmark:
    """Keep a turn. A name that is taken is an error: nothing is replaced."""
    if not name.strip() or len(name) > _LONGEST:
        raise InputError(f"a bookmark needs a name of 1 to {_LONGEST} letters")
    store = _store(workbench)
    row = {
        "name": name,
        "prompt": turn.prompt,
        "prepared": turn.prepared,
        "answer": turn.answer,
        "setup": msgspec.to_builtins(turn.setup),
        "endpoint": turn.endpoint,
        "session": session,
    }
    if not store.add_bookmark(row):
        raise InputError(
            f"there is a bookmark {name!r} already",
            remedy="Delete it first (`penstock redteam bookmarks delete`), or give another name.",
        )
    return find_bookmark(name, workbench)


def find_bookmark(name: str, workbench: Workbench | None = None) -> Bookmark:
    """The bookmark of that name."""
    found = _store(workbench).bookmark(name)
    if found is None:
        raise _missing(name, workbench)
    return _made(found)


def all_bookmarks(workbench: Workbench | None = None) -> list[Bookmark]:
    """Every bookmark, by name."""
    bench = workbench or default_workbench()
    if not bench.workspace.exists:
        return []
    return [_made(row) for row in _store(bench).all_bookmarks()]


def delete_bookmark(name: str, workbench: Workbench | None = None) -> None:
    """Forget one."""
    if not _store(workbench).remove_bookmark(name):
        raise _missing(name, workbench)


def export_bookmarks(
    path: Path | str, *, overwrite: bool = False, workbench: Workbench | None = None
) -> Path:
    """All of them as a table: json, jsonl, csv, parquet, xlsx."""
    rows: Iterator[dict[str, Any]] = (mark.row() for mark in all_bookmarks(workbench))
    return Table.from_rows(list(rows)).save(path, overwrite=overwrite)


def _store(workbench: Workbench | None) -> SessionStore:
    return SessionStore((workbench or default_workbench()).catalog)


def _made(row: dict[str, Any]) -> Bookmark:
    return msgspec.convert(row, Bookmark)


def _missing(name: str, workbench: Workbench | None) -> NotFoundError:
    known = [mark.name for mark in all_bookmarks(workbench)]
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(known[:20]) or "none yet"
    return NotFoundError(f"there is no bookmark {name!r}", remedy=f"{hint}There are: {shown}.")
