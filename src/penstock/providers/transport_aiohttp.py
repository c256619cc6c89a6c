"""The transport over aiohttp: slower, pure enough to be everywhere.

Proxies of the environment are looked up here: aiohttp's own `trust_env` would also take passwords
from ~/.netrc, and asks a thread for every call.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from urllib.request import getproxies_environment, proxy_bypass

import aiohttp
from yarl import URL

from penstock.errors import SettingsError
from penstock.providers.transport import (
    Broken,
    Call,
    OnBytes,
    Reply,
    TransportSettings,
    certificates,
    checked_proxy,
    too_large,
)
from penstock.secret import mask

__all__ = ["AiohttpTransport"]

_IDLE = 4.0
# Nothing has gone out when one of these is raised.
_UNSENT = (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)


class AiohttpTransport:
    """One session for all endpoints of an engine; opened by the first call."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._proxy = _usable_proxy(settings)
        self._environment = {} if self._proxy else getproxies_environment()
        self._ssl = ssl.create_default_context()
        if pems := certificates(settings):
            self._ssl.load_verify_locations(cadata="\n".join(pems))
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_IDLE, ssl=self._ssl, force_close=False
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        timeout = aiohttp.ClientTimeout(
            total=call.timeout or self._settings.timeout,
            sock_connect=self._settings.connect_timeout,
        )
        try:
            url = self._checked(call)
        except ValueError as error:
            return Broken("connection", _say(error, "was not begun"), sent=False)
        try:
            async with self._open().request(
                call.method,
                url,
                headers=_with_length(call),
                data=call.upload.pieces() if call.upload else call.body or None,
                timeout=timeout,
                proxy=self._proxy or self._proxy_for(url),
                allow_redirects=False,
            ) as response:
                shown = on_bytes if response.status == 200 else None
                body = await self._read(response, shown, keeps=call.keeps or shown is None)
                if body is None:
                    return too_large(self._settings)
                return Reply(response.status, _headers(response.headers.items()), body)
        except aiohttp.ConnectionTimeoutError as error:
            return Broken("timeout", _say(error, "timed out"), sent=False)
        except (asyncio.TimeoutError, TimeoutError) as error:  # noqa: UP041
            return Broken("timeout", _say(error, "timed out"))
        except _UNSENT as error:
            return Broken("connection", _say(error, "broke"), sent=False)
        except (aiohttp.ClientError, OSError, RuntimeError, ValueError) as error:
            return Broken("connection", _say(error, "broke"))

    def _checked(self, call: Call) -> URL:
        """The address of a call that can be made; what cannot is found before anything is sent."""
        url = URL(call.url, encoded=True)
        if self._closed:
            raise ValueError("the transport is closed")
        if url.scheme not in ("http", "https") or not url.host or not url.port:
            raise ValueError(f"{call.url!r} is no address")
        for name, value in call.headers.items():
            if not value.isprintable():
                raise ValueError(f"the header {name} cannot be sent")
        return url

    def _proxy_for(self, url: URL) -> str | None:
        if not self._environment or proxy_bypass(f"{url.host}:{url.port}"):
            return None
        return self._environment.get(url.scheme) or self._environment.get("all")

    async def _read(
        self, response: aiohttp.ClientResponse, on_bytes: OnBytes | None, *, keeps: bool
    ) -> bytes | None:
        limit = self._settings.largest_body
        if keeps and (response.content_length or 0) > limit:
            return None
        pieces: list[bytes] = []
        size = 0
        async for piece in response.content.iter_any():
            if keeps:
                size += len(piece)
                pieces.append(piece)
            if size > limit:
                return None
            if on_bytes is not None:
                on_bytes(piece)
        return b"".join(pieces)

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()


def _usable_proxy(settings: TransportSettings) -> str | None:
    proxy = checked_proxy(settings)
    if proxy and proxy.startswith("socks"):
        raise SettingsError(
            "llm.proxy is a SOCKS proxy, which aiohttp cannot use",
            remedy="Set llm.transport to pyreqwest, or use an HTTP proxy.",
        )
    return proxy


def _with_length(call: Call) -> Mapping[str, str]:
    """A file is sent with its length, not in chunks, which not every server takes."""
    if call.upload is None:
        return call.headers
    return {**call.headers, "content-length": str(call.upload.size)}


def _headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        if value.isascii():
            found.setdefault(name.lower(), value)
    return found


def _say(error: BaseException, verb: str) -> str:
    return mask(f"the connection {verb}: {str(error) or type(error).__name__}")
