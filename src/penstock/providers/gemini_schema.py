"""A JSON schema as Gemini takes it.

Gemini knows a part of JSON schema. What it does not know is written in another way where that
says the same, else into the `description`, where the model reads it; the answer is held to the
whole schema here in any case. The order of properties is told apart from them, because models
write fields in that order and Gemini's own parser does not keep it.

Two more of its rules are kept: nothing may stand beside a `$ref`, and a schema may contain itself
only in properties that are not required.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard
from urllib.parse import unquote

import orjson

from penstock.errors import RequestError

__all__ = ["SCHEMA_RULES", "wire_schema"]

_KEPT = "kept"
_MOVED = "moved to the description"
_LEFT_OUT = "left out"

SCHEMA_RULES: Mapping[str, str] = {
    **dict.fromkeys(("$anchor", "$id", "$ref", "additionalProperties", "anyOf"), _KEPT),
    **dict.fromkeys(("description", "format", "items", "maxItems", "maximum", "minItems"), _KEPT),
    **dict.fromkeys(("minimum", "prefixItems", "propertyOrdering", "title", "type"), _KEPT),
    "$defs": "kept, as far as they are used",
    "properties": "kept, their order written as propertyOrdering",
    "required": "kept, except for properties through which a schema contains itself",
    "enum": "kept for texts and numbers, rewritten as anyOf for others",
    "allOf": "rewritten as one schema; contradictions are moved to the description",
    "const": "rewritten as an enum of one",
    "definitions": "rewritten as $defs",
    "exclusiveMaximum": "rewritten as maximum",
    "exclusiveMinimum": "rewritten as minimum",
    "oneOf": "rewritten as anyOf",
    **dict.fromkeys(("contains", "contentEncoding", "contentMediaType", "default"), _MOVED),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "else", "examples", "if"), _MOVED),
    **dict.fromkeys(("maxContains", "maxLength", "maxProperties", "minContains"), _MOVED),
    **dict.fromkeys(("minLength", "minProperties", "multipleOf", "not", "pattern"), _MOVED),
    **dict.fromkeys(("patternProperties", "propertyNames", "then", "unevaluatedItems"), _MOVED),
    **dict.fromkeys(("unevaluatedProperties", "uniqueItems"), _MOVED),
    **dict.fromkeys(("$comment", "$schema", "$vocabulary", "deprecated"), _LEFT_OUT),
    **dict.fromkeys(("discriminator", "readOnly", "writeOnly"), _LEFT_OUT),
}
"""What becomes of each keyword; one that is not named is moved to the description."""

_made: dict[tuple[bytes, bool], dict[str, Any]] = {}
_MOST = 256


def wire_schema(schema: Mapping[str, Any], *, ordered: bool = True) -> dict[str, Any]:
    """The schema for the wire; made once for all requests that share it."""
    try:
        key = (orjson.dumps(schema), ordered)
        found = _made.get(key)
        if found is None:
            found = _Translation(schema, ordered).whole()
            if len(_made) >= _MOST:
                _made.clear()
            _made[key] = found
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise RequestError(f"the schema cannot be written for Gemini: {error!r}") from None
    return found


class _Node:
    """One schema in the making: what it will be, and what can only be said in words."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.made: dict[str, Any] = {}
        self.said: list[str] = []

    def say(self, key: str, value: Any) -> None:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        self.said.append(f"{key}: {text}")

    def whole(self) -> dict[str, Any]:
        return _described(self.made, "; ".join(self.said))


