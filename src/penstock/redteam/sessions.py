"""Sessions by their names: found, listed, deleted."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import msgspec

from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, NotFoundError
from penstock.files import slug
from penstock.redteam.session_setup import Chosen
from penstock.redteam.turn import Setup
from penstock.store.sessions import SessionStore

__all__ = ["SessionInfo", "all_sessions", "delete_session", "find_row"]

_MOST = 20


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session as lists show it."""

    id: str
    name: str
    description: str
    endpoints: tuple[str, ...]
    setup: Setup
    turns: int
    created: float
    updated: float


def all_sessions(workbench: Workbench | None = None) -> list[SessionInfo]:
    """Every session, that last used first."""
    bench = workbench or default_workbench()
    if not bench.workspace.exists:
        return []
    return [_info(row) for row in SessionStore(bench.catalog).all()]


def delete_session(name: str, workbench: Workbench | None = None) -> None:
    """Forget a session and its turns. Bookmarks and recorded answers stay."""
    bench = workbench or default_workbench()
    row = find_row(name, bench)
    SessionStore(bench.catalog).delete(row["id"])


def find_row(name: str, bench: Workbench) -> dict[str, Any]:
    """What is stored of a session, by its name or id."""
    if not bench.workspace.exists:
        raise NotFoundError(f"there is no session {name!r}", remedy="There are none yet.")
    try:
        found = SessionStore(bench.catalog).find(slug(name))
    except InputError:
        found = None  # a name of which no id can be made
    if found is not None:
        return found
    known = [each.id for each in all_sessions(bench)]
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    raise NotFoundError(
        f"there is no session {name!r}",
        remedy=f"{hint}There are: {', '.join(known[:_MOST]) or 'none yet'}{more}.",
    )


def _info(row: dict[str, Any]) -> SessionInfo:
    chosen = Chosen.of_row(row)
    return SessionInfo(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        endpoints=chosen.labels,
        setup=chosen.setup,
        turns=row["turns"],
        created=row["created"],
        updated=row["updated"],
    )
