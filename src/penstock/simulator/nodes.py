"""The pieces a compiled schema is made of; each makes values of one kind.

Every node knows its height: how many containers deep its smallest value is. A node is only ever
given room for at least its height, and picks only children that fit into what is left, so even a
recursive schema comes to an end. A node that no value fits has no height (`ENDLESS`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.simulator.asked import Wish, singular
from penstock.simulator.check import same
from penstock.simulator.dice import Dice
from penstock.simulator.numbers import NumberMaker
from penstock.simulator.pattern import Pattern
from penstock.simulator.strings import Maker
from penstock.simulator.text import Speaker

__all__ = [
    "ENDLESS",
    "LONGEST",
    "Choice",
    "Constant",
    "Later",
    "Making",
    "Node",
    "Number",
    "String",
]

ENDLESS = 1 << 20
LONGEST = 1_000_000
_TRIES = 8
_RARE = 0.15


class Making:
    """One value being made: dice, words, what was asked for, and what was said already."""

    __slots__ = ("arrays", "budget", "dice", "said", "speaker", "wish")

    def __init__(self, wish: Wish, dice: Dice, budget: int) -> None:
        self.wish = wish
        self.dice = dice
        self.speaker = Speaker(dice, wish.salient)
        self.budget = budget
        self.arrays = 0
        self.said: dict[str, set[str]] = {}


class Node:
    """Makes values. `all` lists them where they are few."""

    height: int = 0

    def measure(self) -> int:
        """The height, from the heights of the children."""
        return 0

    def make(self, making: Making, room: int) -> Any:
        raise NotImplementedError

    def all(self, most: int) -> list[Any] | None:
        """Every value, or None when there are more than `most`."""
        return None


class Later(Node):
    """Stands for a node that is still being compiled: the knot of a recursion."""

    def __init__(self) -> None:
        self.height = ENDLESS
        self.target: Node | None = None

    def measure(self) -> int:
        return ENDLESS if self.target is None else self.target.height

    def make(self, making: Making, room: int) -> Any:
        assert self.target is not None
        return self.target.make(making, room)


class Never(Node):
    """What nothing fits."""

    height = ENDLESS

    def measure(self) -> int:
        return ENDLESS


class Constant(Node):
    """One of some given values."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self.height = self.measure()

    def measure(self) -> int:
        return 0 if self._values else ENDLESS

    def make(self, making: Making, room: int) -> Any:
        return making.dice.pick(self._values)

    def all(self, most: int) -> list[Any] | None:
        return self._values if len(self._values) <= most else None


class Choice(Node):
    """One of several nodes; null is chosen seldom."""

    def __init__(self, nodes: list[Node], rare: Node | None = None) -> None:
        self._nodes = nodes
        self._rare = rare
        self.height = ENDLESS

    def measure(self) -> int:
        heights = [node.height for node in self._nodes]
        if self._rare is not None:
            heights.append(self._rare.height)
        return min(heights, default=ENDLESS)

    def make(self, making: Making, room: int) -> Any:
        fitting = [node for node in self._nodes if node.height <= room]
        if self._rare is not None and (not fitting or making.dice.chance(_RARE)):
            return self._rare.make(making, room)
        return making.dice.pick(fitting).make(making, room)

    def all(self, most: int) -> list[Any] | None:
        nodes = [*self._nodes, *([self._rare] if self._rare is not None else [])]
        parts = [node.all(most) for node in nodes if node.height < ENDLESS]
        found: list[Any] = []
        for part in parts:
            if part is None:
                return None
            found += [each for each in part if not any(same(each, known) for known in found)]
        return found if len(found) <= most else None


class Number(Node):
    """An integer or a number."""

    def __init__(self, maker: NumberMaker) -> None:
        self._maker = maker
        self.height = self.measure()

    def measure(self) -> int:
        return 0 if self._maker.possible else ENDLESS

    def make(self, making: Making, room: int) -> Any:
        return self._maker.make(making.dice)

    def all(self, most: int) -> list[Any] | None:
        return self._maker.all(most) if self._maker.possible else []


class String(Node):
    """Free text for a property, between two lengths; within one answer it does not repeat."""

    def __init__(self, name: str, maker: Maker, low: int, high: int | None) -> None:
        self._name = name
        self._maker = maker
        self._low = low
        self._high = high
        self.height = self.measure()

    def measure(self) -> int:
        if self._low > LONGEST or (self._high is not None and self._low > self._high):
            return ENDLESS
        return 0

    def make(self, making: Making, room: int) -> str:
        said = making.said.setdefault(self._name, set())
        for _ in range(_TRIES):
            text = self._fitted(self._maker(making.speaker), making.speaker)
            if text not in said:
                break
        else:
            text = self._fitted(f"{text} {len(said) + 1}", making.speaker)
        said.add(text)
        return text

    def _fitted(self, text: str, speaker: Speaker) -> str:
        while len(text) < self._low:
            text = f"{text} {speaker.sentence()}" if text else speaker.sentence()
        if self._high is not None and len(text) > self._high:
            text = text[: self._high].rstrip()
            text += "x" * (self._low - len(text))
        return text


class Written(Node):
    """Text with a form: a format or a pattern. `fits` throws again what is too long or short."""

    def __init__(
        self, maker: Callable[[Dice], str | None], fits: Callable[[str], bool], spare: Node
    ) -> None:
        self._maker = maker
        self._fits = fits
        self._spare = spare
        self.height = self.measure()

    @classmethod
    def pattern(cls, pattern: Pattern, spare: Node) -> Written:
        """Text that matches a pattern, or free text where none can be found."""
        return cls(pattern.make, pattern.fits, spare)

    def measure(self) -> int:
        return self._spare.height

    def make(self, making: Making, room: int) -> Any:
        for _ in range(_TRIES):
            text = self._maker(making.dice)
            if text is not None and self._fits(text):
                return text
        return self._spare.make(making, room)


def asked_number(wish: Wish, name: str, outermost: bool) -> int:
    """How many items of a list the prompt asks for; 0 when it does not say."""
    if not wish.counts:
        return 0
    thing = singular(name.rpartition(".")[2].rpartition("_")[2].lower())
    if thing in wish.counts:
        return wish.counts[thing]
    return wish.items if outermost else 0
