"""Connector endpoints by Moonshot's names, kept in the workspace's catalogue of endpoints.

A token that is a reference (`env:NAME`, `file:PATH`) is stored as such. One that is given literally
stays in the memory of this process: the endpoint is stored without it, and that is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock import plugins
from penstock.bench.importing.connectors import connector_of
from penstock.bench.importing.endpoints import endpoint_spec
from penstock.bench.importing.finding import Written, id_of
from penstock.bench.importing.report import Tally
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, NotFoundError
from penstock.moonshot.calling import api, changed
from penstock.secret import SHOWN, Secret, is_reference

__all__ = [
    "api_create_endpoint",
    "api_delete_endpoint",
    "api_get_all_endpoint",
    "api_get_all_endpoint_name",
    "api_read_endpoint",
    "api_update_endpoint",
    "endpoint_of",
    "has_token",
]

_SUFFIX = "-connector"
# Where a provider is not called as its connector is.
_CONNECTORS = {"azure": "azure-openai-connector", "gemini": "google-gemini-connector"}
# What Moonshot has no word for, and a change of the rest leaves alone.
_BEYOND = ("prices", "headers", "cache_as", "trusted")
_LIMITS = ("concurrency", "requests_per_minute")

_tokens: dict[tuple[Path, str], Secret] = {}


@api
def api_create_endpoint(
    name: str,
    connector_type: str,
    uri: str = "",
    token: str = "",
    model: str = "",
    params: Mapping[str, Any] | None = None,
    max_calls_per_second: float = 10,
    max_concurrency: int = 1,
) -> str:
    """Keep an endpoint; returns its id, which is made of its name.

    `connector_type`: one of Moonshot's (`openai-connector`, ...), or a provider of Penstock's
    (`simulated`, `ollama`, ...). `uri`: empty for the provider's usual address. `token`: `env:NAME`
    or `file:PATH`; a literal one is never stored. `params`: temperature, max_tokens, timeout, ...;
    of one that has no place a warning is given.
    """
    bench = default_workbench()
    name = id_of(name)
    if bench.catalog.endpoint(name) is not None:
        raise InputError(
            f"there is an endpoint {name!r} already",
            remedy="Update it (api_update_endpoint), delete it first, or give another name.",
        )
    given = {
        "connector_type": connector_type,
        "uri": uri,
        "model": model,
        "params": dict(params or {}),
        "max_calls_per_second": max_calls_per_second,
        "max_concurrency": max_concurrency,
    }
    _save(bench, name, _spec(name, given), token)
    return name


@api
def api_read_endpoint(ep_id: str) -> dict[str, Any]:
    """An endpoint in Moonshot's fields, with `created_date`. Its token is a reference or `****`."""
    bench = default_workbench()
    return _shape(bench, _row(bench, ep_id))


@api
def api_update_endpoint(
    ep_id: str,
    *,
    connector_type: str | None = None,
    uri: str | None = None,
    token: str | None = None,
    model: str | None = None,
    params: Mapping[str, Any] | None = None,
    max_calls_per_second: float | None = None,
    max_concurrency: int | None = None,
) -> bool:
    """Change some fields of an endpoint; `params` are replaced as a whole, an empty token goes."""
    bench = default_workbench()
    row = _row(bench, ep_id)
    old = row["spec"]
    changes = changed(
        connector_type=connector_type,
        uri=uri,
        model=model,
        params=params,
        max_calls_per_second=max_calls_per_second,
        max_concurrency=max_concurrency,
    )
    made = _spec(ep_id, {**_shape(bench, row), **changes})
    made |= {key: old[key] for key in _BEYOND if key in old}
    limits = {key: each for key, each in old.get("limits", {}).items() if key not in _LIMITS}
    if limits:
        made["limits"] = {**limits, **made.get("limits", {})}
    _save(bench, ep_id, made, old.get("key") if token is None else token, keeps=token is None)
    return True


@api
def api_delete_endpoint(ep_id: str) -> bool:
    """Forget an endpoint. Recorded answers stay."""
    bench = default_workbench()
    _row(bench, ep_id)
    bench.catalog.remove_endpoint(ep_id)
    _tokens.pop(_place(bench, ep_id), None)
    return True


