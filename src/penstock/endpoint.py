"""An Endpoint: a model at an address. Data, never code, never a secret on disk.

Written as a string (`gpt-4o-mini`, `anthropic/claude-...`, `http://host:8000/v1#model`,
`simulated`) or as an object. The string is only taken apart here; the usual address and the usual
variables of a provider are the provider's own business (`providers.resolve`).
"""

from __future__ import annotations

import ipaddress
import math
import re
import socket
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson

from penstock.errors import EndpointError
from penstock.secret import Secret, is_reference

__all__ = ["Endpoint", "Limits", "Prices"]

# Names that people write without saying whose they are.
_MODEL_FAMILIES = (
    (re.compile(r"(gpt-|chatgpt-|o\d($|-)|ft:gpt-|text-embedding-)"), "openai"),
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"(gemini-|gemma-)"), "gemini"),
    (re.compile(r"simulated($|-)"), "simulated"),
)

# Where clouds hand out credentials to whoever asks from inside: never an endpoint.
# Link-local addresses are refused whole (see `_is_metadata`); these lie outside of them.
_METADATA_HOSTS = frozenset(
    {
        *("metadata", "metadata.google.internal", "metadata.goog"),
        *("instance-data", "instance-data.ec2.internal"),
    }
)
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(address)
    for address in (
        *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe"),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SECRET_QUERY = re.compile(
    r"(?i)(key|token|secret|password|passwd|pwd|sig|signature|credentials?)$"
)
_SECRET_HEADER = re.compile(
    r"(?i)^((proxy-)?authorization|cookie|.*(api|subscription|functions)[-_]?key.*"
    r"|.*(token|secret|password).*)$"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an endpoint bears; None where nobody has said."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_tokens_per_minute: int | None = None
    output_tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise EndpointError(f"limits.{name} is {value!r}; a whole number is wanted")
            if value is not None and value < 1:
                raise EndpointError(f"limits.{name} is {value}; it must be at least 1")


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens, as the user knows them."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    batch_input: Decimal | None = None
    batch_output: Decimal | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None and name not in ("input", "output"):
                continue
            try:
                number = Decimal(repr(value) if isinstance(value, bool | float) else value)
            except (InvalidOperation, TypeError, ValueError):
                raise EndpointError(f"prices.{name} is {value!r}; a number is wanted") from None
            if not number.is_finite() or number < 0:
                raise EndpointError(f"prices.{name} is {value}; it must not be negative")
            object.__setattr__(self, name, number)


@dataclass(frozen=True)
class Endpoint:
    """A model at an address."""

    provider: str
    model: str
    url: str = ""
    """Empty: the provider's usual address."""
    key: str | Secret | None = None
    """A reference (`env:NAME`, `file:PATH`, `command:...`), or a Secret held in memory only."""
    params: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    prices: Prices | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    name: str = ""
    cache_as: str = ""
    """Answers are kept under this identity instead of the address, for when only that moved."""
    trusted: bool = field(default=True, compare=False)
    """False for what was imported or came over HTTP: its key is never a command."""

    def __post_init__(self) -> None:
        if isinstance(self.key, str) and not is_reference(self.key):
            object.__setattr__(self, "key", Secret(self.key))
        self._check_types()
        if not self.provider or not self.model:
            raise EndpointError("an endpoint needs a provider and a model")
        if not self.trusted and isinstance(self.key, str) and self.key.startswith("command:"):
            raise EndpointError(
                f"the key of {self.label} is a command; that is allowed only in your own settings "
                "and flags, not in an imported file",
                remedy="Use env:NAME or file:PATH instead.",
            )
        if self.url:
            object.__setattr__(self, "url", _checked_url(self.url))
        for header in self.headers:
            if _SECRET_HEADER.match(header):
                raise EndpointError(
                    f"the header {header} carries a secret and would be stored",
                    remedy="Give the key as key='env:NAME' instead.",
                )
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise EndpointError(f"timeout is {self.timeout}; it must be above 0 seconds")

    def _check_types(self) -> None:
        """What comes from a file or over HTTP may be of any type."""
        for name in ("provider", "model", "url", "name", "cache_as"):
            if not isinstance(getattr(self, name), str):
                raise EndpointError(f"{name} is {getattr(self, name)!r}; a text is wanted")
        if not isinstance(self.key, str | Secret | None):
            raise EndpointError(f"key is a {type(self.key).__name__}; a reference is wanted")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float | None):
            raise EndpointError(f"timeout is {self.timeout!r}; a number of seconds is wanted")
        for name in ("params", "headers"):
            if not isinstance(getattr(self, name), Mapping):
                kind = type(getattr(self, name)).__name__
                raise EndpointError(f"{name} is a {kind}; a mapping is wanted")
        if _holds_secret(self.params):
            raise EndpointError(
                "a parameter holds a secret and would be stored",
                remedy="Give the key as key='env:NAME' instead.",
            )
        for header, value in self.headers.items():
            if not isinstance(header, str) or not isinstance(value, str):
                raise EndpointError(f"the header {header!r} is not a text with a text")

    @classmethod
    def parse(cls, text: str, providers: frozenset[str] | set[str] = frozenset()) -> Endpoint:
        """An endpoint from what a person writes.

        `providers` are the names that may stand before the slash, beside the ones known here.
        """
        text = text.strip()
        if text.startswith(("http://", "https://")):
            address, _, model = text.partition("#")
            if not model:
                raise EndpointError(
                    f"the endpoint {text!r} names no model",
                    remedy=f"Write the model behind a #, as in {address}#my-model.",
                )
            return cls(provider="openai", model=model, url=address)
        head, slash, model = text.partition("/")
        if slash and head in providers and model:
            return cls(provider=head, model=model)
        for family, provider in _MODEL_FAMILIES:
            if family.match(text) and (not slash or text.startswith("ft:")):
                return cls(provider=provider, model=text)
        known = ", ".join(sorted(providers)) or "openai, simulated"
        raise EndpointError(
            f"{text!r} is no endpoint that Penstock knows",
            remedy=(
                "Write provider/model (providers: "
                + known
                + "), http://host:port/v1#model for a server that speaks OpenAI's protocol, "
                "`simulated` for the offline model, or a name from `penstock endpoints list`."
            ),
        )

    def spec(self) -> dict[str, Any]:
        """As it is stored and shown: data without a secret."""
        if isinstance(self.key, Secret):
            raise EndpointError(
                f"the key of {self.label} was given literally and is never stored",
                remedy="Give it as a reference: key='env:NAME' or 'file:PATH'.",
            )
        prices = None
        if self.prices is not None:
            prices = {k: str(v) for k, v in _filled(self.prices).items()}
        made = {
            "provider": self.provider,
            "model": self.model,
            "url": self.url,
            "key": self.key,
            "params": dict(self.params),
            "limits": _filled(self.limits),
            "prices": prices,
            "headers": dict(self.headers),
            "timeout": self.timeout,
            "cache_as": self.cache_as,
        }
        return {name: value for name, value in made.items() if value not in (None, "", {})}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], name: str = "") -> Endpoint:
        """From what `spec` gave."""
        given = dict(spec)
        limits = given.pop("limits", None)
        prices = given.pop("prices", None)
        try:
            bounds = Limits() if limits is None else Limits(**limits)
            made = None if prices is None else Prices(**prices)
            return cls(**given, limits=bounds, prices=made, name=name)
        except TypeError as error:
            raise EndpointError(f"the endpoint {name!r} cannot be read: {error}") from None

    def with_(self, **changes: Any) -> Endpoint:
        """A copy with some fields changed."""
        return replace(self, **changes)

    @cached_property
    def identity(self) -> bytes:
        """What of an endpoint can change an answer: provider, address and model."""
        if self.cache_as:
            return orjson.dumps(["as", self.cache_as, self.provider, self.model])
        return orjson.dumps([self.provider, self.url.rstrip("/"), self.model])

    @cached_property
    def connection(self) -> tuple[object, ...]:
        """What makes two endpoints one line: they share a limit, a key and a way to send."""
        headers = tuple(sorted(self.headers.items()))
        return (self.provider, self.url, self.model, self.key, headers, self.timeout, self.limits)

    @property
    def label(self) -> str:
        """How people see it in tables and messages."""
        return self.name or f"{self.provider}/{self.model}"


