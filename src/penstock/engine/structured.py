"""Structured answers: asked, recorded, then validated, and asked again when they do not fit.

Validation comes after recording and happens every time an answer is read; it is never recorded
itself, so a better validator costs no new request. A re-ask is an ordinary Request with the bad
answer and the error in its messages, and so has a key and a record of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from penstock.engine.engine import Engine
from penstock.engine.users import Raised
from penstock.errors import RequestError
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers.provider import OnText
from penstock.request import Request
from penstock.schema import InvalidAnswerError

__all__ = ["Structured", "ask_structured"]

_LONGEST_QUOTE = 20_000


class Structured(NamedTuple):
    """An answer, and the value that was read from its text."""

    answer: Answer
    value: Any


async def ask_structured(
    engine: Engine, request: Request, *, reasks: int = 2, on_text: OnText | None = None
) -> Structured | Failure:
    """Ask for an answer that fits the request's schema, a bounded number of times."""
    if request.schema is None:
        raise RequestError("a structured question needs a schema")
    attempts = 0
    while True:
        outcome = await engine.ask(request, on_text=on_text)
        if isinstance(outcome, Failure):
            return outcome
        attempts += outcome.attempts
        if outcome.refused:
            return Structured(outcome, None)
        if outcome.finish is Finish.LENGTH:
            return Failure(
                FailureKind.TRUNCATED,
                f"the answer was cut off after {outcome.usage.output_tokens} tokens; "
                "give a larger max_tokens",
                attempts,
            )
        # Off the engine's loop: a validator may be the user's own code.
        [read] = await engine.station.users.call(request.schema.read, [(outcome.text,)])
        if not isinstance(read, Raised):
            return Structured(outcome, read)
        problem = str(read.error) or type(read.error).__name__
        if not reasks:
            return Failure(FailureKind.INVALID_ANSWER, problem, attempts)
        reasks -= 1
        request = corrected(request, outcome.text, problem, ours=read.error)


def corrected(request: Request, text: str, problem: str, ours: BaseException) -> Request:
    """The same question again, with the answer that did not fit and why."""
    kind = "does not fit the schema" if isinstance(ours, InvalidAnswerError) else "is refused"
    correction = f"That answer {kind}: {problem}\nAnswer again, with corrected JSON only."
    messages = [
        *request.messages,
        {"role": "assistant", "content": text[:_LONGEST_QUOTE]},
        {"role": "user", "content": correction},
    ]
    return msgspec.structs.replace(request, messages=messages, _key=None)
