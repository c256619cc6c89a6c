"""The providers: code that speaks one wire protocol each, found by name.

`resolve` makes a full Endpoint of what a person wrote; `provider_of` finds the class for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock import plugins
from penstock.endpoint import Endpoint
from penstock.errors import EndpointError, SettingsError

if TYPE_CHECKING:
    from penstock.providers.provider import Provider

__all__ = ["provider_of", "resolve"]


def resolve(endpoint: Endpoint | str) -> Endpoint:
    """The endpoint with its address filled in. Reads the environment; sends nothing."""
    if isinstance(endpoint, str):
        endpoint = Endpoint.parse(endpoint, plugins.names("provider"))
    provider = provider_of(endpoint)
    if endpoint.url or not provider.usual_url:
        return endpoint
    for name in provider.url_variables:
        if url := os.environ.get(name, "").strip():
            return _at(endpoint, url, name)
    return endpoint.with_(url=provider.usual_url)


def _at(endpoint: Endpoint, url: str, variable: str) -> Endpoint:
    try:
        return endpoint.with_(url=url)
    except EndpointError as error:
        raise SettingsError(f"{variable}: {error.message}", remedy=error.remedy) from None


def provider_of(endpoint: Endpoint) -> type[Provider]:
    """The class that speaks to this endpoint."""
    found: type[Provider] = plugins.find("provider", endpoint.provider)
    return found
