"""The way of every turn, manual or automated:

    strategy -> attack -> template -> system prompt -> ask -> metric -> record

It is the engine's, so that no attack can leave out a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside
from penstock.errors import PenstockError
from penstock.messages import Message
from penstock.metrics import Sample
from penstock.metrics.resources import facts_of
from penstock.metrics.score import ScoreStatus
from penstock.outcome import Answer, Failure, FailureKind, Outcome
from penstock.providers.provider import OnText
from penstock.redteam.judging import Judge
from penstock.redteam.objective import Objective
from penstock.redteam.strategies import NoContext, Strategy
from penstock.redteam.turn import Setup, Turn, Verdict
from penstock.request import Request, merged_params
from penstock.templates import JinjaTemplate

__all__ = ["Lineup", "Prompt", "take_turn"]


@dataclass(frozen=True)
class Lineup:
    """What is applied to every turn with one endpoint."""

    endpoint: Endpoint
    label: str
    setup: Setup = field(default_factory=Setup)
    """How it is written down."""
    strategy: Strategy = field(default_factory=NoContext)
    template: JinjaTemplate | None = None
    judge: Judge | None = None
    summariser: Endpoint | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Prompt:
    """What is to be said now."""

    written: str
    """By the person, or the attacker."""
    attacked: str | None = None
    """After the attack; None: as it was written."""
    before: tuple[Message, ...] = ()
    """The conversation that it goes on with."""
    number: int = 1
    conversation: str = ""
    draw: int = 0
    """Which of several answers to the same question."""


async def take_turn(
    engine: Engine,
    lineup: Lineup,
    prompt: Prompt,
    *,
    history: Sequence[Turn] = (),
    objective: Objective | None = None,
    on_text: OnText | None = None,
) -> Turn:
    """One turn. Never raises for what a model did; SetAside where an answer lies in a batch."""
    said = prompt.written if prompt.attacked is None else prompt.attacked
    system = lineup.setup.system_prompt
    known: dict[str, Any] = {
        "number": prompt.number,
        "conversation": prompt.conversation,
        "endpoint": lineup.label,
        "prompt": prompt.written,
        "setup": lineup.setup,
    }
    try:
        found = await lineup.strategy.context(engine, history, lineup.summariser)
        prepared = f"{found.text}\n{said}" if found.text else said
        if lineup.template is not None:
            prepared = lineup.template.fill({"prompt": prepared})
        before = (*found.messages, *prompt.before)
        messages = [
            *([Message(role="system", content=system)] if system else []),
            *before,
            Message(role="user", content=prepared),
        ]
        params = merged_params(lineup.endpoint.params, lineup.params)
        request = Request(lineup.endpoint, messages, params, None, None, prompt.draw)
        _ = request.key  # half a character, say, cannot be asked about
    except PenstockError as error:
        failure = Failure(FailureKind.INPUT, error.message)
        return Turn.of(failure, prepared=said, **known)
    outcome = await engine.ask(request, on_text=on_text)
    verdict = await _verdict(engine, lineup.judge, objective, prompt, outcome)
    return Turn.of(outcome, prepared=prepared, context=len(before), verdict=verdict, **known)


async def _verdict(
    engine: Engine,
    judge: Judge | None,
    objective: Objective | None,
    prompt: Prompt,
    outcome: Outcome,
) -> Verdict | None:
    if judge is None or not isinstance(outcome, Answer):
        return None
    asked = objective or Objective.model_validate({"goal": prompt.written or "(empty)"})
    sample = Sample(
        outcome.text, None, prompt.written, refused=outcome.refused, facts=facts_of(outcome)
    )
    try:
        return await judge.verdict(engine, asked, sample)
    except SetAside:
        raise
    except PenstockError as error:
        return Verdict(status=ScoreStatus.ERROR, reason=error.message, judge=judge.name)
