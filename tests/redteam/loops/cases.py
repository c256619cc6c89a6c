"""Every loop with small parameters, and the levels of questions that it then has."""

from __future__ import annotations

from typing import NamedTuple

from penstock.redteam.attacks.loops.best_of_n import BestOfN
from penstock.redteam.attacks.loops.crescendo import Crescendo
from penstock.redteam.attacks.loops.goat import Goat
from penstock.redteam.attacks.loops.insist import Insist
from penstock.redteam.attacks.loops.pair import Pair
from penstock.redteam.attacks.loops.pap import Pap
from penstock.redteam.attacks.loops.past_tense import PastTense
from penstock.redteam.attacks.loops.questions import MaliciousQuestionGenerator
from penstock.redteam.attacks.loops.sentences import SgSentenceGenerator, ToxicSentenceGenerator
from penstock.redteam.attacks.loops.tap import Tap
from penstock.redteam.attacks.loops.violent_durian import ViolentDurian
from penstock.redteam.driver import Driver


class Case(NamedTuple):
    """A loop, and how many questions each of its levels puts to a target that never gives in."""

    loop: Driver
    levels: tuple[int, ...]
    batches: tuple[int, ...]
    """In the batch lane: how many questions each pass leaves behind, the attacker's among them."""

    @property
    def bound(self) -> int:
        return sum(self.levels)

    def asked_by(self, turn: int) -> int:
        """How many questions there are when the level with that turn is done."""
        total = 0
        for level in self.levels:
            total += level
            if total >= turn:
                return total
        raise AssertionError(f"there is no turn {turn}")


CASES = {
    case.loop.name: case
    for case in (
        Case(Pair(streams=2, iterations=3), (2, 2, 2), (2, 2, 2, 2, 2, 2)),
        Case(
            Tap(branching=2, width=3, depth=3),
            (2, 4, 6),
            (2, 2, 2, 4, 4, 4, 6, 6, 6),
        ),
        Case(Crescendo(rounds=3, backtracks=2), (1,) * 5, (1,) * 10),
        Case(Goat(rounds=4), (1,) * 4, (1,) * 8),
        Case(Pap(at_once=2), (2, 2, 1), (2, 2, 2, 2, 1, 1)),
        Case(PastTense(attempts=5, at_once=3), (3, 2), (3, 3, 2, 2)),
        Case(BestOfN(attempts=7, at_once=3), (3, 3, 1), (3, 3, 1)),
        Case(ViolentDurian(), (1,) * 10, (1,) * 20),
        Case(MaliciousQuestionGenerator(), (5, 5), (1, 5, 5)),
        Case(ToxicSentenceGenerator(at_once=10), (10, 10, 10), (3, 10, 10, 10)),
        Case(SgSentenceGenerator(), (5,), (1, 5)),
        Case(Insist(rounds=4), (1,) * 4, (1,) * 4),
    )
}
NAMES = sorted(CASES)
WITH_ATTACKER = [name for name in NAMES if "attacker" in CASES[name].loop.needs]