@api
def api_get_all_endpoint() -> list[dict[str, Any]]:
    """Every endpoint, as `api_read_endpoint` gives it."""
    bench = default_workbench()
    return [_shape(bench, row) for row in bench.catalog.all_endpoints()]


@api
def api_get_all_endpoint_name() -> list[str]:
    """The ids of all endpoints."""
    return [row["name"] for row in default_workbench().catalog.all_endpoints()]


def endpoint_of(bench: Workbench, name: str) -> Endpoint:
    """An endpoint as it is asked: with the token that this process holds."""
    endpoint = bench.endpoint(name)
    token = _tokens.get(_place(bench, name))
    return endpoint if token is None else endpoint.with_(key=token)


def has_token(bench: Workbench, name: str) -> bool:
    """Whether this process holds its token."""
    return _place(bench, name) in _tokens


# Inside -------------------------------------------------------------------------------------


def _spec(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the catalogue keeps, as the importer makes it of one of Moonshot's files."""
    data = {key: value for key, value in given.items() if key not in ("id", "token")}
    kind = data["connector_type"]
    own = _own_provider(kind, data["uri"])
    tally = Tally()
    made = endpoint_spec(name, Written(f"the endpoint {name}", data), tally)
    del made["trusted"]  # it came from the person who calls, not from a file
    if own:
        made["provider"] = own
    for note in tally.result().notes:
        # The importer looks only among Moonshot's connectors.
        if not (own and note.startswith("there is no provider")):
            warnings.warn(note, stacklevel=4)
    return made


def _own_provider(kind: Any, uri: Any) -> str:
    """The provider that is meant where none of Moonshot's connectors is."""
    if not isinstance(kind, str) or connector_of(kind, str(uri)).known:
        return ""
    name = kind.removesuffix(_SUFFIX)
    return name if name in plugins.names("provider") else ""


def _save(
    bench: Workbench, name: str, spec: dict[str, Any], token: str | None, *, keeps: bool = False
) -> None:
    if token and is_reference(token):
        spec = {**spec, "key": token}
        Endpoint.from_spec(spec, name)
        token = None
    bench.catalog.save_endpoint(name, spec)
    if token:
        _tokens[_place(bench, name)] = Secret(token)
        warnings.warn(
            f"the token of {name!r} is held by this process and stored nowhere: give "
            "token='env:NAME' for an endpoint that is to last",
            stacklevel=4,
        )
    elif not keeps:
        _tokens.pop(_place(bench, name), None)


def _row(bench: Workbench, name: str) -> dict[str, Any]:
    row = bench.catalog.endpoint(name)
    if row is None:
        known = [each["name"] for each in bench.catalog.all_endpoints()]
        raise NotFoundError(
            f"there is no endpoint {name!r}", remedy=f"There are: {', '.join(known) or 'none yet'}."
        )
    return row


def _shape(bench: Workbench, row: Mapping[str, Any]) -> dict[str, Any]:
    """In Moonshot's fields. The name is the id: nothing else is kept of it."""
    name, spec = row["name"], row["spec"]
    limits = spec.get("limits", {})
    per_minute = limits.get("requests_per_minute")
    params = dict(spec.get("params", {}))
    if "timeout" in spec:
        params["timeout"] = spec["timeout"]
    return {
        "id": name,
        "name": name,
        "connector_type": _connector(spec["provider"]),
        "uri": spec.get("url", ""),
        "token": SHOWN if has_token(bench, name) else spec.get("key", ""),
        "max_calls_per_second": None if per_minute is None else _whole(per_minute / 60),
        "max_concurrency": limits.get("concurrency"),
        "model": spec["model"],
        "params": params,
        "created_date": datetime.fromtimestamp(row["created"]).strftime("%Y-%m-%d %H:%M:%S"),
    }


def _connector(provider: str) -> str:
    usual = _CONNECTORS.get(provider, f"{provider}{_SUFFIX}")
    return usual if connector_of(usual, "").known else provider


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _place(bench: Workbench, name: str) -> tuple[Path, str]:
    return bench.workspace.path, name
