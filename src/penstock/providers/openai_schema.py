"""An answer's schema as OpenAI takes it.

Strict mode guarantees the shape but refuses much of JSON schema. A Pydantic model is brought into
the strict form where that loses nothing (every property required, none added, references with
siblings written out, `oneOf` as `anyOf`); a schema that cannot be strict is sent as it is with
`strict: false`. A JSON schema written by hand is never changed. Whatever the server makes of it,
the answer is validated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from penstock.schema import AnswerSchema

__all__ = ["SCHEMA_RULES", "WireSchema", "strict_schema"]

_KEPT = "kept"
_LOOSE = "kept, and the schema is sent without strict"

SCHEMA_RULES: Mapping[str, str] = {
    **dict.fromkeys(("$defs", "$id", "anyOf", "const", "definitions", "description"), _KEPT),
    **dict.fromkeys(("enum", "exclusiveMaximum", "exclusiveMinimum", "maxItems"), _KEPT),
    **dict.fromkeys(("maxLength", "maximum", "minItems", "minLength", "minimum"), _KEPT),
    **dict.fromkeys(("multipleOf", "pattern", "title", "type"), _KEPT),
    "$ref": "kept; of a Pydantic model with words beside it, rewritten in place",
    "additionalProperties": "kept; of a Pydantic model rewritten as false where nothing is said",
    "allOf": "of a Pydantic model rewritten in place where it is one schema, else without strict",
    "default": "kept; of a Pydantic model left out where it is null",
    "discriminator": "left out of a Pydantic model",
    "format": "kept; without strict where OpenAI does not know it",
    "items": "kept; a list without them is sent without strict",
    "oneOf": "of a Pydantic model rewritten as anyOf, else without strict",
    "properties": "kept; an object without any is sent without strict",
    "required": "kept; of a Pydantic model every property is required",
    **dict.fromkeys(("contains", "dependentRequired", "dependentSchemas", "else", "if"), _LOOSE),
    **dict.fromkeys(("maxContains", "maxProperties", "minContains", "minProperties"), _LOOSE),
    **dict.fromkeys(("not", "patternProperties", "prefixItems", "propertyNames"), _LOOSE),
    **dict.fromkeys(("then", "unevaluatedItems", "unevaluatedProperties", "uniqueItems"), _LOOSE),
}
"""What becomes of each keyword; one that is not named is kept."""

_REFUSED = frozenset(
    {"allOf", "oneOf", *(keyword for keyword, rule in SCHEMA_RULES.items() if rule == _LOOSE)}
)
_FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}
)
_DEEPEST = 10


class WireSchema(NamedTuple):
    """A schema, and whether the server is to hold the model to it."""

    schema: dict[str, Any]
    strict: bool


_made: dict[tuple[bytes, bool], WireSchema] = {}
_MOST = 256


def strict_schema(schema: AnswerSchema) -> WireSchema:
    """The schema for the wire; made once for all requests that share it."""
    key = (schema.canonical, schema.model is not None)  # the same by hand is not rewritten
    found = _made.get(key)
    if found is None:
        wire = schema.schema
        if schema.model is not None:
            strict = _Strict(schema.schema).node(schema.schema, ())
            wire = strict if _holds(strict) else wire
        found = WireSchema(wire, _holds(wire))
        if len(_made) >= _MOST:
            _made.clear()
        _made[key] = found
    return found


class _Strict:
    """Rewrites a schema into the strict form, leaving the original alone."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def node(self, node: Any, inside: tuple[str, ...]) -> Any:
        if not isinstance(node, Mapping):
            return node
        made = dict(node)
        if isinstance(ref := made.get("$ref"), str) and len(made) > 1:
            del made["$ref"]
            if ref in inside:  # written out it would never end
                return {**made, "anyOf": [{"$ref": ref}]}
            return self.node({**self._target(ref), **made}, (*inside, ref))
        if isinstance(whole := made.get("allOf"), list) and len(whole) == 1:
            del made["allOf"]
            return self.node({**whole[0], **made}, inside)
        if "oneOf" in made and "anyOf" not in made:
            made["anyOf"] = made.pop("oneOf")
            made.pop("discriminator", None)
        if made.get("type") == "object":
            made.setdefault("additionalProperties", False)
        if isinstance(properties := made.get("properties"), Mapping):
            made["required"] = list(properties)
            made["properties"] = {k: self.node(v, inside) for k, v in properties.items()}
        if made.get("default", "") is None:
            del made["default"]
        self._children(made, inside)
        return made

    def _children(self, made: dict[str, Any], inside: tuple[str, ...]) -> None:
        for name in ("$defs", "definitions"):
            if isinstance(found := made.get(name), Mapping):
                made[name] = {k: self.node(v, inside) for k, v in found.items()}
        if isinstance(items := made.get("items"), Mapping):
            made["items"] = self.node(items, inside)
        if isinstance(options := made.get("anyOf"), list):
            made["anyOf"] = [self.node(option, inside) for option in options]

    def _target(self, ref: str) -> Mapping[str, Any]:
        found: Any = self._root
        for step in ref.removeprefix("#/").split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~"), {})
        return found if isinstance(found, Mapping) else {}


def _holds(schema: Any) -> bool:
    """Whether strict mode takes this schema."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or "anyOf" in schema:
        return False
    return all(_node_holds(node, depth) for node, depth in _nodes(schema, 0))


def _node_holds(node: Mapping[str, Any], depth: int) -> bool:
    if depth > _DEEPEST or not _REFUSED.isdisjoint(node):
        return False
    if node.get("format", "date") not in _FORMATS:
        return False
    if not node or ("type" not in node and not {"anyOf", "$ref", "enum", "const"} & node.keys()):
        return False
    if node.get("type") == "object" or "properties" in node:
        properties = node.get("properties")
        if not properties or node.get("additionalProperties") is not False:
            return False
        return set(node.get("required") or ()) >= set(properties)
    return node.get("type") != "array" or "items" in node


def _nodes(node: Any, depth: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Every schema in a schema, with its depth; a definition starts anew."""
    if not isinstance(node, Mapping):
        yield {"not": {}}, depth  # a boolean schema: strict mode has none
        return
    yield node, depth
    for name in ("$defs", "definitions"):
        for child in (node.get(name) or {}).values():
            yield from _nodes(child, 0)
    for child in (node.get("properties") or {}).values():
        yield from _nodes(child, depth + 1)
    if "items" in node:
        yield from _nodes(node["items"], depth + 1)
    for child in node.get("anyOf") or ():
        yield from _nodes(child, depth)
