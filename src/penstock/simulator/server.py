"""The simulated server as a process: a loop, a listening socket, a clean end.

It runs on uvloop where there is one. It binds to loopback unless told otherwise; it holds no
secrets, and its ledger and settings are open to whoever can reach the port.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

from penstock.errors import InputError
from penstock.simulator.control import Router
from penstock.simulator.desk import Desk
from penstock.simulator.http import Connection
from penstock.simulator.service import Service
from penstock.simulator.settings import SimulatorSettings, checked

__all__ = ["run"]

_BACKLOG = 4096


def run(
    settings: SimulatorSettings,
    ready: Callable[[str, int], None],
    *,
    with_parent: bool = False,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `ready` is told the address once the port is open.

    `with_parent` also ends the server when its standard input is closed, which happens when the
    process that started it dies.
    """
    checked(settings)
    # A collector that walks a million ledger marks again and again would cost a third of the time.
    gc.set_threshold(100_000, 50, 100)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, ready, with_parent))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(
    settings: SimulatorSettings, ready: Callable[[str, int], None], with_parent: bool
) -> None:
    loop = asyncio.get_running_loop()
    service = Service(settings, loop)
    connections: set[Connection] = set()
    router = Router(service, Desk(service, loop))
    try:
        server = await loop.create_server(
            partial(Connection, router.handle, connections),
            settings.host,
            settings.port,
            backlog=_BACKLOG,
        )
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}",
            remedy="Give another --port, or 0 for a free one.",
        ) from None
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if with_parent:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    ready(settings.host, server.sockets[0].getsockname()[1])
    await stop.wait()
    server.close()
    for connection in list(connections):
        connection.close()
    service.ledger.close()
