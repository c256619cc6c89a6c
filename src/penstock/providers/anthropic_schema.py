"""An answer's schema as Anthropic takes it.

Anthropic holds the model to a part of JSON schema. What it refuses is moved into the
`description`, where the model reads it, in the words of the official SDK; a few keywords are
written in another form that means the same. What no form can say (a schema that contains itself,
an object with any keys, a value of any type) is not sent as a format at all: the schema then stands
in the prompt. Whichever way it was asked for, the answer is validated here against the whole
schema.

Unlike the SDK, words beside a reference are kept (the reference is written out), and an open
object is never closed: the model could then answer nothing but `{}`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

from penstock.schema import AnswerSchema

__all__ = ["SCHEMA_RULES", "wire_schema"]

_KEPT = "kept"
_MOVED = "moved to the description"

SCHEMA_RULES: Mapping[str, str] = MappingProxyType(
    {
        "type": "kept; a list of types is rewritten as anyOf",
        "properties": _KEPT,
        "required": _KEPT,
        "items": _KEPT,
        "enum": "kept where its values are plain; without the type",
        "const": "kept where its value is plain; without the type",
        "anyOf": _KEPT,
        "$defs": _KEPT,
        "$ref": "kept; with words beside it, rewritten in place; recursion goes into the prompt",
        "title": _KEPT,
        "description": _KEPT,
        "format": "kept where Anthropic knows it, else moved to the description",
        "minItems": "kept up to 1, else moved to the description",
        "additionalProperties": "rewritten as false; an open object goes into the prompt",
        "oneOf": "rewritten as anyOf",
        "allOf": "rewritten in place where it is one schema, else it goes into the prompt",
        "definitions": "rewritten as $defs",
        "prefixItems": "rewritten as items of any of the types, and moved to the description",
        "default": _MOVED,
        "examples": _MOVED,
        "pattern": _MOVED,
        "minimum": _MOVED,
        "maximum": _MOVED,
        "exclusiveMinimum": _MOVED,
        "exclusiveMaximum": _MOVED,
        "multipleOf": _MOVED,
        "minLength": _MOVED,
        "maxLength": _MOVED,
        "maxItems": _MOVED,
        "uniqueItems": _MOVED,
        "contains": _MOVED,
        "minContains": _MOVED,
        "maxContains": _MOVED,
        "minProperties": _MOVED,
        "maxProperties": _MOVED,
        "patternProperties": _MOVED,
        "propertyNames": _MOVED,
        "dependentRequired": _MOVED,
        "dependentSchemas": _MOVED,
        "unevaluatedItems": _MOVED,
        "unevaluatedProperties": _MOVED,
        "if": _MOVED,
        "then": _MOVED,
        "else": _MOVED,
        "not": _MOVED,
        "discriminator": _MOVED,
    }
)
"""What becomes of each keyword. One that is not here is moved to the description too."""

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
# Beside a reference these are no reason to write it out.
_ASIDE = frozenset({"default", "deprecated", "examples", "readOnly", "title", "writeOnly"})
_WORDS = frozenset({"default", "description", "title"})
_TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
_MOST = 256
_made: dict[bytes, dict[str, Any] | None] = {}


class _CannotSayError(Exception):
    """Anthropic has no form for this schema."""


def wire_schema(schema: AnswerSchema) -> dict[str, Any] | None:
    """The schema for the wire, made once for all requests that share it; None where none fits."""
    if schema.canonical not in _made:
        if len(_made) >= _MOST:
            _made.clear()
        _made[schema.canonical] = _translated(schema.schema)
    return _made[schema.canonical]


def _translated(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return _Translation(schema).node(schema)
    except (_CannotSayError, RecursionError):
        return None


class _Translation:
    """Rewrites a schema, leaving the original alone."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._open: list[str] = []
        self._closed: set[str] = set()

    def node(self, node: Any) -> dict[str, Any]:
        if not isinstance(node, Mapping):  # true and false are schemas too
            raise _CannotSayError
        given = dict(node)
        made: dict[str, Any] = {}
        defined = {**(given.pop("definitions", None) or {}), **(given.pop("$defs", None) or {})}
        if defined:
            made["$defs"] = {name: self.node(each) for name, each in defined.items()}
        if "$ref" in given:
            return made | self._reference(given)
        if "allOf" in given:
            return made | self.node(self._merged(given))
        kind = self._literals(given, made)
        if isinstance(kind, list):
            return made | self.node(_apart(given, kind))
        self._choices(given, made)
        if not made.keys() & {"enum", "const", "anyOf"}:
            made["type"] = kind if kind is not None else _guessed(given)
            self._contents(given, made)
        for name in ("description", "title"):
            if name in given:
                made[name] = given.pop(name)
        if given:
            said = ", ".join(f"{name}: {value}" for name, value in given.items())
            before = f"{made['description']}\n\n" if made.get("description") is not None else ""
            made["description"] = f"{before}{{{said}}}"
        return made

    # References -------------------------------------------------------------------------------

    def _reference(self, given: dict[str, Any]) -> dict[str, Any]:
        ref = given.pop("$ref")
        target = self._target(ref)
        self._follow(ref, target)
        name = ref.removeprefix("#/definitions/").removeprefix("#/$defs/")
        if "/" in name or given.keys() - _ASIDE:
            return self.node({**target, **given})
        return {"$ref": f"#/$defs/{name}"}

    def _follow(self, ref: str, target: Mapping[str, Any]) -> None:
        """Go where a reference leads, once, to see that it does not lead back."""
        if ref in self._open:
            raise _CannotSayError
        if ref not in self._closed:
            self._open.append(ref)
            self.node(target)
            self._open.pop()
            self._closed.add(ref)

    def _target(self, ref: Any) -> Mapping[str, Any]:
        if not isinstance(ref, str) or not ref.startswith("#/"):
            raise _CannotSayError
        found: Any = self._root
        for step in ref.removeprefix("#/").split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            raise _CannotSayError
        return found

    # Keywords ---------------------------------------------------------------------------------

    def _merged(self, given: dict[str, Any]) -> dict[str, Any]:
        whole = given.pop("allOf")
        if not isinstance(whole, list) or len(whole) != 1 or not isinstance(whole[0], Mapping):
            raise _CannotSayError
        return {**whole[0], **given}

    def _literals(self, given: dict[str, Any], made: dict[str, Any]) -> Any:
        """Take enum and const; the type, unless they say it already."""
        kind = given.pop("type", None)
        values = given.get("enum")
        if isinstance(values, list) and values and all(map(_is_plain, values)):
            made["enum"] = given.pop("enum")
        if "const" in given and _is_plain(given["const"]):
            made["const"] = given.pop("const")
        return None if made.keys() & {"enum", "const"} else kind

    def _choices(self, given: dict[str, Any], made: dict[str, Any]) -> None:
        names = given.keys() & {"anyOf", "oneOf"}
        if not names:
            return
        options = given.pop(names.pop())
        if names or not isinstance(options, list) or not options:
            raise _CannotSayError
        if made.keys() & {"enum", "const"} or given.keys() & {"properties", "items"}:
            raise _CannotSayError
        made["anyOf"] = [self.node(option) for option in options]

    def _contents(self, given: dict[str, Any], made: dict[str, Any]) -> None:
        kind = made["type"]
        if kind not in _TYPES:
            raise _CannotSayError
        if kind == "object":
            self._object(given, made)
        elif kind == "array":
            self._array(given, made)
        elif kind == "string":
            _sorted_out("format", _FORMATS, given, made)

    def _object(self, given: dict[str, Any], made: dict[str, Any]) -> None:
        properties = given.pop("properties", None)
        more = given.pop("additionalProperties", None)
        required = given.pop("required", None)
        if not isinstance(properties, Mapping) or (not properties and more):
            raise _CannotSayError
        if required is not None:
            if not isinstance(required, list) or not set(required) <= properties.keys():
                raise _CannotSayError
            made["required"] = required
        made["properties"] = {name: self.node(each) for name, each in properties.items()}
        made["additionalProperties"] = False

    def _array(self, given: dict[str, Any], made: dict[str, Any]) -> None:
        first = given.get("prefixItems")
        if isinstance(first, list) and first:
            rest = given.pop("items", False)
            kinds: list[dict[str, Any]] = []
            for each in [*first, *([] if rest is False else [rest])]:
                kind = self.node(each)
                if kind not in kinds:
                    kinds.append(kind)
            made["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        else:
            made["items"] = self.node(given.pop("items", None))
        _sorted_out("minItems", (0, 1), given, made)


def _sorted_out(
    name: str, allowed: Container[Any], given: dict[str, Any], made: dict[str, Any]
) -> None:
    """Keep a keyword if its value is taken; else it is the last thing said in the description."""
    if name in given:
        value = given.pop(name)
        (made if value in allowed else given)[name] = value


def _apart(given: dict[str, Any], kinds: list[Any]) -> dict[str, Any]:
    """A choice of schemas with one type each, for one with a list of types."""
    words = {name: value for name, value in given.items() if name in _WORDS}
    rest = {name: value for name, value in given.items() if name not in _WORDS}
    options = [{"type": kind, **({} if kind == "null" else rest)} for kind in kinds]
    return {**words, "anyOf": options} if len(options) != 1 else {**words, **options[0]}


def _guessed(given: Mapping[str, Any]) -> str:
    """The type that a schema leaves unsaid."""
    if "properties" in given:
        return "object"
    if "items" in given or "prefixItems" in given:
        return "array"
    raise _CannotSayError


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
