"""What the attacker's model is shown: the objective, and what was said so far.

All of it is data, between tags that no text can forge, and cut where it is long: what a reply says
to the attacker stays within the reply, and a huge one costs no more than a long one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from penstock.metrics.refusal import refusal_in
from penstock.redteam.objective import Objective
from penstock.redteam.turn import Turn, TurnStatus
from penstock.templates.tagged import code_of, tagged

__all__ = ["Named", "cut", "declined", "history", "message", "notes", "objective_of"]

Named: TypeAlias = tuple[str, str]
"""A text, and the name that its tags have."""

LONGEST = 4_000
_LONGEST_GOAL = 8_000
_LONGEST_REASON = 500


def cut(text: str, longest: int = LONGEST) -> str:
    """A text of at most about that length: its beginning and its end."""
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest // 3
    gone = len(text) - head - tail
    return f"{text[:head]}\n[{gone:,} characters are left out here]\n{text[-tail:]}"


def objective_of(objective: Objective) -> list[Named]:
    """What is to be reached. Of its system prompt and its secret the attacker learns nothing."""
    named = [("objective", cut(objective.goal, _LONGEST_GOAL))]
    if objective.criterion:
        named.append(("reached_when", cut(objective.criterion)))
    return named


def history(turns: Sequence[Turn], most: int) -> list[Named]:
    """The last turns, numbered from the first of all."""
    named: list[Named] = []
    for number, turn in _last(turns, most):
        named.append((f"prompt_{number}", cut(turn.prompt)))
        named.append((f"reply_{number}", cut(turn.text)))
        if turn.verdict is not None and turn.verdict.reason:
            named.append((f"judged_{number}", cut(turn.verdict.reason, _LONGEST_REASON)))
    return named


def notes(turns: Sequence[Turn], most: int) -> list[str]:
    """What we say of those turns ourselves, a line each."""
    return [f"Reply {number}: {_note(turn)}" for number, turn in _last(turns, most)]


def message(wanted: str, named: Iterable[Named], lines: Sequence[str] = ()) -> str:
    """The whole message: the code of the tags, the texts, the notes, and what is wanted."""
    texts = list(named)
    code = code_of(text for _, text in texts)
    parts = [f"The code of the tags is {code}."]
    parts += [tagged(name, text, code) for name, text in texts]
    if lines:
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, wanted])


def declined(turn: Turn) -> bool:
    """Whether the model would not: its provider says so, or its words do."""
    return turn.status is TurnStatus.REFUSED or refusal_in(turn.text) is not None


def _last(turns: Sequence[Turn], most: int) -> list[tuple[int, Turn]]:
    return list(enumerate(turns, 1))[-most:]


def _note(turn: Turn) -> str:
    if turn.answer is None:
        return "none came; the model could not be asked."
    said = "it declined" if declined(turn) else "it answered" if turn.text.strip() else "empty"
    value = None if turn.verdict is None else turn.verdict.value
    return f"{said}." if value is None else f"{said}; score {value:.2g} of 1."
