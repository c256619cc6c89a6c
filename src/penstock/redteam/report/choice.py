"""Which conversations are shown: those that tell most, of every endpoint and every attack.

Of each endpoint the successes come first, in turns by attack, so that one attack that always works
does not hide the others; among them short ones before long ones, then those that the judge gave the
highest value. What room is left goes to near misses, and at last to what was not decided.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from penstock.redteam.conversation import Conversation, Fate

__all__ = ["Choice", "Place"]

_SHARES = 3
"""What part of the room is dealt out evenly: one in so many."""
_RANKS = {Fate.SUCCEEDED: 0, Fate.RESISTED: 1, Fate.ERROR: 2, Fate.NO_ANSWER: 3}


class Place(NamedTuple):
    """Where a conversation and its turns lie."""

    row: int
    first_turn: int
    turns: int


class Choice:
    """Sees every conversation once and keeps the few best of each endpoint and attack."""

    def __init__(self, most: int) -> None:
        self._most = most
        # The worst of a heap lies on top: everything in it is turned round.
        self._heaps: dict[str, dict[str, list[tuple[float, ...]]]] = {}

    def add(self, conversation: Conversation, place: Place) -> None:
        if not self._most:
            return
        value = conversation.best if conversation.best is not None else -1.0
        length = conversation.success_turn or conversation.turns
        worth = (_RANKS[conversation.fate], length, -value, *place)
        turned = tuple(-each for each in worth)
        attacks = self._heaps.setdefault(conversation.endpoint, {})
        heap = attacks.setdefault(conversation.attack, [])
        if len(heap) < self._most:
            heapq.heappush(heap, turned)
        else:
            heapq.heappushpop(heap, turned)

    def places(self) -> dict[str, list[Place]]:
        """By endpoint, the most telling first.

        Each endpoint has a share of its own, whatever there is to show; then come successes.
        """
        found = {name: _in_turns(attacks) for name, attacks in self._heaps.items()}
        own = max(1, self._most // (_SHARES * max(1, len(found))))
        dealt = _Deal(found, self._most)
        dealt.round(lambda taken, _: taken < own)
        dealt.round(lambda _, each: each.rank == 0)
        dealt.round(lambda *_: True)
        return {
            name: [each.place for each in found[name][:many]]
            for name, many in dealt.taken.items()
            if many
        }


class _Ordered(NamedTuple):
    order: tuple[float, ...]
    rank: float
    place: Place


class _Deal:
    """The room, given to the endpoints in turns."""

    def __init__(self, found: Mapping[str, Sequence[_Ordered]], room: int) -> None:
        self.taken = dict.fromkeys(found, 0)
        self._found = found
        self._room = room

    def round(self, wanted: Callable[[int, _Ordered], bool]) -> None:
        """One each, again and again, as long as the next of somebody is wanted."""
        given = True
        while given:
            given = False
            for name, ordered in self._found.items():
                taken = self.taken[name]
                if self._room and taken < len(ordered) and wanted(taken, ordered[taken]):
                    self.taken[name] += 1
                    self._room -= 1
                    given = True


def _in_turns(attacks: dict[str, list[tuple[float, ...]]]) -> list[_Ordered]:
    """Every attack's best before any attack's second, and every success before what is none."""
    made = []
    for heap in attacks.values():
        best = sorted(tuple(-each for each in turned) for turned in heap)
        for turn, (rank, length, value, *place) in enumerate(best):
            row, first, turns = map(int, place)
            # Only successes wait for each other: of near misses the nearest come first.
            order = (rank, turn, length, value) if rank == 0 else (rank, value, length, turn)
            made.append(_Ordered((*order, row), rank, Place(row, first, turns)))
    return sorted(made)
