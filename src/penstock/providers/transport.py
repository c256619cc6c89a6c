"""The one way over HTTP: a call out, a reply or a break back. Never an exception.

Two bodies stand behind the same small interface: pyreqwest (Rust; the fast one) and aiohttp (for
platforms without a wheel, and as a yardstick). Both pass one contract suite. What they promise:

* a call that was begun is never cancelled: it ends, or its own deadline ends it;
* a body is counted while it comes, decompressed, and refused beyond `LARGEST_BODY`;
* redirects are not followed, so a key never travels to another host;
* a break says whether anything had been sent, because then it may have been paid for.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from penstock.errors import InputError, SettingsError
from penstock.secret import mask

__all__ = [
    "LARGEST_BODY",
    "Broken",
    "Call",
    "OnBytes",
    "Reply",
    "Transport",
    "TransportSettings",
    "Upload",
    "open_transport",
]

LARGEST_BODY = 32 * 1024 * 1024

_PIECE = 1 << 20
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.S)

OnBytes: TypeAlias = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """How connections are made, the same for every provider."""

    timeout: float = 600.0
    connect_timeout: float = 10.0
    proxy: str | None = None
    ca_bundle: str | None = None
    http2: bool = False
    kind: Literal["auto", "pyreqwest", "aiohttp"] = "auto"
    largest_body: int = LARGEST_BODY


class Upload(msgspec.Struct, frozen=True, gc=False):
    """A body that lies in a file, read while it is sent, with what stands before and after it."""

    path: str
    before: bytes = b""
    after: bytes = b""

    @property
    def size(self) -> int:
        return len(self.before) + os.stat(self.path).st_size + len(self.after)  # noqa: PTH116

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body in pieces that memory does not feel."""
        if self.before:
            yield self.before
        with open(self.path, "rb") as file:  # noqa: ASYNC230, PTH123 - a megabyte at a time
            while piece := file.read(_PIECE):
                yield piece
        if self.after:
            yield self.after


class Call(msgspec.Struct, frozen=True, gc=False):
    """One HTTP request."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    timeout: float | None = None
    keeps: bool = True
    """False: a body that `on_bytes` is shown is not kept beside, and may be of any size."""
    upload: Upload | None = None
    """In the place of `body`."""

    def __repr__(self) -> str:
        """Headers by their names alone: a traceback that shows local variables shows no key."""
        return f"Call({self.method} {self.url} {sorted(self.headers)} {len(self.body)} bytes)"


class Reply(msgspec.Struct, frozen=True, gc=False):
    """A whole HTTP response.

    Header names are lower case; of equal ones the first counts, and one whose value is not ASCII
    is left out.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        """Nothing of what the server said: it may say a key back."""
        return f"Reply({self.status} {sorted(self.headers)} {len(self.body)} bytes)"


class Broken(msgspec.Struct, frozen=True, gc=False):
    """No whole response came back."""

    reason: Literal["connection", "timeout", "too_large"]
    message: str
    sent: bool = True
    """False only when it is certain that the server never saw the call."""


class Transport(Protocol):
    """What the providers need of HTTP."""

    async def send(self, call: Call, on_bytes: OnBytes | None = None) -> Reply | Broken:
        """Make the call. With `on_bytes`, a successful body is also shown as it comes."""
        ...

    async def close(self) -> None: ...


def open_transport(settings: TransportSettings) -> Transport:
    """The transport that the settings ask for, or the best one installed."""
    if settings.kind in ("auto", "pyreqwest"):
        try:
            from penstock.providers.transport_pyreqwest import PyreqwestTransport
        except ImportError:
            if settings.kind == "pyreqwest":
                raise InputError(
                    "llm.transport is pyreqwest, which is not installed",
                    remedy="Run: pip install pyreqwest, or choose aiohttp.",
                ) from None
        else:
            return PyreqwestTransport(settings)
    try:
        from penstock.providers.transport_aiohttp import AiohttpTransport
    except ImportError:
        raise InputError(
            "no HTTP transport is installed", remedy="Run: pip install 'penstock[aiohttp]'."
        ) from None
    return AiohttpTransport(settings)


def certificates(settings: TransportSettings) -> list[str] | None:
    """The certificates of the user's own CA bundle, checked: a bad one is never ignored."""
    named = settings.ca_bundle or os.environ.get("SSL_CERT_FILE")
    named = named or os.environ.get("REQUESTS_CA_BUNDLE")
    if not named:
        return None
    path = Path(named).expanduser()
    try:
        # Bundles carry names in any language between the certificates.
        found = _PEM.findall(path.read_text("ascii", "replace"))
        if not found:
            raise ValueError("there is no certificate in it")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata="\n".join(found))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"the CA bundle {path} cannot be used: {error}",
            remedy="Set llm.ca_bundle (or SSL_CERT_FILE) to a file of PEM certificates.",
        ) from None
    return found


def checked_proxy(settings: TransportSettings) -> str | None:
    """The proxy of the settings, checked; those of the environment are the client's business."""
    if settings.proxy and not settings.proxy.startswith(("http://", "https://", "socks5://")):
        shown = mask(settings.proxy)
        raise SettingsError(
            f"llm.proxy is {shown!r}; it must start with http://, https:// or socks5://"
        )
    return settings.proxy


def too_large(settings: TransportSettings) -> Broken:
    """A body beyond the limit; it was not read on."""
    return Broken("too_large", f"the reply is larger than {settings.largest_body >> 20} MiB")
