"""What a campaign came to: one typed document, with every conversation and turn beside it.

In the run's folder: `conversations.arrow`, `turns.arrow` and `result.json`; a run that is taken up
again writes `result-2.json`, and the latest is the one that is shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from penstock.engine.info import RunInfo
from penstock.engine.resultfiles import ResultFiles, public_spec
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import DamagedError, NotFoundError
from penstock.metrics.statistics import JudgeAccuracy
from penstock.redteam.conversation import Conversation, conversations_of
from penstock.redteam.plan import Plan
from penstock.redteam.rates import Rate, rates_of
from penstock.redteam.turn import Turn, turns_of
from penstock.tables import Table

__all__ = ["FILES", "SCHEMA", "Campaign", "CampaignResult", "all_results", "find_result"]

SCHEMA = "penstock.redteam/1"


class CampaignResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a campaign came to."""

    schema: str = SCHEMA
    id: str
    name: str = ""
    state: str
    started: float
    ended: float
    seconds: float
    endpoints: dict[str, dict[str, Any]]
    """By label: the endpoint's spec, without secrets."""
    attacker: dict[str, Any] | None = None
    judge: dict[str, Any] | None = None
    attacks: tuple[dict[str, Any], ...]
    """Each with its parts and their parameters."""
    objectives: int
    settings: dict[str, Any]
    rates: tuple[Rate, ...]
    counters: dict[str, Any] = msgspec.field(default_factory=dict)
    problems: tuple[str, ...] = ()
    version: str = ""

    def rate(self, **by: str) -> Rate:
        """The rate of an endpoint, an attack, a category, or of several of them together."""
        for rate in self.rates:
            if rate.by == by:
                return rate
        raise NotFoundError(f"the result {self.id} has no rate by {by}")


FILES = ResultFiles(CampaignResult, SCHEMA)


@dataclass(frozen=True)
class Campaign:
    """A campaign that has ended: its result, every conversation, every turn."""

    result: CampaignResult
    conversations: Table
    turns: Table
    folder: Path
    run: RunInfo | None = None

    @classmethod
    def of(
        cls,
        info: RunInfo,
        plan: Plan,
        conversations: Table,
        turns: Table,
        began: float,
        problems: tuple[str, ...],
    ) -> Campaign:
        """What conversations come to."""
        import penstock

        wishes = plan.wishes
        accuracy = None if wishes.accuracy is None else JudgeAccuracy(*wishes.accuracy)
        result = CampaignResult(
            id=info.id,
            name=wishes.name,
            state=str(info.state),
            started=began,
            ended=time.time(),
            seconds=info.seconds,
            endpoints={label: public_spec(each) for label, each in plan.endpoints.items()},
            attacker=None if plan.attacker is None else public_spec(plan.attacker),
            judge=None if plan.judge is None else public_spec(plan.judge),
            attacks=tuple(
                {"attack": each.label, "parts": [part.describe() for part in each.parts]}
                for each in plan.assaults
            ),
            objectives=len(plan.objectives),
            settings={k: v for k, v in wishes.spec()["redteam"].items() if v not in (None, "")},
            rates=rates_of(conversations_of(conversations), accuracy=accuracy),
            counters=info.counters,
            problems=problems,
            version=str(penstock.__version__),
        )
        return cls(result, conversations, turns, Path(info.folder), info)

    @classmethod
    def open(cls, folder: Path) -> Campaign:
        """The latest result in a run's folder."""
        number = FILES.latest(folder)
        if number is None:
            raise NotFoundError(
                f"the run {folder.name} has no result",
                remedy=f"Was it stopped? Go on with it: penstock runs resume {folder.name}",
            )
        return cls(
            FILES.read(folder, number),
            FILES.open_table(folder, "conversations", number),
            FILES.open_table(folder, "turns", number),
            folder,
        )

    @property
    def id(self) -> str:
        return self.result.id

    def __iter__(self) -> Iterator[Conversation]:
        """Every conversation, one at a time."""
        return conversations_of(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)

    def talks(self) -> Iterator[tuple[Conversation, list[Turn]]]:
        """Every conversation with its turns, which lie in the same order."""
        turns = turns_of(self.turns)
        for conversation in self:
            found = list(islice(turns, conversation.turns))
            if len(found) < conversation.turns:
                raise DamagedError(f"the turns of {conversation.id} are not all there")
            yield conversation, found

    def report(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """A page to look at, in one file."""
        from penstock.redteam.report import write_report

        return write_report(self, Path(path), overwrite=overwrite)

    def export(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Every turn as a table (csv, jsonl, parquet, xlsx), or the report (html)."""
        path = Path(path)
        if path.suffix.lower() in (".html", ".htm"):
            return self.report(path, overwrite=overwrite)
        return self.turns.save(path, overwrite=overwrite)

    def __str__(self) -> str:
        lines = [f"{self.result.name or self.id}: {self.result.state}"]
        for rate in self.result.rates:
            if set(rate.by) == {"endpoint", "attack"}:
                share = "nothing decided" if rate.rate is None else f"{rate.rate:.0%}"
                if rate.low is not None and rate.high is not None:
                    share += f" [{rate.low:.0%}, {rate.high:.0%}]"
                lines.append(
                    f"  {rate.by['endpoint']} / {rate.by['attack']}: {share}"
                    f" ({rate.succeeded} of {rate.decided})"
                )
        return "\n".join(lines)


def find_result(name: str, bench: Workbench | None = None) -> Campaign:
    """By the id of its run, or the beginning of it; `latest` is the newest."""
    bench = bench or default_workbench()
    if not bench.workspace.exists:
        raise NotFoundError(f"there is no result {name!r}")
    if name == "latest":
        newest = next(iter(all_results(bench)), None)
        if newest is None:
            raise NotFoundError("there are no campaigns yet", remedy="See `penstock redteam run`.")
        return Campaign.open(bench.workspace.run(newest.id))
    return Campaign.open(bench.workspace.run(bench.catalog.run(name)["id"]))


def all_results(bench: Workbench | None = None) -> Iterator[CampaignResult]:
    """Every result, the newest first."""
    bench = bench or default_workbench()
    if not bench.workspace.exists:
        return
    for row in bench.catalog.all_runs(100_000):
        folder = bench.workspace.run(row["id"])
        if row["kind"] == "redteam" and (number := FILES.latest(folder)) is not None:
            yield FILES.read(folder, number)
