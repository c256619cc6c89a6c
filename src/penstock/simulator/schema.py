"""Instances of a JSON schema: valid, varied, and sounding like the question.

A schema is compiled once into nodes (see `nodes.py`, `containers.py`) and kept by its bytes, in
a bounded number. What Pydantic emits is made valid by construction; where a schema uses
keywords that cannot be (`not`, `if`, an overlapping `oneOf`), what was made is checked and thrown
again some times. A schema that nothing fits, or nothing that was found, raises InputError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from penstock.errors import InputError
from penstock.simulator.asked import Wish
from penstock.simulator.check import matches, type_names, valid
from penstock.simulator.containers import Array, Extra, Field, Object, Sizes
from penstock.simulator.dice import Dice
from penstock.simulator.formats import FORMATS
from penstock.simulator.merge import Flattener, demanded
from penstock.simulator.nodes import (
    ENDLESS,
    Choice,
    Constant,
    Later,
    Making,
    Never,
    Node,
    Number,
    String,
    Written,
)
from penstock.simulator.numbers import NumberMaker
from penstock.simulator.pattern import Pattern
from penstock.simulator.strings import string_maker

__all__ = ["Compiled", "compiled", "encode"]

MOST_KEPT = 256
_ROOM = 5
_BUDGET = 3000
_ATTEMPTS = 40
_ALL_TYPES = ["string", "integer", "boolean", "number"]
_HINTS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_ANNOTATIONS = frozenset(("title", "description", "default", "examples", "deprecated"))
_MORE_HINTS = ("propertyNames", "minProperties", "maxProperties")
_kept: dict[bytes, Compiled] = {}


def encode(value: Any) -> str:
    """JSON text; also for whole numbers that 64 bits do not hold."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def compiled(schema: Any) -> Compiled:
    """The maker for a schema, from the cache where it is known."""
    try:
        key = orjson.dumps(schema)
    except TypeError:
        key = json.dumps(schema).encode()
    found = _kept.get(key)
    if found is None:
        found = Compiled(schema)
        if len(_kept) >= MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        _kept[key] = found
    return found


class Compiled:
    """A schema ready to make instances."""

    def __init__(self, schema: Any) -> None:
        compiler = _Compiler(schema)
        self._schema = schema
        self._node = compiler.root()
        self._watch = compiler.flattener.watch
        if self._node.height >= ENDLESS:
            raise InputError("no value fits the schema")

    def make(self, wish: Wish, dice: Dice) -> Any:
        """One instance."""
        value = self._once(wish, dice)
        if not self._watch:
            return value
        for _ in range(_ATTEMPTS):
            if valid(self._schema, value):
                return value
            value = self._once(wish, dice)
        raise InputError("no value was found that fits the schema")

    def _once(self, wish: Wish, dice: Dice) -> Any:
        return self._node.make(Making(wish, dice, _BUDGET), self._node.height + _ROOM)


