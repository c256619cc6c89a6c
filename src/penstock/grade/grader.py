"""One row graded: its text in the rubric's prompt, every grader asked, their marks as one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside
from penstock.engine.structured import ask_structured
from penstock.grade.marking import How, Mark, combine, read
from penstock.grade.prompt import messages
from penstock.grade.rubric import Rubric
from penstock.outcome import Failure, FailureKind
from penstock.request import Request, merged_params
from penstock.schema import InvalidAnswerError
from penstock.tokens import count_request

__all__ = ["Graded", "Grader"]


class Graded(msgspec.Struct, frozen=True, gc=False):
    """What became of a row."""

    mark: Mark | None
    status: str
    """ok, failed or empty."""
    failure: Failure | None = None
    marks: tuple[Mark | None, ...] = ()
    """Each grader's, where there are several."""


_EMPTY = Graded(None, "empty")


@dataclass(frozen=True)
class Grader:
    """Grades rows by a rubric."""

    rubric: Rubric
    endpoints: tuple[Endpoint, ...]
    draws: int
    how: How
    params: Mapping[str, Any]
    reasks: int

    @cached_property
    def _asked(self) -> list[tuple[Endpoint, dict[str, Any], int]]:
        """Every grader: whom it asks, how, and which of its opinions."""
        return [
            (endpoint, merged_params(endpoint.params, self.params), draw)
            for endpoint in self.endpoints
            for draw in range(self.draws)
        ]

    @property
    def count(self) -> int:
        return len(self._asked)

    def requests(self, text: str | None) -> list[Request]:
        """The questions about a text; none where there is none."""
        if text is None:
            return []
        said = messages(self.rubric, text)
        schema = self.rubric.answer_schema
        return [
            Request(endpoint, said, params, schema, None, draw)
            for endpoint, params, draw in self._asked
        ]

    def tokens(self, text: str | None) -> int:
        """What the questions about a text take; the one count for splits, limits and estimates."""
        return sum(
            count_request(r.messages, r.endpoint.model, self.rubric.answer_schema.schema, None)
            for r in self.requests(text)
        )

    async def grade(self, engine: Engine, text: str | None) -> Graded:
        """Ask every grader. Raises SetAside where an answer lies in a batch."""
        requests = self.requests(text)
        if not requests:
            return _EMPTY
        if len(requests) == 1:
            found: list[Mark | Failure] = [await self._mark(engine, requests[0])]
        else:
            found = await self._all(engine, requests)
        marks = [mark for mark in found if isinstance(mark, Mark)]
        failures = [failure for failure in found if isinstance(failure, Failure)]
        undecided = next((f for f in failures if f.kind.undecided), None)
        if undecided is not None or not marks:
            # An endpoint that serves nobody is the reason only where no other was at work.
            served = next((f for f in failures if not f.kind.stops), failures[0])
            return Graded(None, "failed", undecided or served)
        several = tuple(m if isinstance(m, Mark) else None for m in found)
        failure = None
        if failures:
            why = f"{len(failures)} of {len(found)} graders failed: {failures[0].message}"
            failure = Failure(failures[0].kind, why, failures[0].attempts)
        kept = several if len(found) > 1 else ()
        return Graded(combine(self.rubric, marks, self.how), "ok", failure, kept)

    async def _all(self, engine: Engine, requests: list[Request]) -> list[Mark | Failure]:
        """Side by side; all of them go into a batch before the row is set aside."""

        async def one(request: Request) -> Mark | Failure | None:
            try:
                return await self._mark(engine, request)
            except SetAside:
                return None

        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(one(request)) for request in requests]
        found = [task.result() for task in asked]
        if None in found:
            raise SetAside
        return [each for each in found if each is not None]

    async def _mark(self, engine: Engine, request: Request) -> Mark | Failure:
        found = await ask_structured(engine, request, reasks=self.reasks)
        if isinstance(found, Failure):
            return found
        if found.answer.refused:
            said = found.answer.text[:300] or found.answer.finish
            return Failure(FailureKind.INVALID_ANSWER, f"the grader refused: {said}")
        try:
            return read(self.rubric, found.value)
        except InvalidAnswerError as error:
            return Failure(FailureKind.INVALID_ANSWER, error.message)
