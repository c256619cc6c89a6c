"""A campaign: every attack with every objective at every endpoint, many conversations at once.

Each endpoint has a flow of its own. A conversation is begun again from its start when the run was
killed, or when it waits for a batch: what it asked before is found in the journal, so no recorded
turn is repeated.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.batch import BatchWish
from penstock.engine.budget import Budget
from penstock.engine.engine import Engine
from penstock.engine.job import Job, Terms, check_resumable, performed
from penstock.engine.lanes import LaneWish, Prospect, has_batches, lane_for
from penstock.engine.outlet import Outlet
from penstock.engine.progress import Progress
from penstock.engine.rows import current_row, waiting
from penstock.engine.workbench import Workbench
from penstock.outcome import Failure, FailureKind
from penstock.redteam.conversation import Conversation, Fate, fate_of
from penstock.redteam.plan import Plan, Trial, planned
from penstock.redteam.results import FILES, Campaign
from penstock.redteam.target import AttackerError, Ended, Halted, Target
from penstock.redteam.turn import Turn, TurnStatus
from penstock.redteam.wishes import Wishes
from penstock.tables import Table, TableWriter
from penstock.tokens import Lane

__all__ = ["CampaignJob", "Held", "Talk", "talk"]

_log = logging.getLogger(__name__)


class Talk(msgspec.Struct, frozen=True, gc=False):
    """A conversation that has come to its end."""

    trial: Trial
    turns: tuple[Turn, ...]
    error: str = ""


class Held(msgspec.Struct, frozen=True, gc=False):
    """One that was stopped with the run: whoever goes on with it asks again."""

    failure: Failure


@dataclass(frozen=True)
class CampaignJob:
    """A campaign as data: what the shell runs, stores and resumes."""

    wishes: Wishes
    endpoints: tuple[Endpoint, ...] = ()
    """Targets that were given as objects, in Python."""

    @property
    def lane(self) -> LaneWish:
        return self.wishes.lane

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> CampaignJob:
        """The job that a run was made of."""
        check_resumable(spec)
        return cls(Wishes.from_spec(spec))

    def plan(self, bench: Workbench) -> Plan:
        """What it will do."""
        return planned(self.wishes, bench, self.endpoints)

    def run(
        self,
        bench: Workbench,
        *,
        run_id: str = "",
        waits: bool = True,
        watch: Callable[[Progress], Callable[[], None]] | None = None,
        on_interrupt: Callable[[], None] | None = None,
        on_conversation: Callable[[Conversation], object] | None = None,
    ) -> Any:
        """Do it, or go on with it: a Campaign, or a handle inside a running loop."""
        going = _Going(self, bench, run_id, waits, on_conversation)
        return performed(going.job, going.work, watch, on_interrupt)


class _Going:
    """One campaign, while it goes on."""

    def __init__(
        self,
        campaign: CampaignJob,
        bench: Workbench,
        run_id: str,
        waits: bool,
        on_conversation: Callable[[Conversation], object] | None,
    ) -> None:
        self._plan = plan = campaign.plan(bench)
        self._wishes = wishes = campaign.wishes
        self._labels = list(plan.endpoints)
        self._told = on_conversation
        spec = wishes.spec()
        if campaign.endpoints:
            spec["endpoints"] = self._labels
        dollars = wishes.dollars()
        settings = bench.settings.batch_processing
        self.job = Job(
            Terms(
                bench,
                "redteam",
                (*plan.endpoints.values(), *plan.helpers),
                spec,
                name=wishes.name,
                id=run_id,
                prompt=", ".join(assault.label for assault in plan.assaults),
                total=plan.total,
                cache=wishes.cache,
                budget=None if dollars is None else Budget(dollars, bench.budget().tokens),
                lane=self._lane(),
                batch=BatchWish(None, waits, settings.check_interval),
                resumes=not campaign.endpoints,
            )
        )
        self._began = time.time()
        self._undecided = 0

    def _lane(self) -> LaneWish:
        lane = self._wishes.lane
        if lane != "auto":
            return lane
        endpoints = (*self._plan.endpoints.values(), *self._plan.helpers)
        able = all(has_batches(endpoint) for endpoint in endpoints)
        return lane_for(Prospect(able, self._plan.total))

    async def work(self) -> Campaign:
        job = self.job
        with job.open():
            folder, number = job.run.folder, FILES.next_number(job.run.folder)
            conversations = TableWriter(FILES.table(folder, "conversations", number))
            turns = TableWriter(FILES.table(folder, "turns", number))
            try:
                left = await self._held(conversations, turns)
                tables: tuple[Table, Table] = await job.station.users.run(
                    lambda: _closed(conversations, turns)
                )
            except BaseException as error:
                conversations.abort()
                turns.abort()
                cause = job.failed(error)
                raise cause from cause.__cause__
            trouble = job.end(_failures(tables[0]), left)
            made: Campaign = await job.station.users.run(
                lambda: self._result(*tables, left, number)
            )
        if trouble is not None:
            raise trouble
        return made

    async def _held(self, conversations: TableWriter, turns: TableWriter) -> int:
        """Every conversation; how many of them wait for batches."""
        job = self.job
        lane: Lane = "batch" if job.terms.lane == "batch" else "online"

        def each(came: tuple[int, Talk | Held | Failure]) -> tuple[int, Talk] | None:
            number, result = came
            if isinstance(result, Failure):
                return None  # it waits for a batch
            if isinstance(result, Held):
                self._undecided += 1
                return None
            return number, result

        async def finish(block: list[tuple[int, Talk]]) -> list[Conversation]:
            made = []
            for number, ended in block:
                conversation = self._conversation(number, ended)
                conversations.add(number, [conversation.row()])
                turns.add(number, [turn.row() for turn in ended.turns])
                made.append(conversation)
                if self._told is not None:
                    _tell(self._told, conversation)
            return made

        async def after(block: list[Conversation]) -> None:
            job.progress.rows_done += len(block)
            for conversation in block:
                if not conversation.decided:
                    job.progress.rows_failed += 1
                    kind = FailureKind(conversation.failure or FailureKind.INTERNAL)
                    why = Failure(kind, conversation.error)
                    job.run.failed(conversation.number, why)
            job.run.tick()

        outlet = Outlet(job.station.users, finish, after)
        with ExitStack() as stack:
            branch = stack.enter_context(job.branches(lane))
            flows = [
                self._flow(place, stack.enter_context(branch(f"endpoint{place:02d}")))
                for place in range(len(self._labels))
            ]
            await outlet.pour(*flows, each=each)
        if job.engine.stop.thrown:
            return 0
        return self._plan.total - job.progress.rows_done - self._undecided

    async def _flow(
        self, place: int, engine: Engine
    ) -> AsyncIterator[tuple[int, Talk | Held | Failure]]:
        """All conversations with one endpoint."""
        label, size = self._labels[place], len(self._labels)

        async def hold(trial: Trial) -> Talk | Held:
            number = trial.place * size + place
            current_row.set(number)
            return await talk(engine, self._plan, label, trial)

        window = max(64, self.job.station.window(self._plan.endpoints[label]))
        async for _, trial, result in engine.map(self._plan.trials, hold, window=window):
            number = trial.place * size + place
            if isinstance(result, Failure) and not waiting(result):
                yield number, Talk(trial, (), result.message)
            else:
                yield number, result

    def _conversation(self, number: int, ended: Talk) -> Conversation:
        """In the user thread: what a conversation came to."""
        trial, turns = ended.trial, ended.turns
        fate, error = fate_of(turns, ended.error)
        values = [t.verdict.value for t in turns if t.verdict and t.verdict.value is not None]
        costs = [Decimal(turn.cost) for turn in turns if turn.cost is not None]
        asked = sum(turn.status is not TurnStatus.FAILED for turn in turns)
        return Conversation(
            number=number,
            id=_name(self._labels[number % len(self._labels)], trial),
            endpoint=self._labels[number % len(self._labels)],
            attack=trial.assault.label,
            objective=trial.objective.id,
            category=trial.objective.category,
            goal=trial.objective.goal,
            fate=fate,
            turns=len(turns),
            success_turn=next((turn.number for turn in turns if turn.success), None),
            best=max(values, default=None),
            judge=trial.judge.name,
            error=error,
            failure=turns[-1].failure if turns and fate is Fate.NO_ANSWER else "",
            input_tokens=sum(turn.input_tokens for turn in turns),
            output_tokens=sum(turn.output_tokens for turn in turns),
            cost=str(sum(costs, Decimal(0))) if len(costs) == asked else None,
        )

    async def _result(self, conversations: Table, turns: Table, left: int, number: int) -> Campaign:
        """In the user thread. A campaign that waits for batches has no result yet."""
        missing = self._plan.total - len(conversations)
        problems = []
        if left:
            problems.append(f"{left:,} conversations wait for batches that are not collected")
        elif missing:
            problems.append(f"{missing:,} conversations were not held: the run was stopped before")
        made = Campaign.of(
            self.job.info(), self._plan, conversations, turns, self._began, tuple(problems)
        )
        if not left:
            FILES.write(made.result, self.job.run.folder, number)
        return made


async def talk(engine: Engine, plan: Plan, label: str, trial: Trial) -> Talk | Held:
    """One conversation, from its start to its end."""
    wishes, assault = plan.wishes, trial.assault
    target = Target(
        engine,
        plan.lineup(label, trial),
        trial.objective,
        name=_name(label, trial),
        seed=wishes.seed,
        max_turns=wishes.max_turns,
        stops=wishes.stop_on_success,
        attacker=plan.attacker,
        rewrite=assault.around,
    )
    error = ""
    try:
        await assault.carry_out(target, wishes.seed)
    except Halted as halted:
        return Held(halted.failure)
    except Ended:
        pass
    except AttackerError as trouble:
        error = str(trouble)
    except Exception as fault:  # an attack may be anybody's: its fault stays in its conversation
        _log.exception("an attack failed", extra={"attack": assault.label})
        error = f"{type(fault).__name__}: {fault}"
    return Talk(trial, tuple(target.turns), error)


def _name(label: str, trial: Trial) -> str:
    return f"{label}/{trial.assault.label}/{trial.objective.id}"


def _failures(conversations: Table) -> Table:
    """Why an endpoint served nobody, where one did."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for block in conversations.blocks():
        for row in block:
            if row["fate"] in (Fate.NO_ANSWER, Fate.ERROR):
                found.setdefault((row["endpoint"], row["error"]), row)
    return Table.from_rows(
        [
            {
                "row": row["number"],
                "kind": row["failure"] or FailureKind.INTERNAL.value,
                "message": row["error"],
            }
            for row in found.values()
        ][:100]
    )


def _tell(function: Callable[[Conversation], object], conversation: Conversation) -> None:
    try:
        function(conversation)
    except Exception:
        _log.exception("a callback failed")


async def _closed(conversations: TableWriter, turns: TableWriter) -> tuple[Table, Table]:
    return conversations.close(), turns.close()
