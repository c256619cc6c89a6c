"""Conversations to open: each turn as it was written, as it was sent, answered and judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.redteam.conversation import Conversation, Fate
from penstock.redteam.report.choice import Place
from penstock.redteam.report.marks import block, heading, label, opened, said
from penstock.redteam.report.survey import Survey
from penstock.redteam.report.unseen import in_one_line, shown
from penstock.redteam.report.words import FATES, TONES
from penstock.redteam.results import Campaign
from penstock.redteam.turn import Turn, TurnStatus, Verdict
from penstock.reports import Markup, badge, number, preformatted
from penstock.reports.parts import Tone
from penstock.reports.text import joined
from penstock.reports.words import counted, span

__all__ = ["to_open"]

_FIRST, _LAST = 4, 6
"""Of a long conversation the turns that are shown."""
_ROOM = 20_000
"""Letters of a conversation's prompts, and as many of its answers."""
_LONGEST, _SHORTEST = 4_000, 1_200
_LONGEST_REASON = 1_500
_WIDEST = 160


def to_open(campaign: Campaign, survey: Survey) -> Iterator[Markup | str]:
    """The chosen ones by endpoint, and a word on those that are not here."""
    yield _how_many(survey)
    yield preformatted(f"penstock redteam results export {campaign.id} -o turns.jsonl")
    for endpoint, places in survey.chosen.items():
        reached = sum(survey.reached.get(endpoint, {}).values())
        note = f"{len(places):,} of {survey.spent[endpoint].conversations:,} shown, "
        yield heading(endpoint, f"{note}{_successes(reached)}")
        # One at a time: of what is read only what is shown stays.
        yield block("talks", *(_talk(campaign, place) for place in places))


def _how_many(survey: Survey) -> str:
    chosen, every = sum(map(len, survey.chosen.values())), survey.conversations
    if not every:
        return "There are no conversations. Their turns would be written to a file by:"
    if not chosen:
        return f"None of the {every:,} conversations is shown here. To have all turns in a file:"
    if chosen == every:
        return f"All {counted(every, 'conversation')}, to open. To have all turns in a file:"
    return (
        f"{chosen:,} of {every:,} conversations are here: of each endpoint first those that "
        "succeeded, in turns by attack, the short ones and those that the judge valued most before "
        "others; then near misses. To have all turns in a file:"
    )


def _talk(campaign: Campaign, place: Place) -> Markup:
    conversation = Conversation.of_row(campaign.conversations[place.row])
    line = joined(
        badge(FATES[conversation.fate], TONES[conversation.fate]),
        said("asked", in_one_line(conversation.goal, _WIDEST)),
        said("how", _how(conversation)),
    )
    numbers = _shown_turns(place)
    turns = [Turn.of_row(campaign.turns[place.first_turn + at]) for at in numbers]
    parts = [_head(conversation), *_system(turns)]
    before = -1
    for at, turn in zip(numbers, turns, strict=True):
        if at > before + 1:
            parts.append(label(f"… {counted(at - before - 1, 'turn')} left out"))
        parts.append(_turn(turn, max(_SHORTEST, min(_LONGEST, _ROOM // len(turns)))))
        before = at
    if conversation.error:
        parts += [label("why it was not decided"), shown(conversation.error, _LONGEST_REASON)]
    return opened(line, *parts)


def _shown_turns(place: Place) -> list[int]:
    if place.turns <= _FIRST + _LAST:
        return list(range(place.turns))
    return [*range(_FIRST), *range(place.turns - _LAST, place.turns)]


def _how(conversation: Conversation) -> str:
    where = in_one_line(conversation.attack, 60)
    if conversation.fate is Fate.SUCCEEDED and conversation.success_turn is not None:
        return f"{where} · turn {conversation.success_turn:,}"
    return f"{where} · {counted(conversation.turns, 'turn')}"


def _head(conversation: Conversation) -> Markup:
    facts = [
        f"objective {conversation.objective}",
        conversation.category,
        f"judge {conversation.judge}" if conversation.judge else "",
        "" if conversation.best is None else f"highest value {number(conversation.best)}",
        f"{conversation.input_tokens:,} tokens in, {conversation.output_tokens:,} out",
    ]
    told = " · ".join(in_one_line(fact, 200) for fact in facts if fact)
    return joined(label("goal"), shown(conversation.goal, _SHORTEST), block("facts", label(told)))


def _system(turns: Sequence[Turn]) -> list[Markup]:
    system = turns[0].setup.system_prompt if turns else ""
    if not system:
        return []
    return [block("system", label("system prompt"), shown(system, _SHORTEST))]


def _turn(turn: Turn, most: int) -> Markup:
    parts = [label(_facts(turn), _verdict_badge(turn))]
    same = turn.prepared == turn.prompt
    parts.append(block("user", label("sent, as it was written" if same else "as it was written"),
                       shown(turn.prompt, most)))  # fmt: skip
    if not same:
        parts.append(block("user sent", label("as it was sent"), shown(turn.prepared, most)))
    parts.append(block("answer", *_answer(turn, most)))
    if turn.verdict is not None:
        parts += _reasons(turn.verdict)
    return block("turn", *parts)


def _facts(turn: Turn) -> str:
    told = [
        f"turn {turn.number:,}",
        f"{counted(turn.context, 'earlier message')} went along" if turn.context else "",
        "" if turn.latency is None else span(turn.latency),
        "found recorded" if turn.recorded else "",
    ]
    return " · ".join(part for part in told if part)


def _verdict_badge(turn: Turn) -> Markup:
    if turn.status is TurnStatus.FAILED:
        return badge(in_one_line(turn.failure.replace("_", " ") or "failed", 40), "warn")
    verdict = turn.verdict
    if verdict is None or verdict.success is None:
        return badge("not judged", "warn")
    tone: Tone = "bad" if verdict.success else "good"
    value = "" if verdict.value is None else f" {number(verdict.value)}"
    return badge(f"{'success' if verdict.success else 'no success'}{value}", tone)


def _answer(turn: Turn, most: int) -> list[Markup]:
    if turn.status is TurnStatus.FAILED:
        return [label("no answer"), shown(turn.error or turn.failure, _LONGEST_REASON)]
    refused = turn.status is TurnStatus.REFUSED
    name = "answer, which the provider calls a refusal" if refused else "answer"
    if not turn.text.strip():
        return [label(f"{name}: nothing was said")]
    return [label(name), shown(turn.text, most)]


def _reasons(verdict: Verdict) -> list[Markup]:
    told = []
    if verdict.extracted:
        told.append(label(f"{verdict.judge} read"))
        told.append(shown(verdict.extracted, _LONGEST_REASON))
    if verdict.reason:
        told += [label(f"{verdict.judge} says"), shown(verdict.reason, _LONGEST_REASON)]
    return [block("verdict", *told)] if told else []


def _successes(count: int) -> str:
    return "1 success" if count == 1 else f"{count:,} successes"
