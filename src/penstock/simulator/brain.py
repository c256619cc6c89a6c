"""The simulated model: a Question in, the same Reply every time.

An answer is drawn from dice seeded by all that was asked (not by how long the answer may be, so
a cut answer is the beginning of the whole one). Nothing is learnt, nothing is looked up, and
nothing depends on the clock or the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from penstock.errors import RequestError
from penstock.simulator.api import Problem
from penstock.simulator.apis import DEFAULT
from penstock.simulator.asked import wish
from penstock.simulator.counting import FILE_TOKENS, IMAGE_TOKENS, MESSAGE_TOKENS, count, cut
from penstock.simulator.dice import Dice, seed_of
from penstock.simulator.prompted import json_wanted
from penstock.simulator.question import Question, Reply
from penstock.simulator.schema import compiled, encode
from penstock.simulator.scripts import REFUSAL, SCRIPTS
from penstock.simulator.spoil import spoil
from penstock.simulator.text import speak
from penstock.simulator.tools import chosen_tool, tool_call

__all__ = ["answer", "reply_to", "spoiled"]

CACHE_FROM = 1024
CACHE_STEP = 128
_REASONING = {"minimal": 16, "low": 64, "medium": 192, "high": 512, "xhigh": 1024, "max": 2048}
_REASONING_STEP = 16


def answer(body: Mapping[str, Any], sample: int = 0) -> Reply:
    """Answer an OpenAI chat completions body, without a server. Of `n` choices, the first."""
    try:
        asked = DEFAULT.read(body, "", sample)
    except Problem as problem:
        raise RequestError(problem.message) from None
    return reply_to(asked.questions[0])


def reply_to(question: Question) -> Reply:
    """Answer a question."""
    dice = Dice(_seed(question))
    script = SCRIPTS.get(question.model)
    if script is not None:
        if script.refuses:
            return _refused(question)
        if script.text is not None:
            return _finished(question, dice, script.text(question))
        if script.spoils and _uncorrected(question):
            return spoiled(question)
    tool = chosen_tool(question, dice)
    if tool is not None:
        asked = wish(question.system, question.last_user)
        return _finished(question, dice, "", [tool_call(tool, asked, dice)])
    return _finished(question, dice, _text(question, dice))


def spoiled(question: Question) -> Reply:
    """An answer that does not fit the question's schema, as a weak model might give it."""
    dice = Dice(_seed(question))
    schema = _wanted(question)
    if schema is None:
        return _finished(question, dice, _text(question, dice))
    right = compiled(schema).make(wish(question.system, question.last_user), dice)
    return _finished(question, dice, spoil(schema, right, dice))


def _seed(question: Question) -> int:
    parts: list[str | bytes] = [question.model, f"{question.sample}:{question.draw}"]
    for turn in question.turns:
        parts += turn
    if question.media:
        parts.append(question.media)
    if question.schema is not None:
        parts.append(orjson.dumps(question.schema))
    if question.tools:
        parts += [part for tool in question.tools for part in (tool.name, tool.description)]
        parts.append(question.tool_choice)
    if question.seed is not None:
        parts.append(f"seed {question.seed}")
    return seed_of(*parts)


def _wanted(question: Question) -> Any:
    """The schema the answer must fit: given apart, or written into the prompt."""
    if question.schema is not None and question.schema is not True:
        return question.schema
    return json_wanted(question)


def _text(question: Question, dice: Dice) -> str:
    asked = wish(question.system, question.last_user)
    schema = _wanted(question)
    if schema is None:
        return speak(asked, dice)
    return encode(compiled(schema).make(asked, dice))


def _uncorrected(question: Question) -> bool:
    users = sum(turn.role == "user" for turn in question.turns)
    return question.sample == 0 and users <= 1


def _prompt_tokens(question: Question) -> int:
    tokens = 3 + question.images * IMAGE_TOKENS + question.files * FILE_TOKENS
    for turn in question.turns:
        tokens += count(turn.text) + MESSAGE_TOKENS
    if question.schema is not None and question.schema is not True:
        tokens += len(orjson.dumps(question.schema)) >> 2
    for tool in question.tools:
        tokens += count(tool.name) + count(tool.description) + MESSAGE_TOKENS
        tokens += len(orjson.dumps(tool.parameters)) >> 2
    return tokens


def _cached(question: Question) -> int:
    """What a prompt cache would hold: a long system text, in whole steps."""
    tokens = count(question.system)
    return tokens - tokens % CACHE_STEP if tokens >= CACHE_FROM else 0


def _refused(question: Question) -> Reply:
    return Reply(
        text="",
        refusal=REFUSAL,
        prompt_tokens=_prompt_tokens(question),
        completion_tokens=count(REFUSAL),
        cached_tokens=_cached(question),
    )


def _finished(
    question: Question, dice: Dice, text: str, calls: list[dict[str, Any]] | None = None
) -> Reply:
    """Apply stop strings and the token limit, and count."""
    stopped = None
    for stop in filter(None, question.stop):
        text, found, _ = text.partition(stop)
        stopped = stop if found else stopped
    reasoning = 0
    if question.reasoning:
        base = _REASONING.get(question.reasoning, _REASONING["medium"])
        reasoning = base + dice.below(base // _REASONING_STEP) * _REASONING_STEP
    spoken = (
        count(text) if not calls else sum(count(call["function"]["arguments"]) for call in calls)
    )
    finish = "tool_calls" if calls else "stop"
    most = question.max_tokens
    if most is not None and reasoning + spoken > most:
        reasoning = min(reasoning, most)
        text, spoken, finish, calls = cut(text, most - reasoning), most - reasoning, "length", None
        stopped = None
    return Reply(
        text=text,
        finish=finish,
        stopped=stopped,
        tool_calls=calls or [],
        prompt_tokens=_prompt_tokens(question),
        completion_tokens=reasoning + spoken,
        cached_tokens=_cached(question),
        reasoning_tokens=reasoning,
    )
