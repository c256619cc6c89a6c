"""How the columns of a table do: metrics over every row, as a run of its own.

    evaluate(table, {"match": eval.exact_match("answer", "solution")})["match"].mean

Judges ask through the engine: recorded, within limits and budget, never twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.engine.budget import Budget
from penstock.engine.engine import Cache
from penstock.engine.info import RunInfo
from penstock.engine.job import Job, Terms, performed
from penstock.engine.outlet import Outlet
from penstock.engine.rows import SetAside, current_row
from penstock.engine.wishes import dollars
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.generate.calls import Calls
from penstock.generate.columns import Row, Scene
from penstock.generate.measures import Measure
from penstock.generate.models import Models
from penstock.metrics import Score, Summary, summarise
from penstock.outcome import Failure
from penstock.tables import RowSource, Table, TableWriter, rows

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True)
class Evaluation(Mapping[str, Summary]):
    """The summary of each measure by its name, and the scores of every row."""

    summaries: dict[str, Summary]
    scores: Table
    """A row for each row: the score of each measure, or None, and why there is none."""
    run: RunInfo

    def __getitem__(self, name: str) -> Summary:
        return self.summaries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {summary}" for name, summary in self.summaries.items())


def evaluate(
    data: Any,
    measures: Mapping[str, Measure],
    *,
    budget: float | str | Decimal | None = None,
    cache: Cache = "use",
    workbench: Workbench | None = None,
) -> Any:
    """Score a table, a file or any rows; an Evaluation, to be awaited inside a running loop."""
    bench = workbench or default_workbench()
    source = rows(data)
    named = _checked(measures, source)
    evaluating = _Evaluating(bench, source, named, cache, dollars(budget))
    job = evaluating.job()
    return performed(job, lambda: evaluating.work(job))


def _checked(measures: Mapping[str, Measure], source: RowSource) -> dict[str, Measure]:
    if not isinstance(measures, Mapping) or not measures:
        raise InputError(
            "evaluate wants measures by name",
            remedy="For example {'match': eval.exact_match('answer', 'solution')}.",
        )
    for name, measure in measures.items():
        if not isinstance(measure, Measure):
            raise InputError(
                f"{name!r} is a {type(measure).__name__}; a measure such as eval.bleu is wanted"
            )
        if source.column_names is not None:
            measure.own_needs(name, source.column_names)
        if measure.metric is not None:
            measure.metric.prepare()
    return dict(measures)


@dataclass(frozen=True)
class _Evaluating:
    bench: Workbench
    source: RowSource
    measures: Mapping[str, Measure]
    cache: Cache
    budget: Decimal | None

    def job(self) -> Job:
        models = Models(self.bench)
        found = [e for measure in self.measures.values() for e in measure.endpoints(models)]
        tokens = self.bench.budget().tokens
        return Job(
            Terms(
                self.bench,
                "evaluate",
                tuple(each for n, each in enumerate(found) if each not in found[:n]),
                {"measures": list(self.measures), "rows": self.source.count},
                total=self.source.count,
                cache=self.cache,
                budget=None if self.budget is None else Budget(self.budget, tokens),
            )
        )

    async def work(self, job: Job) -> Evaluation:
        with job.open():
            with job.lane("online"):
                scores, table = await self._scored(job)
            trouble = job.end(table.failures)
        if trouble is not None:
            raise trouble
        models = Models(self.bench)
        summaries = {
            name: summarise(measure.made(models), scores[name])
            for name, measure in self.measures.items()
        }
        return Evaluation(summaries, table, job.info())

    async def _scored(self, job: Job) -> tuple[dict[str, list[Score]], Table]:
        scorers = self._scorers(job)
        scores: dict[str, list[Score]] = {name: [] for name in self.measures}

        async def work(item: tuple[int, Mapping[str, Any]]) -> list[Score]:
            number, row = item
            current_row.set(number)
            return await asyncio.gather(*(_one(score(number, Row(row))) for score in scorers))

        async def finish(block: list[tuple[int, list[Score]]]) -> list[list[Score]]:
            for number, made in block:
                writer.add(number, [_written(self.measures, made)])
            return [made for _, made in block]

        async def after(block: list[list[Score]]) -> None:
            for made in block:
                for name, score in zip(self.measures, made, strict=True):
                    scores[name].append(score)
                job.progress.rows_done += 1
                job.progress.rows_failed += any(score.status == "error" for score in made)
            job.run.tick()

        with TableWriter(job.run.folder / "dataset.arrow") as writer:
            outlet = Outlet(job.station.users, finish, after)
            found = job.engine.map(enumerate(self.source), work)
            await outlet.pour(found, each=lambda came: (came[1][0], self._read(came[2])))
            table: Table = await job.station.users.run(lambda: _closed(writer))
            table.failures = _stopped(scores)
            return scores, table

    def _scorers(self, job: Job) -> list[Callable[[int, Mapping[str, Any]], Any]]:
        calls, models = Calls(job.station.users), Models(self.bench)
        return [
            measure.scorer(Scene(name, (), 0, job.engine, calls, models))
            for name, measure in self.measures.items()
        ]

    def _read(self, result: Any) -> list[Score]:
        if isinstance(result, Failure):
            return [Score.error(result.message)] * len(self.measures)
        return list(result)


async def _one(score: Any) -> Score:
    try:
        made: Score = await score
    except SetAside:
        return Score.error("its judge's answer lies in an open batch")
    except KeyError as error:
        return Score.error(f"the row has no column {error}")
    return made


def _written(measures: Mapping[str, Measure], scores: list[Score]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, score in zip(measures, scores, strict=True):
        row[name] = score.value
        row[f"{name}_status"] = str(score.status)
        row[f"{name}_reason"] = score.reason or None
    return row


def _stopped(scores: Mapping[str, list[Score]]) -> Table:
    """Why a judge's endpoint was stopped, where one was."""
    for name, made in scores.items():
        for score in made:
            if score.failure is not None and score.failure.stops:
                kind = score.failure.value
                return Table.from_rows([{"column": name, "kind": kind, "message": score.reason}])
    return Table.from_rows([])


async def _closed(writer: TableWriter) -> Table:
    return writer.close()
