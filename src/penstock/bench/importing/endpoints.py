"""A Moonshot endpoint as one of ours: its provider, address, model, parameters and limits.

The token is dropped before anything else is looked at: it is never stored, logged or shown. Where
an endpoint came from a file, its address may be anybody's, so no key is ever named for it here: at
its provider's own address the usual variable is read, and anywhere else a person says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from penstock.bench.importing.connectors import (
    Connector,
    connector_of,
    fits,
    is_parameter,
    parameter,
)
from penstock.bench.importing.finding import Written
from penstock.bench.importing.report import Tally
from penstock.documents.problems import Part, Problems
from penstock.endpoint import Endpoint, Limits
from penstock.errors import EndpointError, InputError
from penstock.providers import provider_of

__all__ = ["endpoint_spec"]

_FIELDS = frozenset(
    {
        *("id", "name", "connector_type", "uri", "max_calls_per_second", "max_concurrency"),
        *("model", "params", "created_date"),
    }
)
_KIND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[A-Za-z0-9._-]{1,40}")
_PLACEHOLDER = re.compile(r"<[^<>]*>")
_MOST = 1_000_000_000
_RETRIES = frozenset({"max_attempts", "allow_retries", "num_of_retries"})
_PROMPTS = frozenset({"system_prompt", "pre_prompt", "post_prompt"})


def endpoint_spec(name: str, written: Written, tally: Tally) -> dict[str, Any]:
    """What the catalogue keeps of an endpoint; what had no place is noted."""
    data = dict(written.data)
    had_token = bool(data.pop("token", None))
    problems = Problems(written.file, written.document)
    part = Part(problems, (), data)
    kind = part.get("connector_type", _kind, "")
    if "connector_type" not in part:
        part.problems.add((), InputError("connector_type is missing"))
    uri = part.get("uri", _text, "").strip()
    params: dict[str, Any] = part.get("params", _mapping, {})
    settings = Part(problems, ("params",), params)
    model = part.get("model", _text, "") or settings.get("model", _text, "")
    limits = Limits(
        part.get("max_concurrency", _concurrency, None),
        part.get("max_calls_per_second", _per_minute, None),
    )
    timeout = settings.get("timeout", _seconds, None)
    version = settings.get("api_version", _version, "")
    connector = connector_of(kind, uri)
    given = _parameters(settings, connector, model, uri)
    problems.check()
    url = _address(name, connector, uri, version, tally)
    made = _made(written, connector, model, url, given, limits, timeout)
    _note_connector(name, kind, connector, tally)
    azures = {"api_version"} if connector.provider == "azure" else set()
    _note_places(name, params, {"timeout", "model"} | azures | given.keys(), tally)
    tally.note_unused(data, _FIELDS, "endpoint", name)
    if had_token:
        _note_token(name, made, connector, tally)
    # Kept with it, so that it is not trusted later either.
    return {**made.spec(), "trusted": False}


def _made(
    written: Written,
    connector: Connector,
    model: str,
    url: str,
    params: Mapping[str, Any],
    limits: Limits,
    timeout: float | None,
) -> Endpoint:
    if not model:
        raise InputError("it names no model")
    try:
        return Endpoint(
            connector.provider,
            model,
            url,
            params=params,
            limits=limits,
            timeout=timeout,
            trusted=False,
        )
    except EndpointError as error:
        problems = Problems(written.file, written.document)
        problems.add(("uri",), error)
        problems.check()
        raise


def _parameters(part: Part, connector: Connector, model: str, url: str) -> dict[str, Any]:
    made = {}
    for key, value in part.data.items():
        if value is None or not is_parameter(key):
            continue
        read = part.get(key, partial(parameter, key), None)
        if read is not None and fits(connector, key, read, model=model, url=url):
            made[key] = read
    return made


def _address(name: str, connector: Connector, uri: str, version: str, tally: Tally) -> str:
    """The address, if it is one."""
    if not connector.known and not uri.startswith(("http://", "https://")):
        return ""
    if connector.provider != "azure":
        return uri
    if _PLACEHOLDER.search(uri):
        said = "the address is a placeholder and was left out: AZURE_OPENAI_ENDPOINT is read"
        tally.note(said, "endpoint", name)
        return ""
    if uri and version and "api-version=" not in uri:
        return f"{uri.rstrip('/')}?api-version={version}"
    if not version and "api-version=" not in uri:
        tally.note("Azure's version is read from OPENAI_API_VERSION", "endpoint", name)
    return uri


# What a person should know ------------------------------------------------------------------


def _note_connector(name: str, kind: str, connector: Connector, tally: Tally) -> None:
    if not connector.known:
        said = f"there is no provider for {kind} yet: kept, but it cannot be asked"
        tally.note(said, "endpoint", name)
    elif kind.startswith("huggingface"):
        said = "by its address taken for a server that speaks OpenAI's protocol"
        tally.note(said, "endpoint", name)


def _note_places(
    name: str, params: Mapping[str, Any], placed: Collection[str], tally: Tally
) -> None:
    for key, value in params.items():
        if value in (None, "") or key in placed:
            continue
        said = f"params.{key} has no place in an endpoint"
        if key in _RETRIES:
            said += ": batch_processing.max_retries is the setting for all"
        elif key in _PROMPTS:
            said += ": put it into the recipe or a template"
        tally.note(said, "endpoint", name)


def _note_token(name: str, made: Endpoint, connector: Connector, tally: Tally) -> None:
    """Where the key goes instead."""
    variables = provider_of(made).key_variables if connector.known else ()
    said = "the token was left out: "
    if made.url or not variables:
        said += "if it is needed, save the endpoint again with --key env:NAME"
    else:
        said += f"{' or '.join(variables)} is read instead"
    tally.note(said, "endpoint", name)


# Values -------------------------------------------------------------------------------------


def _kind(value: Any) -> str:
    if not isinstance(value, str) or not _KIND.fullmatch(value):
        raise InputError("the name of a connector is wanted, such as openai-connector")
    return value


def _version(value: Any) -> str:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        raise InputError("a version is wanted, such as 2024-10-21")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError("a text is wanted")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("names and values are wanted")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        raise InputError("a number above 0 is wanted")
    return value


def _concurrency(value: Any) -> int | None:
    return max(1, math.floor(_number(value)))


def _per_minute(value: Any) -> int | None:
    return max(1, round(_number(value) * 60))


def _seconds(value: Any) -> float | None:
    return _number(value)
