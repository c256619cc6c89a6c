"""A small JSON Schema check: is this value an instance?

The maker of instances uses it where making alone cannot promise validity (`not`, overlapping
`oneOf`, `if`), and the spoiler to be sure that it spoiled. It covers the keywords that assert
something about values; formats are not asserted. Floor 1 may not use the real validator's
package in the hot path, and this one needs no compilation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from penstock.simulator.pointers import resolve

__all__ = ["same", "type_names", "valid"]

_DEPTH = 200


def valid(schema: Any, value: Any, root: Any = None) -> bool:
    """Whether the value fits the schema; `root` is where references are looked up."""
    return _valid(schema, value, schema if root is None else root, 0)


def same(one: Any, other: Any) -> bool:
    """Equality as JSON knows it: 1 is 1.0, but true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(left, right) for left, right in pairs)
    return bool(one == other)


def type_names(value: Any) -> tuple[str, ...]:
    """The JSON types a value has; a whole number has two."""
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return ("integer", "number")
    if isinstance(value, float):
        return ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("array",) if isinstance(value, list) else ("object",)


def _valid(schema: Any, value: Any, root: Any, depth: int) -> bool:
    if isinstance(schema, bool):
        return schema
    if depth > _DEPTH:
        return True
    groups = [_ANY]
    if isinstance(value, dict):
        groups.append(_OBJECT)
    elif isinstance(value, list):
        groups.append(_ARRAY)
    elif isinstance(value, str):
        groups.append(_STRING)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        groups.append(_NUMBER)

    def inner(part: Any, member: Any) -> bool:
        return _valid(part, member, root, depth + 1)

    return all(
        rule(schema, value, inner, root)
        for group in groups
        for keyword, rule in group.items()
        if keyword in schema
    )


Inner = Callable[[Any, Any], bool]
Rule = Callable[[Mapping[str, Any], Any, Inner, Any], bool]


def _type(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    wanted = schema["type"]
    names = [wanted] if isinstance(wanted, str) else wanted
    return any(name in names for name in type_names(value))


def _if(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    branch = "then" if inner(schema["if"], value) else "else"
    return inner(schema.get(branch, True), value)


_ANY: dict[str, Rule] = {
    "type": _type,
    "enum": lambda s, v, inner, root: any(same(v, each) for each in s["enum"]),
    "const": lambda s, v, inner, root: same(v, s["const"]),
    "$ref": lambda s, v, inner, root: inner(resolve(root, s["$ref"]), v),
    "allOf": lambda s, v, inner, root: all(inner(each, v) for each in s["allOf"]),
    "anyOf": lambda s, v, inner, root: any(inner(each, v) for each in s["anyOf"]),
    "oneOf": lambda s, v, inner, root: sum(inner(each, v) for each in s["oneOf"]) == 1,
    "not": lambda s, v, inner, root: not inner(s["not"], v),
    "if": _if,
}


def _multiple(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    return Fraction(str(value)) % Fraction(str(schema["multipleOf"])) == 0


_NUMBER: dict[str, Rule] = {
    "minimum": lambda s, v, inner, root: bool(v >= s["minimum"]),
    "maximum": lambda s, v, inner, root: bool(v <= s["maximum"]),
    "exclusiveMinimum": lambda s, v, inner, root: bool(v > s["exclusiveMinimum"]),
    "exclusiveMaximum": lambda s, v, inner, root: bool(v < s["exclusiveMaximum"]),
    "multipleOf": _multiple,
}


def _pattern(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    return matches(schema["pattern"], value)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; one that Python cannot read matches all."""
    try:
        return (
            re.search(pattern.replace("(?<", "(?P<") if "(?<" in pattern else pattern, text)
            is not None
        )
    except re.error:
        return True


_STRING: dict[str, Rule] = {
    "minLength": lambda s, v, inner, root: len(v) >= s["minLength"],
    "maxLength": lambda s, v, inner, root: len(v) <= s["maxLength"],
    "pattern": _pattern,
}


def _items(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    items = schema["items"]
    if isinstance(items, list):
        return all(inner(part, each) for part, each in zip(items, value, strict=False))
    start = len(schema.get("prefixItems", ()))
    return all(inner(items, each) for each in value[start:])


def _prefix(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    return all(inner(part, each) for part, each in zip(schema["prefixItems"], value, strict=False))


def _unique(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    if not schema["uniqueItems"]:
        return True
    return not any(same(one, two) for at, one in enumerate(value) for two in value[:at])


def _contains(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    found = sum(inner(schema["contains"], each) for each in value)
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
    return bool(least <= found <= most)


_ARRAY: dict[str, Rule] = {
    "prefixItems": _prefix,
    "items": _items,
    "minItems": lambda s, v, inner, root: len(v) >= s["minItems"],
    "maxItems": lambda s, v, inner, root: len(v) <= s["maxItems"],
    "uniqueItems": _unique,
    "contains": _contains,
}


def _properties(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    known = schema["properties"]
    return all(inner(known[name], each) for name, each in value.items() if name in known)


def _patterns(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    return all(
        inner(part, each)
        for pattern, part in schema["patternProperties"].items()
        for name, each in value.items()
        if matches(pattern, name)
    )


def _additional(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    return all(
        inner(schema["additionalProperties"], each)
        for name, each in value.items()
        if name not in known and not any(matches(pattern, name) for pattern in patterns)
    )


def _dependent_required(schema: Mapping[str, Any], value: Any, inner: Inner, root: Any) -> bool:
    return all(
        name in value
        for trigger, names in schema["dependentRequired"].items()
        if trigger in value
        for name in names
    )


_OBJECT: dict[str, Rule] = {
    "required": lambda s, v, inner, root: all(name in v for name in s["required"]),
    "properties": _properties,
    "patternProperties": _patterns,
    "additionalProperties": _additional,
    "propertyNames": lambda s, v, inner, root: all(inner(s["propertyNames"], name) for name in v),
    "minProperties": lambda s, v, inner, root: len(v) >= s["minProperties"],
    "maxProperties": lambda s, v, inner, root: len(v) <= s["maxProperties"],
    "dependentRequired": _dependent_required,
    "dependentSchemas": lambda s, v, inner, root: all(
        inner(part, v) for trigger, part in s["dependentSchemas"].items() if trigger in v
    ),
}
