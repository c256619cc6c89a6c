"""The transport over aiohttp: slower, pure enough to be everywhere."""

from __future__ import annotations

import asyncio
import ssl

import aiohttp

from penstock.providers.transport import (
    Broken,
    Call,
    OnBytes,
    Reply,
    TransportSettings,
    certificates,
    checked_proxy,
    flat_headers,
)
from penstock.secret import mask

__all__ = ["AiohttpTransport"]

_CHUNK = 64 * 1024
_IDLE = 4.0


class AiohttpTransport:
    """One session for all endpoints of an engine; opened by the first call."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._proxy = checked_proxy(settings)
        self._ssl = ssl.create_default_context()
        for pem in certificates(settings) or ():
            self._ssl.load_verify_locations(cadata=pem)
        self._session: aiohttp.ClientSession | None = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_IDLE, ssl=self._ssl, force_close=False
                ),
                trust_env=True,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        timeout = aiohttp.ClientTimeout(
            total=call.timeout or self._settings.timeout,
            sock_connect=self._settings.connect_timeout,
        )
        try:
            async with self._open().request(
                call.method,
                call.url,
                headers=call.headers,
                data=call.body or None,
                timeout=timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                body = await self._read(response, on_bytes if response.status == 200 else None)
                if body is None:
                    limit = self._settings.largest_body >> 20
                    return Broken("too_large", f"the reply is larger than {limit} MiB")
                return Reply(response.status, flat_headers(response.headers), body)
        except aiohttp.ConnectionTimeoutError as error:
            return Broken("timeout", _say(error, "timed out"), sent=False)
        except (asyncio.TimeoutError, TimeoutError) as error:  # noqa: UP041
            return Broken("timeout", _say(error, "timed out"))
        except aiohttp.ClientConnectorError as error:
            return Broken("connection", _say(error, "broke"), sent=False)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Broken("connection", _say(error, "broke"))

    async def _read(
        self, response: aiohttp.ClientResponse, on_bytes: OnBytes | None
    ) -> bytes | None:
        pieces: list[bytes] = []
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > self._settings.largest_body:
                return None
            pieces.append(piece)
            if on_bytes is not None:
                on_bytes(piece)
        return b"".join(pieces)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _say(error: BaseException, verb: str) -> str:
    return mask(f"the connection {verb}: {error or type(error).__name__}")
