"""One line of a person on its way to every endpoint of a session, side by side.

Each turn goes the way of every turn and is recorded before the next one begins. What befell only
this send (it was stopped, the budget is spent, the answer lies in a batch) is told, not recorded:
the send stays open, and the same line sent again goes on with it.

A line that was answered before in the session is asked anew: it is another draw.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from penstock.engine.batch_keeping import parked
from penstock.engine.engine import Engine
from penstock.engine.rows import SetAside
from penstock.engine.station import Station
from penstock.engine.users import Raised
from penstock.engine.workbench import Workbench
from penstock.errors import NotFoundError, PenstockError, StoreError
from penstock.outcome import Failure, FailureKind, Outcome
from penstock.providers.provider import OnText
from penstock.redteam.objective import Objective
from penstock.redteam.pipeline import Lineup, Prompt, take_turn
from penstock.redteam.session_setup import Chosen, Given, Ready
from penstock.redteam.strategies import NoContext
from penstock.redteam.target import AttackerError, Ended, Halted, Target
from penstock.redteam.turn import Turn, TurnStatus
from penstock.store.sessions import SessionStore, kept

__all__ = ["OnSaid", "OnTurn", "Sending", "Wish", "collapsed"]

_log = logging.getLogger(__name__)
_MOST_HISTORY = 1000  # no strategy takes more along
_MOST_FAILURES = 3
_APART = 10_000  # between the draws of two runs of a driver, which numbers its own

OnSaid: TypeAlias = Callable[[str, str], object]
"""Called with the label of an endpoint and a piece of its answer, for display."""
OnTurn: TypeAlias = Callable[[Turn], object]


@dataclass(frozen=True)
class Wish:
    """What is to be sent, and who is told."""

    session: str
    line: str
    labels: tuple[str, ...]
    chosen: Chosen
    ready: Ready
    on_text: OnSaid | None = None
    on_turn: OnTurn | None = None


@dataclass
class _Talk:
    """What came of a send at one endpoint."""

    turns: list[Turn] = field(default_factory=list)
    ended: bool = True
    """Nothing is left to do; else the send stays open."""
    error: StoreError | None = None


class Sending:
    """One send, while it goes on. Its work is done in the engine's loop."""

    def __init__(self, wish: Wish, bench: Workbench, engine: Engine, given: Given) -> None:
        self._wish = wish
        self._bench = bench
        self._engine = engine
        self._given = given
        self._store = SessionStore(bench.catalog)
        self._send = 0

    async def work(self, station: Station) -> list[Turn]:
        """Every turn of this send, in the order of the endpoints."""
        wish = self._wish
        what = wish.chosen.wish(wish.line, wish.labels)
        begun = await self._stored(self._store.begin, wish.session, what)
        if begun is None:
            raise NotFoundError(f"the session {wish.session!r} was deleted meanwhile")
        self._send = begun.number
        variants = await self._variants()
        with parked(self._bench, self._engine):
            async with asyncio.TaskGroup() as tasks:
                going = [tasks.create_task(self._talk(label, variants)) for label in wish.labels]
        talks = [task.result() for task in going]
        await station.users.flush()
        for talk in talks:
            if talk.error is not None:
                raise talk.error
        if all(talk.ended for talk in talks):
            await self._stored(self._store.end, wish.session, self._send)
        return [turn for talk in talks for turn in talk.turns]

    async def _variants(self) -> list[str] | str:
        """What is sent for the line, where no driver decides; a text: why the attack made nothing.

        An attack may be anybody's, and slow: off the engine's loop.
        """
        assault, line = self._wish.ready.assault, self._wish.line
        if assault.driver is not None or assault.rewrite is None:
            return [line]
        arguments = (line, self._wish.chosen.seed)
        users = self._engine.station.users
        [made] = await users.call(assault.rewrite.variants, [arguments])
        if isinstance(made, Raised):
            _log.error("an attack failed", extra={"attack": assault.label}, exc_info=made.error)
            return f"the attack {assault.label} failed: {type(made.error).__name__}: {made.error}"
        return cast("list[str]", made)

    async def _talk(self, label: str, variants: list[str] | str) -> _Talk:
        """With one endpoint. What befalls it stays with it."""
        talk = _Talk()
        try:
            rows = await self._stored(self._store.steps, self._wish.session, label, self._send)
            before = {step: Turn.of_row(row) for step, row in rows.items()}
            try:
                if isinstance(variants, str):
                    await self._fault(label, before, variants, talk)
                elif self._wish.ready.assault.driver is not None:
                    await self._drive(label, before, talk)
                else:
                    await self._ask(label, variants, before, talk)
            except StoreError:
                raise
            except PenstockError as error:
                await self._fault(label, before, error.message, talk, FailureKind.INPUT)
        except StoreError as error:
            talk.error = error
        return talk

    # A person's line, or its variants ---------------------------------------------------------

    async def _ask(
        self, label: str, variants: Sequence[str], before: dict[int, Turn], talk: _Talk
    ) -> None:
        wish, lineup = self._wish, self._lineup(label)
        draw = await self._again(label)
        history: list[Turn] = []
        if not isinstance(lineup.strategy, NoContext):
            wanted = (wish.session, label, self._send, _MOST_HISTORY)
            history = collapsed(await self._stored(self._store.last, *wanted))
        on_text = None if wish.on_text is None else cast(OnText, partial(wish.on_text, label))
        for step, variant in enumerate(variants, 1):
            turn = before.get(step)
            if turn is None:
                said = None if variant == wish.line else variant
                prompt = Prompt(wish.line, said, (), step, self._name, draw)
                turn = await self._taken(lineup, prompt, history, on_text)
                if _undecided(turn):
                    talk.turns.append(turn)
                    talk.ended = False
                    return
                turn = await self._record(step, turn)
            talk.turns.append(turn)
            if (turn.success and wish.chosen.stop_on_success) or _hopeless(talk.turns):
                return

    async def _taken(
        self, lineup: Lineup, prompt: Prompt, history: Sequence[Turn], on_text: OnText | None
    ) -> Turn:
        try:
            return await take_turn(self._engine, lineup, prompt, history=history, on_text=on_text)
        except SetAside:
            outcome: Outcome = Failure(FailureKind.WAITING, FailureKind.WAITING.meaning)
        except StoreError:
            raise
        except PenstockError as error:
            outcome = Failure(FailureKind.INPUT, error.message)
        said = prompt.written if prompt.attacked is None else prompt.attacked
        return self._failed(lineup.label, outcome, prompt.number, said)

    # An attack that drives the conversation ---------------------------------------------------

    async def _drive(self, label: str, before: dict[int, Turn], talk: _Talk) -> None:
        wish, ready = self._wish, self._wish.ready
        found = dict(before)
        trouble: list[StoreError] = []

        async def on_turn(turn: Turn) -> None:
            step = turn.number
            if step in found:
                return  # the loop is run again from its start, and finds what it asked before
            try:
                found[step] = await self._record(step, turn)
            except StoreError as error:
                trouble.append(error)
                raise Ended(error.message) from None

        again = await self._again(label)
        target = Target(
            self._engine,
            self._lineup(label),
            Objective.model_validate({"goal": wish.line, "id": f"{wish.session}-{self._send}"}),
            name=f"{self._name}/{label}",
            seed=wish.chosen.seed,
            max_turns=wish.chosen.max_turns,
            stops=wish.chosen.stop_on_success,
            attacker=ready.attacker,
            rewrite=ready.assault.around,
            on_turn=on_turn,
            draw=again * _APART,
        )
        halted, error = await _carried_out(ready, target, wish.chosen.seed)
        if trouble:
            raise trouble[0]
        talk.turns = [found[step] for step in sorted(found)]
        if halted is not None:
            talk.turns.append(self._failed(label, halted, len(found) + 1, wish.line))
            talk.ended = False
        elif error:
            await self._fault(label, before, error, talk)

    # Every turn -------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return f"{self._wish.session}/{self._send}"

    def _lineup(self, label: str) -> Lineup:
        chosen, ready = self._wish.chosen, self._wish.ready
        [seat] = [seat for seat in chosen.endpoints if seat.label == label]
        endpoint = seat.endpoint(self._bench, self._given.get(label))
        self._engine.station.reopen(endpoint)  # a person may have put the key right meanwhile
        return Lineup(
            endpoint,
            label,
            chosen.setup,
            ready.strategy,
            ready.template,
            ready.judge,
            ready.attacker,
        )

    async def _again(self, label: str) -> int:
        wish = self._wish
        found = self._stored(self._store.again, wish.session, label, wish.line, self._send)
        return int(await found)

    async def _fault(
        self,
        label: str,
        before: dict[int, Turn],
        error: str,
        talk: _Talk,
        kind: FailureKind = FailureKind.INTERNAL,
    ) -> None:
        """A turn that says why there is none. Nothing was sent."""
        step = max([0, *before, *(turn.number for turn in talk.turns)]) + 1
        failed = self._failed(label, Failure(kind, error), step, "")
        talk.turns.append(await self._record(step, failed))

    def _failed(self, label: str, outcome: Outcome, number: int, said: str) -> Turn:
        return Turn.of(
            outcome,
            number=number,
            conversation=self._name,
            endpoint=label,
            prompt=self._wish.line,
            prepared=said,
            setup=self._wish.chosen.setup,
        )

    async def _record(self, step: int, turn: Turn) -> Turn:
        """On disk, then told; as it was recorded."""
        wish = self._wish
        row = msgspec.structs.replace(turn, conversation=self._name).row()
        row = {name: kept(v) if isinstance(v, str) else v for name, v in row.items()}
        row["number"] = await self._stored(
            self._store.add, wish.session, self._send, step, wish.line, row
        )
        turn = Turn.of_row(row)
        if wish.on_turn is not None:
            self._engine.station.users.post(wish.on_turn, turn)
        return turn

    async def _stored(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """In the user thread: the engine's loop does not wait for a disk."""

        async def inside() -> Any:
            return function(*arguments)

        return await self._engine.station.users.run(inside)


def collapsed(rows: Sequence[dict[str, Any]]) -> list[Turn]:
    """Earlier turns as strategies see them: variants of a line are one turn, the last of them."""
    made: dict[tuple[int, str], Turn] = {}
    for row in rows:
        key = (row["send"], row["prompt"])
        made.pop(key, None)
        made[key] = Turn.of_row(row)
    return list(made.values())


async def _carried_out(ready: Ready, target: Target, seed: int) -> tuple[Failure | None, str]:
    """Let an attack do what it does: why it was stopped, or what went wrong in it."""
    try:
        await ready.assault.carry_out(target, seed)
    except Halted as halted:
        return halted.failure, ""
    except SetAside:
        return Failure(FailureKind.WAITING, FailureKind.WAITING.meaning), ""
    except Ended:
        pass
    except AttackerError as trouble:
        return None, str(trouble)
    except StoreError:
        raise
    except Exception as fault:  # an attack may be anybody's: its fault stays in its conversation
        _log.exception("an attack failed", extra={"attack": ready.assault.label})
        label = ready.assault.label
        return None, f"the attack {label} failed: {type(fault).__name__}: {fault}"
    return None, ""


def _undecided(turn: Turn) -> bool:
    """Whether it befell the send, not the question."""
    if turn.status is TurnStatus.FAILED:
        return FailureKind(turn.failure).undecided
    unjudged = None if turn.verdict is None else turn.verdict.failure
    return unjudged is not None and unjudged.undecided


def _hopeless(turns: Sequence[Turn]) -> bool:
    last = turns[-_MOST_FAILURES:]
    return len(last) == _MOST_FAILURES and all(t.status is TurnStatus.FAILED for t in last)
