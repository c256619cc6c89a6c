"""All questions to one endpoint, at its own speed; several of them run side by side.

The questions are made in the user thread, by the block, and the journal is looked into for a whole
block at once: a recorded run costs little more than reading it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from itertools import islice
from typing import Any

from penstock.bench.asking import Asked, Asker, Ready
from penstock.bench.plan import Plan, Question
from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.rows import Block, current_row, waiting
from penstock.outcome import Failure
from penstock.request import Request

__all__ = ["Flow"]

_BLOCK = 256


class Flow:
    """`number` of a question is its place in the plan times the endpoints, and this one's place."""

    def __init__(
        self,
        plan: Plan,
        endpoint: Endpoint,
        place: int,
        engine: Engine,
        noted: Callable[[int, bytes], None],
    ) -> None:
        self._plan = plan
        self._endpoint = endpoint
        self._place = place
        self._engine = engine
        self._noted = noted
        self._asker = Asker(plan, endpoint)

    async def results(self) -> AsyncIterator[tuple[int, Asked | Failure]]:
        """What became of each, as it comes; a bare Failure says that it lies in a batch."""
        source = self._looked_up() if self._engine.lane is None else _All(self)
        rows: Any = self._engine.map(source, self._ask, window=self._window())
        async with aclosing(rows) as results:
            async for _, ready, result in results:
                number = self._number(ready.question)
                if isinstance(result, Failure) and not waiting(result):
                    yield number, Asked(ready.question, result, {})
                else:
                    yield number, result

    async def _ask(self, ready: Ready) -> Asked:
        number = self._number(ready.question)
        current_row.set(number)
        return await self._asker.ask(self._engine, ready, lambda key: self._noted(number, key))

    async def _looked_up(self) -> AsyncIterator[Block[Ready]]:
        """The questions, with the answers that are there already."""
        engine, questions = self._engine, iter(self._plan)

        async def block() -> list[Ready]:
            return [self._asker.ready(each) for each in islice(questions, _BLOCK)]

        while made := await engine.station.users.run(block):
            requests = [each.request for each in made if isinstance(each.request, Request)]
            found = iter(await engine.recall(requests))
            yield Block(
                each.with_answer(next(found)) if isinstance(each.request, Request) else each
                for each in made
            )
            if engine.stop.thrown:  # where all is recorded, nothing else asks
                return

    def ready(self) -> Iterator[Ready]:
        """All of them, without a look into the journal."""
        return map(self._asker.ready, self._plan)

    def _number(self, question: Question) -> int:
        return question.place * len(self._plan.endpoints) + self._place

    def _window(self) -> int:
        """Rows in hand: enough for the endpoint, and for the judges that are asked after it."""
        asked = (self._endpoint, *self._plan.judges.values())
        return max(64, sum(self._engine.station.window(each) for each in asked))


class _All:
    """The questions of a flow, to be read as often as it takes."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def __iter__(self) -> Iterator[Ready]:
        return self._flow.ready()
