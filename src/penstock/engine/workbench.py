"""The workbench: settings, workspace, catalog and engine, found and opened together.

The doors (Python, shell, server) open one and work at it. Everything is opened when first needed,
so that `penstock --help` and a bare `import` touch no file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock import logs
from penstock.endpoint import Endpoint
from penstock.engine.bridge import EngineThread
from penstock.engine.budget import Budget
from penstock.engine.engine import Cache, Engine
from penstock.engine.progress import Progress
from penstock.engine.retries import RetryPolicy
from penstock.engine.station import Station
from penstock.errors import EndpointError
from penstock.providers import resolve
from penstock.providers.transport import TransportSettings
from penstock.settings import Settings
from penstock.store import Journal, Workspace
from penstock.store.catalog import Catalog
from penstock.tokens import PriceList

__all__ = ["Workbench", "close", "default_workbench"]


class Workbench:
    """What a job works with."""

    def __init__(
        self, settings: Settings | None = None, workspace: Workspace | Path | str | None = None
    ) -> None:
        self.settings = settings or Settings.load()
        if workspace is None:
            workspace = Workspace.find()
        self.workspace = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
        self._thread: EngineThread | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The second Ctrl-C comes through here: then nothing is waited for.
        self.close(patience=0 if isinstance(error, KeyboardInterrupt) else None)

    def close(self, patience: float | None = None) -> None:
        """Drain what is in flight, for so many seconds at most, and let go of every file."""
        if patience is None:
            patience = self.settings.storage.drain + 10
        with self._lock:
            if self._thread is not None:
                self._thread.close(patience)
                self._thread = None
        if "catalog" in self.__dict__:
            self.catalog.close()
            del self.__dict__["catalog"]

    @cached_property
    def catalog(self) -> Catalog:
        """The list of runs and endpoints; makes the workspace."""
        self.workspace.prepare()
        self._start_logs()
        return Catalog(self.workspace.catalog)

    @property
    def thread(self) -> EngineThread:
        """The engine's thread, started by the first who needs it; makes the workspace."""
        with self._lock:
            if self._thread is None:
                self.workspace.prepare()
                self._start_logs()
                self._thread = EngineThread(self._make_station())
            return self._thread

    def endpoint(self, endpoint: Endpoint | str | None) -> Endpoint:
        """An endpoint by what a person wrote: a saved name, a string, an object, or the setting."""
        if endpoint is None:
            endpoint = self.settings.llm.model
        if endpoint is None:
            raise EndpointError(
                "no model is given",
                remedy="Give one (--model gpt-4o-mini, or --model simulated to try it offline), "
                "or set llm.model in penstock.yaml.",
            )
        if isinstance(endpoint, str):
            endpoint = self._saved(endpoint) or endpoint
        return self._with_defaults(resolve(endpoint))

    def engine(
        self,
        station: Station,
        *,
        run: str = "",
        cache: Cache = "use",
        progress: Progress | None = None,
        on_ask: Callable[[int | None, bytes], None] | None = None,
    ) -> Engine:
        """The engine for one run, as the settings want it."""
        retries = RetryPolicy(self.settings.batch_processing.max_retries)
        return Engine(
            station,
            run=run,
            cache=cache,
            retries=retries,
            progress=progress,
            budget=self.budget(),
            on_ask=on_ask,
            drain=self.settings.storage.drain,
        )

    def journal(self) -> Journal:
        """The workspace's journal, not yet open."""
        storage = self.settings.storage
        return Journal(
            self.workspace.journal,
            durability=storage.durability,
            min_free=storage.min_free_mb << 20,
        )

    def budget(self) -> Budget:
        """What a run may spend by the settings."""
        wanted = self.settings.token_management
        dollars = None if wanted.budget is None else Decimal(str(wanted.budget))
        return Budget(dollars, wanted.token_limit)

    def prices(self) -> PriceList:
        """The user's own prices over the packaged ones; none at all when costs are not tracked."""
        path = self.settings.token_management.prices
        return PriceList() if path is None else PriceList.load(Path(path).expanduser())

    def _saved(self, name: str) -> Endpoint | None:
        if not self.workspace.catalog.exists():
            return None
        row = self.catalog.endpoint(name)
        return None if row is None else Endpoint.from_spec(row["spec"], name)

    def _with_defaults(self, endpoint: Endpoint) -> Endpoint:
        llm = self.settings.llm
        defaults: Mapping[str, Any] = {"temperature": llm.temperature, "max_tokens": llm.max_tokens}
        given = {k: v for k, v in defaults.items() if v is not None}
        return endpoint.with_(params={**given, **endpoint.params}) if given else endpoint

    def _make_station(self) -> Callable[[], Station]:
        llm = self.settings.llm
        transport = TransportSettings(
            timeout=llm.timeout,
            connect_timeout=llm.connect_timeout,
            proxy=llm.proxy,
            ca_bundle=llm.ca_bundle,
            http2=llm.http2,
            kind=llm.transport,
        )
        prices = self.prices()
        journal = self.journal()
        return lambda: Station(
            journal,
            concurrency=llm.concurrency,
            transport=transport,
            prices=prices,
            tracks_cost=self.settings.token_management.cost_tracking,
            drain=self.settings.storage.drain,
            outage_patience=llm.outage_patience,
        )

    def _start_logs(self) -> None:
        wanted = self.settings.logging
        file = None
        if wanted.file is not None:
            file = self.workspace.path / Path(wanted.file).expanduser()
        logs.configure(
            level=wanted.level,
            file=file,
            max_size=wanted.max_size,
            backup_count=wanted.backup_count,
            console=wanted.console,
        )


_default: Workbench | None = None
_default_lock = threading.Lock()


def default_workbench() -> Workbench:
    """The workbench of this process, for the Python door; opened by the first who needs it."""
    global _default
    with _default_lock:
        found = Workspace.find()
        if _default is None or _default.workspace.path != found.path:
            if _default is not None:
                _default.close()
            _default = Workbench(workspace=found)
        return _default


def close() -> None:
    """Drain and let go of everything this process has opened; the next call opens it anew."""
    global _default
    with _default_lock:
        if _default is not None:
            _default.close()
            _default = None
