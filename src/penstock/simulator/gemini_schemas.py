"""Gemini's two kinds of schema as the one that the brain knows.

`responseSchema` is OpenAPI's (types in capitals, `nullable`), `responseJsonSchema` is JSON schema
with two rules more: nothing may stand beside a `$ref`, and a schema may contain itself only in
properties that are not required. In both `propertyOrdering` says how an answer is to be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.simulator.api import Problem

__all__ = ["from_json_schema", "from_openapi"]

_LOWER = ("minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum")
_SAME = (*_LOWER, "minProperties", "maxProperties", "pattern", "required", "description")
_MAPS = ("properties", "$defs")
_FORMATS = ("date", "date-time", "time", "email", "uuid")


def from_openapi(schema: dict[str, Any]) -> dict[str, Any]:
    """JSON schema from a `responseSchema` that was found to be one."""
    made = {key: schema[key] for key in _SAME if key in schema}
    if "type" in schema:
        made["type"] = schema["type"].lower()
    if schema.get("format") in _FORMATS:
        made["format"] = schema["format"]
    if "enum" in schema:
        made["enum"] = _values(schema)
    if "items" in schema:
        made["items"] = from_openapi(schema["items"])
    if "anyOf" in schema:
        made["anyOf"] = [from_openapi(option) for option in schema["anyOf"]]
    if "properties" in schema:
        made["properties"] = {k: from_openapi(v) for k, v in _in_order(schema).items()}
    if schema.get("nullable"):
        made = {"anyOf": [made, {"type": "null"}]}
    return made


def _values(schema: dict[str, Any]) -> list[Any]:
    """The values of an enum; those of numbers are written as texts there."""
    return [int(v) if schema.get("type") == "INTEGER" else v for v in schema["enum"]]


def from_json_schema(schema: Any) -> Any:
    """The same schema with its properties in order, or a Problem."""
    if not isinstance(schema, dict):
        return schema
    for node in _nodes(schema):
        if "$ref" in node and any(not key.startswith("$") for key in node):
            raise Problem.invalid(
                "Invalid JSON schema: only keywords that start with '$' may stand beside '$ref'.",
                "generation_config.response_json_schema",
            )
    _check_cycles(schema)
    made: dict[str, Any] = _ordered(schema)
    return made


def _in_order(schema: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    order = schema.get("propertyOrdering") or []
    names = [name for name in order if name in properties]
    return {name: properties[name] for name in (*names, *(n for n in properties if n not in names))}


def _ordered(node: Any) -> Any:
    if isinstance(node, list):
        return [_ordered(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {key: _ordered(value) for key, value in node.items() if key not in _MAPS}
    made.pop("propertyOrdering", None)
    if "properties" in node:
        made["properties"] = {name: _ordered(child) for name, child in _in_order(node).items()}
    if "$defs" in node:
        made["$defs"] = {name: _ordered(child) for name, child in node["$defs"].items()}
    return made


def _check_cycles(schema: dict[str, Any]) -> None:
    """A definition may not lead back to itself without passing an optional property."""
    definitions = schema.get("$defs") or {}
    leads = {name: set(_must(each)) for name, each in definitions.items()}
    for name in definitions:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for to in leads.get(waiting.pop(), ()):
                if to == name:
                    raise Problem.invalid(
                        f"Invalid JSON schema: '#/$defs/{name}' contains itself in a property that "
                        "is required.",
                        "generation_config.response_json_schema",
                    )
                if to not in seen:
                    seen.add(to)
                    waiting.append(to)


def _must(node: Any) -> Iterator[str]:
    """The definitions that a schema leads to other than through optional properties."""
    for inner in _nodes(node, optional=False):
        if isinstance(inner.get("$ref"), str):
            yield inner["$ref"].removeprefix("#/$defs/")


def _nodes(node: Any, *, optional: bool = True) -> Iterator[dict[str, Any]]:
    """Every schema in a schema."""
    if not isinstance(node, dict):
        return
    yield node
    required = node.get("required") or ()
    for name, child in (node.get("properties") or {}).items():
        if optional or name in required:
            yield from _nodes(child, optional=optional)
    for key in ("items", "additionalProperties"):
        yield from _nodes(node.get(key), optional=optional)
    for key in ("anyOf", "oneOf", "prefixItems"):
        for child in node.get(key) or ():
            yield from _nodes(child, optional=optional)
    if optional:
        for child in (node.get("$defs") or {}).values():
            yield from _nodes(child)