def _holds_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_secret, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_secret, value))
    return isinstance(value, Secret)


def _filled(of: Limits | Prices) -> dict[str, Any]:
    return {name: value for name in of.__slots__ if (value := getattr(of, name)) is not None}


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
        _ = parts.port
    except ValueError as error:
        raise EndpointError(f"the address {_shown(url)!r} cannot be read: {error}") from None
    # A browser's parser reads a backslash as a slash, so one host could pass here for another.
    odd = "\\" in url or not url.isprintable() or " " in url
    if parts.scheme not in ("http", "https") or not host or odd:
        raise EndpointError(f"the address {_shown(url)!r} is not of the form http(s)://host/path")
    if parts.username is not None or parts.password is not None:
        raise EndpointError(
            "an address must not carry a user name or password; it would be stored",
            remedy="Give the key as key='env:NAME' instead.",
        )
    for name, _value in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET_QUERY.search(name):
            raise EndpointError(
                f"the address carries a secret in its query ({name}=...)",
                remedy="Give the key as key='env:NAME' instead.",
            )
    if parts.fragment:
        raise EndpointError("the model belongs into `model`, not behind a # of `url`")
    if _is_metadata(host):
        raise EndpointError(f"{host} is a cloud's metadata address and never an endpoint")
    return url.rstrip("/") if not parts.query else url


def _shown(url: str) -> str:
    """An address fit for a message: without user info and query, where secrets are put."""
    return re.sub(r"://[^/]*@", "://****@", url.partition("?")[0])


def _is_metadata(host: str) -> bool:
    """Whether a host is a cloud's metadata service, in any spelling that a client would resolve."""
    host = unicodedata.normalize("NFKC", unquote(host)).replace("。", ".").lower().rstrip(".")
    address = _address(host)
    if address is None:
        return host in _METADATA_HOSTS
    return address.is_link_local or address in _METADATA_ADDRESSES


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host stands for; 2852039166, 0xa9.0376.43518 and ::ffff:... too."""
    try:
        found = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    if isinstance(found, ipaddress.IPv4Address):
        return found
    inside = found.ipv4_mapped or found.sixtofour
    if found in _NAT64 or (found.packed[:12] == bytes(12) and int(found) > 1):
        inside = ipaddress.IPv4Address(found.packed[12:])
    return inside or found
