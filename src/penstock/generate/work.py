"""A Prompter at work: rows in, questions through the engine, rows out, in order.

Three stages run side by side. The user's source and prompt function run in the user thread, a
block of rows at a time; the engine asks; the user's parse function and the table's writer take
whatever has come back since they last looked, again in the user thread. Every stage is bounded,
so a million rows take no more memory than a thousand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from itertools import count
from typing import Any

import msgspec

from penstock.engine.batch import BatchLane
from penstock.engine.engine import Engine
from penstock.engine.outflow import OnRows
from penstock.engine.outlet import Outlet
from penstock.engine.passes import Marks
from penstock.engine.rows import Block, current_row, mapped, waiting
from penstock.engine.run import Run
from penstock.engine.structured import Structured, ask_structured
from penstock.engine.users import Raised, settle
from penstock.errors import InputError, PenstockError
from penstock.generate.functions import called
from penstock.generate.occurrences import Occurrences
from penstock.generate.plan import Plan
from penstock.outcome import Answer, Failure, FailureKind
from penstock.request import Request
from penstock.tables import RowSource, TableWriter

__all__ = ["Item", "Pipeline"]

_BLOCK = 256
_SLICE = 0.02  # a slow source or prompt function holds nobody up for a whole block
_NO_MORE: Any = object()
_UNFIT: Any = object()


class Item(msgspec.Struct, frozen=True, gc=False):
    """One question of one row, or why there is none."""

    row: Any
    request: Request | Failure
    number: int
    """The number of the row."""
    place: int
    """Its place in the table; several draws of a row follow each other."""


class Done(msgspec.Struct, frozen=True, gc=False):
    """What came of a question."""

    item: Item
    result: Any


class Finished(msgspec.Struct, frozen=True, gc=False):
    """What the last stage made of it."""

    item: Item
    rows: list[dict[str, Any]]
    failure: Failure | None


class Pipeline:
    """One run of a Prompter."""

    def __init__(
        self,
        engine: Engine,
        run: Run,
        plan: Plan,
        source: RowSource,
        on_rows: OnRows | None = None,
    ) -> None:
        self._engine = engine
        self._run = run
        self._plan = plan
        self._source = source
        self._on_rows = on_rows
        self._outlet = Outlet(engine.station.users, self._finish, self._finished_block)
        self._aside = 0
        self._done = Marks()
        self.left_waiting = 0
        """Questions that lie in batches for which nobody here waits."""
        self.answers = TableWriter(run.folder / "dataset.arrow")
        self.failures = TableWriter(run.folder / "failures.arrow")

    async def work(self) -> None:
        """Do it all; what a source raised comes out at the end."""
        trouble: Exception | None = None
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._outlet.serve())
            try:
                await self._ask_all()
            except Exception as error:  # what came before it is still to be written
                trouble = error
            finally:
                self._outlet.end()
        if trouble is not None:
            raise trouble

    async def _ask_all(self) -> None:
        """One pass over the rows; in the batch lane as many as it takes."""
        lane = self._engine.lane
        while True:
            self._aside = 0
            await self._ask_once()
            if not self._aside or self._engine.stop.thrown:
                return
            if lane is None:
                self.left_waiting = self._aside
                return
            await self._outlet.caught_up()
            if not await lane.attend():
                self.left_waiting = self._aside
                return

    async def _ask_once(self) -> None:
        window = self._engine.station.window(self._plan.endpoint)
        rows = mapped(self._engine, self._items(), self._ask, window)
        async with aclosing(rows) as results:  # type: ignore[type-var]
            async for _, item, result in results:
                self._finish_later(item, result)
                await self._outlet.make_room()

    def _finish_later(self, item: Item, result: Any) -> None:
        if waiting(result):
            self._aside += 1
            return
        self._outlet.put(Done(item, result))
        if self._engine.lane is not None:
            self._done.add(item.place)

    def abort(self) -> None:
        """Leave no half-written table."""
        self.answers.abort()
        self.failures.abort()

    # Rows to questions ------------------------------------------------------------------------

    async def _items(self) -> AsyncIterator[Block[Item]]:
        users = self._engine.station.users
        maker = _Maker(self._plan, iter(self._source))
        while True:
            items, error = await users.run(maker.block)
            if self._engine.lane is not None:
                items = [item for item in items if item.place not in self._done]
            yield Block(await self._unrecorded(items))
            if error is not None:
                raise error
            if maker.ended or self._engine.stop.thrown:  # where all is recorded, nothing else asks
                return

    async def _unrecorded(self, items: list[Item]) -> list[Item]:
        """What must be asked. The journal is looked into for a whole block at once, and what is
        found there goes straight to the last stage: a recorded run costs no task a row."""
        requests = [item.request for item in items if isinstance(item.request, Request)]
        found = iter(await self._recalled(requests))
        left: list[Item] = []
        new: list[tuple[Item, Request]] = []
        for item in items:
            request = item.request
            result = _UNFIT if isinstance(request, Failure) else next(found)
            if result is _UNFIT or isinstance(request, Failure):
                left.append(item)
            elif result is None:
                new.append((item, request))
            else:
                self._run.asked(item.number, self._engine.key_of(request))
                if _answer(result).recorded:
                    self._engine.progress.count(_answer(result))
                self._finish_later(item, result)
        if self._engine.lane is None or self._plan.cache == "read":
            left += [item for item, _ in new]
        else:
            self._spool(new, self._engine.lane)
        await self._outlet.make_room()
        return left

    def _spool(self, new: list[tuple[Item, Request]], lane: BatchLane) -> None:
        """Put a block into the batch lane, without a task a row."""
        requests = [request for _, request in new]
        keys = [self._engine.key_of(request) for request in requests]
        for (item, _), key, result in zip(new, keys, lane.put(requests, keys), strict=True):
            self._run.asked(item.number, key)
            self._finish_later(item, result)

    async def _recalled(self, requests: list[Request]) -> list[Any]:
        """An answer or a structured one, `_UNFIT` where a recorded answer must be asked again,
        None where there is none."""
        answers = await self._engine.recall(requests) if requests else []
        if self._plan.schema is None or not any(answers):
            return list(answers)
        texts = [(answer.text,) for answer in answers if answer is not None]
        read = iter(await self._engine.station.users.call(self._plan.schema.read, texts))
        return [None if answer is None else _structured(answer, next(read)) for answer in answers]

    async def _ask(self, item: Item) -> Any:
        current_row.set(item.number)
        request = item.request
        if isinstance(request, Failure):
            return request
        if request.schema is None:
            return await self._engine.ask(request, recalled=self._plan.cache == "use")
        return await ask_structured(self._engine, request, reasks=self._plan.reasks)

    # Answers to rows --------------------------------------------------------------------------

    async def _finish(self, block: list[Done]) -> list[Finished]:
        """In the user thread: parse what came, and write it down."""
        parsed = await settle([self._parsed(done) for done in block])
        finished = [self._finished(done, made) for done, made in zip(block, parsed, strict=True)]
        for each in finished:
            place, failure = each.item.place, each.failure
            if failure is None:
                self.answers.add(place, each.rows)
                self.failures.add(place, [])
            elif not failure.kind.undecided:
                self.answers.add(place, [])
                self.failures.add(place, [_failure_row(each.item, failure)])
        return finished

    def _parsed(self, done: Done) -> Any:
        """What the parse function makes of an answer; may be awaitable."""
        value = _value(done.result)
        if isinstance(value, Failure) or self._plan.parse is None:
            return value
        # A copy: several draws share a row, and a parse function may write into it.
        return called(self._plan.parse, dict(done.item.row), value)

    def _finished(self, done: Done, parsed: Any) -> Finished:
        item = done.item
        if isinstance(parsed, Failure):
            return Finished(item, [], parsed)
        if isinstance(parsed, Raised):
            return Finished(item, [], _blamed("parse", parsed.error))
        try:
            return Finished(item, self._plan.rows(item.row, parsed), None)
        except BaseException as error:  # a generator's own, see `called`
            return Finished(item, [], _blamed("parse", error))

    async def _finished_block(self, finished: list[Finished]) -> None:
        """Count what was finished, and hand it on to whoever reads along."""
        self._count(finished)
        if self._on_rows is not None:
            await self._on_rows([row for each in finished for row in each.rows])

    def _count(self, finished: list[Finished]) -> None:
        progress = self._engine.progress
        for each in finished:
            failure = each.failure
            if failure is None:
                progress.rows_done += 1
            elif not failure.kind.undecided:
                progress.rows_done += 1
                progress.rows_failed += 1
                self._run.failed(each.item.number, failure)
        self._run.tick()


class _Maker:
    """In the user thread: the next block of rows, and their questions."""

    def __init__(self, plan: Plan, rows: Iterator[Any]) -> None:
        self._plan = plan
        self._rows = rows
        self._seen = None if plan.dedupe else Occurrences()
        self._number = 0
        self._places = count()
        self.ended = False

    async def block(self) -> tuple[list[Item], Exception | None]:
        rows: list[Any] = []
        asked: list[Any] = []
        error: Exception | None = None
        end = time.monotonic() + _SLICE
        try:
            while len(rows) < _BLOCK and not (rows and time.monotonic() > end):
                row = next(self._rows, _NO_MORE)
                if row is _NO_MORE:
                    self.ended = True
                    break
                rows.append(row)
                asked.append(called(self._plan.ask, row))
        except Exception as raised:
            self.ended, error = True, raised
        except BaseException as raised:
            self.ended = True
            error = InputError(f"the dataset raised {type(raised).__name__}: {raised}")
            error.__cause__ = raised
        items: list[Item] = []
        for row, prompt in zip(rows, await settle(asked), strict=True):
            items += self._items(row, prompt)
            self._number += 1
        return items, error

    def _items(self, row: Any, prompt: Any) -> list[Item]:
        made = prompt
        if not isinstance(prompt, Raised):
            made = called(self._plan.requests, row, prompt, self._seen)
        if isinstance(made, Raised):
            return [Item(row, _blamed("prompt", made.error), self._number, next(self._places))]
        number, places = self._number, self._places
        return [Item(row, request, number, next(places)) for request in made]


def _blamed(function: str, error: BaseException) -> Failure:
    """A failure of the user's own making, in words that name it."""
    if isinstance(error, PenstockError):
        return Failure(FailureKind.INPUT, error.message)
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return Failure(FailureKind.INPUT, f"the {function} function raised {said}")


def _structured(answer: Answer, read: Any) -> Any:
    """A recorded answer with its value; `_UNFIT` where it must be asked again."""
    if answer.refused:
        return Structured(answer, None)
    unfit = isinstance(read, Raised) or answer.finish == "length"
    return _UNFIT if unfit else Structured(answer, read)


def _answer(result: Answer | Structured) -> Answer:
    return result.answer if isinstance(result, Structured) else result


def _value(result: Any) -> Any:
    """What the parse function is given: the text, the object, or the failure."""
    if isinstance(result, Structured):
        if result.answer.refused:
            said = result.answer.text[:300] or result.answer.finish
            return Failure(FailureKind.INVALID_ANSWER, f"the model refused: {said}")
        return result.value
    return result.text if isinstance(result, Answer) else result


def _failure_row(item: Item, failure: Failure) -> dict[str, Any]:
    return {
        "row": item.number,
        "kind": failure.kind.value,
        "message": failure.message,
        "attempts": failure.attempts,
        "may_be_paid": failure.may_be_paid,
        "input": item.row,
    }
