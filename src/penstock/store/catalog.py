"""The catalog: what there is besides answers. Runs and endpoints here, sessions in `sessions`.

SQLAlchemy Core over SQLite, or PostgreSQL by URL for a team. It is touched a few times a run, not
a few times a row. The format is a number in `meta`; an older catalog is brought forward when it is
opened, a newer one is refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from penstock.errors import (
    DamagedError,
    InputError,
    NewerWorkspaceError,
    NotFoundError,
    StorageFullError,
    StoreError,
)
from penstock.store.file import write_ahead
from penstock.store.sessions import create_tables

__all__ = ["Catalog", "endpoints", "runs"]

_MOVE = "Move it aside: it holds the runs, endpoints and sessions; the journal has the answers."
_metadata = sa.MetaData()

meta = sa.Table(
    "meta",
    _metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)
runs = sa.Table(
    "runs",
    _metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False, default=""),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("started", sa.Float),
    sa.Column("ended", sa.Float),
    sa.Column("spec", sa.JSON, nullable=False),
    sa.Column("counters", sa.JSON, nullable=False),
    sa.Column("message", sa.String, nullable=False, default=""),
)
endpoints = sa.Table(
    "endpoints",
    _metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("spec", sa.JSON, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)


def _first(connection: sa.Connection) -> None:
    _metadata.create_all(connection, tables=[meta, runs, endpoints])


# Each step brings a catalog from the format before to its own; the first makes it.
MIGRATIONS = (_first, create_tables)


class Catalog:
    """Runs and endpoints of one workspace."""

    def __init__(self, where: Path | str) -> None:
        self._engine = _engine(where)
        url = self._engine.url
        self.where = str(where) if isinstance(where, Path) else url.render_as_string()
        if isinstance(where, Path):
            with self._translated():
                if not where.exists():
                    os.close(os.open(where, os.O_CREAT | os.O_RDWR, 0o600))
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", _sqlite_pragmas)
            sa.event.listen(self._engine, "begin", _sqlite_begin)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connections."""
        self._engine.dispose()

    # Runs -------------------------------------------------------------------------------------

    def add_run(self, run_id: str, kind: str, name: str, spec: Mapping[str, Any]) -> None:
        """Remember a run before its first question."""
        row = {
            "id": run_id,
            "kind": kind,
            "name": name,
            "state": "pending",
            "created": time.time(),
            "spec": dict(spec),
            "counters": {},
            "message": "",
        }
        with self._begin(write=True) as connection:
            connection.execute(runs.insert().values(row))

    def update_run(self, run_id: str, **changes: Any) -> None:
        """Write what changed of a run."""
        with self._begin(write=True) as connection:
            connection.execute(runs.update().where(runs.c.id == run_id).values(**changes))

    def find_run(self, run_id: str) -> dict[str, Any] | None:
        """The run of exactly that id, if there is one."""
        with self._begin() as connection:
            row = connection.execute(runs.select().where(runs.c.id == run_id)).mappings().first()
        return None if row is None else _plain(row)

    def run(self, run_id: str) -> dict[str, Any]:
        """One run, by its id or an unambiguous beginning of it."""
        pattern = run_id.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        query = runs.select().where(runs.c.id.like(pattern, escape="\\"))
        with self._begin() as connection:
            found = [_plain(row) for row in connection.execute(query).mappings()]
        exact = [row for row in found if row["id"] == run_id]
        if exact or len(found) == 1:
            return (exact or found)[0]
        if found:
            names = ", ".join(row["id"] for row in found[:5])
            raise NotFoundError(f"several runs begin with {run_id!r}: {names}")
        raise NotFoundError(f"there is no run {run_id!r}", remedy="See `penstock runs list`.")

    def remove_run(self, run_id: str) -> None:
        """Forget a run."""
        with self._begin() as connection:
            connection.execute(runs.delete().where(runs.c.id == run_id))

    def all_runs(self, limit: int = 1000) -> list[dict[str, Any]]:
        """The newest runs first."""
        query = runs.select().order_by(runs.c.created.desc()).limit(limit)
        with self._begin() as connection:
            return [_plain(row) for row in connection.execute(query).mappings()]

    # Endpoints --------------------------------------------------------------------------------

    def save_endpoint(self, name: str, spec: Mapping[str, Any]) -> None:
        """Remember an endpoint under a name, replacing the one before."""
        with self._begin(write=True) as connection:
            here = endpoints.c.name == name
            changed = connection.execute(endpoints.update().where(here).values(spec=dict(spec)))
            if not changed.rowcount:
                row = {"name": name, "spec": dict(spec), "created": time.time()}
                connection.execute(endpoints.insert().values(row))

    def endpoint(self, name: str) -> dict[str, Any] | None:
        """The endpoint saved under a name."""
        query = endpoints.select().where(endpoints.c.name == name)
        with self._begin() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _plain(row)

    def all_endpoints(self) -> list[dict[str, Any]]:
        """The saved endpoints by name."""
        with self._begin() as connection:
            query = endpoints.select().order_by(endpoints.c.name)
            return [_plain(row) for row in connection.execute(query).mappings()]

    def remove_endpoint(self, name: str) -> bool:
        """Forget an endpoint; False when there was none."""
        with self._begin(write=True) as connection:
            gone = connection.execute(endpoints.delete().where(endpoints.c.name == name))
        return bool(gone.rowcount)

    def transaction(self, *, write: bool = False) -> AbstractContextManager[sa.Connection]:
        """For the other tables that lie here."""
        return self._begin(write=write)

    # Inside -----------------------------------------------------------------------------------

    def _migrate(self) -> None:
        with self._begin() as connection:
            if self._format(connection) == len(MIGRATIONS):
                return
        # Looked at again with the lock in hand: several processes may open a catalog at once.
        with self._begin(write=True) as connection:
            found = self._format(connection)
            if found > len(MIGRATIONS):
                raise NewerWorkspaceError(
                    f"the catalog {self.where} has format {found}; "
                    f"this version knows {len(MIGRATIONS)}",
                    remedy="Upgrade Penstock (pip install -U penstock), or use another workspace.",
                )
            if found == len(MIGRATIONS):
                return
            for step in MIGRATIONS[found:]:
                step(connection)
            connection.execute(meta.delete().where(meta.c.name == "format"))
            connection.execute(meta.insert().values(name="format", value=str(len(MIGRATIONS))))

    def _format(self, connection: sa.Connection) -> int:
        if not sa.inspect(connection).has_table("meta"):
            return 0
        value = connection.execute(sa.select(meta.c.value).where(meta.c.name == "format")).scalar()
        try:
            return int(value or 0)
        except ValueError:
            raise DamagedError(f"the catalog {self.where} does not say its format") from None

    @contextmanager
    def _begin(self, *, write: bool = False) -> Iterator[sa.Connection]:
        engine = self._engine.execution_options(write=write)
        with self._translated(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        room = "Free some room or make it writable, then run again: nothing done is lost."
        try:
            yield
        except OSError as error:
            raise StorageFullError(
                f"{self.where} cannot be written: {error.strerror}", remedy=room
            ) from None
        except sa.exc.DatabaseError as error:
            said = str(error.orig)
            if any(word in said for word in ("full", "readonly", "I/O", "unable to open")):
                raise StorageFullError(
                    f"{self.where} cannot be written: {said}", remedy=room
                ) from None
            if any(word in said for word in ("malformed", "not a database")):
                raise DamagedError(
                    f"{self.where} is damaged: {said}",
                    remedy=_MOVE,
                ) from None
            raise StoreError(f"{self.where}: {said}") from None
        except ValueError as error:
            raise DamagedError(f"{self.where} is damaged: {error}", remedy=_MOVE) from None


def _engine(where: Path | str) -> sa.Engine:
    try:
        if isinstance(where, Path):
            return sa.create_engine(sa.URL.create("sqlite", database=str(where)))
        return sa.create_engine(where)
    except (sa.exc.ArgumentError, ValueError):
        # Without the address itself: there may be a password in it.
        raise InputError(
            "the address of the catalog cannot be read",
            remedy="Write it as postgresql+psycopg://user@host/name.",
        ) from None
    except ModuleNotFoundError as error:
        raise InputError(
            f"the catalog needs the package {error.name}",
            remedy="Run: pip install 'penstock[postgres]'",
        ) from None


def _sqlite_begin(connection: sa.Connection) -> None:
    # Python's own way begins a transaction late and ends it early, around every DDL statement.
    write = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _plain(row: sa.RowMapping) -> dict[str, Any]:
    """A row with names that are nothing but text; SQLAlchemy's own are not."""
    return {str(name): value for name, value in row.items()}


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA busy_timeout = 30000")
    write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
