"""From a schema with combinators to flat alternatives that can be made one at a time.

`alternatives` takes `$ref`, `allOf`, `anyOf`, `oneOf`, `if` and the dependent keywords of one
level apart into plain schemas joined by "or"; two plain schemas joined by "and" are merged
keyword by keyword. Merging may be stricter than the original, never looser, except for what
`check.py` has to watch (see `Flat.watch`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from penstock.errors import InputError
from penstock.simulator.check import matches, same
from penstock.simulator.pointers import resolve

__all__ = ["Flattener", "demanded"]

MOST_ALTERNATIVES = 64
_DEPTH = 40
_COMBINING = frozenset(
    (
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
    )
)
_CLASH = object()
Flat = dict[str, Any]


class Flattener:
    """Takes the schemas of one root apart. `watch` turns true when a made value needs checking."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.watch = False

    def alternatives(self, schema: Any, depth: int = 0) -> list[Flat]:
        """Flat schemas of which a value must fit one; none means that nothing fits."""
        if schema is True:
            return [{}]
        if schema is False or depth > _DEPTH:
            return []
        if not isinstance(schema, dict):
            raise InputError(f"the schema holds {schema!r} where a schema should be")
        found = [{key: each for key, each in schema.items() if key not in _COMBINING}]
        if "not" in schema:
            self.watch = True
        if len(found[0]) == len(schema):
            return found
        for part in self._parts(schema, depth):
            merged = (merge(one, other) for one in found for other in part)
            found = [each for each in merged if each is not None][:MOST_ALTERNATIVES]
        if any("patternProperties" in each for each in found):
            self.watch = True
        return found

    def _parts(self, schema: Mapping[str, Any], depth: int) -> list[list[Flat]]:
        """Groups of alternatives, of each of which one must hold."""
        below = depth + 1
        parts: list[list[Flat]] = []
        if "$ref" in schema:
            parts.append(self.alternatives(resolve(self.root, schema["$ref"]), below))
        parts += [self.alternatives(each, below) for each in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                parts.append(
                    [f for each in schema[keyword] for f in self.alternatives(each, below)]
                )
        if "oneOf" in schema and not _apart(parts[-1]):
            self.watch = True
        if "if" in schema:
            self.watch = True
            yes = {"allOf": [schema["if"], schema.get("then", True)]}
            no = {"allOf": [schema.get("else", True)], "not": schema["if"]}
            parts.append([*self.alternatives(yes, below), *self.alternatives(no, below)])
        dependents = schema.get("dependentRequired")
        if dependents:
            parts.append(
                [{"required": sorted({name for names in dependents.values() for name in names})}]
            )
        parts += [
            self.alternatives(each, below) for each in schema.get("dependentSchemas", {}).values()
        ]
        return parts


def _apart(branches: list[Flat]) -> bool:
    """Whether no value can fit two branches: other types, or another constant at one key."""
    types = [branch.get("type") for branch in branches]
    if None not in types and len({str(each) for each in types}) == len(types):
        plain = all(isinstance(each, str) for each in types)
        return plain and not {"integer", "number"} <= set(map(str, types))
    keys = (
        set.intersection(*(set(branch.get("required", ())) for branch in branches))
        if branches
        else set()
    )
    for key in sorted(keys):
        marks = [_mark(branch.get("properties", {}).get(key)) for branch in branches]
        if None not in marks and len(set(marks)) == len(marks):
            return True
    return False


def _mark(schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return None
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return repr(values[0]) if len(values) == 1 else None


def merge(one: Flat, other: Flat) -> Flat | None:
    """Both at once, or None when they exclude each other."""
    merged = one | other
    for key in one.keys() & other.keys():
        rule = _RULES.get(key)
        if rule is None:
            merged[key] = one[key]
            continue
        value = rule(one[key], other[key])
        if value is _CLASH:
            return None
        merged[key] = value
    if "properties" in merged or "additionalProperties" in merged:
        merged["properties"] = _merge_properties(one, other)
    return merged if _possible(merged) else None


def _possible(merged: Flat) -> bool:
    if "const" in merged and "enum" in merged:
        return any(same(merged["const"], each) for each in merged["enum"])
    return True


def _both(one: Any, other: Any) -> Any:
    """A schema for "this and that"."""
    if one is False or other is False:
        return False
    if one is True or one == other:
        return other
    return one if other is True else {"allOf": [one, other]}


def _merge_properties(one: Flat, other: Flat) -> dict[str, Any]:
    names = list(one.get("properties", {})) + list(other.get("properties", {}))
    return {
        name: _both(demanded(one, name), demanded(other, name)) for name in dict.fromkeys(names)
    }


def demanded(flat: Flat, name: str) -> Any:
    """What a flat schema demands of one property."""
    known = flat.get("properties", {})
    parts = [part for key, part in flat.get("patternProperties", {}).items() if matches(key, name)]
    if name not in known and not parts:
        return flat.get("additionalProperties", True)
    found = known.get(name, True)
    for part in parts:
        found = _both(found, part)
    return found


def _types(one: Any, other: Any) -> Any:
    left = [one] if isinstance(one, str) else list(one)
    right = [other] if isinstance(other, str) else list(other)
    both = [name for name in left if name in right]
    if "integer" in left + right and "integer" not in both and {"number"} & set(left + right):
        whole = ("integer" in left and "number" in right) or (
            "number" in left and "integer" in right
        )
        both += ["integer"] if whole else []
    return both or _CLASH


def _enums(one: list[Any], other: list[Any]) -> Any:
    return [each for each in one if any(same(each, two) for two in other)] or _CLASH


def _consts(one: Any, other: Any) -> Any:
    return one if same(one, other) else _CLASH


def _multiples(one: Any, other: Any) -> Any:
    left, right = Fraction(str(one)), Fraction(str(other))
    common = math.lcm(left.numerator * right.denominator, right.numerator * left.denominator)
    value = Fraction(common, left.denominator * right.denominator)
    return int(value) if value.denominator == 1 else float(value)


def _prefixes(one: list[Any], other: list[Any]) -> list[Any]:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return [
        _both(each, shorter[at]) if at < len(shorter) else each for at, each in enumerate(longer)
    ]


def _maps(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return one | {key: _both(one.get(key, True), each) for key, each in other.items()}


def _pattern_both(one: str, other: str) -> str:
    return one if one == other else f"(?=[\\s\\S]*(?:{other}))(?:{one})"


_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _enums,
    "const": _consts,
    "minimum": max,
    "maximum": min,
    "exclusiveMinimum": max,
    "exclusiveMaximum": min,
    "multipleOf": _multiples,
    "minLength": max,
    "maxLength": min,
    "pattern": _pattern_both,
    "minItems": max,
    "maxItems": min,
    "uniqueItems": lambda one, other: one or other,
    "prefixItems": _prefixes,
    "items": _both,
    "contains": _both,
    "properties": lambda one, other: one,
    "patternProperties": _maps,
    "additionalProperties": _both,
    "propertyNames": _both,
    "not": lambda one, other: {"anyOf": [one, other]},
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "minProperties": max,
    "maxProperties": min,
}
