"""Webhooks: how far a run is, sent to an address as JSON. Never in the way of the run.

An address often holds a secret, so it is given as `env:NAME` or in Python, kept in memory, and
never stored or shown. What cannot be delivered is left out; when the run ends, what still waits has
a few seconds, and no more.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any

import orjson

from penstock.endpoint import Endpoint
from penstock.errors import EndpointError, InputError
from penstock.providers.transport import Broken, Call, Transport
from penstock.secret import Secret, is_reference, resolve

__all__ = ["GRACE", "Webhook"]

_log = logging.getLogger(__name__)
GRACE = 5.0
"""Seconds that the end of a run waits for the last events to be delivered."""
_PATIENCE = 10.0
_TRIES = 3
_PAUSE = 0.5
_MOST_WAITING = 100


class Webhook:
    """Sends events in their order, one at a time; of too many, the oldest are left out."""

    def __init__(self, url: str | Secret) -> None:
        self._url = _address(url)
        self._events: deque[dict[str, Any]] = deque()
        self._came = asyncio.Event()
        self._ended = False
        self._down = False
        self.lost = 0

    def put(self, event: dict[str, Any]) -> None:
        """In the engine's loop."""
        if len(self._events) >= _MOST_WAITING:
            self._events.popleft()
            self.lost += 1
        self._events.append(event)
        self._came.set()

    def end(self) -> None:
        """There will be no more."""
        self._ended = True
        self._came.set()

    async def serve(self, transport: Transport) -> None:
        """Send what comes, until the end."""
        while True:
            await self._came.wait()
            self._came.clear()
            while self._events:
                try:
                    await self._send(transport, self._events.popleft())
                except Exception:  # whatever it is, the run has nothing to do with it
                    _log.exception("a webhook failed")
            if self._ended:
                return

    async def _send(self, transport: Transport, event: dict[str, Any]) -> None:
        headers = {"content-type": "application/json", "user-agent": "penstock"}
        call = Call("POST", self._url.reveal(), headers, orjson.dumps(event), _PATIENCE)
        why = ""
        # Where the last event was not delivered, one try tells whether anybody is there again.
        for attempt in range(1 if self._down else _TRIES):
            if attempt:
                await asyncio.sleep(_PAUSE * 2**attempt)
            reply = await transport.send(call)
            if isinstance(reply, Broken):
                why = "nobody answered"
                continue
            if reply.status < 400:
                self._down = False
                return
            why = f"HTTP {reply.status}"
            if reply.status < 500 and reply.status != 429:
                break
        self._down = True
        self.lost += 1
        _log.warning("a webhook was not delivered", extra={"why": why})


def _address(url: str | Secret) -> Secret:
    found = resolve(url) if isinstance(url, str) and is_reference(url) else url
    found = Secret(found) if isinstance(found, str) else found
    try:
        # As for endpoints: http or https, no user name, no cloud's metadata. What stands behind
        # the question mark may be a secret here, for it is stored nowhere.
        Endpoint("openai", "webhook", found.reveal().partition("?")[0])
    except EndpointError:
        raise InputError(
            "the address of the webhook cannot be used",
            remedy="It is of the form https://host/path, without a user name, and no cloud's "
            "metadata address; give it as it is, or as env:NAME.",
        ) from None
    return found
