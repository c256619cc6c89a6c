"""An Endpoint: a model at an address. Data, never code, never a secret on disk.

Written as a string (`gpt-4o-mini`, `anthropic/claude-...`, `http://host:8000/v1#model`,
`simulated`) or as an object. The string is only taken apart here; the usual address and the usual
variables of a provider are the provider's own business (`providers.resolve`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

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
_METADATA_HOSTS = frozenset(
    {"metadata.google.internal", "metadata", "169.254.169.254", "fd00:ec2::254", "100.100.100.200"}
)
_SECRET_QUERY = re.compile(r"(?i)(^|[-_])(key|token|secret|password|sig)$")
_SECRET_HEADER = re.compile(r"(?i)^((proxy-)?authorization|cookie|.*api-?key.*|.*token.*)$")


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
                number = Decimal(str(value))
            except InvalidOperation:
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
        if not self.provider or not self.model:
            raise EndpointError("an endpoint needs a provider and a model")
        if isinstance(self.key, str) and not is_reference(self.key):
            object.__setattr__(self, "key", Secret(self.key))
        if self.url:
            object.__setattr__(self, "url", _checked_url(self.url))
        for header in self.headers:
            if _SECRET_HEADER.match(header):
                raise EndpointError(
                    f"the header {header} carries a secret and would be stored",
                    remedy="Give the key as key='env:NAME' instead.",
                )
        if self.timeout is not None and not self.timeout > 0:
            raise EndpointError(f"timeout is {self.timeout}; it must be above 0 seconds")

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
        limits = Limits(**given.pop("limits", {}))
        prices = given.pop("prices", None)
        try:
            made = None if prices is None else Prices(**prices)
            return cls(**given, limits=limits, prices=made, name=name)
        except TypeError as error:
            raise EndpointError(f"the endpoint {name!r} cannot be read: {error}") from None

    def with_(self, **changes: Any) -> Endpoint:
        """A copy with some fields changed."""
        return replace(self, **changes)

    @cached_property
    def identity(self) -> bytes:
        """What of an endpoint can change an answer: provider, address and model."""
        if self.cache_as:
            return orjson.dumps(["as", self.cache_as])
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


def _filled(of: Limits | Prices) -> dict[str, Any]:
    return {name: value for name in of.__slots__ if (value := getattr(of, name)) is not None}


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
        _ = parts.port
    except ValueError as error:
        raise EndpointError(f"the address {url!r} cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise EndpointError(f"the address {url!r} is not of the form http(s)://host/path")
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
    if host in _METADATA_HOSTS or _is_link_local(host):
        raise EndpointError(f"{host} is a cloud's metadata address and never an endpoint")
    return url.rstrip("/") if not parts.query else url


def _is_link_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_link_local)
