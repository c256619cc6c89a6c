"""Moonshot's connectors and the providers that speak the same, and their parameters.

A connector without a counterpart keeps its own name as its provider's: the endpoint is there as
data, and whoever asks it is told that there is no such provider yet.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlsplit

from penstock.errors import InputError, RequestError
from penstock.providers.anthropic_params import check_params
from penstock.providers.gemini_params import wire_params

__all__ = ["Connector", "connector_of", "fits", "is_parameter", "parameter"]

_SUFFIX = "-connector"
_MOST = 1_000_000_000_000
_PROVIDERS = {
    "anthropic": "anthropic",
    "azure-langchain-openai-chatopenai": "azure",
    "azure-openai": "azure",
    "claude2": "anthropic",
    "google-gemini": "gemini",
    "openai": "openai",
    "together": "together",
}

_NUMBERS = frozenset(
    {"temperature", "top_p", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty"}
)
_WHOLE = frozenset({"max_tokens", "max_completion_tokens", "top_k", "seed", "top_logprobs"})
_TEXTS = frozenset({"reasoning_effort", "user", "verbosity"})
_LISTS = frozenset({"stop", "stop_sequences"})
_FLAGS = frozenset({"logprobs"})
_PARAMETERS = _NUMBERS | _WHOLE | _TEXTS | _LISTS | _FLAGS
# Known to servers that speak OpenAI's protocol, not to OpenAI itself.
_BEYOND_OPENAI = frozenset({"top_k", "min_p", "repetition_penalty"})


class Connector(NamedTuple):
    """A connector type, and the provider that stands for it."""

    provider: str
    known: bool
    """Whether there is such a provider."""


def connector_of(kind: str, url: str) -> Connector:
    """The provider for a connector type. Hugging Face's depends on what the address serves."""
    name = kind.removesuffix(_SUFFIX)
    if name == "huggingface" and _path(url).endswith(("/v1", "/chat/completions")):
        return Connector("openai", True)
    provider = _PROVIDERS.get(name)
    # Under a name that no provider has by chance.
    return Connector(name + _SUFFIX, False) if provider is None else Connector(provider, True)


def is_parameter(name: str) -> bool:
    """Whether that is a parameter of any provider."""
    return name in _PARAMETERS


def fits(connector: Connector, name: str, value: Any, *, model: str, url: str) -> bool:
    """Whether the provider has a place for a parameter."""
    try:
        if connector.provider == "anthropic":
            check_params({name: value})
        elif connector.provider == "gemini":
            wire_params({name: value}, model)
    except RequestError:
        return False
    if name == "stop_sequences":
        return connector.provider in ("anthropic", "gemini")
    if connector.provider == "azure" or (connector.provider == "openai" and not url):
        return name not in _BEYOND_OPENAI
    return True


def parameter(name: str, value: Any) -> Any:
    """The value of a parameter, of the type that it has."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    number = number and -_MOST <= value <= _MOST
    if name in _NUMBERS and not number:
        raise InputError("a number is wanted")
    if name in _WHOLE and not (number and value == int(value)):
        raise InputError("a whole number is wanted")
    if name in _FLAGS and not isinstance(value, bool):
        raise InputError("true or false is wanted")
    if name in _TEXTS and not isinstance(value, str):
        raise InputError("a text is wanted")
    if name in _LISTS:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in texts):
            raise InputError("a text, or a list of texts, is wanted")
    return int(value) if name in _WHOLE else value


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.rstrip("/")
    except ValueError:
        return ""
