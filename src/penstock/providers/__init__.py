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
    if endpoint.url:
        return endpoint
    for name in provider.url_variables:
        if os.environ.get(name, "").strip():
            return _at(endpoint, name)
    if provider.usual_url:
        return endpoint.with_(url=provider.usual_url)
    if provider.url_variables:
        raise EndpointError(
            f"{endpoint.label} has no address",
            remedy=f"Run: export {provider.url_variables[0]}=..., or give the endpoint a url.",
        )
    return endpoint


def _at(endpoint: Endpoint, variable: str) -> Endpoint:
    try:  # no local variable holds the address, which may hold a secret: see `from None`
        return endpoint.with_(url=os.environ[variable].strip())
    except EndpointError as error:
        raise SettingsError(f"{variable}: {error.message}", remedy=error.remedy) from None


def provider_of(endpoint: Endpoint) -> type[Provider]:
    """The class that speaks to this endpoint."""
    found: type[Provider] = plugins.find("provider", endpoint.provider)
    return found
