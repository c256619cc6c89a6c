"""Red-team sessions in the catalog: what was chosen, every turn, what was bookmarked.

One table holds the turns of all sessions and endpoints. A send is one line of a person; its turns
are its steps. What was begun and not ended is known (`open`), so that a process that was killed,
and sends the same again, goes on where it stopped.

Texts come from people and models and may hold anything: what a database cannot keep is replaced
(a NUL by its symbol, half a character by U+FFFD). The journal has the answers as they came.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa

__all__ = ["Begun", "SessionStore", "create_tables"]

_UNKEPT = re.compile("[\x00\ud800-\udfff]")
_PAGE = 200


class Words(sa.types.TypeDecorator[str]):
    """Text of any kind."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else kept(value)


def kept(text: str) -> str:
    """The text as the tables keep it."""
    return _UNKEPT.sub(lambda found: "␀" if found[0] == "\0" else "�", text)


_metadata = sa.MetaData()
sessions = sa.Table(
    "sessions",
    _metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("name", Words, nullable=False),
    sa.Column("description", Words, nullable=False),
    sa.Column("endpoints", sa.JSON, nullable=False),
    sa.Column("setup", sa.JSON, nullable=False),
    sa.Column("attacker", sa.JSON(none_as_null=True)),
    sa.Column("judge", sa.JSON(none_as_null=True)),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("max_turns", sa.Integer, nullable=False),
    sa.Column("stop_on_success", sa.Boolean, nullable=False),
    sa.Column("sends", sa.Integer, nullable=False),
    sa.Column("open", sa.JSON(none_as_null=True)),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("updated", sa.Float, nullable=False),
)
turns = sa.Table(
    "turns",
    _metadata,
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("session", sa.String, nullable=False),
    sa.Column("send", sa.Integer, nullable=False),
    sa.Column("step", sa.Integer, nullable=False),
    sa.Column("line", Words, nullable=False),
    sa.Column("endpoint", Words, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("conversation", Words, nullable=False),
    sa.Column("prompt", Words, nullable=False),
    sa.Column("prepared", Words, nullable=False),
    sa.Column("context", sa.Integer, nullable=False),
    sa.Column("strategy", Words, nullable=False),
    sa.Column("attack", Words, nullable=False),
    sa.Column("template", Words, nullable=False),
    sa.Column("metric", Words, nullable=False),
    sa.Column("system_prompt", Words, nullable=False),
    sa.Column("answer", Words),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("failure", sa.String, nullable=False),
    sa.Column("error", Words, nullable=False),
    sa.Column("judge", Words, nullable=False),
    sa.Column("success", sa.Boolean),
    sa.Column("value", sa.Float),
    sa.Column("verdict", sa.String, nullable=False),
    sa.Column("reason", Words, nullable=False),
    sa.Column("extracted", Words),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("cost", sa.String),
    sa.Column("latency", sa.Float),
    sa.Column("recorded", sa.Boolean, nullable=False),
    sa.Column("time", sa.Float, nullable=False),
    sa.UniqueConstraint("session", "endpoint", "number"),
    sa.UniqueConstraint("session", "endpoint", "send", "step"),
    sa.Index("turns_session", "session", "send", "place"),
)
bookmarks = sa.Table(
    "bookmarks",
    _metadata,
    sa.Column("name", Words, primary_key=True),
    sa.Column("prompt", Words, nullable=False),
    sa.Column("prepared", Words, nullable=False),
    sa.Column("answer", Words),
    sa.Column("setup", sa.JSON, nullable=False),
    sa.Column("endpoint", Words, nullable=False),
    sa.Column("session", sa.String, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)


def create_tables(connection: sa.Connection) -> None:
    """The step of the catalog's format that brought them."""
    _metadata.create_all(connection, tables=[sessions, turns, bookmarks])


class Begun(NamedTuple):
    """A send that is begun, or gone on with."""

    number: int
    resumed: bool


class Transactions(Protocol):
    """What is needed of the catalog."""

    def transaction(self, *, write: bool = False) -> AbstractContextManager[sa.Connection]: ...


class SessionStore:
    """Sessions, turns and bookmarks of one workspace, as plain rows."""

    def __init__(self, catalog: Transactions) -> None:
        self._catalog = catalog

    # Sessions ---------------------------------------------------------------------------------

    def create(self, row: Mapping[str, Any]) -> bool:
        """Keep a new session; False where its id is taken."""
        now = time.time()
        with self._catalog.transaction(write=True) as connection:
            if connection.execute(_by_id(row["id"])).first() is not None:
                return False
            made = {**row, "sends": 0, "open": None, "created": now, "updated": now}
            connection.execute(sessions.insert().values(made))
        return True

    def find(self, id: str) -> dict[str, Any] | None:  # noqa: A002
        """The session of exactly that id."""
        with self._catalog.transaction() as connection:
            return _row(connection.execute(_by_id(id)).mappings().first())

    def all(self) -> list[dict[str, Any]]:
        """Every session, that last used first, with the number of its turns."""
        counted = sa.select(turns.c.session, sa.func.count().label("turns"))
        by_session = counted.group_by(turns.c.session).subquery()
        joined = sessions.outerjoin(by_session, sessions.c.id == by_session.c.session)
        query = sa.select(sessions, sa.func.coalesce(by_session.c.turns, 0).label("turns"))
        query = query.select_from(joined).order_by(sessions.c.updated.desc(), sessions.c.id)
        with self._catalog.transaction() as connection:
            return [_plain(row) for row in connection.execute(query).mappings()]

    def update(self, id: str, **changes: Any) -> bool:  # noqa: A002
        """Write what changed; False where the session is gone."""
        changes["updated"] = time.time()
        with self._catalog.transaction(write=True) as connection:
            done = connection.execute(
                sessions.update().where(sessions.c.id == id).values(**changes)
            )
        return bool(done.rowcount)

    def delete(self, id: str) -> bool:  # noqa: A002
        """Forget a session with its turns; bookmarks stay."""
        with self._catalog.transaction(write=True) as connection:
            gone = connection.execute(sessions.delete().where(sessions.c.id == id))
            connection.execute(turns.delete().where(turns.c.session == id))
        return bool(gone.rowcount)

    # Turns ------------------------------------------------------------------------------------

    def begin(self, id: str, wish: Mapping[str, Any]) -> Begun | None:  # noqa: A002
        """Begin a send, or go on with the same one where it was not ended; None: no session."""
        with self._catalog.transaction(write=True) as connection:
            row = connection.execute(_by_id(id)).mappings().first()
            if row is None:
                return None
            before = row["open"]
            if before is not None and before["wish"] == dict(wish):
                return Begun(before["number"], True)
            number = row["sends"] + 1
            changes = {"sends": number, "open": {"number": number, "wish": dict(wish)}}
            change = sessions.update().where(sessions.c.id == id)
            connection.execute(change.values(**changes, updated=time.time()))
        return Begun(number, False)

    def end(self, id: str, number: int) -> None:  # noqa: A002
        """Nothing of a send is left to do."""
        with self._catalog.transaction(write=True) as connection:
            row = connection.execute(_by_id(id)).mappings().first()
            if row is not None and row["open"] is not None and row["open"]["number"] == number:
                change = sessions.update().where(sessions.c.id == id)
                connection.execute(change.values(open=None, updated=time.time()))

    def add(self, session: str, send: int, step: int, line: str, row: Mapping[str, Any]) -> int:
        """Record a turn once; its number among the turns of its endpoint."""
        at = (turns.c.session == session) & (turns.c.endpoint == row["endpoint"])
        same = at & (turns.c.send == send) & (turns.c.step == step)
        with self._catalog.transaction(write=True) as connection:
            found = connection.execute(sa.select(turns.c.number).where(same)).scalar()
            if found is not None:
                return int(found)
            last = connection.execute(sa.select(sa.func.max(turns.c.number)).where(at)).scalar()
            number = (last or 0) + 1
            own = {"session": session, "send": send, "step": step, "line": line, "number": number}
            connection.execute(turns.insert().values({**row, **own}))
        return number

    def again(self, session: str, endpoint: str, line: str, send: int) -> int:
        """How many earlier sends of the same line this endpoint has answered."""
        query = sa.select(sa.func.count(turns.c.send.distinct())).where(
            turns.c.session == session,
            turns.c.endpoint == endpoint,
            turns.c.line == line,
            turns.c.send < send,
            turns.c.status != "failed",
        )
        with self._catalog.transaction() as connection:
            return int(connection.execute(query).scalar() or 0)

    def steps(self, session: str, endpoint: str, send: int) -> dict[int, dict[str, Any]]:
        """What is recorded of a send, by its step."""
        query = turns.select().where(
            turns.c.session == session, turns.c.endpoint == endpoint, turns.c.send == send
        )
        with self._catalog.transaction() as connection:
            found = [_plain(row) for row in connection.execute(query).mappings()]
        return {row["step"]: row for row in found}

    def last(self, session: str, endpoint: str, before: int, most: int) -> list[dict[str, Any]]:
        """The last turns of an endpoint in the sends before one, the oldest first."""
        query = (
            turns.select()
            .where(turns.c.session == session, turns.c.endpoint == endpoint, turns.c.send < before)
            .order_by(turns.c.number.desc())
            .limit(most)
        )
        with self._catalog.transaction() as connection:
            return [_plain(row) for row in connection.execute(query).mappings()][::-1]

    def latest(self, session: str) -> list[dict[str, Any]]:
        """The turns of the last send that has any."""
        newest = sa.select(sa.func.max(turns.c.send)).where(turns.c.session == session)
        query = turns.select().where(
            turns.c.session == session, turns.c.send == newest.scalar_subquery()
        )
        with self._catalog.transaction() as connection:
            found = connection.execute(query.order_by(turns.c.place)).mappings()
            return [_plain(row) for row in found]

    def turns(self, session: str, endpoint: str | None = None) -> Iterator[dict[str, Any]]:
        """Every turn in the order of the sends, a page at a time."""
        query = turns.select().where(turns.c.session == session)
        if endpoint is not None:
            query = query.where(turns.c.endpoint == endpoint)
        query = query.order_by(turns.c.send, turns.c.place).limit(_PAGE)
        page = query
        while True:
            with self._catalog.transaction() as connection:
                found = [_plain(row) for row in connection.execute(page).mappings()]
            yield from found
            if len(found) < _PAGE:
                return
            send, place = found[-1]["send"], found[-1]["place"]
            later = (turns.c.send > send) | ((turns.c.send == send) & (turns.c.place > place))
            page = query.where(later)

    # Bookmarks --------------------------------------------------------------------------------

    def add_bookmark(self, row: Mapping[str, Any]) -> bool:
        """Keep a bookmark; False where its name is taken."""
        with self._catalog.transaction(write=True) as connection:
            if connection.execute(_marked(row["name"])).first() is not None:
                return False
            connection.execute(bookmarks.insert().values({**row, "created": time.time()}))
        return True

    def bookmark(self, name: str) -> dict[str, Any] | None:
        """The bookmark of that name."""
        with self._catalog.transaction() as connection:
            return _row(connection.execute(_marked(name)).mappings().first())

    def all_bookmarks(self) -> list[dict[str, Any]]:
        """Every bookmark by name."""
        with self._catalog.transaction() as connection:
            query = bookmarks.select().order_by(bookmarks.c.name)
            return [_plain(row) for row in connection.execute(query).mappings()]

    def remove_bookmark(self, name: str) -> bool:
        """Forget a bookmark; False where there was none."""
        with self._catalog.transaction(write=True) as connection:
            gone = connection.execute(bookmarks.delete().where(bookmarks.c.name == name))
        return bool(gone.rowcount)


def _by_id(id: str) -> sa.Select[Any]:  # noqa: A002
    return sa.select(sessions).where(sessions.c.id == id)


def _marked(name: str) -> sa.Select[Any]:
    return sa.select(bookmarks).where(bookmarks.c.name == name)


def _row(found: sa.RowMapping | None) -> dict[str, Any] | None:
    return None if found is None else _plain(found)


def _plain(row: sa.RowMapping) -> dict[str, Any]:
    """A row with names that are nothing but text; SQLAlchemy's own are not."""
    return {str(name): value for name, value in row.items()}