class _Compiler:
    """Turns one root schema into nodes."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.flattener = Flattener(schema)
        self._nodes: list[Node] = []
        self._known: dict[tuple[str, bytes], Node] = {}
        self._makers: dict[str, Callable[[dict[str, Any], str], Node]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": lambda flat, name: Number(NumberMaker(flat, True, name)),
            "number": lambda flat, name: Number(NumberMaker(flat, False, name)),
            "boolean": lambda flat, name: Constant([True, False]),
            "null": lambda flat, name: Constant([None]),
        }

    def root(self) -> Node:
        """Compile everything and find out the heights."""
        node = self._node(self._schema, "")
        changed = True
        while changed:
            changed = False
            for each in self._nodes:
                height = each.measure()
                if height != each.height:
                    each.height = height
                    changed = True
        return node

    def _node(self, schema: Any, name: str) -> Node:
        """The node of a schema for a property, whose name is written `owner.name`."""
        key = (name, json.dumps(schema).encode())
        if key in self._known:
            return self._known[key]
        later = Later()
        self._known[key] = later
        node = self._alternatives(self.flattener.alternatives(schema), name)
        later.target = node
        self._nodes += [node, later]
        self._known[key] = node
        return node

    def _alternatives(self, flats: list[dict[str, Any]], name: str) -> Node:
        if not flats:
            return Never()
        if len(flats) == 1:
            return self._flat(flats[0], name)
        flats = _prefer_numbers(flats)
        nulls = [flat for flat in flats if flat.get("type") == "null"]
        nodes = [self._added(self._flat(flat, name)) for flat in flats if flat not in nulls]
        return Choice(nodes, Constant([None]) if nulls else None)

    def _added(self, node: Node) -> Node:
        self._nodes.append(node)
        return node

    def _flat(self, flat: dict[str, Any], name: str) -> Node:
        """A node for a schema without combinators."""
        if "const" in flat or "enum" in flat:
            values = [flat["const"]] if "const" in flat else flat["enum"]
            return Constant([each for each in values if valid(flat, each, self._schema)])
        types = _types(flat)
        examples = [
            each
            for each in flat.get("examples", ())
            if type_names(each)[0] in types and valid(flat, each, self._schema)
        ]
        nodes = [self._makers[each](flat, name) for each in types if each != "null"]
        if examples and len(types) == 1:
            nodes.append(Constant(examples))
        null = Constant([None]) if "null" in types else None
        if len(nodes) == 1 and null is None:
            return nodes[0]
        return Choice([self._added(node) for node in nodes], null)

    def _string(self, flat: dict[str, Any], name: str) -> Node:
        low, high = flat.get("minLength", 0), flat.get("maxLength")
        owner, _, own = name.rpartition(".")
        maker = string_maker(own, str(flat.get("description", "")), owner)
        free = String(name, maker, low, high)
        if "pattern" in flat:
            return Written.pattern(Pattern(flat["pattern"], low, high), free)
        if flat.get("contentMediaType") == "application/json" and "contentSchema" in flat:
            inner = Compiled(flat["contentSchema"])
            return Written(lambda dice: encode(inner.make(Wish(), dice)), lambda text: True, free)
        form = FORMATS.get(flat.get("format", ""))
        if form is None:
            return free
        return Written(form, lambda text: low <= len(text) <= (high or len(text)), free)

    def _array(self, flat: dict[str, Any], name: str) -> Node:
        prefix, rest = flat.get("prefixItems", []), flat.get("items", True)
        if isinstance(rest, list):
            prefix, rest = rest, flat.get("additionalItems", True)
        places = list(prefix)
        if "contains" in flat:
            self.flattener.watch = True
            for at in range(flat.get("minContains", 1)):
                if at < len(places):
                    places[at] = {"allOf": [places[at], flat["contains"]]}
                else:
                    places.append({"allOf": [rest, flat["contains"]]})
        nodes = [self._node(each, name) for each in places]
        item = None if rest is False else self._node(rest, name)
        least = max(flat.get("minItems", 0), len(places) if "contains" in flat else 0)
        sizes = Sizes(least, flat.get("maxItems"))
        return Array(name, nodes, item, sizes, bool(flat.get("uniqueItems")))

    def _object(self, flat: dict[str, Any], name: str) -> Node:
        known = flat.get("properties", {})
        required = set(flat.get("required", ()))
        patterns = flat.get("patternProperties", {})
        more = flat.get("additionalProperties", True)
        owner = name.rpartition(".")[2] or str(flat.get("title", ""))
        fields = []
        for each in dict.fromkeys([*known, *flat.get("required", ())]):
            node = self._node(demanded(flat, each), f"{owner}.{each}")
            fields.append(Field(each, node, each in required))
        names = flat.get("propertyNames")
        namer = None if names is None else self._node({"type": "string", "allOf": [names]}, ".key")
        extras = [
            Extra(Written.pattern(Pattern(pattern), Never()), self._node(part, name), pattern)
            for pattern, part in patterns.items()
        ]
        if names is not None and patterns:
            self.flattener.watch = True
        if more is not False and not (patterns and more is True):
            extras.append(Extra(namer, self._node(more, name)))
        bare = "properties" not in flat and more is not False
        free = bare or isinstance(more, dict) or bool(patterns)
        sizes = Sizes(flat.get("minProperties", 0), flat.get("maxProperties"))
        return Object(fields, extras, list(patterns), sizes, free)


def _types(flat: dict[str, Any]) -> list[str]:
    """The types a flat schema allows, or the likeliest of all where it says nothing."""
    given = flat.get("type")
    if given is not None:
        barred = flat.get("not")
        types = _listed(given)
        if isinstance(barred, dict) and barred.keys() == {"type"}:
            types = [name for name in types if name not in _listed(barred["type"])]
        return types
    for name, hints in _HINTS.items():
        if any(hint in flat for hint in hints):
            return [name]
    return ["object"] if any(hint in flat for hint in _MORE_HINTS) else _ALL_TYPES


def _listed(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _prefer_numbers(flats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out a string that may be digits beside a number: so Pydantic writes a Decimal.

    The schema does not say that such a string must be a number, but the model does.
    """
    if not any(flat.get("type") in ("number", "integer") for flat in flats):
        return flats
    return [flat for flat in flats if not _may_be_digits(flat)]


def _may_be_digits(flat: dict[str, Any]) -> bool:
    if flat.get("type") != "string" or flat.keys() - _ANNOTATIONS - {"type", "pattern"}:
        return False
    return "pattern" not in flat or matches(flat["pattern"], "5")
