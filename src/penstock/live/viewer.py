"""A page that fills while a run goes on, served to the person at this machine and nobody else.

It listens on 127.0.0.1 alone, under an address that nobody can guess, answers nothing but GET, and
only where the browser says that it came to that very address: a page from elsewhere that has its
name pointed at this machine is turned away. What a model wrote is sent as data and shown as text.

Traded away: the address goes to the browser on its command line, where others on the same machine
may see it for a moment; whoever shares the machine opens `url` by hand instead of calling `open`.
"""

from __future__ import annotations

import logging
import os
import secrets
import socketserver
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.errors import InputError
from penstock.live.handler import Handler
from penstock.live.look import Look
from penstock.store import Workspace

if TYPE_CHECKING:
    from penstock.store.catalog import Catalog

__all__ = ["Viewer"]

_log = logging.getLogger(__name__)
_HOST = "127.0.0.1"


class Viewer:
    """Serves from its making until it is closed, also after the run has ended."""

    def __init__(
        self,
        workspace: Workspace,
        run_id: str,
        *,
        title: str,
        catalog: Catalog | None = None,
        port: int = 0,
    ) -> None:
        self._own: Catalog | None = None
        if catalog is None:
            from penstock.store.catalog import Catalog

            catalog = self._own = Catalog(workspace.prepare().catalog)
        try:
            look = Look(workspace, catalog, run_id, title=title)
            self._server: _Server | None = _Server(look, port)
        except BaseException:
            self._close_catalog()
            raise
        self.url = f"http://{_HOST}:{self._server.port}/{self._server.token}/"
        # It looks often for the wish to end, because closing waits for it.
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="penstock-viewer", daemon=True
        )
        self._thread.start()

    def open(self) -> bool:
        """Show the page in the person's browser; False where there is none."""
        on_a_screen = any(
            os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
        )
        if sys.platform.startswith("linux") and not on_a_screen:
            return False  # a browser for terminals would take this one over
        import webbrowser

        with suppress(webbrowser.Error, OSError):
            return webbrowser.open(self.url)
        return False

    def close(self) -> None:
        """Stop serving; a page that is open keeps what it shows."""
        server, self._server = self._server, None
        if server is None:
            return
        server.shutdown()
        server.server_close()
        self._thread.join()
        self._close_catalog()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _close_catalog(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, look: Look, port: int) -> None:
        self.look = look
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((_HOST, port), Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"the page cannot be served on port {port}: {error}",
                remedy="Give another port, or 0 for one that is free.",
            ) from None
        self.port: int = self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is nothing to speak of; anything else is a fault of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            _log.exception("fault in the viewer")
