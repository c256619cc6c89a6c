"""Arrays and objects: the nodes that hold other nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.simulator.check import matches, same
from penstock.simulator.nodes import ENDLESS, LONGEST, Making, Node, asked_number
from penstock.simulator.vocabulary import NOUNS

__all__ = ["Array", "Field", "Object", "Sizes"]

_OPTIONAL = 0.8
_FEW = 3
_TRIES = 60
_MOST_LISTED = 256


class Sizes(NamedTuple):
    """The least and the most members; no most is None."""

    least: int = 0
    most: int | None = None

    def clamp(self, wanted: int) -> int:
        """The wanted number, within the bounds."""
        wanted = max(wanted, self.least)
        return wanted if self.most is None else min(wanted, self.most)


class Array(Node):
    """A list: first the items with places of their own, then any number of equal kind."""

    def __init__(
        self, name: str, prefix: Sequence[Node], item: Node | None, sizes: Sizes, unique: bool
    ) -> None:
        self._name = name
        self._prefix = prefix
        self._item = item
        self._sizes = sizes
        self._unique = unique
        self.height = ENDLESS

    def measure(self) -> int:
        least = self._sizes.least
        if least > LONGEST or (self._sizes.most is not None and least > self._sizes.most):
            return ENDLESS
        needed = [node.height for node in self._prefix[:least]]
        if least > len(self._prefix):
            if self._item is None:
                return ENDLESS
            needed.append(self._item.height)
        return min(ENDLESS, 1 + max(needed, default=0))

    def make(self, making: Making, room: int) -> Any:
        making.budget -= 1
        room = self.height if making.budget < 0 else room
        making.arrays += 1
        nodes = self._members(making, room)
        value = (
            self._distinct(nodes, making, room)
            if self._unique
            else self._plain(nodes, making, room)
        )
        making.arrays -= 1
        return value

    def _members(self, making: Making, room: int) -> list[Node]:
        """The node of every place."""
        nodes: list[Node] = []
        for node in self._prefix:
            if len(nodes) >= self._sizes.least and node.height >= room:
                return nodes
            nodes.append(node)
        if self._sizes.most is not None:
            del nodes[self._sizes.most :]
        if self._item is None:
            return nodes
        nodes += [self._item] * (self._length(making, room) - len(nodes))
        return nodes

    def _length(self, making: Making, room: int) -> int:
        assert self._item is not None
        least = self._sizes.least
        if self._item.height >= room:
            return least
        asked = asked_number(making.wish, self._name, making.arrays == 1)
        if asked:
            return self._sizes.clamp(asked)
        if self._prefix:
            return self._sizes.clamp(0)
        few = making.dice.between(1, _FEW + 1) if room > 2 else making.dice.below(_FEW)
        return self._sizes.clamp(least + few if least else few + (room > 2))

    def _plain(self, nodes: list[Node], making: Making, room: int) -> list[Any]:
        return [node.make(making, room - 1) for node in nodes]

    def _distinct(self, nodes: list[Node], making: Making, room: int) -> list[Any]:
        found: list[Any] = []
        for place, node in enumerate(nodes):
            value = self._another(node, found, making, room)
            if value is _NONE:
                if place >= self._sizes.least:
                    break
                value = node.make(making, room - 1)
            found.append(value)
        return found

    def _another(self, node: Node, found: list[Any], making: Making, room: int) -> Any:
        listed = node.all(_MOST_LISTED)
        if listed is not None:
            left = [each for each in listed if not any(same(each, known) for known in found)]
            return making.dice.pick(left) if left else _NONE
        for _ in range(_TRIES):
            value = node.make(making, room - 1)
            if not any(same(value, known) for known in found):
                return value
        return _NONE


_NONE = object()


class Field(NamedTuple):
    """A known property."""

    name: str
    node: Node
    required: bool


class Extra(NamedTuple):
    """Properties that are not known by name: what names they have, what is in them.

    `names` makes names, or None for any word; `pattern` is what a name must match to count as
    this kind, "" for those that match no pattern.
    """

    names: Node | None
    node: Node
    pattern: str = ""


class Object(Node):
    """An object: known properties in the order of the schema, then others."""

    def __init__(
        self,
        fields: list[Field],
        extras: list[Extra],
        patterns: list[str],
        sizes: Sizes,
        free: bool,
    ) -> None:
        self._fields = fields
        self._extras = extras
        self._patterns = patterns
        self._sizes = sizes
        self._free = free
        self._known = {field.name for field in fields}
        self.height = ENDLESS

    def measure(self) -> int:
        sizes = self._sizes
        needed = sorted((field.node.height, not field.required) for field in self._fields)
        required = [height for height, optional in needed if not optional]
        if sizes.most is not None and max(len(required), sizes.least) > sizes.most:
            return ENDLESS
        missing = sizes.least - len(required)
        if missing > 0:
            spare = [height for height, optional in needed if optional]
            cheapest = min((extra.node.height for extra in self._extras), default=ENDLESS)
            required += sorted([*spare, *[cheapest] * missing])[:missing]
        return min(ENDLESS, 1 + max(required, default=0))

    def make(self, making: Making, room: int) -> Any:
        making.budget -= 1
        room = self.height if making.budget < 0 else room
        chosen = self._chosen(making, room)
        value = {
            field.name: field.node.make(making, room - 1)
            for field in self._fields
            if field.required or field.name in chosen
        }
        self._add_extras(value, making, room)
        return value

    def _chosen(self, making: Making, room: int) -> set[str]:
        """Which of the optional properties to give."""
        optional = [f.name for f in self._fields if not f.required and f.node.height < room]
        if not optional:
            return set()
        chosen = [name for name in optional if making.dice.chance(_OPTIONAL)]
        required = len(self._fields) - sum(not field.required for field in self._fields)
        for name in optional:
            if len(chosen) + required >= self._sizes.least:
                break
            if name not in chosen:
                chosen.append(name)
        if self._sizes.most is not None:
            del chosen[max(0, self._sizes.most - required) :]
        return set(chosen)

    def _add_extras(self, value: dict[str, Any], making: Making, room: int) -> None:
        fitting = [extra for extra in self._extras if extra.node.height < room]
        if not fitting:
            return
        wanted = len(value)
        if self._free:
            asked = asked_number(making.wish, "", outermost=False)
            wanted += asked or making.dice.between(1, _FEW)
        wanted = self._sizes.clamp(wanted)
        for _ in range(_TRIES):
            if len(value) >= wanted:
                return
            extra = making.dice.pick(fitting)
            name = self._new_name(extra, making)
            if name not in value and name not in self._known and self._belongs(name, extra):
                value[name] = extra.node.make(making, room - 1)

    def _new_name(self, extra: Extra, making: Making) -> str:
        if extra.names is not None:
            return str(extra.names.make(making, 1))
        return making.dice.pick((*making.speaker.topics, *NOUNS)).replace(" ", "_")

    def _belongs(self, name: str, extra: Extra) -> bool:
        """Whether this kind of property, and no other kind, may have the name."""
        return all(matches(each, name) == (each == extra.pattern) for each in self._patterns)