class _Translation:
    """Rewrites one schema, leaving the original alone."""

    def __init__(self, root: Mapping[str, Any], ordered: bool) -> None:
        self._root = root
        self._ordered = ordered
        self._names: dict[str, str] = {}
        self._rewrites: dict[str, Callable[[_Node, Any], None]] = {
            "$ref": self._ref,
            "additionalProperties": self._child("additionalProperties"),
            "anyOf": self._options,
            "const": lambda node, value: _enum(node, [value]),
            "enum": _enum,
            "exclusiveMaximum": _below,
            "exclusiveMinimum": _above,
            "items": self._child("items"),
            "oneOf": self._options,
            "prefixItems": self._prefix,
            "properties": self._properties,
        }

    def whole(self) -> dict[str, Any]:
        made = self._node(self._root)
        definitions: dict[str, Any] = {}
        while waiting := [ref for ref, name in self._names.items() if name not in definitions]:
            for ref in waiting:
                definitions[self._names[ref]] = self._node(_target(self._root, ref))
        _loosen(made, definitions)
        return made | ({"$defs": definitions} if definitions else {})

    def _node(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            given = {} if given is not False else {"not": {}}
        node = _Node(given)
        if "allOf" in given:
            node.given = self._merged(node, frozenset())
        if "$ref" in node.given and any(not key.startswith("$") for key in node.given):
            node.given = _beside_ref(node)
        for key, value in sorted(node.given.items(), key=_last):
            if key in self._rewrites:
                self._rewrites[key](node, value)
            elif key not in ("$defs", "definitions", "description"):
                _by_rule(node, key, value)
        if "description" in node.given:
            node.made["description"] = node.given["description"]
        return node.whole()

    # References -------------------------------------------------------------------------------

    def _ref(self, node: _Node, ref: Any) -> None:
        if _is_local(ref):
            node.made["$ref"] = f"#/$defs/{self._name(ref)}"
            return
        node.made["$ref"] = ref
        for name in self._root.get("$defs", ()):  # it is in one of them
            self._name(f"#/$defs/{name}")

    def _name(self, ref: str) -> str:
        if ref not in self._names:
            name = _ODD.sub("_", ref[1:].rpartition("/")[2] or "whole")
            while name in self._names.values():
                name += "_"
            self._names[ref] = name
        return self._names[ref]

    # Keywords ---------------------------------------------------------------------------------

    def _child(self, key: str) -> Callable[[_Node, Any], None]:
        def translate(node: _Node, value: Any) -> None:
            node.made[key] = self._node(value) if isinstance(value, Mapping) else value

        return translate

    def _prefix(self, node: _Node, value: Any) -> None:
        node.made["prefixItems"] = [self._node(item) for item in value]

    def _options(self, node: _Node, value: Any) -> None:
        if "anyOf" in node.made:  # there may be but one
            node.say("anyOf", value)
            return
        node.made["anyOf"] = [self._node(option) for option in value]

    def _properties(self, node: _Node, value: Any) -> None:
        node.made["properties"] = {name: self._node(child) for name, child in value.items()}
        if self._ordered and value:
            node.made.setdefault("propertyOrdering", list(value))

    def _merged(self, node: _Node, seen: frozenset[str]) -> dict[str, Any]:
        """The schema with all of `allOf` in it; what contradicts it is said in words."""
        made = {key: value for key, value in node.given.items() if key != "allOf"}
        for member in node.given["allOf"]:
            whole = self._member(member, seen)
            if whole is None or not _join(made, whole):
                node.say("allOf", member)
        return made

    def _member(self, member: Any, seen: frozenset[str]) -> Mapping[str, Any] | None:
        if not isinstance(member, Mapping):
            return {} if member else None
        if _is_local(ref := member.get("$ref")):
            if ref in seen:
                return None
            beside = {key: value for key, value in member.items() if key != "$ref"}
            whole = self._member(_target(self._root, ref), seen | {ref})
            made = dict(whole or {})
            return made if whole is not None and _join(made, beside) else None
        if "allOf" in member:
            inner = _Node(member)
            made = self._merged(inner, seen)
            return None if inner.said else made
        return member


_ODD = re.compile(r"[^\w.-]")


def _last(item: tuple[str, Any]) -> bool:
    """What looks at the rest of a schema comes after it."""
    return item[0] in ("const", "enum")


def _is_local(ref: Any) -> TypeGuard[str]:
    return isinstance(ref, str) and (ref == "#" or ref.startswith("#/"))


def _target(root: Mapping[str, Any], ref: str) -> Any:
    found: Any = root
    for step in ref.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def _beside_ref(node: _Node) -> dict[str, Any]:
    """A reference that stands alone: what stood beside it now stands around it."""
    made = {key: value for key, value in node.given.items() if key != "$ref"}
    if "anyOf" in made or "oneOf" in made:
        node.say("allOf", {"$ref": node.given["$ref"]})
        return made
    return {**made, "anyOf": [{"$ref": node.given["$ref"]}]}


def _join(made: dict[str, Any], more: Mapping[str, Any]) -> bool:
    """Put one schema into another; False, and nothing done, where they contradict each other."""
    if any(_clash(key, made[key], value) for key, value in more.items() if key in made):
        return False
    for key, value in more.items():
        if key in ("properties", "$defs"):
            made[key] = {**made.get(key, {}), **value}
        elif key == "required":
            made[key] = list(dict.fromkeys([*made.get(key, ()), *value]))
        else:
            made.setdefault(key, value)
    return True


def _clash(key: str, one: Any, other: Any) -> bool:
    if key == "properties":
        return any(one[name] != other[name] for name in one.keys() & other.keys())
    return key not in ("required", "description", "title", "default", "$defs") and one != other


def _by_rule(node: _Node, key: str, value: Any) -> None:
    rule = SCHEMA_RULES.get(key, _MOVED)
    if rule.startswith(_KEPT):
        node.made[key] = value
    elif rule == _MOVED and not (key == "default" and value is None):
        node.say(key, value)


def _enum(node: _Node, values: Any) -> None:
    """Gemini knows enums of texts and of numbers; null and true are types, the rest are words."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    options: list[dict[str, Any]] = []
    if texts:
        options.append({"type": "string", "enum": texts})
    if numbers:
        whole = all(isinstance(number, int) for number in numbers)
        options.append({"type": "integer" if whole else "number", "enum": numbers})
    if None in values:
        options.append({"type": "null"})
    if any(isinstance(value, bool) for value in values):
        options.append({"type": "boolean"})
    if len(options) == 1:
        given = node.made.get("type")
        node.made |= options[0] | ({"type": given} if isinstance(given, str) else {})
    elif options:
        node.made.pop("type", None)
        node.made["anyOf"] = options
    if len(texts) + len(numbers) + (None in values) < len(values):
        node.say("one of", values)


def _above(node: _Node, bound: Any) -> None:
    _bound(node, "minimum", "exclusiveMinimum", bound, 1)


def _below(node: _Node, bound: Any) -> None:
    _bound(node, "maximum", "exclusiveMaximum", bound, -1)


def _bound(node: _Node, key: str, word: str, bound: Any, step: int) -> None:
    whole = node.given.get("type") == "integer" and isinstance(bound, int)
    if not whole or key in node.given:
        node.say(word, bound)
    if key not in node.given:
        node.made[key] = bound + step if whole else bound


def _described(made: dict[str, Any], words: str) -> dict[str, Any]:
    if not words:
        return made
    before = made.get("description")
    return {**made, "description": f"{before} ({words})" if before else words}


# Schemas that contain themselves ------------------------------------------------------------


def _loosen(made: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Make optional each property through which a schema contains itself."""
    reach = {name: _reach(name, definitions) for name in definitions}
    for name, definition in definitions.items():
        for node in _nodes(definition):
            for field in node.get("required", ()):
                child = node.get("properties", {}).get(field)
                if any(name in reach[to] or name == to for to in _refs(child, definitions)):
                    node["required"] = [each for each in node["required"] if each != field]
                    node["properties"][field] = _noted(child)


def _noted(child: dict[str, Any]) -> dict[str, Any]:
    alone = {"anyOf": [child]} if "$ref" in child else child
    return _described(alone, "must be present")


def _reach(name: str, definitions: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for to in _refs(definitions[waiting.pop()], definitions):
            if to not in found:
                found.add(to)
                waiting.append(to)
    return found


def _refs(node: Any, definitions: Mapping[str, Any]) -> Iterator[str]:
    for inner in _nodes(node):
        name = str(inner.get("$ref", "")).removeprefix("#/$defs/")
        if name in definitions:
            yield name


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a translated schema."""
    if not isinstance(node, dict):
        return
    yield node
    for child in (node.get("properties") or {}).values():
        yield from _nodes(child)
    for key in ("items", "additionalProperties"):
        yield from _nodes(node.get(key))
    for key in ("anyOf", "prefixItems"):
        for child in node.get(key) or ():
            yield from _nodes(child)
