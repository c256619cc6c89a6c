"""Which schemas Anthropic takes as a format: the real server's rules, as it tells them.

Written apart from what the provider makes of a schema, so that one can judge the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.simulator.api import Problem

__all__ = ["check_schema"]

_KNOWN = frozenset(
    {
        *("type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "definitions", "default"),
        *("properties", "required", "additionalProperties", "items", "minItems", "format"),
        *("pattern", "title", "description"),
    }
)
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)


def check_schema(schema: Any, where: str = "output_config.format.schema") -> None:
    """Raise the Problem that the real server would answer with."""
    _Check(where, schema).node(schema, ())


class _Check:
    """Looks at every schema in a schema."""

    def __init__(self, where: str, root: Any) -> None:
        self._where = where
        self._root = root

    def _refuse(self, message: str) -> Problem:
        return Problem.invalid(f"{self._where}: {message}")

    def node(self, node: Any, inside: tuple[str, ...]) -> None:
        if not isinstance(node, Mapping):
            raise self._refuse("Input should be a valid dictionary")
        for definitions in (node.get("$defs"), node.get("definitions")):
            for each in (definitions or {}).values():
                self.node(each, inside)
        if "$ref" in node:
            self._reference(node["$ref"], inside)
            return
        if "oneOf" in node:
            raise self._refuse("Schema type 'oneOf' is not supported")
        kind = node.get("type")
        self._keywords(node, kind)
        for name in ("anyOf", "allOf"):
            for each in node.get(name) or ():
                self.node(each, inside)
        if kind is None and not node.keys() & {"anyOf", "allOf", "enum", "const"}:
            raise self._refuse("Schema must have a 'type', 'anyOf', 'allOf', 'enum' or 'const'")
        if kind == "object":
            self._object(node, inside)
        elif kind == "array" and "items" in node:
            self.node(node["items"], inside)

    def _keywords(self, node: Mapping[str, Any], kind: Any) -> None:
        if kind is not None and kind not in _TYPES:
            raise self._refuse(f"Schema type {kind!r} is not supported")
        if unknown := sorted(node.keys() - _KNOWN):
            names = ", ".join(unknown)
            raise self._refuse(f"For {kind!r} type, properties {names} are not supported")
        if node.get("minItems", 0) not in (0, 1):
            raise self._refuse("For 'array' type, 'minItems' values other than 0 or 1 are not")
        if node.get("format", "date") not in _FORMATS:
            raise self._refuse(f"For 'string' type, format {node['format']!r} is not supported")
        if any(isinstance(value, dict | list) for value in node.get("enum") or ()):
            raise self._refuse("Complex types within enums are not supported")

    def _object(self, node: Mapping[str, Any], inside: tuple[str, ...]) -> None:
        if node.get("additionalProperties") is not False:
            message = "For 'object' type, 'additionalProperties' must be explicitly set to false"
            raise self._refuse(message)
        for each in (node.get("properties") or {}).values():
            self.node(each, inside)

    def _reference(self, ref: Any, inside: tuple[str, ...]) -> None:
        if not isinstance(ref, str) or not ref.startswith("#/"):
            raise self._refuse("External $ref is not supported")
        if ref in inside:
            raise self._refuse("Recursive schemas are not supported")
        found: Any = self._root
        for step in ref.removeprefix("#/").split("/"):
            found = found.get(step) if isinstance(found, Mapping) else None
        if found is None:
            raise self._refuse(f"$ref {ref!r} leads nowhere")
        self.node(found, (*inside, ref))
