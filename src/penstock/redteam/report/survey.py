"""What the report needs of conversations and turns, found in one pass that never holds them.

Prompts and answers are not even read here: only those of the few conversations that are shown are,
one by one, when their turn comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from penstock.redteam.conversation import Conversation, Fate
from penstock.redteam.report.choice import Choice, Place
from penstock.redteam.results import Campaign
from penstock.reports.words import Trouble
from penstock.tables import Table

__all__ = ["Spent", "Survey", "Trouble", "survey"]

_MOST_KINDS = 40
_LONGEST_KIND = 60


@dataclass
class Spent:
    """What the conversations with an endpoint took."""

    conversations: int = 0
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    """Conversations whose cost is not known."""

    def add(self, conversation: Conversation) -> None:
        self.conversations += 1
        self.turns += conversation.turns
        self.input_tokens += conversation.input_tokens
        self.output_tokens += conversation.output_tokens
        if conversation.cost is None:
            self.unpriced += 1
        else:
            self.cost += Decimal(conversation.cost)


@dataclass(frozen=True)
class Survey:
    """What a pass over everything found."""

    fates: Counter[Fate]
    judges: Counter[str]
    """By whom conversations were told, and how many."""
    reached: dict[str, Counter[int]]
    """By endpoint: how many succeeded at which turn."""
    decided: Counter[str]
    """By endpoint."""
    spent: dict[str, Spent]
    undecided: tuple[Trouble, ...]
    """Conversations without a verdict, by kind, the most frequent first."""
    failures: tuple[Trouble, ...]
    """Turns that failed, by kind."""
    chosen: dict[str, list[Place]]
    """The conversations to show, by endpoint."""

    @property
    def conversations(self) -> int:
        return sum(self.fates.values())


def survey(campaign: Campaign, *, most: int) -> Survey:
    """Look at all conversations and turns, once."""
    fates: Counter[Fate] = Counter()
    judges: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    reached: dict[str, Counter[int]] = {}
    spent: dict[str, Spent] = {}
    undecided, choice, at = _Troubles(), Choice(most), 0
    for row, each in enumerate(campaign):
        fates[each.fate] += 1
        judges[each.judge] += 1
        decided[each.endpoint] += each.decided
        if each.success_turn is not None:
            reached.setdefault(each.endpoint, Counter())[each.success_turn] += 1
        spent.setdefault(each.endpoint, Spent()).add(each)
        if not each.decided:
            undecided.add(_kind(each), each.endpoint, each.error)
        choice.add(each, Place(row, at, each.turns))
        at += each.turns
    return Survey(
        fates=fates,
        judges=judges,
        reached=reached,
        decided=decided,
        spent=spent,
        undecided=undecided.sorted(),
        failures=_failures(campaign.turns),
        chosen=choice.places(),
    )


def _kind(conversation: Conversation) -> str:
    """In a few words; what comes after the first colon differs from case to case."""
    if conversation.fate is Fate.NO_ANSWER:
        return "no answer"
    return conversation.error.partition(":")[0].strip()[:_LONGEST_KIND] or "error"


def _failures(turns: Table) -> tuple[Trouble, ...]:
    found = _Troubles()
    for endpoint, failure, error in _failed(turns):
        found.add(failure.replace("_", " "), endpoint, error)
    return found.sorted()


def _failed(turns: Table) -> Iterator[tuple[str, str, str]]:
    from penstock.tables.columns import rows_of

    names = ("endpoint", "failure", "error")
    if not set(names) <= set(turns.column_names):
        return  # nothing was asked
    for batch in turns.batches():
        for row in rows_of(batch.select(list(names))):
            if row["failure"]:
                yield row["endpoint"], row["failure"], row["error"] or ""


class _Troubles:
    """Troubles by kind; those of ever more kinds stand together."""

    def __init__(self) -> None:
        self._found: dict[str, Trouble] = {}

    def add(self, kind: str, endpoint: str, message: str) -> None:
        if kind not in self._found and len(self._found) >= _MOST_KINDS:
            kind = "others"
        self._found.setdefault(kind, Trouble(kind)).add(endpoint, message)

    def sorted(self) -> tuple[Trouble, ...]:
        return tuple(sorted(self._found.values(), key=lambda each: -each.count))
